#pragma once
// What the decoders share on the host: their sizes, and how often one loads what, which its flops() needs.
#include <algorithm>

#include <warpband/core/check.hpp>
#include <warpband/fec/conv/conv.hpp>
#include <warpband/fec/conv/conv_args.hpp>

namespace wb {

/// k, if a decoder takes it; conv_frame checks the code.
inline int checked_k(const conv_code& code, int k) {
  const bool circular = code.ending == conv_ending::tail_biting;
  check_range("k", k, circular ? std::clamp(code.constraint_length, 3, 9) - 1 : 1, 65536);
  return k;
}

/// The steps around the circle that a decoder takes: -1 chooses, and only tail-biting codes have any.
inline int checked_overlap(const conv_frame& frame, int overlap) {
  check_range("overlap", overlap, -1, 4096);
  if (frame.code().ending != conv_ending::tail_biting) return 0;
  return overlap == -1 ? frame.usual_overlap() : overlap;
}

/// Adds a run of `count` steps from t on. The tables of `code` are on the host.
inline void add_run(conv_work& work, const conv_trellis& code, int t, int count) {
  work.runs++;
  for (int s = t; s < t + count; s++) {
    work.steps++;
    work.inputs += s < code.k;
    for (int i = 0; i < code.outputs; i++) work.values += code.places[s * code.outputs + i] >= 0;
  }
}
/// Adds the steps [from, to) around the circle, as conv_forward runs through them.
inline void add_forward(conv_work& work, const conv_trellis& code, int from, int to) {
  for (int v = from; v < to;) {
    const int t = (v % code.steps + code.steps) % code.steps;
    int count = code.steps - t < to - v ? code.steps - t : to - v;
    if (count > conv_run) count = conv_run;
    add_run(work, code, t, count);
    v += count;
  }
}
/// Adds the steps [0, to), as conv_backward runs through them.
inline void add_backward(conv_work& work, const conv_trellis& code, int to) {
  for (int v = to; v > 0;) {
    const int t = (v - 1) % code.steps;
    int count = t % conv_run + 1;
    if (v > code.steps && count > v - code.steps) count = v - code.steps;
    add_run(work, code, t + 1 - count, count);
    v -= count;
  }
}

}  // namespace wb
