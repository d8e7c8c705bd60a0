#pragma once
// Op of the BCJR decoder in 16-bit integers: the lanes of a value are windows of codewords.
#include <warpband/fec/bcjr/bcjr_short_windows.hpp>
#include <warpband/fec/conv/conv_short_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Trellis steps of a stage. The registers of a CPU hold four states. On CUDA smaller parts give more threads
/// per codeword.
template <int Memory>
inline constexpr int bcjr_short_steps = WB_WIDTH > 1 || Memory < 3 || i16x::items == 1 ? 2 : 3;

template <int Memory, bool Paired, class V = i16x, int Steps = bcjr_short_steps<Memory>,
          class Code = conv_any_code>
struct bcjr_short_op : conv_short_op<bcjr_short_op<Memory, Paired, V, Steps, Code>, bcjr_parts<Memory, Steps>,
                                     V, Code, bcjr_short_args> {
  using parts = bcjr_parts<Memory, Steps>;
  using base = conv_short_op<bcjr_short_op, parts, V, Code, bcjr_short_args>;
  using base::a, base::lanes, base::L, base::S;
  static constexpr int scale = 0;
  std::size_t metrics_at, runs_at, stages_at, ratios_at;  // where in a tile's scratch they lie

  explicit bcjr_short_op(const bcjr_short_args& args) : base(args) {
    constexpr std::size_t vector_bytes = sizeof(short_element) * L, set = vector_bytes * parts::room;
    metrics_at = this->take(2 * set);
    runs_at = this->take(set * (static_cast<std::size_t>(a.length / parts::run) + 5));  // of two segments
    stages_at = this->take(set * (parts::run / Steps));
    ratios_at = this->take(vector_bytes * conv_run);
  }
  /// Packed operations. A recursion takes three for each state and step, and alpha has up to three passes. A
  /// stage takes one for each state. Ratios take two for each state and step. Weights and LLRs add theirs.
  double flops() const {
    constexpr double packed = static_cast<double>(lanes) / WB_WIDTH, run = parts::run;
    const double weights = 1 << a.code.outputs, window = a.length, overlap = a.overlap;
    const double forward = window > run ? overlap + window - run : overlap, back = window + overlap,
                 again = window * (1 - Steps / run), inside = window;
    return a.windows *
               ((forward + again + inside + back) * (3.0 + 1.0 / Steps) * S + 2.0 * S * window +
                (forward + back) * (weights + 1 + 4.0 * a.code.outputs)) /
               packed +
           (a.soft.data ? a.code.k : 0) + (a.llr8.data ? 0 : 6) * static_cast<double>(a.llr.elements);
  }

  template <class G>
  WB_HD void decode_windows(const conv_short_lanes& lane_map, G g, char* scratch, const int* codes,
                            conv_short_branches<V, G, Code>& branches, std::int32_t* usable) const {
    const bcjr_short_space space{this->shorts(scratch, metrics_at), this->shorts(scratch, runs_at),
                                 this->shorts(scratch, stages_at), this->shorts(scratch, ratios_at)};
    bcjr_windows<Memory, Steps, Paired, Code, V, G>{a, lane_map, g, space, codes, branches, usable}.run();
  }
};

}  // namespace WB_ISA
}  // namespace wb
