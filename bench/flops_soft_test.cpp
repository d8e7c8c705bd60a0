// As flops_mimo_test.cpp, of the detectors with soft symbols.
#define WB_ISA counting
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/detect/ep/ep_op.hpp>
#include <warpband/detect/pic/pic_op.hpp>
#include <warpband/exec/kernel.hpp>

#include "counted.hpp"

namespace wb {
namespace flops_soft_test {

/// A use of a detector over the sizes S: with and without LLRs and a prior, by max-log and exactly.
template <class Op>
void expect_soft(int streams, int rx, int pam_bits, const char* name) {
  const auto n = static_cast<std::size_t>(streams), m = static_cast<std::size_t>(rx),
             bits = 2 * n * static_cast<std::size_t>(pam_bits);
  std::vector<cx_pair> y(m, {0.3f, -0.2f}), h(m * n);
  for (std::size_t i = 0; i < h.size(); i++)
    h[i] = {static_cast<float>(i % 5) - 1.7f, static_cast<float>(i % 7) - 2.2f};
  for (std::size_t k = 0; k < n; k++) h[k * n + k].re += 9;
  const std::vector<float> n0{0.1f}, prior(bits, 0.5f);
  std::vector<float> llr(bits);
  std::vector<std::uint8_t> hard(bits);
  decltype(Op::a) a;
  a.streams = streams, a.rx_antennas = rx, a.pam_bits = pam_bits, a.clip = 8;
  if constexpr (requires { a.iterations; }) a.iterations = 3, a.damping = 0.5f;
  a.received = make_view(y.data(), 1, m);
  a.channel = make_view(h.data(), 1, h.size());
  a.noise_var = make_view(n0.data(), 1);
  const auto expect = [&](const char* label) {
    const Op op{a};
    // LLRs limited twice, and times a constant 1.
    const double did = operations_of(op) - 3.0 * static_cast<double>(bits);
    EXPECT_EQ(op.flops(), did) << name << " " << streams << "x" << rx << ", " << pam_bits << label;
  };
  a.bits = make_view(hard.data(), 1, bits);
  expect(", decisions");
  a.llr = make_view(llr.data(), 1, bits);
  expect("");
  a.exact = true;
  expect(", exact");
  a.prior = make_view(prior.data(), 1, bits);
  expect(", exact, prior");
  a.extrinsic = true;
  a.exact = false;
  expect(", extrinsic");
}

TEST(flops, of_the_detectors_with_soft_symbols) {
  for (const int pam_bits : {1, 2, 4}) {
    expect_soft<pic_op<square_sizes<2>>>(2, 2, pam_bits, "pic");
    expect_soft<pic_op<square_sizes<4>>>(4, 4, pam_bits, "pic");
    expect_soft<pic_op<any_sizes>>(1, 1, pam_bits, "pic");
    expect_soft<pic_op<any_sizes>>(3, 5, pam_bits, "pic");
    expect_soft<pic_op<wide_sizes>>(9, 16, pam_bits, "pic");
    expect_soft<ep_op<square_sizes<2>>>(2, 2, pam_bits, "ep");
    expect_soft<ep_op<square_sizes<4>>>(4, 4, pam_bits, "ep");
    expect_soft<ep_op<any_sizes>>(3, 5, pam_bits, "ep");
  }
}

}  // namespace flops_soft_test
}  // namespace wb
