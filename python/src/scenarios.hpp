#pragma once
// Scenarios of Python's calls.
#include <optional>
#include <string>

#include <warpband/link/scenario.hpp>

namespace wb::python {

/// Understands a scenario of a file, or without one of a dictionary: that has no lines, and what it says is a
/// setting of the call. Hints become warnings. Throws file_error and ValueError.
scenario parsed_scenario(std::string text, const std::optional<std::string>& file);

}  // namespace wb::python
