// Channels of bits: LLRs, rates of events down to rare ones, and which random numbers they follow.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include <oracle/philox.hpp>
#include <tests/on_backends.hpp>
#include <warpband/channel/binary/binary.hpp>

namespace wb {
namespace binary_test {

using testing::blamed;
using testing::on_device;
using bytes = std::vector<std::uint8_t>;

bytes sent_through(executor& exec, const binary_channel& channel, const bytes& bits, random_range range) {
  const auto in = on_device(exec, bits, bits.size(), 1);
  auto out = exec.make<std::uint8_t>(bits.size(), 1);
  send_bits(exec, channel, in, out, range);
  return exec.to_host(out);
}
std::vector<float> llrs(executor& exec, const binary_channel& channel, const bytes& received) {
  const auto in = on_device(exec, received, received.size(), 1);
  auto out = exec.make<float>(received.size(), 1);
  llrs_of_bits(exec, channel.llr, in, out);
  return exec.to_host(out);
}
bytes alternating(std::size_t n) {
  bytes bits(n);
  for (std::size_t i = 0; i < n; i++) bits[i] = i % 3 == 0;
  return bits;
}

class binary : public testing::on_backend {};
WB_ON_ALL_BACKENDS(binary);

TEST_P(binary, a_bit_changes_where_64_bits_of_philox_are_below_its_probability) {
  const bytes bits = alternating(1003);
  const random_range range{.seed = 0xfedcba9876543210, .first = (std::uint64_t{1} << 32) - 5, .point = 4};
  for (const double p : {0.0, 0.3, 0.5, 0.75, 1.0})
    for (const binary_channel& c : {binary_symmetric_channel(p), binary_erasure_channel(p), z_channel(p)}) {
      const bytes got = sent_through(exec(), c, bits, range);
      for (std::size_t i = 0; i < bits.size(); i++) {
        const std::uint64_t n = range.first + i;
        const auto w = oracle::philox4x32_10(
            {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32), 2U << 24, range.point},
            {static_cast<std::uint32_t>(range.seed), static_cast<std::uint32_t>(range.seed >> 32)});
        const double u = std::ldexp(w[0], -32) + std::ldexp(w[1], -64), change = c.change[bits[i]];
        ASSERT_EQ(got[i], u < change ? c.changed[bits[i]] : bits[i]) << "bit " << i << ", p = " << p;
      }
    }
}

TEST_P(binary, events_come_at_their_rate) {
  const std::size_t n = testing::small_scale() ? 40'000 : 4'000'000;
  for (const double p : {0.4, 0.01, 1e-5}) {
    const bytes bits = alternating(n);
    std::size_t flips = 0, erasures = 0, lost = 0, ones = 0, impossible = 0;
    const bytes bsc = sent_through(exec(), binary_symmetric_channel(p), bits, {.seed = 1}),
                bec = sent_through(exec(), binary_erasure_channel(p), bits, {.seed = 2}),
                z = sent_through(exec(), z_channel(p), bits, {.seed = 3});
    for (std::size_t i = 0; i < n; i++) {
      flips += bsc[i] != bits[i];
      erasures += bec[i] == erased_bit;
      impossible += bec[i] != bits[i] && bec[i] != erased_bit;
      ones += bits[i];
      lost += bits[i] == 1 && z[i] == 0;
      impossible += bits[i] == 0 && z[i] != 0;
    }
    EXPECT_EQ(impossible, 0U) << p;
    const auto is_near = [p](std::size_t events, std::size_t trials) {
      const double mean = p * static_cast<double>(trials);
      return std::abs(static_cast<double>(events) - mean) < 5 * std::sqrt(mean * (1 - p)) + 1;
    };
    EXPECT_TRUE(is_near(flips, n)) << p << ": " << flips;
    EXPECT_TRUE(is_near(erasures, n)) << p << ": " << erasures;
    EXPECT_TRUE(is_near(lost, ones)) << p << ": " << lost;
  }
}

TEST_P(binary, llrs_are_those_of_theory) {
  const bytes received{0, 1, erased_bit, 77};
  const auto expect = [&](const binary_channel& c, double zero, double one) {
    const std::vector<float> got = llrs(exec(), c, received);
    EXPECT_FLOAT_EQ(got[0], static_cast<float>(zero));
    EXPECT_FLOAT_EQ(got[1], static_cast<float>(one));
    EXPECT_EQ(got[2], 0);
    EXPECT_EQ(got[3], 0);
  };
  for (const double p : {0.5, 0.3, 0.7, 1e-9}) {
    const double llr = std::log((1 - p) / p);
    expect(binary_symmetric_channel(p), llr, -llr);
    expect(binary_erasure_channel(p), known_bit_llr, -known_bit_llr);
    expect(z_channel(p), -std::log(p), -known_bit_llr);
  }
  expect(binary_symmetric_channel(0), known_bit_llr, -known_bit_llr);
  expect(binary_symmetric_channel(1), -known_bit_llr, known_bit_llr);
  expect(binary_symmetric_channel(1e-60), known_bit_llr, -known_bit_llr);
  expect(z_channel(1e-60), known_bit_llr, -known_bit_llr);
  expect(z_channel(0), known_bit_llr, -known_bit_llr);
  expect(z_channel(1), 0, -known_bit_llr);
}

TEST(binary_channels, wrong_probabilities_and_shapes_are_named) {
  for (const double p : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    for (const auto make : {binary_symmetric_channel, binary_erasure_channel, z_channel})
      EXPECT_EQ(blamed([&] { make(p); }), "probability") << p;
  const auto exec = testing::open_scalar();
  const auto bits = exec->make_zeros<std::uint8_t>(5, 1);
  auto received = exec->make<std::uint8_t>(4, 1);
  EXPECT_EQ(blamed([&] { send_bits(*exec, z_channel(0.1), bits, received, {}); }), "received");
  EXPECT_EQ(blamed([&] { send_bits(*exec, {.change = {2, 0}}, bits, exec->make<std::uint8_t>(5, 1), {}); }),
            "probability");
}

}  // namespace binary_test
}  // namespace wb
