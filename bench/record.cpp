#include <bench/ceilings_args.hpp>
#include <bench/record.hpp>
#include <bench/statistics.hpp>
#include <charconv>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <warpband/exec/cuda.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/link/result.hpp>

namespace wb::bench {
namespace {

using json = nlohmann::ordered_json;

/// The first value of a field of /proc/cpuinfo; empty where it has none.
std::string cpuinfo(const std::string& field) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field))
      if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return {};
}

std::string version_text(int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); }

/// The number that a text begins with; 0 where it begins with none.
double number_from(const char* begin, const char* end) {
  double x = 0;
  std::from_chars(begin, end, x);
  return x;
}

json describe(const run_options& options, executor_pool& pool) {
  char date[32] = "";
  const std::time_t time = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  executor& cpu_executor = pool.get("cpu");
  const machine_info here = describe_machine(cpu_executor);
  json machine{{"cpu", here.cpu}, {"cores", std::thread::hardware_concurrency()}};
  if (const std::string mhz = cpuinfo("cpu MHz"); !mhz.empty())
    machine["cpu_mhz"] = number_from(mhz.data(), mhz.data() + mhz.size());
  machine["instruction_set"] = here.instruction_set;
  machine["threads"] = here.threads;
  machine["os"] = here.os;
  machine["gpus"] = json::array();
  for (const cuda_device_info& d : cuda_devices())
    machine["gpus"].push_back(
        {{"device", "cuda:" + std::to_string(d.index)},
         {"name", d.name},
         {"clock_mhz", d.clock_mhz},
         {"compute_capability", std::to_string(d.major) + "." + std::to_string(d.minor)},
         {"multiprocessors", d.multiprocessors},
         {"memory_bytes", d.memory_bytes},
         {"driver", version_text(d.driver)},
         {"runtime", version_text(d.runtime)}});
  return {{"format", "warpband bench 1"},
          {"version", version()},
          {"commit", commit()},
          {"date", date},
          {"machine", machine},
          {"repetitions", options.repetitions},
          {"min_time_seconds", options.min_time},
          {"least_spread", least_spread},
          {"spread_margin", spread_margin}};
}

/// To six digits: no figure is known better.
double tidy(double x) {
  char text[40];
  return number_from(text, std::to_chars(text, text + sizeof text, x, std::chars_format::scientific, 5).ptr);
}

json to_json(const measurement& m, const ceilings& c) {
  const definition& d = m.what();
  json b{{"name", d.name}, {"op", d.op}, {"figure", name_of(d.measured)}, {"axes", json::object()}};
  for (const axis& a : d.axes)
    if (a.number)
      b["axes"][a.name] = std::stoi(a.value);
    else
      b["axes"][a.name] = a.value;
  b["device"] = d.device;
  b["description"] = m.description();
  if (!m.error().empty() || m.seconds().empty()) {
    b["error"] = m.error();
    return b;
  }
  const spread s = spread_of(m.seconds());
  b["items"] = m.items();
  b["repetitions"] = m.seconds().size();
  b["seconds"] = {{"median", tidy(s.median)},
                  {"low", tidy(s.low)},
                  {"high", tidy(s.high)},
                  {"interquartile_range", tidy(s.interquartile_range)}};
  b["seconds"]["samples"] = json::array();
  for (const double x : m.seconds()) b["seconds"]["samples"].push_back(tidy(x));
  if (!m.p99().empty()) b["seconds"]["p99"] = tidy(quantile(m.p99(), 0.5));
  b["items_per_second"] = tidy(m.items() / s.median);
  if (m.bits() > 0) b["mbps"] = tidy(m.bits() / s.median * 1e-6);
  if (const auto& e = m.energy()) {
    b["energy"] = {{"seconds", tidy(e->seconds)},
                   {"calls", e->calls},
                   {"joules", tidy(e->joules)},
                   {"watts", tidy(e->joules / e->seconds)},
                   {"idle_watts", tidy(e->idle_watts)}};
    b["energy"]["nanojoules_per_item"] = tidy(e->of_call() / m.items() * 1e9);
    if (m.bits() > 0) b["energy"]["nanojoules_per_bit"] = tidy(e->of_call() / m.bits() * 1e9);
  }
  double flops = 0, bytes = 0;
  for (const auto& k : m.asked().kernels) {
    flops += k.flops;
    bytes += k.bytes;
  }
  b["kernels"] = m.asked().kernels.size();
  b["flops"] = flops;
  b["bytes"] = bytes;
  const bool copies = d.measured == figure::host_fed || d.measured == figure::sync;
  if (copies) {
    b["bytes_in"] = m.asked().in;
    b["bytes_out"] = m.asked().out;
  }
  // Copies bound only what counts them: the others have their data in place.
  cost asked = m.asked();
  if (!copies) asked.in = asked.out = 0;
  const bound limit = bound_of(asked, c, d.measured != figure::sync);
  if (limit.seconds > 0) {
    b["bound_seconds"] = tidy(limit.seconds);
    b["bound_by"] = limit.by;
    b["percent_of_bound"] = tidy(100 * limit.seconds / s.median);
  }
  return b;
}

json to_json(const ceilings& c) {
  json out{{"fp32", c.best_fp32()}, {"fp32_by_mix", json::object()}};
  for (std::size_t i = 0; i < c.fp32.size(); i++) out["fp32_by_mix"][fp32_mix_names[i]] = c.fp32[i];
  out["memory"] = json::array();
  for (const auto& m : c.memory)
    out["memory"].push_back({{"footprint_bytes", m.footprint}, {"copy", m.copy}, {"read", m.read}});
  if (c.both > 0) {
    out["host_to_device"] = c.host_to_device;
    out["device_to_host"] = c.device_to_host;
    out["both_ways"] = c.both;
  }
  out["launch_seconds"] = c.launch_seconds;
  out["round_trip_seconds"] = c.round_trip_seconds;
  if (c.clock_mhz > 0) out["clock_mhz"] = c.clock_mhz;
  return out;
}

}  // namespace

report make_report(const run_options& options, executor_pool& pool,
                   const std::vector<measurement>& benchmarks, const ceilings_by_device& limits,
                   const energy_by_device& energy, double waited_percent) {
  json record = describe(options, pool);
  record["waited_percent"] = tidy(waited_percent);
  record["ceilings"] = json::object();
  for (const auto& [device, c] : limits) record["ceilings"][device] = to_json(c);
  for (const auto& [device, idle] : energy)
    record["energy"][device] = {{"source", idle.source}, {"idle_watts", tidy(idle.idle_watts)}};
  record["benchmarks"] = json::array();
  report r;
  for (const measurement& m : benchmarks) {
    record["benchmarks"].push_back(to_json(m, limits.at(m.what().device)));
    r.failed += record["benchmarks"].back().contains("error");
  }
  r.json = wb::json_lines(record);
  r.table = benchmarks.empty() ? ceilings_table(record) : benchmarks_table(record);
  return r;
}

report make_report(const run_options& options, executor_pool& pool, const definition& workload,
                   const endurance& seen) {
  json record = describe(options, pool);
  for (const char* key : {"repetitions", "min_time_seconds", "least_spread", "spread_margin"})
    record.erase(key);
  record["format"] = "warpband endurance 1";
  record["name"] = workload.name;
  record["description"] = pool.get(workload.device).description();
  record["seconds"] = tidy(seen.seconds);
  record["calls"] = seen.calls;
  record["items"] = tidy(seen.items * static_cast<double>(seen.calls));
  std::vector<double> rates;
  for (const auto& s : seen.samples) rates.push_back(s.calls_per_second);
  const double unit = seen.bits > 0 ? seen.bits * 1e-6 : seen.items;
  const auto rate = [&](double calls) { return tidy(calls * unit); };
  record["unit"] = seen.bits > 0 ? "Mb/s" : "items/s";
  record["mean"] = rate(static_cast<double>(seen.calls) / seen.seconds);
  record["lowest"] = rate(quantile(rates, 0));
  record["median"] = rate(quantile(rates, 0.5));
  record["highest"] = rate(quantile(rates, 1));
  // The first tenth is left out: caches and pools fill up.
  const std::size_t warm = seen.samples.size() / 10;
  for (const auto& [key, member] : {std::pair{"host_memory_bytes", &endurance::sample::host_bytes},
                                    std::pair{"device_memory_bytes", &endurance::sample::device_bytes}}) {
    std::vector<double> bytes;
    for (std::size_t i = warm; i < seen.samples.size(); i++) bytes.push_back(seen.samples[i].*member);
    record[key] = {{"first", bytes.front()}, {"last", bytes.back()}, {"most", quantile(bytes, 1)}};
  }
  record["compared_bytes"] = seen.compared_bytes;
  record["samples"] = seen.samples.size();
  record["different_results"] = seen.different;
  report r;
  r.failed = seen.different;
  r.json = wb::json_lines(record);
  r.table = endurance_table(record);
  return r;
}

}  // namespace wb::bench
