// `warpband choose`: the fastest receiver of a scenario within a loss, measured on this device.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/massive_link.hpp>
#include <warpband/link/tradeoff_report.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/stream/batching.hpp>

#include "command.hpp"
#include "plot.hpp"
#include "python.hpp"

namespace {

struct choose_options {
  std::string scenario, curve, out, json, plot;
  device_options where;
  wb::tradeoff_config search;
  double max_seconds = 100;  // 0: none
  std::optional<double> latency_us;
  std::optional<std::uint64_t> seed;
  bool quiet = false;
};

/// Refuses a link without a choice of receivers, in words of the scenario.
void check_link(const wb::scenario& s, const wb::link_config& link) {
  try {
    wb::check_choices(link);
  } catch (const wb::argument_error& e) {
    throw wb::file_error(s.file, e.what());
  }
}

constexpr const char* row_format = "{:1} {:>7} {:>8} {:>17} {:>9} {:>9} {:>10} {:>10} {:>6}  {}\n";

void print_front(const wb::tradeoff_report& report, const char* axis) {
  const wb::tradeoff_result& r = report.result;
  const wb::rate_unit unit = wb::rate_unit_of(report.machine);
  print_to(stdout, row_format, "", "loss dB", fmt::format("{} dB", axis), "95% interval", unit.name, "coded",
           "detect us", "decode us", "iter.", "detector; decoder");
  for (const std::size_t i : r.front) {
    const wb::tradeoff_entry& e = r.entries[i];
    const wb::receiver_rates rates = wb::rates_of(e);
    print_to(stdout, row_format, i == report.chosen ? "*" : "", fmt::format("{:.2f}", wb::loss_of(r, i)),
             fmt::format("{:.2f}", *e.db), fmt::format("{:.2f} .. {:.2f}", *e.low_db, *e.high_db),
             fmt::format("{:.4g}", unit.per_second * rates.information),
             fmt::format("{:.4g}", unit.per_second * rates.coded),
             fmt::format("{:.4g}", 1e6 * e.times.detect), fmt::format("{:.4g}", 1e6 * e.times.decode),
             fmt::format("{:.1f}", e.times.iterations), e.detector + "; " + e.decoder);
  }
}

/// Measures frames of the chosen detector of massive MIMO, and prints what keeps the latency.
void batch(wb::tradeoff_report& report, const choose_options& options, progress_line& line) {
  const wb::link_config link = wb::completed(report.receiver().link);
  const auto& massive = link.antennas.get<wb::massive_link_config>();
  const wb::batching_run run{.device = options.where.device};
  const auto entries = wb::search_batching(
      {.latency_us = *options.latency_us, .symbols = wb::symbols_to_try(massive.symbols)},
      [&](int symbols, int streams) {
        if (line.due()) line.show(fmt::format("latency of {} symbols, {} streams", symbols, streams));
        return wb::measure_batching(wb::make_uplink_frames(massive, link.qam, symbols),
                                    static_cast<std::size_t>(massive.subcarriers * symbols), streams, run);
      },
      [] { return !interrupted(); });
  line.clear();
  if (interrupted()) throw wb::error("interrupted: latencies were measured in part");
  report.latency_us = *options.latency_us;
  report.best_batching = wb::best_batching(entries);
  for (const wb::batching_entry& e : entries) report.batching.push_back(wb::described(e));

  const wb::rate_unit unit = wb::rate_unit_of(report.machine);
  const double bits = massive.users * massive.subcarriers * wb::bits_per_symbol(link.qam);
  print_to(stdout,
           "\nlatency of a frame of N_sym OFDM symbols, N_stream of them under way; at most {:g} us\n",
           *options.latency_us);
  print_to(stdout, "{:1} {:>6} {:>9} {:>11} {:>10}\n", "", "N_sym", "N_stream", "99 % in us", unit.name);
  for (std::size_t i = 0; i < entries.size(); i++) {
    const wb::batching_entry& e = entries[i];
    print_to(stdout, "{:1} {:>6} {:>9} {:>11.4g} {:>10.4g}\n", i == report.best_batching ? "*" : "",
             e.symbols, e.streams, e.rate.latency_us, unit.per_second * bits * e.symbols_per_second());
  }
  if (!report.best_batching) print_to(stdout, "no pair keeps the latency\n");
}

int run_choose(const choose_options& options) {
  if (options.scenario.empty())
    throw usage_error("a scenario is missing: warpband choose SCENARIO.toml (see warpband choose --help)");
  wb::scenario s = wb::load_scenario(options.scenario);
  print_hints(s.hints);
  wb::scenario_overrides overrides;
  overrides.seed = options.seed;
  wb::apply_overrides(s, overrides);
  const std::size_t index = curve_named(s, options.curve);
  const wb::curve_config& curve = s.curves[index];
  check_link(s, curve.link);
  if (options.latency_us && curve.link.antennas.find<wb::massive_link_config>() == nullptr)
    throw usage_error("--latency is for massive MIMO: " + options.scenario + " has no massive.solver");
  const auto exec = wb::open_executor(options.where.device, options.where.threads);
  claim_outputs({options.out, options.json, options.plot}, options.scenario);
  stop_on_interrupt();
  std::optional<record_plotter> plotter;
  if (!options.plot.empty()) plotter.emplace("WARPBAND_PLOT_FRONT", "plot_front.py", "--plot");

  print_to(stdout, "{}\n{}\nframe error rate {:g}\n\n", wb::printable(curve.label, most_shown),
           wb::name_of(wb::describe_machine(*exec)), options.search.fer);
  std::fflush(stdout);
  progress_line line(options.quiet);
  const char* axis = wb::title_of(curve.link.axis);
  wb::tradeoff_report report = wb::choose_receiver(
      std::move(s), index, options.search, *exec,
      [&](const wb::tradeoff_result& so_far, const wb::tradeoff_entry& current, std::uint64_t frames) {
        if (line.due())
          line.show(fmt::format("{} settings tried, {} on the front; {}; {}: {} frames",
                                so_far.entries.size(), so_far.front.size(), current.detector, current.decoder,
                                frames));
        return !interrupted();
      });
  line.clear();
  print_front(report, axis);
  print_to(stdout, "\n{}: information bits over the time of detector and decoder, coded: bits sent. {}.\n",
           wb::rate_unit_of(report.machine).name, wb::summary_of(report.result));
  print_to(stdout, "* the fastest that loses at most {:g} dB: {}; {}\n", options.search.loss_db,
           report.receiver().detector, report.receiver().decoder);
  if (options.latency_us) batch(report, options, line);
  const std::string record = wb::tradeoff_json(report);
  if (!options.out.empty()) wb::write_file(options.out, wb::chosen_scenario(report));
  if (!options.json.empty()) wb::write_file(options.json, record);
  if (plotter) plotter->draw(record, options.json, options.plot);
  return done;
}

std::optional<double> number(const std::string& word) {
  double value{};
  const char* last = word.data() + word.size();
  const auto [end, status] = std::from_chars(word.data(), last, value);
  if (status != std::errc{} || end != last || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Adds an option that takes a number; `allowed` says which where `accept` does not take it.
void add_number(CLI::App& app, const std::string& name, const char* type, const std::string& text,
                std::function<bool(double)> accept, const std::string& allowed, double& place) {
  const auto check = [=](const std::string& word) -> std::string {
    if (const auto x = number(word); x && accept(*x)) return {};
    return "\"" + word + "\" is not allowed: expected " + allowed;
  };
  app.add_option_function<std::string>(
         name, [&place](const std::string& word) { place = number(word).value(); }, text)
      ->type_name(type)
      ->check(CLI::Validator(check, "", "number"));
}

constexpr const char* choose_footer = R"(Synopsis:
  warpband choose SCENARIO.toml [--fer P] [--loss DB] [-o CHOSEN.toml] [OPTIONS]

What it does:
  For the antennas, the modulation, the channel and the code of a scenario it measures receivers on this device:
  every detector, K of K-best, number of N-way passes and limit of LLRs, and every algorithm, precision and number
  of iterations of the decoder that makes sense; of the Golden code both searches, of massive MIMO the solvers and
  their iterations. Of each it finds the SNR (in the scenario's axis) of the target frame error rate, and the time
  of detector and decoder. A setting that needs more than a faster one is given up early. What is left is the
  Pareto front; one of it is chosen: the fastest within --loss of the most accurate.
  Transport blocks: the error rate is that after the last transmission, times are those of one, and rates count the
  mean number of transmissions. Massive MIMO: the error rate is that of drops with any wrong codeword.
  With --latency, massive MIMO: how many OFDM symbols a frame should have (N_sym, powers of two up to
  massive.symbols), and how many frames should be under way (N_stream, 1 to 16), for the most throughput of the
  chosen detector within this latency. Measured are whole frames, with copies to and from the device.

Output:
  stdout   the front, the fastest first: loss against the most accurate, SNR and its interval, rates, times of a
           frame, mean iterations; * marks the chosen one. Rates, Gb/s of a GPU and Mb/s of a CPU, are information bits
           (into the encoder) over the time of detector and decoder alone, one after the other, in large batches;
           coded: bits sent
  stderr   progress; one line on a terminal, else one every 30 s

Files:
  SCENARIO.toml   as for warpband sim; its points do not matter. Not the downlink of massive MIMO
  CHOSEN.toml     the scenario with the chosen detector and decoder, points around its SNR and a stop rule for the
                  target, 100 wrong frames: for warpband sim
  FILE.json       every setting that was tried: SNR, interval, times, what became of it; with --latency the pairs

Times depend on the machine and on what else it does. The SNR of a setting does not; its interval holds the true one
with at least 95%.

Exit codes: 0 done, 1 failed or interrupted, 2 used wrongly.

Examples:
  warpband choose examples/mimo.toml --fer 0.1
      the front of 4x4 16-QAM with an LDPC code
  warpband choose examples/mimo.toml --fer 1e-2 --loss 0.3 -o chosen.toml --plot front.png --device cuda:0
      the fastest on a GPU that loses at most 0.3 dB, as a scenario, and a picture of the front
  warpband sim chosen.toml
      runs it
  warpband choose uplink.toml --fer 0.1 --latency 500 --device cuda:0
      a detector of massive MIMO, and N_sym and N_stream for frames within half a millisecond

Plots need Python with matplotlib: scripts/setup.sh installs it; WARPBAND_PYTHON names another Python.)";

}  // namespace

command add_choose(CLI::App& app) {
  CLI::App* choose = app.add_subcommand("choose", "Find the fastest detector and decoder within a loss");
  const auto options = std::make_shared<choose_options>();
  wb::tradeoff_config& search = options->search;
  choose->footer(choose_footer);
  choose->add_option("SCENARIO", options->scenario, "The link, in TOML: see warpband sim --help-scenario");
  add_number(
      *choose, "--fer", "P", "Target frame error rate, default 0.01", [](double x) { return x > 0 && x < 1; },
      "a rate above 0 and below 1", search.fer);
  add_number(
      *choose, "--loss", "DB", "Choose the fastest that loses at most this, default 0.5",
      [](double x) { return x >= 0 && x <= 100; }, "0 to 100 dB", search.loss_db);
  add_number(
      *choose, "--width", "DB", "Interval of each SNR, at most, default 0.25",
      [](double x) { return x >= 0.01 && x <= 10; }, "0.01 to 10 dB", search.width_db);
  add_number(
      *choose, "--max-seconds", "SECONDS",
      "Begin no further setting after this time, default 100; 0: no such rule",
      [](double x) { return x >= 0 && x <= 1e9; }, "a number of seconds from 0 to 1e9", options->max_seconds);
  add_integer(*choose, "--max-frames", 1, 1'000'000'000'000'000,
              "Frames of a setting, at most, default 1000000",
              [options](std::int64_t n) { options->search.max_frames = static_cast<std::uint64_t>(n); });
  choose
      ->add_option_function<std::string>(
          "--latency", [options](const std::string& word) { options->latency_us = number(word).value(); },
          "Massive MIMO: choose N_sym and N_stream within this latency")
      ->type_name("US")
      ->check(CLI::Validator(
          [](const std::string& word) -> std::string {
            if (const auto x = number(word); x && *x > 0 && *x <= 1e9) return {};
            return "\"" + word + "\" is not allowed: expected microseconds above 0, up to 1e9";
          },
          "", "number"));
  choose->add_option("--curve", options->curve, "Of a scenario with several: its label")->type_name("LABEL");
  choose->add_option("-o,--output", options->out, "Write the chosen setting here, as a scenario")
      ->type_name("FILE");
  choose->add_option("--json", options->json, "Write all settings that were tried here, in JSON")
      ->type_name("FILE");
  choose->add_option("--plot", options->plot, "Draw the front: .pdf, .png or .svg")
      ->type_name("FILE")
      ->check(CLI::Validator(check_picture, "", "picture"));
  add_trusted(*choose);
  add_device_options(*choose, options->where);
  add_integer(*choose, "--seed", 0, INT64_MAX, "Instead of the scenario's seed",
              [options](std::int64_t n) { options->seed = static_cast<std::uint64_t>(n); });
  choose->add_flag("--quiet", options->quiet, "No progress on stderr");
  return {choose, [choose, options] {
            check_device_options(*choose, options->where);
            for (const char* option : {"--output", "--json", "--plot"})
              if (choose->count(option) != 0 && choose->get_option(option)->as<std::string>().empty())
                throw usage_error(std::string(option) + ": the name of the file is empty");
            if (options->max_seconds > 0) options->search.max_seconds = options->max_seconds;
            return run_choose(*options);
          }};
}
