// Integer LLRs equal the same values as float32 times the scale, in every class that takes them. Packed bits
// are those of an own loop.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <tests/ldpc.hpp>
#include <tests/transport.hpp>
#include <warpband/fec/format/format.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/fec/nr/block.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/fec/polar/polar.hpp>

namespace wb {
namespace format_test {

using testing::bits_t;
using testing::blamed;
using testing::given;
using testing::llrs_t;
using testing::random_bits_of;
using testing::rows_of;

class format : public testing::on_backend {};
WB_ON_ALL_BACKENDS(format);

template <class V>
llrs_t as_floats(const std::vector<V>& values, float scale) {
  llrs_t llr;
  for (const V v : values) llr.push_back(static_cast<float>(v) * scale + 0.f);
  return llr;
}
/// Noisy integers for bits, many of them at the ends of their range.
template <class V>
std::vector<V> noisy(const bits_t& coded, float amplitude, std::mt19937_64& random) {
  const float least = std::numeric_limits<V>::min(), greatest = std::numeric_limits<V>::max();
  std::normal_distribution<float> noise(0.f, amplitude);
  std::vector<V> out;
  for (const auto b : coded) {
    const float x = (b == 0 ? amplitude : -amplitude) * 1.5f + noise(random);
    out.push_back(static_cast<V>(std::lrint(std::min(greatest, std::max(least, x)))));
  }
  return out;
}

template <class V>
void expect_conversion(executor& exec) {
  std::mt19937_64 random(1);
  const float_llrs floats;
  for (const std::size_t n : {1u, 7u, 16u, 33u, 4096u, 9001u})
    for (const layout order : testing::layouts)
      for (const float scale : {1.f, 0.25f, 0.3f, -2.7f, 1e30f}) {
        const std::size_t batch = n > 100 ? 3 : 5;
        std::vector<V> values(batch * n);
        for (V& v : values) v = static_cast<V>(random());
        values.front() = std::numeric_limits<V>::min();
        values.back() = std::numeric_limits<V>::max();
        const auto in = given(exec, values, batch, order);
        const view<const float> out = floats.of(exec, {view<const V>(in), scale});
        ASSERT_EQ(out.items, batch);
        ASSERT_EQ(out.elements, n);
        llrs_t memory(batch * n), rows;
        exec.download(memory.data(), out.data, memory.size() * sizeof(float));
        exec.sync();
        for (std::size_t b = 0; b < batch; b++)
          for (std::size_t e = 0; e < n; e++)
            rows.push_back(memory[b * out.item_stride + e * out.element_stride]);
        ASSERT_EQ(rows, as_floats(values, scale)) << n << " " << scale;
      }
}
TEST_P(format, integers_become_floats_times_the_scale) {
  expect_conversion<std::int8_t>(exec());
  expect_conversion<std::int16_t>(exec());
}

TEST_P(format, rows_with_gaps_convert_too) {
  std::vector<std::int8_t> values(3 * 40);
  for (std::size_t i = 0; i < values.size(); i++) values[i] = static_cast<std::int8_t>(i * 7);
  const auto in = given(exec(), values, 3);
  const float_llrs floats;
  const view<const float> out =
      floats.of(exec(), {view<const std::int8_t>{in.data() + 1, 10, 3, 3, 40}, 0.5f});
  llrs_t got(30), wanted;
  exec().download(got.data(), out.data, got.size() * sizeof(float));
  exec().sync();
  for (std::size_t b = 0; b < 3; b++)
    for (std::size_t e = 0; e < 10; e++)
      wanted.push_back(0.5f * static_cast<float>(values[40 * b + 1 + 3 * e]));
  EXPECT_EQ(got, wanted);
}

TEST_P(format, bits_are_packed_from_the_most_significant_place_on) {
  std::mt19937_64 random(2);
  for (const std::size_t k : {1u, 7u, 8u, 9u, 64u, 129u, 40000u})
    for (const layout order : testing::layouts) {
      const std::size_t batch = 3, bytes = packed_bytes(k);
      bits_t bits(batch * k);
      for (auto& b : bits) b = static_cast<std::uint8_t>(random());  // only the lowest bit counts
      bits_t wanted(batch * bytes, 0);
      for (std::size_t b = 0; b < batch; b++)
        for (std::size_t i = 0; i < k; i++)
          if (bits[b * k + i] & 1) wanted[b * bytes + i / 8] |= static_cast<std::uint8_t>(128 >> i % 8);
      const auto in = given(exec(), bits, batch, order);
      auto out = exec().make<std::uint8_t>(batch, bytes, order);
      pack_bits(exec(), in, out);
      ASSERT_EQ(rows_of(exec(), out, order), wanted) << k;
    }
}

/// What a class gives for LLRs, as one list of numbers.
using outputs_t = std::vector<float>;
template <class T>
void append(outputs_t& results, const std::vector<T>& values) {
  for (const T v : values) results.push_back(static_cast<float>(v));
}

/// A class that takes LLRs: of how many, and what comes out of several batches of them.
struct taker {
  std::string name;
  bits_t coded;  // one codeword
  std::function<outputs_t(executor&, const std::vector<llr_batch>&)> run;
};

taker ldpc(const std::string& name, ldpc_decoder_config config) {
  const ldpc_code code = nr_ldpc(2, 16);
  config.iterations = 5;
  return {"ldpc " + name, bits_t(static_cast<std::size_t>(code.n()), 0),
          [=](executor& exec, const std::vector<llr_batch>& llrs) {
            const ldpc_decoder decoder(code, config);
            outputs_t results;
            for (const llr_batch& llr : llrs) {
              auto bits = exec.make<std::uint8_t>(llr.items, static_cast<std::size_t>(code.k()));
              auto soft = exec.make<float>(llr.items, static_cast<std::size_t>(code.n()));
              decoder.run(exec, llr, {.bits = bits, .soft = soft});
              append(results, exec.to_host(bits));
              append(results, exec.to_host(soft));
            }
            return results;
          }};
}
taker polar(const std::string& name, const polar_decoder_config& config) {
  const polar_config code{.kind = polar_kind::uci, .k = 40, .coded_bits = 120};
  return {"polar " + name, bits_t(120, 0), [=](executor& exec, const std::vector<llr_batch>& llrs) {
            const polar_decoder decoder(code, config);
            outputs_t results;
            for (const llr_batch& llr : llrs) {
              auto bits = exec.make<std::uint8_t>(llr.items, 40),
                   status = exec.make<std::uint8_t>(llr.items, 1);
              decoder.run(exec, llr, {.bits = bits, .status = status});
              append(results, exec.to_host(bits));
              append(results, exec.to_host(status));
            }
            return results;
          }};
}
template <class Matcher, class Config>
taker matcher(const std::string& name, const Config& config, std::size_t codeword) {
  return {name, bits_t(static_cast<std::size_t>(config.sent_bits), 0),
          [=](executor& exec, const std::vector<llr_batch>& llrs) {
            const Matcher m(config);
            auto soft = exec.make<float>(llrs.front().items, codeword);
            int rv = 0;
            for (const llr_batch& llr : llrs) m.combine(exec, llr, rv++, &llr == &llrs.front(), soft);
            outputs_t results;
            append(results, exec.to_host(soft));
            return results;
          }};
}
template <class Encoder, class Decoder, class Config>
taker transport(const std::string& name, const Config& config) {
  const auto exec = testing::open_scalar();
  std::mt19937_64 random(5);
  Encoder encoder(config);
  const auto bits = given(*exec, random_bits_of(static_cast<std::size_t>(config.transport_bits), random), 1);
  auto coded = exec->make<std::uint8_t>(1, static_cast<std::size_t>(config.coded_bits));
  encoder.run(*exec, bits, 0, coded);
  return {name, exec->to_host(coded), [=](executor& on, const std::vector<llr_batch>& llrs) {
            Decoder decoder(config);
            outputs_t results;
            for (const llr_batch& llr : llrs) {
              decoder.combine(on, llr, 0);
              const testing::decoded d = testing::decode(on, decoder, llr.items);
              append(results, d.bits);
              append(results, d.ok);
              append(results, d.iterations);
              append(results, d.status);
            }
            return results;
          }};
}
taker nr_feedback() {
  const nr_transport_config config{.transport_bits = 100, .coded_bits = 240, .scrambling = 77};
  return {"nr_transport feed_back", bits_t(240, 0), [=](executor& exec, const std::vector<llr_batch>& llrs) {
            nr_transport_decoder decoder(config);
            outputs_t results;
            for (const llr_batch& llr : llrs) {
              decoder.combine(exec, llr, 0);
              auto extrinsic = exec.make_zeros<float>(llr.items, decoder.columns());
              decoder.decode(exec, {.extrinsic = extrinsic});
              auto prior = exec.make<float>(llr.items, 240);
              decoder.feed_back(exec, extrinsic, llr, 0, prior);
              append(results, exec.to_host(prior));
            }
            return results;
          }};
}
taker nr_block() {
  const nr_rate_matching_config config{.base_graph = 2, .k = 100, .sent_bits = 240};
  return {"nr_block", bits_t(240, 0), [=](executor& exec, const std::vector<llr_batch>& llrs) {
            const nr_block_codec codec(config);
            outputs_t results;
            for (const llr_batch& llr : llrs) {
              auto bits = exec.make<std::uint8_t>(llr.items, 100);
              auto soft = exec.make<float>(llr.items, 100), extrinsic = exec.make<float>(llr.items, 240);
              codec.decode(exec, llr, {.bits = bits, .soft = soft, .extrinsic = extrinsic});
              append(results, exec.to_host(bits));
              append(results, exec.to_host(soft));
              append(results, exec.to_host(extrinsic));
            }
            return results;
          }};
}

std::vector<taker> takers() {
  const nr_rate_matching_config nr{.base_graph = 2, .k = 120, .sent_bits = 260};
  const lte_rate_matching_config lte{.k = 104, .sent_bits = 300};
  return {
      ldpc("float32", {}),
      ldpc("float16", {.precision = ldpc_precision::float16}),
      ldpc("int8", {.precision = ldpc_precision::int8}),
      polar("float32", {.list_size = 4}),
      polar("adaptive", {.list_size = 8, .adaptive = true}),
      polar("int8", {.list_size = 4, .precision = polar_precision::int8}),
      matcher<nr_rate_matcher>("nr_rate_matcher", nr,
                               static_cast<std::size_t>(nr_rate_matcher(nr).block().codeword())),
      matcher<lte_rate_matcher>("lte_rate_matcher", lte, 3 * 108),
      transport<nr_transport_encoder, nr_transport_decoder>("nr_transport",
                                                            nr_transport_config{.transport_bits = 8424,
                                                                                .coded_bits = 14400,
                                                                                .modulation_order = 4,
                                                                                .scrambling = 65543,
                                                                                .ldpc = {.iterations = 4}}),
      transport<lte_transport_encoder, lte_transport_decoder>(
          "lte_transport",
          lte_transport_config{.transport_bits = 6200, .coded_bits = 12000, .turbo = {.iterations = 2}}),
      nr_feedback(),
      nr_block(),
  };
}

template <class V>
void expect_equal(executor& exec, const taker& t, float scale, layout order, std::mt19937_64& random) {
  constexpr std::size_t batch = 3, transmissions = 2;
  constexpr float amplitudes[] = {std::numeric_limits<V>::max() / 100.f,
                                  std::numeric_limits<V>::max() / 1.5f};
  std::vector<array<V>> integers;
  std::vector<array<float>> floats;
  std::vector<llr_batch> of_integers, of_floats;
  for (std::size_t i = 0; i < transmissions; i++) {
    std::vector<V> values;
    for (std::size_t b = 0; b < batch; b++)
      for (const V v : noisy<V>(t.coded, amplitudes[(i + b) % 2], random)) values.push_back(v);
    values[3] = std::numeric_limits<V>::min();
    integers.push_back(given(exec, values, batch, order));
    floats.push_back(given(exec, as_floats(values, scale), batch, order));
    of_integers.emplace_back(view<const V>(integers.back()), scale);
    of_floats.emplace_back(floats.back());
  }
  const outputs_t wanted = t.run(exec, of_floats), got = t.run(exec, of_integers);
  EXPECT_EQ(got, wanted) << t.name << ", scale " << scale;
  EXPECT_GT(std::count_if(wanted.begin(), wanted.end(), [](float x) { return x != 0; }), 0) << t.name;
}
TEST_P(format, every_class_takes_integers_as_the_same_floats) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<float> exponent(-6.f, 3.f);
  for (const taker& t : takers()) {
    for (const float scale : {0.25f, std::exp2(exponent(random)), -std::exp2(exponent(random))}) {
      expect_equal<std::int8_t>(exec(), t, scale, layout::row_major, random);
      expect_equal<std::int16_t>(exec(), t, scale / 64, layout::row_major, random);
    }
    expect_equal<std::int8_t>(exec(), t, 0.5f, layout::batch_fastest, random);
  }
}

TEST(format_refuses, scales_that_are_no_factor) {
  const auto exec = testing::open_scalar();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const taker& t : takers()) {
    const auto llr = given(*exec, std::vector<std::int8_t>(t.coded.size(), 1), 1);
    const auto longer = given(*exec, std::vector<std::int16_t>(t.coded.size() + 1, 1), 1);
    for (const float scale : {0.f, infinity, -infinity, std::nanf("")})
      EXPECT_EQ(blamed([&] { (void)t.run(*exec, {llr_batch(view<const std::int8_t>(llr), scale)}); }),
                "llr_scale")
          << t.name;
    EXPECT_EQ(blamed([&] { (void)t.run(*exec, {llr_batch(view<const std::int16_t>(longer), 1.f)}); }), "llr")
        << t.name;
  }
  auto bits = exec->make_zeros<std::uint8_t>(2, 9), packed = exec->make<std::uint8_t>(2, 3);
  EXPECT_EQ(blamed([&] { pack_bits(*exec, bits, packed); }), "packed");
}

}  // namespace format_test
}  // namespace wb
