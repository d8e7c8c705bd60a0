#pragma once
// Channels of bits: a receiver gets the LLR of each bit as received. The sweep is over their probability.
#include <warpband/air/air.hpp>

namespace wb {

struct bsc_config {
  bool operator==(const bsc_config&) const = default;
};
template <>
inline constexpr std::string_view air_name<bsc_config> = "bsc";
struct bec_config {
  bool operator==(const bec_config&) const = default;
};
template <>
inline constexpr std::string_view air_name<bec_config> = "bec";
struct z_config {
  bool operator==(const z_config&) const = default;
};
template <>
inline constexpr std::string_view air_name<z_config> = "z";

air_kind bsc_air();
air_kind bec_air();
air_kind z_air();

}  // namespace wb
