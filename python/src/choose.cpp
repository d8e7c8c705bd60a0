// link/tradeoff: what `warpband choose` does, without its table.
#include <chrono>
#include <exception>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <warpband/core/decimal.hpp>
#include <warpband/link/massive_link.hpp>
#include <warpband/link/tradeoff_report.hpp>
#include <warpband/stream/batching.hpp>

#include "executors.hpp"
#include "rooms.hpp"
#include "scenarios.hpp"

namespace wb::python {
namespace {

namespace nb = nanobind;

/// Tells Python of a search ten times a second at most, and of signals.
class teller {
 public:
  explicit teller(nb::object progress) : progress_(std::move(progress)) {}
  /// False ends the search.
  template <class Call>
  bool tell(const Call& call) {
    const auto time = std::chrono::steady_clock::now();
    if (raised_ || stopped_) return false;
    if (std::chrono::duration<double>(time - told_).count() < 0.1) return true;
    told_ = time;
    nb::gil_scoped_acquire held;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress_.is_none() && call(progress_).ptr() == Py_False) stopped_ = true;
    } catch (...) {
      raised_ = std::current_exception();
    }
    return !raised_ && !stopped_;
  }
  bool stopped() const noexcept { return stopped_; }
  /// With the GIL: what the callback, or a Ctrl-C, raised.
  void raise() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  nb::object progress_;
  bool stopped_ = false;
  std::exception_ptr raised_;
  std::chrono::steady_clock::time_point told_{};
};

std::size_t curve_of(const scenario& s, const std::optional<std::string>& label) {
  std::string labels;
  for (std::size_t i = 0; i < s.curves.size(); i++) {
    if (label ? s.curves[i].label == *label : s.curves.size() == 1) return i;
    labels += (labels.empty() ? "\"" : ", \"") + s.curves[i].label + "\"";
  }
  throw argument_error("curve", label ? "\"" + *label + "\"" : "None", "one of " + labels);
}

/// Symbols and streams of the chosen detector of massive MIMO.
void batch(tradeoff_report& report, double latency_us, const std::string& device, teller& told) {
  const link_config link = completed(report.receiver().link);
  const auto& massive = link.antennas.get<massive_link_config>();
  const auto entries = search_batching(
      {.latency_us = latency_us, .symbols = symbols_to_try(massive.symbols)},
      [&](int symbols, int streams) {
        return measure_batching(make_uplink_frames(massive, link.qam, symbols),
                                static_cast<std::size_t>(massive.subcarriers * symbols), streams,
                                {.device = device});
      },
      [&] {
        return told.tell([&](const nb::object& progress) {
          return progress(report.result.entries.size(), report.result.front.size(),
                          report.receiver().detector, report.receiver().decoder, report.receiver().frames);
        });
      });
  report.latency_us = latency_us;
  report.best_batching = best_batching(entries);
  for (const batching_entry& e : entries) report.batching.push_back(described(e));
}

std::pair<std::string, std::string> choose(executor_ref& where, const std::string& device, std::string text,
                                           std::optional<std::string> file, std::optional<std::string> curve,
                                           double fer, double loss_db, double width_db,
                                           std::uint64_t max_frames, std::optional<double> max_seconds,
                                           std::optional<double> latency_us,
                                           std::optional<std::uint64_t> seed, nb::object progress) {
  scenario source = parsed_scenario(std::move(text), file);
  scenario_overrides with;
  with.seed = seed;
  apply_overrides(source, with);
  const std::size_t index = curve_of(source, curve);
  const link_config& link = source.curves[index].link;
  check_choices(link);
  if (latency_us && link.antennas.find<massive_link_config>() == nullptr)
    throw argument_error("latency_us", decimal(*latency_us), "None: the scenario has no massive.solver");
  teller told(std::move(progress));
  tradeoff_report report;
  std::exception_ptr failed;
  where.run([&](executor& exec) {
    try {
      report = choose_receiver(
          std::move(source), index,
          {.fer = fer,
           .width_db = width_db,
           .loss_db = loss_db,
           .max_frames = max_frames,
           .max_seconds = max_seconds},
          exec, [&](const tradeoff_result& so_far, const tradeoff_entry& current, std::uint64_t frames) {
            return told.tell([&](const nb::object& tell) {
              return tell(so_far.entries.size(), so_far.front.size(), current.detector, current.decoder,
                          frames);
            });
          });
      if (latency_us) batch(report, *latency_us, device, told);
    } catch (...) {
      failed = std::current_exception();
    }
  });
  told.raise();
  if (told.stopped()) throw error("interrupted: the progress function returned False");
  if (failed) std::rethrow_exception(failed);
  return {tradeoff_json(report), chosen_scenario(report)};
}

}  // namespace

void bind_choose(nb::module_& m) {
  m.def("choose", &choose, nb::arg("executor"), nb::kw_only(), nb::arg("device"), nb::arg("text"),
        optional("file"), optional("curve"), nb::arg("fer"), nb::arg("loss_db"), nb::arg("width_db"),
        nb::arg("max_frames"), optional("max_seconds"), optional("latency_us"), optional("seed"),
        optional("progress"));
}

}  // namespace wb::python
