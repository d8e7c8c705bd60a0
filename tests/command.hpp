#pragma once
// The `warpband` command of this build: WARPBAND_COMMAND is its path.
#include <string>

#include <warpband_command.hpp>

namespace wb::testing {

/// How a run ended, and what it wrote.
struct outcome {
  int code = -1;
  std::string out{}, err{};
};

}  // namespace wb::testing
