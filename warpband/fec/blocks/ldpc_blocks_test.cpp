// LDPC code blocks against vectors of accelerators, and against nr_rate_matcher with ldpc_decoder and
// ldpc_encoder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

#include <tests/allocations.hpp>
#include <tests/bbdev_file.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/half.hpp>
#include <warpband/fec/blocks/ldpc_blocks.hpp>
#include <warpband/fec/nr/rate_matching.hpp>

namespace wb {
namespace ldpc_blocks_test {

using namespace testing;
using bytes = std::vector<std::uint8_t>;
using steps = std::vector<std::int8_t>;

int standard_n(int graph, int z) { return (graph == 1 ? 66 : 50) * z; }
std::size_t size_of(int n) { return static_cast<std::size_t>(n); }

bytes packed(const bytes& bits) {
  bytes out((bits.size() + 7) / 8);
  for (std::size_t i = 0; i < bits.size(); i++)
    out[i / 8] = static_cast<std::uint8_t>(out[i / 8] | (bits[i] & 1) << (7 - i % 8));
  return out;
}

// ---------------------------------------------------------------- files of vectors

struct vector_file : bbdev_file {
  bool has(const std::string& name) const { return flag("LDPC_" + name); }
  std::optional<crc_polynomial> crc(const std::string& verb) const {
    if (has("CRC_24A_" + verb) || has("CRC_TYPE_24A_" + verb)) return crc24a;
    if (has("CRC_24B_" + verb) || has("CRC_TYPE_24B_" + verb)) return crc24b;
    if (has("CRC_16_" + verb) || has("CRC_TYPE_16_" + verb)) return crc16;
    return {};
  }
  ldpc_block_shape shape(int sent) const {
    ldpc_block_shape s;
    s.base_graph = number("basegraph");
    s.lifting_size = number("z_c");
    s.fillers = number("n_filler");
    s.buffer = number("n_cb");
    s.first = nr_first_place(s.base_graph, s.lifting_size, s.buffer, number("rv_index"));
    s.sent_bits = sent;
    s.modulation_order = has("DEINTERLEAVER_BYPASS") || has("INTERLEAVER_BYPASS") ? 1 : number("q_m");
    return s;
  }
};
std::vector<std::string> files_of(const std::string& prefix) {
  std::vector<std::string> found;
  for (const std::string folder : {"dpdk/", "own/"}) {
    std::error_code missing;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(WARPBAND_REFDATA) + "/bbdev/" + folder, missing))
      if (const std::string name = entry.path().filename().string(); name.starts_with(prefix))
        found.push_back(folder + name);
  }
  std::sort(found.begin(), found.end());
  return found;
}
#define SKIP_WITHOUT_BBDEV_FILES(files) \
  if ((files).empty()) GTEST_SKIP() << "no refdata in '" << WARPBAND_REFDATA << "/bbdev'"

// ---------------------------------------------------------------- blocks to decode

/// A block with memory of its own.
struct held_block {
  ldpc_decode_block block;
  std::vector<std::int8_t> llr, harq;
  std::vector<std::int16_t> wide;
  std::vector<float> floats;
  bytes bits;
  explicit held_block(const ldpc_decode_block& b, steps values) : block(b), llr(std::move(values)) {
    const ldpc_block_shape& s = b.shape;
    harq.assign(size_of(standard_n(s.base_graph, s.lifting_size)) + 1, 99);
    bits.assign(size_of((s.base_graph == 1 ? 22 : 10) * s.lifting_size / 8 + 2), 0xaa);
    attach();
  }
  held_block(const held_block& o) : block(o.block), llr(o.llr), harq(o.harq), bits(o.bits) { attach(); }
  held_block& operator=(const held_block&) = delete;
  void attach() {
    block.llr.data = llr.data();
    block.llr.count = llr.size();
    block.llr.format = llr_format::int8;
    block.bits = {bits.data(), bits.size()};
    block.harq_out = harq.data();
    block.harq_out_length = harq.size();
  }
};
std::vector<block_result> decode(executor& exec, std::vector<held_block>& held, ldpc_block_decoder& decoder) {
  std::vector<ldpc_decode_block> blocks;
  for (const held_block& h : held) blocks.push_back(h.block);
  std::vector<block_result> results(blocks.size());
  decoder.start(exec, blocks);
  decoder.finish(results);
  return results;
}
std::vector<block_result> decode(executor& exec, std::vector<held_block>& held) {
  ldpc_block_decoder decoder;
  return decode(exec, held, decoder);
}
bytes encode(executor& exec, const ldpc_block_shape& shape, const bytes& payload,
             const std::optional<crc_polynomial>& crc) {
  const bytes in = packed(payload);
  bytes out(size_of((shape.sent_bits + 7) / 8), 0x55);
  ldpc_encode_block b;
  b.shape = shape;
  b.bits = {in.data(), in.size()};
  b.crc = crc;
  b.out = {out.data(), out.size()};
  ldpc_block_encoder encoder;
  block_result result;
  encoder.start(exec, {&b, 1});
  encoder.finish({&result, 1});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.bytes, out.size());
  return out;
}
int k_of(const ldpc_block_shape& s) { return (s.base_graph == 1 ? 22 : 10) * s.lifting_size - s.fillers; }
bytes random_bits(std::mt19937& rng, int n) {
  bytes b(size_of(n));
  for (auto& x : b) x = static_cast<std::uint8_t>(rng() & 1);
  return b;
}
/// LLRs of packed bits behind noise.
steps received(std::mt19937& rng, const bytes& sent, int n, double amplitude, double noise) {
  std::normal_distribution<double> normal(0, noise);
  steps llr(size_of(n));
  for (std::size_t i = 0; i < llr.size(); i++) {
    const double s = (sent[i / 8] >> (7 - i % 8) & 1) != 0 ? -amplitude : amplitude;
    llr[i] = static_cast<std::int8_t>(std::clamp(std::lround(s + normal(rng)), -127L, 127L));
  }
  return llr;
}
/// A shape with fillers, a limited buffer, a redundancy version and an order, by turns.
ldpc_block_shape any_shape(std::mt19937& rng, int graph, int z, int number, int* rv = nullptr) {
  constexpr int orders[] = {1, 2, 4, 6, 8, 10};
  ldpc_block_shape s;
  s.base_graph = graph;
  s.lifting_size = z;
  const int k = (graph == 1 ? 22 : 10) * z, n = standard_n(graph, z);
  const int most_fillers = number % 3 == 0 ? 0 : number % 3 == 1 ? z - 1 : std::min(5 * z, k - 2 * z - 26);
  s.fillers = most_fillers <= 0 ? 0 : static_cast<int>(rng() % static_cast<unsigned>(most_fillers + 1));
  if (number % 4 == 1) s.buffer = k + static_cast<int>(rng() % static_cast<unsigned>(n - k));
  if (number % 8 == 3) s.buffer = n;
  const int version = number / 2 % 4;
  if (rv != nullptr) *rv = version;
  s.first = nr_first_place(graph, z, s.buffer, version);
  s.modulation_order = orders[number % 6];
  const int sent =
      (k - s.fillers) + static_cast<int>(rng() % static_cast<unsigned>(number % 5 == 4 ? 3 * n : n));
  s.sent_bits = std::max(1, sent / s.modulation_order) * s.modulation_order;
  return s;
}
nr_rate_matcher matcher_of(const ldpc_block_shape& s) {
  return nr_rate_matcher({.base_graph = s.base_graph,
                          .k = k_of(s),
                          .lifting_size = s.lifting_size,
                          .sent_bits = s.sent_bits,
                          .modulation_order = s.modulation_order,
                          .soft_buffer = s.buffer == 0 ? std::nullopt : std::optional<int>(s.buffer)});
}

/// What nr_rate_matcher and ldpc_decoder make of transmissions, in steps.
struct reference_result {
  bytes bits;
  std::vector<float> soft;  // sums as they are, in the order of the codeword
  int iterations = 0;
  bool stopped = false;
};
reference_result reference_decode(const ldpc_block_shape& s, const std::vector<std::pair<int, steps>>& sent,
                                  ldpc_decoder_config config, const std::optional<crc_polynomial>& crc) {
  const auto exec = open_reference();
  const nr_rate_matcher matcher = matcher_of(s);
  const nr_code_block& block = matcher.block();
  auto soft = exec->make<float>(1, size_of(block.codeword()));
  reference_result r;
  int rows = 4;
  for (std::size_t i = 0; i < sent.size(); i++) {
    const auto llr = on_device(*exec, std::vector<float>(sent[i].second.begin(), sent[i].second.end()), 1,
                               sent[i].second.size());
    matcher.combine(*exec, llr, sent[i].first, i == 0, soft);
    rows = std::max(rows, matcher.rows(sent[i].first));
    for (std::size_t v = 0; v < soft.size(); v++)
      if (std::abs(soft.data()[v]) < 1e20f) soft.data()[v] = std::clamp(soft.data()[v], -127.f, 127.f);
  }
  const ldpc_decoder decoder(block.code(rows), config, as_ldpc_crc(crc, block.k), ldpc_erasures::none);
  const auto k = size_of(block.padded());
  auto bits = exec->make<std::uint8_t>(1, k);
  auto iterations = exec->make<std::int32_t>(1, 1);
  auto status = exec->make<std::uint8_t>(1, 1);
  view<const float> llr = std::as_const(soft);
  llr.elements = size_of(decoder.code().n());
  decoder.run(*exec, llr, {.bits = bits, .iterations = iterations, .status = status});
  r.bits = exec->to_host(bits);
  r.bits.resize(size_of(block.k));
  r.soft = exec->to_host(soft);
  r.iterations = iterations.data()[0];
  r.stopped = (status.data()[0] & status_stopped) != 0;
  return r;
}
/// The soft buffer of a codeword without its first 2 Z bits and fillers.
steps harq_of(const ldpc_block_shape& s, const std::vector<float>& soft) {
  const nr_rate_matcher matcher = matcher_of(s);
  const nr_code_block& b = matcher.block();
  steps out;
  for (int i = 2 * b.z; i < b.codeword(); i++)
    if (i < b.k || i >= b.padded()) out.push_back(static_cast<std::int8_t>(soft[size_of(i)]));
  out.resize(size_of(matcher.buffer().length));
  return out;
}

class ldpc_blocks : public on_backend {};
WB_ON_ALL_BACKENDS(ldpc_blocks);

// ---------------------------------------------------------------- vectors

TEST_P(ldpc_blocks, decode_the_vectors_of_accelerators) {
  const auto files = files_of("ldpc_dec_");
  SKIP_WITHOUT_BBDEV_FILES(files);
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    const vector_file f{read_bbdev(path).value()};
    const bytes input = f.bytes("input"), harq_in = f.bytes("harq_input"), harq_out = f.bytes("harq_output");
    ldpc_decode_block b;
    b.shape = f.shape(f.number("e"));
    b.iterations = f.number("iter_max");
    b.early_stop = f.has("ITERATION_STOP_ENABLE");
    b.crc = f.crc("CHECK");
    b.drop_crc = f.has("CRC_TYPE_24B_DROP");
    b.harq_in = reinterpret_cast<const std::int8_t*>(harq_in.data());
    b.harq_in_length = harq_in.size();
    ASSERT_EQ(input.size(), size_of(b.shape.sent_bits));
    std::vector<held_block> held;
    held.emplace_back(b, steps(input.begin(), input.end()));
    const block_result r = decode(exec(), held)[0];
    const std::string expected = f.text("expected_status");
    std::uint8_t status = 0;
    if (expected.find("SYN") != std::string::npos) status |= block_syndrome;
    if (expected.find("CRC") != std::string::npos) status |= block_crc;
    EXPECT_EQ(r.status, status);
    EXPECT_EQ(r.crc_passed, b.crc && (status & block_crc) == 0);
    EXPECT_LE(r.iterations, b.iterations);
    if ((status & block_syndrome) == 0) {
      bytes bits(held[0].bits.begin(), held[0].bits.begin() + r.bytes);
      EXPECT_EQ(bits, f.bytes("output"));
    }
    if (f.has("HQ_COMBINE_OUT_ENABLE")) {
      ASSERT_LE(harq_out.size(), held[0].harq.size());
      for (std::size_t i = 0; i < harq_out.size(); i++) {
        const int got = i < r.harq_length ? held[0].harq[i] : 0,
                  wanted = static_cast<std::int8_t>(harq_out[i]);
        ASSERT_EQ(got, wanted) << i;
      }
      for (std::size_t i = harq_out.size(); i < r.harq_length; i++) ASSERT_EQ(held[0].harq[i], 0) << i;
    }
  }
}

TEST_P(ldpc_blocks, encode_the_vectors_of_accelerators) {
  const auto files = files_of("ldpc_enc_");
  SKIP_WITHOUT_BBDEV_FILES(files);
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    const vector_file f{read_bbdev(path).value()};
    const bytes input = f.bytes("input"), output = f.bytes("output");
    const auto crc = f.crc("ATTACH");
    const bool one = f.number("code_block_mode", 1) == 1;
    const int count = one ? 1 : f.number("c") - f.number("r");
    bytes out(output.size(), 0x55);
    std::vector<ldpc_encode_block> blocks;
    std::size_t in_at = 0, out_at = 0;
    for (int i = 0; i < count; i++) {
      ldpc_encode_block b;
      b.shape = f.shape(one ? f.number("e") : f.number(f.number("r") + i < f.number("cab") ? "ea" : "eb"));
      b.crc = crc;
      const std::size_t in_bytes = size_of((k_of(b.shape) - (crc ? crc->degree : 0) + 7) / 8),
                        out_bytes = size_of((b.shape.sent_bits + 7) / 8);
      ASSERT_LE(in_at + in_bytes, input.size());
      ASSERT_LE(out_at + out_bytes, out.size());
      b.bits = {input.data() + in_at, in_bytes};
      b.out = {out.data() + out_at, out_bytes};
      in_at += in_bytes;
      out_at += out_bytes;
      blocks.push_back(b);
    }
    std::vector<block_result> results(blocks.size());
    ldpc_block_encoder encoder;
    encoder.start(exec(), blocks);
    encoder.finish(results);
    for (const block_result& r : results) EXPECT_EQ(r.status, 0);
    EXPECT_EQ(in_at, input.size());
    EXPECT_EQ(out_at, output.size());
    EXPECT_EQ(out, output);
  }
}

// ---------------------------------------------------------------- against the rate matcher

TEST(ldpc_block, first_places_are_those_of_the_rate_matcher) {
  std::mt19937 rng(1);
  for (const int graph : {1, 2})
    for (int number = 0; number < 40; number++) {
      int rv = 0;
      const ldpc_block_shape s = any_shape(rng, graph, nr_lifting_sizes()[rng() % 51], number, &rv);
      EXPECT_EQ(s.first, matcher_of(s).buffer().first[size_of(rv)]);
    }
  EXPECT_EQ(nr_first_place(1, 384, 0, 2), 33 * 384);
  EXPECT_EQ(blamed([] { nr_first_place(3, 384, 0, 0); }), "base_graph");
  EXPECT_EQ(blamed([] { nr_first_place(1, 17, 0, 0); }), "lifting_size");
  EXPECT_EQ(blamed([] { nr_first_place(1, 2, 133, 0); }), "buffer");
  EXPECT_EQ(blamed([] { nr_first_place(1, 2, 0, 4); }), "rv");
}

TEST_P(ldpc_blocks, equal_rate_matcher_encoder_and_decoder) {
  std::mt19937 rng(2);
  std::vector<held_block> first, second;
  std::vector<reference_result> wanted, wanted_second;
  std::vector<steps> harq, harq_second;
  const auto reference = open_reference();
  int number = 0;
  for (const int graph : {1, 2})
    for (const int z : nr_lifting_sizes()) {
      if (small_scale() && z % 7 != 0 && z != 384) continue;
      int rv = 0;
      const ldpc_block_shape shape = any_shape(rng, graph, z, number, &rv);
      const bool has_crc = number % 2 == 0 && k_of(shape) > 24;
      const auto crc = has_crc ? std::optional(number % 4 == 0 ? crc24b : crc16) : std::nullopt;
      const bytes payload = random_bits(rng, k_of(shape) - (crc ? crc->degree : 0));

      // Encoder.
      const nr_rate_matcher matcher = matcher_of(shape);
      bytes word = payload;
      if (crc) {
        const std::uint32_t parity = crc_parity(payload, *crc);
        for (int i = crc->degree - 1; i >= 0; i--) word.push_back(static_cast<std::uint8_t>(parity >> i & 1));
      }
      word.resize(size_of(matcher.block().padded()));
      auto coded = reference->make<std::uint8_t>(1, size_of(matcher.block().codeword()));
      auto sent = reference->make<std::uint8_t>(1, size_of(shape.sent_bits));
      ldpc_encoder(matcher.block().code())
          .run(*reference, on_device(*reference, word, 1, word.size()), coded);
      matcher.match(*reference, std::as_const(coded), rv, sent);
      const bytes transmitted = packed(reference->to_host(sent));
      ASSERT_EQ(encode(exec(), shape, payload, crc), transmitted) << "graph " << graph << ", Z " << z;

      // Decoder: a first transmission, and a second one with the HARQ buffer of the first.
      ldpc_decode_block b;
      b.shape = shape;
      b.iterations = 1 + number % 9;
      b.early_stop = number % 5 != 2;
      b.crc = crc;
      b.drop_crc = crc && number % 3 == 0;
      ldpc_decoder_config config = ldpc_block_decoder::default_ldpc();
      config.llr_steps = 1.f;
      config.iterations = b.iterations;
      config.early_stop = !b.early_stop ? ldpc_early_stop::none
                          : crc         ? ldpc_early_stop::crc
                                        : ldpc_early_stop::syndrome;
      const double noise = 4 + number % 4 * 3;
      const steps llr = received(rng, transmitted, shape.sent_bits, 8, noise);
      first.emplace_back(b, llr);
      wanted.push_back(reference_decode(shape, {{rv, llr}}, config, crc));
      harq.push_back(harq_of(shape, wanted.back().soft));

      const int next = (rv + 2) % 4;
      matcher.match(*reference, std::as_const(coded), next, sent);
      const steps again = received(rng, packed(reference->to_host(sent)), shape.sent_bits, 8, noise);
      b.shape.first = nr_first_place(graph, z, shape.buffer, next);
      second.emplace_back(b, again);
      wanted_second.push_back(reference_decode(shape, {{rv, llr}, {next, again}}, config, crc));
      harq_second.push_back(harq_of(shape, wanted_second.back().soft));
      number++;
    }
  const auto compare = [&](const std::vector<held_block>& held, const std::vector<block_result>& results,
                           const std::vector<reference_result>& expected, const std::vector<steps>& soft) {
    int good = 0;
    for (std::size_t i = 0; i < held.size(); i++) {
      const ldpc_decode_block& b = held[i].block;
      SCOPED_TRACE("graph " + std::to_string(b.shape.base_graph) + ", Z " +
                   std::to_string(b.shape.lifting_size));
      const block_result& r = results[i];
      bytes bits = expected[i].bits;
      bool holds = false;
      if (b.crc) {
        const bytes payload(bits.begin(), bits.end() - b.crc->degree);
        std::uint32_t parity = 0;
        for (auto p = bits.end() - b.crc->degree; p != bits.end(); p++) parity = parity << 1 | *p;
        holds = crc_parity(payload, *b.crc) == parity;
        if (b.drop_crc) bits = payload;
      }
      EXPECT_EQ(bytes(held[i].bits.begin(), held[i].bits.begin() + r.bytes), packed(bits));
      EXPECT_EQ(held[i].bits[r.bytes], 0xaa);
      EXPECT_EQ(r.iterations, expected[i].iterations);
      EXPECT_EQ((r.status & block_syndrome) == 0, expected[i].stopped);
      EXPECT_EQ((r.status & block_crc) == 0, !b.crc || holds);
      EXPECT_EQ(r.crc_passed, holds);
      EXPECT_LE(r.harq_length, soft[i].size());
      const auto end = held[i].harq.begin() + static_cast<std::ptrdiff_t>(r.harq_length);
      EXPECT_TRUE(std::equal(held[i].harq.begin(), end, soft[i].begin()));
      EXPECT_TRUE(std::all_of(soft[i].begin() + static_cast<std::ptrdiff_t>(r.harq_length), soft[i].end(),
                              [](int x) { return x == 0; }));
      EXPECT_EQ(*end, 99);
      good += r.status == 0;
    }
    return good;
  };
  ldpc_block_decoder decoder;
  const auto results = decode(exec(), first, decoder);
  const int good = compare(first, results, wanted, harq);
  for (std::size_t i = 0; i < first.size(); i++) {
    second[i].block.harq_in = first[i].harq.data();
    second[i].block.harq_in_length = results[i].harq_length;
    if (i % 2 != 0) {  // in place
      std::copy(first[i].harq.begin(), first[i].harq.begin() + results[i].harq_length,
                second[i].harq.begin());
      second[i].block.harq_in = second[i].harq.data();
    }
  }
  const int better = compare(second, decode(exec(), second, decoder), wanted_second, harq_second);
  EXPECT_GT(good, 0);
  EXPECT_LT(good, number);
  EXPECT_GT(better, 0);
}

// ---------------------------------------------------------------- batches

std::vector<held_block> mixed_blocks(executor& exec, int count) {
  std::mt19937 rng(3);
  std::vector<held_block> held;
  constexpr int sizes[] = {8, 36, 96, 208, 384};
  for (int i = 0; i < count; i++) {
    ldpc_block_shape s;
    s.base_graph = 1 + i % 2;
    s.lifting_size = sizes[i / 2 % 5];
    s.fillers = i % 3 * 5;
    s.modulation_order = 2 + i % 4 * 2;
    s.sent_bits = 30 * s.lifting_size / s.modulation_order * s.modulation_order;
    const bytes sent = encode(exec, s, random_bits(rng, k_of(s) - 24), crc24b);
    ldpc_decode_block b;
    b.shape = s;
    b.crc = crc24b;
    held.emplace_back(b, received(rng, sent, s.sent_bits, 8, 4));
  }
  return held;
}
void expect_equal(const block_result& a, const block_result& b, const held_block& x, const held_block& y) {
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.harq_length, b.harq_length);
  EXPECT_EQ(x.bits, y.bits);
  EXPECT_EQ(x.harq, y.harq);
}

TEST_P(ldpc_blocks, do_not_depend_on_batch_and_order) {
  const auto blocks = mixed_blocks(exec(), 23);
  auto together = blocks;
  ldpc_block_decoder decoder;
  const auto results = decode(exec(), together, decoder);
  std::vector<held_block> turned(blocks.rbegin(), blocks.rend());
  const auto reversed = decode(exec(), turned, decoder);
  for (std::size_t i = 0; i < blocks.size(); i++) {
    std::vector<held_block> alone{blocks[i]};
    const auto result = decode(exec(), alone, decoder);
    expect_equal(result[0], results[i], alone[0], together[i]);
    const std::size_t j = blocks.size() - 1 - i;
    expect_equal(reversed[j], results[i], turned[j], together[i]);
  }
}

TEST_P(ldpc_blocks, equal_the_reference_build) {
  auto blocks = mixed_blocks(exec(), 12), others = blocks;
  const auto reference = open_reference();
  const auto results = decode(exec(), blocks), expected = decode(*reference, others);
  for (std::size_t i = 0; i < blocks.size(); i++) expect_equal(results[i], expected[i], blocks[i], others[i]);
}

TEST_P(ldpc_blocks, formats_of_llrs_give_the_same) {
  const auto blocks = mixed_blocks(exec(), 10);
  auto whole = blocks;
  const auto results = decode(exec(), whole);
  for (const llr_format format : {llr_format::int8, llr_format::int16, llr_format::float32})
    for (const bool negative : {false, true})
      for (const int decimals : {0, 1, 7}) {
        std::vector<held_block> held = blocks;
        for (held_block& h : held) {
          const float step = std::ldexp(1.f, -decimals);
          for (auto& x : h.llr) x = static_cast<std::int8_t>(negative ? -x : x);
          for (const int x : h.llr) {
            h.wide.push_back(static_cast<std::int16_t>(x == 127 ? 3000 : x == -127 ? -3000 : x));
            h.floats.push_back(x == 127 ? INFINITY : x == -127 ? -1e20f : static_cast<float>(x) * step);
          }
          h.block.llr.data = format == llr_format::int8    ? static_cast<const void*>(h.llr.data())
                             : format == llr_format::int16 ? static_cast<const void*>(h.wide.data())
                                                           : h.floats.data();
          h.block.llr.format = format;
          h.block.llr.negative = negative;
          h.block.llr.decimals = decimals;
        }
        const auto r = decode(exec(), held);
        for (std::size_t i = 0; i < blocks.size(); i++) expect_equal(r[i], results[i], held[i], whole[i]);
      }
}

/// The same blocks twice, the second time with what was received the first time, from a buffer at `offset`
/// bytes behind an even address.
std::vector<block_result> decode_twice_in_halves(executor& exec, std::vector<held_block>& held,
                                                 std::vector<std::vector<std::uint16_t>>& halves,
                                                 std::size_t offset) {
  for (std::size_t i = 0; i < held.size(); i++) {
    halves.emplace_back(held[i].harq.size() + 1, 0x7bff);
    held[i].block.harq = harq_format::float16;
    held[i].block.harq_out = reinterpret_cast<std::byte*>(halves[i].data()) + offset;
    held[i].block.harq_out_length = held[i].harq.size();
  }
  ldpc_block_decoder decoder;
  const auto first = decode(exec, held, decoder);
  for (std::size_t i = 0; i < held.size(); i++) {
    held[i].block.harq_in = held[i].block.harq_out;  // in place
    held[i].block.harq_in_length = first[i].harq_length;
  }
  auto results = decode(exec, held, decoder);
  if (offset != 0)
    for (auto& h : halves)
      std::memmove(h.data(), reinterpret_cast<std::byte*>(h.data()) + offset, (h.size() - 1) * sizeof h[0]);
  return results;
}

TEST_P(ldpc_blocks, harq_buffers_in_float16_hold_the_sums) {
  for (const int decimals : {0, 3}) {
    const float step = std::ldexp(1.f, -decimals);
    std::vector<held_block> small = mixed_blocks(exec(), 9);
    for (held_block& h : small) {  // of which two stay below 127
      for (auto& x : h.llr) x = std::clamp<std::int8_t>(x, -15, 15);
      h.block.llr.decimals = decimals;
      h.block.llr.negative = h.block.shape.base_graph == 2;
      if (h.block.llr.negative)
        for (auto& x : h.llr) x = static_cast<std::int8_t>(-x);
    }
    auto in_halves = small, odd = small;
    ldpc_block_decoder decoder;
    const auto first = decode(exec(), small, decoder);
    for (std::size_t i = 0; i < small.size(); i++) {
      small[i].block.harq_in = small[i].harq.data();
      small[i].block.harq_in_length = first[i].harq_length;
    }
    const auto wanted = decode(exec(), small, decoder);
    std::vector<std::vector<std::uint16_t>> halves, odd_halves;
    const auto results = decode_twice_in_halves(exec(), in_halves, halves, 0);
    decode_twice_in_halves(exec(), odd, odd_halves, 1);
    for (std::size_t i = 0; i < small.size(); i++) {
      EXPECT_EQ(results[i].status, wanted[i].status);
      EXPECT_EQ(results[i].iterations, wanted[i].iterations);
      EXPECT_EQ(results[i].harq_length, wanted[i].harq_length);
      EXPECT_EQ(in_halves[i].bits, small[i].bits);
      EXPECT_EQ(odd[i].bits, small[i].bits);
      for (std::size_t j = 0; j < wanted[i].harq_length; j++) {
        ASSERT_EQ(from_half_bits(halves[i][j]), static_cast<float>(small[i].harq[j]) * step);
        ASSERT_EQ(odd_halves[i][j], halves[i][j]);
      }
      EXPECT_EQ(halves[i][results[i].harq_length], 0x7bff);
    }
  }
}

TEST_P(ldpc_blocks, harq_buffers_in_float16_saturate_at_65504) {
  std::vector<held_block> held = mixed_blocks(exec(), 2);
  held_block& h = held[0];
  const auto places = h.harq.size();
  std::fill(h.llr.begin(), h.llr.end(), std::int8_t{100});
  std::vector<std::uint16_t> before(places), after(places, 7);
  for (std::size_t i = 0; i < places; i++)  // among them what no sum is
    before[i] = i % 5 == 0   ? to_half_bits(65500.f)
                : i % 5 == 1 ? to_half_bits(-7.25f)
                : i % 5 == 2 ? 0x7c00
                : i % 5 == 3 ? 0x7e00
                             : to_half_bits(0x1p-24f);
  h.block.llr.decimals = 0;
  h.block.harq = harq_format::float16;
  h.block.harq_in = before.data();
  h.block.harq_out = after.data();
  h.block.harq_in_length = places - 1;
  h.block.harq_out_length = places;
  const auto results = decode(exec(), held);
  ASSERT_EQ(results[0].status & block_refused, 0);
  const int sent = h.block.shape.sent_bits;  // each once, from the first place on
  for (std::size_t i = 0; i < results[0].harq_length; i++) {
    const float llr = static_cast<int>(i) < sent ? 100.f : 0.f;
    const float wanted = i % 5 == 0   ? std::min(65504.f, 65500.f + llr)
                         : i % 5 == 1 ? -7.25f + llr
                         : i % 5 == 2 ? 65504.f
                         : i % 5 == 3 ? llr
                                      : 0x1p-24f + llr;
    ASSERT_EQ(after[i], to_half_bits(wanted)) << i;
  }
}

TEST_P(ldpc_blocks, take_settings_of_the_decoder) {
  const auto blocks = mixed_blocks(exec(), 4);
  for (const auto precision : {ldpc_precision::float32, ldpc_precision::int8})
    for (const int decimals : {1, 7}) {
      ldpc_decoder_config config;
      config.precision = precision;
      config.algorithm = ldpc_algorithm::offset_min_sum;
      config.offset = 1.5f;
      ldpc_block_decoder decoder(config);
      std::vector<held_block> held = blocks;
      for (held_block& h : held) h.block.llr.decimals = decimals;
      const auto r = decode(exec(), held, decoder);
      for (std::size_t i = 0; i < blocks.size(); i++) {
        // The same numbers in steps of 1.
        ldpc_decoder_config c = config;
        c.llr_steps = 1.f;
        c.offset = std::ldexp(config.offset, decimals);
        c.iterations = blocks[i].block.iterations;
        c.early_stop = ldpc_early_stop::crc;
        if (c.offset > 8) continue;  // ldpc_decoder refuses it
        const auto expected = reference_decode(blocks[i].block.shape, {{0, blocks[i].llr}}, c, crc24b);
        EXPECT_EQ(r[i].iterations, expected.iterations);
        EXPECT_EQ(bytes(held[i].bits.begin(), held[i].bits.begin() + r[i].bytes), packed(expected.bits));
      }
    }
  ldpc_decoder_config wrong;
  wrong.iterations = 0;
  EXPECT_EQ(blamed([&] { ldpc_block_decoder decoder(wrong); }), "iterations");
}

TEST_P(ldpc_blocks, without_early_stop_do_all_iterations) {
  auto held = mixed_blocks(exec(), 4);
  for (held_block& h : held) {
    h.block.early_stop = false;
    h.block.iterations = 11;
  }
  for (const block_result& r : decode(exec(), held)) {
    EXPECT_EQ(r.iterations, 11);
    EXPECT_EQ(r.status, 0);
  }
}

TEST_P(ldpc_blocks, zeros_are_a_block_as_any_other) {
  ldpc_decode_block b;
  b.shape.lifting_size = 16;
  b.shape.sent_bits = 600;
  b.crc = crc24a;
  std::vector<held_block> held;
  held.emplace_back(b, steps(600, 9));
  held.emplace_back(b, steps(600, 0));  // and nothing received
  for (const block_result& r : decode(exec(), held)) {
    EXPECT_EQ(r.status, 0);
    EXPECT_EQ(r.crc_passed, 1);
    EXPECT_EQ(r.iterations, 1);
  }
  for (const held_block& h : held) {
    EXPECT_TRUE(std::all_of(h.bits.begin(), h.bits.begin() + 44, [](int x) { return x == 0; }));
    EXPECT_EQ(h.bits[44], 0xaa);
  }
}

TEST_P(ldpc_blocks, few_llrs_give_decisions_and_a_status) {
  std::mt19937 rng(4);
  ldpc_decode_block b;
  b.shape.lifting_size = 64;
  b.shape.sent_bits = 300;  // of 1408 bits
  b.crc = crc24a;
  b.iterations = 3;
  std::vector<held_block> held;
  const bytes sent = packed(random_bits(rng, 300));
  held.emplace_back(b, received(rng, sent, 300, 20, 0));
  const block_result r = decode(exec(), held)[0];
  EXPECT_EQ(r.iterations, 3);
  EXPECT_EQ(r.status & block_crc, block_crc);
  EXPECT_EQ(r.status & block_refused, 0);
  // The interleaver of QPSK has the 300 bits in two rows; they follow the first 2 Z.
  for (int i = 0; i < 150; i++) {
    const int place = 128 + i, from = 2 * i;
    EXPECT_EQ(held[0].bits[size_of(place / 8)] >> (7 - place % 8) & 1,
              sent[size_of(from / 8)] >> (7 - from % 8) & 1);
  }
}

// ---------------------------------------------------------------- refusals

ldpc_decode_block valid_block(held_block& h) { return h.block; }

TEST(ldpc_block, names_what_it_refuses) {
  ldpc_decode_block b;
  b.shape.lifting_size = 16;
  b.shape.sent_bits = 600;
  held_block h(b, steps(600, 9));
  const auto wrong = [&](auto change) {
    ldpc_decode_block w = valid_block(h);
    change(w);
    return blamed([&] { ldpc_block_decoder::check(w); });
  };
  EXPECT_EQ(wrong([](auto&) {}), "");
  EXPECT_EQ(wrong([](auto& w) { w.shape.base_graph = 0; }), "base_graph");
  EXPECT_EQ(wrong([](auto& w) { w.shape.lifting_size = 17; }), "lifting_size");
  EXPECT_EQ(wrong([](auto& w) { w.shape.fillers = -1; }), "fillers");
  EXPECT_EQ(wrong([](auto& w) { w.shape.fillers = 20 * 16; }), "fillers");
  EXPECT_EQ(wrong([](auto& w) { w.shape.buffer = 66 * 16 + 1; }), "buffer");
  EXPECT_EQ(wrong([](auto& w) { w.shape.first = 66 * 16; }), "first");
  EXPECT_EQ(wrong([](auto& w) { w.shape.buffer = 500, w.shape.first = 500; }), "first");
  EXPECT_EQ(wrong([](auto& w) { w.shape.modulation_order = 3; }), "modulation_order");
  EXPECT_EQ(wrong([](auto& w) { w.shape.modulation_order = 16; }), "modulation_order");
  EXPECT_EQ(wrong([](auto& w) { w.shape.sent_bits = 0; }), "sent_bits");
  EXPECT_EQ(wrong([](auto& w) { w.shape.sent_bits = 601; }), "sent_bits");
  EXPECT_EQ(wrong([](auto& w) { w.shape.buffer = 2; }), "sent_bits");
  EXPECT_EQ(wrong([](auto& w) { w.llr.count = 599; }), "llr");
  EXPECT_EQ(wrong([](auto& w) { w.llr.data = nullptr; }), "llr");
  EXPECT_EQ(wrong([](auto& w) { w.llr.decimals = 8; }), "llr.decimals");
  EXPECT_EQ(wrong([](auto& w) { w.llr.format = static_cast<llr_format>(3); }), "llr.format");
  EXPECT_EQ(wrong([](auto& w) { w.iterations = 0; }), "iterations");
  EXPECT_EQ(wrong([](auto& w) { w.crc = crc_polynomial{5, 24}; }), "crc_polynomial");
  EXPECT_EQ(wrong([](auto& w) { w.drop_crc = true; }), "drop_crc");
  EXPECT_EQ(wrong([](auto& w) { w.bits.bytes = 43; }), "bits");
  EXPECT_EQ(wrong([](auto& w) { w.bits.data = nullptr; }), "bits");
  EXPECT_EQ(wrong([](auto& w) { w.harq_in_length = 5; }), "harq_in");
  EXPECT_EQ(wrong([](auto& w) { w.harq_out_length = 599; }), "harq_out");
  EXPECT_EQ(wrong([](auto& w) { w.harq_out_length = 600; }), "");
  EXPECT_EQ(wrong([](auto& w) { w.shape.lifting_size = 2, w.shape.fillers = 25, w.crc = crc24a; }), "crc");

  bytes in(44), out(75);
  ldpc_encode_block e;
  e.shape = b.shape;
  e.bits = {in.data(), in.size()};
  e.out = {out.data(), out.size()};
  EXPECT_EQ(blamed([&] { ldpc_block_encoder::check(e); }), "");
  e.bits.bytes = 43;
  EXPECT_EQ(blamed([&] { ldpc_block_encoder::check(e); }), "bits");
  e.crc = crc16;
  e.out.bytes = 74;
  EXPECT_EQ(blamed([&] { ldpc_block_encoder::check(e); }), "out");
}

TEST_P(ldpc_blocks, a_refused_block_leaves_its_neighbours_alone) {
  const auto blocks = mixed_blocks(exec(), 6);
  auto whole = blocks;
  const auto results = decode(exec(), whole);
  auto held = blocks;
  held[0].block.shape.lifting_size = 17;
  held[3].block.llr.count--;
  held[5].block.bits.bytes = 0;
  const auto r = decode(exec(), held);
  for (std::size_t i = 0; i < held.size(); i++)
    if (i == 0 || i == 3 || i == 5) {
      EXPECT_EQ(r[i].status, block_refused);
      EXPECT_EQ(held[i].bits, blocks[i].bits);
      EXPECT_EQ(held[i].harq, blocks[i].harq);
      EXPECT_EQ(r[i].bytes, 0U);
    } else {
      expect_equal(r[i], results[i], held[i], whole[i]);
    }
  std::vector<held_block> none{held[0]};
  EXPECT_EQ(decode(exec(), none)[0].status, block_refused);
}

TEST_P(ldpc_blocks, batches_begin_and_end_in_turn) {
  auto held = mixed_blocks(exec(), 2);
  const std::vector<ldpc_decode_block> blocks{held[0].block, held[1].block};
  std::vector<block_result> results(2);
  ldpc_block_decoder decoder;
  EXPECT_TRUE(decoder.done());
  EXPECT_THROW(decoder.finish(results), error);
  decoder.start(exec(), blocks);
  EXPECT_THROW(decoder.start(exec(), blocks), error);
  EXPECT_THROW(decoder.finish({results.data(), 1}), shape_error);
  decoder.finish(results);
  EXPECT_EQ(results[0].status, 0);
  decoder.start(exec(), {});
  decoder.finish({});

  ldpc_block_decoder moved = std::move(decoder);
  EXPECT_THROW(decoder.start(exec(), blocks), error);  // NOLINT: what is left of it
  decoder = std::move(moved);

  // Another executor takes over.
  const auto other = open_reference();
  decoder.start(*other, blocks);
  decoder.finish(results);
  EXPECT_EQ(results[1].status, 0);
}

TEST_P(ldpc_blocks, allocate_nothing_after_a_first_batch) {
  if (!allocations()) GTEST_SKIP() << "a sanitizer has its own operator new";
  auto held = mixed_blocks(exec(), 8);
  std::vector<ldpc_decode_block> blocks;
  for (const held_block& h : held) blocks.push_back(h.block);
  std::vector<block_result> results(blocks.size());
  ldpc_block_decoder decoder;
  ldpc_block_encoder encoder;
  bytes in(2000), out(8 * 2000);
  std::vector<ldpc_encode_block> sent(blocks.size());
  std::vector<block_result> encoded(blocks.size());
  for (std::size_t i = 0; i < sent.size(); i++) {
    sent[i].shape = blocks[i].shape;
    sent[i].bits = {in.data(), in.size()};
    sent[i].crc = crc24a;
    sent[i].out = {out.data() + 2000 * i, 2000};
  }
  long before = 0;
  for (int i = 0; i < 3; i++) {
    if (i == 1) before = *allocations();
    decoder.start(exec(), blocks);
    decoder.finish(results);
    encoder.start(exec(), sent);
    encoder.finish(encoded);
  }
  if (exec().is_device()) return;  // the driver's are not ours
  EXPECT_EQ(*allocations(), before);
}

}  // namespace ldpc_blocks_test
}  // namespace wb
