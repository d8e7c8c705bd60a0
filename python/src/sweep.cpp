// link/: the simulator. What `warpband sim` does, without its table.
#include <algorithm>
#include <chrono>
#include <limits>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <warpband/io/replacement.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/team.hpp>
#include <warpband/link/whole_batches.hpp>

#include "executors.hpp"
#include "functions.hpp"
#include "rooms.hpp"
#include "scenarios.hpp"

namespace wb::python {
namespace {

namespace nb = nanobind;
using clock = std::chrono::steady_clock;

/// A run of all curves. All of it happens without the GIL but for what is told to Python.
class sweep_run {
 public:
  sweep_run(run_result result, std::string out, double checkpoint, nb::object progress)
      : result_(std::move(result)),
        out_(std::move(out)),
        checkpoint_(checkpoint),
        progress_(std::move(progress)) {
    result_.complete = false;
    for (const curve_result& c : result_.curves) points_ += points_of(c.config);
  }

  /// On one executor, or on several side by side.
  void run(const std::vector<executor*>& where, bool resumed) {
    here_.machine = describe_machine(*where[0]);
    for (std::size_t i = 1; i < where.size(); i++)
      here_.machine = joined(std::move(here_.machine), describe_machine(*where[i]));
    const auto make = [&](const link_config& link, std::size_t max_batch) -> std::unique_ptr<frame_runner> {
      if (const std::size_t batch = result_.functions.batch; batch != 0)
        return std::make_unique<whole_batches>(
            std::make_unique<link_chain>(link, *where[0], batch, nullptr, true), batch);
      if (where.size() == 1) return std::make_unique<link_chain>(link, *where[0], max_batch);
      std::vector<std::unique_ptr<team_member>> members;
      for (executor* e : where) members.push_back(make_local_member(link, *e, max_batch));
      return std::make_unique<link_team>(completed(link), std::move(members));
    };
    std::size_t before = 0;
    try {
      for (curve_result& curve : result_.curves) {
        curve_observer observer;
        observer.progress = [&](const curve_result&, std::size_t index, const point_counts& c) {
          counted(resumed);
          return tell(curve, before + index, index, c, false);
        };
        observer.finished = [&](const curve_result&, const point_result& p) {
          const auto& points_db = curve.config.sweep_db;
          if (curve.config.target) return void(tell(curve, before, 0, p.counts, false));
          const auto index = static_cast<std::size_t>(
              std::find(points_db.begin(), points_db.end(), p.sweep_db) - points_db.begin());
          tell(curve, before + index, index, p.counts, true);
        };
        run_curve(curve, make, observer);
        if (curve.cancelled || stopped_) break;
        before += points_of(curve.config);
      }
    } catch (...) {
      if (begun_) {
        try {
          save();
        } catch (const std::exception&) {  // what went wrong first is what is told
        }
      }
      throw;
    }
    result_.complete = !stopped_;
    if (begun_ || result_.complete) save();
  }

  std::string json() const { return result_json(result_); }
  bool stopped() const noexcept { return stopped_; }
  /// With the GIL: what the callback, or a Ctrl-C, raised.
  void raise() {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  /// A search is one.
  static std::size_t points_of(const curve_config& c) { return c.target ? 1 : c.sweep_db.size(); }

  void counted(bool resumed) {
    const bool first = !begun_;
    if (first) {
      if (resumed)
        add_origin(result_, here_);
      else
        result_.origin = here_;
      begun_ = true;
    }
    if (first || std::chrono::duration<double>(clock::now() - saved_).count() >= checkpoint_) save();
  }
  void save() {
    if (!out_.empty()) write_file(out_, result_json(result_));
    saved_ = clock::now();
  }
  /// False ends the run. Python hears of ten batches a second, and of every point that is finished.
  bool tell(const curve_result& curve, std::size_t number, std::size_t index, const point_counts& c,
            bool finished) {
    const auto time = clock::now();
    if (stopped_) return false;
    if (!finished && std::chrono::duration<double>(time - told_).count() < 0.1) return true;
    told_ = time;
    const double db =
        curve.config.target ? std::numeric_limits<double>::quiet_NaN() : curve.config.sweep_db[index];
    nb::gil_scoped_acquire held;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress_.is_none()) {
        const nb::object answer =
            progress_(curve.label, db, number, points_, c.frames, c.frame_errors, c.bit_errors, c.seconds,
                      finished, unit_of(curve.config.link.axis));
        if (answer.ptr() == Py_False) stopped_ = true;
      }
    } catch (...) {
      raised_ = std::current_exception();
      stopped_ = true;
    }
    return !stopped_;
  }

  run_result result_;
  run_origin here_;
  std::string out_;
  double checkpoint_;
  nb::object progress_;
  std::size_t points_ = 0;
  bool begun_ = false, stopped_ = false;
  std::exception_ptr raised_;
  clock::time_point saved_ = clock::now(), told_{};
};

/// Functions of Python as kinds of this thread, while a sweep lasts. A sweep in a function does not see them.
class function_scope {
 public:
  function_scope(executor_ref& where, nb::list channels, nb::list detectors, nb::list decoders,
                 std::size_t batch, std::optional<std::string> version) {
    const python_functions c = functions_in(channels), m = functions_in(detectors),
                           d = functions_in(decoders);
    functions_ = {names_of(c), names_of(m), names_of(d), batch, std::move(version)};
    if (functions_.empty() && kind_scope_number() == 0) return;
    channels_.emplace(airs(), channel_kinds(c, where), "channels");
    detectors_.emplace(wb::detectors(), detector_kinds(m, where), "detectors");
    decoders_.emplace(wb::decoders(), decoder_kinds(d, where), "decoders");
  }
  const run_functions& functions() const noexcept { return functions_; }

 private:
  run_functions functions_;
  std::optional<kind_scope<air_kind>> channels_;
  std::optional<kind_scope<detector_kind>> detectors_;
  std::optional<kind_scope<decoder_kind>> decoders_;
};

std::string sweep(executor_ref& where, const std::vector<std::string>& more, int threads,
                  std::optional<std::string> text, std::optional<std::string> file,
                  std::optional<std::string> resume, const std::string& out,
                  std::optional<std::uint64_t> seed, std::optional<std::uint64_t> frame_errors,
                  std::optional<std::uint64_t> max_frames, std::optional<double> max_seconds,
                  double checkpoint, nb::object progress, nb::list channels, nb::list detectors,
                  nb::list decoders, std::size_t batch, std::optional<std::string> version) {
  const function_scope scope(where, channels, detectors, decoders, batch, std::move(version));
  scenario_overrides with;
  with.seed = seed, with.frame_errors = frame_errors, with.max_frames = max_frames,
  with.max_seconds = max_seconds;
  run_result start;
  if (!resume) {
    start.source = parsed_scenario(text.value_or(""), file);
    apply_overrides(start.source, with);
    for (const curve_config& c : start.source.curves) start.curves.push_back({c.label, c, {}, {}, false});
  } else {
    if (seed)
      throw argument_error("seed", std::to_string(*seed), "none with resume: a result goes on with its own");
    start = load_result(*resume, result_use::go_on, scope.functions());
    scenario wanted = text ? parsed_scenario(*text, file) : start.source;
    apply_overrides(wanted, with);
    start = resumed(std::move(start), std::move(wanted), *resume);
  }
  start.functions = functions_of(start.curves, scope.functions());
  std::optional<output_claim> claim;
  if (!out.empty()) {
    claim.emplace(out);
    check_writable(out);
  }
  sweep_run run(std::move(start), out, checkpoint, std::move(progress));
  where.run([&](executor& exec) {
    std::vector<std::unique_ptr<executor>> others;
    std::vector<executor*> executors{&exec};
    for (const std::string& device : more) {
      others.push_back(open_executor(device, threads));
      executors.push_back(others.back().get());
    }
    run.run(executors, resume.has_value());
  });
  run.raise();
  return run.json();
}

}  // namespace

scenario parsed_scenario(std::string text, const std::optional<std::string>& file) {
  const std::string name = file.value_or("scenario");
  std::string message;
  try {
    scenario s = parse_scenario(std::move(text), name);
    for (const std::string& hint : s.hints)
      if (PyErr_WarnEx(PyExc_FutureWarning, (name + ": " + hint).c_str(), 2) != 0) throw nb::python_error();
    return s;
  } catch (const file_error& e) {
    message = std::string(e.what()).substr(name.size() + 2);  // "name: "
  }
  const std::string command = "warpband sim --help-scenario";
  if (const auto position = message.find(command); position != std::string::npos)
    message.replace(position, command.size(), "warpband.scenario_help()");
  if (file) throw file_error(*file, message);
  if (message.starts_with("line ")) message.erase(0, message.find(": ") + 2);
  if (message.starts_with("channel.file: ")) throw file_error(name, message);  // that file cannot be read
  throw nb::value_error((name + ": " + message).c_str());
}

void bind_sweep(nb::module_& m) {
  m.def(
      "read_result",
      [](const std::string& path) {
        const run_result result = load_result(path, result_use::show);
        const stand_in_kinds kinds(result.functions);
        return result_json(result);
      },
      nb::arg("path"));
  m.def("sweep", &sweep, nb::arg("executor"), nb::kw_only(), nb::arg("more"), nb::arg("threads"),
        optional("text"), optional("file"), optional("resume"), nb::arg("out"), optional("seed"),
        optional("frame_errors"), optional("max_frames"), optional("max_seconds"), nb::arg("checkpoint"),
        optional("progress"), nb::arg("channels"), nb::arg("detectors"), nb::arg("decoders"),
        nb::arg("batch"), optional("version"));
  m.def("scenario_help", &scenario_help);
}

}  // namespace wb::python
