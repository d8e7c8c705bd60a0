#pragma once
#include <warpband/fec/conv/conv_short_args.hpp>

namespace wb {

/// Steps of a stage of the 16-bit decoder: as many as its metrics have room for, see viterbi_short_body.hpp.
/// `paired`: the oldest and the newest bit of the register flip the same coded bits.
constexpr int viterbi_stage_steps(int memory, int outputs, bool paired) {
  if (memory < 4) return memory;
  const int branch = outputs * 127, largest = memory * branch / 2 + 1 + 4 * ((branch + 1) / 2);
  return (paired || memory == 4) && largest < 1 << 11 ? 4 : 2;
}

/// Whether metrics have room above and below that of state 0 in such stages, wherever it lies among them.
constexpr bool viterbi_centres_state_zero(int memory, int outputs, int steps) {
  const int branch = outputs * 127;
  return memory * branch + 1 + steps * ((branch + 1) / 2) < 1 << (15 - steps);
}

struct viterbi_short_args : conv_short_args {
  int depth = 0;  // steps after which paths have met
  int kept = 0;   // stages whose survivors are kept
};

}  // namespace wb
