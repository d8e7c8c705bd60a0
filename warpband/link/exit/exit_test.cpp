// EXIT charts against measurements in double precision with other random numbers, and theory.
#include <cmath>
#include <numbers>
#include <random>

#include <oracle/modem.hpp>
#include <tests/receive.hpp>
#include <warpband/link/exit/exit.hpp>

namespace exit_test {

using namespace wb::testing;
using wb::detector_config;
using wb::exit_config;

double missing(double toward) {
  return (std::max(0., -toward) + std::log1p(std::exp(-std::fabs(toward)))) / std::log(2);
}

/// The mean over samples, and its standard deviation.
struct sample_mean {
  double n = 0, sum = 0, squares = 0;
  void add(double x) {
    n++;
    sum += x;
    squares += x * x;
  }
  double mean() const { return sum / n; }
  double deviation() const { return std::sqrt((squares / n - mean() * mean()) / n); }
};

TEST(gaussian_information, is_that_of_samples_and_has_an_inverse) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const double sigma : {0.1, 0.5, 1., 2., 4., 7.}) {
    sample_mean loss;
    for (int i = 0; i < 200000; i++) loss.add(missing(sigma * sigma / 2 + sigma * normal(random)));
    EXPECT_NEAR(wb::gaussian_information(sigma), 1 - loss.mean(), 5 * loss.deviation()) << sigma;
    EXPECT_NEAR(wb::gaussian_sigma(wb::gaussian_information(sigma)), sigma, 1e-6);
  }
  // J is sigma^2 / (8 ln 2) where sigma is small.
  EXPECT_NEAR(wb::gaussian_information(0.01), 1e-4 / 8 / std::log(2), 1e-8);
  EXPECT_EQ(wb::gaussian_information(0), 0);
  EXPECT_EQ(wb::gaussian_information(30), 1);
  EXPECT_NEAR(wb::gaussian_information(19.9), 1, 1e-10);
  EXPECT_EQ(wb::gaussian_sigma(0), 0);
  EXPECT_EQ(wb::gaussian_sigma(1), 20);
  EXPECT_EQ(blamed([] { (void)wb::gaussian_information(-1); }), "sigma");
  EXPECT_EQ(blamed([] { (void)wb::gaussian_sigma(1.01); }), "information");
}

/// The curve of exhaustive max-log detection of two streams of QPSK, a point at a time.
sample_mean two_streams(double snr_db, double sigma, int uses) {
  std::mt19937_64 random(static_cast<unsigned>(1000 * sigma) + 1);
  std::normal_distribution<double> normal;
  const auto points = oracle::constellation(4);
  const auto entry = [&](double variance) {
    const double re = normal(random);
    return std::sqrt(variance / 2) * std::complex<double>(re, normal(random));
  };
  const double n0 = 2 * std::pow(10, -snr_db / 10);
  sample_mean loss;
  for (int u = 0; u < uses; u++) {
    const unsigned sent = static_cast<unsigned>(random() % 16);
    std::complex<double> h[2][2], y[2];
    for (auto& row : h)
      for (auto& x : row) x = entry(1);
    for (int r = 0; r < 2; r++) y[r] = h[r][0] * points[sent >> 2] + h[r][1] * points[sent & 3] + entry(n0);
    double prior[4], metric[16], loss_of_use = 0;
    for (int b = 0; b < 4; b++)
      prior[b] = (sent >> (3 - b) & 1 ? -1 : 1) * sigma * sigma / 2 + sigma * normal(random);
    for (unsigned word = 0; word < 16; word++) {
      metric[word] = 0;
      for (int r = 0; r < 2; r++)
        metric[word] -= std::norm(y[r] - h[r][0] * points[word >> 2] - h[r][1] * points[word & 3]) / n0;
      for (int b = 0; b < 4; b++) metric[word] += (word >> (3 - b) & 1 ? -0.5 : 0.5) * prior[b];
    }
    for (int b = 0; b < 4; b++) {
      double best[2] = {-1e300, -1e300};
      for (unsigned word = 0; word < 16; word++) {
        double& largest = best[word >> (3 - b) & 1];
        largest = std::max(largest, metric[word]);
      }
      const double llr = best[0] - best[1] - prior[b];
      loss_of_use += missing(sent >> (3 - b) & 1 ? -llr : llr) / 4;
    }
    loss.add(loss_of_use);
  }
  return loss;
}

TEST(exit_of_a_detector, is_that_of_a_measurement_in_double_precision) {
  detector_config d;
  d.type = "ml";
  const auto exec = wb::open_executor("cpu");
  exit_config c;
  c.prior_information = {0, 0.3, 0.6, 0.9};
  c.bits = 100000;
  const auto curve = wb::detector_exit(*exec, d, 4, c);
  EXPECT_EQ(curve.prior, c.prior_information);
  for (std::size_t i = 0; i < c.prior_information.size(); i++) {
    const sample_mean loss = two_streams(4, wb::gaussian_sigma(c.prior_information[i]), 25000);
    EXPECT_NEAR(curve.extrinsic[i], 1 - loss.mean(), 5 * std::sqrt(2.) * loss.deviation()) << i;
    if (i > 0) {
      EXPECT_GT(curve.extrinsic[i], curve.extrinsic[i - 1]);
    }
  }
}

TEST(exit_of_a_detector, does_not_depend_on_priors_where_bits_are_apart) {
  // QPSK on one antenna: the bits of a symbol are independent. Over Rayleigh fading of |h|^2 = x, each is
  // BPSK with sigma^2 = 4 x / N0.
  detector_config d;
  d.type = "ml";
  d.streams = d.rx_antennas = 1;
  const double n0 = std::pow(10, -0.3);
  double expected = 0;
  for (int i = 0; i < 4000; i++) {
    const double x = -std::log((i + 0.5) / 4000);
    expected += wb::gaussian_information(std::sqrt(4 * x / n0)) / 4000;
  }
  const auto exec = wb::open_executor("cpu");
  exit_config c;
  c.prior_information = {0, 0.5, 1};
  for (const double e : wb::detector_exit(*exec, d, 3, c).extrinsic) EXPECT_NEAR(e, expected, 0.006);
}

/// A code with one check.
wb::ldpc_code parity_code(int n) { return {{1, n, std::vector<int>(static_cast<std::size_t>(n), 0)}, 1}; }

TEST(exit_of_a_decoder, is_that_of_a_measurement_in_double_precision) {
  const auto exec = wb::open_executor("cpu");
  exit_config c;
  c.bits = 120000;
  wb::ldpc_decoder_config settings;
  settings.algorithm = wb::ldpc_algorithm::sum_product;
  settings.early_stop = wb::ldpc_early_stop::none;
  // Two bits that are equal tell each other what they know.
  auto curve = wb::decoder_exit(*exec, *wb::make_soft_decoder(parity_code(2), settings), c);
  for (std::size_t i = 0; i < curve.prior.size(); i++)
    EXPECT_NEAR(curve.extrinsic[i], curve.prior[i], 0.008) << i;
  // Of three bits with an even sum each is the sum of two others.
  curve = wb::decoder_exit(*exec, *wb::make_soft_decoder(parity_code(3), settings), c);
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  double area = 0;
  for (std::size_t i = 0; i < curve.prior.size(); i++) {
    const double sigma = wb::gaussian_sigma(curve.prior[i]);
    sample_mean loss;
    for (int s = 0; s < 120000; s++) {
      const double a = sigma * sigma / 2 + sigma * normal(random),
                   b = sigma * sigma / 2 + sigma * normal(random);
      loss.add(
          missing(std::log1p(std::exp(a + b)) - std::max(a, b) - std::log1p(std::exp(-std::fabs(a - b)))));
    }
    if (curve.prior[i] < 1) {
      EXPECT_NEAR(curve.extrinsic[i], 1 - loss.mean(), 5 * std::sqrt(2.) * loss.deviation() + 1e-4) << i;
    }
    if (i > 0) area += 0.05 * (curve.extrinsic[i] + curve.extrinsic[i - 1]);
  }
  EXPECT_NEAR(curve.extrinsic.front(), 0, 1e-6);
  EXPECT_NEAR(curve.extrinsic.back(), 1, 1e-6);
  // The area under the curve is 1 - R, exactly so over erasure channels (A. Ashikhmin, G. Kramer, S. ten
  // Brink, "Extrinsic information transfer functions: model and erasure channel properties", 2004).
  EXPECT_NEAR(area, 1. / 3, 0.02);
}

/// Minus the binary entropy.
double minus_entropy(double p) {
  return p <= 0 || p >= 1 ? 0 : p * std::log2(p) + (1 - p) * std::log2(1 - p);
}

TEST(exit_of_a_decoder, of_min_sum_is_the_information_of_its_messages) {
  // Of three bits with an even sum: sign and the smaller magnitude, which is no LLR. The scale changes
  // nothing.
  const auto exec = wb::open_executor("cpu");
  exit_config c;
  c.bits = 120000;
  c.prior_information = {0, 0.2, 0.4, 0.6, 0.8, 1};
  std::vector<wb::exit_curve> curves;
  for (const float scale : {1.f, 0.75f, 0.01f}) {
    const wb::ldpc_decoder_config settings{.scale = scale, .early_stop = wb::ldpc_early_stop::none};
    curves.push_back(wb::decoder_exit(*exec, *wb::make_soft_decoder(parity_code(3), settings), c));
    for (std::size_t i = 0; i < c.prior_information.size(); i++)
      EXPECT_NEAR(curves.back().extrinsic[i], curves.front().extrinsic[i], 2e-3) << scale;
  }
  for (std::size_t i = 0; i < c.prior_information.size(); i++) {
    // The share of wrong signs at a magnitude m: one of the two LLRs has it, the other one is larger.
    const double sigma = wb::gaussian_sigma(c.prior_information[i]), mean = sigma * sigma / 2;
    double expected = 0;
    const int steps = 4000;
    for (int s = 0; s < steps && sigma > 0 && sigma < 20; s++) {
      const double width = (mean + 8 * sigma) / steps, m = (s + 0.5) * width;
      const auto density = [&](double x) {
        return std::exp(-(x - mean) * (x - mean) / (2 * sigma * sigma)) /
               (std::sqrt(2 * std::numbers::pi) * sigma);
      };
      const auto beyond = [&](double x) { return 0.5 * std::erfc((x - mean) / sigma / std::sqrt(2.)); };
      const double right = density(m), wrong = density(-m), more = beyond(m), less = 1 - beyond(-m);
      const double p = 2 * (right * more + wrong * less), q = 2 * (right * less + wrong * more);
      if (p + q > 0) expected += width * (p + q) * (1 + minus_entropy(q / (p + q)));
    }
    if (sigma >= 20) expected = 1;
    EXPECT_NEAR(curves[0].extrinsic[i], expected, 0.008) << i;
  }
}

TEST(exit_of_a_decoder, of_min_sum_rises_from_0_to_1) {
  const auto exec = wb::open_executor("cpu");
  wb::code_config code("wifi-ldpc");
  n_in(code) = 648;
  ldpc_decoder_in(code).iterations = 5;
  ldpc_decoder_in(code).early_stop = wb::ldpc_early_stop::none;
  exit_config c;
  c.bits = 30000;
  const auto curve = wb::decoder_exit(*exec, *wb::make_soft_decoder(code), c);
  EXPECT_EQ(curve.extrinsic.front(), 0);
  EXPECT_EQ(curve.extrinsic.back(), 1);
  for (std::size_t i = 1; i < curve.prior.size(); i++)
    EXPECT_GE(curve.extrinsic[i], curve.extrinsic[i - 1]) << i;
}

wb::code_config wimax(int n) {
  wb::code_config c("wimax-ldpc");
  n_in(c) = n;
  ldpc_decoder_in(c).algorithm = wb::ldpc_algorithm::sum_product;
  ldpc_decoder_in(c).iterations = 5;
  return c;
}

TEST(exit_of_a_loop, starts_on_the_curve_of_the_detector_and_stays_near_both) {
  detector_config d;
  d.type = "ml";
  wb::receiver_config receiver;
  receiver.outer = 3;
  receiver.interleaver = wb::receiver_interleaver::random;
  receiver.decoder_state = wb::receiver_state::reset;
  const auto exec = wb::open_executor("cpu");
  exit_config c;
  c.bits = 150000;
  const auto loop = wb::loop_exit(*exec, d, wimax(2304), receiver, 3, c);
  c.prior_information = {0, loop.decoder[0], loop.decoder[1]};
  const auto detector = wb::detector_exit(*exec, d, 3, c);
  c.prior_information = loop.detector;
  const auto decoder = wb::decoder_exit(*exec, *wb::make_soft_decoder(wimax(2304)), c);
  EXPECT_NEAR(loop.detector[0], detector.extrinsic[0], 0.006);
  for (std::size_t j = 0; j < 3; j++) {
    EXPECT_NEAR(loop.detector[j], detector.extrinsic[j], 0.02) << j;
    EXPECT_NEAR(loop.decoder[j], decoder.extrinsic[j], 0.1) << j;  // its LLRs are not Gaussian
    if (j > 0) {
      EXPECT_GT(loop.detector[j], loop.detector[j - 1]);
    }
  }
}

TEST(exit_of_a_loop, passes_the_tunnel_between_the_curves) {
  detector_config d;
  d.type = "pic";
  d.streams = d.rx_antennas = 4;
  d.qam = 16;
  d.set("demapper", "exact");
  auto code = wimax(2304);
  ldpc_decoder_in(code).early_stop = wb::ldpc_early_stop::none;  // finished frames would stay where they are
  wb::receiver_config receiver;
  receiver.outer = 5;
  receiver.interleaver = wb::receiver_interleaver::random;
  receiver.decoder_state = wb::receiver_state::reset;
  const auto exec = wb::open_executor("cpu");
  exit_config c;
  c.bits = 80000;
  const auto loop = wb::loop_exit(*exec, d, code, receiver, 12, c);
  c.prior_information = loop.decoder;
  const auto detector = wb::detector_exit(*exec, d, 12, c);
  c.prior_information = loop.detector;
  const auto decoder = wb::decoder_exit(*exec, *wb::make_soft_decoder(code), c);
  for (std::size_t j = 0; j < 4; j++) {
    EXPECT_LT(loop.detector[j + 1], detector.extrinsic[j] + 0.02) << j;  // below the upper curve ...
    EXPECT_LT(loop.decoder[j], decoder.extrinsic[j] + 0.03) << j;        // ... and above the lower one
    if (j < 3) {
      EXPECT_GT(loop.detector[j + 1], loop.detector[j] + 0.005) << j;
    }
  }
  EXPECT_GT(loop.decoder[4], 0.98);
}

// ---------------------------------------------------------------- areas

double area_under(const wb::exit_curve& curve) {
  double area = 0;
  for (std::size_t i = 1; i < curve.prior.size(); i++)
    area += (curve.prior[i] - curve.prior[i - 1]) * (curve.extrinsic[i] + curve.extrinsic[i - 1]) / 2;
  return area;
}
exit_config over_all_priors() {
  exit_config c;
  c.bits = 40000;
  c.prior_information.clear();
  for (int i = 0; i <= 20; i++) c.prior_information.push_back(i / 20.0);
  return c;
}

/// I(s; y | h) of an equally likely amplitude of a Rayleigh-faded dimension, for each of its bits, from
/// samples.
double information_of_an_amplitude(int bits, double snr_db, std::uint64_t seed) {
  const int levels = 1 << bits;
  std::vector<double> amplitudes;
  double energy = 0;
  for (int j = 0; j < levels; j++) {
    amplitudes.push_back(levels - 1 - 2 * j);
    energy += amplitudes.back() * amplitudes.back() / levels;
  }
  for (double& a : amplitudes) a /= std::sqrt(2 * energy);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, std::sqrt(0.5));
  const double n0 = std::pow(10, -snr_db / 10);
  const int samples = 200000;
  double sum = 0;
  for (int i = 0; i < samples; i++) {
    const double h = std::hypot(normal(random), normal(random)), noise = normal(random) * std::sqrt(n0);
    const double sent = amplitudes[random() % amplitudes.size()];
    double ratio = 0;
    for (const double a : amplitudes) {
      const double off = h * (sent - a) + noise;
      ratio += std::exp((noise * noise - off * off) / n0);
    }
    sum += bits - std::log2(ratio);
  }
  return sum / samples / bits;
}

TEST(exit_area, of_a_demapper_is_its_mutual_information) {
  const auto exec = wb::open_executor("cpu");
  for (const int bits : {1, 2, 3}) {  // BPSK, 4 and 8 amplitudes in each dimension
    detector_config d;
    d.type = "pic";  // of one stream: the exact demapper
    d.streams = d.rx_antennas = 1;
    d.qam = 1 << 2 * bits;
    d.set("demapper", "exact");
    const auto curve = wb::detector_exit(*exec, d, 6, over_all_priors());
    EXPECT_NEAR(area_under(curve), information_of_an_amplitude(bits, 6, 5), 0.006) << bits;
    if (bits == 1) {  // priors of other bits say nothing
      EXPECT_NEAR(curve.extrinsic.front(), curve.extrinsic.back(), 0.01);
    }
  }
}

TEST(exit_area, of_an_exact_decoder_is_1_less_its_rate) {
  const auto exec = wb::open_executor("cpu");
  wb::code_config c("conv");
  conv_in(c).algorithm = wb::conv_algorithm::log_map;
  wb::testing::k_in(c) = 500;
  const auto decoder = wb::make_soft_decoder(c);
  const auto curve = wb::decoder_exit(*exec, *decoder, over_all_priors());
  EXPECT_NEAR(area_under(curve), 1 - static_cast<double>(decoder->k()) / static_cast<double>(decoder->n()),
              0.006);
}

class exit_on : public on_backend {};
WB_ON_ALL_BACKENDS(exit_on);

TEST_P(exit_on, is_the_same_with_any_threads_and_on_a_scalar_cpu) {
  detector_config d;
  d.type = "nway";
  d.qam = 16;
  d.edit<wb::nway_settings>().ways = 1;
  wb::receiver_config receiver;
  receiver.outer = 2;
  exit_config c;
  c.prior_information = {0.2, 0.7};
  c.bits = 20000;
  const auto decoder = wb::make_soft_decoder(wimax(576));
  const auto charts = [&](wb::executor& e) {
    const auto loop = wb::loop_exit(e, d, wimax(576), receiver, 8, c);
    return std::vector{wb::detector_exit(e, d, 8, c).extrinsic, wb::decoder_exit(e, *decoder, c).extrinsic,
                       loop.detector, loop.decoder};
  };
  const auto here = charts(exec());
  EXPECT_EQ(here, charts(*open_reference()));
  EXPECT_EQ(here, charts(*GetParam().open(3)));
  exit_config other = c;
  other.seed = 2;
  EXPECT_NE(here[0], wb::detector_exit(exec(), d, 8, other).extrinsic);
}

TEST(exit_arguments, bad_ones_are_named) {
  const auto exec = wb::open_executor("cpu");
  detector_config d;
  d.type = "ml";
  exit_config c;
  c.bits = 100;
  const auto error = [&](auto change) {
    detector_config e = d;
    exit_config f = c;
    double snr_db = 5;
    change(e, f, snr_db);
    return blamed([&] { (void)wb::detector_exit(*exec, e, snr_db, f); });
  };
  EXPECT_EQ(error([](auto&, auto&, auto&) {}), "");
  EXPECT_EQ(error([](auto& e, auto&, auto&) { e.type = "mmse"; }), "detector");
  EXPECT_EQ(error([](auto&, auto& f, auto&) { f.bits = 0; }), "bits");
  EXPECT_EQ(error([](auto&, auto& f, auto&) { f.prior_information = {1.5}; }), "prior_information");
  EXPECT_EQ(error([](auto&, auto&, auto& s) { s = NAN; }), "snr_db");
  wb::code_config conv("conv");
  wb::testing::k_in(conv) = 100;
  EXPECT_EQ(blamed([&] { (void)wb::decoder_exit(*exec, *wb::make_soft_decoder(conv), c); }), "decoder");
  EXPECT_EQ(blamed([&] { (void)wb::loop_exit(*exec, d, conv, {}, 5, c); }), "decoder");
}

}  // namespace exit_test
