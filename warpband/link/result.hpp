#pragma once
// Result files: what was run, where, and the raw counts of every point, in JSON.
#include <string>
#include <vector>

#include <warpband/link/scenario.hpp>

namespace wb {

/// "0.1.0" and the commit this library was built from ("unknown" outside a repository).
const char* version() noexcept;
const char* commit() noexcept;

/// What a result was computed on.
struct machine_info {
  std::string cpu;              // model
  std::string os;               // "Linux 6.1.0 x86_64"
  std::string device;           // "cpu", or "cuda:0, NVIDIA H100 80GB HBM3"
  std::string instruction_set;  // "avx2"; empty on a CUDA device
  int threads = 0;              // 0 on a CUDA device
};
/// The model of this machine's CPU, or its architecture where the system does not tell.
std::string cpu_model();
machine_info describe_machine(const executor& exec);

struct run_result {
  scenario source;
  machine_info machine;
  std::vector<curve_result> curves;
  bool complete = false;  // all points were run
};

/// The result as JSON text. Curves without a finished point are left out. It names no path but the
/// scenario's, as it was given.
std::string result_json(const run_result& result);

}  // namespace wb
