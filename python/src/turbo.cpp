// fec/turbo/ and fec/umts/: the turbo code of LTE, and the interleaver of UMTS.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/fec/turbo/turbo.hpp>
#include <warpband/fec/umts/interleaver.hpp>

#include "arrays.hpp"
#include "codes.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

using permutation = std::optional<std::vector<std::int32_t>>;

std::size_t coded_bits(int k) { return 3 * (static_cast<std::size_t>(k) + 4); }

turbo_decoder made(const turbo_decoder_config& config, permutation p) {
  return p ? turbo_decoder(config, std::move(*p)) : turbo_decoder(config);
}

void turbo_decode(const turbo_decoder& d, executor_ref& where, nb::handle llr, nb::handle bits,
                  nb::handle soft, nb::handle extrinsic, nb::handle iterations, nb::handle status) {
  const argument l("llr", llr, where), b("bits", bits, where, true), s("soft", soft, where, true),
      e("extrinsic", extrinsic, where, true), i("iterations", iterations, where, true),
      t("status", status, where, true);
  l.expect_item({coded_bits(d.config().k)});
  const turbo_decoder_output out{.bits = b.as<std::uint8_t>(1),
                                 .soft = s.as<float>(1),
                                 .extrinsic = e.as<float>(1),
                                 .iterations = i.as<std::int32_t>(0),
                                 .status = t.as<std::uint8_t>(0)};
  const bool steps = l.type() == number::int8 && d.config().precision != turbo_precision::float32;
  const auto wide = steps ? view<const float>{} : l.as<const float>(1);
  const auto narrow = steps ? l.as<const std::int8_t>(1) : view<const std::int8_t>{};
  where.run([&](executor& exec) { steps ? d.run(exec, narrow, out) : d.run(exec, wide, out); });
}

void turbo_encode(const turbo_encoder& e, executor_ref& where, nb::handle bits, nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({static_cast<std::size_t>(e.k())});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) { e.run(exec, in, out); });
}

const std::vector<setting_of<turbo_decoder_config>>& settings() {
  static const auto settings = [] {
    auto list = turbo_decoder_settings();
    list.push_back(turbo_code_rate_setting());
    return list;
  }();
  return settings;
}

}  // namespace

void bind_turbo(nb::module_& m) {
  add_keywords(m, "TurboDecoder", settings());
  m.def("umts_permutation", &umts_permutation, nb::arg("k"));
  nb::class_<turbo_decoder>(m, "TurboDecoder")
      .def(
          "__init__",
          [](turbo_decoder* self, int k, std::optional<crc_words> crc, permutation p, const nb::dict& given) {
            turbo_decoder_config c = with_settings(settings(), given);
            c.k = k;
            if (c.early_stop == turbo_early_stop::crc && !crc)
              throw argument_error("crc", "None",
                                   "the name of a CRC or (polynomial, degree) with early_stop = \"crc\"");
            if (crc) c.crc_polynomial = crc->first, c.crc_degree = crc->second;
            with_names_of_codes(crc, [&] { new (self) turbo_decoder(made(c, std::move(p))); });
          },
          nb::kw_only(), nb::arg("k"), nb::arg("crc").none(), nb::arg("permutation").none(),
          nb::arg("settings"))
      .def("run", &turbo_decode, nb::arg("executor"), nb::arg("llr"), optional("bits"), optional("soft"),
           optional("extrinsic"), optional("iterations"), optional("status"))
      .def_prop_ro("settings", [](const turbo_decoder& d) { return settings_in(settings(), d.config()); });
  nb::class_<turbo_encoder>(m, "TurboEncoder")
      .def(
          "__init__",
          [](turbo_encoder* self, int k, permutation p) {
            if (p)
              new (self) turbo_encoder(std::move(*p));
            else
              new (self) turbo_encoder(k);
          },
          nb::kw_only(), nb::arg("k"), nb::arg("permutation").none())
      .def("run", &turbo_encode, nb::arg("executor"), nb::arg("bits"), nb::arg("coded"))
      .def_prop_ro("k", &turbo_encoder::k);
}

}  // namespace wb::python
