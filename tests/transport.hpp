#pragma once
// Bits, batches and checks for the tests of transport channels, of LTE and of 5G NR.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <tests/on_backends.hpp>

namespace wb::testing {

using bits_t = std::vector<std::uint8_t>;
using llrs_t = std::vector<float>;

inline constexpr layout layouts[] = {layout::row_major, layout::batch_fastest};

inline bits_t random_bits_of(std::size_t n, std::mt19937_64& random) {
  bits_t out(n);
  for (auto& b : out) b = static_cast<std::uint8_t>(random() & 1);
  return out;
}
/// Rows to memory order and back.
template <class T>
std::vector<T> in_order(const std::vector<T>& rows, std::size_t batch, layout order, bool back = false) {
  if (order == layout::row_major) return rows;
  std::vector<T> out(rows.size());
  const std::size_t n = batch == 0 ? 0 : rows.size() / batch;
  for (std::size_t b = 0; b < batch; b++)
    for (std::size_t e = 0; e < n; e++)
      if (back)
        out[b * n + e] = rows[e * batch + b];
      else
        out[e * batch + b] = rows[b * n + e];
  return out;
}
template <class T>
array<T> given(executor& exec, const std::vector<T>& rows, std::size_t batch,
               layout order = layout::row_major) {
  return on_device(exec, in_order(rows, batch, order), batch, rows.size() / batch, order);
}
template <class T>
std::vector<T> rows_of(executor& exec, const array<T>& a, layout order = layout::row_major) {
  return in_order(exec.to_host(a), a.items(), order, true);
}
inline llrs_t noise_free(const bits_t& coded, float amplitude) {
  llrs_t llr;
  for (const auto b : coded) llr.push_back(b == 0 ? amplitude : -amplitude);
  return llr;
}
inline bits_t from_text(const std::string& text) {
  bits_t out;
  for (const char c : text) out.push_back(c == '1' ? 1 : 0);
  return out;
}

/// A decoder's outputs on the host.
struct decoded {
  bits_t bits, ok, block_ok, status;
  std::vector<std::int32_t> iterations;
  bool operator==(const decoded&) const = default;
};
template <class Decoder>
decoded decode(executor& exec, Decoder& decoder, std::size_t batch, layout order = layout::row_major) {
  const auto a = static_cast<std::size_t>(decoder.config().transport_bits),
             c = static_cast<std::size_t>(decoder.segmentation().blocks);
  auto bits = exec.make<std::uint8_t>(batch, a, order), ok = exec.make<std::uint8_t>(batch, 1),
       block_ok = exec.make<std::uint8_t>(batch, c, order), status = exec.make<std::uint8_t>(batch, 1);
  auto iterations = exec.make<std::int32_t>(batch, c, order);
  decoder.decode(exec, {bits, ok, block_ok, iterations, status});
  return {rows_of(exec, bits, order), exec.to_host(ok), rows_of(exec, block_ok, order), exec.to_host(status),
          rows_of(exec, iterations, order)};
}
inline void expect_right(const decoded& d, const bits_t& sent, std::size_t batch, std::size_t blocks) {
  EXPECT_TRUE(d.bits == sent);
  EXPECT_EQ(d.ok, bits_t(batch, 1));
  EXPECT_EQ(d.block_ok, bits_t(batch * blocks, 1));
  EXPECT_EQ(d.status, bits_t(batch, 0));
}
/// Of an encoder and a decoder of 10 bits on 120: which argument the error of a bad call names.
template <class Encoder, class Decoder>
void expect_bad_calls_are_named() {
  const auto exec = open_scalar(), other = open_scalar();
  Encoder encoder({.transport_bits = 10, .coded_bits = 120});
  Decoder decoder({.transport_bits = 10, .coded_bits = 120});
  auto bits = exec->make<std::uint8_t>(2, 10), coded = exec->make<std::uint8_t>(2, 120),
       one = exec->make<std::uint8_t>(2, 1);
  for (const int rv : {-1, 4}) EXPECT_EQ(blamed([&] { encoder.run(*exec, bits, rv, coded); }), "rv");
  EXPECT_EQ(blamed([&] { encoder.run(*exec, coded, 0, coded); }), "bits");
  EXPECT_EQ(blamed([&] { encoder.run(*exec, bits, 0, bits); }), "coded");
  EXPECT_EQ(blamed([&] { encoder.run(*exec, bits, 0, exec->make<std::uint8_t>(3, 120)); }), "coded");
  const auto llr = given(*exec, llrs_t(240, 1.f), 2), short_llr = given(*exec, llrs_t(238, 1.f), 2),
             more = given(*exec, llrs_t(360, 1.f), 3);
  EXPECT_EQ(blamed([&] { decoder.decode(*exec, {.bits = bits}); }), "transmissions");
  EXPECT_EQ(blamed([&] { decoder.combine(*exec, short_llr, 0); }), "llr");
  for (const int rv : {-1, 4}) EXPECT_EQ(blamed([&] { decoder.combine(*exec, llr, rv); }), "rv");
  EXPECT_EQ(decoder.transmissions(), 0);
  decoder.combine(*exec, llr, 0);
  EXPECT_EQ(blamed([&] { decoder.combine(*exec, more, 1); }), "llr");
  EXPECT_EQ(blamed([&] { decoder.combine(*other, llr, 1); }), "exec");
  EXPECT_EQ(blamed([&] { decoder.decode(*other, {.bits = bits}); }), "exec");
  EXPECT_EQ(blamed([&] { decoder.decode(*exec, {.bits = coded}); }), "bits");
  EXPECT_EQ(blamed([&] { decoder.decode(*exec, {.ok = coded}); }), "ok");
  EXPECT_EQ(blamed([&] { decoder.decode(*exec, {.block_ok = coded}); }), "block_ok");
  EXPECT_EQ(blamed([&] { decoder.decode(*exec, {.status = coded}); }), "status");
  auto wrong = exec->make<std::int32_t>(2, 2);
  EXPECT_EQ(blamed([&] { decoder.decode(*exec, {.iterations = wrong}); }), "iterations");
  EXPECT_NO_THROW(decoder.decode(*exec, {.ok = one}));
  decoder.reset();  // another batch and another executor are welcome now
  EXPECT_NO_THROW(decoder.combine(*other, given(*other, llrs_t(360, 1.f), 3), 3));
}

/// Transport blocks in error of `blocks`, BPSK at Es/N0 for each transmission, after those of `versions`.
template <class Encoder, class Decoder, class Config>
double error_rate(const Config& config, double esn0_db, const std::vector<int>& versions, int blocks,
                  unsigned seed) {
  const auto exec = open_executor("cpu");
  Encoder encoder(config);
  Decoder decoder(config);
  std::mt19937_64 random(seed);
  const double variance = 0.5 * std::pow(10, -esn0_db / 10);
  std::normal_distribution<float> noise(0.f, static_cast<float>(std::sqrt(variance)));
  const auto scale = static_cast<float>(2 / variance);
  const std::size_t batch = 256, a = static_cast<std::size_t>(config.transport_bits),
                    g = static_cast<std::size_t>(config.coded_bits);
  auto coded = exec->make<std::uint8_t>(batch, g), ok = exec->make<std::uint8_t>(batch, 1);
  auto llr = exec->make<float>(batch, g);
  int wrong = 0, done = 0;
  while (done < blocks) {
    const auto sent = given(*exec, random_bits_of(a * batch, random), batch);
    decoder.reset();
    for (const int rv : versions) {
      encoder.run(*exec, sent, rv, coded);
      for (std::size_t i = 0; i < g * batch; i++)
        llr.data()[i] = scale * ((coded.data()[i] == 0 ? 1.f : -1.f) + noise(random));
      decoder.combine(*exec, llr, rv);
    }
    decoder.decode(*exec, {.ok = ok});
    for (const auto x : exec->to_host(ok)) wrong += x == 0 ? 1 : 0;
    done += static_cast<int>(batch);
  }
  return static_cast<double>(wrong) / done;
}

/// HARQ: the same bits twice are as good as twice the energy.
template <class Encoder, class Decoder, class Config>
void expect_3_db_from_the_same_bits_twice(const Config& config) {
  constexpr auto rate = error_rate<Encoder, Decoder, Config>;
  const int blocks = small_scale() ? 512 : 4096;
  const double snr_db = -1.7, gain = 10 * std::log10(2);
  const double twice = rate(config, snr_db - gain, {0, 0}, blocks, 1);
  const double better = rate(config, snr_db + 0.1, {0}, blocks, 2),
               worse = rate(config, snr_db - 0.1, {0}, blocks, 3);
  ::testing::Test::RecordProperty("twice", std::to_string(twice));
  ::testing::Test::RecordProperty("better", std::to_string(better));
  ::testing::Test::RecordProperty("worse", std::to_string(worse));
  // A block error rate between those at 0.1 dB more and less; the noise of counting is a fifth of that.
  EXPECT_GT(twice, 0.03);
  EXPECT_LT(twice, 0.6);
  if (small_scale()) return;
  EXPECT_GT(twice, better);
  EXPECT_LT(twice, worse);
}
/// HARQ: other bits of the code gain more.
template <class Encoder, class Decoder, class Config>
void expect_more_from_other_bits(const Config& config) {
  constexpr auto rate = error_rate<Encoder, Decoder, Config>;
  const int blocks = small_scale() ? 256 : 1024;
  const double esn0 = -1.8;
  const double same = rate(config, esn0, {0, 0}, blocks, 4), other = rate(config, esn0, {0, 2}, blocks, 5);
  ::testing::Test::RecordProperty("same", std::to_string(same));
  ::testing::Test::RecordProperty("other", std::to_string(other));
  EXPECT_GT(same, 0.2);
  EXPECT_LT(other, 0.5 * same);
}

}  // namespace wb::testing
