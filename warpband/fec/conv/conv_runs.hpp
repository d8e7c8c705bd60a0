#pragma once
// How often a decoder loads what: its flops() needs it, the host counts it once.
#include <warpband/fec/conv/conv_args.hpp>

namespace wb {

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
