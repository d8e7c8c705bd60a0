// Massive MIMO in links: limit cases, and what the downlink and the kernels of their own do.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include <oracle/massive.hpp>
#include <oracle/tdl.hpp>
#include <oracle/theory.hpp>
#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <warpband/channel/matrix/matrix.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/gain/gain.hpp>
#include <warpband/link/regroup/regroup.hpp>
#include <warpband/link/sweep.hpp>

namespace wb {
namespace massive_link_test {

using testing::blamed;
using testing::on_device;
using testing::open_reference;
using testing::open_scalar;
using testing::small_scale;
using testing::total;
using complex_values = std::vector<std::complex<float>>;

/// Rate 5/6 with a zero tail, on so many subcarriers that all bits are used; 0: uncoded.
link_config massive(int antennas, int users, massive_solver solver, int iterations = 0, int k = 95) {
  link_config c;
  c.code = k == 0 ? code_config("none") : code_config("conv", {{"k", k}, {"rate", "5/6"}});
  c.qam = 16;
  c.channel = rayleigh_config{};
  c.axis = snr_axis::snr_db;
  massive_link_config m{.antennas = antennas, .users = users, .solver = solver, .subcarriers = 31};
  if (iterations != 0) m.iterations = iterations;
  c.antennas = m;
  return c;
}
massive_link_config& massive_of(link_config& c) { return c.antennas.edit<massive_link_config>(); }
link_config downlink(int antennas, int users, massive_solver solver, int iterations = 0, int k = 95) {
  link_config c = massive(antennas, users, solver, iterations, k);
  massive_of(c).direction = massive_direction::downlink;
  return c;
}
link_config in_delay_line(link_config c) {
  c.channel = tdl_config{.profile = tdl_profile_named("eva"), .grid = {.spacing_hz = 60000}};
  return c;
}
link_config in_clusters(link_config c) {
  c.channel = cdl_config{.profile = cdl_profile_named("c2-nlos"), .power_control = true};
  return c;
}

/// The mean over frames of so many bits, and its standard deviation.
struct error_rate {
  double mean, deviation;
};
error_rate error_rate_of(const std::vector<std::int32_t>& errors, double bits) {
  const auto frames = static_cast<double>(errors.size());
  double mean = 0, square = 0;
  for (const std::int32_t e : errors) mean += e / bits / frames, square += e / bits * e / bits / frames;
  return {mean, std::sqrt((square - mean * mean) / frames)};
}

class massive_link_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(massive_link_on);

TEST_P(massive_link_on, makes_no_errors_without_noise) {
  for (link_config c :
       {massive(12, 3, massive_solver::cholesky), massive(12, 3, massive_solver::zf, 0, 0),
        massive(12, 3, massive_solver::cg, 3), massive(12, 3, massive_solver::gauss_seidel, 32),
        downlink(64, 2, massive_solver::chebyshev, 16), massive(64, 2, massive_solver::jacobi_cg, 2),
        downlink(24, 3, massive_solver::zf), downlink(24, 3, massive_solver::cholesky, 0, 0),
        downlink(24, 3, massive_solver::cg, 3)}) {
    link_chain clusters(in_clusters(c), exec());
    EXPECT_EQ(clusters.run(3, 4, 60).bit_errors, std::vector<std::int32_t>(4))
        << name_of(massive_of(c).solver);
    for (const bool line : {false, true})
      for (const fading_type fading : {fading_type::fast, fading_type::block})
        for (const int symbols : {1, 2}) {
          if (line && fading == fading_type::block) continue;
          c.channel = rayleigh_config{fading};
          if (line) c = in_delay_line(c);
          massive_of(c).symbols = symbols;
          link_chain chain(c, exec());
          const frame_counts& counts = chain.run(3, 4, 60);
          SCOPED_TRACE(std::string(name_of(massive_of(c).solver)) + (line ? ", delay line" : ""));
          EXPECT_EQ(counts.bit_errors, std::vector<std::int32_t>(4));
          EXPECT_EQ(counts.codeword_errors, std::vector<std::int32_t>(4));
          EXPECT_EQ(counts.erased_uses, std::vector<std::int32_t>(4));
          EXPECT_EQ(counts.erased, std::vector<std::uint8_t>(chain.coded() ? 4 : 0));
        }
  }
}

TEST_P(massive_link_on, as_many_iterations_as_users_are_cholesky) {
  for (const bool down : {false, true}) {
    const auto make = down ? downlink : massive;
    link_config exact = make(32, 4, massive_solver::cholesky, 0, 0);
    if (!down) massive_of(exact).sinr = massive_sinr::approximate;
    const double snr_db = down ? 3 : 2;
    link_chain reference(exact, exec());
    const std::int64_t errors = total(reference.run(0, 40, snr_db).bit_errors);
    ASSERT_GT(errors, 200);
    for (const massive_solver solver : {massive_solver::cg, massive_solver::jacobi_cg}) {
      link_chain together(make(32, 4, solver, 4, 0), exec()), few(make(32, 4, solver, 1, 0), exec());
      EXPECT_NEAR(static_cast<double>(total(together.run(0, 40, snr_db).bit_errors)),
                  static_cast<double>(errors), 2);
      EXPECT_GT(total(few.run(0, 40, snr_db).bit_errors), errors + 100);
    }
  }
}

TEST_P(massive_link_on, an_estimate_without_error_is_the_channel) {
  for (link_config exact :
       {massive(12, 3, massive_solver::cholesky), in_delay_line(massive(12, 3, massive_solver::cg, 2)),
        downlink(12, 3, massive_solver::cholesky), in_clusters(downlink(12, 3, massive_solver::zf))}) {
    link_config estimated = exact, noisy = exact;
    massive_of(estimated).csi = massive_of(noisy).csi = massive_csi::ls;
    massive_of(estimated).pilot_snr_db = 300;
    link_chain reference(exact, exec()), chain(estimated, exec()), other(noisy, exec());
    const std::vector<std::int32_t> errors = reference.run(3, 40, 2).bit_errors;
    ASSERT_GT(total(errors), 20);
    EXPECT_EQ(chain.run(3, 40, 2).bit_errors, errors);
    EXPECT_GT(total(other.run(3, 40, 2).bit_errors), total(errors));
  }
}

// An estimate G has an error of variance e an entry. H given G is G / (1 + e) + E with E of variance
// e / (1 + e). QPSK has |x|^2 = U, so ZF by G has the SINR g / (U e + N0 (1 + e)). g has a chi-square
// distribution of 2 (B - U + 1) degrees: that of B - U + 1 branches. Without noise MMSE is the same.
TEST_P(massive_link_on, least_squares_estimates_have_the_errors_of_theory) {
  const int antennas = 10, users = 4;
  for (const massive_solver solver : {massive_solver::zf, massive_solver::cholesky})
    for (const auto& [snr_db, pilots, pilot_snr_db] :
         {std::tuple<double, int, std::optional<double>>{-1, 4, {}}, {1, 8, {}}, {60, 4, -4}, {60, 12, -8}}) {
      const bool noisy = snr_db < 50;
      if (noisy && solver == massive_solver::cholesky) continue;
      link_config c = massive(antennas, users, solver, 0, 0);
      c.qam = 4;
      massive_of(c).csi = massive_csi::ls;
      massive_of(c).pilots = pilots, massive_of(c).pilot_snr_db = pilot_snr_db;
      massive_of(c).subcarriers = 64;
      link_chain chain(c, exec());
      const std::size_t frames = small_scale() ? 60 : 240;
      const auto errors = chain.run(0, frames, snr_db).bit_errors;
      const double n0 = noise_var_at(chain.config(), snr_db),
                   error = (pilot_snr_db ? std::pow(10, -*pilot_snr_db / 10) : n0) / pilots,
                   noise = users * error + n0 * (1 + error),
                   expected = oracle::bpsk_combined_rayleigh_ber(0.5 / noise, antennas - users + 1),
                   bits = 64. * 2 * users;
      const error_rate found = error_rate_of(errors, bits);
      EXPECT_GT(expected, 5e-4);
      EXPECT_NEAR(found.mean, expected, 4.5 * found.deviation + 1e-6)
          << name_of(solver) << ", " << snr_db << " dB, " << pilots << " pilots";
    }
}

/// What the base station knows is so many OFDM symbols older than the data.
link_config aged(link_config c, int delay, double doppler_hz) {
  c = in_delay_line(c);
  c.channel.edit<tdl_config>([&](tdl_config& line) { line.doppler_hz = doppler_hz; });
  massive_of(c).csi_delay = delay;
  return c;
}
/// Of OFDM symbols of `in_delay_line`.
double turn_of(const link_config& c) {
  const auto& line = c.channel.get<tdl_config>();
  return 2 * M_PI * line.doppler_hz * 1e-6 * line.grid.period_us() *
         c.antennas.get<massive_link_config>().csi_delay;
}
/// The Doppler frequency at which a delay of 7 symbols has this argument of J0.
double doppler_of(double turn) { return turn / turn_of(aged(massive(4, 2, massive_solver::cholesky), 7, 1)); }

TEST_P(massive_link_on, an_old_estimate_of_a_channel_that_does_not_move_is_the_channel) {
  for (link_config c : {massive(12, 3, massive_solver::cholesky), massive(12, 3, massive_solver::cg, 2),
                        downlink(12, 3, massive_solver::cholesky)})
    for (const massive_csi csi : {massive_csi::perfect, massive_csi::ls}) {
      massive_of(c).csi = csi;
      link_chain today(in_delay_line(c), exec()), zero(aged(c, 0, 0), exec()), old(aged(c, 9, 0), exec()),
          moved(aged(c, 9, doppler_of(1)), exec());
      const frame_counts& counts = today.run(3, 40, 2);
      const std::vector<std::int32_t> errors = counts.bit_errors, words = counts.codeword_errors;
      ASSERT_GT(total(errors), 20);
      EXPECT_EQ(zero.run(3, 40, 2).bit_errors, errors);
      EXPECT_EQ(old.run(3, 40, 2).bit_errors, errors);
      EXPECT_EQ(old.run(3, 40, 2).codeword_errors, words);
      const std::vector<std::int32_t> more = moved.run(3, 40, 2).bit_errors;
      EXPECT_GT(total(more), total(errors) + 100);
      const auto reference = open_reference();
      link_chain same(aged(c, 9, doppler_of(1)), *reference);
      EXPECT_EQ(same.run(3, 40, 2).bit_errors, more);
    }
}

// One user that sends ones without noise: what antennas receive is H.
TEST_P(massive_link_on, an_old_estimate_has_the_correlation_of_jakes) {
  const std::size_t frames = small_scale() ? 60 : 300, antennas = 32, subcarriers = 8;
  for (const double turn : {0., 0.5, 1.5, 2.404826, 3.8, 7.}) {
    link_config c = aged(massive(antennas, 1, massive_solver::cholesky, 0, 0), 7, doppler_of(turn));
    c.qam = 4;
    massive_of(c).subcarriers = subcarriers;
    const link_config whole = completed(c);
    const auto system = whole.antennas.kind().make(whole);
    system->allocate(exec(), frames);
    const std::vector<std::uint8_t> zeros(frames * subcarriers * 2);
    const auto bits = on_device(exec(), zeros, frames, subcarriers * 2);
    const samples s = system->send(exec(), bits.data(), {.first = 0, .frames = frames, .point_db = 200});
    complex_values y(frames * subcarriers * antennas), g(y.size());
    exec().download(y.data(), s.received.data, y.size() * sizeof y[0]);
    exec().download(g.data(), s.channel.data, g.size() * sizeof g[0]);
    exec().sync();
    std::complex<double> both = 0;
    double energy = 0, old_energy = 0;
    const std::complex<double> one = std::polar(1., M_PI / 4);  // bits 00
    for (std::size_t i = 0; i < y.size(); i++) {
      const std::complex<double> h = std::complex<double>(y[i]) / one, before(g[i]);
      both += h * std::conj(before), energy += std::norm(h), old_energy += std::norm(before);
    }
    const double n = static_cast<double>(y.size()),
                 near = 5 / std::sqrt(static_cast<double>(frames * antennas));
    EXPECT_LT(std::abs(both / n - oracle::bessel_j0(turn)), near) << turn;
    EXPECT_NEAR(energy / n, 1, near) << turn;
    EXPECT_NEAR(old_energy / n, 1, near) << turn;
  }
}

// H given the old one is r H' + sqrt(1 - r^2) E. QPSK has |x|^2 = U, so ZF by H' has the SINR r^2 g / (U (1 -
// r^2) + N0), with g as in the test of least squares.
TEST_P(massive_link_on, old_estimates_have_the_errors_of_theory) {
  const int antennas = 10, users = 4;
  for (const massive_solver solver : {massive_solver::zf, massive_solver::cholesky})
    for (const auto& [snr_db, turn] : {std::pair{1., 0.4}, {60., 0.7}, {60., 1.}}) {
      const bool noisy = snr_db < 50;
      if (noisy && solver == massive_solver::cholesky) continue;
      link_config c = aged(massive(antennas, users, solver, 0, 0), 7, doppler_of(turn));
      c.qam = 4;
      massive_of(c).subcarriers = 64;
      link_chain chain(c, exec());
      const std::size_t frames = std::min<std::size_t>(small_scale() ? 200 : 1000, chain.max_batch());
      const auto errors = chain.run(0, frames, snr_db).bit_errors;
      const double r = oracle::bessel_j0(turn), n0 = noise_var_at(chain.config(), snr_db),
                   noise = (users * (1 - r * r) + n0) / (r * r),
                   expected = oracle::bpsk_combined_rayleigh_ber(0.5 / noise, antennas - users + 1),
                   bits = 64. * 2 * users;
      const error_rate found = error_rate_of(errors, bits);
      EXPECT_GT(expected, 5e-4);
      EXPECT_NEAR(found.mean, expected, 4.5 * found.deviation + 1e-6)
          << name_of(solver) << ", " << snr_db << " dB, J0 of " << turn;
    }
}

/// Bit error rate of QPSK in a downlink, in double precision by the textbook. The precoder knows H'. Users
/// receive through H = r H' + sqrt(1 - r^2) E and know their gains.
error_rate aged_downlink(int antennas, int users, oracle::massive_rule rule, double r, double n0) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, std::sqrt(0.5));
  const auto value = [&] {
    const double re = normal(random);
    return std::complex<double>(re, normal(random));
  };
  std::vector<std::int32_t> errors(4000);
  for (std::int32_t& e : errors) {
    oracle::matrix before(antennas, users), h(antennas, users), sent(users, 1);
    for (std::size_t i = 0; i < h.entries.size(); i++) {
      before.entries[i] = value();
      h.entries[i] = r * before.entries[i] + std::sqrt(1 - r * r) * value();
    }
    for (auto& s : sent.entries)
      s = std::complex<double>(random() % 2 == 0 ? 1 : -1, random() % 2 == 0 ? 1 : -1) / std::sqrt(2.);
    const oracle::matrix precoded = oracle::precode_massive(before, sent, n0, 1, rule, {}),
                         received = oracle::adjoint(h) * precoded;
    const double size = oracle::norm(precoded);
    for (int u = 0; u < users; u++) {
      oracle::matrix unit(users, 1);
      unit(u, 0) = 1;
      const std::complex<double> gain = (oracle::adjoint(h) *
                                         oracle::precode_massive(before, unit, n0, 1, rule, {}))(u, 0),
                                 decided = (received(u, 0) / size + std::sqrt(n0) * value()) / gain;
      e += (decided.real() < 0) != (sent(u, 0).real() < 0);
      e += (decided.imag() < 0) != (sent(u, 0).imag() < 0);
    }
  }
  return error_rate_of(errors, 2. * users);
}

TEST_P(massive_link_on, old_estimates_of_a_downlink_have_the_errors_of_double_precision) {
  const int antennas = 10, users = 4;
  for (const auto& [solver, rule] : {std::pair{massive_solver::zf, oracle::massive_rule::zf},
                                     {massive_solver::mf, oracle::massive_rule::mf}})
    for (const auto& [snr_db, turn] : {std::pair{1., 0.4}, {60., 1.}}) {
      link_config c = aged(downlink(antennas, users, solver, 0, 0), 7, doppler_of(turn));
      c.qam = 4;
      massive_of(c).subcarriers = 64;
      link_chain chain(c, exec());
      const std::size_t frames = std::min<std::size_t>(small_scale() ? 200 : 1000, chain.max_batch());
      const error_rate found = error_rate_of(chain.run(0, frames, snr_db).bit_errors, 64. * 2 * users),
                       expected = aged_downlink(antennas, users, rule, oracle::bessel_j0(turn),
                                                noise_var_at(chain.config(), snr_db));
      EXPECT_GT(expected.mean, 5e-4);
      EXPECT_NEAR(found.mean, expected.mean, 4.5 * std::hypot(found.deviation, expected.deviation))
          << name_of(solver) << ", " << snr_db << " dB, J0 of " << turn;
    }
}

TEST(massive_link, refuses_delays_of_channels_that_do_not_age) {
  const auto blames = [](link_config c) { return blamed([&] { (void)completed(c); }); };
  const link_config still = massive(12, 3, massive_solver::cholesky);
  EXPECT_EQ(blames(aged(still, 0, 0)), "");
  EXPECT_EQ(blames(aged(still, 14, 70)), "");
  EXPECT_EQ(blames(aged(still, 100000, 0.1)), "");
  EXPECT_EQ(blames(aged(still, 0, 70)), "doppler_hz");
  EXPECT_EQ(blames(aged(still, -1, 0)), "csi_delay");
  EXPECT_EQ(blames(aged(still, 100001, 0)), "csi_delay");
  link_config rician = aged(still, 14, 70);
  rician.channel.edit<tdl_config>([](tdl_config& line) { line.profile = tdl_profile_named("tdl-d", 30); });
  EXPECT_EQ(blames(rician), "csi_delay");
  for (link_config other : {still, in_clusters(still)}) {
    EXPECT_EQ(blames(other), "");
    massive_of(other).csi_delay = 1;
    EXPECT_EQ(blames(other), "csi_delay") << other.channel.type;
  }
}

TEST(massive_link, refuses_pilots_that_do_not_fit) {
  const auto blames = [](auto change) {
    link_config c = massive(12, 3, massive_solver::cholesky);
    massive_of(c).csi = massive_csi::ls;
    change(massive_of(c));
    return blamed([&] { (void)completed(c); });
  };
  EXPECT_EQ(blames([](massive_link_config&) {}), "");
  EXPECT_EQ(blames([](massive_link_config& m) { m.pilots = 3; }), "");
  EXPECT_EQ(blames([](massive_link_config& m) { m.pilots = 2; }), "pilots");
  EXPECT_EQ(blames([](massive_link_config& m) { m.pilots = 4097; }), "pilots");
  EXPECT_EQ(blames([](massive_link_config& m) { m.pilot_snr_db = 301; }), "pilot_snr_db");
  EXPECT_EQ(blames([](massive_link_config& m) { m.csi = massive_csi::perfect, m.pilots = 8; }), "pilots");
  EXPECT_EQ(blames([](massive_link_config& m) { m.csi = massive_csi::perfect, m.pilot_snr_db = 3; }),
            "pilot_snr_db");
}

TEST_P(massive_link_on, regrouped_cells_are_transposed) {
  std::mt19937 random(1);
  for (const auto& [rows, columns, width] : {std::array{1, 1, 1}, {3, 5, 4}, {7, 2, 8}, {40, 33, 2}}) {
    const std::size_t matrices = 3, r = static_cast<std::size_t>(rows), c = static_cast<std::size_t>(columns),
                      w = static_cast<std::size_t>(width), cells = r * c * w;
    std::vector<float> x(matrices * cells), expected(x.size());
    for (float& v : x) v = static_cast<float>(random() % 1000);
    for (std::size_t m = 0; m < matrices; m++)
      for (std::size_t i = 0; i < r; i++)
        for (std::size_t j = 0; j < c; j++)
          for (std::size_t k = 0; k < w; k++)
            expected[m * cells + (j * r + i) * w + k] = x[m * cells + (i * c + j) * w + k];
    const auto in = on_device(exec(), x, matrices, cells);
    auto out = exec().make<float>(matrices, cells);
    regroup(exec(), in, out, rows, columns, width);
    EXPECT_EQ(exec().to_host(out), expected);
    auto back = exec().make<float>(matrices, cells);
    regroup(exec(), out, back, columns, rows, width);
    EXPECT_EQ(exec().to_host(back), x);
  }
}

complex_values normal_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> part;
  complex_values x(n);
  for (auto& z : x) {
    const float re = part(random);
    z = {re, part(random)};
  }
  return x;
}

TEST_P(massive_link_on, channels_multiply_either_way) {
  const auto reference = open_reference();
  for (const auto& [rows, columns, shared] : {std::array{1, 1, 1}, {6, 3, 1}, {17, 5, 2}, {8, 9, 7}}) {
    const std::size_t r = static_cast<std::size_t>(rows), c = static_cast<std::size_t>(columns),
                      s = static_cast<std::size_t>(shared), vectors = 5 * s;
    const complex_values h = normal_values(5 * r * c, 1), x = normal_values(vectors * c, 2),
                         z = normal_values(vectors * r, 3);
    const auto send = [&](executor& e, bool adjoint) {
      const auto channel = on_device(e, h, 5, r * c);
      const auto in = adjoint ? on_device(e, z, vectors, r) : on_device(e, x, vectors, c);
      auto out = e.make<std::complex<float>>(vectors, adjoint ? c : r);
      (adjoint ? apply_adjoint_channel : apply_channel)(e, channel, in, out, s, 1.5f);
      return e.to_host(out);
    };
    const complex_values y = send(exec(), false), back = send(exec(), true);
    EXPECT_EQ(y, send(*reference, false));
    EXPECT_EQ(back, send(*reference, true));
    for (std::size_t v = 0; v < vectors; v++) {
      std::vector<std::complex<double>> expected(r), other(c);
      for (std::size_t i = 0; i < r; i++)
        for (std::size_t j = 0; j < c; j++) {
          const std::complex<double> g(h[(v / s * r + i) * c + j]);
          expected[i] += 1.5 * g * std::complex<double>(x[v * c + j]);
          other[j] += 1.5 * std::conj(g) * std::complex<double>(z[v * r + i]);
        }
      for (std::size_t i = 0; i < r; i++)
        EXPECT_LT(std::abs(expected[i] - std::complex<double>(y[v * r + i])), 1e-5);
      for (std::size_t j = 0; j < c; j++)
        EXPECT_LT(std::abs(other[j] - std::complex<double>(back[v * c + j])), 1e-5);
    }
  }
}

TEST_P(massive_link_on, vectors_get_energy_one_in_equal_parts) {
  const std::size_t antennas = 12, vectors = 19;
  const complex_values m = normal_values(antennas * vectors, 4);
  for (const int parts : {1, 3}) {
    complex_values values = m;
    std::fill(values.begin(), values.begin() + antennas / 3, 0.f);  // a part of the first
    std::fill(values.begin() + antennas, values.begin() + 2 * antennas, 0.f);
    const auto scaled = [&](executor& e) {
      auto x = on_device(e, values, vectors, antennas);
      auto factor = e.make<float>(vectors, 1);
      normalize_vectors(e, x, parts, factor);
      return std::pair(e.to_host(x), e.to_host(factor));
    };
    const auto [x, factor] = scaled(exec());
    EXPECT_EQ(scaled(*open_reference()), std::pair(x, factor));
    const std::size_t part = antennas / static_cast<std::size_t>(parts);
    for (std::size_t v = 0; v < vectors; v++) {
      double mean = 0;
      for (std::size_t first = v * antennas; first < (v + 1) * antennas; first += part) {
        double energy = 0, sent = 0;
        for (std::size_t i = first; i < first + part; i++)
          energy += std::norm(std::complex<double>(values[i])), sent += std::norm(std::complex<double>(x[i]));
        EXPECT_NEAR(sent, energy > 0 ? 1.0 / parts : 0, 1e-6);
        mean += energy > 0 ? 1 / std::sqrt(parts * energy) / parts : 0;
      }
      EXPECT_NEAR(factor[v], mean, 1e-5);
    }
    auto four = exec().make<std::complex<float>>(1, 4);
    auto one = exec().make<float>(1, 1);
    EXPECT_EQ(blamed([&] { normalize_vectors(exec(), four, 3, one); }), "parts");
  }
}

// Of any matrix H^H P: gains are its diagonal, interference the rest of its rows.
TEST_P(massive_link_on, gains_are_those_of_the_matrix_and_not_of_what_is_sent) {
  for (const std::size_t users : {1, 2, 5, 16}) {
    const std::size_t matrices = 19, vectors = 3, square = users * users;
    complex_values effective = normal_values(matrices * square, 4);
    std::fill(effective.begin(), effective.begin() + static_cast<std::ptrdiff_t>(square), 0.f);
    const complex_values reference = reference_vectors(static_cast<int>(users)),
                         s = normal_values(matrices * vectors * users, 5),
                         n = normal_values(matrices * vectors * users, 6);
    std::mt19937 random(7);
    std::vector<float> factor(matrices * vectors), of_reference(matrices * users);
    for (auto* factors : {&factor, &of_reference})
      for (float& f : *factors) f = std::uniform_real_distribution<float>(0.5f, 2.f)(random);
    factor[vectors + 1] = 0;
    const auto through = [&](const complex_values& in, const std::vector<float>& f, bool shared) {
      const std::size_t per_matrix = f.size() / matrices;
      complex_values y(f.size() * users);
      for (std::size_t v = 0; v < f.size(); v++)
        for (std::size_t u = 0; u < users; u++) {
          std::complex<double> sum = 0;
          for (std::size_t j = 0; j < users; j++)
            sum += std::complex<double>(effective[v / per_matrix * square + u * users + j]) *
                   std::complex<double>(in[(shared ? v % per_matrix : v) * users + j]);
          y[v * users + u] = std::complex<float>(sum * static_cast<double>(f[v]));
        }
      return y;
    };
    const complex_values shown = through(reference, of_reference, true);
    complex_values y = through(s, factor, false);
    for (std::size_t i = 0; i < y.size(); i++) y[i] += 0.1f * n[i];
    const std::vector<float> n0{0.01f};
    const auto run = [&](executor& e) {
      const auto pilots = on_device(e, reference, 1, square), seen = on_device(e, shown, matrices, square),
                 received = on_device(e, y, matrices, vectors * users);
      const auto f = on_device(e, factor, matrices, vectors),
                 of_shown = on_device(e, of_reference, matrices, users), noise = on_device(e, n0, 1, 1);
      auto gain = e.make<std::complex<float>>(matrices, users),
           out = e.make<std::complex<float>>(matrices, vectors * users);
      auto interference = e.make<float>(matrices, users), variance = e.make<float>(matrices, vectors * users);
      effective_gains(e, pilots, seen, of_shown, gain, interference);
      divide_by_gains(e, gain, interference, f, {noise.data(), 1, matrices, 1, 0}, received, out, variance);
      return std::tuple(e.to_host(gain), e.to_host(interference), e.to_host(out), e.to_host(variance));
    };
    const auto [gain, interference, out, variance] = run(exec());
    EXPECT_EQ(run(*open_reference()), std::tuple(gain, interference, out, variance));
    for (std::size_t i = 0; i < matrices; i++)
      for (std::size_t u = 0; u < users; u++) {
        const std::complex<double> g(effective[i * square + u * users + u]);
        double others = 0;
        for (std::size_t j = 0; j < users; j++)
          if (j != u) others += std::norm(std::complex<double>(effective[i * square + u * users + j]));
        EXPECT_LT(std::abs(std::complex<double>(gain[i * users + u]) - g), 1e-5);
        EXPECT_NEAR(interference[i * users + u], others, 1e-5 * (others + std::norm(g)));
        for (std::size_t v = 0; v < vectors; v++) {
          const std::size_t index = (i * vectors + v) * users + u;
          const double f = factor[i * vectors + v];
          if (i == 0 || f == 0) {
            EXPECT_EQ(out[index], 0.f);
            EXPECT_EQ(variance[index], 1e12f);
            continue;
          }
          const std::complex<double> want = std::complex<double>(y[index]) / (f * g);
          EXPECT_LT(std::abs(std::complex<double>(out[index]) - want), 1e-4 * (std::abs(want) + 1));
          EXPECT_NEAR(variance[index] * std::norm(g), 0.01 / (f * f) + others, 1e-4 * (1 + others));
        }
      }
  }
}

// The noise behind zero forcing is N0 [G^-1]uu, and E [G^-1]uu = 1 / (B - U): the error rate of uncoded QPSK
// of one user is that of maximum ratio combining over B - U + 1 branches.
TEST(massive_link, zero_forcing_has_its_diversity) {
  const auto exec = std::make_unique<cpu>(cpu_options{.threads = 1});
  link_config c = massive(6, 4, massive_solver::zf, 0, 0);
  c.qam = 4;
  const double esn0_db = 4;
  const std::size_t frames = 400, branches = 3;
  link_chain chain(c, *exec);
  std::int64_t errors = 0;
  for (std::size_t first = 0; first < frames; first += 50)
    errors += total(chain.run(first, 50, esn0_db + 10 * std::log10(4.0)).bit_errors);
  const double snr = std::pow(10, esn0_db / 10) / 2, mu = std::sqrt(snr / (1 + snr)), low = (1 - mu) / 2,
               high = (1 + mu) / 2;
  double expected = 0, binomial = 1;
  for (std::size_t k = 0; k < branches; k++) {
    expected += binomial * std::pow(high, static_cast<double>(k));
    binomial *= static_cast<double>(branches + k) / static_cast<double>(k + 1);
  }
  expected *= std::pow(low, static_cast<double>(branches));
  const double bits = static_cast<double>(frames * 4 * 31 * 2);
  EXPECT_NEAR(static_cast<double>(errors) / bits, expected, 5 * std::sqrt(1.5 * expected / bits));
}

/// Bit error rate of QPSK behind zero forcing, of U users and a base station with B antennas. The users share
/// the energy 1, and 1 / (s^H (H^H H)^-1 s) of |s|^2 = U is that of maximum ratio combining over B - U + 1
/// branches with Es/N0 = 1 / (U N0) each.
double zero_forcing_ber(int antennas, int users, double snr_db) {
  const int branches = antennas - users + 1;
  const double snr = std::pow(10, snr_db / 10) / (2 * users), mu = std::sqrt(snr / (1 + snr)),
               low = (1 - mu) / 2, high = (1 + mu) / 2;
  double sum = 0, binomial = 1;
  for (int k = 0; k < branches; k++) {
    sum += binomial * std::pow(high, k);
    binomial *= static_cast<double>(branches + k) / (k + 1);
  }
  return sum * std::pow(low, branches);
}

// No receiver is better, however few symbols a gain could be estimated from.
TEST(massive_link, zero_forcing_downlink_has_the_closed_form_for_any_subcarriers) {
  EXPECT_NEAR(zero_forcing_ber(16, 4, 0), 0.04151, 1e-5);
  const auto exec = std::make_unique<cpu>(cpu_options{.threads = 1});
  struct theory {
    int antennas, users;
    double snr_db;
    int subcarriers, symbols;
    std::size_t vectors;
  };
  for (const theory& s : {theory{16, 4, 0, 24, 1, 60000},
                          {16, 4, 0, 1, 1, 10000},
                          {16, 4, 0, 128, 1, 20000},
                          {6, 2, 2, 5, 3, 20000},
                          {3, 3, 9, 24, 1, 20000},
                          {9, 1, -4, 24, 1, 20000}}) {
    link_config c = downlink(s.antennas, s.users, massive_solver::zf, 0, 0);
    c.qam = 4;
    massive_of(c).subcarriers = s.subcarriers, massive_of(c).symbols = s.symbols;
    const std::size_t frames = s.vectors / static_cast<std::size_t>(s.subcarriers * s.symbols), batch = 500;
    link_chain chain(c, *exec, batch);
    std::int64_t errors = 0;
    for (std::size_t first = 0; first < frames; first += batch)
      errors += total(chain.run(first, std::min(batch, frames - first), s.snr_db).bit_errors);
    const double expected = zero_forcing_ber(s.antennas, s.users, s.snr_db),
                 bits = static_cast<double>(frames * bits_per_frame(chain.config())),
                 // of bits that share a channel or a vector
        together = 1 + 0.25 * s.symbols * s.users;
    SCOPED_TRACE(std::to_string(s.antennas) + "x" + std::to_string(s.users) + ", " +
                 std::to_string(s.subcarriers) + " subcarriers");
    EXPECT_NEAR(static_cast<double>(errors) / bits, expected, 4 * std::sqrt(together * expected / bits));
  }
}

// As many reference vectors as users tell a gain exactly: frames are detected as well alone as in long ones.
TEST(massive_link, downlink_gains_do_not_depend_on_the_number_of_subcarriers) {
  const auto exec = std::make_unique<cpu>(cpu_options{.threads = 1});
  for (const massive_solver solver : {massive_solver::cholesky, massive_solver::mf, massive_solver::cg}) {
    std::vector<double> rates;
    const std::size_t channels = 3840;
    for (const int subcarriers : {1, 120}) {
      link_config c = downlink(16, 4, solver, solver == massive_solver::cg ? 2 : 0, 0);
      massive_of(c).subcarriers = subcarriers;
      const std::size_t frames = channels / static_cast<std::size_t>(subcarriers);
      link_chain chain(c, *exec, frames);
      rates.push_back(static_cast<double>(total(chain.run(0, frames, 6).bit_errors)) / (channels * 16.0));
    }
    EXPECT_GT(rates[1], 0.01);
    EXPECT_NEAR(rates[0], rates[1], 4.5 * std::sqrt(2 * 4 * rates[1] / (channels * 16.0))) << name_of(solver);
  }
}

TEST(massive_link, noise_levels_are_those_of_all_antennas) {
  const link_config up = completed(massive(64, 8, massive_solver::cholesky, 0, 0)),
                    down = completed(downlink(64, 8, massive_solver::cholesky, 0, 0));
  EXPECT_NEAR(noise_level_at(up, 3).esn0_db, 3 - 10 * std::log10(8.0), 1e-9);
  EXPECT_NEAR(noise_level_at(up, 3).ebn0_db, 3 - 10 * std::log10(8 * 4 / 64.0), 1e-9);
  EXPECT_NEAR(noise_level_at(down, 3).esn0_db, 3 - 10 * std::log10(8.0), 1e-9);
  EXPECT_NEAR(noise_level_at(down, 3).ebn0_db, 3 - 10 * std::log10(8 * 4.0), 1e-9);
  EXPECT_NEAR(noise_var_at(up, 3), 8 * std::pow(10, -0.3), 1e-9);  // Es = 1 for each user
  EXPECT_NEAR(noise_var_at(down, 3), std::pow(10, -0.3), 1e-9);    // energy 1 for all
  EXPECT_EQ(testing::k_in(up.code), 124);
  EXPECT_EQ(bits_per_frame(up), 124u * 8);
}

TEST(massive_link, bad_settings_are_named) {
  const auto blames = [](auto change) {
    link_config c = massive(16, 4, massive_solver::cholesky);
    change(c);
    return blamed([&] { completed(c); });
  };
  EXPECT_EQ(blames([](link_config&) {}), "");
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).users = 17; }), "antennas");
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).users = 65; }), "users");
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).antennas = 513; }), "antennas");
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).iterations = 1; }), "iterations");
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).solver = massive_solver::cg; }), "iterations");
  EXPECT_EQ(blames([](link_config& c) {
              massive_of(c).solver = massive_solver::cg;
              massive_of(c).iterations = 2;
              massive_of(c).sinr = massive_sinr::exact;
            }),
            "sinr");
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).subcarriers = 30; }),
            "subcarriers");  // 122 bits take 31
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).symbols = 65; }), "symbols");
  EXPECT_EQ(blames([](link_config& c) { c.qam = 2; }), "modulation");
  EXPECT_EQ(blames([](link_config& c) { c.channel = awgn_config{}; }), "channel.type");
  EXPECT_EQ(blames([](link_config& c) {
              c = in_clusters(c);
              c.channel.edit<cdl_config>([](cdl_config& lines) { lines.speed_kmh = 3; });
            }),
            "speed_kmh");
  EXPECT_EQ(blames([](link_config& c) { c = in_clusters(c), c.antennas = single_antenna{}; }),
            "channel.type");
  EXPECT_EQ(blames([](link_config& c) { massive_of(c).demapper = demap_algorithm::exact; }), "demapper");
  EXPECT_EQ(blames([](link_config& c) {
              massive_of(c).direction = massive_direction::downlink;
              massive_of(c).sinr = massive_sinr::exact;
            }),
            "sinr");
  EXPECT_EQ(blames([](link_config& c) { c.code = code_config("lte-transport"); }), "code.type");
  EXPECT_EQ(blames([](link_config& c) {
              c = in_delay_line(c);
              c.channel.edit<tdl_config>([](tdl_config& line) { line.doppler_hz = 5; });
            }),
            "doppler_hz");
  const auto exec = open_scalar();
  auto x = exec->make<std::complex<float>>(4, 3), y = exec->make<std::complex<float>>(4, 5),
       h = exec->make<std::complex<float>>(2, 15);
  EXPECT_EQ(blamed([&] { apply_channel(*exec, h, x, y, 0); }), "vectors_per_channel");
  EXPECT_EQ(blamed([&] { apply_channel(*exec, h, x, y, 3); }), "in");
  EXPECT_EQ(blamed([&] { apply_channel(*exec, h, x, y, 1); }), "channel");
  EXPECT_EQ(blamed([&] { apply_adjoint_channel(*exec, h, x, y, 4); }), "channel");
  auto a = exec->make<float>(2, 12), b = exec->make<float>(3, 12);
  EXPECT_EQ(blamed([&] { regroup(*exec, a, b, 3, 4, 1); }), "out");
  EXPECT_EQ(blamed([&] { regroup(*exec, a, a, 3, 5, 1); }), "in");
}

}  // namespace massive_link_test
}  // namespace wb
