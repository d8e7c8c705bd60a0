// The uplink detector against elimination and textbook conjugate gradients in double precision, limit cases,
// measured SINR, equality across backends, and bad input.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <tests/massive.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/massive/uplink/mapping.hpp>

namespace uplink_test {

using namespace wb;
using wb::testing::blamed;
using wb::testing::detect;
using wb::testing::in_halves;
using wb::testing::massive_batch;
using wb::testing::massive_formats;
using wb::testing::massive_result;
using wb::testing::random_frames;

uplink_config setting(std::size_t antennas, std::size_t users, massive_solver solver, int iterations = 0,
                      int qam = 16) {
  uplink_config c;
  c.antennas = static_cast<int>(antennas), c.users = static_cast<int>(users);
  c.qam = qam;
  c.solver = solver;
  if (iterations != 0) c.iterations = iterations;
  if (is_iterative(solver)) c.sinr = massive_sinr::approximate;
  return c;
}
void use_approximation(uplink_config& c) { c.sinr = massive_sinr::approximate; }

/// Symbols, SINRs and LLRs of every vector against the oracle.
void expect_oracle(executor& exec, const uplink_config& c, const massive_batch& b, double tolerance = 2e-5,
                   massive_formats formats = {}) {
  SCOPED_TRACE(std::string(name_of(c.solver)) + " " + std::to_string(c.antennas) + "x" +
               std::to_string(c.users) + ", symbols " + std::to_string(b.symbols) + ", frames " +
               std::to_string(b.frames));
  const massive_result got = detect(exec, c, b, layout::row_major, formats);
  const std::size_t bits = got.llr.size() / b.vectors();
  for (std::size_t i = 0; i < b.vectors(); i++) {
    const std::size_t frame = i / b.symbols;
    const auto want = oracle::detect_massive(
        b.channel(frame), b.received(i), b.n0[frame], c.qam, wb::testing::rule_of(c.solver),
        wb::testing::solver_of(c.solver, c.iterations, c.residual), c.sinr == massive_sinr::approximate);
    ASSERT_EQ(got.status[i], 0);
    const wb::testing::samples x(&got.x[i * b.users], &got.x[i * b.users] + b.users);
    ASSERT_LT(wb::testing::relative_error(x, want.symbols), tolerance) << i;
    for (std::size_t u = 0; u < b.users; u++)
      ASSERT_NEAR(got.sinr[i * b.users + u] / want.sinr[u], 1, tolerance * 4) << i << " user " << u;
    for (std::size_t e = 0; e < bits; e++) {
      const double sinr = want.sinr[e / (bits / b.users)];
      ASSERT_NEAR(got.llr[i * bits + e], want.llr[e],
                  tolerance * (std::fabs(want.llr[e]) * 4 + sinr * 8) + 1e-5)
          << i << " bit " << e;
    }
  }
}

class uplink : public wb::testing::on_backend {
 protected:
  static bool on_cuda() { return GetParam().name.starts_with("cuda"); }
};
WB_ON_ALL_BACKENDS(uplink);

TEST_P(uplink, equals_oracle) {
  const massive_batch small = random_frames(12, 5, 2, 17, 0.2f), wide = random_frames(40, 16, 5, 3, 0.05f, 2),
                      single = random_frames(9, 1, 1, 2, 0.5f, 3),
                      tall = random_frames(131, 8, 1, 3, 0.1f, 4);
  for (const massive_solver solver : {massive_solver::cholesky, massive_solver::zf, massive_solver::mf})
    for (const bool approximate : {false, true})
      for (const massive_batch* b : {&small, &wide, &single, &tall}) {
        uplink_config c = setting(b->antennas, b->users, solver);
        if (approximate) use_approximation(c);
        expect_oracle(exec(), c, *b);
      }
  for (const int qam : {4, 64, 256})
    expect_oracle(exec(), setting(12, 5, massive_solver::cholesky, 0, qam), small);
}

TEST_P(uplink, llrs_far_from_all_points_lose_what_float32_distances_lose) {
  for (const auto& [antennas, users] : {std::pair<std::size_t, std::size_t>{12, 3}, {64, 16}})
    for (const int exponent : {8, 16}) {
      massive_batch b = random_frames(antennas, users, 1, 5, 0.1f);
      for (auto& y : b.y) y *= std::ldexp(1.f, exponent);
      const massive_result got = detect(exec(), setting(antennas, users, massive_solver::cholesky), b);
      const std::size_t bits = got.llr.size() / b.vectors();
      for (std::size_t i = 0; i < b.vectors(); i++) {
        const auto want = oracle::detect_massive(b.channel(i), b.received(i), b.n0[i], 16,
                                                 wb::testing::rule_of(massive_solver::cholesky),
                                                 wb::testing::solver_of(massive_solver::cholesky, 0), false);
        for (std::size_t e = 0; e < bits; e++) {
          const std::size_t u = e / (bits / users);
          const double x = std::abs(want.symbols[u]);
          ASSERT_NEAR(got.llr[i * bits + e], want.llr[e], want.sinr[u] * (2e-7 * x * x + 1e-4 * x + 1e-4))
              << users << " users, y times 2^" << exponent;
        }
      }
    }
}

/// The second user's channel is so weak that its estimates are far beyond what a use is erased for.
TEST_P(uplink, y_has_llrs_until_it_is_erased) {
  for (const std::size_t users : {3, 16, 32})
    for (const std::size_t symbols : {1, 5})
      for (const massive_solver solver : {massive_solver::cholesky, massive_solver::mf, massive_solver::cg}) {
        massive_batch b = random_frames(2 * users, users, symbols, 3, 0.1f);
        for (std::size_t i = 1; i < b.h.size(); i += users) b.h[i] *= 0x1p-9f;
        const uplink_config c = setting(b.antennas, users, solver, solver == massive_solver::cg ? 3 : 0);
        const std::size_t bits = uplink_detector(c).bits_per_vector();
        const massive_result near = detect(exec(), c, b);
        for (int exponent = 4; exponent <= 44; exponent += 8) {
          massive_batch far = b;
          for (std::size_t i = 0; i < far.y.size(); i++)
            if (i / b.antennas % 2 == 0) far.y[i] *= std::ldexp(1.f, exponent);
          const massive_result got = detect(exec(), c, far);
          for (std::size_t v = 0; v < b.vectors(); v++) {
            SCOPED_TRACE(std::to_string(users) + " users, " + name_of(solver) + ", y times 2^" +
                         std::to_string(exponent) + ", vector " + std::to_string(v));
            const oracle::matrix h = b.channel(v / symbols), y = far.received(v);
            double energy = 0, trace = 0;
            for (std::size_t u = 0; u < users; u++) {
              std::complex<double> matched = 0;
              for (std::size_t r = 0; r < b.antennas; r++)
                matched += std::conj(h.entries[r * users + u]) * y.entries[r],
                    trace += std::norm(h.entries[r * users + u]);
              energy += std::norm(matched);
            }
            ASSERT_EQ(got.status[v], energy > 1e10 * trace * trace ? status_erased : 0);
            for (std::size_t i = v * bits; i < (v + 1) * bits; i++) {
              ASSERT_EQ(got.llr[i] == 0, got.status[v] != 0) << "bit " << i - v * bits;
              if (v % 2 != 0) {
                ASSERT_EQ(got.llr[i], near.llr[i]) << "a neighbour changed";
              }
            }
          }
        }
      }
}

TEST_P(uplink, conjugate_gradients_equal_the_oracles) {
  const massive_batch b = random_frames(40, 16, 3, 5, 0.05f), odd = random_frames(21, 7, 1, 3, 0.3f, 2);
  for (const massive_solver solver : {massive_solver::cg, massive_solver::jacobi_cg})
    for (const int iterations : {1, 3, 6}) {
      expect_oracle(exec(), setting(40, 16, solver, iterations), b, 1e-4);
      expect_oracle(exec(), setting(21, 7, solver, iterations), odd, 1e-4);
    }
}

/// The mean over frames of the relative distance of estimates to those of Cholesky.
double distance_to_cholesky(executor& exec, const massive_batch& b, massive_solver solver, int iterations) {
  uplink_config exact = setting(b.antennas, b.users, massive_solver::cholesky);
  use_approximation(exact);
  return wb::testing::relative_error(detect(exec, setting(b.antennas, b.users, solver, iterations), b).x,
                                     detect(exec, exact, b).x);
}

constexpr massive_solver splittings[]{massive_solver::neumann, massive_solver::gauss_seidel,
                                      massive_solver::chebyshev};

TEST_P(uplink, splittings_equal_the_oracles) {
  const massive_batch b = random_frames(64, 16, 3, 5, 0.5f), odd = random_frames(33, 7, 1, 3, 0.3f, 2),
                      single = random_frames(9, 1, 5, 2, 0.5f, 3);
  for (const massive_solver solver : splittings)
    for (const int iterations : {1, 2, 3, 7})
      for (const massive_batch* batch : {&b, &odd, &single})
        expect_oracle(exec(), setting(batch->antennas, batch->users, solver, iterations), *batch, 1e-4);
}

TEST_P(uplink, splittings_converge_to_cholesky) {
  const massive_batch b = random_frames(128, 8, 2, 20, 0.8f);
  for (const massive_solver solver : splittings) {
    double before = 1;
    for (const int iterations : {1, 2, 4, 8}) {
      const double distance = distance_to_cholesky(exec(), b, solver, iterations);
      EXPECT_LT(distance, 0.7 * before) << name_of(solver) << " " << iterations;
      before = distance;
    }
    EXPECT_LT(distance_to_cholesky(exec(), b, solver, 40), 2e-6) << name_of(solver);
  }
}

TEST_P(uplink, one_neumann_term_is_the_matched_filter_over_the_diagonal) {
  const massive_batch b = random_frames(32, 6, 2, 9, 0.3f);
  const massive_result got = detect(exec(), setting(32, 6, massive_solver::neumann, 1), b),
                       matched = detect(exec(), setting(32, 6, massive_solver::mf), b);
  // A matched filter divides by |h|^2. One term divides by |h|^2 + N0, and its bias is taken off after that.
  EXPECT_LT(wb::testing::relative_error(got.x, matched.x), 1e-6);
}

// Users 0, 1 and 2 have nearly one direction, so the largest eigenvalue of the scaled A is about 3.
TEST_P(uplink, splittings_stay_finite_where_users_are_alike) {
  massive_batch b = random_frames(64, 16, 2, 9, 1.f);
  for (std::size_t row = 0; row < b.h.size(); row += 16)
    for (const std::size_t u : {1, 2}) b.h[row + u] = b.h[row] + 0.05f * b.h[row + u];
  for (const massive_solver solver : splittings)
    for (const int iterations : {3, 64}) {
      const massive_result got = detect(exec(), setting(64, 16, solver, iterations), b);
      EXPECT_EQ(wb::count_erased(got.status), 0U);
      for (const float x : got.llr) ASSERT_TRUE(std::isfinite(x)) << name_of(solver);
      for (const auto& x : got.x) ASSERT_TRUE(std::isfinite(std::abs(x))) << name_of(solver);
    }
  EXPECT_GT(distance_to_cholesky(exec(), b, massive_solver::neumann, 64), 1e6);
  EXPECT_LT(distance_to_cholesky(exec(), b, massive_solver::gauss_seidel, 64), 1);
}

uplink_config stopping(std::size_t antennas, std::size_t users, massive_solver solver, float residual) {
  uplink_config c = setting(antennas, users, solver, static_cast<int>(users));
  c.residual = residual;
  return c;
}

/// Vectors stop after different numbers of iterations: those of one H whose y are of one user, of noise and
/// of all. Residuals that no vector meets within rounding, so that float32 and double stop together.
TEST_P(uplink, iterations_stop_at_the_residual_as_the_oracle_does) {
  for (const auto& [antennas, users, symbols] : {std::tuple{std::size_t{40}, std::size_t{16}, std::size_t{3}},
                                                 {std::size_t{21}, std::size_t{7}, std::size_t{1}},
                                                 {std::size_t{96}, std::size_t{32}, std::size_t{14}},
                                                 {std::size_t{12}, std::size_t{8}, std::size_t{2}}}) {
    massive_batch b = random_frames(antennas, users, symbols, 5, 0.05f);
    for (std::size_t i = 0; i < b.vectors(); i += 2)  // of the first user alone: close to an eigenvector
      for (std::size_t r = 0; r < antennas; r++)
        b.y[i * antennas + r] = b.h[(i / symbols * antennas + r) * users];
    for (const massive_solver solver : {massive_solver::cg, massive_solver::jacobi_cg})
      for (const float residual : {0.5f, 0.1f, 0.01f})
        expect_oracle(exec(), stopping(antennas, users, solver, residual), b, 1e-4);
  }
}

TEST_P(uplink, a_stop_by_residual_does_not_depend_on_the_batch) {
  for (const std::size_t users : {7, 16, 32}) {
    const massive_batch batch = random_frames(4 * users, users, 2, 9, 0.1f);
    const uplink_config c = stopping(4 * users, users, massive_solver::cg, 0.05f);
    const massive_result whole = detect(exec(), c, batch);
    for (std::size_t f = 0; f < batch.frames; f++) {
      massive_batch one = batch;
      one.frames = 1;
      const auto part = [&](auto& values, std::size_t size) {
        values = {values.begin() + static_cast<std::ptrdiff_t>(f * size),
                  values.begin() + static_cast<std::ptrdiff_t>((f + 1) * size)};
      };
      part(one.h, 4 * users * users), part(one.y, 2 * 4 * users), part(one.n0, 1);
      const massive_result alone = detect(exec(), c, one);
      for (std::size_t i = 0; i < alone.llr.size(); i++)
        ASSERT_EQ(alone.llr[i], whole.llr[f * alone.llr.size() + i]) << users << " users, frame " << f;
    }
  }
}

TEST_P(uplink, as_many_iterations_as_users_equal_cholesky) {
  const massive_batch b = random_frames(48, 12, 2, 8, 0.1f);
  uplink_config exact = setting(48, 12, massive_solver::cholesky);
  use_approximation(exact);
  const massive_result want = detect(exec(), exact, b);
  for (const massive_solver solver : {massive_solver::cg, massive_solver::jacobi_cg}) {
    const massive_result got = detect(exec(), setting(48, 12, solver, 12), b);
    EXPECT_LT(wb::testing::relative_error(got.x, want.x), 1e-5) << name_of(solver);
    EXPECT_EQ(detect(exec(), setting(48, 12, solver, 64), b).x.size(), got.x.size());
  }
}

TEST_P(uplink, iterations_past_convergence_change_nothing) {
  // A = c I: one iteration ends it.
  massive_batch b = random_frames(8, 8, 1, 3, 0.1f);
  std::fill(b.h.begin(), b.h.end(), 0.f);
  for (std::size_t f = 0; f < 3; f++)
    for (std::size_t u = 0; u < 8; u++) b.h[(f * 8 + u) * 8 + u] = 2;
  for (const massive_solver solver : {massive_solver::cg, massive_solver::jacobi_cg}) {
    const massive_result one = detect(exec(), setting(8, 8, solver, 1), b),
                         eight = detect(exec(), setting(8, 8, solver, 8), b);
    for (std::size_t i = 0; i < one.x.size(); i++) {
      ASSERT_TRUE(std::isfinite(eight.x[i].real()) && std::isfinite(eight.x[i].imag()));
      ASSERT_LT(std::abs(eight.x[i] - one.x[i]), 1e-6f);
    }
  }
  const massive_batch large = random_frames(512, 64, 1, 1, 0.1f);
  const massive_result got = detect(exec(), setting(512, 64, massive_solver::cg, 64), large);
  uplink_config exact = setting(512, 64, massive_solver::cholesky);
  use_approximation(exact);
  EXPECT_LT(wb::testing::relative_error(got.x, detect(exec(), exact, large).x), 1e-5);
}

TEST_P(uplink, a_shared_channel_equals_a_repeated_one) {
  for (const std::size_t symbols : {2, 14, 19}) {
    const massive_batch shared = random_frames(20, 6, symbols, 3, 0.1f);
    massive_batch repeated = shared;
    repeated.frames = shared.vectors(), repeated.symbols = 1;
    repeated.h.clear();
    repeated.n0.assign(repeated.frames, 0.1f);
    for (std::size_t i = 0; i < repeated.frames; i++)
      repeated.h.insert(repeated.h.end(), &shared.h[i / symbols * 120], &shared.h[i / symbols * 120] + 120);
    for (const massive_solver solver :
         {massive_solver::cholesky, massive_solver::jacobi_cg, massive_solver::mf}) {
      const uplink_config c = setting(20, 6, solver, is_iterative(solver) ? 3 : 0);
      EXPECT_TRUE(detect(exec(), c, shared) == detect(exec(), c, repeated))
          << name_of(solver) << " " << symbols;
    }
  }
}

// On a CUDA device kernels of their own detect frames of 8, 16, 24, 32 and 64 users that lie item by item,
// and take many frames in a row; elsewhere the generic ones do.
TEST_P(uplink, frames_of_8_to_64_users_have_the_same_bits) {
  const auto reference = wb::testing::open_reference();
  struct shape {
    std::size_t antennas, users, symbols, frames;
  };
  for (const shape& s : std::vector<shape>{
           {128, 16, 1, 20},   {16, 16, 1, 3000}, {34, 16, 20, 9},  {128, 16, 14, 9}, {16, 16, 6, 1200},
           {34, 16, 20, 300},  // blocks of one frame and of more
           {128, 16, 14, 300}, {64, 32, 1, 20},   {32, 32, 1, 600}, {36, 32, 1, 9},   {36, 32, 10, 9},
           {18, 16, 10, 9},    {100, 32, 9, 9},   {256, 32, 14, 9}, {256, 32, 1, 9},  {32, 32, 14, 300},
           {128, 16, 2, 9},    {50, 16, 15, 9},   {66, 32, 2, 9},   {40, 32, 29, 9},  {128, 8, 1, 20},
           {34, 8, 20, 9},     {26, 24, 3, 9},    {40, 24, 15, 9},  {64, 64, 1, 9},   {100, 64, 15, 9},
           {300, 64, 2, 9},    {64, 64, 33, 300}}) {
    if (s.frames > 20 && !on_cuda()) continue;  // many are for a device
    const massive_batch b = wb::testing::ugly_frames(s.antennas, s.users, s.symbols, s.frames);
    for (const massive_solver solver :
         {massive_solver::cholesky, massive_solver::cg, massive_solver::zf, massive_solver::mf}) {
      const bool few = s.frames > 20 || !on_cuda();  // a CPU has one way for all
      if (few && solver != massive_solver::cholesky && solver != massive_solver::cg) continue;
      SCOPED_TRACE(std::to_string(s.antennas) + "x" + std::to_string(s.users) + ", symbols " +
                   std::to_string(s.symbols) + " " + name_of(solver));
      for (const int qam : {4, 16, 64, 256}) {
        if (qam != 16 && (few || solver != massive_solver::cholesky || wb::testing::small_scale())) continue;
        uplink_config c = setting(s.antennas, s.users, solver, is_iterative(solver) ? 4 : 0, qam);
        const massive_result want = detect(*reference, c, b);
        EXPECT_GE(wb::count_erased(want.status), 4U);
        EXPECT_TRUE(detect(exec(), c, b) == want) << qam;
        if (solver == massive_solver::cg) {
          uplink_config early = c;
          early.residual = 0.2f;
          EXPECT_TRUE(detect(exec(), early, b) == detect(*reference, early, b)) << qam;
        }
        if (solver == massive_solver::cholesky || solver == massive_solver::cg) {
          const massive_result narrow =
              detect(*reference, c, in_halves(b), layout::row_major, {.half = false, .llr8 = true});
          EXPECT_GE(wb::count_erased(narrow.status), 4U);
          EXPECT_TRUE(detect(exec(), c, b, layout::row_major, {.half = true, .llr8 = true}) == narrow) << qam;
        }
        if (s.frames > 20) continue;
        EXPECT_TRUE(detect(exec(), c, b, layout::batch_fastest) == want) << qam;
        use_approximation(c);
        EXPECT_TRUE(detect(exec(), c, b) == detect(*reference, c, b)) << qam;
      }
    }
  }
}

uplink_config in_split_f16(uplink_config c) {
  c.sums = massive_sums::split_f16;
  return c;
}

// As near to the oracle as float32.
TEST_P(uplink, split_f16_equals_the_oracle) {
  struct shape {
    std::size_t antennas, users, symbols, frames;
    float n0;
  };
  std::vector<shape> shapes{{128, 16, 1, 5, 0.05f},  {34, 16, 20, 3, 0.05f}, {18, 16, 1, 3, 0.2f},
                            {128, 16, 14, 3, 0.05f}, {48, 16, 7, 3, 0.1f},   {512, 16, 9, 2, 0.05f},
                            {64, 32, 1, 5, 0.1f},    {100, 32, 9, 3, 0.1f},  {256, 32, 14, 2, 0.05f},
                            {256, 32, 1, 5, 0.05f},  {66, 32, 2, 3, 0.1f},   {80, 32, 29, 2, 0.1f}};
  if (!on_cuda()) shapes.resize(2);  // as float32
  for (const shape& s : shapes) {
    const massive_batch b = random_frames(s.antennas, s.users, s.symbols, s.frames, s.n0);
    for (const massive_solver solver : {massive_solver::cholesky, massive_solver::mf}) {
      uplink_config c = in_split_f16(setting(b.antennas, b.users, solver));
      expect_oracle(exec(), c, b);
      use_approximation(c);
      expect_oracle(exec(), c, b);
    }
    expect_oracle(exec(), in_split_f16(setting(b.antennas, b.users, massive_solver::zf)), b, 1e-4);
    expect_oracle(exec(), in_split_f16(setting(b.antennas, b.users, massive_solver::cg, 4)), b, 1e-4);
    expect_oracle(exec(), in_split_f16(setting(b.antennas, b.users, massive_solver::cholesky)), in_halves(b),
                  2e-5, {.half = true});
  }
}

// Matched filters state G_uu^2 / sum |G_uj|^2 as their SINR where there is no noise to speak of, and G_uu /
// N0 as their approximate one: all entries of the Gram matrix, and its diagonal.
TEST_P(uplink, split_f16_has_a_gram_matrix_to_1e_6) {
  for (const std::size_t users : {16, 32})
    for (const std::size_t antennas : {32, 128, 256, 512}) {
      if (antennas > 32 && !on_cuda()) continue;
      massive_batch b = random_frames(antennas, users, 1, on_cuda() ? 40 : 4, 1.f);
      uplink_config c = in_split_f16(setting(antennas, users, massive_solver::mf));
      use_approximation(c);
      const massive_result diagonal = detect(exec(), c, b);
      std::fill(b.n0.begin(), b.n0.end(), 1e-30f);
      const massive_result rows =
          detect(exec(), in_split_f16(setting(antennas, users, massive_solver::mf)), b);
      double worst = 0, squares = 0;
      for (std::size_t f = 0; f < b.frames; f++)
        for (std::size_t u = 0; u < users; u++) {
          double gain = 0, others = 0;
          for (std::size_t j = 0; j < users; j++) {
            std::complex<double> g = 0;
            for (std::size_t r = 0; r < antennas; r++)
              g += std::conj(std::complex<double>(b.h[(f * antennas + r) * users + u])) *
                   std::complex<double>(b.h[(f * antennas + r) * users + j]);
            if (j == u)
              gain = g.real();
            else
              others += std::norm(g);
          }
          worst = std::max(worst, std::fabs(diagonal.sinr[f * users + u] / gain - 1));
          // What an error of the row, as a part of its norm, makes of the SINR.
          const double change = rows.sinr[f * users + u] * others / (gain * gain) - 1;
          squares += change * change * others / (gain * gain + others);
        }
      EXPECT_LT(worst, 1e-6) << antennas << "x" << users;
      EXPECT_LT(std::sqrt(squares / static_cast<double>(b.frames * users)), 1e-6) << antennas << "x" << users;
    }
}

// Whatever halves can have: columns and vectors are scaled by powers of two, which change no digits.
TEST_P(uplink, split_f16_does_not_depend_on_units) {
  for (const auto& [users, symbols] :
       {std::pair<std::size_t, std::size_t>{16, 1}, {16, 14}, {32, 1}, {32, 9}}) {
    const massive_batch b = random_frames(64, users, symbols, 5, 0.1f);
    const uplink_config c = in_split_f16(setting(b.antennas, b.users, massive_solver::cholesky));
    const massive_result want = detect(exec(), c, b);
    for (const float unit : {0x1p-16f, 0x1p-9f, 0x1p14f}) {
      massive_batch scaled = b;
      for (auto& z : scaled.h) z *= unit;
      for (auto& z : scaled.y) z *= unit;
      for (auto& n0 : scaled.n0) n0 *= unit * unit;
      EXPECT_TRUE(detect(exec(), c, scaled) == want)
          << users << " users, " << symbols << " symbols, " << unit;
    }
  }
}

TEST_P(uplink, split_f16_has_the_same_bits_for_any_batch_and_erases_what_float32_does) {
  const auto reference = wb::testing::open_reference();
  struct shape {
    std::size_t antennas, users, symbols, frames;
  };
  for (const shape& s : std::vector<shape>{{128, 16, 1, 20},
                                           {16, 16, 1, 3000},
                                           {34, 16, 20, 9},
                                           {16, 16, 6, 1200},
                                           {34, 16, 20, 300},
                                           {128, 16, 14, 300},
                                           {128, 16, 14, 9},
                                           {32, 32, 1, 600},
                                           {36, 32, 1, 9},
                                           {36, 32, 10, 9},
                                           {18, 16, 10, 9},
                                           {100, 32, 9, 9},
                                           {256, 32, 14, 9},
                                           {256, 32, 1, 9},
                                           {32, 32, 14, 300},
                                           {40, 32, 29, 9}}) {
    if (s.frames > 20 && !on_cuda()) continue;
    massive_batch b = wb::testing::ugly_frames(s.antennas, s.users, s.symbols, s.frames);
    const std::size_t entries = s.antennas * s.users;
    b.h[s.frames / 9 * 5 * entries + 1] = {0, 1e25f};
    for (const massive_solver solver : {massive_solver::cholesky, massive_solver::cg, massive_solver::mf}) {
      SCOPED_TRACE(std::to_string(s.antennas) + "x" + std::to_string(s.users) + ", symbols " +
                   std::to_string(s.symbols) + " " + name_of(solver));
      const uplink_config plain = setting(s.antennas, s.users, solver, is_iterative(solver) ? 4 : 0),
                          c = in_split_f16(plain);
      const massive_result float32 = detect(*reference, plain, b), split_f16 = detect(exec(), c, b);
      EXPECT_EQ(split_f16.status, float32.status);
      for (std::size_t i = 0; i < split_f16.llr.size(); i++)
        ASSERT_TRUE(std::isfinite(split_f16.llr[i])) << i;
      // Where the data lie in another way, and on a CPU, sums are float32.
      EXPECT_TRUE(detect(exec(), c, b, layout::batch_fastest) == float32);
      // Conjugate gradients of 32 users with few antennas are left to the generic kernel.
      const bool generic = solver == massive_solver::cg && s.users == 32 && s.antennas < 128;
      EXPECT_EQ(split_f16 == float32, generic || !on_cuda());
      if (!on_cuda()) continue;
      if (s.antennas % 4 == 0) {  // other halves are summed as float32
        const massive_batch narrow = in_halves(b);
        EXPECT_TRUE(detect(exec(), c, narrow, layout::row_major, {.half = true}) ==
                    detect(exec(), c, narrow));
      }
      for (const std::size_t frames : {std::size_t{1}, std::size_t{7}, s.frames - 1}) {
        massive_batch few = b;
        few.frames = frames;
        few.h.resize(frames * entries);
        few.y.resize(few.vectors() * s.antennas);
        few.n0.resize(frames);
        const massive_result got = detect(exec(), c, few);
        EXPECT_EQ(std::memcmp(got.llr.data(), split_f16.llr.data(), got.llr.size() * sizeof(float)), 0)
            << frames;
      }
      // Each frame is other warps' work where it stands elsewhere.
      massive_batch rotated = b;
      const std::size_t by = s.frames / 2;
      const auto rotate = [&](auto& values) {
        std::ranges::rotate(values,
                            values.begin() + static_cast<std::ptrdiff_t>(values.size() / s.frames * by));
      };
      rotate(rotated.h), rotate(rotated.y), rotate(rotated.n0);
      massive_result want = split_f16;
      rotate(want.llr);
      const massive_result got = detect(exec(), c, rotated);
      EXPECT_EQ(std::memcmp(got.llr.data(), want.llr.data(), got.llr.size() * sizeof(float)), 0);
    }
  }
}

TEST_P(uplink, halves_equal_the_oracle_of_what_they_hold) {
  const massive_formats half{.half = true};
  for (const massive_batch& full :
       {random_frames(12, 5, 2, 17, 0.2f), random_frames(40, 16, 5, 3, 0.05f, 2),
        random_frames(9, 1, 1, 2, 0.5f, 3), random_frames(131, 8, 1, 3, 0.1f, 4)}) {
    const massive_batch b = in_halves(full);
    for (const massive_solver solver : {massive_solver::cholesky, massive_solver::zf, massive_solver::mf})
      expect_oracle(exec(), setting(b.antennas, b.users, solver), b, 2e-5, half);
    expect_oracle(exec(), setting(b.antennas, b.users, massive_solver::cg, 4), b, 1e-4, half);
  }
}

// Sizes with and without the remainder that lanes, vector loads and runs of antennas leave; entries down to
// 2^-24, of which most are no normal halves.
TEST_P(uplink, halves_have_the_bits_of_complex64_that_holds_the_same) {
  const massive_formats half{.half = true};
  const auto reference = wb::testing::open_reference();
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  for (const auto& [antennas, users, symbols] : {std::tuple{std::size_t{33}, std::size_t{8}, std::size_t{1}},
                                                 {std::size_t{18}, std::size_t{16}, std::size_t{4}},
                                                 {std::size_t{7}, std::size_t{3}, std::size_t{2}},
                                                 {std::size_t{20}, std::size_t{4}, std::size_t{17}},
                                                 {std::size_t{20}, std::size_t{16}, std::size_t{1}},
                                                 {std::size_t{32}, std::size_t{16}, std::size_t{14}},
                                                 {std::size_t{64}, std::size_t{32}, std::size_t{1}}})
    for (const float factor : {1.f, 0x1p-15f}) {
      massive_batch b = random_frames(antennas, users, symbols, 34, 0.2f * factor * factor);
      for (wb::testing::samples* v : {&b.h, &b.y})
        for (auto& z : *v) z *= factor;
      b.h[3 * antennas * users + 2] = {nan, 0};
      b.h[5 * antennas * users] = {0, -infinity};
      b.y[6 * symbols * antennas + 3] = {nan, 0};
      b.y[7 * symbols * antennas + 1] = {0, 65519.f * 1.01f};  // beyond the halves: infinite
      b = in_halves(b);
      ASSERT_TRUE(std::isinf(b.y[7 * symbols * antennas + 1].imag()));
      for (const massive_solver solver : {massive_solver::cholesky, massive_solver::cg, massive_solver::mf}) {
        SCOPED_TRACE(std::to_string(antennas) + "x" + std::to_string(users) + " " + name_of(solver));
        const uplink_config c = setting(antennas, users, solver, is_iterative(solver) ? 4 : 0);
        const massive_result want = detect(*reference, c, b);
        EXPECT_EQ(wb::count_erased(want.status), 2 * symbols + 2);
        EXPECT_TRUE(detect(exec(), c, b, layout::row_major, half) == want) << factor;
        EXPECT_TRUE(detect(exec(), c, b, layout::batch_fastest, half) == want) << factor;
      }
    }
}

TEST_P(uplink, llrs_in_steps_are_the_nearest_ones) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [users, qam] : {std::tuple{std::size_t{5}, 4},
                                   {std::size_t{4}, 16},
                                   {std::size_t{3}, 64},
                                   {std::size_t{9}, 64},
                                   {std::size_t{8}, 256}}) {
    massive_batch b = random_frames(12, users, 3, 21, 2.f);
    b.h[2 * 12 * users] = {nan, 0};
    for (const float steps : {0.25f, 3.f, 8.f, 64.f})
      for (const layout order : {layout::row_major, layout::batch_fastest}) {
        SCOPED_TRACE(std::to_string(users) + " users, " + std::to_string(qam) + "-QAM, steps " +
                     std::to_string(steps));
        uplink_config c = setting(12, users, massive_solver::cholesky, 0, qam);
        c.llr_steps = steps;
        const massive_result got = detect(exec(), c, b, order, {.half = false, .llr8 = true});
        ASSERT_EQ(got.llr8.size(), got.llr.size());
        std::size_t limited = 0, different = 0;
        for (std::size_t i = 0; i < got.llr.size(); i++) {
          const float x = std::nearbyint(std::clamp(got.llr[i] * steps, -127.f, 127.f));
          limited += std::fabs(x) > 126.5f;
          different += got.llr8[i] != static_cast<std::int8_t>(x);
        }
        EXPECT_EQ(different, 0U);
        if (steps > 60) {
          EXPECT_GT(limited, 0U);
        }
        EXPECT_EQ(wb::count_erased(got.status), 3U);
      }
  }
  // Alone, without the others.
  const massive_batch b = random_frames(12, 5, 2, 19, 0.5f);
  const uplink_config c = setting(12, 5, massive_solver::cholesky);
  const massive_result want = detect(exec(), c, b, layout::row_major, {.half = false, .llr8 = true});
  const auto h = wb::testing::on_device(exec(), b.h, 19, 60), y = wb::testing::on_device(exec(), b.y, 38, 12);
  const auto n0 = wb::testing::on_device(exec(), b.n0, 19, 1);
  auto llr8 = exec().make<std::int8_t>(38, 20);
  uplink_detector(c).run(exec(), uplink_input{.channel = h, .received = y, .noise_var = n0, .symbols = 2},
                         {.llr = {}, .llr_int8 = llr8, .equalized = {}, .sinr = {}, .status = {}});
  EXPECT_EQ(exec().to_host(llr8), want.llr8);
}

TEST_P(uplink, stated_sinr_is_the_measured_one) {
  const std::size_t vectors = wb::testing::small_scale() ? 400 : 4000;
  const massive_batch b = random_frames(12, 6, vectors, 1, 1.f);
  for (const massive_solver solver : {massive_solver::cholesky, massive_solver::zf, massive_solver::mf}) {
    const massive_result got = detect(exec(), setting(12, 6, solver, 0, 4), b);
    for (std::size_t u = 0; u < 6; u++) {
      double error = 0;
      for (std::size_t i = 0; i < vectors; i++) error += std::norm(got.x[i * 6 + u] - b.s[i * 6 + u]);
      EXPECT_NEAR(got.sinr[u] * error / static_cast<double>(vectors), 1,
                  5 / std::sqrt(static_cast<double>(vectors)))
          << name_of(solver) << " user " << u;
    }
  }
}

TEST_P(uplink, zero_forcing_without_noise_gives_what_was_sent) {
  massive_batch b = random_frames(10, 4, 2, 3, 0.1f);
  const uplink_config c = setting(10, 4, massive_solver::zf);
  const massive_result want = detect(exec(), c, b);
  b.n0.assign(3, 1e-30f);
  const massive_result got = detect(exec(), c, b);
  EXPECT_EQ(wb::count_erased(got.status), 0U);
  for (const float llr : got.llr) ASSERT_TRUE(std::isfinite(llr));
  for (std::size_t i = 0; i < got.x.size(); i++) {
    EXPECT_LT(std::abs(got.x[i] - want.x[i]), 1e-5f);
    EXPECT_GT(got.sinr[i], 1e28f);
  }
}

// Which calls those are: the table of mapping.hpp, and what their data must be like.
TEST(uplink_mapping, kernels_of_their_own_take_what_the_table_lists) {
  constexpr std::size_t h100 = 232448, a100 = 166912;
  alignas(16) static const wb::cx_pair data[4] = {};
  alignas(16) static float wanted[4] = {};
  const auto call = [](int antennas, int users, int symbols, massive_solver solver) {
    wb::massive_args a;
    a.antennas = antennas, a.users = users, a.symbols = symbols, a.solver = solver;
    const std::size_t b = static_cast<std::size_t>(antennas), u = static_cast<std::size_t>(users);
    a.channel = {data, b * u, 100, 1, b * u};
    a.in = {data, b, 100, 1, b};
    a.llr = {wanted, 4 * u, 100, 1, 4 * u};
    return a;
  };
  for (const int symbols : {1, 2, 14, 15, 20, 28})
    for (const massive_solver solver : {massive_solver::cholesky, massive_solver::zf, massive_solver::mf})
      for (const auto& [antennas, users] :
           {std::pair{128, 16}, {16, 16}, {256, 16}, {256, 32}, {32, 32}, {128, 32}})
        EXPECT_TRUE(wb::takes_frames(call(antennas, users, symbols, solver), h100))
            << antennas << "x" << users << " " << symbols << " " << name_of(solver);
  const auto cg = massive_solver::cg, cholesky = massive_solver::cholesky;
  for (const auto& [antennas, users, symbols, solver, taken] :
       {std::tuple{128, 16, 1, cg, true},
        {128, 16, 14, cg, true},
        {128, 16, 20, cg, true},
        {128, 16, 5, cg, true},
        {128, 16, 15, cg, true},
        {18, 16, 128, cg, true},
        {128, 32, 2, cg, true},
        {128, 32, 128, cg, true},
        {256, 32, 1, cg, true},
        {256, 32, 14, cg, true},
        {128, 32, 1, cg, true},
        {64, 32, 1, cg, false},
        {64, 32, 16, cg, false},
        {128, 16, 1, massive_solver::jacobi_cg, true},
        {128, 16, 5, massive_solver::jacobi_cg, true},
        {128, 16, 1, massive_solver::neumann, false},
        {128, 16, 14, massive_solver::gauss_seidel, false},
        {256, 32, 1, massive_solver::chebyshev, false},
        {128, 8, 1, cholesky, true},
        {128, 8, 5, cg, true},
        {128, 24, 14, cholesky, true},
        {128, 12, 1, cholesky, false},
        {129, 16, 1, cholesky, false},
        {512, 64, 1, cholesky, false},
        {512, 32, 14, cholesky, true}})
    EXPECT_EQ(wb::takes_frames(call(antennas, users, symbols, solver), h100), taken)
        << antennas << "x" << users << " " << symbols << " " << name_of(solver);
  // Those of 64 users ask how data lie, and for the solver with that.
  for (const massive_solver solver : splittings)
    EXPECT_FALSE(wb::detects_in_pieces(call(512, 64, 1, solver))) << name_of(solver);
  EXPECT_TRUE(wb::detects_in_pieces(call(512, 64, 1, cg)));
  // Shared memory of the device.
  EXPECT_TRUE(wb::takes_frames(call(256, 32, 14, cholesky), a100));
  EXPECT_FALSE(wb::takes_frames(call(512, 32, 1, cholesky), 65536));
  // How the data lie.
  const auto refuses = [&](auto change) {
    wb::massive_args a = call(128, 16, 14, cholesky);
    change(a);
    return !wb::takes_frames(a, h100);
  };
  EXPECT_FALSE(refuses([](wb::massive_args&) {}));
  EXPECT_FALSE(refuses([](wb::massive_args& a) { a.llr = {}; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.channel.element_stride = 100; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.channel.item_stride = 2049; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.channel.data = data + 1; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.in.element_stride = 1400; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.in.item_stride = 129; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.in.data = data + 1; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.llr.element_stride = 1400; }));
  EXPECT_TRUE(refuses([](wb::massive_args& a) { a.llr.data = wanted + 1; }));
  // Halves.
  alignas(16) static const wb::half_complex halves[4] = {};
  const auto narrow = [](wb::massive_args& a) {
    a.half_channel = {halves, a.channel.elements, 100, 1, a.channel.item_stride};
    a.half_in = {halves, a.in.elements, 100, 1, a.in.item_stride};
    a.channel = {}, a.in = {}, a.llr = {};
  };
  EXPECT_FALSE(refuses(narrow));
  for (const int change : {0, 1, 2, 3})
    EXPECT_TRUE(refuses([&](wb::massive_args& a) {
      narrow(a);
      if (change == 0) a.half_channel.data = halves + 2;
      if (change == 1) a.half_in.item_stride = 130;
      if (change == 2) a.half_in.element_stride = 1400;
      if (change == 3) a.antennas = 126;
    })) << change;
}

// A decomposition costs 4/3 U^3 operations once, and I iterations 4 U^2 (I - 1) more for each vector than a
// substitution (docs/li-thesis.md).
TEST(uplink_arguments, conjugate_gradients_need_fewer_operations_for_few_vectors_only) {
  for (const auto& [antennas, users, iterations, max_vectors] :
       {std::tuple{128, 16, 3, 2}, {128, 16, 2, 4}, {256, 32, 4, 3}, {128, 32, 5, 2}, {512, 64, 5, 5}}) {
    SCOPED_TRACE(std::to_string(antennas) + "x" + std::to_string(users) + ", iterations " +
                 std::to_string(iterations));
    uplink_config cholesky = setting(as_size(antennas), as_size(users), massive_solver::cholesky);
    use_approximation(cholesky);
    const uplink_config cg = setting(as_size(antennas), as_size(users), massive_solver::cg, iterations);
    for (int symbols = 1; symbols <= 40; symbols++)
      EXPECT_EQ(wb::uplink_detector(cg).flops(symbols) < wb::uplink_detector(cholesky).flops(symbols),
                symbols <= max_vectors)
          << symbols;
  }
}

TEST(uplink_arguments, operations_are_those_of_the_leading_terms) {
  wb::uplink_config c;
  c.antennas = 512, c.users = 64;
  const double b = 512, u = 64, cholesky = wb::uplink_detector(c).flops(14);
  EXPECT_NEAR(cholesky, 2 * b * u * (u + 4) + 14 * 4 * b * u + u * u * u * 4 / 3 + 14 * 4 * u * u,
              0.06 * cholesky);
  c.solver = wb::massive_solver::cg, c.iterations = 5, c.sinr = wb::massive_sinr::approximate;
  const double five = wb::uplink_detector(c).flops(1);
  c.iterations = 6;
  EXPECT_NEAR(wb::uplink_detector(c).flops(1) - five, 4 * u * u + 10 * u, 20);
  const auto of_an_iteration = [&](massive_solver solver) {
    c.solver = solver, c.iterations = 5;
    const double before = wb::uplink_detector(c).flops(1);
    c.iterations = 6;
    return wb::uplink_detector(c).flops(1) - before;
  };
  EXPECT_NEAR(of_an_iteration(massive_solver::neumann), 4 * u * u + 8 * u, 1e-6);
  EXPECT_NEAR(of_an_iteration(massive_solver::gauss_seidel), 4 * u * u - 2 * u, 1e-6);
  EXPECT_NEAR(of_an_iteration(massive_solver::chebyshev), 4 * u * u + 12 * u, 20);
  c.solver = massive_solver::cg;
  EXPECT_EQ(blamed([&] { wb::uplink_detector(c).flops(0); }), "symbols");
}

TEST(uplink_arguments, halves_cost_little) {
  // Rounding to 11 bits adds an error to each of B entries of H and of y: -72 dB of what is received, far
  // below any noise that leaves something to detect.
  const massive_batch b = random_frames(128, 16, 14, 4, 0.01f);
  const auto exec = wb::testing::open_scalar();
  const uplink_config c = setting(128, 16, massive_solver::cholesky);
  const massive_result full = detect(*exec, c, b),
                       half = detect(*exec, c, b, layout::row_major, {.half = true});
  const double lost = wb::testing::relative_error(half.x, full.x);
  EXPECT_GT(lost, 1e-5);
  EXPECT_LT(lost, 4e-4);
}

TEST(uplink_arguments, bad_ones_are_named) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto blames = [](auto change) {
    uplink_config c;
    change(c);
    return blamed([&] { check(c); }, [&] { uplink_detector detector(c); });
  };
  EXPECT_EQ(blames([](uplink_config&) {}), "");
  EXPECT_EQ(blames([](uplink_config& c) { c.users = 0; }), "users");
  EXPECT_EQ(blames([](uplink_config& c) { c.users = 65; }), "users");
  EXPECT_EQ(blames([](uplink_config& c) { c.antennas = 15; }), "antennas");  // fewer than users
  EXPECT_EQ(blames([](uplink_config& c) { c.antennas = 513; }), "antennas");
  for (const int bad : {2, 8, 5, 1024}) EXPECT_NE(blames([&](uplink_config& c) { c.qam = bad; }), "") << bad;
  EXPECT_EQ(blames([](uplink_config& c) { c.iterations = 3; }), "iterations");
  EXPECT_EQ(blames([](uplink_config& c) { c.solver = massive_solver::cg; }), "iterations");
  EXPECT_EQ(blames([](uplink_config& c) { c.solver = massive_solver::cg, c.iterations = 65; }), "iterations");
  EXPECT_EQ(blames([](uplink_config& c) { c.solver = massive_solver::cg, c.iterations = 3; }), "sinr");
  for (const massive_solver solver : splittings) {
    EXPECT_EQ(blames([&](uplink_config& c) { c = setting(16, 4, solver); }), "iterations") << name_of(solver);
    EXPECT_EQ(blames([&](uplink_config& c) { c = setting(16, 4, solver, 65); }), "iterations");
    EXPECT_EQ(blames([&](uplink_config& c) { c = stopping(16, 4, solver, 0.1f); }), "residual");
    EXPECT_EQ(blames([&](uplink_config& c) { c.solver = solver, c.iterations = 3; }), "sinr");
    EXPECT_EQ(blames([&](uplink_config& c) { c = setting(16, 4, solver, 3); }), "");
  }
  EXPECT_EQ(blames([](uplink_config& c) { c.residual = 0.1f; }), "residual");  // cholesky has none
  for (const float bad : {0.f, -1.f, nan, 1e-8f, 1.f})
    EXPECT_EQ(blames([&](uplink_config& c) { c = stopping(16, 4, massive_solver::cg, bad); }), "residual")
        << bad;
  EXPECT_EQ(blames([](uplink_config& c) { c.solver = static_cast<massive_solver>(9); }), "solver");
  EXPECT_EQ(blames([](uplink_config& c) { c.sinr = static_cast<massive_sinr>(9); }), "sinr");
  EXPECT_EQ(blames([](uplink_config& c) { c.sums = static_cast<massive_sums>(9); }), "sums");
  for (const float bad : {0.f, -1.f, nan, 2e6f})
    EXPECT_EQ(blames([&](uplink_config& c) { c.llr_clip = bad; }), "llr_clip") << bad;
  for (const float bad : {0.2f, 65.f, nan})
    EXPECT_EQ(blames([&](uplink_config& c) { c.llr_steps = bad; }), "llr_steps") << bad;
  try {
    uplink_detector({.antennas = 8, .users = 16});
    FAIL();
  } catch (const argument_error& e) {
    EXPECT_STREQ(e.what(), "antennas = 8 is not allowed: expected 16 to 512");
  }

  const auto exec = wb::testing::open_scalar();
  auto h = exec->make<std::complex<float>>(3, 8), y = exec->make<std::complex<float>>(6, 4);
  auto n0 = exec->make<float>(3, 1), llr = exec->make<float>(6, 8);
  for (const int symbols : {0, 3}) {
    const uplink_input in{.channel = h, .received = y, .noise_var = n0, .symbols = symbols};
    EXPECT_EQ(blamed([&] { uplink_detector({.antennas = 4, .users = 2}).run(*exec, in, {.llr = llr}); }),
              symbols == 0 ? "symbols" : "received");
  }
}

}  // namespace uplink_test
