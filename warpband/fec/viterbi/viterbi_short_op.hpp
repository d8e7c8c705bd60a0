#pragma once
// The 16-bit Viterbi decoder as an op: windows of codewords are the lanes of values.
#include <warpband/fec/conv/conv_short_op.hpp>
#include <warpband/fec/viterbi/viterbi_short_windows.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Memory, int Steps, bool Paired, class V = i16x, class Code = conv_any_code>
struct viterbi_short_op : conv_short_op<viterbi_short_op<Memory, Steps, Paired, V, Code>,
                                        viterbi_parts<Memory, Steps>, V, Code, viterbi_short_args> {
  using parts = viterbi_parts<Memory, Steps>;
  using base = conv_short_op<viterbi_short_op, parts, V, Code, viterbi_short_args>;
  using base::a, base::lanes, base::L, base::S;
  static constexpr int R = parts::steps, scale = R;
  std::size_t metrics_at = 0, survivors_at;  // where in a tile's scratch they lie

  explicit viterbi_short_op(const viterbi_short_args& args) : base(args) {
    constexpr std::size_t vector_bytes = sizeof(short_element) * L;
    if (!parts::with_metrics) metrics_at = this->take(2 * vector_bytes * parts::room);
    survivors_at = this->take(vector_bytes * static_cast<std::size_t>(a.kept) * parts::words);
  }
  /// Of packed numbers together: three for a state and step, two for a state and stage; of the weights and of
  /// the LLRs that count.
  double flops() const {
    const double steps = a.windows * (a.length + 2.0 * a.overlap), weights = 1 << a.code.outputs;
    constexpr double packed = static_cast<double>(lanes) / WB_WIDTH;
    double stage = 2.0 * S + parts::size + 1;
    if constexpr (Code::known)
      stage = parts::count * weights + 1 + (viterbi_centres_state_zero(Memory, Code::outputs, R) ? 0.0 : S);
    return steps * (3.0 * S + stage / R + weights + 1 + 4.0 * a.code.outputs) / packed +
           (a.llr8.data ? 0 : 3) * static_cast<double>(a.llr.elements);
  }

  template <class G>
  WB_HD void decode_windows(const conv_short_lanes& lane_map, G g, char* scratch, const int* codes,
                            conv_short_branches<V, G, Code>& branches, std::int32_t* usable) const {
    viterbi_windows<Memory, R, Paired, Code, V, G> windows{a,
                                                           lane_map,
                                                           g,
                                                           this->shorts(scratch, metrics_at),
                                                           this->shorts(scratch, survivors_at),
                                                           codes,
                                                           branches,
                                                           usable,
                                                           to_short(0)};
    windows.run();
  }
};

}  // namespace WB_ISA
}  // namespace wb
