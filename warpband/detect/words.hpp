#pragma once
// Fixed point of nway and mmse: every number that is stored is a word (core/fixed_point.hpp). Words are the
// entries of H, y, Q and R, residuals, estimates, metrics of paths, noise variances and LLRs. All have one
// format. Sums of products keep the 24 bits of float32. With words of up to 12 bits LLRs are those of
// integers in every bit. With longer ones a sum can be rounded close to a tie.
//
// y is scaled by ((M - 1) / 6)^(1/2) and N0 by (M - 1) / 6, so that neighbouring points of M-QAM are 1 apart.
// mmse takes the QR decomposition of [H; N0^(1/2) I]: the error of stream k is the squared norm of row k of
// its Q below H. nway has the child of the least metric instead of a division.
//
// Contract. A number too large for a word saturates, an LLR too. Divisors are one step at least. A use is
// erased where a column of H, or what is left of it in the QR decomposition, is 0 after rounding. What
// `extrinsic` takes off is in float32.
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/core/word_format.hpp>

namespace wb {

struct detector_config;

struct word_settings {
  std::optional<int> word_length = {};    // 4..16 bits with the sign; absent: float32
  std::optional<int> fraction_bits = {};  // 0..word_length - 1; absent: see completed
  bool operator==(const word_settings&) const = default;
};

const std::vector<setting_of<word_settings>>& word_length_settings();
/// With fraction_bits chosen: words reach 8, or twice, four times, ... as far, until that is three standard
/// deviations (streams (M - 1) / 12)^(1/2) of a part of y. Throws argument_error.
word_settings completed(const word_settings& s, const detector_config& c);
/// Of completed settings with a word length.
word_format format_of(const word_settings& s);
/// ", 8 bits" for a label; "" in float32.
std::string text_of(const word_settings& s);

}  // namespace wb
