#pragma once

#include <cstdint>
#include <limits>
#include <vector>

/// Low-density parity-check codes by their definitions, for checking the library. Slow, plain, and sharing no
/// code with it. LLR = ln P(0) - ln P(1). Shapes that do not match throw std::invalid_argument.
namespace oracle {

/// A quasi-cyclic parity-check matrix as the standards print it: -1 is a zero block, s >= 0 the z x z
/// identity whose row r has its one in column (r + s) mod z.
struct base_matrix {
  std::vector<std::vector<int>> shifts;  ///< rows of equal length
  int z = 1;
};

/// Any parity-check matrix: for each row the columns of its ones.
struct parity_checks {
  int n = 0;
  std::vector<std::vector<int>> rows;
};
/// The ones of a row in order of the block columns.
parity_checks expand(const base_matrix& base);

/// H word, one value a row.
std::vector<std::uint8_t> syndrome(const parity_checks& h, const std::vector<std::uint8_t>& word);

/// Systematic encoder by Gaussian elimination on dense rows: all of H, whatever its structure.
class dense_encoder {
 public:
  /// `systematic`: the positions of the message's bits in the codeword, in the message's order.
  dense_encoder(const parity_checks& h, const std::vector<int>& systematic);
  /// The codeword that holds the message. Bits that H leaves open (fewer independent checks than other
  /// positions) are 0. Throws std::invalid_argument where no codeword holds the message.
  std::vector<std::uint8_t> encode(const std::vector<std::uint8_t>& message) const;
  /// Checks that determine a bit each.
  int rank() const { return static_cast<int>(solved_.size()); }

 private:
  using words = std::vector<std::uint64_t>;
  int n_ = 0;
  std::vector<int> systematic_;
  std::vector<int> solved_;  ///< position of the bit that a row determines
  std::vector<words> sums_;  ///< and the message bits it is the sum of
  std::vector<words> must_be_zero_;
};

enum class check_rule {
  sum_product,  ///< 2 artanh prod tanh(q / 2), exact
  min_sum,      ///< product of the signs, max(scale min |q| - offset, 0)
};
enum class check_order {
  layered,   ///< row after row, each with what those before it found
  flooding,  ///< all rows of an iteration from the results of the last one
};

struct ldpc_options {
  check_rule rule = check_rule::sum_product;
  check_order order = check_order::layered;
  double scale = 1, offset = 0;
  /// In place of these, one for each iteration; the last for all further ones.
  std::vector<double> scales = {}, offsets = {};
  int iterations = 10;
  /// Ends after the first iteration whose decisions satisfy all checks.
  bool stop = false;
  /// What a check takes from its bits is limited to +-limit.
  double limit = std::numeric_limits<double>::infinity();
  /// What the bits of each check sum to; empty: 0.
  std::vector<std::uint8_t> sums = {};
};
struct ldpc_result {
  std::vector<double> a_posteriori;
  std::vector<std::uint8_t> bits;  ///< a_posteriori < 0
  int iterations = 0;              ///< done
  bool satisfied = false;          ///< all checks have their sums with `bits`
};

/// What an outer iteration of an iterative receiver leaves to the next one. Empty: a start.
struct ldpc_kept {
  std::vector<std::vector<double>> to_checks;  ///< from each bit of each check; flooding
  std::vector<std::vector<double>> to_bits;    ///< and what the checks answered
};

/// Belief propagation in double precision. R. G. Gallager, "Low-density parity-check codes", 1962; layered:
/// D. E. Hocevar, "A reduced complexity decoder architecture via layered decoding of LDPC codes", 2004;
/// scaled and offset min-sum: J. Chen, A. Dholakia, E. Eleftheriou, M. Fossorier, X. Hu, "Reduced-complexity
/// decoding of LDPC codes", 2005.
/// With `kept`, messages go on where they were: layered, a-posteriori values begin with the new LLRs plus all
/// messages to the bits. Flooding, the first checks take the messages to them as they were. The new LLRs
/// count from the first update of the bits on.
ldpc_result ldpc_decode(const parity_checks& h, const std::vector<double>& llr, const ldpc_options& options,
                        ldpc_kept* kept = nullptr);

/// A double rounded to the nearest number of IEEE binary16, ties to even; from 65520 up infinite.
double round_to_half(double x);

/// Number formats in which min-sum is done step by step below.
enum class number_format {
  single,  ///< IEEE binary32
  half,    ///< IEEE binary16: every sum, difference and product rounded
  int8,    ///< multiples of 1 / steps; sums saturate at -128 and 127
};
struct rounded_options {
  number_format format = number_format::single;
  check_order order = check_order::layered;
  float scale = 1, offset = 0;
  /// In place of these, one for each iteration; the last for all further ones.
  std::vector<float> scales = {}, offsets = {};
  int iterations = 10;
  bool stop = false;
  float steps = 8;  ///< int8
};
/// Kept between two calls of ldpc_decode_rounded, in the numbers of the format. Empty: a start.
struct rounded_kept {
  std::vector<std::vector<double>> to_bits;
  std::vector<double> a_posteriori, channel;
};
struct rounded_result {
  /// As real numbers: of int8 the integers over `steps`. -0 is given as 0.
  std::vector<float> a_posteriori, extrinsic;
  std::vector<std::uint8_t> bits;
  int iterations = 0;
  bool satisfied = false;
};

/// Min-sum as a machine with that arithmetic does it. Channel LLRs are limited to +-1e30 (single), +-1000
/// (half), +-127 steps (int8; nearest step, ties to even); -0 becomes 0. The least two magnitudes m of a
/// check are limited to the same from their start on, on int8 to 42. The message is max(scale m - offset, 0),
/// on int8 max(((8 scale m + 4) >> 3) - offset, 0) with the offset in steps. Its sign is the product of the
/// other sign bits. Flooding adds up a bit's messages in two sums, in order of the block rows: those that
/// reach it by row
/// + shift < z, and those by row + shift - z; the a-posteriori value is (channel + first) + second.
///
/// With `kept`, flooding begins with the kept messages and a-posteriori values. So does layered but for bits
/// whose channel value has changed: with halves this value is the kept one plus the difference of the channel
/// values. Otherwise it is the new channel value plus the messages in order of the block rows. These are
/// added up in binary32 and then brought into the format once.
rounded_result ldpc_decode_rounded(const base_matrix& base, const std::vector<float>& llr,
                                   const rounded_options& options, rounded_kept* kept = nullptr);

}  // namespace oracle
