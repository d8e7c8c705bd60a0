#pragma once
#include <warpband/massive/massive_args.hpp>
#include <warpband/massive/uplink/uplink.hpp>

namespace wb {

/// What follows from the settings and the vectors of a frame; views are empty. Throws argument_error.
massive_args uplink_arguments(const uplink_config& config, int symbols);

}  // namespace wb
