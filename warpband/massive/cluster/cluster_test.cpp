// Antennas in clusters: against the central detector and precoder, textbook formulas in double precision,
// equality across backends, and bad input.
#include <gtest/gtest.h>

#include <cmath>

#include <tests/massive.hpp>
#include <warpband/massive/cluster/cluster.hpp>

namespace cluster_test {

using namespace wb;
using wb::testing::blamed;
using wb::testing::massive_batch;
using wb::testing::massive_result;
using wb::testing::random_frames;
using wb::testing::relative_error;
using wb::testing::samples;

clustered_uplink_config uplink_setting(const massive_batch& b, massive_solver solver, int clusters,
                                       massive_cluster_method method = massive_cluster_method::exact,
                                       int iterations = 0) {
  clustered_uplink_config c;
  c.detector.antennas = static_cast<int>(b.antennas), c.detector.users = static_cast<int>(b.users);
  c.detector.solver = solver;
  if (iterations != 0) c.detector.iterations = iterations;
  if (is_iterative(solver)) c.detector.sinr = massive_sinr::approximate;
  c.clusters = clusters, c.cluster_method = method;
  return c;
}
clustered_downlink_config downlink_setting(const massive_batch& b, massive_solver solver, int clusters,
                                           massive_cluster_method method = massive_cluster_method::exact,
                                           int iterations = 0) {
  clustered_downlink_config c;
  c.precoder.antennas = static_cast<int>(b.antennas), c.precoder.users = static_cast<int>(b.users);
  c.precoder.solver = solver;
  if (iterations != 0) c.precoder.iterations = iterations;
  c.clusters = clusters, c.cluster_method = method;
  return c;
}

massive_result detect(executor& exec, const clustered_uplink_config& c, const massive_batch& b,
                      layout order = layout::row_major, bool half = false) {
  return wb::testing::detect_by(exec, clustered_uplink_detector(c), b, order, {.half = half, .llr8 = true});
}
massive_result precode(executor& exec, const clustered_downlink_config& c, const massive_batch& b,
                       bool half = false) {
  return wb::testing::precode_by(exec, clustered_downlink_precoder(c), b, layout::row_major, half);
}
massive_result central(executor& exec, const uplink_config& c, const massive_batch& b) {
  return wb::testing::detect(exec, c, b, layout::row_major, {.half = false, .llr8 = true});
}

class cluster : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(cluster);

TEST_P(cluster, one_cluster_has_the_central_bits) {
  for (const massive_batch& b :
       {wb::testing::ugly_frames(40, 16, 3, 19), wb::testing::ugly_frames(21, 7, 1, 20),
        wb::testing::ugly_frames(260, 32, 1, 9), random_frames(24, 5, 18, 3, 0.1f)}) {
    for (const massive_solver solver : {massive_solver::cholesky, massive_solver::zf, massive_solver::mf,
                                        massive_solver::cg, massive_solver::jacobi_cg}) {
      SCOPED_TRACE(std::to_string(b.antennas) + "x" + std::to_string(b.users) + " " + name_of(solver));
      const int iterations = is_iterative(solver) ? 3 : 0;
      const auto up = uplink_setting(b, solver, 1, massive_cluster_method::exact, iterations);
      EXPECT_TRUE(detect(exec(), up, b) == central(exec(), up.detector, b));
      const auto down = downlink_setting(b, solver, 1, massive_cluster_method::exact, iterations);
      EXPECT_TRUE(precode(exec(), down, b) == wb::testing::precode(exec(), down.precoder, b));
    }
    const auto up = uplink_setting(b, massive_solver::cholesky, 1, massive_cluster_method::local_mmse);
    EXPECT_TRUE(detect(exec(), up, b) == central(exec(), up.detector, b));
    const auto down = downlink_setting(b, massive_solver::cholesky, 1, massive_cluster_method::local_mmse);
    EXPECT_TRUE(precode(exec(), down, b) == wb::testing::precode(exec(), down.precoder, b));
  }
}

TEST_P(cluster, exact_sums_equal_the_central_detector_and_precoder) {
  for (const std::size_t users : {16, 32})
    for (const std::size_t symbols : {1, 5}) {
      const massive_batch b = random_frames(256, users, symbols, 5, 0.05f);
      const auto up = uplink_setting(b, massive_solver::cholesky, 1);
      const massive_result want = central(exec(), up.detector, b);
      const auto down = downlink_setting(b, massive_solver::cholesky, 1);
      const massive_result sent = wb::testing::precode(exec(), down.precoder, b);
      for (const int clusters : {2, 4, 8}) {
        SCOPED_TRACE(std::to_string(users) + " users, clusters " + std::to_string(clusters));
        const massive_result got = detect(exec(), uplink_setting(b, massive_solver::cholesky, clusters), b);
        EXPECT_LT(relative_error(got.x, want.x), 2e-6);
        EXPECT_LT(relative_error(got.sinr, want.sinr), 2e-6);
        EXPECT_LT(relative_error(got.llr, want.llr), 2e-5);
        EXPECT_EQ(count_erased(got.status), 0U);
        const massive_result precoded =
            precode(exec(), downlink_setting(b, massive_solver::cholesky, clusters), b);
        EXPECT_LT(relative_error(precoded.x, sent.x), 2e-6);
      }
    }
}

TEST_P(cluster, exact_sums_equal_the_oracle_for_every_solver) {
  const massive_batch b = random_frames(36, 12, 2, 4, 0.1f);
  for (const massive_solver solver : {massive_solver::cholesky, massive_solver::zf, massive_solver::mf,
                                      massive_solver::cg, massive_solver::jacobi_cg, massive_solver::neumann,
                                      massive_solver::gauss_seidel, massive_solver::chebyshev})
    for (const int clusters : {3, 6, 36}) {
      SCOPED_TRACE(std::string(name_of(solver)) + " " + std::to_string(clusters));
      const auto c =
          uplink_setting(b, solver, clusters, massive_cluster_method::exact, is_iterative(solver) ? 4 : 0);
      const massive_result got = detect(exec(), c, b);
      for (std::size_t v = 0; v < b.vectors(); v++) {
        const auto want = oracle::detect_massive(
            b.channel(v / 2), b.received(v), 0.1f, 16, wb::testing::rule_of(solver),
            wb::testing::solver_of(solver, c.detector.iterations), is_iterative(solver));
        const samples x(&got.x[v * 12], &got.x[v * 12] + 12);
        ASSERT_LT(relative_error(x, want.symbols), 1e-4);
        for (std::size_t u = 0; u < 12; u++) ASSERT_NEAR(got.sinr[v * 12 + u] / want.sinr[u], 1, 1e-4);
      }
    }
}

/// More than a detector takes: 512 in each cluster, and with less the largest frames of the settings.
TEST_P(cluster, arrays_of_1024_antennas_equal_the_oracle) {
  for (const auto& [users, clusters, symbols] :
       {std::tuple{std::size_t{3}, 2, std::size_t{1}}, {std::size_t{64}, 8, std::size_t{2}}}) {
    const massive_batch b = random_frames(1024, users, symbols, users == 64 ? 1 : 3, 0.1f);
    const massive_result exact = detect(exec(), uplink_setting(b, massive_solver::cholesky, clusters), b),
                         alone = detect(exec(),
                                        uplink_setting(b, massive_solver::cholesky, clusters,
                                                       massive_cluster_method::local_mmse),
                                        b),
                         cg = detect(
                             exec(),
                             uplink_setting(b, massive_solver::cg, clusters, massive_cluster_method::cg, 8),
                             b);
    for (std::size_t v = 0; v < b.vectors(); v++) {
      const auto h = b.channel(v / symbols);
      const auto want =
          oracle::detect_massive(h, b.received(v), 0.1f, 16, oracle::massive_rule::mmse, {}, false);
      const auto of_clusters = oracle::detect_clusters(h, b.received(v), 0.1f, 16, clusters);
      const auto x_of = [&](const massive_result& r) {
        return samples(&r.x[v * users], &r.x[v * users] + users);
      };
      EXPECT_LT(relative_error(x_of(exact), want.symbols), 2e-5);
      EXPECT_LT(relative_error(x_of(alone), of_clusters.symbols), 2e-5);
      EXPECT_LT(relative_error(x_of(cg), want.symbols), 1e-4);
    }
  }
}

TEST_P(cluster, local_detectors_equal_the_oracle) {
  for (const auto& [antennas, users, clusters] : {std::tuple{std::size_t{24}, std::size_t{4}, 3},
                                                  {std::size_t{64}, std::size_t{16}, 4},
                                                  {std::size_t{64}, std::size_t{8}, 8},
                                                  {std::size_t{256}, std::size_t{32}, 8}}) {
    const massive_batch b = random_frames(antennas, users, 3, 2, 0.1f);
    const auto c = uplink_setting(b, massive_solver::cholesky, clusters, massive_cluster_method::local_mmse);
    const massive_result got = detect(exec(), c, b);
    const std::size_t bits = 4 * users;
    for (std::size_t v = 0; v < b.vectors(); v++) {
      const auto want = oracle::detect_clusters(b.channel(v / 3), b.received(v), 0.1f, 16, clusters);
      const samples x(&got.x[v * users], &got.x[v * users] + users);
      ASSERT_LT(relative_error(x, want.symbols), 2e-5);
      for (std::size_t u = 0; u < users; u++)
        ASSERT_NEAR(got.sinr[v * users + u] / want.sinr[u], 1, 1e-4) << u;
      for (std::size_t i = 0; i < bits; i++)
        ASSERT_NEAR(got.llr[v * bits + i], want.llr[i],
                    1e-4 * (std::abs(want.llr[i]) + want.sinr[i / 4]) + 1e-5);
      ASSERT_EQ(got.status[v], 0);
    }
  }
}

/// Any number of clusters does the same iterations.
TEST_P(cluster, decentralised_cg_equals_the_oracle) {
  for (const std::size_t users : {7, 32})
    for (const int iterations : {1, 3, 6}) {
      const massive_batch b = random_frames(8 * users, users, 2, 3, 0.05f);
      for (const int clusters : {1, 2, 8}) {
        const auto c =
            uplink_setting(b, massive_solver::cg, clusters, massive_cluster_method::cg, iterations);
        const massive_result got = detect(exec(), c, b);
        for (std::size_t v = 0; v < b.vectors(); v++) {
          const auto want = oracle::detect_massive(b.channel(v / 2), b.received(v), 0.05f, 16,
                                                   oracle::massive_rule::mmse, {iterations, false}, true);
          const samples x(&got.x[v * users], &got.x[v * users] + users);
          ASSERT_LT(relative_error(x, want.symbols), 1e-4) << clusters;
          for (std::size_t u = 0; u < users; u++)
            ASSERT_NEAR(got.sinr[v * users + u] / want.sinr[u], 1, 1e-4);
        }
        const auto down =
            downlink_setting(b, massive_solver::cg, clusters, massive_cluster_method::cg, iterations);
        EXPECT_LT(
            relative_error(precode(exec(), down, b).x, wb::testing::precode(exec(), down.precoder, b).x),
            1e-5);
      }
    }
}

TEST_P(cluster, iterations_stop_at_the_residual_as_the_oracle_does) {
  const massive_batch b = random_frames(64, 16, 2, 4, 0.05f);
  for (const auto method : {massive_cluster_method::exact, massive_cluster_method::cg})
    for (const float residual : {0.5f, 0.1f, 0.01f}) {
      auto c = uplink_setting(b, massive_solver::cg, 4, method, 16);
      c.detector.residual = residual;
      const massive_result got = detect(exec(), c, b);
      for (std::size_t v = 0; v < b.vectors(); v++) {
        const auto want =
            oracle::detect_massive(b.channel(v / 2), b.received(v), 0.05f, 16, oracle::massive_rule::mmse,
                                   wb::testing::solver_of(massive_solver::cg, 16, residual), true);
        const samples x(&got.x[v * 16], &got.x[v * 16] + 16);
        ASSERT_LT(relative_error(x, want.symbols), 1e-4) << residual;
      }
    }
}

TEST_P(cluster, more_iterations_than_are_needed_change_nothing) {
  const massive_batch b = random_frames(64, 8, 1, 3, 0.1f);
  const auto exact = uplink_setting(b, massive_solver::cholesky, 4);
  const auto cg = uplink_setting(b, massive_solver::cg, 4, massive_cluster_method::cg, 40);
  auto approximate = exact;
  approximate.detector.sinr = massive_sinr::approximate;
  EXPECT_LT(relative_error(detect(exec(), cg, b).x, detect(exec(), approximate, b).x), 1e-5);
}

/// Each cluster sends what a precoder of its antennas would, with 1 / C of the power.
TEST_P(cluster, local_precoders_share_the_power) {
  const massive_batch b = random_frames(48, 6, 3, 4, 0.2f);
  for (const int clusters : {2, 4, 8}) {
    const auto c =
        downlink_setting(b, massive_solver::cholesky, clusters, massive_cluster_method::local_mmse);
    const massive_result got = precode(exec(), c, b);
    const std::size_t rows = 48 / static_cast<std::size_t>(clusters);
    for (std::size_t v = 0; v < b.vectors(); v++)
      for (std::size_t first = 0; first < 48; first += rows) {
        const oracle::matrix channel = b.channel(v / 3);
        oracle::matrix h(static_cast<int>(rows), 6);
        for (std::size_t i = 0; i < rows * 6; i++) h.entries[i] = channel.entries[first * 6 + i];
        const oracle::matrix m =
            oracle::precode_massive(h, b.sent(v), 0.2f, 1.0 / 6, oracle::massive_rule::mmse, {});
        double energy = 0;
        for (const auto& z : m.entries) energy += std::norm(z);
        for (std::size_t i = 0; i < rows; i++)
          ASSERT_LT(std::abs(std::complex<double>(got.x[v * 48 + first + i]) -
                             m.entries[i] / std::sqrt(energy * clusters)),
                    1e-5);
      }
  }
}

/// Of clusters with and without kernels of their own, and with antennas that are no multiple of four.
TEST_P(cluster, halves_have_the_bits_of_complex64_that_holds_the_same) {
  for (const auto& [full, clusters] : {std::pair{wb::testing::ugly_frames(64, 16, 2, 19), 4},
                                       {wb::testing::ugly_frames(72, 16, 1, 11), 4},
                                       {wb::testing::ugly_frames(128, 32, 15, 9), 2},
                                       {wb::testing::ugly_frames(42, 5, 1, 36), 3}}) {
    const massive_batch b = wb::testing::in_halves(full);
    for (const auto& [solver, method, iterations] :
         {std::tuple{massive_solver::cholesky, massive_cluster_method::exact, 0},
          {massive_solver::zf, massive_cluster_method::exact, 0},
          {massive_solver::mf, massive_cluster_method::exact, 0},
          {massive_solver::cholesky, massive_cluster_method::local_mmse, 0},
          {massive_solver::cg, massive_cluster_method::cg, 3}}) {
      SCOPED_TRACE(std::to_string(b.antennas) + "x" + std::to_string(b.users) + " " + name_of(method));
      const auto c = uplink_setting(b, solver, clusters, method, iterations);
      const massive_result want = detect(exec(), c, b);
      EXPECT_TRUE(detect(exec(), c, b, layout::row_major, true) == want);
      EXPECT_TRUE(detect(exec(), c, b, layout::batch_fastest, true) == want);
      const auto down = downlink_setting(b, solver, clusters, method, iterations);
      EXPECT_TRUE(precode(exec(), down, b, true) == precode(exec(), down, b));
    }
  }
}

TEST(cluster_input, no_symbols_are_refused) {
  const auto exec = wb::testing::open_scalar();
  auto h = exec->make<std::complex<float>>(3, 8), y = exec->make<std::complex<float>>(6, 4);
  auto n0 = exec->make<float>(3, 1), llr = exec->make<float>(6, 8);
  const clustered_uplink_detector detector({.detector = {.antennas = 4, .users = 2}, .clusters = 2});
  const uplink_input in{.channel = h, .received = y, .noise_var = n0, .symbols = 0};
  EXPECT_EQ(blamed([&] { detector.run(*exec, in, {.llr = llr}); }), "symbols");
}

TEST(cluster_input, bad_settings_are_refused) {
  const auto blames = [](auto change) {
    clustered_uplink_config c{.detector = {.antennas = 64, .users = 8}, .clusters = 4};
    change(c);
    return blamed([&] { check(c); }, [&] { clustered_uplink_detector d(c); });
  };
  EXPECT_EQ(blames([](auto&) {}), "");
  for (const int bad : {0, 3, 65, -4, 128}) EXPECT_EQ(blames([&](auto& c) { c.clusters = bad; }), "clusters");
  EXPECT_EQ(blames([](auto& c) { c.cluster_method = static_cast<massive_cluster_method>(7); }),
            "cluster_method");
  EXPECT_EQ(blames([](auto& c) { c.detector.users = 65; }), "users");
  EXPECT_EQ(blames([](auto& c) { c.detector.antennas = 2048; }), "");
  EXPECT_EQ(blames([](auto& c) { c.detector.antennas = 2052; }), "antennas");
  EXPECT_EQ(blames([](auto& c) { c.detector.antennas = 4; }), "antennas");
  EXPECT_EQ(blames([](auto& c) { c.detector.sums = massive_sums::split_f16; }), "sums");
  EXPECT_EQ(blames([](auto& c) { c.cluster_method = massive_cluster_method::cg; }), "solver");
  EXPECT_EQ(blames([](auto& c) {
              c.cluster_method = massive_cluster_method::local_mmse, c.detector.solver = massive_solver::zf;
            }),
            "solver");
  EXPECT_EQ(blames([](auto& c) { c.cluster_method = massive_cluster_method::local_mmse, c.clusters = 16; }),
            "clusters");
  EXPECT_EQ(blames([](auto& c) {
              c.cluster_method = massive_cluster_method::local_mmse,
              c.detector.sums = massive_sums::split_f16;
            }),
            "");
  const auto blames_precoder = [](auto change) {
    clustered_downlink_config c{.precoder = {.antennas = 64, .users = 8}, .clusters = 4};
    change(c);
    return blamed([&] { check(c); }, [&] { clustered_downlink_precoder p(c); });
  };
  EXPECT_EQ(blames_precoder([](auto&) {}), "");
  EXPECT_EQ(blames_precoder([](auto& c) { c.clusters = 5; }), "clusters");
  EXPECT_EQ(blames_precoder([](auto& c) { c.precoder.symbol_energy = 0; }), "symbol_energy");
  EXPECT_EQ(blames_precoder([](auto& c) { c.cluster_method = massive_cluster_method::cg; }), "solver");
  try {
    check(clustered_uplink_config{.detector = {.antennas = 256, .users = 16}, .clusters = 3});
    FAIL();
  } catch (const argument_error& e) {
    EXPECT_STREQ(e.what(), "clusters = 3 is not allowed: expected a divisor of antennas = 256");
  }
}

}  // namespace cluster_test
