// Measured error rates against theory. The counts are the same on every backend (chain_test.cpp), so one is
// enough.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include <oracle/theory.hpp>
#include <tests/codes.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>

namespace wb {
namespace theory_test {

constexpr int frame_bits = 1000;

struct measured {
  double bits = 0, errors = 0, deviation = 0;  // of the errors, from how frames differ
};

/// Runs at least so many bits: a number that does not depend on what is found, or the mean would be biased.
measured measure(link_chain& chain, double ebn0_db, double least_bits) {
  const auto frames = static_cast<std::uint64_t>(std::ceil(least_bits / frame_bits));
  double sum = 0, squares = 0;
  for (std::uint64_t done = 0; done < frames;) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(chain.max_batch(), frames - done));
    for (const std::int32_t e : chain.run(done, n, ebn0_db).bit_errors) {
      sum += e;
      squares += static_cast<double>(e) * e;
    }
    done += n;
  }
  const double f = static_cast<double>(frames);
  return {f * frame_bits, sum, std::sqrt(std::max(0.0, squares - sum * sum / f))};
}

/// Every point within 4 sigma with at least 1000 errors, and all together with p > 1e-3. `binomial`: the bits
/// are independent; else sigma comes from how frames differ.
void expect_theory(link_config c, const std::vector<double>& ebn0_db, bool binomial,
                   const std::function<double(double)>& ber_of_ebn0) {
  c.code = code_config("none");
  testing::k_in(c.code) = frame_bits;
  cpu exec;
  link_chain chain(c, exec);
  double sum = 0, points = 0;
  for (const double x : ebn0_db) {
    const double p = ber_of_ebn0(std::pow(10, x / 10));
    if (testing::small_scale() && p < 5e-3) continue;
    const measured m = measure(chain, x, std::max(200e3, 1300 / p));
    const double sigma = binomial ? std::sqrt(m.bits * p * (1 - p)) : m.deviation;
    const double z = (m.errors - m.bits * p) / sigma;
    EXPECT_GE(m.errors, 1000) << x << " dB";
    EXPECT_LT(std::abs(z), 4) << x << " dB: " << m.errors / m.bits << ", theory " << p;
    sum += z * z;
    points++;
  }
  ASSERT_GE(points, 2);
  EXPECT_GT(oracle::chi_square_p(sum, points), 1e-3);
  EXPECT_LT(oracle::chi_square_p(sum, points), 1 - 1e-4) << "too close to theory to be random";
}

const std::vector<double> awgn_points{-3, 0, 1, 2, 3, 4, 5, 6, 7, 8}, fading_points{0, 5, 10, 15, 20, 25, 30};

TEST(theory, bpsk_awgn) { expect_theory({}, awgn_points, true, oracle::bpsk_awgn_ber); }

TEST(theory, qpsk_awgn) {
  link_config c;
  c.qam = 4;
  expect_theory(c, awgn_points, true, oracle::bpsk_awgn_ber);  // a BPSK in each dimension
}

TEST(theory, bpsk_fast_rayleigh) {
  link_config c;
  c.channel = rayleigh_config{};
  expect_theory(c, fading_points, true, oracle::bpsk_rayleigh_ber);
}

TEST(theory, bpsk_block_rayleigh) {
  link_config c;
  c.channel = rayleigh_config{fading_type::block};
  // A frame is one fade: it takes thousands of frames to know the mean.
  const std::vector<double> points{0, 5, 10};
  c.seed = 3;
  c.code = code_config("none");
  testing::k_in(c.code) = frame_bits;
  cpu exec;
  link_chain chain(c, exec);
  double sum = 0;
  for (const double x : points) {
    const double p = oracle::bpsk_rayleigh_ber(std::pow(10, x / 10));
    const measured m = measure(chain, x, testing::small_scale() ? 1e6 : 5e6);
    const double z = (m.errors - m.bits * p) / m.deviation;
    EXPECT_GE(m.errors, 1000);
    EXPECT_LT(std::abs(z), 4) << x << " dB: " << m.errors / m.bits << ", theory " << p;
    sum += z * z;
  }
  EXPECT_GT(oracle::chi_square_p(sum, static_cast<double>(points.size())), 1e-3);
}

TEST(theory, bpsk_over_delay_lines) {
  // Every resource element alone is in Rayleigh fading, moving or not.
  for (const double doppler_hz : {0., 300.}) {
    link_config c;
    c.seed = 4;
    c.channel = tdl_config{.profile = tdl_profile_named("tdl-a", 300),
                           .grid = {.subcarriers = 100, .symbols = 2},
                           .doppler_hz = doppler_hz};
    expect_theory(c, {0, 5, 10}, false, oracle::bpsk_rayleigh_ber);
  }
}

/// QPSK in fast Rayleigh fading between several antennas.
link_config qpsk_antennas(int streams, int rx_antennas, const std::string& type) {
  link_config c;
  c.qam = 4;
  c.channel = rayleigh_config{};
  c.antennas = detector_config{.type = type, .streams = streams, .rx_antennas = rx_antennas, .llr_clip = {}};
  return c;
}

TEST(theory, one_stream_combines_the_antennas) {
  for (const int antennas : {1, 2, 4}) {
    SCOPED_TRACE(antennas);
    expect_theory(qpsk_antennas(1, antennas, "mmse"), {0, 4, 8}, false,
                  [&](double ebn0) { return oracle::bpsk_combined_rayleigh_ber(ebn0 / antennas, antennas); });
  }
}

TEST(theory, zero_forcing_leaves_one_stream_the_antennas_it_does_not_need) {
  // The SNR behind it is that of rx_antennas - streams + 1 combined branches.
  for (const auto& [streams, rx] : {std::pair{2, 2}, std::pair{4, 4}, std::pair{2, 3}}) {
    SCOPED_TRACE(std::to_string(streams) + " x " + std::to_string(rx));
    expect_theory(qpsk_antennas(streams, rx, "zf"), {2, 8, 14}, false, [rx, streams](double ebn0) {
      return oracle::bpsk_combined_rayleigh_ber(ebn0 / rx, rx - streams + 1);
    });
  }
}

TEST(theory, alamouti_combines_two_antennas_for_each_that_receives) {
  for (const int rx : {1, 2}) {
    SCOPED_TRACE(rx);
    link_config c;
    c.qam = 4;
    c.channel = rayleigh_config{};
    c.antennas = stbc_config{.code = space_time_code::alamouti(), .rx_antennas = rx};
    expect_theory(c, {0, 4, 8}, false,
                  [rx](double ebn0) { return oracle::bpsk_combined_rayleigh_ber(ebn0 / (2 * rx), 2 * rx); });
  }
}

TEST(theory, transmit_diversity_over_subcarriers_has_the_branches_of_alamouti) {
  for (const auto& [code, rx] :
       {std::pair{space_time_code::sfbc(), 1}, std::pair{space_time_code::sfbc(), 2},
        std::pair{space_time_code::fstd(), 1}, std::pair{space_time_code::fstd(), 2}}) {
    SCOPED_TRACE(std::string(name_of(code)) + " " + std::to_string(rx));
    link_config c;
    c.seed = 9;
    c.qam = 4;
    c.channel = rayleigh_config{};
    c.antennas = stbc_config{.code = code, .rx_antennas = rx};
    const int branches = 2 * rx;
    expect_theory(c, {0, 4}, false, [branches](double ebn0) {
      return oracle::bpsk_combined_rayleigh_ber(ebn0 / branches, branches);
    });
    // A delay line of one tap gives all subcarriers the same H.
    c.channel = tdl_config{.profile = {.taps = {{0, 0}}}, .grid = {.subcarriers = 4, .symbols = 1}};
    expect_theory(c, {0, 4}, false, [branches](double ebn0) {
      return oracle::bpsk_combined_rayleigh_ber(ebn0 / branches, branches);
    });
  }
}

TEST(theory, rician_fading_of_one_and_of_combined_antennas) {
  const double k_db = 5, k = std::pow(10, 0.1 * k_db);
  {
    link_config c;
    c.qam = 4;
    c.channel = rician_config{.rician_k_db = k_db};
    expect_theory(c, {0, 4, 8}, false,
                  [k](double ebn0) { return oracle::bpsk_combined_rician_ber(ebn0, k, 1); });
  }
  {
    link_config c = qpsk_antennas(1, 3, "mmse");
    c.channel = rician_config{.rician_k_db = k_db};
    expect_theory(c, {0, 2, 4}, false,
                  [k](double ebn0) { return oracle::bpsk_combined_rician_ber(ebn0 / 3, k, 3); });
  }
  for (const int rx : {1, 2}) {
    SCOPED_TRACE(rx);
    link_config c;
    c.qam = 4;
    c.channel = rician_config{.rician_k_db = k_db};
    c.antennas = stbc_config{.code = space_time_code::alamouti(), .rx_antennas = rx};
    expect_theory(c, {0, 3, 6}, false,
                  [=](double ebn0) { return oracle::bpsk_combined_rician_ber(ebn0 / (2 * rx), k, 2 * rx); });
  }
}

TEST(theory, alamouti_over_delay_lines) {
  // A subcarrier alone has flat fading; TDL-D is Rician, of taps that are nearly all one.
  for (const double doppler_hz : {0., 100.}) {
    link_config c;
    c.seed = 5;
    c.qam = 4;
    c.channel = tdl_config{.profile = tdl_profile_named("tdl-a", 300),
                           .grid = {.subcarriers = 50, .symbols = 2},
                           .doppler_hz = doppler_hz};
    c.antennas = stbc_config{.code = space_time_code::alamouti(), .rx_antennas = 2};
    expect_theory(c, {0, 4}, false,
                  [](double ebn0) { return oracle::bpsk_combined_rayleigh_ber(ebn0 / 4, 4); });
  }
  link_config c;
  c.seed = 6;
  c.qam = 4;
  tdl_profile one_tap{.taps = {{0, 0}}, .rician_k_db = 6};
  c.channel = tdl_config{.profile = one_tap, .grid = {.subcarriers = 1, .symbols = 2}};
  c.antennas = stbc_config{.code = space_time_code::alamouti(), .rx_antennas = 1};
  expect_theory(c, {0, 4}, false,
                [](double ebn0) { return oracle::bpsk_combined_rician_ber(ebn0 / 2, std::pow(10, 0.6), 2); });
}

TEST(theory, space_time_codes_have_diversity_and_multiplexing_half_of_it) {
  // The slope between two points, which comes near the order, 4 and 2, from below as the error rate falls.
  const auto slope_of = [](link_config c) {
    c.code = code_config("none");
    testing::k_in(c.code) = 8;  // a codeword, or two uses with one H
    c.axis = snr_axis::snr_db;
    c.channel = rayleigh_config{fading_type::block};
    cpu exec;
    link_chain chain(c, exec);
    double failed[2]{};
    for (const int i : {0, 1}) {
      const std::uint64_t frames = testing::small_scale() ? 40000 : 400000;
      for (std::uint64_t done = 0; done < frames;) {
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(chain.max_batch(), frames - done));
        for (const std::int32_t e : chain.run(done, n, i == 0 ? 14 : 18).bit_errors) failed[i] += e != 0;
        done += n;
      }
    }
    return std::log10(failed[0] / failed[1]) / 0.4;
  };
  for (const auto& [code, qam] :
       {std::pair{space_time_code::silver(), 4}, std::pair{space_time_code::golden(), 4},
        std::pair{space_time_code::alamouti(), 16}}) {
    link_config c;
    c.qam = qam;
    c.antennas = stbc_config{.code = code, .rx_antennas = 2};
    EXPECT_GT(slope_of(c), 2.3) << static_cast<int>(code.kind());
  }
  EXPECT_LT(slope_of(qpsk_antennas(2, 2, "ml")), 2.1);
}

TEST(theory, qam_awgn) {
  for (const int m : {4, 6, 8}) {
    const int qam = 1 << m;
    SCOPED_TRACE(qam);
    link_config c;
    c.qam = qam;
    const double low = 2.0 * m - 8;  // 16-QAM from 0 dB, 256-QAM from 8 dB
    expect_theory(c, {low, low + 4, low + 8, low + 10}, false,
                  [&](double ebn0) { return oracle::qam_awgn_ber(qam, ebn0 * m); });
  }
}

}  // namespace theory_test
}  // namespace wb
