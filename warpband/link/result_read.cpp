// Results back from their files: everything in them is checked.
#include <algorithm>
#include <cmath>

#include <warpband/core/printable.hpp>
#include <warpband/core/text_file.hpp>
#include <warpband/link/json_text.hpp>
#include <warpband/link/result_object.hpp>
#include <warpband/link/scenario.hpp>

namespace wb {
namespace result_file {
namespace {

run_origin read_origin(const object& o) {
  const object program = o.inner("warpband"), machine = o.inner("machine");
  program.holds_only({"version", "commit"});
  machine.holds_only({"cpu", "os", "device", "instruction_set", "threads"});
  run_origin origin;
  origin.version = program.text("version");
  origin.commit = program.text("commit");
  origin.machine = {machine.text("cpu"), machine.text("os"), machine.text("device"),
                    machine.text_or_null("instruction_set"), 0};
  if (!machine.at("threads").is_null())
    origin.machine.threads = static_cast<int>(machine.integer("threads", 1, 1 << 20));
  return origin;
}

/// What a result says of the files of channel estimates that it was run with.
config::known_recordings recordings_in(const object& root) {
  config::known_recordings recordings;
  for (const char* key : {"curves", "unfinished"})
    for (std::size_t i = 0; root.has(key) && i < root.list(key).size(); i++) {
      const object channel = root.element(key, i).inner("config").inner("channel");
      if (channel.text("type") != "file") continue;
      constexpr std::uint64_t limit = 1'000'000'000;
      csi_channel_config c;
      c.layout = channel.text("layout");
      c.snapshots = channel.integer("snapshots", 1, limit);
      c.subcarriers = channel.integer("subcarriers", 1, limit);
      c.antennas = channel.integer("antennas", 1, limit);
      c.users = channel.integer("users", 1, limit);
      recordings.emplace(channel.text("file"), c);
    }
  return recordings;
}

run_functions read_functions(const object& o) {
  o.holds_only({"channels", "detectors", "decoders", "batch", "version"});
  const auto names = [&](const char* key) {
    std::vector<std::string> found;
    if (o.has(key) && o.list(key).size() > 1000) o.refuse(key, "at most 1000 names");
    for (std::size_t i = 0; o.has(key) && i < o.list(key).size(); i++) {
      const json& name = o.list(key)[i];
      if (!name.is_string() || name.get<std::string>().empty()) o.refuse(key, "names of functions");
      found.push_back(name.get<std::string>());
    }
    return found;
  };
  run_functions f;
  f.channels = names("channels"), f.detectors = names("detectors"), f.decoders = names("decoders");
  f.batch = o.integer("batch", 1, most_function_batch);
  if (!o.at("version").is_null()) f.version = o.text("version");
  return f;
}

/// `held`: of the result. `given`: of the run that is to go on with it.
void check_functions(const run_functions& held, const run_functions& given, const std::string& path) {
  const auto check = [&](const char* argument, const auto& names, const auto& known) {
    for (const std::string& name : names)
      if (std::none_of(known.begin(), known.end(), [&](const auto& k) { return same_word(k, name); }))
        throw file_error(path, "was run with a function of Python: expected warpband.sweep(resume=..., " +
                                   std::string(argument) + "={\"" + printable(name) + "\": ...})");
  };
  check("channels", held.channels, given.channels);
  check("detectors", held.detectors, given.detectors);
  check("decoders", held.decoders, given.decoders);
  if (held.empty()) return;
  const auto differs = [&](const char* argument, const std::string& was, const std::string& wanted) {
    throw file_error(path, std::string("was run with ") + argument + " = " + was + ", now " + wanted +
                               ": expected the same");
  };
  const auto text = [](const std::optional<std::string>& v) { return v ? shown(json(*v)) : "None"; };
  if (held.batch != given.batch) differs("batch", std::to_string(held.batch), std::to_string(given.batch));
  if (held.version != given.version) differs("version", text(held.version), text(given.version));
}

scenario read_scenario(const object& o, const std::string& path, const config::known_recordings& recordings) {
  o.holds_only({"file", "title", "text", "overrides"});
  constexpr std::size_t most_text = std::size_t{1} << 20;  // as of a scenario's file
  if (o.text("text").size() > most_text) o.refuse("text", "at most 1 MiB");
  scenario s;
  try {
    s = parse_scenario(o.text("text"), o.text("file"), recordings);
  } catch (const file_error& error) {
    throw file_error(path, "the scenario in it is not one for this build: " + printable(error.what(), 2000));
  }
  if (s.title != o.text("title")) o.refuse("title", shown(s.title) + ", as in the scenario's text");
  const object given = o.inner("overrides");
  given.holds_only({"seed", "frame_errors", "max_frames", "max_seconds"});
  scenario_overrides overrides;
  if (given.has("seed")) overrides.seed = given.integer("seed", 0, INT64_MAX);
  if (given.has("frame_errors")) overrides.frame_errors = given.integer("frame_errors", 0, most_frames);
  if (given.has("max_frames")) overrides.max_frames = given.integer("max_frames", 1, most_frames);
  if (given.has("max_seconds"))
    overrides.max_seconds = given.number("max_seconds", 0, 1e9, "a number of seconds from 0 to 1e9");
  apply_overrides(s, overrides);
  return s;
}

/// What HARQ counts, of a point of which frames and frame errors are known.
void read_harq(const object& o, int transmissions, point_counts& n) {
  o.holds_only({"block_errors", "undetected_errors", "bler", "bler_intervals", "transmissions_sum",
                "mean_transmissions", "mean_transmissions_interval", "bits_per_resource_element",
                "bits_per_resource_element_interval", "relative_throughput"});
  const json& errors = o.list("block_errors");
  if (errors.size() != static_cast<std::size_t>(transmissions))
    o.refuse("block_errors", std::to_string(transmissions) + " counts");
  std::uint64_t errors_before = n.frames;
  for (std::size_t i = 0; i < errors.size(); i++) {
    if (!errors[i].is_number_unsigned() || errors[i].get<std::uint64_t>() > errors_before)
      o.refuse("block_errors", "integers that do not rise, up to " + std::to_string(n.frames) + " = frames");
    n.block_errors[i] = errors_before = errors[i].get<std::uint64_t>();
  }
  // What is no error after the last transmission is one that the CRCs did not tell.
  const std::uint64_t undetected = n.frame_errors - std::min(n.frame_errors, errors_before);
  n.undetected_errors = o.integer("undetected_errors", undetected, undetected);
  if (errors_before > n.frame_errors) o.refuse("block_errors", "a last one up to frame_errors");
}

/// What is counted after each outer iteration, of a point of which frames and errors are known.
void read_outer(const object& o, const link_config& link, point_counts& n) {
  o.holds_only({"bit_errors", "frame_errors", "codeword_errors", "ber", "fer", "bler", "fer_intervals"});
  const auto count = static_cast<std::size_t>(link.receiver->outer);
  const auto read = [&](const char* key, auto& to, std::uint64_t greatest, std::uint64_t last) {
    const json& list = o.list(key);
    if (list.size() != count) o.refuse(key, std::to_string(count) + " counts");
    for (std::size_t j = 0; j < count; j++) {
      if (!list[j].is_number_unsigned() || list[j].get<std::uint64_t>() > greatest)
        o.refuse(key, "integers up to " + std::to_string(greatest));
      to[j] = list[j].template get<std::uint64_t>();
    }
    if (to[count - 1] != last) o.refuse(key, "a last one of " + std::to_string(last) + ", as beside it");
  };
  read("frame_errors", n.outer_frame_errors, n.frames, n.frame_errors);
  read("bit_errors", n.outer_bit_errors, n.frames * bits_per_frame(link), n.bit_errors);
  if (has_codewords(link))
    read("codeword_errors", n.outer_codeword_errors, n.frames * codewords_per_frame(link), n.codeword_errors);
}

/// What massive MIMO counts, of a point of which frames, frame errors and bit errors are known. Sums of
/// squares lie between those of equal parts and of the most unequal ones.
void read_codewords(const object& o, const link_config& link, point_counts& n) {
  o.holds_only({"codewords", "errors", "errors_squared", "bit_errors_squared", "bler", "bler_interval"});
  const std::uint64_t per_frame = codewords_per_frame(link), bits = bits_per_frame(link);
  const auto squares = [&](const char* key, std::uint64_t sum, std::uint64_t max_of_one) {
    const std::uint64_t greatest = sum > UINT64_MAX / max_of_one ? UINT64_MAX : sum * max_of_one;
    return o.integer(key, sum, greatest, ", as the errors say");
  };
  n.codeword_errors =
      o.integer("errors", n.frame_errors, n.frame_errors * per_frame, " = frame_errors codewords");
  n.codeword_errors_squared = squares("errors_squared", n.codeword_errors, per_frame);
  if (n.bit_errors < n.codeword_errors || n.bit_errors / sizes_of(link.code).k > n.codeword_errors)
    o.refuse("errors", "a number that goes with bit_errors");
  n.bit_errors_squared = squares("bit_errors_squared", n.bit_errors, bits);
}

/// The counts of a point, finished or not, as far as they are the same for both.
point_counts read_counts(const object& o, const curve_config& c) {
  const std::uint64_t k = bits_per_frame(c.link);
  const bool coded = !is_uncoded(c.link.code);
  point_counts n;
  n.frames = o.integer("frames", 1, most_frames);
  const std::string frames = " = frames";
  n.frame_errors = o.integer("frame_errors", 0, n.frames, frames);
  if (n.frames > UINT64_MAX / k) o.refuse("frames", "no more than can be counted");
  // The counts of HARQ come first: its frames may fail by the bits of their CRC alone, and are sent again.
  const bool harq = is_transport(c.link.code);
  std::uint64_t decodings = n.frames, least_bits = n.frame_errors;
  if (harq) {
    const int transmissions = harq_of(c.link.code).transmissions;
    read_harq(o.inner("harq"), transmissions, n);
    for (int i = 1; i < transmissions; i++) decodings += n.block_errors[static_cast<std::size_t>(i - 1)];
    least_bits = n.undetected_errors;
  } else if (o.has("harq")) {
    o.refuse("harq", "none: the code has no HARQ");
  }
  n.bit_errors = o.integer("bit_errors", least_bits, n.frame_errors * k, " = frame_errors k");
  n.erased_frames = o.integer("erased_frames", 0, coded ? n.frames : 0);
  const auto per_block = static_cast<std::uint64_t>(most_iterations(c.link));
  if (harq) {
    const auto blocks = static_cast<std::uint64_t>(harq_of(c.link.code).code_blocks);
    const std::uint64_t greatest =
        decodings > UINT64_MAX / (blocks * per_block) ? UINT64_MAX : decodings * blocks * per_block;
    n.iterations = o.integer("iterations_sum", 0, greatest, " = code blocks sent decoder.iterations");
  } else {
    n.iterations = o.integer("iterations_sum", 0, n.frames * per_block * codewords_per_frame(c.link),
                             coded ? " = frames decoder.iterations" : "");
  }
  if (erases_uses(c.link)) {
    const std::uint64_t uses = uses_per_frame(c.link);
    const std::uint64_t greatest = decodings > UINT64_MAX / uses ? UINT64_MAX : decodings * uses;
    n.erased_uses = o.integer("erased_uses", 0, greatest, " = uses of the frames");
  } else if (o.has("erased_uses")) {
    o.refuse("erased_uses", "none: there is neither a detector nor a space-time code");
  }
  if (c.link.mutual_information)
    n.information_lost = o.number("information_lost", 0, 1e300, "a number of bits, at least 0");
  else if (o.has("information_lost"))
    o.refuse("information_lost", "none: modem.mutual_information is not set");
  if (has_codewords(c.link))
    read_codewords(o.inner("codewords"), c.link, n);
  else if (o.has("codewords"))
    o.refuse("codewords", "none: there is no massive MIMO");
  if (c.link.receiver)
    read_outer(o.inner("outer"), c.link, n);
  else if (o.has("outer"))
    o.refuse("outer", "none: there is no [receiver]");
  n.frames_run = o.integer("frames_run", n.frames, UINT64_MAX / k);
  n.seconds = o.number("seconds", 0, 1e18, "a number of seconds, at least 0");
  return n;
}

double read_sweep_db(const object& o, const curve_config& c) {
  const char* key = name_of(c.link.axis);
  const double x = c.link.axis == snr_axis::probability
                       ? o.number(key, 0, 1, "a number from 0 to 1")
                       : o.number(key, -100, 100, "a number from -100 to 100");
  if (!c.target && !std::binary_search(c.sweep_db.begin(), c.sweep_db.end(), x))
    o.refuse(key, std::string("one of config.sweep.") + key);
  return x;
}

stop_reason read_reason(const object& o) {
  const std::string reason = o.text("stopped_by");
  for (const stop_reason r : {stop_reason::frame_errors, stop_reason::max_frames, stop_reason::time})
    if (reason == name_of(r)) return r;
  o.refuse("stopped_by", "\"frame_errors\", \"max_frames\" or \"time\"");
}

point_result read_point(const object& o, const curve_config& c) {
  o.holds_only({"ebn0_db",
                "snr_db",
                "esn0_db",
                "probability",
                "erased_uses",
                "frames",
                "bits",
                "bit_errors",
                "frame_errors",
                "erased_frames",
                "ber",
                "fer",
                "harq",
                "ber_interval",
                "fer_interval",
                "iterations",
                "iterations_sum",
                "frames_run",
                "mbps",
                "seconds",
                "stopped_by",
                "codewords",
                "outer",
                "information_lost",
                "mutual_information"});
  point_result p = point_of(c.link, read_sweep_db(o, c));
  p.counts = read_counts(o, c);
  p.stopped_by = read_reason(o);
  return p;
}

/// The label of a curve of the file, found among the result's curves, its configuration being the same.
curve_result& find_curve(const object& o, run_result& result, const std::string& path) {
  o.holds_only({"label", "config", "points", "target"});
  const std::string label = o.text("label");
  const auto c = std::find_if(result.curves.begin(), result.curves.end(),
                              [&](const curve_result& r) { return r.label == label; });
  if (c == result.curves.end()) o.refuse("label", "a curve of the scenario in it");
  o.inner("config");  // is an object
  if (const difference d = first_difference(with_names_of_today(o.at("config")), config_json(c->config));
      !d.key.empty())
    throw file_error(path, "curve \"" + printable(label) + "\" was run with " + d.key + " = " + d.was +
                               ", but the scenario in it gives " + d.wanted +
                               " in this build: expected the same");
  return *c;
}

/// Points stand in the order of the sweep, which rises: none is there twice.
template <class Point>
void check_order(const object& o, const curve_config& c, const std::vector<Point>& points, double sweep_db) {
  if (!points.empty() && !(points.back().sweep_db < sweep_db))
    o.refuse(name_of(c.link.axis), "more than the point before, " + shown(points.back().sweep_db));
}

/// How the search for a target ended.
fer_target_result read_target(const object& o, const curve_result& c) {
  o.holds_only({"fer", "outcome", "db", "low_db", "high_db", "frames"});
  fer_target_result found;
  const fer_target& target = *c.config.target;
  o.number("fer", target.fer, target.fer, "config.sweep.target_fer");
  const std::string outcome = o.text("outcome");
  const auto outcomes = {fer_outcome::reached, fer_outcome::budget, fer_outcome::above, fer_outcome::below};
  const auto* const match = std::find_if(outcomes.begin(), outcomes.end(),
                                         [&](fer_outcome one) { return outcome == name_of(one); });
  if (match == outcomes.end()) o.refuse("outcome", R"("reached", "budget", "above" or "below")");
  found.outcome = *match;
  const auto db = [&](const char* key) -> std::optional<double> {
    if (o.at(key).is_null()) return std::nullopt;
    return o.number(key, target.least_db, target.most_db, "null or dB where the search was");
  };
  found.db = db("db"), found.low_db = db("low_db"), found.high_db = db("high_db");
  if (found.reached() && !(found.low_db && found.high_db && found.db))
    o.refuse("db", "dB of what was reached");
  std::uint64_t frames = 0;
  for (const point_result& p : c.points) frames += p.counts.frames;
  found.frames = o.integer("frames", frames, frames, ", those of the points");
  return found;
}

void read_curve(const object& o, run_result& r, const std::string& path) {
  curve_result& c = find_curve(o, r, path);
  if (!c.points.empty()) o.refuse("label", "another one for each curve");
  if (o.list("points").empty()) o.refuse("points", "at least one");
  for (std::size_t n = 0; n < o.list("points").size(); n++) {
    const object point = o.element("points", n);
    const point_result p = read_point(point, c.config);
    check_order(point, c.config, c.points, p.sweep_db);
    c.points.push_back(p);
  }
  if (c.config.target)
    c.found = read_target(o.inner("target"), c);
  else if (o.has("target"))
    o.refuse("target", "none: the scenario has no sweep.target_fer");
}
template <class Counts>
bool none_falls(const Counts& later, const Counts& was) {
  return std::equal(was.begin(), was.end(), later.begin(),
                    [](std::uint64_t before, std::uint64_t after) { return before <= after; });
}
bool goes_on_from(const point_counts& later, const point_counts& was) {
  return later.frames >= was.frames && later.bit_errors >= was.bit_errors &&
         later.frame_errors >= was.frame_errors && later.erased_frames >= was.erased_frames &&
         later.erased_uses >= was.erased_uses && later.iterations >= was.iterations &&
         later.frames_run >= was.frames_run && later.seconds >= was.seconds &&
         later.undetected_errors >= was.undetected_errors && later.codeword_errors >= was.codeword_errors &&
         later.codeword_errors_squared >= was.codeword_errors_squared &&
         later.bit_errors_squared >= was.bit_errors_squared &&
         none_falls(later.block_errors, was.block_errors) &&
         none_falls(later.outer_bit_errors, was.outer_bit_errors) &&
         none_falls(later.outer_frame_errors, was.outer_frame_errors) &&
         none_falls(later.outer_codeword_errors, was.outer_codeword_errors) &&
         later.information_lost >= was.information_lost;
}

void read_unfinished(const object& o, run_result& r, const std::string& path) {
  curve_result& c = find_curve(o, r, path);
  if (!c.unfinished.empty()) o.refuse("label", "another one for each curve");
  for (std::size_t n = 0; n < o.list("points").size(); n++) {
    const object point = o.element("points", n);
    point.holds_only({name_of(c.config.link.axis), "frames", "bit_errors", "frame_errors", "erased_frames",
                      "erased_uses", "iterations_sum", "frames_run", "seconds", "harq", "codewords", "outer",
                      "information_lost"});
    if (point.has("codewords"))
      point.inner("codewords").holds_only({"errors", "errors_squared", "bit_errors_squared"});
    if (point.has("outer"))
      point.inner("outer").holds_only({"bit_errors", "frame_errors", "codeword_errors"});
    if (point.has("harq")) point.inner("harq").holds_only({"block_errors", "undetected_errors"});
    const unfinished_point p{read_sweep_db(point, c.config), read_counts(point, c.config)};
    check_order(point, c.config, c.unfinished, p.sweep_db);
    if (!goes_on_from(p.counts, c.counts_at(p.sweep_db)))
      point.refuse("frames", "counts that go on from the finished point's");
    c.unfinished.push_back(p);
  }
}

}  // namespace
}  // namespace result_file

run_result load_result(const std::string& path, result_use use, const run_functions& functions) {
  return parse_result(read_file(path, 256, "not a result"), path, use, functions);
}

run_result parse_result(const std::string& text, const std::string& path, result_use use,
                        const run_functions& functions) {
  using namespace result_file;
  const json file =
      parse_json(text, [&](const std::string& reason) { throw file_error(path, "not a result: " + reason); });
  const object root(file, "", path);
  const object source = root.inner("scenario");
  for (const char* key : {"warpband", "machine", "curves"}) root.at(key);
  if (!source.has("overrides"))
    throw file_error(path, "was written before results could be resumed: run its scenario again");
  root.holds_only(
      {"warpband", "machine", "earlier_runs", "scenario", "functions", "complete", "curves", "unfinished"});

  run_result r;
  r.origin = read_origin(root);
  if (root.has("earlier_runs"))
    for (std::size_t i = 0; i < root.list("earlier_runs").size(); i++) {
      const object o = root.element("earlier_runs", i);
      o.holds_only({"warpband", "machine"});
      r.earlier.push_back(read_origin(o));
    }
  if (root.has("functions")) r.functions = read_functions(root.inner("functions"));
  std::optional<stand_in_kinds> stand_ins;
  if (use == result_use::go_on)
    check_functions(r.functions, functions, path);
  else
    try {
      stand_ins.emplace(r.functions);
    } catch (const argument_error& error) {
      root.fail(std::string("functions: ") + error.what());
    }
  r.source =
      read_scenario(source, path, use == result_use::show ? recordings_in(root) : config::known_recordings{});
  r.complete = root.boolean("complete");
  for (const curve_config& c : r.source.curves) {
    r.curves.push_back({c.label, c, {}, {}, false});
    r.curves.back().config.link = completed(c.link);
  }
  for (std::size_t i = 0; i < root.list("curves").size(); i++) read_curve(root.element("curves", i), r, path);
  const std::size_t begun = root.has("unfinished") ? root.list("unfinished").size() : 0;
  if (begun != 0 && r.complete) root.refuse("complete", "false: it holds unfinished points");
  for (std::size_t i = 0; i < begun; i++) read_unfinished(root.element("unfinished", i), r, path);
  return r;
}

}  // namespace wb
