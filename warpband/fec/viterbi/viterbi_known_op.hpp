#pragma once
// The float32 Viterbi decoder of known codes as an op of a CUDA device. A block is a warp, whose teams of
// four threads decode a codeword each.
#include <warpband/exec/launch.hpp>
#include <warpband/fec/viterbi/viterbi_known_team.hpp>
#include <warpband/fec/viterbi/viterbi_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class Code>
struct viterbi_known_op {
  static constexpr bool by_block = true;
  using sizes = viterbi_known_sizes<6, Code>;
  static constexpr int at_once = 32 / sizes::team;
  /// Blocks of a multiprocessor: 128 registers a thread. On an H100 they hold 16896 codewords.
  static constexpr int resident = 16;

  viterbi_args a;
  int slots;

  explicit viterbi_known_op(const viterbi_args& args) : a(args), slots(sizes::slots_for(args)) {}
  /// Most slots for the decisions of a codeword, 8 bytes each. Of long codewords of rates 2/3 and 3/4 4096
  /// are kept; the next multiple of six is 4098. 16 blocks a multiprocessor of an H100 then take 0.55 GB.
  static constexpr int most_slots = 4098;
  static bool takes(const viterbi_args& a) { return !a.exact && sizes::slots_for(a) <= most_slots; }
  int threads() const { return 32; }
  /// Shared memory of a block.
  std::size_t scratch_bytes(int) const { return at_once * sizes::table_values * sizeof(float); }
  /// Device memory of a block.
  std::size_t kept_bytes() const {
    return static_cast<std::size_t>(slots) * 32 * sizeof(typename sizes::decisions);
  }
  double flops() const { return viterbi_op<sizes::Memory, true, 32>{a}.flops(); }
  double bytes() const { return viterbi_op<sizes::Memory, true, 32>{a}.bytes(); }

  /// What team number `team` of the warp does for `items` codewords, up to at_once, from `first` on. G: the
  /// threads of the team.
  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, int team, float* shared, void* kept) const {
    // A team without a codeword repeats the last one and stores nothing.
    const int index = team < items ? team : items - 1;
    viterbi_known<sizes::Memory, Code, G> d{
        {},
        a,
        g,
        {first + static_cast<std::size_t>(index), 1},
        team < items,
        shared + team * sizes::table_values,
        static_cast<typename sizes::decisions*>(kept) + team * g.size + g.rank,
        slots};
    d.run();
    d.finish();
  }
};

#if defined(__CUDACC__)
/// As many as work at once: each has its part of the workspace.
template <class Code>
std::size_t blocks_of(const viterbi_known_op<Code>& op, const device_limits& limits, std::size_t items) {
  const std::size_t calls = (items + op.at_once - 1) / op.at_once,
                    concurrent = static_cast<std::size_t>(limits.multiprocessors) * op.resident;
  return calls < concurrent ? calls : concurrent;
}
template <class Code>
std::size_t scratch_bytes(const viterbi_known_op<Code>& op, const device_limits& limits, std::size_t items) {
  return blocks_of(op, limits, items) * op.kept_bytes();
}
/// Defined in viterbi_known_kernels.cpp.
template <class Code>
int launch(const viterbi_known_op<Code>& op, const place& where);
extern template int launch(const viterbi_known_op<conv_known_code<0133, 0171>>&, const place&);
extern template int launch(const viterbi_known_op<conv_known_code<0133, 0171, 0165>>&, const place&);
#endif

}  // namespace WB_ISA
}  // namespace wb
