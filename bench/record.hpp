#pragma once
// Makes the record of what was measured.
#include <bench/ceilings.hpp>
#include <bench/measure.hpp>
#include <bench/run.hpp>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace wb::bench {

using ceilings_by_device = std::map<std::string, ceilings>;
/// What counts the energy of a device, and what it takes with nothing to do.
struct idle_power {
  std::string source;
  double idle_watts = 0;
};
using energy_by_device = std::map<std::string, idle_power>;

/// `waited_percent`: of the time of the run, what other programs took.
report make_report(const run_options& options, executor_pool& pool,
                   const std::vector<measurement>& benchmarks, const ceilings_by_device& limits,
                   const energy_by_device& energy, double waited_percent);

/// What `endure` saw.
struct endurance {
  struct sample {
    double seconds, calls_per_second, host_bytes, device_bytes;  // device: 0 for a CPU
  };
  double seconds = 0, items = 0, bits = 0;  // the latter two of a call
  long calls = 0;
  std::size_t compared_bytes = 0;  // of a call's results, at each sample; 0: it has none on the host
  std::size_t different = 0;       // samples with other results than the first call's
  std::vector<sample> samples;
};
report make_report(const run_options& options, executor_pool& pool, const definition& workload,
                   const endurance& seen);

/// CPU threads in force.
int threads_of(const run_options& options);
/// The benchmark that the filter leaves; throws wb::error for none or several.
definition the_only(const run_options& options);

/// A record as tables for a terminal. Waiting beyond `much_waiting` per cent makes figures too slow.
inline constexpr double much_waiting = 5;
std::string ceilings_table(const nlohmann::ordered_json& record);
/// Of the detectors in it: which carriers of LTE and NR their rates sustain; empty where there are none.
std::string budget_table(const nlohmann::ordered_json& record);
std::string benchmarks_table(const nlohmann::ordered_json& record);
std::string endurance_table(const nlohmann::ordered_json& record);

}  // namespace wb::bench
