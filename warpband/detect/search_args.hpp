#pragma once
#include <warpband/detect/detect_call.hpp>

namespace wb {

/// An order of streams in four bits for each position, the first lowest: as the columns of H lie.
inline constexpr std::uint32_t order_of_columns = 0x76543210;

/// How a search sorts the streams of each use: by the energies of their columns, as a sorted QR
/// decomposition, or by noise amplification.
inline constexpr int sort_none = 0, sort_falling = 1, sort_rising = 2, sort_by_qr = 3, sort_fsd = 4;

/// A call of a detector that searches stream after stream.
struct search_args : detect_call {
  std::uint32_t order = order_of_columns;
  int sort = sort_none;
  std::uint32_t full_levels = 1;  // sort_fsd: bit t for each level, t below the top, that keeps all points
};

}  // namespace wb
