#include <oracle/theory.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace oracle {

double normal_upper_tail(double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); }

double normal_two_sided_p(double z) { return std::erfc(std::fabs(z) / std::sqrt(2.0)); }

double normal_upper_quantile(double p) {
  if (!(p > 0.0 && p < 1.0))
    throw std::invalid_argument("oracle::normal_upper_quantile: p must be inside (0, 1)");
  double low = -40.0, high = 40.0;  // Q(40) is below the smallest double, so the answer is inside
  while (true) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) return middle;
    (normal_upper_tail(middle) > p ? low : high) = middle;
  }
}

double regularised_gamma_upper(double a, double x) {
  if (!(a > 0.0 && x >= 0.0))
    throw std::invalid_argument("oracle::regularised_gamma_upper: a > 0 and x >= 0");
  if (x == 0.0) return 1.0;
  if (std::isinf(x)) return 0.0;
  const double scale = std::exp(a * std::log(x) - x - std::lgamma(a));  // x^a e^-x / Gamma(a)
  constexpr double precision = std::numeric_limits<double>::epsilon();
  if (x < a + 1.0) {
    // P(a, x) = scale * sum of x^n / (a (a+1) ... (a+n)) (DLMF 8.11.4), all terms positive.
    double term = 1.0 / a;
    double sum = term;
    for (double n = 1.0; term > precision * sum; n += 1.0) {
      term *= x / (a + n);
      sum += term;
    }
    return 1.0 - scale * sum;
  }
  // Q(a, x) = scale / (x + 1 - a - 1(1-a)/(x + 3 - a - 2(2-a)/(x + 5 - a - ...))) (DLMF 8.9.2, even part).
  // Convergents A_n/B_n by the three-term recurrence; both are divided by B_n at each step, so only the ratio
  // is carried.
  double a_before = 1.0, b_before = 0.0;  // n = -1
  double value = x + 1.0 - a;             // A_0, with B_0 = 1
  for (double n = 1.0; n < 1e6; n += 1.0) {
    const double numerator = -n * (n - a);
    const double denominator = x + 1.0 - a + 2.0 * n;
    const double a_next = denominator * value + numerator * a_before;
    const double b_next = denominator + numerator * b_before;
    a_before = value / b_next;
    b_before = 1.0 / b_next;
    const double improved = a_next / b_next;
    const bool settled = std::fabs(improved - value) <= 2.0 * precision * std::fabs(improved);
    value = improved;
    if (settled) break;
  }
  return scale / value;
}

double chi_square_p(double x, double dof) { return regularised_gamma_upper(0.5 * dof, 0.5 * x); }

double bpsk_awgn_ber(double esn0) { return normal_upper_tail(std::sqrt(2.0 * esn0)); }

double bpsk_rayleigh_ber(double mean_esn0) {
  // (1 - r)/2 with r^2 = g/(1+g), written as (1 - r^2)/(2(1 + r)) to keep its digits at high SNR.
  const double r = std::sqrt(mean_esn0 / (1.0 + mean_esn0));
  return 0.5 / ((1.0 + mean_esn0) * (1.0 + r));
}

double bpsk_combined_rayleigh_ber(double mean_esn0_of_branch, int branches) {
  const double p = bpsk_rayleigh_ber(mean_esn0_of_branch);
  double sum = 0, term = 1;  // binomial(branches - 1 + l, l) (1 - p)^l
  for (int l = 0; l < branches; l++) {
    sum += term;
    term *= (branches + l) * (1 - p) / (l + 1);
  }
  return std::pow(p, branches) * sum;
}

double bpsk_combined_rician_ber(double mean_esn0_of_branch, double k, int branches) {
  // The integrand is even and of period pi, so that the midpoint rule converges faster than any power of the
  // step.
  const int steps = 2000;
  double sum = 0;
  for (int i = 0; i < steps; i++) {
    const double sine = std::sin((i + 0.5) * std::acos(0.0) / steps);
    const double snr = mean_esn0_of_branch / (sine * sine);
    sum += std::pow((1 + k) / (1 + k + snr) * std::exp(-k * snr / (1 + k + snr)), branches);
  }
  return 0.5 * sum / steps;
}

namespace {

int bits_per_dimension(int points) {
  switch (points) {
    case 4:
      return 1;
    case 16:
      return 2;
    case 64:
      return 3;
    case 256:
      return 4;
    default:
      throw std::invalid_argument("oracle: square QAM has 4, 16, 64 or 256 points");
  }
}

}  // namespace

double qam_awgn_bit_ber(int points, double esn0, int bit) {
  const int bits = bits_per_dimension(points);
  if (bit < 0 || bit >= bits) throw std::invalid_argument("oracle::qam_awgn_bit_ber: no such bit");
  const int levels = 1 << bits;
  // Levels are the odd integers times a; two dimensions of mean energy a^2 (levels^2 - 1)/3 make Es = 1. The
  // noise of one dimension has variance N0/2.
  const double unit = std::sqrt(1.5 / (points - 1)) * std::sqrt(2.0 * esn0);  // a / sigma
  // The n-th level from the left carries the binary reflected Gray code of n. That is TS 38.211's mapping, up
  // to inverted bits, which change no error probability.
  const auto label_bit = [&](int n) { return ((n ^ (n >> 1)) >> (bits - 1 - bit)) & 1; };
  double errors = 0.0;
  for (int sent = 0; sent < levels; ++sent) {
    for (int decided = 0; decided < levels; ++decided) {
      if (label_bit(sent) == label_bit(decided)) continue;
      // The region of a level reaches one unit to either side, the outermost to infinity. Seen from the sent
      // level it lies `near`..`far` away; the mirror image of a region on the left has the same probability.
      const int distance = std::abs(decided - sent);
      const bool outermost = decided == 0 || decided == levels - 1;
      const double near = (2.0 * distance - 1.0) * unit;
      const double far = (2.0 * distance + 1.0) * unit;
      errors += normal_upper_tail(near) - (outermost ? 0.0 : normal_upper_tail(far));
    }
  }
  return errors / levels;
}

double qam_awgn_ber(int points, double esn0) {
  const int bits = bits_per_dimension(points);
  double sum = 0.0;
  for (int bit = 0; bit < bits; ++bit) sum += qam_awgn_bit_ber(points, esn0, bit);
  return sum / bits;
}

}  // namespace oracle
