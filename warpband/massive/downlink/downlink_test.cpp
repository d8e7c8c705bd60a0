// The downlink precoder against its formula in double precision, normalisation, reciprocity with the
// detector, equality across backends, and bad input.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <tests/massive.hpp>
#include <warpband/massive/downlink/mapping.hpp>

namespace downlink_test {

using namespace wb;
using wb::testing::blamed;
using wb::testing::massive_batch;
using wb::testing::massive_result;
using wb::testing::precode;
using wb::testing::random_frames;

downlink_config setting(std::size_t antennas, std::size_t users, massive_solver solver, int iterations = 0) {
  downlink_config c;
  c.antennas = static_cast<int>(antennas), c.users = static_cast<int>(users);
  c.solver = solver;
  if (iterations != 0) c.iterations = iterations;
  return c;
}

class downlink : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(downlink);

TEST_P(downlink, equals_oracle) {
  for (const massive_batch& b : {random_frames(12, 5, 2, 17, 0.2f), random_frames(40, 16, 5, 3, 0.05f, 2),
                                 random_frames(131, 8, 1, 2, 0.1f, 3), random_frames(9, 1, 19, 1, 0.1f, 3)})
    for (const massive_solver solver :
         {massive_solver::cholesky, massive_solver::zf, massive_solver::mf, massive_solver::cg,
          massive_solver::jacobi_cg, massive_solver::neumann, massive_solver::gauss_seidel,
          massive_solver::chebyshev})
      for (const auto& [normalization, given] : {std::pair{massive_normalization::unit_power, false},
                                                 {massive_normalization::unit_power, true},
                                                 {massive_normalization::as_printed, true},
                                                 {massive_normalization::as_printed, false},
                                                 {massive_normalization::unscaled, false}}) {
        downlink_config c = setting(b.antennas, b.users, solver, is_iterative(solver) ? 3 : 0);
        c.normalization = normalization;
        const bool printed = normalization == massive_normalization::as_printed,
                   scaled = normalization != massive_normalization::unscaled;
        // What is sent has energy 1: 1 / users for each user.
        double energy = printed ? 1 : 1 / static_cast<double>(b.users);
        if (given) c.symbol_energy = 2, energy = 2;
        SCOPED_TRACE(std::string(name_of(solver)) + " " + std::to_string(b.antennas));
        const massive_result got = precode(exec(), c, b);
        for (std::size_t i = 0; i < b.vectors(); i++) {
          ASSERT_EQ(got.status[i], 0);
          oracle::matrix want = oracle::precode_massive(
              b.channel(i / b.symbols), b.sent(i), b.n0[i / b.symbols], energy, wb::testing::rule_of(solver),
              wb::testing::solver_of(solver, c.iterations));
          const double factor = scaled ? (printed ? energy : 1) / oracle::norm(want) : 1;
          for (auto& z : want.entries) z *= factor;
          const wb::testing::samples x(&got.x[i * b.antennas], &got.x[i * b.antennas] + b.antennas);
          ASSERT_LT(wb::testing::relative_error(x, want.entries), is_iterative(solver) ? 1e-4 : 2e-5) << i;
        }
      }
}

TEST_P(downlink, iterations_stop_at_the_residual_as_the_oracle_does) {
  for (const massive_batch& b : {random_frames(21, 7, 1, 9, 0.2f), random_frames(40, 16, 5, 3, 0.05f, 2)})
    for (const massive_solver solver : {massive_solver::cg, massive_solver::jacobi_cg})
      for (const float residual : {0.5f, 0.1f, 0.01f}) {
        downlink_config c = setting(b.antennas, b.users, solver, static_cast<int>(b.users));
        c.normalization = massive_normalization::unscaled;
        c.residual = residual;
        const massive_result got = precode(exec(), c, b);
        for (std::size_t i = 0; i < b.vectors(); i++) {
          const oracle::matrix want = oracle::precode_massive(
              b.channel(i / b.symbols), b.sent(i), b.n0[i / b.symbols], 1 / static_cast<double>(b.users),
              wb::testing::rule_of(solver), wb::testing::solver_of(solver, c.iterations, residual));
          const wb::testing::samples x(&got.x[i * b.antennas], &got.x[i * b.antennas] + b.antennas);
          ASSERT_LT(wb::testing::relative_error(x, want.entries), 1e-4) << name_of(solver) << i;
        }
      }
}

TEST_P(downlink, zero_forcing_reaches_each_user_alone) {
  const massive_batch b = random_frames(24, 8, 1, 5, 0.1f);
  const massive_result got = precode(exec(), setting(24, 8, massive_solver::zf), b);
  for (std::size_t f = 0; f < b.frames; f++) {
    oracle::matrix x(24, 1);
    for (std::size_t r = 0; r < 24; r++) x.entries[r] = got.x[f * 24 + r];
    const oracle::matrix seen = oracle::adjoint(b.channel(f)) * x;
    const auto gain = seen(0, 0) / std::complex<double>(b.s[f * 8]);
    for (int u = 0; u < 8; u++)
      EXPECT_LT(std::abs(seen(u, 0) / gain - std::complex<double>(b.s[f * 8 + static_cast<std::size_t>(u)])),
                1e-4);
  }
}

TEST_P(downlink, is_the_adjoint_of_the_detector) {
  // x = P s and x' = P^H y: y^H P s = (P^H y)^H s. Zero forcing has no bias to undo.
  const massive_batch b = random_frames(20, 6, 1, 9, 0.1f);
  uplink_config up;
  up.antennas = 20, up.users = 6, up.solver = massive_solver::zf;
  const massive_result estimates = wb::testing::detect(exec(), up, b),
                       sent = precode(exec(), setting(20, 6, massive_solver::zf), b);
  for (std::size_t f = 0; f < b.frames; f++) {
    const oracle::matrix m =
        oracle::precode_massive(b.channel(f), b.sent(f), 0, 1, oracle::massive_rule::zf, {});
    std::complex<double> left = 0, right = 0;
    for (std::size_t r = 0; r < 20; r++)
      left += std::conj(std::complex<double>(b.y[f * 20 + r])) * std::complex<double>(sent.x[f * 20 + r]);
    for (std::size_t u = 0; u < 6; u++)
      right += std::conj(std::complex<double>(estimates.x[f * 6 + u])) * std::complex<double>(b.s[f * 6 + u]);
    EXPECT_LT(std::abs(left * oracle::norm(m) - right), 1e-4);
  }
}

TEST_P(downlink, halves_have_the_bits_of_complex64_that_holds_the_same) {
  const auto reference = wb::testing::open_reference();
  for (const auto& [antennas, users] : {std::tuple{std::size_t{37}, std::size_t{8}},
                                        {std::size_t{24}, std::size_t{3}},
                                        {std::size_t{34}, std::size_t{16}}}) {
    massive_batch full = random_frames(antennas, users, 3, 19, 0.2f);
    full.h[2 * antennas * users + 1] = {0, std::numeric_limits<float>::infinity()};
    massive_batch b = full;
    b.h = wb::testing::in_halves(full).h;
    for (const massive_solver solver : {massive_solver::cholesky, massive_solver::mf}) {
      const downlink_config c = setting(antennas, users, solver);
      const massive_result want = precode(*reference, c, b);
      EXPECT_EQ(wb::count_erased(want.status), 3U);
      EXPECT_TRUE(precode(exec(), c, full, layout::row_major, true) == want) << name_of(solver);
      EXPECT_TRUE(precode(exec(), c, full, layout::batch_fastest, true) == want) << name_of(solver);
    }
  }
}

// Precoders on CPUs transpose H, keep a small H for later groups of vectors, and have their own widths for
// the rest. On a CUDA device special kernels precode frames of 8, 16, 24, 32 and 64 users.
TEST_P(downlink, every_way_to_move_data_has_the_same_bits) {
  const auto reference = wb::testing::open_reference();
  struct shape {
    std::size_t antennas, users, symbols, frames;
  };
  const std::size_t few = exec().is_device() && !wb::testing::small_scale() ? 1 : 10;  // a CPU has one way
  for (const shape& s : std::vector<shape>{{128, 16, 1, 20},        {16, 16, 1, 3000 / few},
                                           {133, 21, 1, 9},         {34, 16, 20, 9},
                                           {130, 16, 5, 9},         {128, 16, 33, 18},
                                           {16, 16, 4, 1200 / few}, {256, 16, 2, 9},
                                           {512, 16, 3, 9},         {131, 16, 2, 9},
                                           {128, 8, 1, 9},          {130, 8, 20, 18},
                                           {128, 24, 1, 9},         {128, 24, 16, 18},
                                           {256, 32, 17, 9},        {261, 37, 6, few > 1 ? 9U : 18U},
                                           {67, 64, 3, 9},          {512, 64, 1, 9},
                                           {300, 64, 14, 9},        {64, 64, 33, 9},
                                           {5, 3, 40, 18}}) {
    massive_batch b = wb::testing::ugly_frames(s.antennas, s.users, s.symbols, s.frames);
    std::fill_n(&b.s[7 * (s.frames / 9) * s.symbols * s.users], s.users, 0.f);
    for (const massive_solver solver :
         {massive_solver::cholesky, massive_solver::cg, massive_solver::zf, massive_solver::mf}) {
      if (few > 1 && s.users > 16 && solver == massive_solver::zf) continue;  // as cholesky
      if (s.frames > 20 && solver != massive_solver::cholesky && solver != massive_solver::cg) continue;
      SCOPED_TRACE(std::to_string(s.antennas) + "x" + std::to_string(s.users) + ", symbols " +
                   std::to_string(s.symbols) + " " + name_of(solver));
      downlink_config c = setting(s.antennas, s.users, solver, is_iterative(solver) ? 4 : 0);
      const massive_result want = precode(*reference, c, b);
      EXPECT_GE(wb::count_erased(want.status), solver == massive_solver::mf ? 3U : 4U);
      EXPECT_TRUE(precode(exec(), c, b) == want);
      if (s.frames > 20) continue;
      EXPECT_TRUE(precode(exec(), c, b, layout::batch_fastest) == want);
      c.symbol_energy = 3;
      c.normalization = massive_normalization::as_printed;
      EXPECT_TRUE(precode(exec(), c, b) == precode(*reference, c, b));
    }
  }
}

TEST(downlink_arguments, bad_ones_are_named) {
  const auto blames = [](auto change) {
    downlink_config c;
    change(c);
    return blamed([&] { check(c); }, [&] { downlink_precoder precoder(c); });
  };
  EXPECT_EQ(blames([](downlink_config&) {}), "");
  EXPECT_EQ(blames([](downlink_config& c) { c.antennas = 15; }), "antennas");
  EXPECT_EQ(blames([](downlink_config& c) { c.users = -1; }), "users");
  EXPECT_EQ(blames([](downlink_config& c) { c.iterations = 1; }), "iterations");
  EXPECT_EQ(blames([](downlink_config& c) { c.solver = massive_solver::jacobi_cg; }), "iterations");
  EXPECT_EQ(blames([](downlink_config& c) { c.solver = massive_solver::chebyshev; }), "iterations");
  EXPECT_EQ(blames([](downlink_config& c) {
              c.solver = massive_solver::neumann, c.iterations = 2, c.residual = 0.1f;
            }),
            "residual");
  EXPECT_EQ(blames([](downlink_config& c) { c.residual = 0.1f; }), "residual");  // cholesky has none
  EXPECT_EQ(blames([](downlink_config& c) { c.symbol_energy = 0; }), "symbol_energy");
  EXPECT_EQ(blames([](downlink_config& c) { c.normalization = static_cast<massive_normalization>(7); }),
            "normalization");
}

// Which calls the kernels of 8, 16, 24, 32 and 64 users take, on devices with this much shared memory.
TEST(downlink_mapping, kernels_of_their_own_take_what_fits) {
  constexpr std::size_t h100 = 232448;
  alignas(16) static const wb::cx_pair data[4] = {};
  alignas(16) static wb::cx_pair out[4] = {};
  const auto call = [](int antennas, int users, int symbols) {
    wb::massive_args a;
    a.antennas = antennas, a.users = users, a.symbols = symbols;
    const std::size_t b = static_cast<std::size_t>(antennas), u = static_cast<std::size_t>(users);
    a.channel = {data, b * u, 100, 1, b * u};
    a.out = {out, b, 100, 1, b};
    return a;
  };
  for (const auto& [antennas, users, symbols, taken] : {std::tuple{16, 16, 1, true},
                                                        {128, 16, 14, true},
                                                        {512, 16, 14, true},
                                                        {256, 32, 1, true},
                                                        {256, 32, 64, true},
                                                        {512, 32, 1, false},
                                                        {128, 8, 1, true},
                                                        {128, 12, 1, false},
                                                        {256, 24, 14, true},
                                                        {512, 24, 14, false},
                                                        {512, 64, 1, false},
                                                        {14, 16, 1, false},
                                                        {129, 16, 1, false}})
    EXPECT_EQ(wb::takes_sent_frames(call(antennas, users, symbols), h100), taken)
        << antennas << "x" << users << " " << symbols;
  EXPECT_FALSE(wb::takes_sent_frames(call(256, 32, 1), 101376));
  const auto refuses = [&](auto change) {
    wb::massive_args a = call(128, 16, 14);
    change(a);
    return !wb::takes_sent_frames(a, h100);
  };
  EXPECT_FALSE(refuses([](wb::massive_args&) {}));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.channel.element_stride = 100; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.channel.item_stride++; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.channel.data = data + 1; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.out.element_stride = 1400; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.out.item_stride = 129; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.out.data = out + 1; }));
}

}  // namespace downlink_test
