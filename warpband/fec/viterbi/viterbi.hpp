#pragma once
// The Viterbi algorithm (A. J. Viterbi, IEEE Trans. Inf. Theory, 1967; G. D. Forney, Proc. IEEE, 1973): the
// most likely codeword of a convolutional code from soft input. Of a tail-biting code the most likely path
// around the circle, which for short blocks often is no codeword's (viterbi_config::overlap), or exactly.
//
//   M_{t+1}(s') = max over branches s -> s' of M_t(s) - sum of L over the branch's coded bits that are 1
//
// with L = ln P(0)/P(1), so that M is the log-likelihood ratio of a path against the all-zero codeword. The
// decisions of all steps are kept, a bit for each state, and traced back once. A long codeword has a ring
// instead, of 16 times the overlap of a tail-biting one. It is long if it exceeds two rings. Bits are decided
// once a quarter of the ring lies behind them. Survivors have met by then. Bits that were not sent weigh
// nothing. Where two paths into a state have equal metrics, that of the state whose oldest bit is 0 survives;
// where final states have, the lowest.
#include <optional>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/conv/conv.hpp>
#include <warpband/fec/conv/conv_precision.hpp>
#include <warpband/fec/quantise/quantise.hpp>
#include <warpband/fec/viterbi/viterbi_args.hpp>
#include <warpband/fec/viterbi/viterbi_short_args.hpp>

namespace wb {

enum class tail_biting_search {
  overlap,  // around the circle and on: one pass, the most likely codeword of long blocks
  exact,    // the most likely codeword of any block
};

struct viterbi_config {
  conv_code code = {};
  /// Information bits of a codeword, 1..65536; tail-biting at least K - 1.
  int k = 1024;
  /// Tail-biting: the decoder starts with all states alike and goes `overlap` steps around the circle before
  /// the codeword. It goes once through the codeword and on for `overlap` steps, and traces back from there.
  /// 0..4096; -1 chooses conv_frame::usual_overlap(). It does not enforce that the path ends in the state it
  /// began with. Short blocks lose by that: of K = 7, (133, 171), rate 1/2, at Es/N0 = -1.07 dB, 4000
  /// codewords of each size,
  ///
  ///     k                                            8      12     16     24     32     40     64
  ///     frame errors, maximum likelihood             0.065  0.062  0.054  0.034  0.037  0.034  0.044
  ///     frame errors of this decoder                 0.142  0.112  0.086  0.054  0.049  0.038  0.045
  ///     a more likely codeword exists                11.8%  8.3%   6.5%   3.3%   2.7%   1.2%   0.3%
  ///
  /// From about 10 (K - 1) bits on it is the most likely codeword in practice. Less noise and lower rates
  /// lose less: of 180 codewords of 40 to 104 bits of K = 7 (LTE at Es/N0 = -3 dB, 802.16 at -0.5 dB) all
  /// were the most likely ones.
  std::optional<int> overlap = {};
  /// Tail-biting: `exact` finds the codeword of the row "maximum likelihood" above. A first pass, in which
  /// all start states are alike, bounds the codewords that begin and end in each state. Further passes try
  /// one state each, the best bound first, until no bound left is above the best codeword found. A last pass
  /// finds its path again. That takes two passes without noise, and up to 2^(K-1) + 2 with much. Codewords of
  /// a call that lie in the lanes of one vector take as many as the slowest. Of equally likely codewords that
  /// with the better bound wins, then that with the lower state. There is no overlap then.
  tail_biting_search tail_biting = tail_biting_search::overlap;
  /// int16: bits and status only; tail_biting overlap. Bits are decided once max(32, conv_frame::
  /// usual_overlap()) steps lie behind them. Among paths of equal metric float32 and int16 choose alike.
  conv_precision precision = conv_precision::float32;
  /// int16: float LLRs become integers of +-127 steps, llr_steps for an LLR of 1, 0.25..64.
  /// Absent: chosen for each codeword (fec/quantise/quantise.hpp).
  std::optional<float> llr_steps = {};
  /// int16: windows of a codeword that are decoded in parallel. Each begins `overlap` steps early, with all
  /// states alike, and ends as many steps late. One window of a code that is not tail-biting has overlap 0.
  /// 1 to as many as are no shorter than the overlap; absent: the power of two that leaves them at least
  /// 1024 steps and 12 overlaps.
  std::optional<int> windows = {};
};
/// The configuration with overlap and windows chosen. Throws argument_error for what a decoder does not
/// allow.
viterbi_config completed(const viterbi_config& config);
template <class C>
setting_of<C> tail_biting_setting(tail_biting_search C::*member) {
  return words<C, tail_biting_search>(
             "tail_biting", member,
             {{"overlap", tail_biting_search::overlap}, {"exact", tail_biting_search::exact}},
             "How the Viterbi algorithm decodes tail-biting codewords. overlap: once, from `overlap` steps "
             "before to as many after, which often misses the most likely codeword of blocks below 10 (K - "
             "1) bits. exact: the most likely codeword, in two passes or, with much noise, many.")
      .left_out_by_default();
}
/// Its settings but the code.
const std::vector<setting_of<viterbi_config>>& viterbi_settings();

struct viterbi_output {
  view<std::uint8_t> bits = {};  // [batch, k]
  view<float> metric = {};       // [batch] M of the path that was traced back; tail-biting: overlaps included
  view<std::uint8_t> status = {};  // [batch] status_erased, status_insufficient
};

/// Decodes batches of codewords.
///
/// Input LLRs are [batch, n] in the order of the code's bits, limited to +-2^26 = 6.7e7. A codeword with a
/// NaN or infinite LLR is an erasure: its outputs are zero and its status says so; its neighbours are
/// untouched. So is one, with status_insufficient, of whose LLRs fewer than k are not 0. Multiplying all LLRs
/// by a power of two changes no decision in float32. With precision int16 and llr_steps LLRs are rounded to
/// the nearest of 1 / llr_steps, ties to even, and what rounds to 0 counts as 0.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class viterbi_decoder {
 public:
  /// Throws argument_error.
  explicit viterbi_decoder(const viterbi_config& config);
  /// Queues the decoding of a batch. Outputs without data are not computed. Throws shape_error.
  void run(executor& exec, view<const float> llr, const viterbi_output& out) const;
  /// LLRs as integers, which stay as they are; -128 as -127. Throws argument_error with precision float32.
  void run(executor& exec, view<const std::int8_t> llr, const viterbi_output& out) const;

  /// The configuration in force: overlap and windows as chosen.
  const viterbi_config& config() const noexcept { return config_; }
  const conv_frame& frame() const noexcept { return frame_; }

 private:
  viterbi_config config_;
  conv_frame frame_;
  conv_work work_;
  llr_scale scale_;

  void run_short(executor& exec, viterbi_short_args& a, std::size_t items, const viterbi_output& out) const;
};

}  // namespace wb
