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

/// `waited_percent`: of the time of the run, what other programs took.
report make_report(const run_options& options, executor_pool& pool,
                   const std::vector<measurement>& benchmarks, const ceilings_by_device& limits,
                   double waited_percent);

/// A record as tables for a terminal. Waiting beyond `much_waiting` per cent makes figures too slow.
inline constexpr double much_waiting = 5;
std::string ceilings_table(const nlohmann::ordered_json& record);
/// Of the detectors in it: which carriers of LTE and NR their rates sustain; empty where there are none.
std::string budget_table(const nlohmann::ordered_json& record);
std::string benchmarks_table(const nlohmann::ordered_json& record);

}  // namespace wb::bench
