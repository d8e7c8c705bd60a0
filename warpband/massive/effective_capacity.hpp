#pragma once
// How much of a downlink's spectral efficiency is left after the time to estimate the channel and to compute
// the precoder: the model of K. Li, "GPU Accelerated Reconfigurable Detector and Precoder for Massive MIMO
// SDR Systems", §5.5, eqs 5.1 and 5.2 (docs/li-thesis.md).
//
//   capacity = users * bits_per_hz * (coherence - overhead) / coherence
//
// The overhead has the pilots, which all users send one after another, each for 1 / coherence bandwidth. If
// the precoder is computed in one place, the overhead also has the computation and two transports: of the
// channel estimates there and of the precoded vectors back. Each transport takes B U bits_per_csi bits a
// subcarrier and a hop. A matched filter is applied where the antennas are and pays for the pilots alone.
#include <optional>

namespace wb {

/// The initial values are those of table 5.5.
struct capacity_setting {
  int antennas = 128, users = 16;         // B: 1..65536, U: 1..B
  int subcarriers = 128;                  // 1..65536
  double coherence_bandwidth_hz = 313e3;  // 1..1e12
  double transport_bps = 40e9;            // 1..1e18
  double hop_s = 1e-6;                    // 0..1
  double bits_per_csi = 64;               // of an entry of H: 1..1024
  /// Counts precoding_s once for each subcarrier, as eq. 5.2 is printed. The times of table 5.5 are those of
  /// all subcarriers, and fig. 5.3 counts them once.
  bool precoding_per_subcarrier = false;
};

/// A way of precoding.
struct precoder_model {
  double bits_per_hz = 0;  // of a user: 0..1000
  bool central = true;     // computed in one place: with transport and precoding_s
  double precoding_s = 0;  // of all subcarriers: 0..1000

  /// Those of table 5.5: matched filter, Cholesky with 242 us and three CG iterations with 192 us.
  static precoder_model matched_filter() { return {6.12, false, 0}; }
  static precoder_model cholesky(double precoding_s = 242e-6) { return {8.40, true, precoding_s}; }
  static precoder_model cg(double precoding_s = 192e-6) { return {8.32, true, precoding_s}; }
};

/// Throw argument_error for what is not allowed.
void check(const capacity_setting& setting);
void check(const precoder_model& precoder);

/// Seconds of a coherence time in which nothing is sent.
double capacity_overhead_s(const capacity_setting& setting, const precoder_model& precoder);
/// bit/s/Hz of all users together; 0 where the overhead is all there is. `coherence_s`: above 0, up to 1e6.
double effective_capacity(const capacity_setting& setting, const precoder_model& precoder,
                          double coherence_s);
/// The coherence time above which `better` has the greater capacity, and below which `quicker` has it.
/// Nothing where one of them has it at all coherence times.
std::optional<double> capacity_crossover_s(const capacity_setting& setting, const precoder_model& quicker,
                                           const precoder_model& better);

}  // namespace wb
