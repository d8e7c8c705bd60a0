// Holds what the ops state as flops() against the arithmetic that their bodies do, counted by counted.hpp.
#define WB_ISA counting
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/detect/kbest/kbest_op.hpp>
#include <warpband/detect/linear/linear_op.hpp>
#include <warpband/detect/ml/ml_op.hpp>
#include <warpband/detect/nway/nway_op.hpp>
#include <warpband/detect/sphere/sphere_op.hpp>
#include <warpband/detect/trellis/trellis_op.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/linalg/cholesky/cholesky_op.hpp>
#include <warpband/linalg/qr/qr_op.hpp>
#include <warpband/modem/constellation/constellation_op.hpp>
#include <warpband/modem/demap/demap_op.hpp>
#include <warpband/modem/qam/qam_op.hpp>

#include "counted.hpp"

namespace wb {
namespace flops_mimo_test {

template <int B, bool Exact>
void expect_demap() {
  const std::vector<cx_pair> y{{0.3f, -0.2f}}, h{{0.9f, 0.4f}};
  const std::vector<float> n0{0.1f};
  std::vector<float> out(8);
  demap_args a;
  a.received = make_view(y.data(), 1);
  a.channel = make_view(h.data(), 1);
  a.noise_var = make_view(n0.data(), 1);
  a.llr = make_view(out.data(), 1, 8);
  const demap_op<B, Exact> op{a};
  EXPECT_EQ(op.flops(), operations_of(op)) << B << (Exact ? " exact" : " max-log");
}

TEST(flops, of_the_demapper) {
  expect_demap<0, false>();
  expect_demap<1, false>();
  expect_demap<2, false>();
  expect_demap<3, false>();
  expect_demap<4, false>();
  expect_demap<1, true>();
  expect_demap<2, true>();
  expect_demap<3, true>();
  expect_demap<4, true>();
}

template <int Most>
void expect_points(int bits) {
  const std::vector<cx_pair> y{{0.3f, -0.2f}}, h{{0.9f, 0.4f}};
  const std::vector<float> n0{0.1f};
  const std::vector<point_entry> points(std::size_t{1} << bits, {0.3f, 0.7f, 0.9f});
  std::vector<float> out(12);
  constellation_demap_args a;
  a.bits_per_symbol = bits;
  a.points = points.data();
  a.received = make_view(y.data(), 1);
  a.channel = make_view(h.data(), 1);
  a.noise_var = make_view(n0.data(), 1);
  a.llr = make_view(out.data(), 1, static_cast<std::size_t>(bits));
  for (const bool exact : {false, true}) {
    a.exact = exact;
    const constellation_demap_op<Most> op{a};
    EXPECT_EQ(op.flops(), operations_of(op)) << bits << (exact ? " exact" : " max-log");
  }
}

TEST(flops, of_the_demapper_of_points) {
  for (const int bits : {1, 3, 4, 5}) expect_points<5>(bits);
  for (const int bits : {6, 8}) expect_points<12>(bits);
}

template <int B>
void expect_qam() {
  const std::vector<std::uint8_t> bits(8);
  std::vector<cx_pair> out(1);
  qam_map_args a;
  a.bits = make_view(bits.data(), 1, 8);
  a.symbols = make_view(out.data(), 1);
  const qam_map_op<B> op{a};
  // The compiler sees that the products are no -0 and leaves out the sums at the store; BPSK and QPSK choose
  // between constants.
  const double seen = B == 0 ? 2 : B == 1 ? 4 : 2;
  EXPECT_EQ(op.flops(), operations_of(op) - seen) << B;
}

TEST(flops, of_the_mapper) {
  expect_qam<0>();
  expect_qam<1>();
  expect_qam<2>();
  expect_qam<3>();
  expect_qam<4>();
}

/// A use of a detector over the sizes S: with and without LLRs, and with a prior where S takes one.
template <class S, class Op>
void expect_detector(int streams, int rx, int pam_bits, int ways, const char* name, int survivors = 0,
                     bool real_valued = false) {
  const auto n = static_cast<std::size_t>(streams), m = static_cast<std::size_t>(rx),
             bits = 2 * n * static_cast<std::size_t>(pam_bits);
  std::vector<cx_pair> y(m, {0.3f, -0.2f}), h(m * n);
  for (std::size_t i = 0; i < h.size(); i++)
    h[i] = {static_cast<float>(i % 5) - 1.7f, static_cast<float>(i % 7) - 2.2f};
  const std::vector<float> n0{0.1f}, prior(bits, 0.5f);
  std::vector<float> llr(bits);
  std::vector<std::uint8_t> hard(bits);
  decltype(Op::a) a;
  a.streams = streams, a.rx_antennas = rx, a.pam_bits = pam_bits, a.clip = 8;
  if constexpr (requires { a.ways; }) a.ways = ways;
  if constexpr (requires { a.radius; }) a.radius = std::numeric_limits<float>::infinity();
  if constexpr (requires { a.survivors; }) a.survivors = survivors, a.real_valued = real_valued;
  a.received = make_view(y.data(), 1, m);
  a.channel = make_view(h.data(), 1, h.size());
  a.noise_var = make_view(n0.data(), 1);
  const auto expect = [&](const char* label) {
    const Op op{a};
    // Not on a CUDA device: LLRs limited twice; those of the linear ones times a constant 1; in the trellis
    // what is the same in all rounds of a loop.
    const std::string kind(name);
    double seen = 2.0 * static_cast<double>(bits);
    if (kind == "linear") seen += static_cast<double>(bits);
    if (kind == "trellis") seen += (streams - 1) * (1 + std::exp2(2 * pam_bits) + std::exp2(4 * pam_bits));
    const double did = operations_of(op, op.scratch(1)) - seen;
    const std::string setting = kind + " " + std::to_string(streams) + "x" + std::to_string(rx) + ", " +
                                std::to_string(pam_bits) + ", ways " + std::to_string(ways) + ", survivors " +
                                std::to_string(survivors) + label;
    if (kind == "sphere" || (survivors != 0 && (bits > 6 || survivors < 1 << bits)))
      EXPECT_LE(op.flops(), did) << setting;  // more nodes, more rounds
    else
      EXPECT_EQ(op.flops(), did) << setting;
  };
  a.bits = make_view(hard.data(), 1, bits);
  expect(", decisions");
  a.llr = make_view(llr.data(), 1, bits);
  expect("");
  if constexpr (!S::streams::known) {
    if (ways == 0) return;  // takes no prior
    a.prior = make_view(prior.data(), 1, bits);
    expect(", prior");
    a.extrinsic = true;
    expect(", extrinsic");
  }
}

template <class S>
void expect_detectors(int streams, int rx, int pam_bits) {
  expect_detector<S, linear_op<S, linear_algorithm::mf>>(streams, rx, pam_bits, 0, "linear");
  expect_detector<S, linear_op<S, linear_algorithm::zf>>(streams, rx, pam_bits, 0, "linear");
  expect_detector<S, linear_op<S, linear_algorithm::mmse>>(streams, rx, pam_bits, 0, "linear");
  expect_detector<S, trellis_op<S, trellis_algorithm::one_pass, 1>>(streams, rx, pam_bits, 0, "trellis");
  expect_detector<S, trellis_op<S, trellis_algorithm::multi_pass, 1>>(streams, rx, pam_bits, 0, "trellis");
  for (int ways = 1; ways <= streams; ways += streams > 4 ? 7 : 1)
    expect_detector<S, nway_op<S, 1>>(streams, rx, pam_bits, ways, "nway");
  for (const bool real_valued : {false, true})
    for (const int survivors : {1, 5, 64})
      expect_detector<S, kbest_op<S, 1>>(streams, rx, pam_bits, 1, "kbest", survivors, real_valued);
  if (2 * pam_bits * streams <= 16) {
    expect_detector<S, sphere_op<S, true>>(streams, rx, pam_bits, 1, "sphere");
    expect_detector<S, sphere_op<S, false>>(streams, rx, pam_bits, 1, "sphere");
  }
  if (2 * pam_bits * streams <= 16) expect_detector<S, ml_op<S, 1>>(streams, rx, pam_bits, 1, "ml");
}

TEST(flops, of_the_detectors) {
  for (const int pam_bits : {1, 2, 3}) {
    expect_detectors<square_sizes<2>>(2, 2, pam_bits);
    expect_detectors<square_sizes<4>>(4, 4, pam_bits);
    expect_detectors<any_sizes>(1, 1, pam_bits);
    expect_detectors<any_sizes>(3, 5, pam_bits);
    expect_detectors<any_sizes>(8, 8, pam_bits);
  }
  expect_detectors<square_sizes<2>>(2, 2, 4);
  expect_detectors<any_sizes>(2, 3, 4);
}

template <class P, class S, qr_method Method>
void expect_qr(int rows, int columns) {
  const auto m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns);
  std::vector<P> h(m * n), y(m), r(n * n), q(m * n), z(n);
  for (std::size_t k = 0; k < n; k++) reinterpret_cast<float&>(h[k * n + k]) = 1;
  qr_args<P> a;
  a.rows = rows;
  a.columns = columns;
  a.method = Method;
  for (int k = 0; k < columns; k++) a.order[k] = k;
  a.h = make_view<const P>(h.data(), 1, m * n);
  a.r = make_view(r.data(), 1, n * n);
  const qr_op<P, S, Method> least{a};
  EXPECT_EQ(least.flops(), operations_of(least)) << rows << "x" << columns;
  a.y = make_view<const P>(y.data(), 1, m);
  a.z = make_view(z.data(), 1, n);
  a.q = make_view(q.data(), 1, m * n);
  const qr_op<P, S, Method> costliest{a};
  EXPECT_EQ(costliest.flops(), operations_of(costliest)) << rows << "x" << columns;
}
template <class P>
void expect_qr_of() {
  expect_qr<P, square_matrix<2>, qr_method::gram_schmidt>(2, 2);
  expect_qr<P, square_matrix<2>, qr_method::householder>(2, 2);
  expect_qr<P, square_matrix<2>, qr_method::cholesky>(2, 2);
  expect_qr<P, square_matrix<4>, qr_method::gram_schmidt>(4, 4);
  expect_qr<P, square_matrix<4>, qr_method::householder>(4, 4);
  expect_qr<P, square_matrix<4>, qr_method::cholesky>(4, 4);
  for (const int columns : {1, 3, 8})
    for (const int rows : {columns, 16}) {
      expect_qr<P, any_matrix<16, 8>, qr_method::gram_schmidt>(rows, columns);
      expect_qr<P, any_matrix<16, 8>, qr_method::householder>(rows, columns);
      expect_qr<P, any_matrix<16, 8>, qr_method::cholesky>(rows, columns);
    }
}

TEST(flops, of_the_qr_decompositions) {
  expect_qr_of<cx_pair>();
  expect_qr_of<float>();
}

template <class S>
void expect_cholesky(int size) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<cx_pair> m(n * n), r(n * n), b(n), x(n);
  for (std::size_t k = 0; k < n; k++) m[k * n + k].re = 1;
  cholesky_args a;
  a.size = size;
  a.a = make_view<const cx_pair>(m.data(), 1, n * n);
  a.r = make_view(r.data(), 1, n * n);
  const cholesky_op<S> least{a};
  EXPECT_EQ(least.flops(), operations_of(least)) << size;
  a.b = make_view<const cx_pair>(b.data(), 1, n);
  a.x = make_view(x.data(), 1, n);
  const cholesky_op<S> op{a};
  EXPECT_EQ(op.flops(), operations_of(op)) << size;
}

TEST(flops, of_the_cholesky_solver) {
  expect_cholesky<square_matrix<2>>(2);
  expect_cholesky<square_matrix<4>>(4);
  for (const int size : {1, 5, 8}) expect_cholesky<any_matrix<8, 8>>(size);
}

}  // namespace flops_mimo_test
}  // namespace wb
