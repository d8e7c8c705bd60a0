#pragma once
// From TOML to what the curves of a scenario say. For link/scenario*.cpp alone.
#include <string>
#include <vector>

#include <warpband/link/scenario_draft.hpp>

namespace wb::scenario_file {

/// parse_scenario, for which these recordings need not be there.
scenario parse_with(std::string text, const std::string& file, const known_recordings& recordings);

/// What each curve says, the base included, and the scenario's title. Throws file_error.
std::vector<said> curves_said(const std::string& text, const std::string& file, std::string& title);

}  // namespace wb::scenario_file
