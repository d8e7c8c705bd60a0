// receive/: iterative receivers and EXIT charts.
#include <functional>
#include <memory>
#include <variant>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/fec/crc/crc.hpp>
#include <warpband/link/exit/exit.hpp>
#include <warpband/receive/codewords.hpp>

#include "arrays.hpp"
#include "codes.hpp"
#include "detect.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

/// What Python's receivers hold: the settings in force, the receiver made of them, and an encoder of its
/// code.
struct receiver_ref {
  std::variant<detector_config, stbc_config, uplink_config, soft_uplink_config> detector;
  receiver_config config;
  std::shared_ptr<const soft_decoder> decoder;  // of one codeword
  std::size_t users = 0;                        // with a codeword of their own; 0: one codeword for all
  std::unique_ptr<iterative_receiver> made;
  frame_encoder encode;
};

/// An encoder that sets the CRC first.
template <class Encoder>
frame_encoder encoder_of(Encoder made, std::size_t k, const std::optional<crc_words>& crc) {
  std::optional<crc_attacher> attach;
  if (crc) attach.emplace(static_cast<int>(k) - crc->second, *polynomial_of(crc));
  return [made = std::move(made), attach](executor& exec, view<std::uint8_t> bits, view<std::uint8_t> coded) {
    if (attach) attach->run(exec, bits);
    made.run(exec, view<const std::uint8_t>(bits), coded);
  };
}

using permutation_words = std::optional<std::vector<std::int32_t>>;

/// The decoder of a Python class, with as many iterations as the receiver asks for. `interleaver`:
/// that of a turbo code, if not the standard's.
void set_decoder(receiver_ref& r, nb::handle decoder, const permutation_words& interleaver,
                 const std::optional<crc_words>& crc) {
  if (nb::isinstance<ldpc_decoder>(decoder)) {
    const auto& d = nb::cast<const ldpc_decoder&>(decoder);
    ldpc_decoder_config c = d.config();
    if (r.config.inner) c.iterations = *r.config.inner;
    r.decoder = make_soft_decoder(d.code(), c, polynomial_of(crc));
    // An encoder is for EXIT charts alone, and there are codes without one.
    r.encode = [code = d.code(), crc](executor& exec, view<std::uint8_t> bits, view<std::uint8_t> coded) {
      encoder_of(ldpc_encoder(code), static_cast<std::size_t>(code.k()), crc)(exec, bits, coded);
    };
    return;
  }
  if (nb::isinstance<turbo_decoder>(decoder)) {
    const auto& d = nb::cast<const turbo_decoder&>(decoder);
    turbo_decoder_config c = d.config();
    if (r.config.inner) c.iterations = *r.config.inner;
    std::optional<crc_words> checked = crc;  // or its own
    if (!crc && c.crc_degree != 0) checked = {c.crc_polynomial, c.crc_degree};
    r.decoder = make_soft_decoder(interleaver ? turbo_decoder(c, *interleaver) : turbo_decoder(c),
                                  polynomial_of(checked));
    r.encode =
        encoder_of(interleaver ? turbo_encoder(*interleaver) : turbo_encoder(c.k), r.decoder->k(), checked);
    return;
  }
  if (nb::isinstance<bcjr_decoder>(decoder)) {
    const auto& d = nb::cast<const bcjr_decoder&>(decoder);
    r.decoder = make_soft_decoder(d, polynomial_of(crc));
    r.encode = encoder_of(conv_encoder(d.frame().code(), d.config().k), r.decoder->k(), crc);
    return;
  }
  if (nb::isinstance<ctc_decoder>(decoder)) {
    const auto& d = nb::cast<const ctc_decoder&>(decoder);
    ctc_decoder_config c = d.config();
    if (r.config.inner) c.iterations = *r.config.inner;
    r.decoder = make_soft_decoder(ctc_decoder(d.code(), c), polynomial_of(crc));
    r.encode = encoder_of(ctc_encoder(d.code()), r.decoder->k(), crc);
    return;
  }
  throw argument_error("decoder", "one without extrinsic LLRs of its coded bits",
                       "an LdpcDecoder, a TurboDecoder, a BcjrDecoder or a CtcDecoder");
}

/// Antennas that receive, and streams or users that send.
std::pair<std::size_t, std::size_t> antennas_of(const receiver_ref& r) {
  const auto pair = [](int rx, int tx) {
    return std::pair{static_cast<std::size_t>(rx), static_cast<std::size_t>(tx)};
  };
  if (const auto* c = std::get_if<detector_config>(&r.detector)) return pair(c->rx_antennas, c->streams);
  if (const auto* c = std::get_if<stbc_config>(&r.detector))
    return pair(c->rx_antennas, c->code.tx_antennas());
  if (const auto* c = std::get_if<uplink_config>(&r.detector)) return pair(c->antennas, c->users);
  const auto& c = std::get<soft_uplink_config>(r.detector);
  return pair(c.antennas, c.users);
}

/// The detector of a Python class: of streams, of a space-time code, or of a massive-MIMO uplink.
std::shared_ptr<const soft_detector> set_detector(receiver_ref& r, nb::handle detector) {
  if (nb::isinstance<stbc_decoder>(detector))
    r.detector = nb::cast<const stbc_decoder&>(detector).config();
  else if (nb::isinstance<uplink_detector>(detector))
    r.detector = nb::cast<const uplink_detector&>(detector).config();
  else if (nb::isinstance<soft_uplink_detector>(detector))
    r.detector = nb::cast<const soft_uplink_detector&>(detector).config();
  else
    r.detector = nb::cast<const detector_ref&>(detector).config;
  return std::visit([](const auto& c) { return std::shared_ptr<const soft_detector>(make_soft_detector(c)); },
                    r.detector);
}

/// The receiver of frames in which every stream or user has a codeword.
std::unique_ptr<iterative_receiver> of_users(const receiver_ref& r,
                                             const std::shared_ptr<const soft_detector>& detects,
                                             receiver_config config) {
  const std::size_t n = r.decoder->n(), m = detects->bits_per_use() / r.users;
  if (std::holds_alternative<stbc_config>(r.detector))
    throw argument_error("codewords", "\"user\"", "\"frame\" with a space-time code");
  if (n % m != 0)
    throw argument_error("codewords", "\"user\"",
                         "\"frame\" with a code of n = " + std::to_string(n) +
                             ", which is no multiple of the " + std::to_string(m) + " bits of a symbol");
  const user_codewords frame{r.users, 1, n / m, m};
  config.permutation = order_of(frame, interleaver_of(config, n));
  config.interleaver = receiver_interleaver::none;
  return std::make_unique<iterative_receiver>(
      detects, make_codewords_decoder(r.decoder, frame.codewords(), frame.places()), config);
}

void make(receiver_ref* self, nb::handle detector, nb::handle decoder, const permutation_words& interleaver,
          const std::optional<crc_words>& crc, permutation_words permutation, bool per_user,
          const nb::dict& settings) {
  receiver_ref r;
  const std::shared_ptr<const soft_detector> detects = set_detector(r, detector);
  r.config = with_settings(receiver_settings(), settings);
  if (permutation) r.config.permutation = std::move(*permutation);
  check_settings(receiver_settings(), r.config);
  with_names_of_codes(crc, [&] { set_decoder(r, decoder, interleaver, crc); });
  receiver_config config = r.config;
  config.inner.reset();  // the decoder is made with it
  if (per_user) r.users = antennas_of(r).second;
  r.made = per_user ? of_users(r, detects, config)
                    : std::make_unique<iterative_receiver>(detects, r.decoder, config);
  new (self) receiver_ref(std::move(r));
}

void run(const receiver_ref& r, executor_ref& where, nb::handle channel, nb::handle received,
         nb::handle noise_var, nb::handle prior, nb::handle bits, nb::handle iterations, nb::handle status,
         nb::handle detected, nb::handle extrinsic, nb::handle use_status) {
  const argument h("channel", channel, where), y("received", received, where), p("prior", prior, where);
  const noise_argument n0(noise_var, where);
  const argument b("bits", bits, where, true), i("iterations", iterations, where, true),
      s("status", status, where, true), d("detected", detected, where, true),
      e("extrinsic", extrinsic, where, true), u("use_status", use_status, where, true);
  const auto [rx, tx] = antennas_of(r);
  const auto* space_time = std::get_if<stbc_config>(&r.detector);
  const int of_use = space_time ? 2 : 1;  // axes of what is received in a use: of a codeword slot and antenna
  const bool own_channels = space_time && space_time->code.over_subcarriers();
  const int of_channel = own_channels ? 3 : 2;
  const std::size_t uses_of_codeword = space_time ? static_cast<std::size_t>(space_time->code.uses()) : 1;
  if (space_time)
    y.expect_item({r.made->uses_per_frame(), uses_of_codeword, rx});
  else
    y.expect_item({r.made->uses_per_frame(), rx});
  if (own_channels)
    h.expect_item({uses_of_codeword, rx, tx});
  else
    h.expect_item({rx, tx});
  const int of_frame = r.users == 0 ? 1 : 2;  // axes of a frame's bits: with codewords of users these first
  if (r.users == 0)
    p.expect_item({r.made->n()});
  else
    p.expect_item({r.users, r.decoder->n()});
  const auto uses = y.batch(of_use);
  p.expect_batch(of_frame, y.batch(of_use + 1));
  u.expect_batch(0, uses);
  const heard in{.channel = h.as<const std::complex<float>>(of_channel),
                 .uses_per_channel = std::max<std::size_t>(1, h.items_sharing(of_channel, uses)),
                 .received = y.as<const std::complex<float>>(of_use),
                 .noise_var = n0.of(uses),
                 .prior = p.as<const float>(of_frame)};
  const decided out{.bits = b.as<std::uint8_t>(of_frame),
                    .iterations = i.as<std::int32_t>(0),
                    .status = s.as<std::uint8_t>(0),
                    .detected = d.as<float>(of_frame),
                    .extrinsic = e.as<float>(of_frame),
                    .use_status = u.as<std::uint8_t>(0)};
  if (in.received.items == 0) return;
  where.run([&](executor& exec) { r.made->run(exec, in, out); });
}

nb::tuple chart(const receiver_ref& r, executor_ref& where, double snr_db,
                const std::vector<double>& prior_information, std::size_t bits, std::uint64_t seed) {
  const exit_config c{prior_information, bits, seed};
  exit_curve detector, decoder;
  exit_trajectory loop;
  const auto* streams = std::get_if<detector_config>(&r.detector);
  if (streams == nullptr)
    throw argument_error("detector", "of a space-time code or of massive MIMO",
                         "a detector of streams: EXIT charts are of these");
  if (r.users != 0)
    throw argument_error("codewords", "\"user\"", "\"frame\": EXIT charts are of one codeword a frame");
  where.run([&](executor& exec) {
    detector = detector_exit(exec, *streams, snr_db, c);
    decoder = decoder_exit(exec, *r.decoder, c);
    loop = loop_exit(exec, *streams, *r.made, r.encode, snr_db, c);
  });
  return nb::make_tuple(detector.extrinsic, decoder.extrinsic, loop.detector, loop.decoder);
}

}  // namespace

void bind_receive(nb::module_& m) {
  add_keywords(m, "IterativeReceiver", receiver_settings());
  nb::class_<receiver_ref>(m, "IterativeReceiver")
      .def("__init__", &make, nb::kw_only(), nb::arg("detector"), nb::arg("decoder"),
           nb::arg("decoder_permutation").none(), nb::arg("crc").none(), nb::arg("permutation").none(),
           nb::arg("per_user"), nb::arg("settings"))
      .def("run", &run, nb::arg("executor"), nb::arg("channel"), nb::arg("received"), optional("noise_var"),
           optional("prior"), optional("bits"), optional("iterations"), optional("status"),
           optional("detected"), optional("extrinsic"), optional("use_status"))
      .def("exit_chart", &chart, nb::arg("executor"), nb::kw_only(), nb::arg("snr_db"),
           nb::arg("prior_information"), nb::arg("bits"), nb::arg("seed"))
      .def_prop_ro("k", [](const receiver_ref& r) { return r.decoder->k(); })
      .def_prop_ro("n", [](const receiver_ref& r) { return r.decoder->n(); })
      .def_prop_ro("users", [](const receiver_ref& r) { return r.users; })
      .def_prop_ro("uses_per_frame", [](const receiver_ref& r) { return r.made->uses_per_frame(); })
      .def_prop_ro("permutation", [](const receiver_ref& r) { return r.made->interleaver().permutation(); })
      .def_prop_ro("settings",
                   [](const receiver_ref& r) { return settings_in(receiver_settings(), r.config); });
  m.def("random_permutation", &random_permutation, nb::arg("n"), nb::arg("seed"));
}

}  // namespace wb::python
