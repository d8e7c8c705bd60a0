#pragma once
// Mutual information of BPSK and Gray QAM with equally likely points in y = s + n, n ~ CN(0, N0), at an SNR
// of Es/N0 (G. Ungerboeck, IEEE Trans. IT 28(1), 1982; G. Caire, G. Taricco, E. Biglieri, IEEE Trans. IT
// 44(3), 1998). With D = log2 M - I, of M points x and noise z:
//   symbol:  D = E_x,z log2(1 + sum_{x' != x} p(y | x') / p(y | x)), what joint decoding of a symbol's bits
//            may use: coded modulation
//   bit:     D = sum_i E_x,z log2(1 + sum_{x': b_i differs} p(y | x') / sum_{x': b_i equal} p(y | x')),
//            what a demapper without a-priori LLRs leaves: BICM
// Both terms are sums of positive numbers. So D is accurate where I is close to log2 M, and I where it is
// close to 0. Square QAM is two equal PAM dimensions.
#include <vector>

namespace wb {

enum class information_kind { bit, symbol };

/// I in bits a symbol, of a constellation of `qam` points (2, 4, 16, 64, 256, 1024 or 4096) at -300..300 dB.
/// Relative error of I and of log2(qam) - I below 1e-5, or 2e-5 dB in the SNR. The first call for a
/// constellation computes a table (4096 points: about a second).
/// Throws argument_error ("qam", "snr_db").
double mutual_information(int qam, double snr_db, information_kind kind = information_kind::bit);

/// The SNR in dB at which the mutual information is `bits`, above 0 and below log2(qam).
/// Throws argument_error ("qam", "bits").
double snr_db_of_information(int qam, double bits, information_kind kind = information_kind::bit);

/// ln I and ln D on the grid that `effective_sinr` interpolates. Interval i begins at first_db + i step_db.
/// It has four coefficients of a cubic in [0, 1] for ln I, then four for ln D.
struct information_grid {
  static constexpr double first_db = -50, step_db = 0.25;
  static constexpr int intervals = 520;
  static constexpr int values = 8;  // of an interval
};
/// The coefficients, [intervals, values]; computed once for a constellation and kept. Any threads may call.
const std::vector<double>& information_table(int qam, information_kind kind);

}  // namespace wb
