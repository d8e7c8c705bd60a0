#pragma once
// What the decoders share on the host: their sizes, and how often one loads what, which its flops() needs.
#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/conv/conv.hpp>
#include <warpband/fec/conv/conv_short_args.hpp>

namespace wb {

/// k, if a decoder takes it; conv_frame checks the code.
inline int checked_k(const conv_code& code, int k) {
  const bool circular = code.ending == conv_ending::tail_biting;
  check_range("k", k, circular ? std::clamp(code.constraint_length, 3, 9) - 1 : 1, 65536);
  return k;
}

/// The steps around the circle that a decoder takes; only tail-biting codes have any.
inline int checked_overlap(const conv_frame& frame, std::optional<int> overlap) {
  if (overlap) check_range("overlap", *overlap, 0, 4096);
  if (frame.code().ending != conv_ending::tail_biting) return 0;
  return overlap ? *overlap : frame.usual_overlap();
}

inline int conv_ceiling(int x, int divisor) { return (x + divisor - 1) / divisor; }

/// Chooses the windows of a 16-bit decoder (absent: those of at least so many steps and overlaps) and their
/// overlap.
inline void choose_conv_windows(const conv_frame& frame, int least_steps, int least_overlaps,
                                std::optional<int>& windows, std::optional<int>& overlap) {
  const int steps = frame.on_host().steps, usual = overlap ? *overlap : frame.usual_overlap(),
            max_windows = std::max(1, steps / std::max(usual, 1));
  if (!windows) {
    const int least = std::max(least_steps, least_overlaps * usual);
    windows = static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(1, steps / least))));
  } else if (*windows > max_windows) {
    throw argument_error("windows", std::to_string(*windows),
                         "1 to " + std::to_string(max_windows) + ": windows no shorter than the overlap of " +
                             std::to_string(usual));
  }
  windows = conv_ceiling(steps, conv_ceiling(steps, *windows));
  overlap = windows == 1 && frame.code().ending != conv_ending::tail_biting ? 0 : usual;
}
/// What 16-bit decoders take alike.
inline void fill_conv_short(conv_short_args& a, const conv_frame& frame, executor& exec, int windows,
                            int overlap) {
  a.code = frame.on(exec);
  a.known = frame.known();
  const int coded = (1 << a.code.outputs) - 1;
  a.code.older &= coded;
  a.code.newer &= coded;
  a.punctured = frame.punctured();
  a.windows = windows;
  a.length = conv_ceiling(a.code.steps, windows);
  a.overlap = overlap;
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
