#pragma once
// Tapped delay lines (channel/tdl) in links. The uses of a frame are resource elements, frequency first: of a
// slot, of the subcarriers of massive MIMO, or of blocks of the line's own grid, which zeros fill. With
// massive MIMO each pair of antennas has a line, and the users move only from an estimate of the channel to
// the data. The codewords of a space-time
// code over time take two OFDM symbols of a subcarrier, whose H is that of the first one.
#include <optional>
#include <string>

#include <warpband/air/air.hpp>
#include <warpband/channel/tdl/tdl.hpp>

namespace wb {

/// `complete` sets antennas, and the grid where the antenna system has one. Else grid.symbols is 0 for the
/// OFDM symbols that a frame takes; a frame begins with a new block.
template <>
inline constexpr std::string_view air_name<tdl_config> = "tdl";

/// What scenarios say of it.
struct tdl_keys {
  tdl_profile_choice profile;
  tdl_config line{.profile = {}, .grid = {}};  // its grid's symbols are the next ones
  std::optional<int> symbols = {};             // of a block; absent: those that a frame takes
  bool operator==(const tdl_keys&) const = default;
};

air_kind tdl_air();

// What clustered lines share with it:

/// A slot's grid with a cyclic prefix as long as the longest delay.
ofdm_grid with_prefix(ofdm_grid grid, double longest_ns);
/// Throws argument_error unless it is 0, for massive MIMO. `without`: more that the message says of it.
void check_still(const char* argument, double speed, const std::string& without = "");

}  // namespace wb
