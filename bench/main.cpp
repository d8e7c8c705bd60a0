// warpband_bench: runs the benchmarks of all rooms (Google Benchmark's options work) and records them.
//
//   warpband_bench --benchmark_filter=demap/ --warpband_json=demap.json
//   warpband_bench --warpband_threads=8 --benchmark_repetitions=11
#include <charconv>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <bench/bench.hpp>
#include <warpband_version.hpp>

namespace wb::bench {
namespace {

int cpu_threads = 1;

struct definition {
  std::string op, device;
  std::vector<axis> axes;
};
/// By name.
std::map<std::string, definition>& definitions() {
  static std::map<std::string, definition> all;
  return all;
}
std::vector<void (*)()>& groups() {
  static std::vector<void (*)()> all;
  return all;
}
/// Opened once and kept: opening a CUDA device takes long.
executor& device_named(const std::string& name) {
  static std::map<std::string, std::unique_ptr<executor>> all;
  auto& e = all[name];
  if (!e) e = open_executor(name, cpu_threads);
  return *e;
}

/// Linear interpolation between the order statistics.
double quantile(std::vector<double> x, double q) {
  std::sort(x.begin(), x.end());
  const double at = q * static_cast<double>(x.size() - 1);
  const auto i = static_cast<std::size_t>(at);
  const double below = x[i], above = x[std::min(i + 1, x.size() - 1)];
  return below + (at - static_cast<double>(i)) * (above - below);
}

/// The repetitions of one benchmark.
struct result {
  std::string name, error;
  std::vector<double> seconds;  // of one call
  double items = 0;
  std::map<std::string, std::vector<double>> rates;

  double median() const { return quantile(seconds, 0.5); }
  double spread() const { return quantile(seconds, 0.75) - quantile(seconds, 0.25); }
};

/// Prints a line per benchmark and keeps what the record needs.
class reporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override {
    std::printf("%-58s %12s %7s %12s %10s %10s %10s\n", "benchmark", "us per call", "spread", "items/s",
                "Mb/s", "GFLOP/s", "GB/s");
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const std::string& name = run.run_name.function_name;
      if (results.empty() || results.back().name != name) {
        print_last();
        results.push_back({name, {}, {}, 0, {}});
      }
      result& r = results.back();
      if (run.error_occurred) {
        r.error = run.error_message;
        continue;
      }
      const double calls = run.counters.at("calls").value * static_cast<double>(run.iterations);
      r.seconds.push_back(run.real_accumulated_time / calls);
      r.items = run.counters.at("items").value;
      for (const auto& [counter, value] : run.counters)
        if (counter != "calls" && counter != "items") r.rates[counter].push_back(value.value);
    }
  }
  void Finalize() override { print_last(); }

  std::vector<result> results;

 private:
  void print_last() const {
    if (results.empty()) return;
    const result& r = results.back();
    if (!r.error.empty() || r.seconds.empty()) {
      std::printf("%-58s failed: %s\n", r.name.c_str(), r.error.c_str());
      return;
    }
    std::printf("%-58s %12.2f %6.1f%%", r.name.c_str(), r.median() * 1e6, 100 * r.spread() / r.median());
    for (const char* counter : {"items/s", "Mb/s", "GFLOP/s", "GB/s"})
      if (const auto found = r.rates.find(counter); found != r.rates.end())
        std::printf(counter[0] == 'i' ? " %12.4g" : " %10.4g", quantile(found->second, 0.5));
      else
        std::printf(counter[0] == 'i' ? " %12s" : " %10s", "-");
    std::printf("\n");
    std::fflush(stdout);
  }
};

/// The first value of a field of /proc/cpuinfo; empty where it has none.
std::string cpuinfo(const std::string& field) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field))
      if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return {};
}

nlohmann::json machine() {
  nlohmann::json m;
  m["cpu"] = cpuinfo("model name");
  m["cores"] = std::thread::hardware_concurrency();
  if (const std::string mhz = cpuinfo("cpu MHz"); !mhz.empty()) m["cpu_mhz"] = std::stod(mhz);
  m["instructions"] = isa_name(available_isas().back());
  m["gpus"] = nlohmann::json::array();
  for (const cuda_device_info& d : cuda_devices())
    m["gpus"].push_back({{"name", d.name},
                         {"clock_mhz", d.clock_mhz},
                         {"compute_capability", std::to_string(d.major) + "." + std::to_string(d.minor)},
                         {"multiprocessors", d.multiprocessors},
                         {"memory_bytes", d.memory_bytes}});
  return m;
}

nlohmann::json record(const std::vector<result>& results) {
  char date[32] = "";
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  nlohmann::json all{{"machine", machine()},
                     {"version", WARPBAND_VERSION},
                     {"commit", WARPBAND_COMMIT},
                     {"date", date},
                     {"benchmarks", nlohmann::json::array()}};
  for (const result& r : results) {
    const definition& d = definitions().at(r.name);
    nlohmann::json b{{"name", r.name}, {"op", d.op}, {"device", d.device}, {"items", r.items}};
    b["description"] = device_named(d.device).description();
    b["axes"] = nlohmann::json::object();
    for (const axis& a : d.axes)
      a.number ? b["axes"][a.name] = std::stoi(a.value) : b["axes"][a.name] = a.value;
    if (!r.error.empty() || r.seconds.empty()) {
      b["error"] = r.error;
    } else {
      b["repetitions"] = r.seconds.size();
      b["seconds"] = {{"median", r.median()}, {"interquartile_range", r.spread()}};
      for (const auto& [counter, values] : r.rates) b["counters"][counter] = quantile(values, 0.5);
    }
    all["benchmarks"].push_back(std::move(b));
  }
  return all;
}

}  // namespace

std::vector<std::string> devices() {
  std::vector<std::string> all{"cpu"};
  if (!cuda_devices().empty()) all.push_back("cuda:0");
  return all;
}

std::size_t batch_for(const std::string& device, std::size_t cpu_items, std::size_t cuda_items) {
  return device.starts_with("cuda") ? cuda_items : cpu_items * static_cast<std::size_t>(cpu_threads);
}

void add(const std::string& op, const std::string& device, std::vector<axis> axes,
         std::function<void(session&)> body) {
  std::string name = op;
  for (const axis& a : axes) name += "/" + a.name + "=" + a.value;
  name += "/device=" + device;
  if (!definitions().emplace(name, definition{op, device, std::move(axes)}).second)
    throw std::logic_error("two benchmarks are called " + name);
  benchmark::RegisterBenchmark(name.c_str(), [device, body = std::move(body)](benchmark::State& state) {
    try {
      session s(state, device_named(device));
      body(s);
    } catch (const std::exception& e) {
      state.SkipWithError(e.what());
    }
  })->UseRealTime();
}

group::group(void (*define)()) { groups().push_back(define); }

}  // namespace wb::bench

int main(int argc, char** argv) {
  using namespace wb::bench;
  std::string json_path;
  // What was asked for, behind defaults of ours: the later of two equal options counts.
  std::vector<std::string> words{argv[0], "--benchmark_repetitions=5", "--benchmark_min_time=0.1"};
  for (int i = 1; i < argc; i++) {
    const std::string_view word = argv[i];
    constexpr std::string_view json = "--warpband_json=", threads = "--warpband_threads=";
    if (word.starts_with(json)) {
      json_path = word.substr(json.size());
    } else if (word.starts_with(threads)) {
      const std::string_view value = word.substr(threads.size());
      const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), cpu_threads);
      if (status != std::errc{} || end != value.data() + value.size() || cpu_threads < 0) {
        std::cerr << word << " is not allowed: expected a number of threads, 0 for all cores\n";
        return 2;
      }
      if (cpu_threads == 0) cpu_threads = static_cast<int>(std::thread::hardware_concurrency());
    } else {
      words.emplace_back(word);
    }
  }
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  std::ofstream file;
  if (!json_path.empty()) {
    file.open(json_path);  // now: an unwritable path must not cost a whole run
    if (!file) {
      std::cerr << json_path << ": cannot be written\n";
      return 1;
    }
  }
  try {
    for (const auto define : groups()) define();
    reporter display;
    if (benchmark::RunSpecifiedBenchmarks(&display) == 0) {
      std::cerr << "no benchmark matches the filter; --benchmark_list_tests shows all\n";
      return 1;
    }
    bool failed = false;
    for (const auto& r : display.results) failed = failed || !r.error.empty();
    if (file.is_open() && !(file << record(display.results).dump(2) << "\n")) {
      std::cerr << json_path << ": cannot be written\n";
      return 1;
    }
    return failed ? 1 : 0;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
