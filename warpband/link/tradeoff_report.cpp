#include <warpband/link/tradeoff_report.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include <warpband/core/decimal.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/result_json.hpp>
#include <warpband/link/scenario_write.hpp>
#include <warpband/link/setting_json.hpp>

namespace wb {
namespace {

using json = nlohmann::ordered_json;

json number_or_null(const std::optional<double>& x) { return x ? json(*x) : json(nullptr); }

json entry_json(const tradeoff_result& r, std::size_t index) {
  const tradeoff_entry& e = r.entries[index];
  const receiver_rates rates = rates_of(e);
  const bool on_front = std::find(r.front.begin(), r.front.end(), index) != r.front.end();
  json out{{"detector", e.detector}, {"decoder", e.decoder}, {"fate", name_of(e.fate)}, {"front", on_front}};
  out["db"] = number_or_null(e.db);
  out["interval_db"] = {number_or_null(e.low_db), number_or_null(e.high_db)};
  out["loss_db"] = e.db ? json(loss_of(r, index)) : json(nullptr);
  out["information_gbps"] = 1e-9 * rates.information;
  out["coded_gbps"] = 1e-9 * rates.coded;
  out["detect_us"] = 1e6 * e.times.detect;
  out["decode_us"] = 1e6 * e.times.decode;
  out["iterations"] = e.times.iterations;
  if (is_transport(e.link.code)) out["transmissions"] = e.transmissions;
  out["frames"] = e.frames;
  for (const auto& [name, value] : e.link.antennas.kind().results(e.link))
    if (const std::size_t dot = name.find('.'); name.substr(0, dot) != "mimo")
      out["settings"][name.substr(0, dot)][name.substr(dot + 1)] = json_of(value);
  if (is_uncoded(e.link.code)) return out;
  json& decoder = out["settings"]["decoder"] = json::object();
  for (const auto& [s, value] : values_of(e.link.code.kind().settings, e.link.code.settings))
    if (s->of_links && s->group == "decoder") decoder[s->name] = json_of(value);
  return out;
}

/// 100 wrong frames, within 20 % of the rate, at points down to a tenth of the target. Below that the curve
/// ends.
stop_rule stop_rule_for(double fer) {
  return {.frame_errors = 100,
          .max_frames = std::max<std::uint64_t>(1000, static_cast<std::uint64_t>(std::ceil(1000 / fer))),
          .below_fer = fer / 10};
}

/// In so many digits.
std::string short_number(double x, int digits) {
  const double unit = std::pow(10, digits - 1 - std::floor(std::log10(std::max(std::abs(x), 1e-300))));
  return decimal(std::round(x * unit) / unit);
}

}  // namespace

tradeoff_report choose_receiver(scenario source, std::size_t curve, const tradeoff_config& config,
                                executor& exec, const tradeoff_progress& progress) {
  tradeoff_report report;
  report.source = std::move(source);
  report.curve = curve;
  report.config = config;
  report.machine = describe_machine(exec);
  report.result = run_tradeoff(report.source.curves.at(curve).link, config, exec, progress);
  if (report.result.cancelled)
    throw error("interrupted: " + std::to_string(report.result.entries.size()) + " settings tried");
  const std::optional<std::size_t> chosen = chosen_of(report.result, config.loss_db);
  if (!chosen)
    throw error("fer = " + decimal(config.fer) + " is reached by no setting: " + summary_of(report.result));
  report.chosen = *chosen;
  return report;
}

std::string summary_of(const tradeoff_result& r) {
  using fate = tradeoff_fate;
  std::string text = std::to_string(r.entries.size()) +
                     (r.entries.size() == 1 ? " setting: " : " settings: ") + std::to_string(r.front.size()) +
                     " on the front";
  const auto add = [&](std::size_t n, const char* noun) {
    if (n != 0) text += ", " + std::to_string(n) + " " + noun;
  };
  const auto count = [&](fate f) {
    return static_cast<std::size_t>(
        std::count_if(r.entries.begin(), r.entries.end(), [&](const auto& e) { return e.fate == f; }));
  };
  std::size_t beaten = 0;  // measured in full
  for (std::size_t i = 0; i < r.entries.size(); i++)
    beaten += r.entries[i].db && std::find(r.front.begin(), r.front.end(), i) == r.front.end();
  add(beaten, "measured beside it");
  add(count(fate::dominated), "dominated");
  add(count(fate::unreachable), "that never reach the target");
  add(count(fate::imprecise), "of less precision (max_frames)");
  add(count(fate::slow), "too slow to measure");
  add(count(fate::late), "left out for lack of time (max_seconds)");
  return text;
}

rate_unit rate_unit_of(const machine_info& m) {
  return m.threads == 0 ? rate_unit{"Gb/s", 1e-9} : rate_unit{"Mb/s", 1e-6};
}
std::string name_of(const machine_info& m) {
  if (m.threads == 0) return m.device;
  return m.cpu + ", " + m.instruction_set + ", " + std::to_string(m.threads) +
         (m.threads == 1 ? " thread" : " threads");
}

std::string tradeoff_json(const tradeoff_report& report) {
  const tradeoff_config& c = report.config;
  const curve_config& curve = report.source.curves.at(report.curve);
  json out{{"command", "choose"}};
  out["warpband"] = {{"version", version()}, {"commit", commit()}};
  out["machine"] = result_file::machine_json(report.machine);
  out["scenario"] = report.source.file;
  out["curve"] = curve.label;
  out["axis"] = name_of(curve.link.axis);
  out["target"] = {{"fer", c.fer},
                   {"width_db", c.width_db},
                   {"loss_db", c.loss_db},
                   {"max_frames", c.max_frames},
                   {"seed", curve.link.seed}};
  out["rate"] =
      "information_gbps: bits into the encoder, over the time of detector and decoder; coded_gbps: bits sent";
  out["chosen"] = report.chosen;
  out["settings"] = json::array();
  for (std::size_t i = 0; i < report.result.entries.size(); i++)
    out["settings"].push_back(entry_json(report.result, i));
  if (report.batching.empty()) return json_lines(out);
  json& batching = out["batching"] = {{"latency_us", report.latency_us}};
  batching["chosen"] = report.best_batching ? json(*report.best_batching) : json(nullptr);
  batching["pairs"] = json::array();
  for (const named_values& values : report.batching) {
    json& pair = batching["pairs"].emplace_back();
    for (const auto& [name, value] : values) pair[name] = json_of(value);
  }
  return json_lines(out);
}

std::string chosen_scenario(const tradeoff_report& report) {
  const tradeoff_entry& e = report.receiver();
  curve_config curve = report.source.curves.at(report.curve);
  curve.label += ": " + e.detector + "; " + e.decoder;
  curve.link = e.link;
  curve.sweep_db.clear();
  const double middle = std::round(*e.db * 4) / 4;
  for (double away = -1; away <= 1; away += 0.25)
    if (std::abs(middle + away) <= 100) curve.sweep_db.push_back(middle + away);
  curve.stop = stop_rule_for(report.config.fer);
  const rate_unit unit = rate_unit_of(report.machine);
  const auto hundredths = [](double x) { return decimal(std::round(100 * x) / 100); };
  return "# Chosen by warpband choose for a frame error rate of " + decimal(report.config.fer) + ": " +
         title_of(curve.link.axis) + " " + hundredths(*e.db) + " dB, " +
         hundredths(loss_of(report.result, report.chosen)) + " dB more than the most\n" +
         "# accurate setting needs; " + short_number(unit.per_second * rates_of(e).information, 4) + " " +
         unit.name + " of information bits through detector and decoder on\n# " + name_of(report.machine) +
         "\n" + scenario_of_curve(report.source, report.curve, curve);
}

}  // namespace wb
