#pragma once
// What a search for receivers found, as `warpband choose` and the Python package write it.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/scenario.hpp>
#include <warpband/link/tradeoff.hpp>

namespace wb {

struct tradeoff_report {
  scenario source;
  std::size_t curve = 0;  // of the scenario
  tradeoff_config config;
  machine_info machine;
  tradeoff_result result;
  std::size_t chosen = 0;  // of the result's entries
  /// Of massive MIMO under a latency: the latency, the pairs of symbols and streams that were measured, and
  /// which one is best.
  double latency_us = 0;
  std::vector<named_values> batching = {};
  std::optional<std::size_t> best_batching = {};

  const tradeoff_entry& receiver() const { return result.entries.at(chosen); }
};

/// Runs the search for a curve of a scenario. Throws as run_tradeoff, and error if it was cancelled or no
/// setting reaches the target.
tradeoff_report choose_receiver(scenario source, std::size_t curve, const tradeoff_config& config,
                                executor& exec, const tradeoff_progress& progress = {});

/// "5 settings: 2 on the front, 3 dominated".
std::string summary_of(const tradeoff_result& result);
/// JSON of one object; docs/command.md has its fields.
std::string tradeoff_json(const tradeoff_report& report);
/// The scenario of the chosen setting, in TOML: points around its SNR, and a stop rule for the target.
std::string chosen_scenario(const tradeoff_report& report);

/// Rates of a GPU are shown in Gb/s, of a CPU in Mb/s.
struct rate_unit {
  const char* name;
  double per_second;  // of a bit a second
};
rate_unit rate_unit_of(const machine_info& machine);
/// "AMD EPYC, avx512, 2 threads", or the device.
std::string name_of(const machine_info& machine);

}  // namespace wb
