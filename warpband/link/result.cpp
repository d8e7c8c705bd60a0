// Who made a result, and how a run goes on with one.
#include <warpband/link/result.hpp>

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include <warpband/air/function.hpp>
#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/result_json.hpp>
#if __has_include(<warpband_version.hpp>)
#include <warpband_version.hpp>
#endif
#ifndef WARPBAND_VERSION
#define WARPBAND_VERSION "unknown"
#endif
#ifndef WARPBAND_COMMIT
#define WARPBAND_COMMIT "unknown"
#endif

namespace wb {

using namespace result_file;

const char* version() noexcept { return WARPBAND_VERSION; }
const char* commit() noexcept { return WARPBAND_COMMIT; }

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  utsname u{};
  return uname(&u) == 0 ? std::string(u.machine) : "unknown";
}

machine_info describe_machine(const executor& exec) {
  machine_info m;
  m.cpu = cpu_model();
  utsname u{};
  if (uname(&u) == 0) m.os = std::string(u.sysname) + " " + u.machine;
  m.device = exec.name();
  if (const auto* c = dynamic_cast<const cpu*>(&exec)) {
    m.instruction_set = isa_name(c->instructions());
    m.threads = c->threads();
  } else {
    m.device += ", " + exec.description();
  }
  return m;
}

machine_info joined(machine_info m, const machine_info& more) {
  m.device += " and " + more.device;
  m.threads = std::max(m.threads, more.threads);
  if (m.instruction_set.empty()) m.instruction_set = more.instruction_set;
  return m;
}

void add_origin(run_result& result, const run_origin& origin) {
  const auto same = [](const run_origin& a, const run_origin& b) {
    return program_json(a) == program_json(b) && machine_json(a.machine) == machine_json(b.machine);
  };
  if (!same(result.origin, origin)) result.earlier.push_back(std::move(result.origin));
  result.origin = origin;
}

namespace {

bool holds_counts(const curve_result& c) { return !c.points.empty() || !c.unfinished.empty(); }

/// The first difference between the settings of two curves; points, stop rules and labels may differ.
difference difference_of(const curve_config& held, const curve_config& wanted) {
  if (held.link.axis != wanted.link.axis)
    return {"sweep", name_of(held.link.axis), name_of(wanted.link.axis)};
  json old_config = config_json(held), new_config = config_json(wanted);
  if (held.target || wanted.target) {  // another search is another curve
    const difference d = first_difference(old_config["sweep"], new_config["sweep"], "sweep.");
    if (!d.key.empty() && !d.key.starts_with("sweep.family") && !d.key.starts_with("sweep.parameters"))
      return d;
  }
  for (const char* key : {"sweep", "stop"}) old_config.erase(key), new_config.erase(key);
  return first_difference(old_config, new_config);
}

/// What makes curves the same: texts of two are equal where difference_of finds nothing.
std::string settings_of_curve(const curve_config& c) {
  json config = config_json(c), search;
  if (c.target) {
    search = config["sweep"];
    for (const char* key : {"family", "parameters"}) search.erase(key);
  }
  for (const char* key : {"sweep", "stop"}) config.erase(key);
  return json{name_of(c.link.axis), search, config}.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The curves of a result that hold counts, by their settings.
using curves_by_settings = std::map<std::string, std::vector<curve_result*>>;

/// The curve of `held` that has the settings of `wanted`, the one of the same label where several have.
/// Nothing: none. Throws file_error where `same_label` has other settings, and its own are none of `known`.
curve_result* held_for(const curve_config& wanted, const std::string& settings,
                       const curves_by_settings& held, const curve_result* same_label,
                       const std::set<std::string>& known, const std::string& path) {
  if (const auto found = held.find(settings); found != held.end()) {
    curve_result* first = nullptr;  // that no other curve has taken
    for (curve_result* h : found->second) {
      if (!holds_counts(*h)) continue;
      if (h->label == wanted.label) return h;
      if (first == nullptr) first = h;
    }
    if (first != nullptr) return first;
  }
  if (same_label == nullptr || !holds_counts(*same_label) ||
      known.contains(settings_of_curve(same_label->config)))
    return nullptr;  // that one goes on under another label
  const difference d = difference_of(same_label->config, wanted);
  if (d.key == "sweep")
    throw file_error(path, "curve \"" + printable(wanted.label) + "\" was run over sweep." + d.was +
                               ", now over sweep." + d.wanted + ": expected the same");
  throw file_error(path, "curve \"" + printable(wanted.label) + "\" was run with " + d.key + " = " + d.was +
                             ", now " + d.wanted + ": expected the same");
}

}  // namespace

run_functions functions_of(const std::vector<curve_result>& curves, const run_functions& given) {
  const auto named = [&](const std::vector<std::string>& names, auto name_in) {
    std::vector<std::string> used;
    for (const std::string& name : names)
      if (std::any_of(curves.begin(), curves.end(),
                      [&](const curve_result& c) { return same_word(name_in(c.config.link), name); }))
        used.push_back(name);
    std::sort(used.begin(), used.end());
    return used;
  };
  run_functions used;
  used.channels = named(given.channels, [](const link_config& c) { return c.channel.type; });
  used.detectors = named(given.detectors, [](const link_config& c) {
    for (const auto& [name, value] : c.antennas.kind().results(c))
      if (name == "detector.type") return plain(value);
    return std::string();
  });
  used.decoders = named(given.decoders, [](const link_config& c) { return c.code.decoder; });
  if (!used.empty()) used.batch = given.batch, used.version = given.version;
  return used;
}

namespace {

template <class Kind, class Make>
std::vector<Kind> named_kinds(const std::vector<std::string>& names, Make make) {
  std::vector<Kind> kinds;
  for (const std::string& name : names) kinds.push_back(make(name));
  return kinds;
}
[[noreturn]] void cannot_run() { throw error("this is a result to be shown: its functions are not here"); }

}  // namespace

stand_in_kinds::stand_in_kinds(const run_functions& f)
    : channels_(airs(), named_kinds<air_kind>(f.channels,
                                              [](const std::string& name) {
                                                return function_air(name, [](auto&&...) { cannot_run(); });
                                              })),
      detectors_(detectors(),
                 named_kinds<detector_kind>(
                     f.detectors,
                     [](const std::string& name) {
                       return detector_kind{
                           .name = name,
                           .text = "",
                           .most_streams = most_soft_streams,
                           .takes_prior = true,
                           .make = [](const detector_config&) -> std::unique_ptr<detector> { cannot_run(); }};
                     })),
      decoders_(decoders(), named_kinds<decoder_kind>(f.decoders, [](const std::string& name) {
                  return decoder_kind{.name = name,
                                      .text = "",
                                      .make = [](const code_config&) -> decode_function { cannot_run(); }};
                })) {}

run_result resumed(run_result held, scenario wanted, const std::string& path) {
  const std::string name = wanted.file;
  std::vector<curve_config> completed_curves = wanted.curves;
  for (curve_config& c : completed_curves) c.link = completed(c.link);
  curves_by_settings of_settings;
  std::map<std::string, curve_result*> of_label;
  for (curve_result& h : held.curves) {
    if (!holds_counts(h)) continue;
    of_settings[settings_of_curve(h.config)].push_back(&h);
    of_label[h.label] = &h;
  }
  std::vector<std::string> settings;
  for (const curve_config& w : completed_curves) settings.push_back(settings_of_curve(w));
  const std::set<std::string> known(settings.begin(), settings.end());
  std::vector<curve_result> curves;
  for (std::size_t i = 0; i < completed_curves.size(); i++) {
    const curve_config& w = completed_curves[i];
    const auto same_label = of_label.find(w.label);
    curve_result c{w.label, w, {}, {}, false};
    if (curve_result* h = held_for(w, settings[i], of_settings,
                                   same_label == of_label.end() ? nullptr : same_label->second, known, path);
        h != nullptr && w.target) {
      c.points = std::exchange(h->points, {});
      c.found = std::exchange(h->found, {});
    } else if (h != nullptr) {
      const auto check = [&](double sweep_db) {
        if (!std::binary_search(w.sweep_db.begin(), w.sweep_db.end(), sweep_db))
          throw file_error(path, "curve \"" + printable(w.label) + "\" holds a point at " +
                                     title_of(w.link.axis) + " = " + shown(sweep_db) + unit_of(w.link.axis) +
                                     " that " + name + " does not list: expected all points held");
      };
      for (const point_result& p : h->points) check(p.sweep_db);
      for (const unfinished_point& p : h->unfinished) check(p.sweep_db);
      c.points = std::exchange(h->points, {});
      c.unfinished = std::exchange(h->unfinished, {});
    }
    curves.push_back(std::move(c));
  }
  for (const curve_result& h : held.curves)
    if (holds_counts(h))
      throw file_error(path, "holds a curve \"" + printable(h.label) + "\" that " + name +
                                 " does not list: expected all curves held");
  held.source = std::move(wanted);
  held.curves = std::move(curves);
  held.complete = false;
  return held;
}

}  // namespace wb
