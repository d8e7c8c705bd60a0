#pragma once
// Clustered delay lines (channel/cdl) in links: a frame is a drop. Users are those of massive MIMO, who stand
// still, or the antenna ports of PUSCH.
#include <warpband/air/air.hpp>
#include <warpband/channel/cdl/cdl.hpp>

namespace wb {

/// `complete` sets antennas, users and grid.
template <>
inline constexpr std::string_view air_name<cdl_config> = "cdl";

/// What scenarios say of it.
struct cdl_keys {
  cdl_profile_choice profile;
  cdl_config lines{.profile = {}, .power_control = true};
  bool operator==(const cdl_keys&) const = default;
};

air_kind cdl_air();

}  // namespace wb
