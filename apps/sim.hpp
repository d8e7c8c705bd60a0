#pragma once
// `warpband sim`.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct sim_options {
  std::string scenario, out, plot, metric = "both", device = "cpu";
  std::vector<std::string> references;  // FILE.csv[:LABEL]
  int threads = 0;                      // 0: all cores
  std::optional<std::uint64_t> seed;
  bool quiet = false;
};

/// Runs a scenario; returns the exit code. Throws wb::error.
int run_sim(const sim_options& options);
