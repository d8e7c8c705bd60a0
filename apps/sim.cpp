#include "command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>

#include "plot.hpp"
#include "sim_table.hpp"
#include "sim_workers.hpp"
#include "temporary_file.hpp"

namespace {

struct sim_options {
  std::string scenario, resume, out, plot, csv, metric = "both", size = "screen";
  device_options where;
  std::vector<std::string> references;  // FILE.csv[:LABEL]
  wb::scenario_overrides overrides;
  double checkpoint = 10;      // seconds between two
  double rank_deadline = 600;  // seconds; 0: none
  bool quiet = false, force = false, help_scenario = false;

  /// Whether the result is kept anywhere.
  bool keeps() const { return !out.empty() || !plot.empty() || !csv.empty(); }
  /// The file of the result; "" where it is for standard output, or for nobody.
  std::string file() const { return out == "-" ? "" : out; }
  /// Where the table goes: what a program reads from standard output stands there alone.
  std::FILE* table() const { return out == "-" || csv == "-" ? stderr : stdout; }
};

/// How long a point goes on at most, and probably, in seconds, at so many frames a second.
struct time_left {
  double longest, likely;
};
time_left left_of(const wb::point_counts& c, const wb::stop_rule& stop, double frames_per_second) {
  if (wb::has_enough(c, stop)) return {0, 0};
  double longest = static_cast<double>(stop.max_frames - c.frames) / frames_per_second;
  if (stop.max_seconds) longest = std::min(longest, *stop.max_seconds - c.seconds);
  double likely = longest;
  if (stop.frame_errors > 0 && c.frame_errors > 0)
    likely = std::min(likely, static_cast<double>(stop.frame_errors - c.frame_errors) *
                                  static_cast<double>(c.frames) / static_cast<double>(c.frame_errors) /
                                  frames_per_second);
  return {longest, likely};
}

class simulation {
 public:
  /// `result` holds the scenario's curves with what there is of them already.
  simulation(const sim_options& options, wb::run_result result, sim_workers& workers)
      : options_(options),
        workers_(workers),
        line_(options.quiet),
        out_(options.table()),
        result_(std::move(result)) {
    here_.machine = workers.machine();
    result_.complete = false;
    for (const wb::curve_result& c : result_.curves) {
      points_ += points_of(c.config);
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
      print_to(out_, "\n{}\n", wb::printable(curve.label, most_shown));
      curve_table table(out_, curve.config);
      table.header();
      check_reader();
      wb::curve_observer observer;
      observer.progress = [&](const wb::curve_result&, std::size_t index, const wb::point_counts& c) {
        counted();
        if (line_.due()) line_.show(progress(i, index, c));
        return !interrupted();
      };
      observer.finished = [&](const wb::curve_result&, const wb::point_result& p) {
        line_.clear();
        table.row(p);
        check_reader();
        if (changed_) save_if_possible();
        changed_ = false;
      };
      wb::run_curve(curve, workers_.maker(i), observer);
      line_.clear();
      // A Ctrl-C right after a point's last batch ends the run too.
      if (curve.cancelled || (interrupted() && i + 1 != result_.curves.size())) {
        if (begun_) save();
        return false;
      }
      if (curve.found) print_found(curve);
      earlier_points_ += points_of(curve.config);
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
      if (c.config.target)
        n += c.found.has_value();
      else
        for (const wb::point_result& p : c.points) n += wb::has_enough(p.counts, c.config.stop);
    return n;
  }

 private:
  using clock = std::chrono::steady_clock;

  /// Of the whole run; a search is one.
  static std::size_t points_of(const wb::curve_config& c) { return c.target ? 1 : c.sweep_db.size(); }

  void print_found(const wb::curve_result& curve) {
    const wb::fer_target_result& found = *curve.found;
    const wb::fer_target& target = *curve.config.target;
    const std::string axis = wb::title_of(curve.config.link.axis);
    const auto db = [](const std::optional<double>& x) { return x ? fmt::format("{:.3f} dB", *x) : "?"; };
    std::string text;
    switch (found.outcome) {
      case wb::fer_outcome::above:
        text = fmt::format("above it even at {} = {:g} dB", axis, target.most_db);
        break;
      case wb::fer_outcome::below:
        text = fmt::format("below it even at {} = {:g} dB", axis, target.least_db);
        break;
      default:
        text = fmt::format("{} = {}, interval {} .. {}{}", axis, db(found.db), db(found.low_db),
                           db(found.high_db), found.reached() ? "" : ": stop.max_frames is used up");
    }
    print_to(out_, "  FER {:g}: {}, {} frames\n", target.fer, text, found.frames);
    check_reader();
  }

  /// Where nobody reads the table any more (`| head`), the run goes on for the result alone. Throws wb::error
  /// where there is none.
  void check_reader() {
    errno = 0;
    if ((std::fflush(out_) == 0 && std::ferror(out_) == 0) || errno != EPIPE) return;
    if (!options_.keeps())
      throw wb::error("nobody reads the table, and no result is asked for: -o FILE.json");
    if (std::freopen("/dev/null", "w", out_) == nullptr) throw wb::file_error("/dev/null", "cannot write");
    if (!options_.quiet) print_note("nobody reads the table any more; the run goes on for its result");
  }

  void print_title() const {
    const std::string& title = result_.source.title;
    const wb::machine_info& m = here_.machine;
    const bool is_label = result_.curves.size() == 1 && result_.curves[0].label == title;
    if (!title.empty() && !is_label) print_to(out_, "{}\n", wb::printable(title, most_shown));
    print_to(out_, "{}\n",
             m.threads == 0
                 ? m.device
                 : fmt::format("{}, {}, {}", m.cpu, m.instruction_set,
                               m.threads == 1 ? "1 thread" : fmt::format("{} threads", m.threads)));
    if (!options_.resume.empty())
      print_to(out_, "goes on from {}: {} of {} points finished\n",
               wb::printable(options_.resume, most_shown), finished(), points_);
  }

  /// A batch is counted. The first one is written at once: from there on the file is this run's.
  void counted() {
    const clock::time_point time = clock::now();
    // The next batch is taken to last as long as this one: it must not make a checkpoint late.
    const std::chrono::duration<double> by_then = (time - saved_) + (time - last_batch_);
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
    last_batch_ = time;
  }

  void save() {
    if (!options_.file().empty()) wb::write_file(options_.out, wb::result_json(result_));
    saved_ = clock::now();
  }

  /// A checkpoint that cannot be written (a disk that is full for a while) is no reason to end a long run.
  void save_if_possible() {
    try {
      save();
    } catch (const wb::file_error& e) {
      saved_ = clock::now();
      if (std::exchange(warned_, true) || options_.quiet) return;
      line_.clear();
      print_note(fmt::format("{}; the run goes on and tries again", e.what()));
    }
  }

  /// What the line says, the longest first.
  std::vector<std::string> progress(std::size_t curve, std::size_t index, const wb::point_counts& c) const {
    const wb::curve_config& config = result_.curves[curve].config;
    const std::string label = wb::printable(config.label, most_shown);
    if (config.target) {
      const std::string position = fmt::format("[{}/{}]", earlier_points_ + 1, points_);
      return {fmt::format("{} {}: searches for FER {:g}, {} frames", position, label, config.target->fer,
                          c.frames),
              fmt::format("{} {} frames", position, c.frames)};
    }
    const wb::point_counts& from = held_[curve][index];
    // Speed of this run alone: an earlier one may have been on another machine.
    const double seconds = std::max(c.seconds - from.seconds, 1e-9);
    const auto k = static_cast<double>(wb::sizes_of(config.link.code).k);
    const double bits = static_cast<double>(c.frames_run - from.frames_run) * k / seconds;
    const time_left here = left_of(c, config.stop, bits / k);
    // Later points: no longer than the most that their rules allow, at the speed of this one.
    double longest = here.longest;
    for (std::size_t i = curve; i < result_.curves.size(); i++) {
      const wb::curve_config& later = result_.curves[i].config;
      for (std::size_t n = i == curve ? index + 1 : 0; n < later.sweep_db.size(); n++)
        longest +=
            left_of(held_[i][n], later.stop, bits / static_cast<double>(wb::sizes_of(later.link.code).k))
                .longest;
    }
    const std::string position = fmt::format("[{}/{}]", earlier_points_ + index + 1, points_),
                      point = fmt::format("{:.3g}{}", config.sweep_db[index], wb::unit_of(config.link.axis)),
                      left = duration_text(here.likely), longest_left = duration_text(longest);
    return {
        fmt::format("{} {}, {} {}: {} frames, {} frame errors, {:.4g} Mb/s, about {} left, all at most {}",
                    position, label, wb::title_of(config.link.axis), point, c.frames, c.frame_errors,
                    bits * 1e-6, left, longest_left),
        fmt::format("{} {}, {}: {} frames, {} errors, {} left, all {}", position, cut_to(label, 24), point,
                    c.frames, c.frame_errors, left, longest_left),
        fmt::format("{} {}: {} frames, {} errors, {} left, all {}", position, point, c.frames, c.frame_errors,
                    left, longest_left),
        fmt::format("{} {}: {} frames, {} errors, {} left", position, point, c.frames, c.frame_errors, left),
        fmt::format("{} {}: {} errors, {} left", position, point, c.frame_errors, left)};
  }

  const sim_options& options_;
  sim_workers& workers_;
  progress_line line_;
  std::FILE* out_;  // of the table
  wb::run_result result_;
  wb::run_origin here_;
  std::vector<std::vector<wb::point_counts>> held_;  // of each curve's points when this run began
  std::size_t points_ = 0, earlier_points_ = 0;      // all; those of the curves before
  bool begun_ = false, changed_ = false;             // this run counted a frame; of the point under way
  bool warned_ = false;                              // of a checkpoint that failed
  clock::time_point saved_ = clock::now(), last_batch_ = saved_;
};

/// A scenario's text; - is standard input.
wb::scenario read_text(const std::string& name) {
  if (name != "-") return wb::load_scenario(name);
  constexpr std::size_t most_bytes = 1 << 20;
  std::string text(most_bytes + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  if (text.size() > most_bytes) throw wb::file_error("standard input", "larger than 1 MiB: not a scenario");
  return wb::parse_scenario(text, "standard input");
}
wb::scenario read_scenario(const std::string& name) {
  wb::scenario s = read_text(name);
  print_hints(s.hints);
  return s;
}

/// What to run: the scenario, on top of what the result to go on from holds.
wb::run_result starting_point(const sim_options& options) {
  wb::run_result start;
  if (options.resume.empty()) {
    start.source = read_scenario(options.scenario);
    wb::apply_overrides(start.source, options.overrides);
    for (const wb::curve_config& c : start.source.curves) start.curves.push_back({c.label, c, {}, {}, false});
    return start;
  }
  start = wb::load_result(options.resume);
  wb::scenario wanted = options.scenario.empty() ? start.source : read_scenario(options.scenario);
  wb::apply_overrides(wanted, options.overrides);
  start = wb::resumed(std::move(start), std::move(wanted), options.resume);
  const wb::run_origin here, &earlier = start.origin;
  if (!options.quiet && (here.version != earlier.version || here.commit != earlier.commit))
    print_note(fmt::format(
        "{} was written by warpband {} (commit {}), this is {} (commit {}): the counts of both are added up",
        options.resume, wb::printable(earlier.version, 40), wb::printable(earlier.commit, 60), here.version,
        here.commit));
  return start;
}

/// Whether a file begins as a result does.
bool is_result(const std::string& path) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status))
    return false;  // to read a pipe would wait for it and take its content
  std::string begin(4096, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  return begin.starts_with('{') && begin.find("\"warpband\"") != std::string::npos;
}

/// Refuses files that cannot be written or must not.
void check_files(const sim_options& options) {
  std::vector<std::string> inputs;
  if (!options.scenario.empty() && options.scenario != "-") inputs.push_back(options.scenario);
  for (const std::string& r : options.references) inputs.push_back(reference_file(r));
  check_not_an_input(options.file(), inputs);
  if (!options.resume.empty()) inputs.push_back(options.resume);
  check_not_an_input(options.plot, inputs);
  if (!options.file().empty()) claim_output(options.out);
  const bool goes_on = !options.resume.empty() && wb::same_place(options.out, options.resume);
  if (!options.force && !goes_on)
    check_not_another_result(
        options.file(), is_result(options.out)
                            ? "warpband sim --resume " + options.out + " goes on with it, --force replaces it"
                            : "--force replaces it");
  if (!options.file().empty()) wb::check_writable(options.out);
  if (!options.csv.empty() && options.csv != "-") {
    check_not_an_input(options.csv, inputs);
    wb::check_writable(options.csv);
  }
  if (!options.plot.empty()) wb::check_writable(options.plot);
}

/// Notes on recorded channels, once each.
void print_remarks(const wb::run_result& start) {
  std::set<std::string> noted;
  for (const wb::curve_result& c : start.curves)
    if (const auto* csi = c.config.link.channel.settings.find<wb::csi_channel_config>();
        csi != nullptr && noted.insert(csi->path).second)
      print_remark(csi->path, csi->remark);
}

/// What else is made of the result: a table, a figure, JSON on standard output.
void hand_over(const sim_options& options, const wb::run_result& result, const plotter* plot) {
  if (options.out == "-") print_json(wb::result_json(result));
  if (options.csv == "-")
    print_text(stdout, result_csv(result));
  else if (!options.csv.empty())
    wb::write_file(options.csv, result_csv(result));
  if (plot == nullptr) return;
  std::optional<temporary_file> unsaved;
  if (options.file().empty()) {
    unsaved.emplace();
    wb::write_file(unsaved->path(), wb::result_json(result));
  }
  plot_request request{.inputs = {unsaved ? unsaved->path() : options.out}, .out = options.plot};
  request.inputs.insert(request.inputs.end(), options.references.begin(), options.references.end());
  request.metric = options.metric;
  request.title = result.source.title;
  request.size = options.size;
  plot->draw(request);
}

int run_sim(sim_options options) {
  if (options.scenario.empty() && options.resume.empty())
    throw usage_error("a scenario is missing: warpband sim SCENARIO.toml (see warpband sim --help)");
  if (!options.resume.empty() && options.overrides.seed)
    throw usage_error("--seed is not for --resume: a result goes on with the seed it was begun with");
  if (options.out.empty()) options.out = options.resume;
  std::signal(SIGPIPE, SIG_IGN);  // who reads the table may leave before the end
  auto ranks = wb::ranks::join();
  if (ranks) stop_on_interrupt();
  if (ranks && ranks->rank() != 0) {
    run_rank(*ranks, options.where.device, options.where.threads);
    return 0;
  }
  sim_workers workers(options.where.device, options.where.threads, std::move(ranks));
  // Whatever can be wrong is found before the first frame is sent.
  wb::run_result start = starting_point(options);
  if (!options.plot.empty()) check_metric(options.metric, start.source.curves);
  check_files(options);
  // Until here a signal ends the process, also while it waits for a pipe: no result is lost.
  stop_on_interrupt();
  std::optional<plotter> plot;
  if (!options.plot.empty()) plot.emplace("--plot");
  if (!options.quiet) print_remarks(start);
  workers.begin(start.source, options.rank_deadline);
  simulation run(options, std::move(start), workers);
  if (!run.run()) {
    if (options.out == "-") hand_over(options, run.result(), nullptr);
    std::string message = fmt::format("interrupted: {} of {} points finished", run.finished(), run.points());
    if (!options.file().empty() && run.begun())
      message += fmt::format(", {0} holds the state: warpband sim --resume {0} goes on", options.out);
    throw wb::error(message);
  }
  hand_over(options, run.result(), plot ? &*plot : nullptr);
  return 0;
}

/// Adds an option that takes a number of seconds.
CLI::Option* add_seconds(CLI::App& app, const std::string& name, double greatest,
                         const std::string& most_text, const std::string& text,
                         std::function<void(double)> take) {
  const auto number = [greatest](const std::string& word) -> std::optional<double> {
    double value{};
    const char* last = word.data() + word.size();
    const auto [end, status] = std::from_chars(word.data(), last, value);
    if (status != std::errc{} || end != last || !(value >= 0 && value <= greatest)) return std::nullopt;
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

/// Throws usage_error for names of files that do not go together.
void check_names(const CLI::App& sim, const sim_options& o) {
  for (const char* option : {"--resume", "--output", "--plot", "--csv"})
    if (sim.count(option) != 0 && sim.get_option(option)->as<std::string>().empty())
      throw usage_error(std::string(option) + ": the name of the file is empty");
  const std::vector<std::pair<const char*, std::string>> written{
      {"--output", o.out}, {"--csv", o.csv}, {"--plot", o.plot}};
  for (std::size_t a = 0; a < written.size(); a++)
    for (std::size_t b = a + 1; b < written.size(); b++) {
      const auto& [option, name] = written[a];
      const auto& [other, its] = written[b];
      if (!name.empty() && !its.empty() &&
          (name == its || (name != "-" && its != "-" && wb::same_place(name, its))))
        throw usage_error(fmt::format("{} and {} name the same file: give each its own", option, other));
    }
}

/// What is written, and how it is drawn.
void add_outputs(CLI::App& sim, sim_options& o) {
  sim.add_option("-o,--output,--json", o.out,
                 "Write the result here, in JSON; - for standard output; with --resume the default is RESULT")
      ->type_name("FILE");
  sim.add_flag("--force", o.force, "Replace a file of --output that holds another run's result");
  sim.add_option("--csv", o.csv, "Write all points as a table; - for standard output")->type_name("FILE");
  sim.add_option("--plot", o.plot, "Draw the error rates: .pdf, .png or .svg")
      ->type_name("FILE")
      ->check(CLI::Validator(check_picture, "", "picture"));
  sim.add_option("--reference", o.references, "Draw this curve beside; may be given several times")
      ->type_name("CSV[:LABEL]")
      ->allow_extra_args(false);
  sim.add_option("--metric", o.metric,
                 "What to draw: ber, fer, both (default), bler (HARQ, massive MIMO), throughput or harq; of "
                 "HARQ alone both are the default; required, of sweep.target_fer; mutual_information, of "
                 "modem.mutual_information")
      ->type_name("NAME")
      ->transform(word_of(plot_metrics()));
  sim.add_option("--size", o.size, "Of the figure: screen (default), one-column or two-column")
      ->type_name("NAME")
      ->transform(word_of(plot_sizes()));
}

constexpr const char* sim_footer = R"(Synopsis:
  warpband sim SCENARIO.toml [-o RESULT.json] [OPTIONS]
  warpband sim --resume RESULT.json [SCENARIO.toml] [-o OUT.json] [OPTIONS]
  warpband sim --help-scenario

Output:
  stdout   the processor or device, then a row for each point as it is finished: Es/N0 (of several antennas the
           SNR of one) and Eb/N0 in dB, frames, bit and frame errors, both rates, a 95% interval (of the BER where uncoded
           bits fail independently, else of the FER), Mb/s into the encoder, seconds;
           with HARQ ([code] type = "lte-transport") blocks, their error rate after each transmission, mean transmissions,
           throughput in bits per resource element and its 95% interval; with massive MIMO ([massive]) codewords, their
           error rate and its interval in place of the frames'. A terminal that is too narrow shows fewer columns. With
           -o - or --csv - the result has standard output for itself, and the table goes to stderr
  stderr   progress: the point under way, its speed and the time left; one line on a terminal, else one every 30 s

Files:
  SCENARIO.toml   what to run: --help-scenario explains every key
  RESULT.json     raw counts of every point, the configuration, the scenario's text, version and machine, and the
                  counts of points under way, apart from the finished ones (docs/result.md). It is written after the
                  first batch of frames, then every --checkpoint seconds, after each point and at the end, each time
                  in full or not at all. What holds a result already is not replaced without --force. What killed runs left
                  while writing, RESULT.json.tmpPID-N, the next run with the same output removes. Two runs cannot
                  write the same RESULT.json at once: a lock on RESULT.json.lock, which is there during a run, says so on
                  every machine that sees the folder, if its file system has locks
  FILE.csv        a reference: columns ebn0_db (snr_db, esn0_db or probability where the scenario sweeps that), ber, fer. --csv writes one

Going on:
  A run that was killed (kill -9, power, a crash) loses what it did since the last checkpoint, at most 30 s unless
  a single frame takes longer; --resume goes on there, and the counts in the end are those of a run in one go. The
  device, the number of threads and the instruction set may change in between. The same continues a finished result
  to more frame errors or frames: with --frame-errors, --max-frames or --max-seconds, or with a SCENARIO that
  differs from the first only in its title, labels, [stop], points and curves (new ones may be added, none left out):
  curves are known by their settings. A point that
  has more than is asked for stays as it is. Without -o, RESULT.json itself is replaced. Times of all runs add up.

Signals:
  Ctrl-C (SIGINT), SIGTERM and SIGHUP (a terminal that is closed) end the run after the batch under way, a fraction of a
  second, and RESULT.json then holds all that was counted; another one, half a second later or more, ends it at once, as
  kill -9 does.

Exit codes: 0 done, 1 failed or interrupted, 2 used wrongly.

Examples:
  warpband sim examples/quickstart.toml
      prints a row for each point as it is finished; progress goes to stderr
  warpband sim examples/quickstart.toml -o result.json --plot result.svg --metric fer
      and saves raw counts, configuration and machine, and a plot of the frame error rates
  warpband sim examples/ldpc.toml --plot codes.png
      other codes: [code] type = "wimax-ldpc", "wifi-ldpc", "nr-ldpc" or "conv"
  warpband sim examples/lte_harq.toml --plot harq.png
      LTE transport blocks with HARQ: error rates after each transmission, and throughput
  echo 'sweep.ebn0_db = [0, 1]' | warpband sim - --json - | jq .curves
      as a part of a pipeline: the scenario from standard input, the result to standard output
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
  sim->add_option("SCENARIO", options->scenario,
                  "What to run, in TOML: see --help-scenario; - for standard input");
  sim->add_option("--resume", options->resume, "Go on from this result, see below")->type_name("RESULT");
  add_outputs(*sim, *options);
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
  add_trusted(*sim);
  add_device_options(*sim, options->where, true);
  add_seconds(
      *sim, "--rank-deadline", 1e6, "1e6",
      "With mpirun: the run ends with an error where a rank does not answer within this time, default "
      "600; 0: no such rule",
      [options](double s) { options->rank_deadline = s; });
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
            if (options->plot.empty() &&
                (sim->count("--reference") != 0 || sim->count("--metric") != 0 || sim->count("--size") != 0))
              throw usage_error("--reference, --metric and --size are for --plot: add --plot FILE.png");
            check_names(*sim, *options);
            if (options->out.empty() && options->resume.empty() && sim->count("--checkpoint") != 0)
              throw usage_error("--checkpoint is for --output: add -o FILE.json");
            return run_sim(*options);
          }};
}
