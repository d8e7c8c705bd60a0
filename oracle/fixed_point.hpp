#pragma once

#include <vector>

#include <oracle/mimo.hpp>

/// MIMO detectors in fixed point, computed with integers: every stored number is a word, sums of products are
/// exact. A word of `length` bits is m 2^-fraction with |m| < 2^(length - 1); rounding is to nearest, ties to
/// even, and what is too large saturates. With M points y is scaled by ((M - 1) / 6)^(1/2) and n0 by its
/// square, in float32 as the samples are. Amplitudes then are odd multiples of 1/2.
///
/// LLRs as in oracle/mimo.hpp; empty where a column of H, or what is left of it, is 0 after rounding.
namespace oracle {

struct words {
  int length = 8, fraction = 4;
};

/// detect_nway with one child a level: that of the least metric, the larger amplitude first among equals.
std::vector<double> detect_nway_in_words(const mimo_use& use, int ways, double clip, words format);

/// Linear MMSE by the QR decomposition of [H; n0^(1/2) I]. Takes no priors.
std::vector<double> detect_mmse_in_words(const mimo_use& use, double clip, words format);

}  // namespace oracle
