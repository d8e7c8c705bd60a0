#pragma once
// Calls of the K-best search for tests of threads that share one, and what one thread alone finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include <tests/emulation/emulated_block.hpp>
#include <warpband/detect/kbest/kbest_op.hpp>

namespace wb {
inline namespace WB_ISA {

struct sent {
  std::vector<cx_pair> h, y;
  std::vector<float> prior, n0;
};
/// Random uses. Every third has a unitary H and receives nothing: most distances equal others.
inline sent draw(const detect_call& a, std::size_t uses, bool informed) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto n = static_cast<std::size_t>(a.streams), rx = static_cast<std::size_t>(a.rx_antennas),
             bits = 2 * n * static_cast<std::size_t>(a.pam_bits);
  sent s;
  for (std::size_t i = 0; i < uses; i++) {
    for (std::size_t e = 0; e < rx * n; e++) {
      const float one = e / n == e % n ? 1.f : 0.f;
      s.h.push_back(i % 3 == 2 ? cx_pair{one, 0} : cx_pair{normal(random), normal(random)});
    }
    for (std::size_t r = 0; r < rx; r++)
      s.y.push_back(i % 3 == 2 ? cx_pair{0, 0} : cx_pair{normal(random), normal(random)});
    for (std::size_t b = 0; informed && b < bits; b++) s.prior.push_back(2 * normal(random));
  }
  s.n0.assign(1, 0.1f);
  return s;
}

/// A call of any of the searches into `got`, and what one thread alone finds.
struct batch {
  kbest_args a;
  std::size_t uses, bits;
  sent s;
  std::vector<float> expected, got, memory = std::vector<float>(emulation::shared_bytes / sizeof(float));

  batch(int streams, int pam_bits, int survivors, std::size_t uses_, bool real_valued = false,
        bool informed = false)
      : uses(uses_) {
    a.streams = a.rx_antennas = streams;
    a.pam_bits = pam_bits;
    a.survivors = survivors;
    a.real_valued = real_valued;
    a.clip = 100;
    s = draw(a, uses, informed);
    const auto n = static_cast<std::size_t>(streams);
    bits = 2 * n * static_cast<std::size_t>(pam_bits);
    a.received = make_view<const cx_pair>(s.y.data(), uses, n);
    a.channel = make_view<const cx_pair>(s.h.data(), uses, n * n);
    a.noise_var = {s.n0.data(), 1, uses, 1, 0};
    if (informed) a.prior = make_view<const float>(s.prior.data(), uses, bits);
    expected.assign(bits * uses, 0);
    a.llr = make_view(expected.data(), uses, bits);
    const kbest_op<any_sizes, 1> alone{a};
    std::vector<float> scratch(alone.scratch(1));
    for (std::size_t i = 0; i < uses; i++) alone(item<float>{i, 1}, solo{}, scratch.data());
    got.resize(expected.size());
    a.llr = make_view(got.data(), uses, bits);
  }
  void expect_same(const std::string& threads) const {
    for (std::size_t e = 0; e < got.size(); e++)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got[e]), std::bit_cast<std::uint32_t>(expected[e]))
          << a.streams << "x" << a.streams << ", " << a.pam_bits << ", K = " << a.survivors << ", " << threads
          << ", use " << e / bits << ", bit " << e % bits << ": " << got[e] << ", alone " << expected[e];
  }
};

}  // namespace WB_ISA
}  // namespace wb
