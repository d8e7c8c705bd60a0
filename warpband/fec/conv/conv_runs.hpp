#pragma once
// How much a decoder loads: what its flops() needs, counted once on the host.
#include <warpband/fec/conv/conv_args.hpp>

namespace wb {

struct conv_runs {
  double values = 0, runs = 0;
};
/// Of steps before..steps + behind - 1, which go around the circle, in runs (conv_branch.hpp).
inline conv_runs count_runs(const conv_trellis& host, int before, int behind) {
  conv_runs all;
  for (int v = before; v < host.steps + behind; v++) {
    const int t = (v % host.steps + host.steps) % host.steps;
    for (int i = 0; i < host.outputs; i++) all.values += host.places[t * host.outputs + i] >= 0;
  }
  for (int v = before; v < host.steps + behind;) {
    const int t = (v % host.steps + host.steps) % host.steps;
    int count = host.steps - t < host.steps + behind - v ? host.steps - t : host.steps + behind - v;
    if (count > conv_run) count = conv_run;
    v += count;
    all.runs++;
  }
  return all;
}

}  // namespace wb
