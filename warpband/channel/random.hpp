#pragma once
// Which random numbers an item gets. Everything random in a link is Philox 4x32-10 with the seed as key and
// the counter (index low, index high, stream, point).
#include <cstdint>

namespace wb {

/// Where a batch's random numbers begin.
struct random_range {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;  // index of the batch's first item (symbol, or frame: each op says which)
  std::uint32_t point = 0;  // separates the points of a sweep
};

/// Streams: the third word of the counter. The low 24 bits number blocks inside an item.
inline constexpr std::uint32_t stream_bits = 1u << 24, stream_noise = 2u << 24, stream_fading = 3u << 24,
                               stream_mimo = 4u << 24, stream_tdl = 5u << 24, stream_cdl = 6u << 24;
/// The phases of Rician fading are those blocks of stream_mimo that follow on this one.
inline constexpr std::uint32_t mimo_phases = 1u << 23;

}  // namespace wb
