#pragma once
// Flat Rayleigh fading between antennas that are correlated on either side (channel/kronecker).
#include <warpband/air/rayleigh.hpp>
#include <warpband/channel/kronecker/kronecker.hpp>

namespace wb {

struct kronecker_fading {
  fading_type fading = fading_type::fast;
  /// R[i, j] = r^|i - j| of either side, 0..1. Above 0: in the place of `channel`'s matrix.
  double rx_coefficient = 0, tx_coefficient = 0;
  kronecker_config channel = {};  // `complete` sets streams and rx_antennas
  bool operator==(const kronecker_fading&) const = default;
};
template <>
inline constexpr std::string_view air_name<kronecker_fading> = "kronecker";

air_kind kronecker_air();

}  // namespace wb
