#include "sim.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/link/result.hpp>

#include "plot.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;

/// The first Ctrl-C ends the run in order, the next one at once. A caller that has it ignored is left alone.
void stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

std::string duration(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5970) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 360000) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.0f} days", seconds / 86400);
}

std::string rate(double r) { return r == 0 ? "0" : fmt::format("{:.2e}", r); }

/// One line on stderr that is written over again and again; without a terminal a line now and then.
class progress_line {
 public:
  explicit progress_line(bool quiet) : quiet_(quiet), terminal_(isatty(2) != 0) {}
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  bool due() {
    if (quiet_) return false;
    const auto now = clock_type::now();
    if (now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(30))) return false;
    last_ = now;
    return true;
  }
  void show(const std::string& text) {
    if (terminal_)
      fmt::print(stderr, "\r\x1b[K{}", text);
    else
      fmt::print(stderr, "{}\n", text);
    std::fflush(stderr);
    shown_ = terminal_;
  }
  void clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

 private:
  bool quiet_, terminal_, shown_ = false;
  clock_type::time_point last_ = clock_type::now();
};

/// How long a point goes on at most, and probably, in seconds.
struct time_left {
  double most, likely;
};
time_left left_of(const wb::point_counts& c, const wb::stop_rule& stop) {
  const auto scaled = [&](double have, double want) {
    return have > 0 ? c.seconds * std::max(0.0, want / have - 1) : 1e300;
  };
  double most = scaled(static_cast<double>(c.frames), static_cast<double>(stop.max_frames));
  if (stop.max_seconds > 0) most = std::min(most, std::max(0.0, stop.max_seconds - c.seconds));
  double likely = most;
  if (stop.frame_errors > 0)
    likely =
        std::min(likely, scaled(static_cast<double>(c.frame_errors), static_cast<double>(stop.frame_errors)));
  return {most, likely};
}

constexpr const char* row_format = "{:>8} {:>8} {:>10} {:>11} {:>11} {:>10} {:>10} {:>22} {:>8} {:>9}\n";

void print_header(const wb::curve_config& curve) {
  const bool coded = curve.link.code != wb::code_type::none;
  fmt::print("{}\n", curve.label);
  fmt::print(row_format, "Es/N0 dB", "Eb/N0 dB", "frames", "bit errors", "fr. errors", "BER", "FER",
             coded ? "95% interval of FER" : "95% interval of BER", "Mb/s", "time");
}

void print_row(const wb::point_result& p) {
  const auto bits = p.ber_interval();
  std::string range = "-";
  if (p.coded || bits) {
    const wb::interval i = p.coded ? p.fer_interval() : *bits;
    range = fmt::format("{} .. {}", rate(i.low), rate(i.high));
  }
  fmt::print(row_format, fmt::format("{:.3f}", p.esn0_db), fmt::format("{:.3f}", p.ebn0_db), p.counts.frames,
             p.counts.bit_errors, p.counts.frame_errors, rate(p.ber()), rate(p.fer()), range,
             fmt::format("{:.4g}", p.mbps()), duration(p.counts.seconds));
  std::fflush(stdout);
}

/// The file of a reference, FILE.csv or FILE.csv:LABEL.
std::string reference_file(const std::string& reference) {
  std::string path = reference;
  if (const std::size_t at = path.find(".csv:"); !std::filesystem::exists(path) && at != std::string::npos)
    path.resize(at + 4);
  if (!std::ifstream(path) || std::filesystem::is_directory(path))
    throw wb::file_error(path, "cannot read the reference curve");
  return path;
}

/// Refuses an output that would replace an input.
void check_not_an_input(const std::string& out, const std::vector<std::string>& inputs) {
  std::error_code none;
  for (const std::string& in : inputs)
    if (!out.empty() && std::filesystem::equivalent(out, in, none))
      throw wb::file_error(out, "is read by this run: give the result another name");
}

/// A name for a result that is only needed for its plot; removed at the end.
class temporary_result {
 public:
  temporary_result() {
    path_ = (std::filesystem::temp_directory_path() / "warpband-XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0) throw wb::file_error(path_, std::string("cannot write: ") + std::strerror(errno));
    close(file);
  }
  ~temporary_result() { unlink(path_.c_str()); }
  temporary_result(const temporary_result&) = delete;
  temporary_result& operator=(const temporary_result&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

class simulation {
 public:
  simulation(const sim_options& options, wb::scenario scenario, wb::executor& exec)
      : options_(options), exec_(exec), line_(options.quiet) {
    if (options.seed)
      for (wb::curve_config& c : scenario.curves) c.link.seed = *options.seed;
    result_.source = std::move(scenario);
    result_.machine = wb::describe_machine(exec);
    for (const wb::curve_config& c : result_.source.curves) points_ += c.ebn0_db.size();
  }

  /// Runs all curves; false if it was interrupted.
  bool run() {
    const std::string& title = result_.source.title;
    const wb::machine_info& m = result_.machine;
    const bool is_label = result_.source.curves.size() == 1 && result_.source.curves[0].label == title;
    if (!title.empty() && !is_label) fmt::print("{}\n", title);
    fmt::print("{}\n", m.threads == 0
                           ? m.device
                           : fmt::format("{}, {}, {}", m.cpu, m.instruction_set,
                                         m.threads == 1 ? "1 thread" : fmt::format("{} threads", m.threads)));
    for (const wb::curve_config& curve : result_.source.curves) {
      fmt::print("\n");
      print_header(curve);
      std::fflush(stdout);
      result_.curves.emplace_back();
      wb::curve_observer observer;
      observer.progress = [&](const wb::link_chain& chain, std::size_t index, const wb::point_counts& c) {
        if (line_.due()) line_.show(progress(curve, chain, index, c));
        return interrupted == 0;
      };
      observer.finished = [&](const wb::curve_result& r) {
        line_.clear();
        result_.curves.back() = r;
        print_row(r.points.back());
        finished_++;
        save();
      };
      const wb::curve_result r = wb::run_curve(curve, exec_, observer);
      line_.clear();
      // A Ctrl-C right after a point's last batch ends the run too.
      if (r.cancelled || (interrupted != 0 && &curve != &result_.source.curves.back())) return false;
      skipped_ += curve.ebn0_db.size() - r.points.size();
    }
    result_.complete = true;
    save();
    return true;
  }

  const wb::run_result& result() const noexcept { return result_; }
  std::size_t finished() const noexcept { return finished_; }
  std::size_t points() const noexcept { return points_; }

 private:
  void save() const {
    if (!options_.out.empty()) wb::write_file(options_.out, wb::result_json(result_));
  }

  std::string progress(const wb::curve_config& curve, const wb::link_chain& chain, std::size_t index,
                       const wb::point_counts& c) const {
    const time_left here = left_of(c, curve.stop);
    // Later points: no longer than the most that their rules allow, at the speed of this one.
    const double speed = static_cast<double>(c.frames_run) * chain.config().k / std::max(c.seconds, 1e-9);
    double most = here.most;
    const auto& curves = result_.source.curves;
    for (const wb::curve_config* later = &curve; later != curves.data() + curves.size(); later++) {
      double each = static_cast<double>(later->stop.max_frames) * later->link.k / speed;
      if (later->stop.max_seconds > 0) each = std::min(each, later->stop.max_seconds);
      most += each * static_cast<double>(later->ebn0_db.size() - (later == &curve ? index + 1 : 0));
    }
    return fmt::format(
        "[{}/{}] {}, Eb/N0 {:.3g} dB: {} frames, {} frame errors, {:.4g} Mb/s, about {} left, all at most {}",
        finished_ + skipped_ + 1, points_, curve.label, curve.ebn0_db[index], c.frames, c.frame_errors,
        speed * 1e-6, duration(here.likely), duration(most));
  }

  const sim_options& options_;
  wb::executor& exec_;
  progress_line line_;
  wb::run_result result_;
  std::size_t points_ = 0, finished_ = 0, skipped_ = 0;
};

}  // namespace

int run_sim(const sim_options& options) {
  // Whatever can be wrong is found before the first frame is sent.
  wb::scenario scenario = wb::load_scenario(options.scenario);
  const auto exec = wb::open_executor(options.device, options.threads);
  std::vector<std::string> inputs{options.scenario};
  for (const std::string& r : options.references) inputs.push_back(reference_file(r));
  check_not_an_input(options.out, inputs);
  check_not_an_input(options.plot, inputs);
  if (!options.out.empty()) wb::check_writable(options.out);
  std::optional<plotter> plot;
  if (!options.plot.empty()) {
    wb::check_writable(options.plot);
    plot.emplace();
  }

  stop_on_interrupt();
  simulation run(options, std::move(scenario), *exec);
  if (!run.run()) {
    std::string message = fmt::format("interrupted: {} of {} points finished", run.finished(), run.points());
    if (!options.out.empty() && run.finished() > 0) message += ", " + options.out + " holds them";
    throw wb::error(message);
  }
  if (plot) {
    std::optional<temporary_result> unsaved;
    if (options.out.empty()) {
      unsaved.emplace();
      wb::write_file(unsaved->path(), wb::result_json(run.result()));
    }
    plot->draw(unsaved ? unsaved->path() : options.out, options.plot, options.references, options.metric,
               run.result().source.title);
  }
  return 0;
}
