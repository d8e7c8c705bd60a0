// Holds what the ops state as flops() against the arithmetic that their bodies do, counted by counted.hpp.
#define WB_ISA counting
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/massive/downlink/downlink_op.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>
#include <warpband/stbc/alamouti_op.hpp>
#include <warpband/stbc/exhaustive_op.hpp>
#include <warpband/stbc/golden_op.hpp>
#include <warpband/stbc/pair_op.hpp>
#include <warpband/stbc/prior_op.hpp>
#include <warpband/stbc/sfbc_op.hpp>
#include <warpband/stbc/stbc_encode_op.hpp>

#include "counted.hpp"

namespace wb {
namespace flops_arrays_test {

template <class Op>
void expect_codeword(int rx, bool soft, const char* name, int kind = 0) {
  const auto n = static_cast<std::size_t>(2 * rx);
  std::vector<cx_pair> y(2 * n), h(8 * n, cx_pair{1, 0.5f});  // of four subcarriers and antennas
  std::vector<float> llr(32);
  std::vector<std::uint8_t> bits(32);
  const float n0 = 1;
  stbc_decode_args a;
  a.rx_antennas = rx;
  a.clip = 8;
  a.kind = kind;
  a.v[0] = a.v[3] = {1, 0};
  a.received = make_view<const cx_pair>(y.data(), 1, 2 * n);
  a.channel = make_view<const cx_pair>(h.data(), 1, 8 * n);
  a.noise_var = make_view(&n0, 1);
  a.bits = make_view(bits.data(), 1, 32);
  if (soft) a.llr = make_view(llr.data(), 1, 32);
  const Op op{a};
  EXPECT_EQ(op.flops(), operations_of(op)) << name << ", " << rx << " antennas, soft " << soft;
}
/// With a-priori LLRs.
template <class Op>
void expect_codeword_with_prior(int rx, const char* name) {
  const auto n = static_cast<std::size_t>(2 * rx);
  const std::vector<cx_pair> y(2 * n), h(8 * n, cx_pair{1, 0.5f});
  std::vector<float> llr(32);
  const std::vector<float> prior(32, 0.5f);
  const float n0 = 1;
  stbc_decode_args a;
  a.rx_antennas = rx;
  a.clip = 8;
  a.v[0] = a.v[3] = {1, 0};
  a.received = make_view(y.data(), 1, 2 * n);
  a.channel = make_view(h.data(), 1, 8 * n);
  a.noise_var = make_view(&n0, 1);
  a.prior = make_view(prior.data(), 1, 32);
  a.llr = make_view(llr.data(), 1, 32);
  for (const bool extrinsic : {false, true}) {
    a.extrinsic = extrinsic;
    const Op op{a};
    EXPECT_EQ(op.flops(), operations_of(op)) << name << ", " << rx << " antennas, extrinsic " << extrinsic;
  }
}
template <int B>
void expect_codewords_with_prior() {
  for (const int rx : {1, 2, 4}) {
    expect_codeword_with_prior<alamouti_prior_op<B>>(rx, "Alamouti");
    expect_codeword_with_prior<pair_prior_op<B>>(rx, "pair");
    expect_codeword_with_prior<golden_prior_op<B>>(rx, "Golden");
  }
}
template <int B, bool Soft>
void expect_codewords() {
  for (const int rx : {1, 2, 4}) {
    expect_codeword<alamouti_op<B, Soft>>(rx, Soft, "Alamouti");
    expect_codeword<pair_op<B, Soft, 1>>(rx, Soft, "pair");
    expect_codeword<golden_op<enumerated, B, Soft>>(rx, Soft, "Golden");
    expect_codeword<golden_op<sliced_twice, B, Soft>>(rx, Soft, "Golden, slicing");
  }
}
template <int Kind, int B>
void expect_encoded() {
  std::vector<std::uint8_t> bits(32);
  std::vector<cx_pair> symbols(4), codeword(16);
  stbc_encode_args a;
  a.bits = make_view<const std::uint8_t>(bits.data(), 1, 32);
  a.symbols = make_view<const cx_pair>(symbols.data(), 1, 4);
  a.codewords = make_view(codeword.data(), 1, 16);
  const stbc_encode_op<Kind, B> op{a};
  EXPECT_EQ(op.flops(), operations_of(op)) << "kind " << Kind << ", bits " << B;
}

TEST(flops, of_space_time_codes) {
  expect_codewords<1, true>();
  expect_codewords<1, false>();
  expect_codewords<2, true>();
  expect_codewords<2, false>();
  expect_codewords<3, true>();
  expect_codewords<3, false>();
  expect_codeword<alamouti_op<4, true>>(2, true, "Alamouti");
  expect_codeword<pair_op<4, true, 1>>(2, true, "pair");
  expect_codeword<pair_op<4, false, 1>>(2, false, "pair");
  expect_codeword<golden_op<sliced_twice, 4, false>>(2, false, "Golden, slicing");
  expect_codeword_with_prior<alamouti_prior_op<4>>(2, "Alamouti");
  expect_codeword<sfbc_op<1, 2, true>>(2, true, "SFBC");
  expect_codeword<sfbc_op<1, 3, false>>(2, false, "SFBC");
  expect_codeword<sfbc_op<2, 4, true>>(1, true, "FSTD");
  expect_codeword_with_prior<sfbc_prior_op<1, 2>>(2, "SFBC");
  expect_codeword_with_prior<sfbc_prior_op<2, 1>>(3, "FSTD");
  expect_codeword<exhaustive_op<2, 2, true>>(2, true, "exhaustive", 0);
  expect_codeword<exhaustive_op<2, 3, false>>(1, false, "exhaustive", 0);
  expect_codeword<exhaustive_op<4, 1, true>>(2, true, "exhaustive", 1);
  expect_codeword<exhaustive_op<4, 2, false>>(2, false, "exhaustive", 2);
  expect_codeword_with_prior<exhaustive_op<4, 1, true>>(2, "exhaustive");
  expect_codewords_with_prior<1>();
  expect_codewords_with_prior<2>();
  expect_codewords_with_prior<3>();
  expect_encoded<0, 0>();
  expect_encoded<0, 3>();
  expect_encoded<1, 0>();
  expect_encoded<1, 1>();
  expect_encoded<2, 0>();
  expect_encoded<2, 2>();
  expect_encoded<3, 1>();
  expect_encoded<4, 3>();
}

template <class Op>
double massive_operations_of(const Op& op) {
  std::vector<counted> scratch(op.scratch_bytes(1) / sizeof(float) + 64);
  counted::operations = 0;
  op.template run<counted>(0, 1, solo{}, scratch.data());
  return counted::operations;
}
TEST(flops, of_massive_mimo) {
  for (const auto& [antennas, users, symbols] :
       {std::tuple{32, 8, 1}, std::tuple{16, 16, 4}, std::tuple{15, 7, 3}})
    for (const massive_solver solver :
         {massive_solver::cholesky, massive_solver::zf, massive_solver::mf, massive_solver::cg,
          massive_solver::jacobi_cg, massive_solver::neumann, massive_solver::gauss_seidel,
          massive_solver::chebyshev}) {
      const auto b = static_cast<std::size_t>(antennas), u = static_cast<std::size_t>(users),
                 vectors = static_cast<std::size_t>(symbols);
      std::vector<cx_pair> h(b * u), y(b * vectors, {0.3f, -0.2f}), x(b * vectors);
      for (std::size_t i = 0; i < h.size(); i++)
        h[i] = {static_cast<float>(i * 7 % 11) - 4.7f, static_cast<float>(i * 5 % 13) - 6.2f};
      const std::vector<float> n0{0.1f};
      std::vector<float> llr(4 * u * vectors);
      massive_args a;
      a.antennas = antennas, a.users = users, a.symbols = symbols;
      a.solver = solver;
      a.iterations = is_iterative(solver) ? 3 : 0;
      a.exact_sinr = !is_iterative(solver);
      a.pam_bits = 2;
      a.clip = 8;
      a.channel = make_view<const cx_pair>(h.data(), 1, b * u);
      a.in = make_view<const cx_pair>(y.data(), vectors, b);
      a.noise_var = make_view(n0.data(), 1);
      a.llr = make_view(llr.data(), vectors, 4 * u);
      const uplink_op<upto<64>> up(a);
      // Checks of what comes in, and what is done for constants, are left out.
      const double did = massive_operations_of(up);
      EXPECT_NEAR(up.flops() / did, 1, 0.03) << name_of(solver) << " " << antennas << "x" << users;
      std::vector<std::int8_t> steps(4 * u * vectors);
      a.llr8 = make_view(steps.data(), vectors, 4 * u);
      const uplink_op<upto<64>> both(a);
      const double rounded = massive_operations_of(both);
      EXPECT_NEAR(both.flops() - up.flops(), rounded - did, 1e-9);
      EXPECT_EQ(both.bytes() - up.bytes(), static_cast<double>(steps.size()));
      // Halves: half the bytes of H and y, and no other operations.
      massive_args of_halves = a;
      of_halves.channel = {}, of_halves.in = {}, of_halves.llr8 = {};
      std::vector<half_complex> h16(b * u, {0x3c00, 0xbc00}), y16(b * vectors, {0x3800, 0x3400});
      for (std::size_t i = 0; i < h16.size(); i++)
        h16[i].re = static_cast<std::uint16_t>(0x3800 + 97 * i % 999);
      of_halves.half_channel = make_view<const half_complex>(h16.data(), 1, b * u);
      of_halves.half_in = make_view<const half_complex>(y16.data(), vectors, b);
      const uplink_op<upto<64>> halved(of_halves);
      EXPECT_NEAR(up.flops() / massive_operations_of(halved), 1, 0.03);
      EXPECT_EQ(up.bytes() - halved.bytes(), static_cast<double>(4 * (b * u + b * vectors)));
      a.llr8 = {};
      a.out = make_view(x.data(), vectors, b);
      const downlink_op<upto<64>> down(a);
      const double sent = massive_operations_of(down);
      EXPECT_NEAR(down.flops() / sent, 1, 0.03) << name_of(solver) << " " << antennas << "x" << users;
    }
}

}  // namespace flops_arrays_test
}  // namespace wb
