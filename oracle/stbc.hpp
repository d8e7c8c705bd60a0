#pragma once

#include <array>
#include <complex>
#include <vector>

/// Space-time block codes by their definitions, for checking the library: codewords are matrices, distances
/// are |Y - H S|^2 itself.
namespace oracle {

enum class space_time { alamouti, pair, golden, sfbc, fstd };

struct space_time_block {
  space_time kind = space_time::pair;
  std::array<std::complex<double>, 4> v = {};  ///< V of a pair, row after row

  int symbols() const { return kind == space_time::alamouti || kind == space_time::sfbc ? 2 : 4; }
  int antennas() const { return kind == space_time::fstd ? 4 : 2; }  ///< and as many slots or subcarriers
  bool over_subcarriers() const { return kind == space_time::sfbc || kind == space_time::fstd; }
};
/// V of the Silver code (Bollapalli et al., eq. 6).
std::array<std::complex<double>, 4> silver_matrix();

/// S: element uses * antenna + slot. Every antenna sends unit mean energy for symbols of unit mean energy.
/// Those over subcarriers are the matrices of TS 36.211 clause 6.3.4.3, times sqrt 2 (sfbc) or 2 (fstd).
std::vector<std::complex<double>> space_time_matrix(const space_time_block& code,
                                                    const std::vector<std::complex<double>>& symbols);

struct stbc_use {
  space_time_block code;
  int points = 4;                       ///< of `constellation`
  std::vector<std::complex<double>> y;  ///< element rx * slot + r
  std::vector<std::complex<double>> h;  ///< element 2 * r + antenna; over subcarriers one H after the other
  double n0 = 1;
  std::vector<double> prior = {};  ///< ln P(b = 0) - ln P(b = 1), symbol after symbol; empty for none

  int rx() const { return static_cast<int>(h.size() / 2); }
};

struct stbc_answer {
  std::vector<int> symbols;  ///< indices into the constellation of the most likely codeword
  double metric = 0;         ///< its |Y - H S|^2, less n0 times the ln P of its bits but for a constant
  std::vector<double> llr;   ///< max-log ln P(b = 0) - ln P(b = 1), a-posteriori, symbol after symbol
};

/// The metric of one hypothesis.
double stbc_metric(const stbc_use& use, const std::vector<int>& symbols);
/// All hypotheses; at most 2^24.
stbc_answer stbc_exhaustive(const stbc_use& use);
/// For every (x3, x4) all pairs of real parts of (x1, x2) and, apart from them, of imaginary parts. Throws
/// std::logic_error where the code does not let them separate.
stbc_answer stbc_conditional(const stbc_use& use);
/// Linear combining of a code over subcarriers. A pair of them is [y_0; y_1*] = G [x1; x2*] + noise, matched
/// by G^H. What the off-diagonal of G^H G leaves of the other symbol counts as noise. `metric` is not set.
stbc_answer stbc_combining(const stbc_use& use, int rx);
/// The literal search of Bollapalli et al., section III-C, for pair codes with their induced channels P and
/// Q: steps 1 to 4, each entry of c sliced to the nearest point. Without a-priori LLRs.
std::vector<int> stbc_literal(const stbc_use& use);

}  // namespace oracle
