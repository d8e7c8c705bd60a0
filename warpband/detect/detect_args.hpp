#pragma once
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {

/// An order of streams in four bits for each position, the first lowest: as the columns of H lie.
inline constexpr std::uint32_t order_of_columns = 0x76543210;

/// How a search sorts the streams of each use: by the energies of their columns, or as a sorted QR
/// decomposition.
inline constexpr int sort_none = 0, sort_falling = 1, sort_rising = 2, sort_by_qr = 3;

/// What a call hands to the kernel of any detector.
struct detect_args {
  int streams = 0, rx_antennas = 0, pam_bits = 0;  // pam_bits: bits of a symbol in one real dimension
  int tile = 1;                                    // CUDA: threads that share a use
  int ways = 0, survivors = 0;
  int algorithm = 0;                       // of a room with several
  std::uint32_t order = order_of_columns;  // of a search
  int sort = sort_none;
  bool extrinsic = false;
  bool exact = false;  // LLRs of soft symbols from sums over all points
  float clip = 0;
  int iterations = 0;                     // of expectation propagation
  float damping = 0, start_variance = 1;  // of expectation propagation
  std::size_t uses_per_channel = 1;
  view<const cx_pair> received, channel;
  view<const float> noise_var, prior;  // prior: null data for none
  view<float> llr;                     // null data: not wanted
  view<std::uint8_t> bits, status;     // null data: not wanted
};

}  // namespace wb
