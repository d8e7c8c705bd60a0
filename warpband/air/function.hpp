#pragma once
// A channel whose H a function of the program draws. The library sends the symbols through it.
#include <functional>
#include <string>

#include <warpband/air/rayleigh.hpp>

namespace wb {

/// What is drawn in one call: H of neighbouring frames.
struct channel_frames {
  random_range random;  // first: index of the first frame; point: another one for each transmission
  std::size_t frames = 0;
  std::size_t matrices = 1;  // H of a frame, each for as many neighbouring uses
  air_antennas antennas;
};

/// Queues: writes H [frames * matrices, rx * tx], row after row. H must follow from `random` alone. NaN
/// erases what is sent through it.
using channel_function = std::function<void(executor&, const channel_frames&, view<std::complex<float>> h)>;

/// Has the key `fading`, as Rayleigh fading has it: "fast" asks for an H for every use, with a space-time
/// code for every codeword, with massive MIMO for every subcarrier. "block" asks for one for a frame. Slots
/// of 5G NR take "block".
air_kind function_air(std::string name, channel_function draw);

}  // namespace wb
