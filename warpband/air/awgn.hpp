#pragma once
// No fading: H is 1, from one antenna to one.
#include <warpband/air/air.hpp>

namespace wb {

struct awgn_config {
  bool operator==(const awgn_config&) const = default;
};
template <>
inline constexpr std::string_view air_name<awgn_config> = "awgn";

air_kind awgn_air();

}  // namespace wb
