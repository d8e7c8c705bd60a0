// fec/blocks/: single code blocks of 5G NR and LTE, with packed bits and HARQ memory in host memory.
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <warpband/core/as_size.hpp>
#include <warpband/fec/blocks/ldpc_blocks.hpp>
#include <warpband/fec/blocks/turbo_blocks.hpp>
#include <warpband/fec/lte/rate_matching.hpp>
#include <warpband/fec/nr/code_block.hpp>
#include <warpband/fec/nr/rate_matching.hpp>

#include "arrays.hpp"
#include "codes.hpp"
#include "rooms.hpp"
#include "settings.hpp"

namespace wb::python {
namespace {

/// What takes blocks, with their settings: one call at a time. The lock is taken without the GIL.
template <class Coder, class Settings>
struct blocks_ref {
  Coder coder;
  Settings settings;
  std::optional<crc_polynomial> crc;
  std::mutex mutex;
};

// ---- settings

struct ldpc_choice {
  int base_graph = 1, lifting_size = 384, fillers = 0, sent_bits = 1, modulation_order = 2;
  std::optional<int> soft_buffer = {};
  // Of the decoder.
  int iterations = 8, decimals = 1;
  bool early_stop = true, drop_crc = false;
  harq_format harq_type = harq_format::int8;
  ldpc_decoder_config ldpc = ldpc_block_decoder::default_ldpc();

  ldpc_block_shape shape(int rv) const {
    const int buffer = soft_buffer.value_or(0);
    return {
        base_graph, lifting_size,    fillers, buffer, nr_first_place(base_graph, lifting_size, buffer, rv),
        sent_bits,  modulation_order};
  }
  int k() const { return nr_systematic(base_graph) * lifting_size - fillers; }
  /// LLRs of a block's HARQ memory.
  std::size_t harq_length() const {
    const nr_code_block block = nr_code_block_of(base_graph, k(), lifting_size);
    return as_size(nr_ring_number(block, soft_buffer.value_or(block.standard_n())));
  }
};
struct turbo_choice {
  int k = 40;
  std::optional<int> sent_bits = {}, soft_buffer = {};  // of the encoder
  turbo_order order = turbo_order::circular_buffer;
  int least_iterations = 1, iterations = 8, decimals = 1;
  bool early_stop = true, drop_crc = false;
  turbo_decoder_config turbo = turbo_block_decoder::default_turbo();
};

const std::vector<setting_of<ldpc_choice>>& ldpc_encoder_list() {
  using c = ldpc_choice;
  static const std::vector<setting_of<c>> settings{
      integer("base_graph", &c::base_graph, 1, 2, "Base graph of the LDPC code."),
      integer("lifting_size", &c::lifting_size, 2, nr_most_lifting, "Z.", "one of the 51 lifting sizes"),
      integer("sent_bits", &c::sent_bits, 1, 1 << 23, "E, bits of a transmission.",
              "a multiple of modulation_order, up to 2^23"),
      integer("fillers", &c::fillers, 0, 22 * nr_most_lifting,
              "F, filler bits at the end of the 22 Z or 10 Z bits of a block.",
              "an integer from 0 to 20 Z - 1 (base graph 1) or 8 Z - 1"),
      integer_or_auto("soft_buffer", &c::soft_buffer, 1, 66 * nr_most_lifting,
                      "N_cb, places that are kept of the circular buffer. \"auto\": all.",
                      "an integer from 1 to 66 Z or 50 Z"),
      one_of("modulation_order", &c::modulation_order, {1, 2, 4, 6, 8, 10},
             "Q_m of the bit interleaver; 1: bits are not interleaved.")};
  return settings;
}
/// Of a decoder: decimals, iterations, early stop, output without CRC.
template <class C>
std::vector<setting_of<C>> decoder_list(int most_iterations) {
  return {integer("decimals", &C::decimals, 0, 7,
                  "An integer LLR v is v / 2^decimals. LLRs of float32 are rounded to such steps."),
          integer("iterations", &C::iterations, 1, most_iterations, "Iterations; with early_stop the most."),
          words<C, bool>("early_stop", &C::early_stop, {{"checks", true}, {"none", false}},
                         "checks: iterating stops once the CRC holds. Without a CRC it stops once all checks "
                         "hold (LDPC) or both constituent decoders agree (turbo, float32 only)."),
          boolean("drop_crc", &C::drop_crc, "The output has no CRC.")};
}
const std::vector<setting_of<ldpc_choice>>& ldpc_decoder_list() {
  using c = ldpc_choice;
  static const std::vector<setting_of<c>> settings = [] {
    auto list = ldpc_encoder_list();
    for (auto& s : decoder_list<c>(1000)) list.push_back(std::move(s));
    list.push_back(words<c, harq_format>(
        "harq_type", &c::harq_type, {{"int8", harq_format::int8}, {"float16", harq_format::float16}},
        "Number format of HARQ memory: steps as of LLRs, or LLRs in float16."));
    for (auto& s : within<c>([](c& x) -> ldpc_decoder_config& { return x.ldpc; },
                             without({"iterations", "early_stop"}, ldpc_decoder_settings())))
      list.push_back(std::move(s));
    return list;
  }();
  return settings;
}
const std::vector<setting_of<turbo_choice>>& turbo_encoder_list() {
  using c = turbo_choice;
  static const std::vector<setting_of<c>> settings{
      integer("k", &c::k, 40, 6144, "Bits of a block, CRC included.", "one of the 188 sizes, 40 to 6144"),
      integer("sent_bits", &c::sent_bits, 1, 1 << 23,
              "E, bits of a transmission. Absent: no rate matching, the 3 k + 12 bits of d0, d1 and d2.")
          .without_default(),
      integer_or_auto("soft_buffer", &c::soft_buffer, 1, 1 << 20,
                      "N_cb, places of the circular buffer that are sent. \"auto\": all.",
                      "an integer from 1 on")};
  return settings;
}
const std::vector<setting_of<turbo_choice>>& turbo_decoder_list() {
  using c = turbo_choice;
  static const std::vector<setting_of<c>> settings = [] {
    std::vector<setting_of<c>> list{
        turbo_encoder_list().front(),
        words<c, turbo_order>(
            "order", &c::order,
            {{"circular-buffer", turbo_order::circular_buffer}, {"streams", turbo_order::streams}},
            "Order of a block's LLRs: the circular buffer, or the streams d0, d1, d2 of K_pi places each.")};
    for (auto& s : decoder_list<c>(64)) list.push_back(std::move(s));
    list.push_back(integer("least_iterations", &c::least_iterations, 1, 64, "Iterations before a stop.",
                           "an integer from 1 to iterations"));
    for (auto& s : within<c>([](c& x) -> turbo_decoder_config& { return x.turbo; },
                             without({"iterations", "early_stop"}, turbo_decoder_settings())))
      list.push_back(std::move(s));
    return list;
  }();
  return settings;
}

// ---- arrays

std::size_t packed(int bits) { return packed_bytes(as_size(bits)); }

/// Rows of an array whose elements are side by side.
struct byte_rows {
  std::uint8_t* data = nullptr;
  std::size_t stride = 0, items = 0;
  std::uint8_t* operator[](std::size_t i) const { return data == nullptr ? nullptr : data + i * stride; }
};
template <class V>
byte_rows rows_of(const char* name, const V& v) {
  if (v.elements > 1 && v.element_stride != 1)
    throw shape_error(name, "elements " + std::to_string(v.element_stride) + " apart",
                      "those of a block side by side");
  using T = std::remove_pointer_t<decltype(v.data)>;
  return {static_cast<std::uint8_t*>(const_cast<void*>(static_cast<const void*>(v.data))),
          v.item_stride * sizeof(T), v.items};
}

/// LLRs of blocks as the decoders take them.
struct received {
  byte_rows rows;
  block_llrs llr;  // without data
  received(const argument& l, std::size_t count, int decimals, bool negative) {
    l.expect_item({count});
    llr = {.data = nullptr,
           .count = count,
           .format = llr_format::float32,
           .decimals = decimals,
           .negative = negative};
    if (l.type() == number::int8) {
      llr.format = llr_format::int8;
      rows = rows_of("llr", l.as<const std::int8_t>(1));
    } else if (l.type() == number::int16) {
      llr.format = llr_format::int16;
      rows = rows_of("llr", l.as<const std::int16_t>(1));
    } else {
      rows = rows_of("llr", l.as<const float>(1));
    }
  }
  block_llrs operator[](std::size_t i) const {
    block_llrs of_block = llr;
    of_block.data = rows[i];
    return of_block;
  }
};

/// What became of each block.
struct outcome {
  view<std::uint8_t> ok, status;
  view<std::int32_t> iterations;
  void store(const std::vector<block_result>& results) const {
    for (std::size_t i = 0; i < results.size(); i++) {
      const block_result& r = results[i];
      if (ok.data) ok.data[i * ok.item_stride] = r.status == 0 ? 1 : 0;
      if (status.data) status.data[i * status.item_stride] = r.status;
      if (iterations.data) iterations.data[i * iterations.item_stride] = r.iterations;
    }
  }
};

/// Runs blocks on `where`: a CPU, or a device, which copies from host memory and back.
template <class Ref, class Block>
std::vector<block_result> run_blocks(Ref& made, executor_ref& where, const std::vector<Block>& blocks) {
  std::vector<block_result> results(blocks.size());
  if (!blocks.empty()) made.coder.check(blocks.front());  // they differ in memory alone
  where.run([&](executor& exec) {
    std::lock_guard lock(made.mutex);
    made.coder.start(exec, blocks);
    made.coder.finish(results);
  });
  return results;
}

/// Makes a coder, and refuses settings that its blocks would be refused for.
/// `describe` gives one of them.
template <class Ref, class Coder, class Settings, class F>
void make(Ref* self, Coder coder, const Settings& settings, const std::optional<crc_words>& crc, F describe) {
  with_names({{"buffer", "soft_buffer"}, {"crc_degree", "crc"}, {"crc_polynomial", "crc"}},
             [&] { Coder::check(describe(settings, polynomial_of(crc))); });
  new (self) Ref{std::move(coder), settings, polynomial_of(crc), {}};
}
/// Memory that `check` may believe in.
std::uint8_t unread = 0;
constexpr std::size_t any_length = std::size_t{1} << 40;

// ---- LDPC codes

using ldpc_decoder_ref = blocks_ref<ldpc_block_decoder, ldpc_choice>;
using ldpc_encoder_ref = blocks_ref<ldpc_block_encoder, ldpc_choice>;

ldpc_decode_block described_decoder(const ldpc_choice& c, const std::optional<crc_polynomial>& crc,
                                    int rv = 0) {
  ldpc_decode_block b;
  b.shape = c.shape(rv);
  b.llr = {
      .data = &unread, .count = as_size(c.sent_bits), .format = llr_format::int8, .decimals = c.decimals};
  b.iterations = c.iterations;
  b.early_stop = c.early_stop;
  b.crc = crc;
  b.drop_crc = c.drop_crc;
  b.harq = c.harq_type;
  b.bits = {&unread, any_length};
  return b;
}
std::size_t ldpc_out_bytes(const ldpc_decoder_ref& d) {
  return packed(d.settings.k() - (d.settings.drop_crc ? d.crc->degree : 0));
}
std::size_t harq_bytes(const ldpc_decoder_ref& d) {
  return d.settings.harq_length() * harq_value_bytes(d.settings.harq_type);
}

void ldpc_decode(ldpc_decoder_ref& d, executor_ref& host, executor_ref& where, nb::handle llr, bool negative,
                 int rv, bool first, nb::handle harq, nb::handle bits, nb::handle ok, nb::handle iterations,
                 nb::handle status) {
  const argument l("llr", llr, host), h("harq", harq, host, true), b("bits", bits, host, true),
      o("ok", ok, host, true), i("iterations", iterations, host, true), s("status", status, host, true);
  check_range("rv", rv, 0, 3);
  if (!first && !h) throw argument_error("first", "False", "True without harq");
  const ldpc_choice& c = d.settings;
  const received in(l, as_size(c.sent_bits), c.decimals, negative);
  byte_rows memory;
  const std::size_t length = c.harq_length(), value = harq_value_bytes(c.harq_type);
  if (h) {
    h.expect_item({length * value});
    h.expect_batch(1, l.batch(1));
    memory = rows_of("harq", h.as<std::uint8_t>(1));
  }
  std::vector<std::uint8_t> unwanted;
  byte_rows out;
  if (b) {
    out = rows_of("bits", b.as<std::uint8_t>(1));
  } else {
    unwanted.resize(ldpc_out_bytes(d) * in.rows.items);
    out = {unwanted.data(), ldpc_out_bytes(d), in.rows.items};
  }
  const outcome result{o.as<std::uint8_t>(0), s.as<std::uint8_t>(0), i.as<std::int32_t>(0)};
  std::vector<ldpc_decode_block> blocks(in.rows.items, described_decoder(c, d.crc, rv));
  for (std::size_t n = 0; n < blocks.size(); n++) {
    ldpc_decode_block& block = blocks[n];
    block.llr = in[n];
    block.bits = {out[n], ldpc_out_bytes(d)};
    if (!h) continue;
    block.harq_out = memory[n];
    block.harq_out_length = length;
    if (!first) {
      block.harq_in = memory[n];
      block.harq_in_length = length;
    }
  }
  const std::vector<block_result> results = run_blocks(d, where, blocks);
  if (h && first)  // what no transmission reached
    for (std::size_t n = 0; n < results.size(); n++)
      std::memset(memory[n] + results[n].harq_length * value, 0, (length - results[n].harq_length) * value);
  result.store(results);
}

ldpc_encode_block described_encoder(const ldpc_choice& c, const std::optional<crc_polynomial>& crc) {
  ldpc_encode_block b;
  b.shape = c.shape(0);
  b.bits = {&unread, any_length};
  b.crc = crc;
  b.out = {&unread, any_length};
  return b;
}
int payload(int k, const std::optional<crc_polynomial>& crc) { return k - (crc ? crc->degree : 0); }

void ldpc_encode(ldpc_encoder_ref& e, executor_ref& host, executor_ref& where, nb::handle bits, int rv,
                 nb::handle coded) {
  const argument b("bits", bits, host), c("coded", coded, host, true);
  check_range("rv", rv, 0, 3);
  const std::size_t in_bytes = packed(payload(e.settings.k(), e.crc)),
                    out_bytes = packed(e.settings.sent_bits);
  b.expect_item({in_bytes});
  const byte_rows in = rows_of("bits", b.as<const std::uint8_t>(1)),
                  out = rows_of("coded", c.as<std::uint8_t>(1));
  std::vector<ldpc_encode_block> blocks(in.items, described_encoder(e.settings, e.crc));
  for (std::size_t n = 0; n < blocks.size(); n++) {
    blocks[n].shape = e.settings.shape(rv);
    blocks[n].bits = {in[n], in_bytes};
    blocks[n].out = {out[n], out_bytes};
  }
  (void)run_blocks(e, where, blocks);
}

void bind_ldpc_blocks(nb::module_& m) {
  add_keywords(m, "LdpcBlockDecoder", ldpc_decoder_list(), {}, {"base_graph", "lifting_size", "sent_bits"});
  add_keywords(m, "LdpcBlockEncoder", ldpc_encoder_list(), {}, {"base_graph", "lifting_size", "sent_bits"});
  nb::class_<ldpc_decoder_ref>(m, "LdpcBlockDecoder")
      .def(
          "__init__",
          [](ldpc_decoder_ref* self, std::optional<crc_words> crc, const nb::dict& settings) {
            const ldpc_choice c = with_settings(ldpc_decoder_list(), settings);
            with_names_of_codes(crc, [&] {
              make(self, ldpc_block_decoder(c.ldpc), c, crc,
                   [](const auto& choice, const auto& p) { return described_decoder(choice, p); });
            });
          },
          nb::kw_only(), nb::arg("crc").none(), nb::arg("settings"))
      .def("run", &ldpc_decode, nb::arg("host"), nb::arg("executor"), nb::arg("llr"), nb::arg("negative"),
           nb::arg("rv"), nb::arg("first"), optional("harq"), optional("bits"), optional("ok"),
           optional("iterations"), optional("status"))
      .def_prop_ro("k", [](const ldpc_decoder_ref& d) { return d.settings.k(); })
      .def_prop_ro("out_bytes", &ldpc_out_bytes)
      .def_prop_ro("harq_bytes", &harq_bytes)
      .def_prop_ro("settings",
                   [](const ldpc_decoder_ref& d) { return settings_in(ldpc_decoder_list(), d.settings); });
  nb::class_<ldpc_encoder_ref>(m, "LdpcBlockEncoder")
      .def(
          "__init__",
          [](ldpc_encoder_ref* self, std::optional<crc_words> crc, const nb::dict& settings) {
            const ldpc_choice c = with_settings(ldpc_encoder_list(), settings);
            with_names_of_codes(crc, [&] { make(self, ldpc_block_encoder(), c, crc, described_encoder); });
          },
          nb::kw_only(), nb::arg("crc").none(), nb::arg("settings"))
      .def("run", &ldpc_encode, nb::arg("host"), nb::arg("executor"), nb::arg("bits"), nb::arg("rv"),
           nb::arg("coded"))
      .def_prop_ro("k", [](const ldpc_encoder_ref& e) { return e.settings.k(); })
      .def_prop_ro("in_bytes",
                   [](const ldpc_encoder_ref& e) { return packed(payload(e.settings.k(), e.crc)); })
      .def_prop_ro("out_bytes", [](const ldpc_encoder_ref& e) { return packed(e.settings.sent_bits); })
      .def_prop_ro("settings",
                   [](const ldpc_encoder_ref& e) { return settings_in(ldpc_encoder_list(), e.settings); });
}

// ---- turbo codes

using turbo_decoder_ref = blocks_ref<turbo_block_decoder, turbo_choice>;
using turbo_encoder_ref = blocks_ref<turbo_block_encoder, turbo_choice>;

std::size_t buffer_places(int k) { return 96 * as_size(lte_interleaver_rows(k)); }

turbo_decode_block described_turbo_decoder(const turbo_choice& c, const std::optional<crc_polynomial>& crc) {
  turbo_decode_block b;
  b.k = c.k;
  b.llr = {.data = &unread, .count = buffer_places(c.k), .format = llr_format::int8, .decimals = c.decimals};
  b.order = c.order;
  b.least_iterations = c.least_iterations;
  b.iterations = c.iterations;
  b.early_stop = c.early_stop;
  b.crc = crc;
  b.drop_crc = c.drop_crc;
  b.bits = {&unread, any_length};
  return b;
}
std::size_t turbo_out_bytes(const turbo_decoder_ref& d) {
  return packed(d.settings.k - (d.settings.drop_crc ? d.crc->degree : 0));
}

void turbo_decode(turbo_decoder_ref& d, executor_ref& host, executor_ref& where, nb::handle llr,
                  bool negative, nb::handle bits, nb::handle ok, nb::handle iterations, nb::handle status,
                  nb::handle soft) {
  const argument l("llr", llr, host), b("bits", bits, host, true), o("ok", ok, host, true),
      i("iterations", iterations, host, true), s("status", status, host, true), x("soft", soft, host, true);
  const turbo_choice& c = d.settings;
  const received in(l, buffer_places(c.k), c.decimals, negative);
  std::vector<std::uint8_t> unwanted;
  byte_rows out, soft_rows;
  if (b) {
    out = rows_of("bits", b.as<std::uint8_t>(1));
  } else {
    unwanted.resize(turbo_out_bytes(d) * in.rows.items);
    out = {unwanted.data(), turbo_out_bytes(d), in.rows.items};
  }
  if (x) soft_rows = rows_of("soft", x.as<std::int8_t>(1));
  const outcome result{o.as<std::uint8_t>(0), s.as<std::uint8_t>(0), i.as<std::int32_t>(0)};
  std::vector<turbo_decode_block> blocks(in.rows.items, described_turbo_decoder(c, d.crc));
  for (std::size_t n = 0; n < blocks.size(); n++) {
    turbo_decode_block& block = blocks[n];
    block.llr = in[n];
    block.bits = {out[n], turbo_out_bytes(d)};
    if (!x) continue;
    block.soft = reinterpret_cast<std::int8_t*>(soft_rows[n]);
    block.soft_length = 3 * (as_size(c.k) + 4);
    block.negative_soft = negative;
  }
  result.store(run_blocks(d, where, blocks));
}

int turbo_sent(const turbo_choice& c) { return c.sent_bits.value_or(3 * c.k + 12); }
turbo_encode_block described_turbo_encoder(const turbo_choice& c, const std::optional<crc_polynomial>& crc,
                                           int rv = 0) {
  turbo_encode_block b;
  b.k = c.k;
  b.bits = {&unread, any_length};
  b.crc = crc;
  if (c.sent_bits) {
    b.sent_bits = *c.sent_bits;
    b.buffer = c.soft_buffer.value_or(0);
    b.first = lte_first_place(c.k, b.buffer, rv);
  } else if (c.soft_buffer) {
    throw argument_error("soft_buffer", std::to_string(*c.soft_buffer), "\"auto\" without sent_bits");
  }
  b.out = {&unread, any_length};
  return b;
}

void turbo_encode(turbo_encoder_ref& e, executor_ref& host, executor_ref& where, nb::handle bits, int rv,
                  nb::handle coded) {
  const argument b("bits", bits, host), c("coded", coded, host, true);
  check_range("rv", rv, 0, 3);
  const std::size_t in_bytes = packed(payload(e.settings.k, e.crc)),
                    out_bytes = packed(turbo_sent(e.settings));
  b.expect_item({in_bytes});
  const byte_rows in = rows_of("bits", b.as<const std::uint8_t>(1)),
                  out = rows_of("coded", c.as<std::uint8_t>(1));
  std::vector<turbo_encode_block> blocks(in.items, described_turbo_encoder(e.settings, e.crc, rv));
  for (std::size_t n = 0; n < blocks.size(); n++) {
    blocks[n].bits = {in[n], in_bytes};
    blocks[n].out = {out[n], out_bytes};
  }
  (void)run_blocks(e, where, blocks);
}

void bind_turbo_blocks(nb::module_& m) {
  add_keywords(m, "TurboBlockDecoder", turbo_decoder_list(), {}, {"k"});
  add_keywords(m, "TurboBlockEncoder", turbo_encoder_list(), {}, {"k"});
  nb::class_<turbo_decoder_ref>(m, "TurboBlockDecoder")
      .def(
          "__init__",
          [](turbo_decoder_ref* self, std::optional<crc_words> crc, const nb::dict& settings) {
            const turbo_choice c = with_settings(turbo_decoder_list(), settings);
            with_names_of_codes(
                crc, [&] { make(self, turbo_block_decoder(c.turbo), c, crc, described_turbo_decoder); });
          },
          nb::kw_only(), nb::arg("crc").none(), nb::arg("settings"))
      .def("run", &turbo_decode, nb::arg("host"), nb::arg("executor"), nb::arg("llr"), nb::arg("negative"),
           optional("bits"), optional("ok"), optional("iterations"), optional("status"), optional("soft"))
      .def_prop_ro("llrs", [](const turbo_decoder_ref& d) { return buffer_places(d.settings.k); })
      .def_prop_ro("out_bytes", &turbo_out_bytes)
      .def_prop_ro("settings",
                   [](const turbo_decoder_ref& d) { return settings_in(turbo_decoder_list(), d.settings); });
  nb::class_<turbo_encoder_ref>(m, "TurboBlockEncoder")
      .def(
          "__init__",
          [](turbo_encoder_ref* self, std::optional<crc_words> crc, const nb::dict& settings) {
            const turbo_choice c = with_settings(turbo_encoder_list(), settings);
            with_names_of_codes(crc, [&] {
              make(self, turbo_block_encoder(), c, crc,
                   [](const auto& choice, const auto& p) { return described_turbo_encoder(choice, p); });
            });
          },
          nb::kw_only(), nb::arg("crc").none(), nb::arg("settings"))
      .def("run", &turbo_encode, nb::arg("host"), nb::arg("executor"), nb::arg("bits"), nb::arg("rv"),
           nb::arg("coded"))
      .def_prop_ro("in_bytes",
                   [](const turbo_encoder_ref& e) { return packed(payload(e.settings.k, e.crc)); })
      .def_prop_ro("out_bytes", [](const turbo_encoder_ref& e) { return packed(turbo_sent(e.settings)); })
      .def_prop_ro("settings",
                   [](const turbo_encoder_ref& e) { return settings_in(turbo_encoder_list(), e.settings); });
}

}  // namespace

void bind_blocks(nb::module_& m) {
  bind_ldpc_blocks(m);
  bind_turbo_blocks(m);
}

}  // namespace wb::python
