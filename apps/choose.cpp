// `warpband choose`: the fastest receiver of a scenario within a loss, measured on this device.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/decimal.hpp>
#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/scenario_write.hpp>
#include <warpband/link/setting_json.hpp>
#include <warpband/link/tradeoff.hpp>

#include "command.hpp"
#include "plot.hpp"
#include "python.hpp"

namespace {

using json = nlohmann::ordered_json;

struct choose_options {
  std::string scenario, curve, out, json, plot;
  device_options where;
  wb::tradeoff_config search;
  double max_seconds = 100;  // 0: none
  std::optional<std::uint64_t> seed;
  bool quiet = false;
};

/// Refuses links whose receiver has nothing to choose, or is not of detector and decoder.
void check_link(const std::string& file, const wb::link_config& link, const wb::config::key_tree& keys) {
  const auto refuse = [&](const std::string& key, const std::string& value, const char* allowed) {
    throw wb::file_error(file, wb::argument_error(key, "\"" + value + "\"", allowed).what());
  };
  const wb::antenna_kind& antennas = link.antennas.kind();
  if (antennas.candidates == nullptr && !wb::is_transport(link.code))
    refuse(std::string(antennas.key), wb::plain(keys.find(std::string(antennas.key))->value),
           "\"none\": warpband choose is for one antenna, or a detector of up to 8 streams");
  if (wb::is_transport(link.code))
    refuse("code.type", link.code.type,
           "\"none\", \"lte-turbo\", \"wimax-ldpc\", \"wifi-ldpc\", \"nr-ldpc\" or \"conv\" with warpband "
           "choose");
}

/// A setting with what follows from its numbers.
struct row {
  const wb::tradeoff_entry& entry;
  double information_gbps, coded_gbps;
};
row row_of(const wb::tradeoff_entry& e) {
  const wb::code_sizes sizes = wb::sizes_of(wb::completed(e.link).code);
  const double seconds = e.times.seconds();
  return {e, 1e-9 * static_cast<double>(sizes.k) / seconds, 1e-9 * static_cast<double>(sizes.n) / seconds};
}

std::string machine_text(const wb::machine_info& m) {
  if (m.threads == 0) return m.device;
  return fmt::format("{}, {}, {}", m.cpu, m.instruction_set,
                     m.threads == 1 ? "1 thread" : fmt::format("{} threads", m.threads));
}

std::string counts_text(const wb::tradeoff_result& r) {
  using fate = wb::tradeoff_fate;
  std::string text = fmt::format("{} setting{}: {} on the front", r.entries.size(),
                                 r.entries.size() == 1 ? "" : "s", r.front.size());
  const auto add = [&](fate f, const char* noun) {
    const auto n =
        std::count_if(r.entries.begin(), r.entries.end(), [&](const auto& e) { return e.fate == f; });
    if (n != 0) text += fmt::format(", {} {}", n, noun);
  };
  std::size_t beaten = 0;  // measured in full
  for (std::size_t i = 0; i < r.entries.size(); i++)
    beaten += r.entries[i].db && std::find(r.front.begin(), r.front.end(), i) == r.front.end();
  if (beaten != 0) text += fmt::format(", {} measured beside it", beaten);
  add(fate::dominated, "dominated");
  add(fate::unreachable, "that never reach the target");
  add(fate::imprecise, "of less precision (--max-frames)");
  add(fate::slow, "too slow to measure");
  add(fate::late, "left out for lack of time (--max-seconds)");
  return text;
}

/// What rates are shown in: Gb/s of a GPU, Mb/s of a CPU.
struct rate_unit {
  const char* name;
  double per_gbps;
};
rate_unit rate_unit_of(const wb::machine_info& m) {
  return m.threads == 0 ? rate_unit{"Gb/s", 1} : rate_unit{"Mb/s", 1000};
}

constexpr const char* row_format = "{:1} {:>7} {:>8} {:>17} {:>9} {:>9} {:>10} {:>10} {:>6}  {}\n";

void print_front(const wb::tradeoff_result& r, std::size_t chosen, const char* axis, const rate_unit& unit) {
  print_to(stdout, row_format, "", "loss dB", fmt::format("{} dB", axis), "95% interval", unit.name, "coded",
           "detect us", "decode us", "iter.", "detector; decoder");
  for (const std::size_t i : r.front) {
    const row x = row_of(r.entries[i]);
    const wb::tradeoff_entry& e = x.entry;
    print_to(stdout, row_format, i == chosen ? "*" : "", fmt::format("{:.2f}", wb::loss_of(r, i)),
             fmt::format("{:.2f}", *e.db), fmt::format("{:.2f} .. {:.2f}", *e.low_db, *e.high_db),
             fmt::format("{:.4g}", unit.per_gbps * x.information_gbps),
             fmt::format("{:.4g}", unit.per_gbps * x.coded_gbps), fmt::format("{:.4g}", 1e6 * e.times.detect),
             fmt::format("{:.4g}", 1e6 * e.times.decode), fmt::format("{:.1f}", e.times.iterations),
             e.detector + "; " + e.decoder);
  }
}

template <class C>
json settings_json(const std::vector<wb::setting_of<C>>& settings, const C& c, const std::string& group) {
  json out = json::object();
  for (const auto& [s, value] : wb::values_of(settings, c))
    if (s->of_links && s->group == group) out[s->name] = wb::json_of(value);
  return out;
}

json number_or_null(const std::optional<double>& x) { return x ? json(*x) : json(nullptr); }

json entry_json(const wb::tradeoff_result& r, std::size_t index) {
  const row x = row_of(r.entries[index]);
  const wb::tradeoff_entry& e = x.entry;
  const bool on_front = std::find(r.front.begin(), r.front.end(), index) != r.front.end();
  json out{
      {"detector", e.detector}, {"decoder", e.decoder}, {"fate", wb::name_of(e.fate)}, {"front", on_front}};
  out["db"] = number_or_null(e.db);
  out["interval_db"] = {number_or_null(e.low_db), number_or_null(e.high_db)};
  out["loss_db"] = e.db ? json(wb::loss_of(r, index)) : json(nullptr);
  out["information_gbps"] = x.information_gbps;
  out["coded_gbps"] = x.coded_gbps;
  out["detect_us"] = 1e6 * e.times.detect;
  out["decode_us"] = 1e6 * e.times.decode;
  out["iterations"] = e.times.iterations;
  out["frames"] = e.frames;
  for (const auto& [name, value] : e.link.antennas.kind().results(e.link))
    if (const std::size_t dot = name.find('.'); name.substr(0, dot) != "mimo")
      out["settings"][name.substr(0, dot)][name.substr(dot + 1)] = wb::json_of(value);
  if (!wb::is_uncoded(e.link.code))
    out["settings"]["decoder"] = settings_json(e.link.code.kind().settings, e.link.code.settings, "decoder");
  return out;
}

std::string record_of(const wb::tradeoff_result& r, std::size_t chosen, const choose_options& options,
                      const wb::curve_config& curve, const wb::machine_info& m) {
  json out{{"command", "choose"}};
  out["warpband"] = {{"version", wb::version()}, {"commit", wb::commit()}};
  out["machine"] = {{"cpu", m.cpu}, {"os", m.os}, {"device", m.device}};
  out["machine"]["instruction_set"] = m.instruction_set.empty() ? json(nullptr) : json(m.instruction_set);
  out["machine"]["threads"] = m.threads == 0 ? json(nullptr) : json(m.threads);
  out["scenario"] = options.scenario;
  out["curve"] = curve.label;
  out["axis"] = wb::name_of(curve.link.axis);
  out["target"] = {{"fer", options.search.fer},
                   {"width_db", options.search.width_db},
                   {"loss_db", options.search.loss_db},
                   {"max_frames", options.search.max_frames},
                   {"seed", curve.link.seed}};
  out["rate"] =
      "information_gbps: bits into the encoder, over the time of detector and decoder; coded_gbps: bits sent";
  out["chosen"] = chosen;
  out["settings"] = json::array();
  for (std::size_t i = 0; i < r.entries.size(); i++) out["settings"].push_back(entry_json(r, i));
  return wb::json_lines(out);
}

/// 100 wrong frames, within 20 % of the rate, at points down to a tenth of the target. Below that the curve
/// ends.
wb::stop_rule stop_rule_for(double fer) {
  return {.frame_errors = 100,
          .max_frames = std::max<std::uint64_t>(1000, static_cast<std::uint64_t>(std::ceil(1000 / fer))),
          .below_fer = fer / 10};
}

/// The scenario of the chosen setting: some points around its own, and a stop rule for the target.
std::string scenario_of(const wb::scenario& s, std::size_t index, const wb::tradeoff_entry& e,
                        const wb::tradeoff_result& r, std::size_t chosen, const choose_options& options,
                        const wb::machine_info& m) {
  wb::curve_config curve = s.curves[index];
  curve.label += ": " + e.detector + "; " + e.decoder;
  curve.link = e.link;
  curve.sweep_db.clear();
  const double middle = std::round(*e.db * 4) / 4;
  for (double away = -1; away <= 1; away += 0.25)
    if (std::abs(middle + away) <= 100) curve.sweep_db.push_back(middle + away);
  curve.stop = stop_rule_for(options.search.fer);
  const rate_unit unit = rate_unit_of(m);
  const std::string about = fmt::format(
      "# Chosen by warpband choose for a frame error rate of {:g}: {} {:.2f} dB, {:.2f} dB more than the "
      "most\n"
      "# accurate setting needs; {:.4g} {} of information bits through detector and decoder on\n# {}\n",
      options.search.fer, wb::title_of(curve.link.axis), *e.db, wb::loss_of(r, chosen),
      unit.per_gbps * row_of(e).information_gbps, unit.name, machine_text(m));
  return about + wb::scenario_of_curve(s, index, curve);
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
  check_link(options.scenario, curve.link, s.trees[index].keys);
  const auto exec = wb::open_executor(options.where.device, options.where.threads);
  claim_outputs({options.out, options.json, options.plot}, options.scenario);
  stop_on_interrupt();
  std::optional<record_plotter> plotter;
  if (!options.plot.empty()) plotter.emplace("WARPBAND_PLOT_FRONT", "plot_front.py", "--plot");

  const wb::machine_info machine = wb::describe_machine(*exec);
  print_to(stdout, "{}\n{}\nframe error rate {:g}\n\n", wb::printable(curve.label, most_shown),
           machine_text(machine), options.search.fer);
  std::fflush(stdout);
  progress_line line(options.quiet);
  const wb::tradeoff_result r = wb::run_tradeoff(
      curve.link, options.search, *exec,
      [&](const wb::tradeoff_result& so_far, const wb::tradeoff_entry& current, std::uint64_t frames) {
        if (line.due())
          line.show(fmt::format("{} settings tried, {} on the front; {}; {}: {} frames",
                                so_far.entries.size(), so_far.front.size(), current.detector, current.decoder,
                                frames));
        return !interrupted();
      });
  line.clear();
  if (r.cancelled) throw wb::error(fmt::format("interrupted: {} settings tried", r.entries.size()));
  const std::optional<std::size_t> chosen = wb::chosen_of(r, options.search.loss_db);
  if (!chosen)
    throw wb::error(fmt::format("no setting was found that reaches a frame error rate of {:g}: {}",
                                options.search.fer, counts_text(r)));

  const wb::tradeoff_entry& e = r.entries[*chosen];
  const rate_unit unit = rate_unit_of(machine);
  print_front(r, *chosen, wb::title_of(curve.link.axis), unit);
  print_to(stdout, "\n{}: information bits over the time of detector and decoder, coded: bits sent. {}.\n",
           unit.name, counts_text(r));
  print_to(stdout, "* the fastest that loses at most {:g} dB: {}; {}\n", options.search.loss_db, e.detector,
           e.decoder);
  const std::string record = record_of(r, *chosen, options, curve, machine);
  if (!options.out.empty())
    wb::write_file(options.out, scenario_of(s, index, e, r, *chosen, options, machine));
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
  of iterations of the decoder that makes sense. Of each it finds the SNR (in the scenario's axis) of the target
  frame error rate, and the time of detector and decoder. A setting that needs more than a faster one is given up
  early. What is left is the Pareto front; one of it is chosen: the fastest within --loss of the most accurate.

Output:
  stdout   the front, the fastest first: loss against the most accurate, SNR and its interval, rates, times of a
           frame, mean iterations; * marks the chosen one. Rates, Gb/s of a GPU and Mb/s of a CPU, are information bits
           (into the encoder) over the time of detector and decoder alone, one after the other, in large batches;
           coded: bits sent
  stderr   progress; one line on a terminal, else one every 30 s

Files:
  SCENARIO.toml   as for warpband sim; its points do not matter. One antenna or a detector with up to 8 streams;
                  not massive MIMO, space-time codes nor lte-transport
  CHOSEN.toml     the scenario with the chosen detector and decoder, points around its SNR and a stop rule for the
                  target, 100 wrong frames: for warpband sim
  FILE.json       every setting that was tried: SNR, interval, times, what became of it

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
