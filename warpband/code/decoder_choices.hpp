#pragma once
// What kinds of codes list for `warpband choose`.
#include <initializer_list>
#include <vector>

namespace wb {

/// Each of these decoders with its own number of iterations, then with each of the others.
template <class Decoder>
std::vector<Decoder> with_iterations_of(const std::vector<Decoder>& decoders,
                                        std::initializer_list<int> others) {
  std::vector<Decoder> choices;
  for (const Decoder& decoder : decoders) {
    choices.push_back(decoder);
    for (const int iterations : others) {
      choices.push_back(decoder);
      choices.back().iterations = iterations;
    }
  }
  return choices;
}

}  // namespace wb
