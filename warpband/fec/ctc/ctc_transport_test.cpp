// HARQ of IEEE 802.16: subpackets by the rule of their SPID, and their sums against the CTC decoder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <tests/ctc.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/ctc/ctc_transport.hpp>

namespace wb {
namespace ctc_transport_test {

using testing::bit_vector;
using testing::blamed;
using testing::on_device;
using testing::random_bit_vector;
using testing::row_of;
using testing::small_scale;

class ctc_transport : public testing::on_backend {};
WB_ON_ALL_BACKENDS(ctc_transport);

std::size_t size_of(int n) { return static_cast<std::size_t>(n); }

/// The codeword of a block in the order of the circular buffer, by the oracle.
bit_vector codeword_of(const bit_vector& bits) {
  bit_vector block = bits;
  const std::uint32_t parity = crc_parity(bits, crc16);
  for (int i = 15; i >= 0; i--) block.push_back(static_cast<std::uint8_t>(parity >> i & 1));
  const ctc_config code{.k = static_cast<int>(block.size())};
  return testing::sent_of(code, oracle::ctc_encode(block, testing::oracle_of(code)));
}
bit_vector encode(executor& e, const ctc_transport_config& c, const bit_vector& bits, int spid) {
  ctc_transport_encoder encoder(c);
  const std::size_t a = size_of(c.transport_bits), items = bits.size() / a;
  auto coded = e.make<std::uint8_t>(items, size_of(c.coded_bits));
  encoder.run(e, on_device(e, bits, items, a), spid, coded);
  return e.to_host(coded);
}
struct decided {
  bit_vector bits, ok, status;
  std::vector<std::int32_t> iterations;
};
decided decode(executor& e, ctc_transport_decoder& d, std::size_t items) {
  auto bits = e.make<std::uint8_t>(items, size_of(d.config().transport_bits));
  auto ok = e.make<std::uint8_t>(items, 1), status = e.make<std::uint8_t>(items, 1);
  auto iterations = e.make<std::int32_t>(items, 1);
  d.decode(e, {.bits = bits, .ok = ok, .iterations = iterations, .status = status});
  return {e.to_host(bits), e.to_host(ok), e.to_host(status), e.to_host(iterations)};
}

TEST_P(ctc_transport, subpackets_follow_each_other_on_the_circle) {
  std::mt19937_64 random(1);
  for (const auto& [a, g] : {std::pair{32, 96}, {32, 40}, {176, 200}, {176, 1000}, {464, 960}}) {
    const ctc_transport_config c{.transport_bits = a, .coded_bits = g};
    const std::size_t items = 3;
    const auto bits = random_bit_vector(items * size_of(a), random);
    for (int spid = 0; spid < 4; spid++) {
      const auto got = encode(exec(), c, bits, spid);
      for (std::size_t i = 0; i < items; i++) {
        const auto word = codeword_of(row_of(bits, i, size_of(a)));
        bit_vector want;
        const std::size_t first = size_of(spid) * size_of(g) % word.size();
        for (std::size_t j = 0; j < size_of(g); j++) want.push_back(word[(first + j) % word.size()]);
        ASSERT_EQ(row_of(got, i, size_of(g)), want) << "A = " << a << ", G = " << g << ", SPID " << spid;
      }
    }
  }
}

/// What comes out is what ctc_decoder says to sums that a loop has added up.
TEST_P(ctc_transport, sums_are_decoded) {
  std::mt19937_64 random(2);
  for (const auto& spids : {std::vector{0, 1, 2}, {0, 0, 0}, {2, 0, 3}}) {
    const ctc_transport_config c{.transport_bits = 176, .coded_bits = 240, .ctc = {.iterations = 4}};
    const std::size_t items = 20, a = 176, k = 192, n = 3 * k, g = 240;
    const auto bits = random_bit_vector(items * a, random);
    ctc_transport_decoder d(c);
    std::vector<float> sums(items * n);
    const ctc_decoder inner({.k = 192}, c.ctc);
    int ok_before = -1;
    for (std::size_t t = 0; t < spids.size(); t++) {
      const auto llr = testing::noisy_llrs(encode(exec(), c, bits, spids[t]), -1.5, random);
      d.combine(exec(), view<const float>(on_device(exec(), llr, items, g)), spids[t]);
      for (std::size_t i = 0; i < items; i++)
        for (std::size_t j = 0; j < g; j++) sums[i * n + (size_of(spids[t]) * g + j) % n] += llr[i * g + j];
      const decided got = decode(exec(), d, items);
      auto inner_bits = exec().make<std::uint8_t>(items, k);
      auto inner_iterations = exec().make<std::int32_t>(items, 1);
      inner.run(exec(), on_device(exec(), sums, items, n),
                {.bits = inner_bits, .iterations = inner_iterations});
      const auto want = exec().to_host(inner_bits);
      EXPECT_EQ(got.iterations, exec().to_host(inner_iterations));
      int ok = 0;
      for (std::size_t i = 0; i < items; i++) {
        const bit_vector row = row_of(want, i, k), message(row.begin(), row.begin() + a);
        ASSERT_EQ(row_of(got.bits, i, a), message) << t << ", " << i;
        EXPECT_EQ(got.ok[i], message == row_of(bits, i, a) ? 1 : 0);  // the CRC finds every error here
        ok += got.ok[i];
      }
      EXPECT_GE(ok, ok_before);
      ok_before = ok;
    }
    EXPECT_EQ(d.transmissions(), 3);
    EXPECT_GT(ok_before, 5);
  }
}

TEST_P(ctc_transport, incremental_redundancy_beats_chase_combining) {
  std::mt19937_64 random(3);
  const ctc_transport_config c{.transport_bits = 176, .coded_bits = 240};
  const std::size_t items = small_scale() ? 60 : 200, a = 176, g = 240;
  const auto bits = random_bit_vector(items * a, random);
  const auto right = [&](int second) {
    std::mt19937_64 noise(4);
    ctc_transport_decoder d(c);
    for (const int spid : {0, second}) {
      const auto llr = testing::noisy_llrs(encode(exec(), c, bits, spid), -1.5, noise);
      d.combine(exec(), view<const float>(on_device(exec(), llr, items, g)), spid);
    }
    const auto ok = decode(exec(), d, items).ok;
    return std::count(ok.begin(), ok.end(), 1);
  };
  const auto chase = right(0), incremental = right(1);
  EXPECT_GT(chase, 0);
  EXPECT_GT(incremental, chase + static_cast<std::ptrdiff_t>(items) / 10);
}

TEST_P(ctc_transport, memory_of_the_caller_goes_on) {
  std::mt19937_64 random(5);
  const ctc_transport_config c{.transport_bits = 80, .coded_bits = 120};
  const std::size_t items = 6, g = 120;
  const auto bits = random_bit_vector(items * 80, random);
  std::vector<std::vector<float>> llr;
  for (const int spid : {0, 1}) {
    llr.push_back(testing::noisy_llrs(encode(exec(), c, bits, spid), 0, random));
    for (float& x : llr.back())
      x = std::nearbyint(std::clamp(4 * x, -60.f, 60.f)) / 4;  // exact in the memory
  }
  ctc_transport_decoder first(c), second(c), whole(c);
  auto memory = exec().make<std::uint8_t>(items, first.harq_bytes(harq_format::int8));
  const auto device = [&](std::size_t t) { return on_device(exec(), llr[t], items, g); };
  first.combine(exec(), view<const float>(device(0)), 0);
  first.keep(exec(), {.data = memory});
  second.resume(exec(), {.data = memory});
  second.combine(exec(), view<const float>(device(1)), 1);
  for (const int spid : {0, 1}) whole.combine(exec(), view<const float>(device(size_of(spid))), spid);
  const decided got = decode(exec(), second, items), want = decode(exec(), whole, items);
  EXPECT_EQ(got.bits, want.bits);
  EXPECT_EQ(got.ok, want.ok);
  EXPECT_EQ(got.bits, bits);
}

TEST_P(ctc_transport, what_is_no_number_erases_its_subpacket) {
  std::mt19937_64 random(6);
  const ctc_transport_config c{.transport_bits = 80, .coded_bits = 288};
  const auto bits = random_bit_vector(3 * 80, random);
  std::vector<float> llr;
  for (const auto b : encode(exec(), c, bits, 0)) llr.push_back(b ? -4.f : 4.f);
  auto spoilt = llr;
  spoilt[288 + 5] = std::numeric_limits<float>::quiet_NaN();
  std::fill(spoilt.begin() + 2 * 288, spoilt.end(), 0.f);
  ctc_transport_decoder d(c);
  d.combine(exec(), view<const float>(on_device(exec(), spoilt, 3, 288)), 0);
  decided got = decode(exec(), d, 3);
  EXPECT_EQ(got.ok, (bit_vector{1, 0, 0}));
  EXPECT_EQ(got.status,
            (bit_vector{0, status_erased | status_insufficient, status_erased | status_insufficient}));
  d.combine(exec(), view<const float>(on_device(exec(), llr, 3, 288)), 0);
  got = decode(exec(), d, 3);
  EXPECT_EQ(got.ok, (bit_vector{1, 1, 1}));
  EXPECT_EQ(got.status, (bit_vector{0, status_erased, 0}));
  EXPECT_EQ(got.bits, bits);
  // Zeros satisfy the CRC, but nothing speaks for them.
  ctc_transport_decoder zeros(c);
  std::vector<float> weak(3 * 288, 0.f);
  for (std::size_t i = 0; i < weak.size(); i += 2) weak[i] = 1;
  zeros.combine(exec(), view<const float>(on_device(exec(), weak, 3, 288)), 0);
  EXPECT_EQ(decode(exec(), zeros, 3).ok, bit_vector(3));
}

TEST(ctc_transport_arguments, bad_ones_are_named) {
  const auto blames = [](const ctc_transport_config& c) {
    return blamed([&] { check(c); }, [&] { (void)ctc_transport_decoder(c); });
  };
  EXPECT_EQ(blames({.transport_bits = 32, .coded_bits = 96}), "");
  EXPECT_EQ(blames({.transport_bits = 33, .coded_bits = 96}), "transport_bits");
  EXPECT_EQ(blames({.transport_bits = 32, .coded_bits = 97}), "coded_bits");
  EXPECT_EQ(blames({.transport_bits = 32, .coded_bits = 0}), "coded_bits");
  EXPECT_EQ(blames({.transport_bits = 32, .coded_bits = 96, .modulation_order = 3}), "modulation_order");
  EXPECT_EQ(blames({.transport_bits = 32, .coded_bits = 96, .layers = 5}), "layers");
  EXPECT_EQ(blames({.transport_bits = 32, .coded_bits = 96, .ctc = {.iterations = 0}}), "iterations");
  ctc_transport_decoder d({.transport_bits = 32, .coded_bits = 96});
  cpu exec({.threads = 1});
  EXPECT_EQ(blamed([&] { d.decode(exec, {}); }), "transmissions");
  const std::vector<float> llr(96, 1.f);
  EXPECT_EQ(blamed([&] { d.combine(exec, make_view<const float>(llr.data(), 1, 96), 4); }), "spid");
}

}  // namespace ctc_transport_test
}  // namespace wb
