#pragma once
// Power-delay profiles of tapped-delay-line channels, and those of the standards.
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>

namespace wb {

struct tdl_tap {
  double delay_ns = 0;  // 0..1e9
  double power_db = 0;  // relative, mean: -200..200
  bool operator==(const tdl_tap&) const = default;
};

/// Taps in any order; several may have the same delay. Powers are relative: a channel has unit mean power.
struct tdl_profile {
  std::vector<tdl_tap> taps;  // 1 to 64
  /// The first tap is Rician with this K-factor, the power of its fixed part over that of its fading part.
  /// `power_db` is that of both together. Nothing: Rayleigh, as all others are. -100..100.
  std::optional<double> rician_k_db = {};
  bool operator==(const tdl_profile&) const = default;
};

/// Throws argument_error ("profile", "delay_ns", "power_db", "rician_k_db") for what is not allowed.
void check(const tdl_profile& profile);

/// A profile of a standard:
///
///   "epa", "eva", "etu"           3GPP TS 36.101 annex B.2.1, TS 36.104 annex B.2: extended pedestrian A,
///   extended vehicular
///                                 A and extended typical urban. Their tests combine them with Doppler
///                                 frequencies of 5, 70 and 300 Hz: EPA5, EVA5, EVA70, ETU70, ETU300
///   "tdl-a" to "tdl-e"            3GPP TR 38.901 tables 7.7.2-1 to -5, of unit delay spread: delays are the
///                                 table's times `delay_spread_ns` (clause 7.7.3), 1e-3 to 1e6. D and E have
///                                 a Rician first tap
///   "tdla30", "tdlb100", "tdlc300"  3GPP TS 38.101-4 annex B.2.1: twelve taps, made from A, B, C at 30, 100,
///   300 ns
///
/// Only "tdl-a" to "tdl-e" look at delay_spread_ns. Throws argument_error for another name ("profile") or
/// delay spread.
tdl_profile tdl_profile_named(const std::string& name, double delay_spread_ns = 100);
/// All those names, in that order.
const std::vector<std::string>& tdl_profile_names();
/// Whether the profile of that name has delays in units of the delay spread.
bool has_delay_spread(const std::string& name) noexcept;

/// A profile by name, or one's own where there are delays.
struct tdl_profile_choice {
  std::string name = "epa";
  double delay_spread_ns = 100;
  std::vector<double> delays_ns = {}, powers_db = {};
  std::optional<double> rician_k_db = {};
  bool operator==(const tdl_profile_choice&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<tdl_profile_choice>>& tdl_profile_settings();
/// Throws argument_error for "powers_db" where there are not as many as delays, and for what only one's own
/// taps have where there are none.
tdl_profile profile_of(const tdl_profile_choice& choice);

/// Powers of the taps, as fractions of their sum.
std::vector<double> tap_powers(const tdl_profile& profile);
double longest_delay_ns(const tdl_profile& profile) noexcept;
/// Root mean square of the delays about their mean, weighted by the powers.
double rms_delay_spread_ns(const tdl_profile& profile);

}  // namespace wb
