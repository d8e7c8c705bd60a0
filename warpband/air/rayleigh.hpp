#pragma once
// Flat Rayleigh fading: the entries of H are independent and CN(0, 1).
#include <warpband/air/air.hpp>
#include <warpband/channel/rician.hpp>

namespace wb {

enum class fading_type {
  fast,   // a new H for every use of the channel; with a space-time code for every codeword, with massive
          // MIMO for every subcarrier
  block,  // one for a frame
};
const char* name_of(fading_type) noexcept;  // "fast", "block"
inline air_fading fading_of(fading_type t) noexcept {
  return t == fading_type::fast ? air_fading::fast : air_fading::block;
}
/// H of a frame.
inline std::size_t matrices_of(fading_type t, const air_antennas& a) noexcept {
  return t == fading_type::fast ? a.uses / a.together : 1;
}

struct rayleigh_config {
  fading_type fading = fading_type::fast;
  bool operator==(const rayleigh_config&) const = default;
};
template <>
inline constexpr std::string_view air_name<rayleigh_config> = "rayleigh";
const std::vector<setting_of<rayleigh_config>>& rayleigh_settings();

air_kind rayleigh_air();

/// Flat fading of independent gains: Rayleigh, or Rician from the same random numbers.
std::unique_ptr<air> make_flat_fading(const air_antennas& antennas, fading_type fading,
                                      rician_amplitudes rice = {});

}  // namespace wb
