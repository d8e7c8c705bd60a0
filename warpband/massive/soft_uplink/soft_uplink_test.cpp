// The uplink with a-priori LLRs: against the definition.
#include <cmath>
#include <random>

#include <oracle/mimo.hpp>
#include <tests/massive.hpp>
#include <warpband/massive/soft_uplink/soft_uplink.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace soft_uplink_test {

using namespace wb;
using namespace wb::testing;

/// Frames with points of Gray QAM, and a-priori LLRs of the given size that are right more often than not.
struct soft_frames {
  soft_uplink_config config;
  std::size_t symbols, frames;
  samples h, y;
  std::vector<float> n0, prior;    // prior: [vectors, bits]; empty for none
  std::vector<std::uint8_t> sent;  // [vectors, bits]
  std::size_t vectors() const { return symbols * frames; }
  std::size_t bits() const { return soft_uplink_detector(config).bits_per_vector(); }
};
soft_frames draw(int antennas, int users, int qam, std::size_t symbols, std::size_t frames, double n0,
                 double size, std::uint64_t seed = 1) {
  soft_frames f{{.antennas = antennas, .users = users, .qam = qam}, symbols, frames, {}, {}, {}, {}, {}};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> part(0, std::sqrt(0.5)), right(0.5 * size, size);
  const auto normal = [&] {
    const double re = part(random);
    return std::complex<double>(re, part(random));
  };
  const auto points = oracle::constellation(qam);
  const auto a = static_cast<std::size_t>(antennas), u = static_cast<std::size_t>(users);
  f.n0.assign(frames, static_cast<float>(n0));
  for (std::size_t i = 0; i < frames * a * u; i++) f.h.emplace_back(normal());
  for (std::size_t v = 0; v < f.vectors(); v++) {
    std::vector<std::complex<double>> x;
    for (std::size_t k = 0; k < u; k++) {
      const std::size_t index = random() % points.size();
      x.push_back(points[index]);
      for (std::size_t mask = points.size() / 2; mask > 0; mask /= 2) {
        f.sent.push_back((index & mask) != 0);
        const double p = right(random);
        if (size > 0) f.prior.push_back(static_cast<float>((index & mask) != 0 ? -p : p));
      }
    }
    for (std::size_t b = 0; b < a; b++) {
      std::complex<double> sum = std::sqrt(n0) * normal();
      for (std::size_t k = 0; k < u; k++)
        sum += std::complex<double>(f.h[(v / symbols * a + b) * u + k]) * x[k];
      f.y.emplace_back(sum);
    }
  }
  return f;
}

struct soft_result {
  std::vector<float> llr;
  std::vector<std::uint8_t> bits, status;
};
soft_result detect(executor& exec, const soft_frames& f) {
  const soft_uplink_detector detector(f.config);
  const auto b = static_cast<std::size_t>(f.config.antennas), u = static_cast<std::size_t>(f.config.users);
  const auto h = on_device(exec, f.h, f.frames, b * u), y = on_device(exec, f.y, f.vectors(), b);
  const auto n0 = on_device(exec, f.n0, f.frames, 1);
  const std::size_t m = f.bits();
  const auto prior = on_device(exec, f.prior, f.prior.empty() ? 0 : f.vectors(), m);
  auto llr = exec.make<float>(f.vectors(), m);
  auto bits = exec.make<std::uint8_t>(f.vectors(), m), status = exec.make<std::uint8_t>(f.vectors(), 1);
  soft_uplink_input in{h, y, n0, static_cast<int>(f.symbols), {}};
  if (!f.prior.empty()) in.prior = prior;
  detector.run(exec, in, {llr, bits, status});
  return {exec.to_host(llr), exec.to_host(bits), exec.to_host(status)};
}

// The tolerance follows from the rounding of G = H^H H and H^H y. With u = 2^-24 their float32 sums over the
// antennas are off by |dG| <= 11 u antennas in the spectral norm, for channels of variance 1. The matrix that
// is inverted, D G D + N0 I, has no eigenvalue below N0, so its inverse and with it an LLR change by a
// relative |dG| / N0 at most. Computed in double precision from sums rounded to float32, over 60 to 150
// vectors of each case below: LLRs change by up to 8.8 u antennas / N0 times 1 + |LLR| at N0 = 1e-3 and by up
// to 11.4 of these units at 0.1. The tolerance is 1e-6 = 17 of them, since the factorisation rounds too. At
// N0 = 10 it is below 1e-5, and what the moments of the symbols and the metrics round counts.
TEST(soft_uplink, llrs_equal_the_definition) {
  const auto exec = open_executor("cpu");
  for (const auto& [antennas, users, qam] :
       {std::tuple{16, 4, 16}, {8, 8, 16}, {12, 5, 4}, {24, 16, 64}, {6, 1, 256}})
    for (const double n0 : {10., 0.1, 1e-3})
      for (const double size : {0., 1., 5., 30.}) {
        const soft_frames f = draw(antennas, users, qam, 2, users > 8 ? 1 : 8, n0, size, 3);
        const auto got = detect(*exec, f);
        EXPECT_EQ(count_erased(got.status), 0U);
        std::size_t different = 0;
        const double tolerance = 1e-4 + 1e-6 * antennas / n0;
        const auto a = static_cast<std::size_t>(antennas), entries = a * static_cast<std::size_t>(users);
        for (std::size_t v = 0; v < f.vectors(); v++) {
          oracle::mimo_use use;
          use.points = qam;
          use.n0 = f.n0[0];
          for (std::size_t e = 0; e < entries; e++) use.h.emplace_back(f.h[v / 2 * entries + e]);
          for (std::size_t b = 0; b < a; b++) use.y.emplace_back(f.y[v * a + b]);
          for (std::size_t e = 0; size > 0 && e < f.bits(); e++)
            use.prior.push_back(f.prior[v * f.bits() + e]);
          const auto llr = oracle::detect_pic(use, oracle::demapper::max_log, 1e300);
          for (std::size_t e = 0; e < f.bits(); e++)
            different +=
                !(std::abs(got.llr[v * f.bits() + e] - llr[e]) <= tolerance * (1 + std::abs(llr[e])));
        }
        EXPECT_EQ(different, 0U) << antennas << " x " << users << ", N0 " << n0 << ", priors of " << size;
      }
}

TEST(soft_uplink, without_priors_is_the_detector_of_hard_input) {
  const auto exec = open_executor("cpu");
  const soft_frames f = draw(32, 8, 16, 4, 10, 0.2, 0);
  const auto h = on_device(*exec, f.h, 10, 256), y = on_device(*exec, f.y, 40, 32);
  const auto n0 = on_device(*exec, f.n0, 10, 1);
  auto llr = exec->make<float>(40, 32);
  uplink_detector({.antennas = 32, .users = 8, .qam = 16})
      .run(*exec, {.channel = h, .received = y, .noise_var = n0, .symbols = 4},
           {.llr = llr, .llr_int8 = {}, .equalized = {}, .sinr = {}, .status = {}});
  const auto expected = exec->to_host(llr), got = detect(*exec, f).llr;
  for (std::size_t i = 0; i < got.size(); i++)
    ASSERT_NEAR(got[i], expected[i], 1e-3 * (1 + std::abs(expected[i])));
}

TEST(soft_uplink, known_users_no_longer_disturb) {
  // All users but the first are known: it is received as if it were alone.
  const auto exec = open_executor("cpu");
  soft_frames f = draw(4, 4, 16, 1, 20, 0.1, 0, 5);
  for (std::size_t e = 0; e < f.sent.size(); e++)
    f.prior.push_back(e % 16 < 4 ? 0.f : f.sent[e] != 0 ? -500.f : 500.f);
  const auto got = detect(*exec, f);
  const auto points = oracle::constellation(16);
  for (std::size_t v = 0; v < 20; v++) {
    std::complex<double> matched = 0;
    double energy = 0;
    for (std::size_t b = 0; b < 4; b++) {
      std::complex<double> rest = f.y[v * 4 + b];
      for (std::size_t u = 1; u < 4; u++) {
        std::size_t index = 0;
        for (std::size_t i = 0; i < 4; i++) index = 2 * index + f.sent[v * 16 + 4 * u + i];
        rest -= std::complex<double>(f.h[v * 16 + 4 * b + u]) * points[index];
      }
      const std::complex<double> h = f.h[v * 16 + 4 * b];
      matched += std::conj(h) * rest;
      energy += std::norm(h);
    }
    const auto llr = oracle::demap(matched / energy, f.n0[v] / energy, 1, 16, oracle::demapper::max_log);
    for (std::size_t i = 0; i < 4; i++)
      ASSERT_NEAR(got.llr[v * 16 + i], llr[i], 1e-3 * (1 + std::abs(llr[i])));
  }
}

TEST(soft_uplink, extrinsic_takes_the_prior_off_and_clips_last) {
  const auto exec = open_executor("cpu");
  soft_frames f = draw(12, 4, 16, 2, 6, 0.5, 3);
  const auto posterior = detect(*exec, f);
  f.config.extrinsic = true;
  const auto extrinsic = detect(*exec, f);
  f.config.llr_clip = 2;
  const auto clipped = detect(*exec, f);
  for (std::size_t e = 0; e < f.prior.size(); e++) {
    ASSERT_EQ(extrinsic.llr[e], posterior.llr[e] - f.prior[e]);
    ASSERT_EQ(extrinsic.bits[e], extrinsic.llr[e] < 0);
    ASSERT_EQ(clipped.llr[e], std::max(-2.f, std::min(2.f, extrinsic.llr[e])));
  }
}

TEST(soft_uplink, large_numbers_stay_numbers) {
  const auto exec = open_executor("cpu");
  for (const double n0 : {1e-29, 1e-6, 1e11})
    for (const float size : {1e6f, 3e38f}) {
      soft_frames f = draw(8, 8, 64, 1, 16, n0, 0, 7);
      std::mt19937_64 random(1);
      for (std::size_t e = 0; e < f.sent.size(); e++) f.prior.push_back(random() % 2 != 0 ? size : -size);
      for (const float llr : detect(*exec, f).llr) ASSERT_TRUE(std::isfinite(llr)) << n0;
    }
}

TEST(soft_uplink_arguments, bad_ones_are_named) {
  const auto blames = [](soft_uplink_config c) {
    return blamed([&] { check(c); }, [&] { soft_uplink_detector{c}; });
  };
  EXPECT_EQ(blames({}), "");
  EXPECT_EQ(blames({.antennas = 513}), "antennas");
  EXPECT_EQ(blames({.antennas = 15}), "antennas");
  EXPECT_EQ(blames({.users = 0}), "users");
  EXPECT_EQ(blames({.users = 65}), "users");
  EXPECT_EQ(blames({.qam = 8}), "qam");
  EXPECT_EQ(blames({.qam = 2}), "qam");
  EXPECT_EQ(blames({.llr_clip = 0}), "llr_clip");
  EXPECT_EQ(blames({.llr_clip = std::nanf("")}), "llr_clip");
  const auto exec = open_executor("cpu");
  const soft_uplink_detector d({.antennas = 4, .users = 2, .qam = 4});
  const auto h = exec->make<std::complex<float>>(3, 8), y = exec->make<std::complex<float>>(6, 4);
  const auto n0 = exec->make<float>(3, 1);
  auto llr = exec->make<float>(6, 4);
  EXPECT_EQ(blamed([&] { d.run(*exec, {h, y, n0, 0, {}}, {llr, {}, {}}); }), "symbols");
  EXPECT_EQ(blamed([&] { d.run(*exec, {h, y, n0, 3, {}}, {llr, {}, {}}); }), "received");
}

}  // namespace soft_uplink_test
