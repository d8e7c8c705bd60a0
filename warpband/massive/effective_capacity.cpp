#include <warpband/massive/effective_capacity.hpp>

#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {

void check(const capacity_setting& s) {
  check_range("antennas", s.antennas, 1, 65536);
  check_range("users", s.users, 1, s.antennas);
  check_range("subcarriers", s.subcarriers, 1, 65536);
  check_number("coherence_bandwidth_hz", s.coherence_bandwidth_hz, 1, 1e12);
  check_number("transport_bps", s.transport_bps, 1, 1e18);
  check_number("hop_s", s.hop_s, 0, 1);
  check_number("bits_per_csi", s.bits_per_csi, 1, 1024);
}
void check(const precoder_model& p) {
  check_number("bits_per_hz", p.bits_per_hz, 0, 1000);
  check_number("precoding_s", p.precoding_s, 0, 1000);
}

double capacity_overhead_s(const capacity_setting& s, const precoder_model& p) {
  check(s);
  check(p);
  const double pilots = s.users / s.coherence_bandwidth_hz;
  if (!p.central) return pilots;
  const double bits = s.bits_per_csi * s.antennas * s.users * s.subcarriers;
  return pilots + 2 * (bits / s.transport_bps + s.hop_s) +
         (s.precoding_per_subcarrier ? s.subcarriers : 1) * p.precoding_s;
}

double effective_capacity(const capacity_setting& s, const precoder_model& p, double coherence_s) {
  if (!(coherence_s > 0 && coherence_s <= 1e6))
    throw argument_error("coherence_s", decimal(coherence_s), "above 0, up to 1e6");
  const double left = coherence_s - capacity_overhead_s(s, p);
  return left > 0 ? left / coherence_s * p.bits_per_hz * s.users : 0;
}

std::optional<double> capacity_crossover_s(const capacity_setting& s, const precoder_model& quicker,
                                           const precoder_model& better) {
  const double few = capacity_overhead_s(s, quicker), many = capacity_overhead_s(s, better);
  if (!(better.bits_per_hz > quicker.bits_per_hz && few < many)) return std::nullopt;
  return (better.bits_per_hz * many - quicker.bits_per_hz * few) / (better.bits_per_hz - quicker.bits_per_hz);
}

}  // namespace wb
