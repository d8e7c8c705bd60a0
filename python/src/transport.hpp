#pragma once
// What the transport channels of LTE and 5G NR have in common: their coders and rate matchers of code blocks
// as Python calls them.
#include <mutex>
#include <vector>

#include <warpband/core/as_size.hpp>
#include <warpband/fec/transport/transport.hpp>

#include "arrays.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {

/// An encoder or decoder that keeps buffers between calls: one call at a time, whatever the executors. The
/// lock is taken without the GIL.
template <class Coder>
struct transport_ref {
  Coder made;
  std::mutex mutex;
};

template <class Encoder>
void encode_transport(transport_ref<Encoder>& e, executor_ref& where, nb::handle bits, int rv,
                      nb::handle coded) {
  const argument b("bits", bits, where), c("coded", coded, where, true);
  b.expect_item({as_size(e.made.config().transport_bits)});
  const auto in = b.bits(1);
  const auto out = c.as<std::uint8_t>(1);
  where.run([&](executor& exec) {
    std::lock_guard lock(e.mutex);
    e.made.run(exec, in, rv, out);
  });
}

/// Combines a transmission and decodes. What is refused leaves the decoder and a caller's memory as they
/// were. A call with memory of the caller ends the series that the decoder keeps, so that no later call adds
/// to the caller's blocks.
template <class Decoder, class Output>
void decode_transmission(Decoder& decoder, executor& exec, const llr_batch& llr, int rv, bool first,
                         const harq_memory& memory, const Output& out) {
  const bool of_caller = memory.data.data != nullptr;
  check_range("rv", rv, 0, 3);
  check_shape("llr", llr, llr.items, static_cast<std::size_t>(decoder.config().coded_bits));
  if (of_caller) decoder.check_memory(memory);
  if (first || of_caller) decoder.reset();
  if (!of_caller) {
    decoder.combine(exec, llr, rv);
    decoder.decode(exec, out);
    return;
  }
  try {
    if (!first) decoder.resume(exec, memory);
    decoder.combine(exec, llr, rv);
    decoder.keep(exec, memory);
    decoder.decode(exec, out);
  } catch (...) {
    decoder.reset();
    throw;
  }
  decoder.reset();
}

/// Looks at all arrays before anything is combined: a call that is refused leaves the soft buffers as they
/// were.
template <class Decoder, class Output>
void decode_transport(transport_ref<Decoder>& d, executor_ref& where, nb::handle llr, double llr_scale,
                      int rv, bool first, nb::handle harq, const harq_memory& held_as, nb::handle bits,
                      nb::handle ok, nb::handle block_ok, nb::handle iterations, nb::handle status) {
  const argument l("llr", llr, where), b("bits", bits, where, true), o("ok", ok, where, true),
      k("block_ok", block_ok, where, true), i("iterations", iterations, where, true),
      s("status", status, where, true), h("harq", harq, where, true);
  l.expect_item({as_size(d.made.config().coded_bits)});
  const llr_batch in = l.llrs(1, llr_scale);
  harq_memory memory = held_as;
  if (h) {
    h.expect_item({d.made.harq_bytes(memory.format)});
    h.expect_batch(1, l.batch(1));
    memory.data = h.as<std::uint8_t>(1);
  }
  Output out;
  out.bits = b.as<std::uint8_t>(1);
  out.ok = o.as<std::uint8_t>(0);
  out.block_ok = k.as<std::uint8_t>(1);
  out.iterations = i.as<std::int32_t>(1);
  out.status = s.as<std::uint8_t>(0);
  where.run([&](executor& exec) {
    std::lock_guard lock(d.mutex);
    decode_transmission(d.made, exec, in, rv, first, memory, out);
  });
}

/// The classes of a channel's encoder and decoder.
template <class Encoder, class Decoder, class Output, class Config>
void bind_transport(nb::module_& m, const char* encoder, const std::vector<setting_of<Config>>& encoder_list,
                    const char* decoder, const std::vector<setting_of<Config>>& decoder_list) {
  using encoder_ref = transport_ref<Encoder>;
  using decoder_ref = transport_ref<Decoder>;
  add_keywords(m, encoder, encoder_list, {}, {"transport_bits", "coded_bits"});
  add_keywords(m, decoder, decoder_list, {}, {"transport_bits", "coded_bits"});
  nb::class_<encoder_ref>(m, encoder)
      .def(
          "__init__",
          [list = &encoder_list](encoder_ref* self, const nb::dict& settings) {
            new (self) encoder_ref{Encoder(with_settings(*list, settings)), {}};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings", [list = &encoder_list](
                                   const encoder_ref& e) { return settings_in(*list, e.made.config()); })
      .def("run", &encode_transport<Encoder>, nb::arg("executor"), nb::arg("bits"), nb::arg("rv"),
           nb::arg("coded"))
      .def_prop_ro("blocks", [](const encoder_ref& e) { return e.made.code_blocks(); });
  nb::class_<decoder_ref>(m, decoder)
      .def(
          "__init__",
          [list = &decoder_list](decoder_ref* self, const nb::dict& settings) {
            new (self) decoder_ref{Decoder(with_settings(*list, settings)), {}};
          },
          nb::kw_only(), nb::arg("settings"))
      .def_prop_ro("settings", [list = &decoder_list](
                                   const decoder_ref& d) { return settings_in(*list, d.made.config()); })
      .def("run", &decode_transport<Decoder, Output>, nb::arg("executor"), nb::arg("llr"),
           nb::arg("llr_scale"), nb::arg("rv"), nb::arg("first"), optional("harq"), nb::arg("harq_format"),
           optional("bits"), optional("ok"), optional("block_ok"), optional("iterations"), optional("status"))
      .def(
          "harq_bytes",
          [](const decoder_ref& d, const harq_memory& held_as) { return d.made.harq_bytes(held_as.format); },
          nb::arg("harq_format"))
      .def_prop_ro("blocks", [](const decoder_ref& d) { return d.made.code_blocks(); });
}

/// The class of a rate matcher of code blocks, whose codewords have `codeword(matcher)` bits.
template <class Matcher, class Config, class Codeword>
nb::class_<Matcher> bind_rate_matcher(nb::module_& m, const char* name,
                                      const std::vector<setting_of<Config>>& list, Codeword codeword) {
  add_keywords(m, name, list, {}, {"k", "sent_bits"});
  return nb::class_<Matcher>(m, name)
      .def(
          "__init__",
          [list = &list](Matcher* self, const nb::dict& settings) {
            new (self) Matcher(with_settings(*list, settings));
          },
          nb::kw_only(), nb::arg("settings"))
      .def(
          "run",
          [codeword](const Matcher& r, executor_ref& where, nb::handle coded, int rv, nb::handle sent) {
            const argument c("bits", coded, where), s("sent", sent, where, true);
            c.expect_item({codeword(r)});
            const auto in = c.bits(1);
            const auto out = s.as<std::uint8_t>(1);
            where.run([&](executor& exec) { r.match(exec, in, rv, out); });
          },
          nb::arg("executor"), nb::arg("bits"), nb::arg("rv"), nb::arg("sent"))
      .def(
          "combine",
          [](const Matcher& r, executor_ref& where, nb::handle llr, double llr_scale, int rv, bool first,
             nb::handle soft) {
            const argument l("llr", llr, where), s("soft", soft, where, true);
            l.expect_item({as_size(r.config().sent_bits)});
            const llr_batch in = l.llrs(1, llr_scale);
            const auto sums = s.as<float>(1);
            where.run([&](executor& exec) { r.combine(exec, in, rv, first, sums); });
          },
          nb::arg("executor"), nb::arg("llr"), nb::arg("llr_scale"), nb::arg("rv"), nb::arg("first"),
          nb::arg("soft"))
      .def_prop_ro("settings", [list = &list](const Matcher& r) { return settings_in(*list, r.config()); });
}

}  // namespace wb::python
