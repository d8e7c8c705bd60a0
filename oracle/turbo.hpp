#pragma once

#include <cstdint>
#include <vector>

/// Double-precision turbo decoder, for checking the library: one window, no clamps, no approximations but
/// max-log.
namespace oracle {

enum class algorithm {
  log_map,  ///< max*(a, b) = max(a, b) + ln(1 + exp(-|a - b|)), exact
  max_log,  ///< max*(a, b) = max(a, b)
};

struct turbo_options {
  oracle::algorithm algorithm = oracle::algorithm::log_map;
  /// Factor on the extrinsic values of both constituents, in every iteration but the last: it answers the
  /// optimism of what the next iteration would believe.
  double scale = 1.0;
  /// Full iterations, two half-iterations each; 0 gives decisions on the channel alone.
  int iterations = 6;
};

struct turbo_result {
  /// Of the second constituent in natural order, from the last iteration and so not scaled.
  std::vector<double> extrinsic;
  /// Systematic channel LLR + extrinsic 1 + extrinsic 2, both from the last iteration.
  std::vector<double> a_posteriori;
  std::vector<std::uint8_t> bits;  ///< a_posteriori < 0
  /// Of all coded bits in the order of `llr`: for information bits extrinsic 1 + extrinsic 2. For parity and
  /// tail bits the output of their constituent without the bit's own LLR; its a-priori values are the last
  /// ones of the other.
  std::vector<double> coded_extrinsic = {};
};

/// Decodes one codeword of TS 36.212 §5.1.3.2. LLR = ln P(0) - ln P(1).
///
/// `llr` holds the 3(k + 4) channel values of d0, then d1, then d2, tails in the order of §5.1.3.2.2.
/// `interleaver[i]` is the index of the information bit that enters encoder 2 at time i.
/// An iteration is decoder 1 (natural order), then decoder 2 (interleaved order); the first a-priori values
/// are 0. Each constituent runs the BCJR recursions over k + 3 steps, the three tail steps included, from the
/// known zero state to the known zero state. Throws std::invalid_argument for shapes that do not match or an
/// interleaver that is not a permutation. The values must be finite.
///
/// Reference: L. R. Bahl, J. Cocke, F. Jelinek, J. Raviv, "Optimal decoding of linear codes for minimizing
/// symbol error rate", IEEE Trans. Inf. Theory, 1974; in the log domain: P. Robertson, E. Villebrun, P.
/// Hoeher, ICC 1995.
turbo_result turbo_decode(const std::vector<double>& llr, const std::vector<int>& interleaver,
                          const turbo_options& options);

}  // namespace oracle
