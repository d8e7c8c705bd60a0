#pragma once

#include <cstdint>
#include <vector>

#include <oracle/turbo.hpp>

/// Convolutional turbo codes of IEEE 802.16 §8.4.9.2.3 and ETSI EN 301 790 in double precision, for checking
/// the library.
namespace oracle {

/// P0..P3 of a number of couples.
struct ctc_parameters {
  int couples, p0, p1, p2, p3;
};

/// The row of a number of couples N, as IEEE 802.16-2009 tables 502 and 503 or EN 301 790 print it. Throws
/// std::invalid_argument.
ctc_parameters ctc_table(bool wimax, int couples);

/// The couple at each j of the interleaved sequence: step 2 of the interleaver.
std::vector<int> ctc_addresses(const ctc_parameters& parameters);

/// The streams A, B, Y1, Y2, W1, W2, one after the other, of bits A0 B0 A1 B1 ... The circulation state comes
/// from the table of the standards. Throws std::invalid_argument.
std::vector<std::uint8_t> ctc_encode(const std::vector<std::uint8_t>& bits, const ctc_parameters& parameters);

struct ctc_options {
  oracle::algorithm algorithm = oracle::algorithm::log_map;
  double scale = 1.0;  ///< on extrinsics, but those of the last iteration
  int iterations = 8;
  /// Each recursion begins so many couples early, on the circle, with the metrics that it had there in the
  /// iteration before. In the first iteration they are equal.
  int overlap = 0;
};

struct ctc_result {
  std::vector<double> a_posteriori;  ///< LLRs of A0 B0 A1 B1 ...
  /// LLRs of the six streams without the bits' own ones: of information bits by both decoders, of parity bits
  /// by their own with the last extrinsic values of the other.
  std::vector<double> extrinsic;
};
/// From LLRs of the six streams: max* over symbols in the log domain.
ctc_result ctc_decode(const std::vector<double>& llr, const ctc_parameters& parameters,
                      const ctc_options& options);

/// A-posteriori LLRs of one constituent decoder without a-priori values: the exact MAP of a circular trellis,
/// summed over all states in which the circle may begin. `llr`: A, B, Y, W.
std::vector<double> ctc_exact_constituent(const std::vector<double>& llr, int couples);

}  // namespace oracle
