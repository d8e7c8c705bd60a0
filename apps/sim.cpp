#include "command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>

#include "plot.hpp"
#include "temporary_file.hpp"

namespace {

struct sim_options {
  std::string scenario, resume, out, plot, metric = "both";
  device_options where;
  std::vector<std::string> references;  // FILE.csv[:LABEL]
  wb::scenario_overrides overrides;
  double checkpoint = 10;  // seconds between two
  bool quiet = false, help_scenario = false;
};

std::string rate(double r) { return r == 0 ? "0" : fmt::format("{:.2e}", r); }

/// How long a point goes on at most, and probably, in seconds, at so many frames a second.
struct time_left {
  double most, likely;
};
time_left left_of(const wb::point_counts& c, const wb::stop_rule& stop, double frames_per_second) {
  if (wb::has_enough(c, stop)) return {0, 0};
  double most = static_cast<double>(stop.max_frames - c.frames) / frames_per_second;
  if (stop.max_seconds > 0) most = std::min(most, stop.max_seconds - c.seconds);
  double likely = most;
  if (stop.frame_errors > 0 && c.frame_errors > 0)
    likely = std::min(likely, static_cast<double>(stop.frame_errors - c.frame_errors) *
                                  static_cast<double>(c.frames) / static_cast<double>(c.frame_errors) /
                                  frames_per_second);
  return {most, likely};
}

constexpr const char* point_format = "{:>8} {:>8} {:>10} {:>11} {:>11} {:>10} {:>10} {:>22} {:>8} {:>9}\n";

// With HARQ; in the middle a block error rate for each transmission.
constexpr const char* harq_format = "{:>8} {:>8} {:>10}{} {:>7} {:>8} {:>16} {:>8} {:>9}\n";

// With massive MIMO; a frame is a drop of users.
constexpr const char* massive_format = "{:>8} {:>8} {:>10} {:>11} {:>11} {:>10} {:>10} {:>22} {:>8} {:>9}\n";

void print_header(const wb::curve_config& curve) {
  const bool coded = curve.link.code.type != wb::code_type::none;
  fmt::print("{}\n", curve.label);
  if (std::holds_alternative<wb::massive_link_config>(curve.link.antennas)) {
    fmt::print(massive_format, "SNR dB", "Eb/N0 dB", "frames", "codewords", "cw. errors", "BER", "BLER",
               "95% interval of BLER", "Mb/s", "time");
    return;
  }
  if (curve.link.code.type == wb::code_type::lte_transport) {
    std::string rates;
    for (int n = 1; n <= curve.link.code.transport.transmissions; n++)
      rates += fmt::format(" {:>9}", fmt::format("BLER {}", n));
    fmt::print(harq_format, wb::erases_uses(curve.link) ? "SNR dB" : "Es/N0 dB", "Eb/N0 dB", "blocks", rates,
               "transm.", "bits/RE", "95% interval", "Mb/s", "time");
    return;
  }
  fmt::print(point_format, wb::erases_uses(curve.link) ? "SNR dB" : "Es/N0 dB", "Eb/N0 dB", "frames",
             "bit errors", "fr. errors", "BER", "FER", coded ? "95% interval of FER" : "95% interval of BER",
             "Mb/s", "time");
}

void print_plain_row(const wb::point_result& p) {
  const auto bits = p.ber_interval();
  std::string range = "-";
  if (p.coded || bits) {
    const wb::interval i = p.coded ? p.fer_interval() : *bits;
    range = fmt::format("{} .. {}", rate(i.low), rate(i.high));
  }
  fmt::print(point_format, fmt::format("{:.3f}", p.snr_db), fmt::format("{:.3f}", p.ebn0_db), p.counts.frames,
             p.counts.bit_errors, p.counts.frame_errors, rate(p.ber()), rate(p.fer()), range,
             fmt::format("{:.4g}", p.mbps()), duration_text(p.counts.seconds));
}

void print_harq_row(const wb::point_result& p) {
  std::string rates;
  for (int n = 1; n <= p.transmissions; n++) rates += fmt::format(" {:>9}", rate(p.bler(n)));
  const wb::interval i = p.throughput_interval();
  fmt::print(harq_format, fmt::format("{:.3f}", p.snr_db), fmt::format("{:.3f}", p.ebn0_db), p.counts.frames,
             rates, fmt::format("{:.3f}", p.mean_transmissions()), fmt::format("{:.4f}", p.throughput()),
             fmt::format("{:.4f} .. {:.4f}", i.low, i.high), fmt::format("{:.4g}", p.mbps()),
             duration_text(p.counts.seconds));
  if (p.counts.undetected_errors != 0)
    fmt::print("  {} blocks with wrong bits that the CRCs did not tell\n", p.counts.undetected_errors);
}

void print_massive_row(const wb::point_result& p) {
  const wb::interval i = p.bler_interval();
  fmt::print(massive_format, fmt::format("{:.3f}", p.snr_db), fmt::format("{:.3f}", p.ebn0_db),
             p.counts.frames, p.counts.frames * p.codewords, p.counts.codeword_errors, rate(p.ber()),
             rate(p.bler()), fmt::format("{} .. {}", rate(i.low), rate(i.high)),
             fmt::format("{:.4g}", p.mbps()), duration_text(p.counts.seconds));
}

void print_row(const wb::point_result& p) {
  if (p.transmissions != 0)
    print_harq_row(p);
  else if (p.codewords != 0)
    print_massive_row(p);
  else
    print_plain_row(p);
  if (p.counts.erased_uses != 0)
    fmt::print("  {} uses of the channel without LLRs: singular, or out of range\n", p.counts.erased_uses);
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

class simulation {
 public:
  /// `result` holds the scenario's curves with what there is of them already.
  simulation(const sim_options& options, wb::run_result result, wb::executor& exec)
      : options_(options), exec_(exec), line_(options.quiet), result_(std::move(result)) {
    here_.machine = wb::describe_machine(exec);
    result_.complete = false;
    for (const wb::curve_result& c : result_.curves) {
      points_ += c.config.sweep_db.size();
      std::vector<wb::point_counts> held;
      for (const double x : c.config.sweep_db) held.push_back(c.counts_at(x));
      held_.push_back(std::move(held));
    }
  }

  /// Runs what is missing of all curves; false if it was interrupted. Whatever ends it, what was counted is
  /// saved first, where that can be done.
  bool run() try {
    print_title();
    for (std::size_t i = 0; i < result_.curves.size(); i++) {
      wb::curve_result& curve = result_.curves[i];
      fmt::print("\n");
      print_header(curve.config);
      std::fflush(stdout);
      wb::curve_observer observer;
      observer.progress = [&](const wb::curve_result&, std::size_t index, const wb::point_counts& c) {
        counted();
        if (line_.due()) line_.show(progress(i, index, c));
        return !interrupted();
      };
      observer.finished = [&](const wb::curve_result&, const wb::point_result& p) {
        line_.clear();
        print_row(p);
        if (changed_) save_if_possible();
        changed_ = false;
      };
      wb::run_curve(curve, exec_, observer);
      line_.clear();
      // A Ctrl-C right after a point's last batch ends the run too.
      if (curve.cancelled || (interrupted() && i + 1 != result_.curves.size())) {
        if (begun_) save();
        return false;
      }
      earlier_points_ += curve.config.sweep_db.size();
    }
    result_.complete = true;
    save();
    return true;
  } catch (...) {
    line_.clear();
    try {
      if (begun_) save();
    } catch (const std::exception&) {  // what went wrong first is what is told
    }
    throw;
  }

  const wb::run_result& result() const noexcept { return result_; }
  /// Whether this run counted a frame; from then on its result is in the file.
  bool begun() const noexcept { return begun_; }
  std::size_t points() const noexcept { return points_; }
  /// Points that have what the rules ask for.
  std::size_t finished() const {
    std::size_t n = 0;
    for (const wb::curve_result& c : result_.curves)
      for (const wb::point_result& p : c.points) n += wb::has_enough(p.counts, c.config.stop);
    return n;
  }

 private:
  using clock = std::chrono::steady_clock;

  void print_title() const {
    const std::string& title = result_.source.title;
    const wb::machine_info& m = here_.machine;
    const bool is_label = result_.curves.size() == 1 && result_.curves[0].label == title;
    if (!title.empty() && !is_label) fmt::print("{}\n", title);
    fmt::print("{}\n", m.threads == 0
                           ? m.device
                           : fmt::format("{}, {}, {}", m.cpu, m.instruction_set,
                                         m.threads == 1 ? "1 thread" : fmt::format("{} threads", m.threads)));
    if (!options_.resume.empty())
      fmt::print("goes on from {}: {} of {} points finished\n", options_.resume, finished(), points_);
  }

  /// A batch is counted. The first one is written at once: from there on the file is this run's.
  void counted() {
    const clock::time_point now = clock::now();
    // The next batch is taken to last as long as this one: it must not make a checkpoint late.
    const std::chrono::duration<double> by_then = (now - saved_) + (now - last_batch_);
    const bool due = by_then.count() >= options_.checkpoint;
    const bool first = !begun_;
    if (!begun_) {  // only now does this machine have a part in the result
      if (options_.resume.empty())
        result_.origin = here_;
      else
        wb::add_origin(result_, here_);
      begun_ = true;
    }
    changed_ = true;
    if (first)
      save();
    else if (due)
      save_if_possible();
    last_batch_ = now;
  }

  void save() {
    if (!options_.out.empty()) wb::write_file(options_.out, wb::result_json(result_));
    saved_ = clock::now();
  }

  /// A checkpoint that cannot be written (a disk that is full for a while) is no reason to end a long run.
  void save_if_possible() {
    try {
      save();
    } catch (const wb::file_error& e) {
      saved_ = clock::now();
      if (std::exchange(warned_, true)) return;
      line_.clear();
      fmt::print(stderr, "warpband: note: {}; the run goes on and tries again\n", e.what());
    }
  }

  std::string progress(std::size_t curve, std::size_t index, const wb::point_counts& c) const {
    const wb::curve_config& config = result_.curves[curve].config;
    const wb::point_counts& from = held_[curve][index];
    // Speed of this run alone: an earlier one may have been on another machine.
    const double seconds = std::max(c.seconds - from.seconds, 1e-9);
    const double bits = static_cast<double>(c.frames_run - from.frames_run) * config.link.code.k / seconds;
    const time_left here = left_of(c, config.stop, bits / config.link.code.k);
    // Later points: no longer than the most that their rules allow, at the speed of this one.
    double most = here.most;
    for (std::size_t i = curve; i < result_.curves.size(); i++) {
      const wb::curve_config& later = result_.curves[i].config;
      for (std::size_t n = i == curve ? index + 1 : 0; n < later.sweep_db.size(); n++)
        most += left_of(held_[i][n], later.stop, bits / later.link.code.k).most;
    }
    return fmt::format(
        "[{}/{}] {}, {} {:.3g} dB: {} frames, {} frame errors, {:.4g} Mb/s, about {} left, all at most {}",
        earlier_points_ + index + 1, points_, config.label, wb::title_of(config.link.axis),
        config.sweep_db[index], c.frames, c.frame_errors, bits * 1e-6, duration_text(here.likely),
        duration_text(most));
  }

  const sim_options& options_;
  wb::executor& exec_;
  progress_line line_;
  wb::run_result result_;
  wb::run_origin here_;
  std::vector<std::vector<wb::point_counts>> held_;  // of each curve's points when this run began
  std::size_t points_ = 0, earlier_points_ = 0;      // all; those of the curves before
  bool begun_ = false, changed_ = false;             // this run counted a frame; of the point under way
  bool warned_ = false;                              // of a checkpoint that failed
  clock::time_point saved_ = clock::now(), last_batch_ = saved_;
};

std::string check_picture(const std::string& path) {
  if (path.ends_with(".png") || path.ends_with(".svg")) return {};
  return "\"" + path + "\" is not allowed: expected a name that ends in .png or .svg";
}

/// What to run: the scenario, on top of what the result to go on from holds.
wb::run_result starting_point(const sim_options& options) {
  wb::run_result start;
  if (options.resume.empty()) {
    start.source = wb::load_scenario(options.scenario);
    wb::apply_overrides(start.source, options.overrides);
    for (const wb::curve_config& c : start.source.curves) start.curves.push_back({c.label, c, {}, {}, false});
    return start;
  }
  start = wb::load_result(options.resume);
  wb::scenario wanted = options.scenario.empty() ? start.source : wb::load_scenario(options.scenario);
  wb::apply_overrides(wanted, options.overrides);
  start = wb::resumed(std::move(start), std::move(wanted), options.resume);
  const wb::run_origin here, &there = start.origin;
  if (!options.quiet && (here.version != there.version || here.commit != there.commit))
    fmt::print(
        stderr,
        "warpband: note: {} was written by warpband {} (commit {}), this is {} (commit {}): the counts "
        "of both are added up\n",
        options.resume, there.version, there.commit, here.version, here.commit);
  return start;
}

int run_sim(sim_options options) {
  if (options.scenario.empty() && options.resume.empty())
    throw usage_error("a scenario is missing: warpband sim SCENARIO.toml (see warpband sim --help)");
  if (!options.resume.empty() && options.overrides.seed)
    throw usage_error("--seed is not for --resume: a result goes on with the seed it was begun with");
  if (options.out.empty()) options.out = options.resume;
  if (!options.out.empty() && !options.plot.empty() && wb::same_place(options.out, options.plot))
    throw usage_error("--output and --plot name the same file: give each its own");
  stop_on_interrupt();
  // Whatever can be wrong is found before the first frame is sent.
  wb::run_result start = starting_point(options);
  const auto exec = wb::open_executor(options.where.device, options.where.threads);
  std::vector<std::string> inputs;
  if (!options.scenario.empty()) inputs.push_back(options.scenario);
  for (const std::string& r : options.references) inputs.push_back(reference_file(r));
  check_not_an_input(options.out, inputs);
  if (!options.resume.empty()) inputs.push_back(options.resume);
  check_not_an_input(options.plot, inputs);
  if (!options.out.empty()) wb::check_writable(options.out);
  std::optional<plotter> plot;
  if (!options.plot.empty()) {
    wb::check_writable(options.plot);
    plot.emplace();
  }

  std::set<std::string> said;
  for (const wb::curve_result& c : start.curves)
    if (const auto* csi = std::get_if<wb::csi_channel_config>(&c.config.link.channel);
        csi != nullptr && !options.quiet && said.insert(csi->path).second)
      print_remark(csi->path, csi->remark);
  simulation run(options, std::move(start), *exec);
  if (!run.run()) {
    std::string message = fmt::format("interrupted: {} of {} points finished", run.finished(), run.points());
    if (!options.out.empty() && run.begun())
      message += fmt::format(", {0} holds the state: warpband sim --resume {0} goes on", options.out);
    throw wb::error(message);
  }
  if (plot) {
    std::optional<temporary_file> unsaved;  // only needed for its plot
    if (options.out.empty()) {
      unsaved.emplace();
      wb::write_file(unsaved->path(), wb::result_json(run.result()));
    }
    plot->draw(unsaved ? unsaved->path() : options.out, options.plot, options.references, options.metric,
               run.result().source.title);
  }
  return 0;
}

/// Adds an option that takes a number of seconds.
CLI::Option* add_seconds(CLI::App& app, const std::string& name, double most, const std::string& most_text,
                         const std::string& text, std::function<void(double)> take) {
  const auto number = [most](const std::string& word) -> std::optional<double> {
    double value{};
    const char* last = word.data() + word.size();
    const auto [end, status] = std::from_chars(word.data(), last, value);
    if (status != std::errc{} || end != last || !(value >= 0 && value <= most)) return std::nullopt;
    return value;
  };
  const auto check = [=](const std::string& word) -> std::string {
    if (number(word)) return {};
    return "\"" + word + "\" is not allowed: expected a number of seconds from 0 to " + most_text;
  };
  return app
      .add_option_function<std::string>(
          name, [=, take = std::move(take)](const std::string& word) { take(number(word).value()); }, text)
      ->type_name("SECONDS")
      ->check(CLI::Validator(check, "", "seconds"));
}

constexpr const char* sim_footer = R"(Synopsis:
  warpband sim SCENARIO.toml [-o RESULT.json] [OPTIONS]
  warpband sim --resume RESULT.json [SCENARIO.toml] [-o OUT.json] [OPTIONS]
  warpband sim --help-scenario

Output:
  stdout   the processor or device, then a row for each point as it is finished: Es/N0 (of several antennas the
           SNR of one) and Eb/N0 in dB, frames, bit and frame errors, both rates, a 95% interval, Mb/s into the encoder, seconds;
           with HARQ ([code] type = "lte-transport") blocks, their error rate after each transmission, mean transmissions,
           throughput in bits per resource element and its 95% interval; with massive MIMO ([massive]) codewords, their
           error rate and its interval in place of the frames'
  stderr   progress: the point under way, its speed and the time left; one line on a terminal, else one every 30 s

Files:
  SCENARIO.toml   what to run: --help-scenario explains every key
  RESULT.json     raw counts of every point, the configuration, the scenario's text, version and machine, and the
                  counts of points under way, apart from the finished ones (docs/result.md). It is written after the
                  first batch of frames, then every --checkpoint seconds, after each point and at the end, each time
                  in full or not at all. What killed runs left while writing, RESULT.json.tmpPID-N, the next run
                  with the same output removes
  FILE.csv        a reference: columns ebn0_db (snr_db where the scenario sweeps that), ber, fer

Going on:
  A run that was killed (kill -9, power, a crash) loses what it did since the last checkpoint, at most 30 s unless
  a single frame takes longer; --resume goes on there, and the counts in the end are those of a run in one go. The
  device, the number of threads and the instruction set may change in between. The same continues a finished result
  to more frame errors or frames: with --frame-errors, --max-frames or --max-seconds, or with a SCENARIO that
  differs from the first only in its [stop], points and curves (new ones may be added, none left out). A point that
  has more than is asked for stays as it is. Without -o, RESULT.json itself is replaced. Times of all runs add up.

Signals:
  Ctrl-C (SIGINT) and SIGTERM end the run after the batch under way, a fraction of a second, and RESULT.json then
  holds all that was counted; another one, half a second later or more, ends it at once, as kill -9 does.

Exit codes: 0 done, 1 failed or interrupted, 2 used wrongly.

Examples:
  warpband sim examples/quickstart.toml
      prints a row for each point as it is finished; progress goes to stderr
  warpband sim examples/quickstart.toml -o result.json --plot result.svg --metric fer
      and saves raw counts, configuration and machine, and a plot of the frame error rates
  warpband sim examples/ldpc.toml --plot codes.png
      other codes: [code] type = "wimax-ldpc", "wifi-ldpc" or "conv"
  warpband sim examples/lte_harq.toml --plot harq.png
      LTE transport blocks with HARQ: error rates after each transmission, and throughput
  warpband sim --resume result.json
      goes on with it after it was killed or interrupted
  warpband sim --resume result.json --frame-errors 1000 --max-frames 10000000
      continues every point to 1000 frame errors, or ten million frames
  warpband sim --resume result.json more.toml -o more.json
      with points or curves that more.toml has beyond the first scenario; result.json stays
  warpband sim examples/quickstart.toml --plot check.png --reference old.csv:"as measured"
      with a curve from a file beside (columns ebn0_db, ber, fer)
  warpband sim examples/quickstart.toml --device cuda:0 --seed 7
      on a GPU, with other random numbers; the counts are the same on every device

Plots need Python with matplotlib: scripts/setup.sh installs it; WARPBAND_PYTHON names another Python.)";

}  // namespace

command add_sim(CLI::App& app) {
  CLI::App* sim = app.add_subcommand("sim", "Run a link over Eb/N0 and count errors");
  const auto options = std::make_shared<sim_options>();
  constexpr std::int64_t most_frames = 1'000'000'000'000'000;  // as in a scenario
  const auto whole = [](std::optional<std::uint64_t>& place) {
    return [&place](std::int64_t n) { place = static_cast<std::uint64_t>(n); };
  };
  sim->footer(sim_footer);
  sim->add_option("SCENARIO", options->scenario, "What to run, in TOML: see --help-scenario");
  sim->add_option("--resume", options->resume, "Go on from this result, see below")->type_name("RESULT");
  sim->add_option("-o,--output,--json", options->out,
                  "Write the result here, in JSON; with --resume the default is RESULT")
      ->type_name("FILE");
  add_seconds(*sim, "--checkpoint", 30, "30",
              "Write the counts at least this often: 0 (after each batch) to 30, default 10",
              [options](double s) { options->checkpoint = s; });
  add_integer(*sim, "--frame-errors", 0, most_frames,
              "Instead of the scenario's stop.frame_errors: a point stops at so many; 0: no such rule",
              whole(options->overrides.frame_errors));
  add_integer(*sim, "--max-frames", 1, most_frames,
              "Instead of the scenario's stop.max_frames: a point stops after so many at the latest",
              whole(options->overrides.max_frames));
  add_seconds(*sim, "--max-seconds", 1e9, "1e9",
              "Instead of the scenario's stop.max_seconds: a point stops after this time; 0: no such rule",
              [options](double s) { options->overrides.max_seconds = s; });
  sim->add_option("--plot", options->plot, "Draw the error rates: .png or .svg")
      ->type_name("FILE")
      ->check(CLI::Validator(check_picture, "", "picture"));
  sim->add_option("--reference", options->references, "Draw this curve beside; may be given several times")
      ->type_name("CSV[:LABEL]")
      ->allow_extra_args(false);
  sim->add_option(
         "--metric", options->metric,
         "What to draw: ber, fer, both (default), or with HARQ bler, throughput or harq (both of them; the "
         "default where all curves have it)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"ber", "fer", "both", "bler", "throughput", "harq"}));
  add_device_options(*sim, options->where);
  add_integer(*sim, "--seed", 0, INT64_MAX, "Instead of the scenario's seed; not with --resume",
              whole(options->overrides.seed));
  sim->add_flag("--quiet", options->quiet, "No progress and no notes on stderr");
  sim->add_flag("--help-scenario", options->help_scenario, "Explain every key of a scenario file");
  return {sim, [sim, options] {
            if (options->help_scenario) {
              std::fputs(wb::scenario_help().c_str(), stdout);
              return done;
            }
            check_device_options(*sim, options->where);
            if (options->plot.empty() && (sim->count("--reference") != 0 || sim->count("--metric") != 0))
              throw usage_error("--reference and --metric are for --plot: add --plot FILE.png");
            for (const char* option : {"--resume", "--output", "--plot"})
              if (sim->count(option) != 0 && sim->get_option(option)->as<std::string>().empty())
                throw usage_error(std::string(option) + ": the name of the file is empty");
            if (options->out == "-")
              throw usage_error("--output -: the table is on standard output already, name a file");
            if (options->out.empty() && options->resume.empty() && sim->count("--checkpoint") != 0)
              throw usage_error("--checkpoint is for --output: add -o FILE.json");
            return run_sim(*options);
          }};
}
