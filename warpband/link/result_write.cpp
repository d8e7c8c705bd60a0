// Results to JSON text.
#include <cmath>

#include <warpband/io/json_lines.hpp>
#include <warpband/link/result_json.hpp>

namespace wb {
namespace result_file {

json machine_json(const machine_info& m) {
  return {{"cpu", m.cpu},
          {"os", m.os},
          {"device", m.device},
          {"instruction_set", m.instruction_set.empty() ? json(nullptr) : json(m.instruction_set)},
          {"threads", m.threads == 0 ? json(nullptr) : json(m.threads)}};
}
json program_json(const run_origin& o) { return {{"version", o.version}, {"commit", o.commit}}; }

namespace {

json to_json(const std::optional<interval>& i) { return i ? json{i->low, i->high} : json(nullptr); }

/// Rounded to a millionth: a speed is not known better.
double tidy(double x) { return std::round(x * 1e6) / 1e6; }

json to_json(const scenario_overrides& o) {
  json out = json::object();
  if (o.seed) out["seed"] = *o.seed;
  if (o.frame_errors) out["frame_errors"] = *o.frame_errors;
  if (o.max_frames) out["max_frames"] = *o.max_frames;
  if (o.max_seconds) out["max_seconds"] = *o.max_seconds;
  return out;
}

/// What HARQ counts, of the most transmissions of a block.
json harq_counts(const point_counts& c, int transmissions) {
  json errors = json::array();
  for (int n = 0; n < transmissions; n++) errors.push_back(c.block_errors[static_cast<std::size_t>(n)]);
  return {{"block_errors", errors}, {"undetected_errors", c.undetected_errors}};
}
json harq_json(const point_result& p) {
  json out = harq_counts(p.counts, p.transmissions), rates = json::array(), intervals = json::array();
  for (int n = 1; n <= p.transmissions; n++) {
    rates.push_back(p.bler(n));
    intervals.push_back(to_json(std::optional(p.bler_interval(n))));
  }
  out["bler"] = rates;
  out["bler_intervals"] = intervals;
  out["transmissions_sum"] = p.transmissions_sent();
  out["mean_transmissions"] = p.mean_transmissions();
  out["mean_transmissions_interval"] = to_json(std::optional(p.mean_transmissions_interval()));
  out["bits_per_resource_element"] = p.throughput();
  out["bits_per_resource_element_interval"] = to_json(std::optional(p.throughput_interval()));
  out["relative_throughput"] = p.relative_throughput();
  return out;
}

/// What is counted after each of so many outer iterations of a receiver.
json outer_counts(const point_counts& c, int outer, bool massive) {
  json bits = json::array(), frames = json::array(), codewords = json::array();
  for (std::size_t n = 0; n < static_cast<std::size_t>(outer); n++) {
    bits.push_back(c.outer_bit_errors[n]);
    frames.push_back(c.outer_frame_errors[n]);
    codewords.push_back(c.outer_codeword_errors[n]);
  }
  json out{{"bit_errors", bits}, {"frame_errors", frames}};
  if (massive) out["codeword_errors"] = codewords;
  return out;
}
json outer_json(const point_result& p) {
  json out = outer_counts(p.counts, p.outer, p.codewords != 0);
  for (int n = 1; n <= p.outer; n++) {
    out["ber"].push_back(p.outer_ber(n));
    out["fer"].push_back(p.outer_fer(n));
    out["fer_intervals"].push_back(to_json(std::optional(p.outer_fer_interval(n))));
    if (p.codewords != 0) out["bler"].push_back(p.outer_bler(n));
  }
  return out;
}

/// What massive MIMO counts of the codewords of frames.
json codeword_counts(const point_counts& c) {
  return {{"errors", c.codeword_errors},
          {"errors_squared", c.codeword_errors_squared},
          {"bit_errors_squared", c.bit_errors_squared}};
}
json codewords_json(const point_result& p) {
  json out = codeword_counts(p.counts);
  out["codewords"] = p.counts.frames * p.codewords;
  out["bler"] = p.bler();
  out["bler_interval"] = to_json(std::optional(p.bler_interval()));
  return out;
}

json to_json(const unfinished_point& p, const link_config& link) {
  json out{{name_of(link.axis), p.sweep_db},          {"frames", p.counts.frames},
           {"bit_errors", p.counts.bit_errors},       {"frame_errors", p.counts.frame_errors},
           {"erased_frames", p.counts.erased_frames}, {"iterations_sum", p.counts.iterations},
           {"frames_run", p.counts.frames_run},       {"seconds", p.counts.seconds}};
  if (erases_uses(link)) out["erased_uses"] = p.counts.erased_uses;
  if (link.mutual_information) out["information_lost"] = p.counts.information_lost;
  if (is_transport(link.code)) out["harq"] = harq_counts(p.counts, harq_of(link.code).transmissions);
  const bool massive = has_codewords(link);
  if (link.receiver) out["outer"] = outer_counts(p.counts, link.receiver->outer, massive);
  if (massive) out["codewords"] = codeword_counts(p.counts);
  return out;
}

json to_json(const point_result& p, const link_config& link) {
  const auto iterations = p.mean_iterations();
  json out{{"ebn0_db", p.ebn0_db}, {"snr_db", p.snr_db}, {"esn0_db", p.esn0_db}};
  if (link.axis == snr_axis::probability) out = {{name_of(link.axis), p.sweep_db}};
  out.update(json{{"frames", p.counts.frames},
                  {"bits", p.bits()},
                  {"bit_errors", p.counts.bit_errors},
                  {"frame_errors", p.counts.frame_errors},
                  {"erased_frames", p.counts.erased_frames},
                  {"ber", p.ber()},
                  {"fer", p.fer()},
                  {"ber_interval", to_json(p.ber_interval())},
                  {"fer_interval", to_json(std::optional(p.fer_interval()))},
                  {"iterations", iterations ? json(*iterations) : json(nullptr)},
                  {"iterations_sum", p.counts.iterations},
                  {"frames_run", p.counts.frames_run},
                  {"mbps", tidy(p.mbps())},
                  {"seconds", p.counts.seconds},
                  {"stopped_by", name_of(p.stopped_by)}});
  if (erases_uses(link)) out["erased_uses"] = p.counts.erased_uses;
  if (const auto information = p.mutual_information()) {
    out["information_lost"] = p.counts.information_lost;
    out["mutual_information"] = *information;
  }
  if (p.transmissions != 0) out["harq"] = harq_json(p);
  if (p.outer != 0) out["outer"] = outer_json(p);
  if (p.codewords != 0) out["codewords"] = codewords_json(p);
  return out;
}

json to_json(const run_functions& f) {
  json out = json::object();
  if (!f.channels.empty()) out["channels"] = f.channels;
  if (!f.detectors.empty()) out["detectors"] = f.detectors;
  if (!f.decoders.empty()) out["decoders"] = f.decoders;
  out["batch"] = f.batch;
  out["version"] = f.version ? json(*f.version) : json(nullptr);
  return out;
}

json origin_json(const run_origin& o) {
  return {{"warpband", program_json(o)}, {"machine", machine_json(o.machine)}};
}

json target_json(const fer_target& target, const fer_target_result& found) {
  const auto known = [](const std::optional<double>& db) { return db ? json(*db) : json(nullptr); };
  return {{"fer", target.fer},
          {"outcome", name_of(found.outcome)},
          {"db", known(found.db)},
          {"low_db", known(found.low_db)},
          {"high_db", known(found.high_db)},
          {"frames", found.frames}};
}

/// Adds a curve with some of its points, where there are any.
template <class Point>
void add_curve(json& list, const curve_result& c, const std::vector<Point>& points) {
  if (points.empty()) return;
  json converted = json::array();
  for (const Point& p : points) converted.push_back(to_json(p, c.config.link));
  list.push_back({{"label", c.label}, {"config", config_json(c.config)}, {"points", std::move(converted)}});
  if (c.found) list.back()["target"] = target_json(*c.config.target, *c.found);
}

}  // namespace
}  // namespace result_file

std::string result_json(const run_result& result) {
  using namespace result_file;
  json out = origin_json(result.origin);
  if (!result.earlier.empty()) {
    json& earlier = out["earlier_runs"] = json::array();
    for (const run_origin& o : result.earlier) earlier.push_back(origin_json(o));
  }
  const scenario& s = result.source;
  out["scenario"] = {
      {"file", s.file}, {"title", s.title}, {"text", s.text}, {"overrides", to_json(s.overrides)}};
  if (!result.functions.empty()) out["functions"] = to_json(result.functions);
  out["complete"] = result.complete;
  // What is unfinished is not among "curves", where whoever draws them would find points that no rule
  // stopped.
  json curves = json::array(), unfinished = json::array();
  for (const curve_result& c : result.curves) {
    add_curve(curves, c, c.points);
    add_curve(unfinished, c, c.unfinished);
  }
  out["curves"] = std::move(curves);
  if (!unfinished.empty()) out["unfinished"] = std::move(unfinished);
  return json_lines(out);
}

}  // namespace wb
