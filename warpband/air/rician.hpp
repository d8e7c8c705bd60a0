#pragma once
// Flat Rician fading: every entry of H has a fixed part beside the scattered one (channel/rician.hpp). The
// scattered parts are the H of `rayleigh`.
#include <warpband/air/rayleigh.hpp>

namespace wb {

struct rician_config {
  fading_type fading = fading_type::fast;
  double rician_k_db = 0;  // -100..100
  bool operator==(const rician_config&) const = default;
};
template <>
inline constexpr std::string_view air_name<rician_config> = "rician";
const std::vector<setting_of<rician_config>>& rician_settings();

air_kind rician_air();

}  // namespace wb
