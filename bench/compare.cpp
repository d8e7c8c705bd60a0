#include <fmt/format.h>

#include <algorithm>
#include <bench/compare.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>
#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/core/text_file.hpp>
#include <warpband/io/json_lines.hpp>
#include <warpband/link/json_text.hpp>

namespace wb::bench {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t most_shown = 200;   // of a text of a record
constexpr std::size_t widest_name = 100;  // of the table's column
constexpr const char* machine_keys[] = {"cpu", "instruction_set", "threads", "os", "gpus"};

/// A benchmark of a record. One that failed has no times.
struct figure_times {
  std::string name;
  bool failed = false;
  double median = 0, low = 0, high = 0;
  /// How far the spread reaches from the median, in per cent of it.
  double reach() const { return 100 * std::max(high - median, median - low) / median; }
};

/// What is compared of a record; read_record has checked all of it.
struct record {
  std::string version, commit, date;
  json machine;
  double waited_percent = 0;
  std::map<std::string, std::map<std::string, double>> ceilings;  // by device, then by name
  std::vector<figure_times> benchmarks;
};

/// What a value of a record begins with, as JSON.
std::string begin_of(const json& value) {
  return printable(value.dump(-1, ' ', false, json::error_handler_t::replace), most_shown);
}

/// Takes members out of a file's JSON; what is missing or of another type is a file_error.
class record_reader {
 public:
  explicit record_reader(const std::string& path) : path_(path) {}
  [[noreturn]] void fail(const std::string& reason) const {
    throw file_error(path_, "is not a record of warpband bench: " + reason);
  }
  const json& object(const json& value, const std::string& name) const {
    if (!value.is_object()) fail(name + " is not an object");
    return value;
  }
  const json& member(const json& parent, const std::string& key) const {
    const auto i = parent.find(key);
    if (i == parent.end()) fail("\"" + key + "\" is missing");
    return *i;
  }
  const json& object_at(const json& parent, const std::string& key) const {
    return object(member(parent, key), "\"" + key + "\"");
  }
  const json& array_at(const json& parent, const std::string& key) const {
    const json& value = member(parent, key);
    if (!value.is_array()) fail("\"" + key + "\" is not an array");
    return value;
  }
  std::string text_at(const json& parent, const std::string& key) const {
    const json& value = member(parent, key);
    if (!value.is_string()) fail("\"" + key + "\" is not text");
    return value.get<std::string>();
  }
  double number_at(const json& parent, const std::string& key) const {
    const json& value = member(parent, key);
    if (!value.is_number()) fail("\"" + key + "\" is not a number");
    return value.get<double>();
  }
  double number_or_0(const json& parent, const std::string& key) const {
    return parent.contains(key) ? number_at(parent, key) : 0;
  }

 private:
  std::string path_;
};

record read_record(const std::string& text, const std::string& path) {
  const record_reader in(path);
  const json root = parse_json(text, [&](const std::string& reason) { in.fail(reason); });
  in.object(root, "what it holds");
  if (const std::string format = in.text_at(root, "format"); format != "warpband bench 1")
    in.fail("its \"format\" is " + begin_of(format) + ", not \"warpband bench 1\"");

  record r;
  r.version = in.text_at(root, "version");
  r.commit = in.text_at(root, "commit");
  r.date = in.text_at(root, "date");
  for (const char* key : machine_keys) r.machine[key] = in.member(in.object_at(root, "machine"), key);
  r.waited_percent = in.number_or_0(root, "waited_percent");
  for (const auto& [device, rates] : in.object_at(root, "ceilings").items()) {
    in.object(rates, "the ceilings of " + begin_of(device));
    std::map<std::string, double> found;
    for (const char* key : {"fp32", "host_to_device", "device_to_host", "both_ways"})
      found[key] = in.number_or_0(rates, key);
    if (const json& memory = in.array_at(rates, "memory"); !memory.empty())
      found["memory"] = in.number_at(in.object(memory.back(), "an entry of \"memory\""), "copy");
    r.ceilings.emplace(device, found);
  }
  std::set<std::string> names;
  for (const json& b : in.array_at(root, "benchmarks")) {
    figure_times f;
    f.name = in.text_at(in.object(b, "an entry of \"benchmarks\""), "name");
    if (!names.insert(f.name).second) in.fail("the benchmark " + begin_of(f.name) + " is there twice");
    f.failed = b.contains("error");
    if (!f.failed) {
      const json& seconds = in.object_at(b, "seconds");
      f.median = in.number_at(seconds, "median");
      f.low = in.number_at(seconds, "low");
      f.high = in.number_at(seconds, "high");
      if (!(f.low > 0 && f.low <= f.median && f.median <= f.high))
        in.fail("the \"seconds\" of " + begin_of(f.name) + " are not 0 < low <= median <= high");
    }
    r.benchmarks.push_back(std::move(f));
  }
  return r;
}

json compare_ceilings(const record& before, const record& after) {
  json out = json::array();
  for (const auto& [device, old_ones] : before.ceilings) {
    const auto same = after.ceilings.find(device);
    if (same == after.ceilings.end()) continue;
    for (const char* name : {"fp32", "memory", "host_to_device", "device_to_host", "both_ways"}) {
      const auto a = old_ones.find(name), b = same->second.find(name);
      if (a != old_ones.end() && b != same->second.end() && a->second > 0 && b->second > 0)
        out.push_back(
            {{"device", device}, {"ceiling", name}, {"change_percent", 100 * (b->second / a->second - 1)}});
    }
  }
  return out;
}

json compare_records(const record& before, const record& after) {
  const auto head = [](const record& r) -> json {
    return {{"version", r.version}, {"commit", r.commit}, {"date", r.date}};
  };
  json out{{"format", "warpband bench comparison 1"},
           {"old", head(before)},
           {"new", head(after)},
           {"warnings", json::array()},
           {"ceilings", compare_ceilings(before, after)},
           {"benchmarks", json::array()},
           {"only_old", json::array()},
           {"only_new", json::array()}};
  const auto warn = [&](const std::string& text) { out["warnings"].push_back(text); };
  for (const char* key : machine_keys)
    if (const json &a = before.machine.at(key), &b = after.machine.at(key); a != b)
      warn(fmt::format("the machines differ in {}: {} and {}", key, begin_of(a), begin_of(b)));
  if (before.version != after.version)
    warn(fmt::format("the builds differ in version: {} and {}", begin_of(before.version),
                     begin_of(after.version)));
  for (const auto& [which, r] : {std::pair("old", &before), std::pair("new", &after)})
    if (r->commit.ends_with("-modified"))
      warn(std::string("the ") + which + " record is of a tree with changes that no commit names");
  for (const auto& [which, r] : {std::pair("old", &before), std::pair("new", &after)})
    if (r->waited_percent > 5)
      warn(fmt::format("other programs kept the {} run waiting for {:.0f} % of its time", which,
                       r->waited_percent));
  for (const json& c : out["ceilings"])
    if (const double change = c["change_percent"].get<double>(); std::abs(change) > 5)
      warn(fmt::format("the ceiling {} of {} moved by {:+.1f} %: the machine itself changed",
                       c["ceiling"].get<std::string>(), c["device"].get<std::string>(), change));

  std::map<std::string, int> count;
  std::map<std::string, const figure_times*> found;
  for (const figure_times& b : after.benchmarks) {
    found[b.name] = &b;
    count["failed"] += b.failed;
  }
  for (const figure_times& a : before.benchmarks) {
    const auto i = found.find(a.name);
    if (i == found.end()) {
      out["only_old"].push_back(a.name);
      count["missing"]++;
      continue;
    }
    const figure_times& b = *i->second;
    found.erase(i);
    json line{{"name", a.name}};
    if (b.failed) {
      line["verdict"] = "failed";
    } else if (a.failed) {
      line["verdict"] = "failed before";
    } else {
      const double change = 100 * (b.median / a.median - 1), noise = a.reach() + b.reach();
      line["old_seconds"] = a.median;
      line["new_seconds"] = b.median;
      line["change_percent"] = change;
      line["noise_percent"] = noise;
      const char* verdict = change > noise ? "slower" : change < -noise ? "faster" : "within noise";
      line["verdict"] = verdict;
      count[verdict]++;
    }
    out["benchmarks"].push_back(std::move(line));
  }
  for (const figure_times& b : after.benchmarks)
    if (found.contains(b.name)) out["only_new"].push_back(b.name);
  for (const char* verdict : {"slower", "faster", "within noise", "failed", "missing"})
    out["summary"][verdict] = count[verdict];
  return out;
}

/// A text of a record, in one line.
std::string shown(const json& text) { return printable(text.get_ref<const std::string&>(), most_shown); }

std::string comparison_table(const json& c) {
  const auto from = [](const json& r) {
    return fmt::format("commit {}, {}", shown(r["commit"]), shown(r["date"]));
  };
  std::string out = fmt::format("old: {}\nnew: {}\n", from(c["old"]), from(c["new"]));
  for (const json& w : c["warnings"]) out += "warning: " + shown(w) + "\n";
  std::size_t width = 9;
  for (const json& b : c["benchmarks"])
    width = std::clamp(b["name"].get_ref<const std::string&>().size(), width, widest_name);
  if (!c["benchmarks"].empty())
    out += fmt::format("\n{:<{}} {:>11} {:>11} {:>8} {:>8}  {}\n", "benchmark", width, "old us", "new us",
                       "time", "noise", "verdict");
  for (const json& b : c["benchmarks"]) {
    const auto verdict = b["verdict"].get<std::string>();
    if (b.contains("old_seconds"))
      out += fmt::format("{:<{}} {:>11.5g} {:>11.5g} {:>+7.1f}% {:>7.1f}%  {}\n", shown(b["name"]), width,
                         b["old_seconds"].get<double>() * 1e6, b["new_seconds"].get<double>() * 1e6,
                         b["change_percent"].get<double>(), b["noise_percent"].get<double>(), verdict);
    else
      out += fmt::format("{:<{}} {}\n", shown(b["name"]), width, verdict);
  }
  for (const char* which : {"old", "new"})
    for (const json& name : c[std::string("only_") + which])
      out += fmt::format("{:<{}} only in the {} record\n", shown(name), width, which);
  std::string summary;
  for (const auto& [verdict, count] : c["summary"].items())
    if (const int n = count.get<int>(); n > 0 || (verdict != "failed" && verdict != "missing"))
      summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", n, verdict);
  out += "\n" + summary + "\n";
  return out;
}

}  // namespace

comparison compare(const std::string& before, const std::string& after) {
  const auto content_of = [](const std::string& path) {
    return read_file(path, 256, "not a record of warpband bench");
  };
  return compare({before, content_of(before)}, {after, content_of(after)});
}

comparison compare(const record_text& before, const record_text& after) {
  const json c = compare_records(read_record(before.text, before.path), read_record(after.text, after.path));
  comparison out{wb::json_lines(c), comparison_table(c), false};
  for (const char* verdict : {"slower", "failed", "missing"})
    out.worse = out.worse || c["summary"][verdict].get<int>() > 0;
  return out;
}

}  // namespace wb::bench
