#pragma once
// Clustered delay lines: what arrives over which delays and from which angles, and the tables of the
// standards.
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>

namespace wb {

/// Twenty rays of equal power around a delay and a direction. Azimuths count from the line of sight: those of
/// departure at the base station, those of arrival at the user; zeniths from straight up, 90 is the horizon.
struct cdl_cluster {
  double delay_ns = 0;                // 0..1e9
  double power_db = 0;                // of all its rays, relative: -200..200
  double aod_deg = 0, aoa_deg = 0;    // azimuths of departure and of arrival, -360..360
  double zod_deg = 90, zoa_deg = 90;  // zeniths, 0..180
  /// Rays arrive in three groups, the first of 10, 6 and 4 of them 5 and 10 ns after it: the two strongest
  /// clusters of WINNER II (D1.1.2 table 4-2).
  bool split = false;
  bool operator==(const cdl_cluster&) const = default;
};

struct cdl_profile {
  std::vector<cdl_cluster> clusters;  // 1 to 32
  /// Root mean square of the angles of a cluster's rays about its own, 0..60: the rays lie at fixed offsets
  /// (TR 38.901 table 7.5-3, WINNER II D1.1.2 table 4-1) times these.
  double asd_deg = 0, asa_deg = 0, zsd_deg = 0, zsa_deg = 0;
  /// A line of sight: one more ray with the delay and the angles of the first cluster, of this power over
  /// that of all clusters together. Nothing: none. -100..100.
  std::optional<double> rician_k_db = {};
  bool operator==(const cdl_profile&) const = default;
};

/// Throws argument_error ("profile", "delay_ns", "power_db", "aod_deg", "asd_deg", ... , "rician_k_db").
void check(const cdl_profile& profile);

/// A table of a standard:
///
///   "a1-los", "a1-nlos", "b1-los", "b1-nlos", "c1-los", "c1-nlos", "c2-los", "c2-nlos"
///                       WINNER II D1.1.2 clause 6.8: indoor office, urban microcell, suburban and urban
///                       macrocell. Of fixed delays and without zeniths
///   "cdl-a" to "cdl-e"  3GPP TR 38.901 tables 7.7.1-1 to -5, of unit delay spread: delays are the table's
///                       times `delay_spread_ns` (clause 7.7.3), 1e-3 to 1e6. D and E have a line of sight
///
/// Only the latter look at delay_spread_ns. Throws argument_error for another name ("profile") or delay
/// spread.
cdl_profile cdl_profile_named(const std::string& name, double delay_spread_ns = 100);
/// All those names, in that order.
const std::vector<std::string>& cdl_profile_names();

/// A profile by name, or one's own where there are delays. Of its own clusters' angles there is one for each
/// cluster, or none for what `cdl_cluster` begins with.
struct cdl_profile_choice {
  std::string name = "c2-nlos";
  double delay_spread_ns = 100;
  std::vector<double> delays_ns = {}, powers_db = {};
  std::vector<double> aod_deg = {}, aoa_deg = {}, zod_deg = {}, zoa_deg = {};
  std::vector<int> split = {};  // 0 or 1
  std::optional<double> asd_deg = {}, asa_deg = {}, zsd_deg = {}, zsa_deg = {}, rician_k_db = {};
  bool operator==(const cdl_profile_choice&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<cdl_profile_choice>>& cdl_profile_settings();
/// Throws argument_error for a list of another length than the delays, and for what only one's own clusters
/// have where there are none.
cdl_profile profile_of(const cdl_profile_choice& choice);

/// A delay of a profile and all rays that have it, as channels are made of: a cluster, a group of a split
/// one, or, first of all, the line of sight.
struct cdl_path {
  double delay_ns = 0, power = 0;  // of all its rays; powers of all paths sum to 1
  int cluster = 0;                 // number of its cluster
  std::vector<double> offsets;     // of its rays, in units of the cluster's spread; {0} for a line of sight
};
std::vector<cdl_path> cdl_paths(const cdl_profile& profile);
double longest_delay_ns(const cdl_profile& profile) noexcept;
/// Whether the profile of that name has delays in units of the delay spread.
bool has_cdl_delay_spread(const std::string& name) noexcept;
/// Root mean square of the delays about their mean, weighted by the powers of the paths.
double rms_delay_spread_ns(const cdl_profile& profile);

}  // namespace wb
