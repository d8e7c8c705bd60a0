#pragma once
// Clustered delay lines between the array of a base station and users of one antenna each, on a grid
// of OFDM resource elements: WINNER II (D1.1.2) and the CDL models of 3GPP TR 38.901 clause 7.7.1.
//
// A drop puts each user in a direction of its own. Between antenna b and a user
//
//   H(t, f) = sum over paths p of  exp(-2 pi i f tau_p)  sum over its rays m of  sqrt(P_p / M_p)
//             exp(i phi_m + 2 pi i (b (d / lambda) sin(zod_m) sin(aod_m) + t (v / lambda) sin(zoa_m)
//             cos(aoa_m - heading)))
//
// with delays tau, powers P (their sum is 1) and angles of the profile. f counts from the lowest subcarrier
// on and t from the first symbol of a drop on. Within a symbol H does not change. d is the distance of
// neighbouring antennas; the array's phases are those at the carrier frequency, on all subcarriers. aod is
// counted from the array's normal: the user's direction, the cluster's angle, and the ray's offset. Antennas
// are isotropic and of one polarisation: their pattern and the ratios between polarisations are not modelled.
//
// An array of several rows is an upright panel of TR 38.901 clause 7.3 without polarisation. Antenna b is in
// row r = b / columns and column c. The term with b is then c (d / lambda) sin(zod_m) sin(aod_m) +
// r (d_rows / lambda) cos(zod_m).
//
// Random for each user of a drop: its direction, its heading, the phase of every ray, and which departing ray
// is which arriving one: azimuths of arrival and both zeniths are permuted within a path, independently (TR
// 38.901 clause 7.5 step 8, D1.1.2 clause 4.2 step 8). A line of sight has a random phase too.
//
// When to use. For massive MIMO, where the directions of users matter, and for PUSCH with such users.
// Independent fading of single links: channel/tdl.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/channel/cdl/cdl_args.hpp>
#include <warpband/channel/cdl/profile.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/ofdm/grid.hpp>

namespace wb {

struct cdl_config {
  cdl_profile profile;
  ofdm_grid grid = {.subcarriers = 128, .symbols = 1, .spacing_hz = 20e6 / 128};  // of a drop
  int antennas = 128;                              // B of the base station: 1..512
  int users = 16;                                  // U: 1..64
  double carrier_hz = 2.6e9;                       // 1e6..1e12
  double spacing_m = 10. / 128;                    // of neighbouring antennas; at most 16 wavelengths
  std::optional<double> spacing_wavelengths = {};  // in the place of spacing_m
  int rows = 1;  // of the array, which divide the antennas; 1: a linear array
  std::optional<double> row_spacing_wavelengths = {};  // of several rows: 0..16; absent: as in a row
  double speed_kmh = 0;                                // of users: 0 up to 1000 turns of phase in a drop
  /// Where users go, as an azimuth of arrival; nothing: each somewhere else, uniform over the circle. A user
  /// with 0 moves towards what arrives from the line of sight in WINNER II. -360..360.
  std::optional<double> heading_deg = {};
  /// Users' directions are uniform within +-sector_deg of the array's normal: 0..180. Or given, one for each
  /// user, -180..180.
  double sector_deg = 60;
  std::vector<double> directions_deg = {};
  /// Mean |h|^2 is 1 for each user: over many drops (false), or in each drop over its antennas, subcarriers
  /// and symbols (true).
  bool power_control = false;
  /// Standard deviation of the users' mean powers: each drop draws them, log-normal with median 1. 0..40.
  /// Only without power_control.
  double shadowing_db = 0;
  bool operator==(const cdl_config&) const = default;
};

/// Throws argument_error for what is not allowed.
void check(const cdl_config& config);
/// Its settings but for the profile, `cdl_profile_settings`: names, what is allowed, what they mean.
const std::vector<setting_of<cdl_config>>& cdl_settings();
double wavelength_m(double carrier_hz) noexcept;

/// Safe to use from several threads. Random numbers are keyed by seed, point, the drop's index and, within
/// it, user and ray: more antennas, users, subcarriers or symbols leave the others' channels as they are
/// (with power_control only more users do).
class cdl_channel {
 public:
  /// Throws argument_error for what is not allowed.
  explicit cdl_channel(const cdl_config& config);

  /// Queues: H of whole drops, [drops * symbols * subcarriers, antennas * users]: the subcarriers of each
  /// symbol, symbol after symbol, drop after drop. Element b * users + u is the gain from user u to antenna
  /// b, as uplink_detector and downlink_precoder take it. `range.first` is the index of the first drop. Takes
  /// about 12 bytes for each ray (20 a cluster) and user of a drop from the executor's memory for as long.
  /// Throws shape_error.
  void response(executor& exec, view<std::complex<float>> channel, random_range range) const;

  const cdl_config& config() const noexcept { return config_; }

 private:
  cdl_config config_;
  std::vector<cdl_path> paths_;
  cdl_args args_;                  // but for what differs from call to call
  resident<cdl_ray> rays_;         // angles of every ray
  resident<std::int32_t> starts_;  // of every path its first ray, and the end
  resident<float> amplitudes_;     // of every path that of a ray
  resident<float> rotations_;      // exp(-2 pi i f tau): of every path the real parts, then the imaginary
  resident<float> overlaps_;       // of two paths: mean over f of the product of their rotations
  resident<std::uint32_t> turns_;  // of every user where its direction and heading may begin, and how far
};

}  // namespace wb
