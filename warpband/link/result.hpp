#pragma once
// Result files: what was run, where, and the raw counts of every point, in JSON. They hold all that a later
// run needs to go on, see docs/result.md.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <warpband/air/air.hpp>
#include <warpband/code/code_kind.hpp>
#include <warpband/core/kind_list.hpp>
#include <warpband/detect/detector_kind.hpp>
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
/// One machine with what both have.
machine_info joined(machine_info m, const machine_info& more);

/// A program and a machine that had a part in a result.
struct run_origin {
  std::string version = wb::version(), commit = wb::commit();
  machine_info machine;
};

/// Frames of a call of a function, at most.
inline constexpr std::size_t most_function_batch = std::size_t{1} << 20;

/// Functions of Python that are kinds of a run, by name (warpband.sweep). Every call has a whole batch.
struct run_functions {
  std::vector<std::string> channels = {}, detectors = {}, decoders = {};
  std::size_t batch = 0;                    // frames
  std::optional<std::string> version = {};  // of the functions, as their author counts

  bool empty() const noexcept { return channels.empty() && detectors.empty() && decoders.empty(); }
};

struct run_result {
  scenario source;
  run_functions functions;          // those that the curves name
  run_origin origin;                // of the latest run
  std::vector<run_origin> earlier;  // of those before it, the first one first
  std::vector<curve_result> curves;
  bool complete = false;  // all points were run
};

/// Notes that `origin` goes on with the result; two runs in a row on the same count as one.
void add_origin(run_result& result, const run_origin& origin);

/// The result as JSON text. Curves of which nothing is counted are left out; what is unfinished stands apart
/// from "curves". It names no path but the scenario's, as it was given.
std::string result_json(const run_result& result);

/// What a result is read for: to go on with it, for which the recordings of its channels are opened; or to
/// show it, for which they need not be there. Either way everything in it is checked.
enum class result_use { go_on, show };

/// Reads back what result_json gave: its `curves` are all those of the scenario, ready for run_curve. A run
/// goes on with the functions of the result, their batch and version: `functions` are those that it has, as
/// kinds of this thread. Throws file_error for a file that cannot be read, is no result, is cut off or
/// contradicts itself. Also for a result from before results could be resumed, and for one with other
/// functions. Also if its scenario means something else in this build.
run_result load_result(const std::string& path, result_use use = result_use::go_on,
                       const run_functions& functions = {});
/// The same of a file's text; `path` names it in messages.
run_result parse_result(const std::string& text, const std::string& path, result_use use = result_use::go_on,
                        const run_functions& functions = {});

/// The functions among `given` that curves name.
run_functions functions_of(const std::vector<curve_result>& curves, const run_functions& given);

/// Kinds of the calling thread with the names of functions, which cannot run. They are there for results
/// that are shown: `load_result` reads such a result, and `result_json` needs them for one with functions.
class stand_in_kinds {
 public:
  explicit stand_in_kinds(const run_functions& functions);

 private:
  kind_scope<air_kind> channels_;
  kind_scope<detector_kind> detectors_;
  kind_scope<decoder_kind> decoders_;
};

/// The result `held`, read from `path`, with the curves of `wanted` and what is held of them. Curves are
/// matched by their settings; where several have the same, by label. Only title, labels, sweep and stop rules
/// may differ, and nothing held may be missing: throws file_error with the first difference.
run_result resumed(run_result held, scenario wanted, const std::string& path);

}  // namespace wb
