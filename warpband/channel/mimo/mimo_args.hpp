#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/channel/rician_args.hpp>
#include <warpband/core/view.hpp>

namespace wb {
struct mimo_rayleigh_args {
  int streams = 1, rx_antennas = 1;
  std::size_t uses_per_channel = 1;
  view<const cx_pair> in;  // s of every use: streams; null, with one use for each H: H alone is wanted
  view<cx_pair> out;       // H s: rx_antennas
  view<cx_pair> channel;   // an item for each H: rx_antennas * streams, row after row
  std::uint64_t seed = 0, first = 0;
  std::uint32_t point = 0;
  rician_amplitudes rice = {};
};
}  // namespace wb
