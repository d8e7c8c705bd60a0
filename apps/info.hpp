#pragma once
// `warpband info`.
#include <string>

/// "warpband 0.1.0 (commit 0123456789ab)".
std::string version_text();

/// Prints the build, the CPU and the CUDA devices; returns the exit code.
int run_info(bool as_json);
