#pragma once

/// Error probabilities in closed form and the tails needed to judge a measured one, for checking the library.
/// Signal-to-noise ratios are linear, not dB: esn0 = Es/N0 with N0 the variance of the complex noise.
namespace oracle {

/// Q(x) = P(Z > x) for a standard normal Z.
double normal_upper_tail(double x);

/// P(|Z| > |z|): the p-value of a measurement |z| standard deviations away.
double normal_two_sided_p(double z);

/// The x with Q(x) = p, 0 < p < 1. E.g. p = 0.025 gives 1.95996.
double normal_upper_quantile(double p);

/// Regularised upper incomplete gamma function Q(a, x) = Gamma(a, x) / Gamma(a), a > 0, x >= 0.
double regularised_gamma_upper(double a, double x);

/// P(X > x) for a chi-square X with `dof` degrees of freedom: the p-value of a chi-square test.
double chi_square_p(double x, double dof);

/// Bit error probability of BPSK in AWGN, Q(sqrt(2 Es/N0)).
double bpsk_awgn_ber(double esn0);

/// Bit error probability of coherent BPSK in flat Rayleigh fading with E|h|^2 = 1 and h known: (1 -
/// sqrt(g/(1+g)))/2, g = mean Es/N0 (J. Proakis, Digital Communications, chapter on fading channels).
double bpsk_rayleigh_ber(double mean_esn0);

/// The same with maximum-ratio combining of independent branches, each of that mean Es/N0 (Proakis, ibid.).
double bpsk_combined_rayleigh_ber(double mean_esn0_of_branch, int branches);

/// The same in Rician fading, each branch with K (linear), by moment generating functions (Simon and Alouini,
/// Digital Communication over Fading Channels, chapter 9). It is 1 / pi times the integral of
/// M(1 / sin^2 theta)^branches over theta in (0, pi / 2). With g the mean Es/N0 of a branch,
///   M(s) = (1 + K) / (1 + K + s g) exp(-K s g / (1 + K + s g)).
double bpsk_combined_rician_ber(double mean_esn0_of_branch, double k, int branches);

/// Bit error probability of Gray-mapped square QAM (4, 16, 64, 256 points) in AWGN with hard decisions per
/// dimension, the mean over the bits of a symbol. Exact: every decision region of every transmitted level is
/// summed.
double qam_awgn_ber(int points, double esn0);

/// The same for one bit of a dimension, 0 the sign bit (b(0) and b(1) of TS 38.211), 1 the next (b(2), b(3)),
/// ...
double qam_awgn_bit_ber(int points, double esn0, int bit);

}  // namespace oracle
