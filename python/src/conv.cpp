// fec/conv/, viterbi/, bcjr/: convolutional codes.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/conv/conv.hpp>
#include <warpband/fec/viterbi/viterbi.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

conv_rate rate_named(const std::string& rate) {
  return named<conv_rate>("rate", rate,
                          {{"1/2", conv_rate::r1_2},
                           {"2/3", conv_rate::r2_3},
                           {"3/4", conv_rate::r3_4},
                           {"5/6", conv_rate::r5_6}});
}
conv_ending ending_named(const std::string& ending) {
  return named<conv_ending>("termination", ending,
                            {{"zero-tail", conv_ending::zero_tail},
                             {"tail-biting", conv_ending::tail_biting},
                             {"truncated", conv_ending::truncated}});
}

/// What an encoder has beside its code.
struct encoder_config {
  int k = 0;
};
const std::vector<setting_of<encoder_config>>& conv_encoder_settings() {
  static const std::vector settings{conv_k_setting(&encoder_config::k, 1 << 20)};
  return settings;
}

void conv_encode(const conv_encoder& e, executor_ref& where, nb::handle bits, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({static_cast<std::size_t>(e.k())});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) { e.run(exec, in, out); });
}

void viterbi(const viterbi_decoder& d, executor_ref& where, nb::handle llr, nb::handle bits,
             nb::handle metric, nb::handle status) {
  const argument l("llr", llr, where), b("bits", bits, where, true), s("metric", metric, where, true),
      t("status", status, where, true);
  l.expect_item({d.frame().n()});
  const bool steps = l.type() == number::int8 && d.config().precision != conv_precision::float32;
  const auto wide = steps ? view<const float>{} : l.as<const float>(1);
  const auto narrow = steps ? l.as<const std::int8_t>(1) : view<const std::int8_t>{};
  const viterbi_output out{
      .bits = b.as<std::uint8_t>(1), .metric = s.as<float>(0), .status = t.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { steps ? d.run(exec, narrow, out) : d.run(exec, wide, out); });
}

void bcjr(const bcjr_decoder& d, executor_ref& where, nb::handle llr, nb::handle prior, nb::handle bits,
          nb::handle soft, nb::handle extrinsic, nb::handle status) {
  const argument l("llr", llr, where), p("prior", prior, where), b("bits", bits, where, true),
      s("soft", soft, where, true), e("extrinsic", extrinsic, where, true), t("status", status, where, true);
  l.expect_item({d.frame().n()});
  p.expect_item({static_cast<std::size_t>(d.frame().k())});
  p.expect_batch(1, l.batch(1));
  const bool steps = l.type() == number::int8 && d.config().precision != conv_precision::float32;
  const auto wide = steps ? view<const float>{} : l.as<const float>(1);
  const auto narrow = steps ? l.as<const std::int8_t>(1) : view<const std::int8_t>{};
  const auto before = p.as<const float>(1);
  if (steps && before.data != nullptr) throw argument_error("prior", "an array", "none with precision int16");
  const bcjr_output out{.bits = b.as<std::uint8_t>(1),
                        .soft = s.as<float>(1),
                        .extrinsic = e.as<float>(1),
                        .status = t.as<std::uint8_t>(0)};
  where.run([&](executor& exec) { steps ? d.run(exec, narrow, out) : d.run(exec, wide, before, out); });
}

}  // namespace

void bind_conv(nb::module_& m) {
  add_keywords(m, "ConvEncoder", conv_encoder_settings(), {}, {"k"});
  add_keywords(m, "ViterbiDecoder", viterbi_settings(), {}, {"k"});
  add_keywords(m, "BcjrDecoder", bcjr_settings(), {}, {"k"});
  add_keywords(m, "ConvCode", conv_code_settings());
  nb::class_<conv_code>(m, "ConvCode")
      .def(
          "__init__",
          [](conv_code* self, const nb::dict& settings) {
            const conv_code c = with_settings(conv_code_settings(), settings);
            with_names(
                {{"ending", "termination"}, {"generators.size()", "generators"}, {"sent.size()", "sent"}},
                [&] { (void)conv_frame(c, 64); });  // says now what is not allowed
            new (self) conv_code(c);
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings", [](const conv_code& c) { return settings_in(conv_code_settings(), c); })
      .def_static(
          "ieee80211", [](const std::string& rate) { return conv_80211(rate_named(rate)); }, nb::arg("rate"))
      .def_static(
          "ieee80216",
          [](const std::string& rate, const std::string& ending) {
            return conv_80216(rate_named(rate), ending_named(ending));
          },
          nb::arg("rate"), nb::arg("termination"))
      .def_static("lte", &conv_lte);
  nb::class_<conv_encoder>(m, "ConvEncoder")
      .def(
          "__init__",
          [](conv_encoder* self, const conv_code& code, const nb::dict& settings) {
            new (self) conv_encoder(code, with_settings(conv_encoder_settings(), settings).k);
          },
          nb::kw_only(), nb::arg("code"), nb::arg("settings"))
      .def("run", &conv_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("coded"))
      .def_prop_ro("n", &conv_encoder::n)
      .def_prop_ro("settings",
                   [](const conv_encoder& e) { return settings_in(conv_encoder_settings(), {.k = e.k()}); });
  nb::class_<viterbi_decoder>(m, "ViterbiDecoder")
      .def(
          "__init__",
          [](viterbi_decoder* self, const conv_code& code, const nb::dict& settings) {
            new (self) viterbi_decoder(with_settings(viterbi_settings(), settings, {.code = code}));
          },
          nb::kw_only(), nb::arg("code"), nb::arg("settings"))
      .def("run", &viterbi, nb::arg("executor"), nb::arg("llr"), optional("bits"), optional("metric"),
           optional("status"))
      .def_prop_ro("n", [](const viterbi_decoder& d) { return d.frame().n(); })
      .def_prop_ro("settings",
                   [](const viterbi_decoder& d) { return settings_in(viterbi_settings(), d.config()); });
  nb::class_<bcjr_decoder>(m, "BcjrDecoder")
      .def(
          "__init__",
          [](bcjr_decoder* self, const conv_code& code, const nb::dict& settings) {
            new (self) bcjr_decoder(with_settings(bcjr_settings(), settings, {.code = code}));
          },
          nb::kw_only(), nb::arg("code"), nb::arg("settings"))
      .def("run", &bcjr, nb::arg("executor"), nb::arg("llr"), optional("prior"), optional("bits"),
           optional("soft"), optional("extrinsic"), optional("status"))
      .def_prop_ro("n", [](const bcjr_decoder& d) { return d.frame().n(); })
      .def_prop_ro("settings",
                   [](const bcjr_decoder& d) { return settings_in(bcjr_settings(), d.config()); });
}

}  // namespace wb::python
