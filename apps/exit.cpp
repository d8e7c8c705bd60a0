// `warpband exit`: EXIT charts of a scenario's detector and decoder, with the trajectory of their loop.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <warpband/air/rayleigh.hpp>
#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/exit/exit.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/scenario.hpp>
#include <warpband/receive/soft.hpp>

#include "command.hpp"
#include "plot.hpp"
#include "python.hpp"

namespace {

constexpr std::size_t most_panels = 9;  // of a figure

struct exit_options {
  std::string scenario, curve, out, json;
  device_options where;
  std::optional<double> snr_db;
  std::int64_t bits = 200000;
  std::optional<std::uint64_t> seed;
  bool quiet = false;
};

/// A link's detector and decoder in their loop.
struct exit_loop {
  wb::detector_config detector;
  wb::code_config code;
  wb::receiver_config receiver;
};

/// The loop of a link. Throws file_error for a link that has none, or another channel than exit_trajectory.
exit_loop loop_of(const std::string& file, const wb::link_config& link) {
  const auto refuse = [&](const std::string& problem) { throw wb::file_error(file, problem); };
  const auto* detector = link.antennas.find<wb::detector_config>();
  if (detector == nullptr)
    refuse("an EXIT chart is of a detector: expected mimo.streams, not antennas of kind \"" +
           std::string(link.antennas.kind().name) + "\"");
  if (!link.receiver)
    refuse("receiver is missing: an EXIT chart is of a loop, for instance receiver.outer = 4");
  const bool fast = link.channel.type == wb::air_name<wb::rayleigh_config> &&
                    link.channel.get<wb::rayleigh_config>().fading == wb::fading_type::fast;
  if (!fast) refuse("channel is not allowed: expected channel.type = \"rayleigh\" with fading = \"fast\"");
  return {*detector, link.code, *link.receiver};
}

/// The code with a decoder that runs all its iterations: so the decoder's curve is measured.
wb::code_config without_early_stop(wb::code_config code) {
  for (const wb::setting_of<wb::box>& setting : code.kind().settings)
    if (setting.name == "early_stop") code.set("early_stop", std::string("none"));
  return code;
}

struct exit_chart {
  double snr_db;
  wb::exit_curve detector, decoder;
  wb::exit_trajectory loop;
};

std::vector<double> snrs_of(const wb::curve_config& curve, const exit_options& options) {
  if (options.snr_db) return {*options.snr_db};
  std::vector<double> snrs;
  for (const double point : curve.sweep_db) snrs.push_back(wb::noise_level_at(curve.link, point).snr_db);
  if (snrs.empty()) throw usage_error(options.scenario + " searches for an SNR: --snr DB names one");
  if (!options.out.empty() && snrs.size() > most_panels)
    throw usage_error(fmt::format("{} has {} points: a figure shows at most {}, and --snr DB names one",
                                  options.scenario, snrs.size(), most_panels));
  return snrs;
}

nlohmann::ordered_json exit_json(const exit_chart& c) {
  return {{"snr_db", c.snr_db},
          {"prior", c.detector.prior},
          {"detector", c.detector.extrinsic},
          {"decoder", c.decoder.extrinsic},
          {"loop_detector", c.loop.detector},
          {"loop_decoder", c.loop.decoder}};
}

void print_chart(const exit_chart& c) {
  print_to(stdout, "SNR {:g} dB\n{:>5}  {:>9}  {:>9}  {:>9}    {:>9}  {:>13}  {:>12}\n", c.snr_db, "",
           "prior", "detector", "decoder", "iteration", "loop detector", "loop decoder");
  for (std::size_t i = 0; i < std::max(c.detector.prior.size(), c.loop.detector.size()); i++) {
    std::string line = fmt::format("{:>5}  ", "");
    line += i < c.detector.prior.size() ? fmt::format("{:>9.3f}  {:>9.4f}  {:>9.4f}", c.detector.prior[i],
                                                      c.detector.extrinsic[i], c.decoder.extrinsic[i])
                                        : fmt::format("{:>31}", "");
    if (i < c.loop.detector.size())
      line += fmt::format("    {:>9}  {:>13.4f}  {:>12.4f}", i + 1, c.loop.detector[i], c.loop.decoder[i]);
    print_to(stdout, "{}\n", line);
  }
  std::fflush(stdout);
}

int run_exit(const exit_options& options) {
  if (options.scenario.empty())
    throw usage_error("a scenario is missing: warpband exit SCENARIO.toml (see warpband exit --help)");
  wb::scenario s = wb::load_scenario(options.scenario);
  print_hints(s.hints);
  wb::scenario_overrides overrides;
  overrides.seed = options.seed;
  wb::apply_overrides(s, overrides);
  wb::curve_config curve = s.curves[curve_named(s, options.curve)];
  curve.link = wb::completed(curve.link);
  const exit_loop loop = loop_of(options.scenario, curve.link);
  const std::vector<double> snrs = snrs_of(curve, options);
  const auto exec = wb::open_executor(options.where.device, options.where.threads);
  claim_outputs({options.out, options.json}, options.scenario);
  stop_on_interrupt();
  std::optional<record_plotter> plotter;
  if (!options.out.empty()) plotter.emplace("WARPBAND_PLOT_EXIT", "plot_exit.py", "--output");

  wb::exit_config config;
  config.bits = static_cast<std::size_t>(options.bits), config.seed = curve.link.seed;
  nlohmann::ordered_json record{{"command", "exit"}};
  record["warpband"] = {{"version", wb::version()}, {"commit", wb::commit()}};
  record["scenario"] = options.scenario, record["curve"] = curve.label;
  record["bits"] = config.bits, record["seed"] = config.seed;
  record["charts"] = nlohmann::ordered_json::array();
  print_to(stdout, "{}\n", wb::printable(curve.label, most_shown));
  progress_line line(options.quiet);
  const auto decoder = wb::make_soft_decoder(without_early_stop(loop.code), loop.receiver.inner);
  const wb::exit_curve of_decoder = wb::decoder_exit(*exec, *decoder, config);
  for (const double snr_db : snrs) {
    if (interrupted())
      throw wb::error(fmt::format("interrupted: {} charts measured", record["charts"].size()));
    if (line.due()) line.show(fmt::format("chart {} of {}", record["charts"].size() + 1, snrs.size()));
    const exit_chart chart{snr_db, wb::detector_exit(*exec, loop.detector, snr_db, config), of_decoder,
                           wb::loop_exit(*exec, loop.detector, loop.code, loop.receiver, snr_db, config)};
    line.clear();
    print_chart(chart);
    record["charts"].push_back(exit_json(chart));
  }
  const std::string text = wb::json_lines(record);
  if (!options.json.empty()) wb::write_file(options.json, text);
  if (plotter) plotter->draw(text, options.json, options.out);
  return done;
}

constexpr const char* exit_footer = R"(Synopsis:
  warpband exit SCENARIO.toml [--snr DB] [-o CHART.png] [--json CHART.json] [OPTIONS]

What it does:
  Measures how much the detector and the decoder of a loop learn from each other's extrinsic LLRs: an EXIT chart (S. ten
  Brink, 2001). A transfer curve is the mutual information of bits and extrinsic LLRs, over that of Gaussian a-priori
  LLRs. The trajectory is the real loop, iteration by iteration. The loop converges where the detector's curve lies
  above the inverse of the decoder's. The decoder's curve is that of all its iterations, without an early stop.

Output:
  stdout   both transfer curves and the trajectory at each SNR, in bits
  stderr   progress

Files:
  SCENARIO.toml   as for warpband sim, with mimo, receiver and channel.type = "rayleigh". There is a chart for each point of
                  its sweep; a figure shows at most 9
  CHART.png       the charts beside each other; also .pdf and .svg
  CHART.json      all numbers

Exit codes: 0 done, 1 failed or interrupted, 2 used wrongly.

Examples:
  warpband exit examples/exit.toml
      the numbers at each point of the scenario
  warpband exit examples/exit.toml --snr 11.5 -o exit.pdf
      the chart at an SNR of a receive antenna of 11.5 dB

Figures need Python with matplotlib: scripts/setup.sh installs it; WARPBAND_PYTHON names another Python.)";

}  // namespace

command add_exit(CLI::App& app) {
  CLI::App* exit = app.add_subcommand("exit", "Draw EXIT charts of a detector and a decoder in a loop");
  const auto options = std::make_shared<exit_options>();
  exit->footer(exit_footer);
  exit->add_option("SCENARIO", options->scenario, "The link, in TOML: see warpband sim --help-scenario");
  exit->add_option("--snr", options->snr_db, "SNR of a receive antenna, instead of the scenario's points")
      ->type_name("DB")
      ->check(number_between(-100, 100));
  add_integer(*exit, "--bits", 1, 1'000'000'000, "Coded bits of a value, default 200000",
              [options](std::int64_t n) { options->bits = n; });
  exit->add_option("--curve", options->curve, "The curve, by its label, of a scenario with several")
      ->type_name("LABEL");
  exit->add_option("-o,--output", options->out, "Draw the charts: .pdf, .png or .svg")
      ->type_name("FILE")
      ->check(CLI::Validator(check_picture, "", "picture"));
  exit->add_option("--json", options->json, "Write all numbers here, in JSON")->type_name("FILE");
  add_device_options(*exit, options->where);
  add_integer(*exit, "--seed", 0, INT64_MAX, "Instead of the scenario's seed",
              [options](std::int64_t n) { options->seed = static_cast<std::uint64_t>(n); });
  exit->add_flag("--quiet", options->quiet, "No progress on stderr");
  return {exit, [exit, options] {
            check_device_options(*exit, options->where);
            if (exit->count("--json") != 0 && options->json.empty())
              throw usage_error("--json: the name of the file is empty");
            return run_exit(*options);
          }};
}
