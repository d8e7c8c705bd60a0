#pragma once
// EXIT charts: how much a detector and a decoder learn from each other's extrinsic LLRs (S. ten Brink,
// "Convergence behavior of iteratively decoded parallel concatenated codes", IEEE Trans. Commun., 2001).
//
// A transfer curve is the mutual information between the bits and the extrinsic LLRs of a detector or
// decoder, over that of its a-priori LLRs. These are Gaussian: mean (1 - 2 b) sigma^2 / 2, variance sigma^2,
// of information J(sigma) (`gaussian_information`). Where the curve of the detector lies above the inverse of
// the decoder's, the loop converges; a trajectory shows the real loop between the two.
//
// Information is 1 - E h(p), with p the measured share of wrong signs among LLRs of a magnitude and h the
// binary entropy. That is I(b; L) of any algorithm whose LLRs treat both values of a bit alike, whatever
// their scale: LLRs of max-log and min-sum are not true ones. Magnitudes are taken together in eight bins for
// each octave.
//
// Randomness is counted: the result depends on seed and number of bits alone, not on threads, batch or
// backend.
#include <cstdint>
#include <functional>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/receive/iterative.hpp>

namespace wb {

/// J(sigma), in bits, 0..1: of sigma >= 0.
double gaussian_information(double sigma);
/// Its inverse, of 0..1; 1 gives 20, where J is 1 in double precision.
double gaussian_sigma(double information);

struct exit_config {
  /// Where curves are measured, each 0..1. Of 1 the a-priori LLRs are +-most_feedback.
  std::vector<double> prior_information = {0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1};
  /// Coded bits of a point, rounded up to whole uses or codewords: 1..1e9.
  std::size_t bits = 200000;
  std::uint64_t seed = 1;
};

/// extrinsic[i] over prior[i], in bits.
struct exit_curve {
  std::vector<double> prior, extrinsic;
};
/// Of the real loop after each outer iteration, in bits: the information of the detector's output and that of
/// what the decoder feeds back.
struct exit_trajectory {
  std::vector<double> detector, decoder;
};

/// Of a detector with a new matrix of independent CN(0, 1) entries in each use, N0 = streams * 10^(-snr_db /
/// 10). Throws argument_error for a detector that takes no prior, and for what is not allowed.
exit_curve detector_exit(executor& exec, const detector_config& detector, double snr_db,
                         const exit_config& config = {});
/// Of a decoder that begins anew. One that stops early leaves after fewer iterations, with less information,
/// where a-priori LLRs are good: near 1 its curve may fall. Codewords of zeros are sent: to a linear code and
/// a decoder that treats both signs alike all codewords are the same. Throws argument_error.
exit_curve decoder_exit(executor& exec, const soft_decoder& decoder, const exit_config& config = {});
/// Of the loop over the channel of detector_exit, with random bits. Throws argument_error.
exit_trajectory loop_exit(executor& exec, const detector_config& detector, const code_config& code,
                          const receiver_config& receiver, double snr_db, const exit_config& config = {});
/// Bits [frames, k] to coded ones [frames, n]; bits that are not free, such as a CRC, are set.
using frame_encoder = std::function<void(executor& exec, view<std::uint8_t> bits, view<std::uint8_t> coded)>;
/// Of a receiver of one's own, whose detector is that of `detector`, and the encoder of its code.
exit_trajectory loop_exit(executor& exec, const detector_config& detector, const iterative_receiver& receiver,
                          const frame_encoder& encode, double snr_db, const exit_config& config = {});

}  // namespace wb
