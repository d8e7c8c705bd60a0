#include <fmt/format.h>

#include <algorithm>
#include <bench/compare.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>
#include <warpband/core/error.hpp>

namespace wb::bench {
namespace {

using json = nlohmann::ordered_json;

/// How far the spread reaches from the median, in per cent of it.
double reach(const json& seconds) {
  const double median = seconds["median"].get<double>();
  return 100 * std::max(seconds["high"].get<double>() - median, median - seconds["low"].get<double>()) /
         median;
}

void compare_ceilings(const json& before, const json& after, json& out) {
  for (const auto& [device, old_ones] : before.items()) {
    if (!after.contains(device)) continue;
    const json& new_ones = after[device];
    const auto note = [&](const std::string& name, double a, double b) {
      if (a > 0 && b > 0)
        out.push_back({{"device", device}, {"ceiling", name}, {"change_percent", 100 * (b / a - 1)}});
    };
    const auto rate = [](const json& c, const char* key) { return c.value(key, 0.0); };
    note("fp32", rate(old_ones, "fp32"), rate(new_ones, "fp32"));
    const json &m = old_ones["memory"], &n = new_ones["memory"];
    if (!m.empty() && !n.empty())
      note("memory", m.back()["copy"].get<double>(), n.back()["copy"].get<double>());
    for (const char* key : {"host_to_device", "device_to_host", "both_ways"})
      note(key, rate(old_ones, key), rate(new_ones, key));
  }
}

json read_record(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw file_error(path, "cannot read");
  std::stringstream text;
  text << file.rdbuf();
  json record = json::parse(text.str(), nullptr, false);
  const char* none = "is no record of warpband bench";
  if (!record.is_object() || record.value("format", json()) != "warpband bench 1")
    throw file_error(path, none);
  try {  // what compare() looks at
    for (const char* key : {"machine", "ceilings", "benchmarks", "commit", "date", "version"})
      (void)record.at(key);
    for (const char* key : {"cpu", "instruction_set", "threads", "os", "gpus"})
      (void)record["machine"].at(key);
    for (const json& b : record["benchmarks"]) {
      (void)b.at("name").get<std::string>();
      if (!b.contains("error"))
        for (const char* key : {"median", "low", "high"})
          if (!(b.at("seconds").at(key).get<double>() > 0)) throw file_error(path, none);
    }
  } catch (const json::exception&) {
    throw file_error(path, none);
  }
  return record;
}

json compare_records(const json& before, const json& after) {
  const auto head = [](const json& r) -> json {
    return {{"version", r["version"]}, {"commit", r["commit"]}, {"date", r["date"]}};
  };
  json out{{"format", "warpband bench comparison 1"},
           {"old", head(before)},
           {"new", head(after)},
           {"warnings", json::array()},
           {"ceilings", json::array()},
           {"benchmarks", json::array()},
           {"only_old", json::array()},
           {"only_new", json::array()}};
  const auto warn = [&](const std::string& text) { out["warnings"].push_back(text); };
  for (const char* key : {"cpu", "instruction_set", "threads", "os", "gpus"})
    if (const json &a = before["machine"][key], &b = after["machine"][key]; a != b)
      warn(fmt::format("the machines differ in {}: {} and {}", key, a.dump(), b.dump()));
  if (before["version"] != after["version"])
    warn(fmt::format("the builds differ in version: {} and {}", before["version"].dump(),
                     after["version"].dump()));
  for (const char* which : {"old", "new"})
    if (out[which]["commit"].get<std::string>().ends_with("-modified"))
      warn(std::string("the ") + which + " record is of a tree with changes that no commit names");
  for (const auto& [which, r] : {std::pair("old", &before), std::pair("new", &after)})
    if (const double waited = r->value("waited_percent", 0.0); waited > 5)
      warn(fmt::format("other programs kept the {} run waiting for {:.0f} % of its time", which, waited));
  compare_ceilings(before["ceilings"], after["ceilings"], out["ceilings"]);
  for (const json& c : out["ceilings"])
    if (const double change = c["change_percent"].get<double>(); std::abs(change) > 5)
      warn(fmt::format("the ceiling {} of {} moved by {:+.1f} %: the machine itself changed",
                       c["ceiling"].get<std::string>(), c["device"].get<std::string>(), change));

  std::map<std::string, const json*> found;
  for (const json& b : after["benchmarks"]) found[b["name"].get<std::string>()] = &b;
  for (const json& a : before["benchmarks"]) {
    const auto name = a["name"].get<std::string>();
    const auto i = found.find(name);
    if (i == found.end()) {
      out["only_old"].push_back(name);
      continue;
    }
    const json& b = *i->second;
    found.erase(i);
    json line{{"name", name}};
    if (a.contains("error") || b.contains("error")) {
      line["verdict"] = "failed";
    } else {
      const double was = a["seconds"]["median"].get<double>(), is = b["seconds"]["median"].get<double>();
      const double change = 100 * (is / was - 1), noise = reach(a["seconds"]) + reach(b["seconds"]);
      line["old_seconds"] = was;
      line["new_seconds"] = is;
      line["change_percent"] = change;
      line["noise_percent"] = noise;
      line["verdict"] = change > noise ? "slower" : change < -noise ? "faster" : "within noise";
    }
    out["benchmarks"].push_back(std::move(line));
  }
  for (const json& b : after["benchmarks"])
    if (found.contains(b["name"].get<std::string>())) out["only_new"].push_back(b["name"]);
  return out;
}

std::string comparison_table(const json& c) {
  const auto from = [](const json& r) {
    return fmt::format("commit {}, {}", r["commit"].get<std::string>(), r["date"].get<std::string>());
  };
  std::string out = fmt::format("old: {}\nnew: {}\n", from(c["old"]), from(c["new"]));
  for (const json& w : c["warnings"]) out += "warning: " + w.get<std::string>() + "\n";
  std::size_t width = 9;
  for (const json& b : c["benchmarks"])
    width = std::max(width, b["name"].get_ref<const std::string&>().size());
  std::map<std::string, int> count;
  if (!c["benchmarks"].empty())
    out += fmt::format("\n{:<{}} {:>11} {:>11} {:>8} {:>8}  {}\n", "benchmark", width, "old us", "new us",
                       "time", "noise", "verdict");
  for (const json& b : c["benchmarks"]) {
    const auto verdict = b["verdict"].get<std::string>();
    count[verdict]++;
    if (b.contains("old_seconds"))
      out +=
          fmt::format("{:<{}} {:>11.5g} {:>11.5g} {:>+7.1f}% {:>7.1f}%  {}\n", b["name"].get<std::string>(),
                      width, b["old_seconds"].get<double>() * 1e6, b["new_seconds"].get<double>() * 1e6,
                      b["change_percent"].get<double>(), b["noise_percent"].get<double>(), verdict);
    else
      out += fmt::format("{:<{}} {}\n", b["name"].get<std::string>(), width, verdict);
  }
  for (const char* which : {"old", "new"})
    for (const json& name : c[std::string("only_") + which])
      out += fmt::format("{:<{}} only in the {} record\n", name.get<std::string>(), width, which);
  out += fmt::format("\n{} slower, {} faster, {} within noise\n", count["slower"], count["faster"],
                     count["within noise"]);
  return out;
}

}  // namespace

comparison compare(const std::string& before, const std::string& after) {
  const json c = compare_records(read_record(before), read_record(after));
  comparison out{c.dump(1, ' ', false, json::error_handler_t::replace) + "\n", comparison_table(c), false};
  for (const json& b : c["benchmarks"])
    out.worse = out.worse || b["verdict"] == "slower" || b["verdict"] == "failed";
  return out;
}

}  // namespace wb::bench
