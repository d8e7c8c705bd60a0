#pragma once

#include <cstdint>
#include <vector>

/// Polar codes in double precision, from the textbook: E. Arikan, "Channel polarization", IEEE Trans. Inf.
/// Theory, 2009; I. Tal, A. Vardy, "List decoding of polar codes", IEEE Trans. Inf. Theory, 2015; metrics of
/// A. Balatsoukas-Stimming, M. Bastani Parizi, A. Burg, "LLR-based successive cancellation list decoding of
/// polar codes", IEEE Trans. Signal Process., 2015.
namespace oracle {

enum class polar_bit : std::uint8_t {
  frozen,
  information,
  check,  ///< 5G NR: the sum of the information bits 5, 10, ... before it
};

/// u G with G the n-th Kronecker power of [1 0; 1 1], as a product with the matrix.
std::vector<std::uint8_t> polar_transform(const std::vector<std::uint8_t>& u);

struct polar_path {
  double metric;                ///< sum of the penalties: the smaller the likelier
  std::vector<std::uint8_t> u;  ///< all bits into the transform
};
/// The paths that survive, the likeliest first. `exact`: box-plus and ln(1 + e^x) instead of their max-log
/// forms. LLRs are ln P(0)/P(1).
std::vector<polar_path> polar_list(const std::vector<polar_bit>& bits, const std::vector<double>& llr,
                                   int list_size, bool exact);

/// phi(m) = 1 - E[tanh(L / 2)] of a Gaussian LLR of mean m and variance 2 m.
double polar_phi(double mean);

}  // namespace oracle
