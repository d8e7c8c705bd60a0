#include <fmt/format.h>

#include <algorithm>
#include <bench/record.hpp>
#include <nlohmann/json.hpp>

namespace wb::bench {
namespace {

using json = nlohmann::ordered_json;

std::string device_title(const json& record, const std::string& device) {
  const json& m = record["machine"];
  for (const json& gpu : m["gpus"])
    if (gpu["device"] == device) return device + " (" + gpu["name"].get<std::string>() + ")";
  const int threads = m["threads"].get<int>();
  return fmt::format("{} ({}, {}, {} thread{})", device, m["cpu"].get<std::string>(),
                     m["instruction_set"].get<std::string>(), threads, threads == 1 ? "" : "s");
}

}  // namespace

std::string ceilings_table(const json& record) {
  std::string out;
  const auto line = [&](const std::string& name, const std::string& value) {
    out += fmt::format("  {:<44} {}\n", name, value);
  };
  const auto bytes = [](double n) {
    return n < 1024 * 1024 ? fmt::format("{:.4g} KiB", n / 1024) : fmt::format("{:.4g} MiB", n / 1024 / 1024);
  };
  for (const auto& [device, c] : record["ceilings"].items()) {
    out += device_title(record, device) + "\n";
    line("fp32, best mix", fmt::format("{:.4g} G operations/s", c["fp32"].get<double>() * 1e-9));
    for (const auto& [mix, rate] : c["fp32_by_mix"].items())
      line("     " + mix, fmt::format("{:.4g}", rate.get<double>() * 1e-9));
    for (const json& m : c["memory"])
      line("memory, copy | read, " + bytes(m["footprint_bytes"].get<double>()),
           fmt::format("{:.4g} | {:.4g} GB/s", m["copy"].get<double>() * 1e-9,
                       m["read"].get<double>() * 1e-9));
    if (c.contains("both_ways")) {
      line("host to device", fmt::format("{:.4g} GB/s", c["host_to_device"].get<double>() * 1e-9));
      line("device to host", fmt::format("{:.4g} GB/s", c["device_to_host"].get<double>() * 1e-9));
      line("both at once, sum", fmt::format("{:.4g} GB/s", c["both_ways"].get<double>() * 1e-9));
    }
    line("smallest call, queued", fmt::format("{:.4g} us", c["launch_seconds"].get<double>() * 1e6));
    line("smallest call, and its wait",
         fmt::format("{:.4g} us", c["round_trip_seconds"].get<double>() * 1e6));
    if (c.contains("clock_mhz"))
      line("multiprocessor clock at fp32 work", fmt::format("{:.0f} MHz", c["clock_mhz"].get<double>()));
    out += "\n";
  }
  return out;
}

std::string budget_table(const json& record) {
  struct carrier {
    const char* name;
    double uses_per_second;
  };
  constexpr carrier carriers[] = {{"LTE 5 MHz", 300 * 14e3},
                                  {"LTE 10 MHz", 600 * 14e3},
                                  {"LTE 15 MHz", 900 * 14e3},
                                  {"LTE 20 MHz", 1200 * 14e3},
                                  {"NR 100 MHz", 3276 * 28e3}};
  struct row {
    std::string device, name;
    double in_place = 0, fed = 0;
  };
  std::vector<row> rows;
  for (const json& b : record["benchmarks"]) {
    if (b["op"] != "detect" || b.contains("error")) continue;
    const std::string measured = b["figure"];
    const json& axes = b["axes"];
    if (measured == "sync" || measured == "small" || axes.contains("layout")) continue;
    std::string name = fmt::format("{} {} {}-QAM", axes["antennas"].get<std::string>(),
                                   axes["detector"].get<std::string>(), axes["qam"].get<int>());
    for (const char* more : {"ways", "survivors"})
      if (axes.contains(more)) name += fmt::format(" {}={}", more, axes[more].get<int>());
    const std::string device = b["device"];
    auto match = std::find_if(rows.begin(), rows.end(),
                              [&](const row& r) { return r.device == device && r.name == name; });
    if (match == rows.end()) match = rows.insert(match, {device, name});
    double& rate = measured == "host_fed" ? match->fed : match->in_place;
    rate = std::max(rate, b["items_per_second"].get<double>());
  }
  const auto text = [&](double rate) -> std::string {
    if (rate <= 0) return "-";
    const carrier* widest = carriers;
    for (const carrier& c : carriers)
      if (rate >= c.uses_per_second) widest = &c;
    const double times = rate / widest->uses_per_second;
    return fmt::format(fmt::runtime(times < 10 ? "{:>9.4g}  {} x {:.2g}" : "{:>9.4g}  {} x {:.0f}"),
                       rate * 1e-6, widest->name, times);
  };
  std::string out, device;
  for (const row& r : rows) {
    if (r.device != device) {
      device = r.device;
      out += fmt::format("\nreal-time budget, {}: 10^6 uses a second, and the carrier that asks for that\n",
                         device_title(record, device));
      out += fmt::format("{:<32} {:<32} {}\n", "detector", "data in place", "fed from the host");
    }
    out += fmt::format("{:<32} {:<32} {}\n", r.name, text(r.in_place), text(r.fed));
  }
  return out;
}

namespace {

std::string short_name(const json& b) {
  std::string name = b["op"].get<std::string>();
  for (const auto& [axis, value] : b["axes"].items())
    name += "/" + axis + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  return name;
}

/// Empty where no energy was counted.
std::string energy_table(const json& record) {
  if (!record.contains("energy")) return {};
  std::string out;
  for (const auto& [device, idle] : record["energy"].items()) {
    const double watts = idle["idle_watts"].get<double>();
    out += fmt::format("\nenergy, {}: {} counts; the {:.4g} W of an idle device are subtracted\n",
                       device_title(record, device), idle["source"].get<std::string>(), watts);
    out += fmt::format("{:>10} {:>12} {:>14} {:>9}  {}\n", "nJ a bit", "nJ an item", "watts in all",
                       "seconds", "benchmark");
    for (const json& b : record["benchmarks"]) {
      if (b["device"] != device || !b.contains("energy")) continue;
      const json& e = b["energy"];
      const auto number = [&](const char* key) {
        return e.contains(key) ? fmt::format("{:.4g}", e[key].get<double>()) : std::string("-");
      };
      out += fmt::format("{:>10} {:>12} {:>14} {:>9}  {}\n", number("nanojoules_per_bit"),
                         number("nanojoules_per_item"), number("watts"), number("seconds"),
                         short_name(b) + "/figure=" + b["figure"].get<std::string>());
    }
  }
  return out;
}

}  // namespace

std::string benchmarks_table(const json& record) {
  std::string out;
  std::size_t width = 9;
  for (const json& b : record["benchmarks"]) width = std::max(width, short_name(b).size());
  std::vector<std::string> devices;
  for (const json& b : record["benchmarks"])
    if (const auto d = b["device"].get<std::string>();
        std::find(devices.begin(), devices.end(), d) == devices.end())
      devices.push_back(d);
  for (const std::string& device : devices)
    for (const char* measured : {"kernel", "resident", "host_fed", "sync", "small"}) {
      bool first = true;
      const bool small = std::string(measured) == "small";
      for (const json& b : record["benchmarks"]) {
        if (b["device"] != device || b["figure"] != measured) continue;
        if (first) {
          out += fmt::format("{}{}, {}\n", out.empty() ? "" : "\n", measured, device_title(record, device));
          out += fmt::format("{:<{}} {:>11} {:>16} {:>10} {:>7}  {}\n", "benchmark", width, "us a call",
                             small ? "us, 99 %" : "spread", "Mb/s", "% bound", "bound by");
          first = false;
        }
        if (b.contains("error")) {
          out += fmt::format("{:<{}} failed: {}\n", short_name(b), width, b["error"].get<std::string>());
          continue;
        }
        const json& s = b["seconds"];
        const double median = s["median"].get<double>();
        const auto percent = [&](const char* end) { return 100 * (s[end].get<double>() / median - 1); };
        const auto number = [&](const char* key, const char* form) {
          return b.contains(key) ? fmt::format(fmt::runtime(form), b[key].get<double>()) : std::string("-");
        };
        out += fmt::format("{:<{}} {:>11.5g} {:>16} {:>10} {:>7}  {}\n", short_name(b), width, median * 1e6,
                           small ? fmt::format("{:.5g}", s["p99"].get<double>() * 1e6)
                                 : fmt::format("{:+.1f} .. {:+.1f}%", percent("low"), percent("high")),
                           number("mbps", "{:.4g}"), number("percent_of_bound", "{:.3g}"),
                           b.value("bound_by", "-"));
      }
    }
  out += energy_table(record);
  out += budget_table(record);
  if (const double waited = record["waited_percent"].get<double>(); waited > much_waiting)
    out += fmt::format("\nwarning: other programs kept this one waiting for {:.0f} % of the time\n", waited);
  return out;
}

std::string endurance_table(const json& record) {
  const auto number = [&](const char* key) { return record[key].get<double>(); };
  std::string out =
      record["name"].get<std::string>() + "\n" + record["description"].get<std::string>() + "\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    out += fmt::format("  {:<28} {}\n", name, value);
  };
  line("time", fmt::format("{:.1f} s, {} calls, {:.4g} items", number("seconds"), record["calls"].get<long>(),
                           number("items")));
  line("rate, " + record["unit"].get<std::string>(),
       fmt::format("mean {:.5g}; of {} samples: lowest {:.5g}, median {:.5g}, highest {:.5g}", number("mean"),
                   record["samples"].get<long>(), number("lowest"), number("median"), number("highest")));
  for (const auto& [key, text] : {std::pair{"host_memory_bytes", "memory of the process, MiB"},
                                  std::pair{"device_memory_bytes", "memory of the device, MiB"}}) {
    const json& m = record[key];
    if (m["most"].get<double>() > 0)
      line(text,
           fmt::format("{:.1f} at first, {:.1f} at last, {:.1f} at most", m["first"].get<double>() / 1048576,
                       m["last"].get<double>() / 1048576, m["most"].get<double>() / 1048576));
  }
  const auto different = record["different_results"].get<std::size_t>();
  line("results", record["compared_bytes"].get<std::size_t>() == 0
                      ? std::string("not on the host: not compared")
                  : different == 0 ? std::string("the same at every sample")
                                   : fmt::format("different at {} samples", different));
  return out;
}

}  // namespace wb::bench
