#include <warpband/link/result.hpp>

#include <sys/utsname.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/fec/lte/qpp.hpp>
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
namespace {

using json = nlohmann::ordered_json;

json to_json(const curve_config& c) {
  const link_config& link = c.link;
  json code{{"type", name_of(link.code)}, {"k", link.k}, {"crc", name_of(link.crc)}};
  json out{{"seed", link.seed}};
  if (link.code == code_type::lte_turbo) {
    const auto qpp = link.interleaver ? qpp_parameters{link.k, link.interleaver->f1, link.interleaver->f2}
                                      : qpp_for(link.k);
    code["interleaver"] = {{"f1", qpp.f1}, {"f2", qpp.f2}};
  }
  code["rate"] = code_rate(link);
  out["code"] = code;
  if (link.code == code_type::lte_turbo) {
    const turbo_decoder_config& d = link.decoder;
    char scale[32] = {};  // 0.7, not 0.699999988079071
    std::to_chars(scale, scale + sizeof scale - 1, d.extrinsic_scale);
    out["decoder"] = {{"algorithm", name_of(d.algorithm)},
                      {"iterations", d.iterations},
                      {"windows", d.windows},
                      {"overlap", d.overlap},
                      {"extrinsic_scale", std::strtod(scale, nullptr)},
                      {"early_stop", name_of(d.stop)}};
  }
  out["modem"] = {{"modulation", name_of_modulation(link.qam)}, {"demapper", name_of(link.demapper)}};
  out["channel"] = {{"type", name_of(link.channel)}};
  if (link.channel == channel_type::rayleigh) out["channel"]["fading"] = name_of(link.fading);
  out["sweep"] = {{"ebn0_db", c.ebn0_db}};
  out["stop"] = {{"frame_errors", c.stop.frame_errors},
                 {"max_frames", c.stop.max_frames},
                 {"max_seconds", c.stop.max_seconds},
                 {"below_fer", c.stop.below_fer}};
  return out;
}

json to_json(const std::optional<interval>& i) { return i ? json{i->low, i->high} : json(nullptr); }

/// Rounded to a millionth: a time or a speed is not known better.
double tidy(double x) { return std::round(x * 1e6) / 1e6; }

json to_json(const point_result& p) {
  const auto iterations = p.mean_iterations();
  return {{"ebn0_db", p.ebn0_db},
          {"esn0_db", p.esn0_db},
          {"frames", p.counts.frames},
          {"bits", p.bits()},
          {"bit_errors", p.counts.bit_errors},
          {"frame_errors", p.counts.frame_errors},
          {"erased_frames", p.counts.erased_frames},
          {"ber", p.ber()},
          {"fer", p.fer()},
          {"ber_interval", to_json(p.ber_interval())},
          {"fer_interval", to_json(std::optional(p.fer_interval()))},
          {"iterations", iterations ? json(*iterations) : json(nullptr)},
          {"mbps", tidy(p.mbps())},
          {"seconds", tidy(p.counts.seconds)},
          {"stopped_by", name_of(p.stopped_by)}};
}

}  // namespace

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

std::string result_json(const run_result& result) {
  const machine_info& m = result.machine;
  json out{{"warpband", {{"version", version()}, {"commit", commit()}}},
           {"machine",
            {{"cpu", m.cpu},
             {"os", m.os},
             {"device", m.device},
             {"instruction_set", m.instruction_set.empty() ? json(nullptr) : json(m.instruction_set)},
             {"threads", m.threads == 0 ? json(nullptr) : json(m.threads)}}},
           {"scenario",
            {{"file", result.source.file}, {"title", result.source.title}, {"text", result.source.text}}},
           {"complete", result.complete},
           {"curves", json::array()}};
  for (const curve_result& c : result.curves) {
    if (c.points.empty()) continue;
    json points = json::array();
    for (const point_result& p : c.points) points.push_back(to_json(p));
    out["curves"].push_back({{"label", c.label}, {"config", to_json(c.config)}, {"points", points}});
  }
  // Text that is not UTF-8 (a path may be) must not stop a result from being written.
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace wb
