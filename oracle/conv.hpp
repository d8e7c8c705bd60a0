#pragma once

#include <cstdint>
#include <vector>

#include <oracle/turbo.hpp>

/// Convolutional codes in double precision, from the textbook: S. Lin, D. J. Costello, "Error Control
/// Coding", 2nd ed., chapters 11 and 12.
namespace oracle {

enum class conv_end { zero_tail, tail_biting, truncated };

struct conv {
  int constraint_length = 7;
  std::vector<int> generators;  ///< octal notation, the most significant bit belongs to the newest bit
  int feedback = 0;             ///< 0: none
  conv_end end = conv_end::zero_tail;
  std::vector<std::uint8_t> sent;  ///< [period][generators]; empty: all
};

/// Coded bits, step by step, generator by generator, without those that are not sent.
std::vector<std::uint8_t> conv_encode(const conv& code, const std::vector<std::uint8_t>& bits);

struct viterbi_result {
  std::vector<std::uint8_t> bits;
  double metric;  ///< sum over the coded bits that are 1 of -LLR: the largest of all codewords
};
/// The most likely codeword; tail-biting by a search from every start state.
viterbi_result conv_viterbi(const conv& code, const std::vector<double>& llr, int k);

struct bcjr_result {
  std::vector<double> a_posteriori;  ///< LLRs of the k bits
  std::vector<double> coded;         ///< a-posteriori LLRs of the coded bits, in the order of `llr`
};
/// BCJR over the whole trellis; tail-biting as the sum (maximum) over all start states. An empty prior is 0.
bcjr_result conv_bcjr(const conv& code, const std::vector<double>& llr, const std::vector<double>& prior,
                      int k, algorithm kind);

}  // namespace oracle
