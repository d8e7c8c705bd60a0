#pragma once
// Flat Rayleigh fading between antennas that are correlated on either side (channel/kronecker).
#include <warpband/air/rayleigh.hpp>
#include <warpband/channel/kronecker/kronecker.hpp>

namespace wb {

struct kronecker_fading {
  fading_type fading = fading_type::fast;
  /// r of R[i, j] = r^|i - j| on either side, 0..1. If it is above 0, R replaces the matrix in `channel`.
  double rx_coefficient = 0, tx_coefficient = 0;
  kronecker_config channel = {};  // `complete` sets streams and rx_antennas
  bool operator==(const kronecker_fading&) const = default;
};
template <>
inline constexpr std::string_view air_name<kronecker_fading> = "kronecker";

air_kind kronecker_air();

}  // namespace wb
