#pragma once

#include <complex>
#include <cstdint>
#include <vector>

/// Clustered delay lines as sums over rays, for checking the library.
namespace oracle {

struct cdl_cluster {
  double delay_s = 0;
  double power = 0;                           ///< linear, of all twenty rays, in any unit
  double aod = 0, aoa = 0, zod = 0, zoa = 0;  ///< degrees
  bool split = false;
};
struct cdl_model {
  std::vector<cdl_cluster> clusters;
  double asd = 0, asa = 0, zsd = 0, zsa = 0;  ///< degrees
  double rician_k = -1;                       ///< linear; below 0: no line of sight
};

/// A ray whose angles do not count from the user any more, radians.
struct cdl_ray {
  double delay_s = 0, amplitude = 0, phase = 0, aod = 0, aoa = 0, zod = 0, zoa = 0;
};

/// Which Philox counters belong to user u of drop `index`: (index, 6 * 2^24 + 2048 u + j, point). j = 0: the
/// first word is the place of the direction in its sector, the second that of the heading in the circle.
/// j = 1: shadowing. j = 2 + r: of ray r the first word is the phase; the others are keys: the azimuths of
/// arrival of a path are permuted: the ray with the n-th smallest second word takes the azimuth of the n-th
/// ray. The third words permute the zeniths of departure in the same way, the fourth words those of arrival.
/// The line of sight is ray 0, then come the clusters' rays, those of a split cluster by groups.
struct cdl_user {
  double direction = 0, heading = 0;  ///< radians
  std::vector<cdl_ray> rays;
};
cdl_user draw_cdl_user(const cdl_model& model, std::uint64_t seed, std::uint64_t index, std::uint32_t point,
                       int user, double lowest_direction, double highest_direction);
/// dB of the user's mean power when its standard deviation is `sigma_db`.
double draw_cdl_shadowing(std::uint64_t seed, std::uint64_t index, std::uint32_t point, int user,
                          double sigma_db);

/// H of antenna b, `spacing` and `speed` in wavelengths (a second).
std::complex<double> cdl_response(const cdl_user& user, int antenna, double spacing, double speed,
                                  double time_s, double frequency_hz);

/// H of the antenna in a row and column of an upright panel, at (0, column, row) times the spacings in
/// wavelengths. A ray has the phase of a plane wave from its direction there (TR 38.901 clauses 7.1 and 7.3,
/// eq. 7.5-22).
std::complex<double> cdl_panel_response(const cdl_user& user, int row, int column, double row_spacing,
                                        double column_spacing, double speed, double time_s,
                                        double frequency_hz);

/// E H(b + db, t + dt, f + df) H*(b, t, f) over phases and permutations. The user's direction and heading are
/// given, radians.
std::complex<double> cdl_correlation(const cdl_model& model, double direction, double heading, int antennas,
                                     double spacing, double speed, double dt, double df);
/// E |H|^4 when E |H|^2 is 1.
double cdl_fourth_moment(const cdl_model& model);

}  // namespace oracle
