// Who made a result, and how a run goes on with one.
#include <warpband/link/result.hpp>

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>

#include <warpband/core/error.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>
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
      if (const std::size_t at = line.find(": "); at != std::string::npos) return line.substr(at + 2);
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

void add_origin(run_result& result, const run_origin& now) {
  const auto same = [](const run_origin& a, const run_origin& b) {
    return program_json(a) == program_json(b) && machine_json(a.machine) == machine_json(b.machine);
  };
  if (!same(result.origin, now)) result.earlier.push_back(std::move(result.origin));
  result.origin = now;
}

run_result resumed(run_result held, scenario wanted, const std::string& path) {
  const std::string name = wanted.file;
  std::vector<curve_result> curves;
  for (const curve_config& w : wanted.curves) {
    curve_result c{w.label, w, {}, {}, false};
    c.config.link = completed(w.link);
    for (curve_result& h : held.curves) {
      if (h.label != w.label || (h.points.empty() && h.unfinished.empty())) continue;
      json was = config_json(h.config), now = config_json(c.config);
      for (const char* key : {"sweep", "stop"}) was.erase(key), now.erase(key);
      if (h.config.link.axis != c.config.link.axis)
        throw file_error(path, "curve \"" + w.label + "\" was run over sweep." + name_of(h.config.link.axis) +
                                   ", now over sweep." + name_of(c.config.link.axis) + ": expected the same");
      if (const difference d = first_difference(was, now); !d.key.empty())
        throw file_error(path, "curve \"" + w.label + "\" was run with " + d.key + " = " + d.was + ", now " +
                                   d.now + ": expected the same");
      const auto check = [&](double sweep_db) {
        if (std::find(w.sweep_db.begin(), w.sweep_db.end(), sweep_db) == w.sweep_db.end())
          throw file_error(path, "curve \"" + w.label + "\" holds a point at " + title_of(w.link.axis) +
                                     " = " + shown(sweep_db) + " dB that " + name +
                                     " does not list: expected all points held");
      };
      for (const point_result& p : h.points) check(p.sweep_db);
      for (const unfinished_point& p : h.unfinished) check(p.sweep_db);
      c.points = std::move(h.points);
      c.unfinished = std::move(h.unfinished);
      h.points.clear();
      h.unfinished.clear();
    }
    curves.push_back(std::move(c));
  }
  for (const curve_result& h : held.curves)
    if (!h.points.empty() || !h.unfinished.empty())
      throw file_error(path, "holds a curve \"" + h.label + "\" that " + name +
                                 " does not list: expected all curves held");
  held.source = std::move(wanted);
  held.curves = std::move(curves);
  held.complete = false;
  return held;
}

}  // namespace wb
