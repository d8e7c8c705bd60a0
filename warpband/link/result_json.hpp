#pragma once
// Results as JSON, for link/result*.cpp alone.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <warpband/link/result.hpp>

namespace wb::result_file {

using json = nlohmann::ordered_json;

/// The most frames of a point, as a scenario's max_frames.
inline constexpr std::uint64_t most_frames = 1'000'000'000'000'000;

/// What a curve was run with.
json config_json(const curve_config& c);
/// A stored configuration with today's names of settings and words of values.
json with_names_of_today(json config);
json program_json(const run_origin& o);
json machine_json(const machine_info& m);

/// A value as a message shows it, in one line and not too long.
std::string shown(const json& j);

/// The first key in which two configurations differ, "" where none does; with what each says there.
struct difference {
  std::string key, was, wanted;
};
difference first_difference(const json& was, const json& wanted, const std::string& prefix = "");

}  // namespace wb::result_file
