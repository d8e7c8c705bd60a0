#include <algorithm>
#include <bench/ceilings.hpp>
#include <bench/measure.hpp>
#include <bench/record.hpp>
#include <bench/run.hpp>
#include <bench/statistics.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <regex>
#include <thread>
#include <warpband/exec/cuda.hpp>

namespace wb::bench {
namespace {

std::vector<std::string> devices_of(const run_options& options) {
  if (!options.devices.empty()) return options.devices;
  std::vector<std::string> devices{"cpu"};
  if (!cuda_devices().empty()) devices.push_back("cuda:0");
  return devices;
}

std::vector<definition> selected(const run_options& options) {
  std::regex filter;
  try {
    filter = std::regex(options.filter);
  } catch (const std::regex_error&) {
    throw argument_error("FILTER", "\"" + options.filter + "\"", "a regular expression");
  }
  std::vector<definition> definitions = define_all(devices_of(options), threads_of(options));
  std::erase_if(definitions, [&](const definition& d) { return !std::regex_search(d.name, filter); });
  return definitions;
}

error no_match(const run_options& options) {
  return error("no benchmark matches \"" + options.filter + "\": warpband bench --list shows all");
}

/// Seconds that all threads of this process were ready to run and did not, because others ran; 0 where the
/// system does not tell.
double seconds_waited() {
  double total = 0;
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::ifstream file(task.path() / "schedstat");
    double ran = 0, waited = 0;
    if (file >> ran >> waited) total += waited * 1e-9;
  }
  return total;
}

/// After work the clocks of a device stay high for a while.
constexpr double settling_seconds = 5;

using counters_by_device = std::map<std::string, std::unique_ptr<energy_counter>>;

counters_by_device open_counters(executor_pool& pool, const std::vector<measurement>& measurements) {
  counters_by_device counters;
  for (const measurement& m : measurements)
    if (auto& counter = counters[m.what().device]; !counter)
      counter = open_energy_counter(pool.get(m.what().device));
  return counters;
}

/// Each device with nothing to do, then each benchmark, for so long.
energy_by_device count_energy(const counters_by_device& counters, const run_options& options,
                              std::vector<measurement>& measurements) {
  energy_by_device idle;
  if (counters.empty()) return idle;
  const auto look = [&](const std::string& name, std::size_t done) {
    const double left = options.energy * static_cast<double>(measurements.size() - done);
    if (options.watch && !options.watch({name, done, measurements.size(), left}))
      throw error("interrupted: nothing was written");
  };
  for (const auto& [device, counter] : counters) {
    look("idle " + device, 0);
    std::this_thread::sleep_for(std::chrono::duration<double>(settling_seconds));
    const double start = now(), before = counter->joules();
    std::this_thread::sleep_for(std::chrono::duration<double>(options.energy));
    idle[device] = {counter->source(), (counter->joules() - before) / (now() - start)};
  }
  for (std::size_t i = 0; i < measurements.size(); i++) {
    measurement& m = measurements[i];
    look(m.what().name, i);
    const std::string& device = m.what().device;
    m.count_energy(*counters.at(device), options.energy, idle.at(device).idle_watts);
  }
  return idle;
}

}  // namespace

int threads_of(const run_options& options) {
  return options.threads > 0 ? options.threads
                             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

definition the_only(const run_options& options) {
  const std::vector<definition> wanted = selected(options);
  if (wanted.empty()) throw no_match(options);
  if (wanted.size() > 1)
    throw error(std::to_string(wanted.size()) + " benchmarks match \"" + options.filter +
                "\": --duration takes one; warpband bench --list shows them");
  return wanted.front();
}

bool is_filter(const std::string& text) {
  try {
    (void)std::regex(text);
    return true;
  } catch (const std::regex_error&) {
    return false;
  }
}

std::vector<std::string> list(const run_options& options) {
  std::vector<std::string> names;
  for (const definition& d : selected(options)) names.push_back(d.name);
  return names;
}

report run(const run_options& options) {
  const std::vector<definition> wanted = selected(options);
  if (wanted.empty()) throw no_match(options);
  executor_pool pool(threads_of(options));
  std::vector<measurement> measurements;
  for (const definition& d : wanted) measurements.emplace_back(d, pool);
  const counters_by_device counters =
      options.energy > 0 ? open_counters(pool, measurements) : counters_by_device{};
  std::map<std::string, ceilings> limits;
  for (const definition& d : wanted)
    if (!limits.contains(d.device)) limits.emplace(d.device, measure_ceilings(pool, d.device));

  std::mt19937 order(1);
  std::vector<std::size_t> indices(measurements.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  const double start = now(), waited = seconds_waited();
  const std::size_t total = measurements.size() * static_cast<std::size_t>(options.repetitions);
  std::size_t done = 0;
  for (int round = 0; round < options.repetitions; round++) {
    std::shuffle(indices.begin(), indices.end(), order);
    for (const std::size_t i : indices) {
      measurements[i].repeat(options.min_time);
      done++;
      const double left = (now() - start) / static_cast<double>(done) * static_cast<double>(total - done);
      if (options.watch && !options.watch({measurements[i].what().name, done, total, left}))
        throw error("interrupted: nothing was written");
    }
  }
  const double waited_percent = 100 * (seconds_waited() - waited) / (now() - start) / threads_of(options);
  for (auto& [device, c] : limits) c.keep_best(measure_ceilings(pool, device));
  const energy_by_device energy = count_energy(counters, options, measurements);
  return make_report(options, pool, measurements, limits, energy, waited_percent);
}

void call_only(const run_options& options, int calls) {
  const std::vector<definition> wanted = selected(options);
  if (wanted.empty()) throw no_match(options);
  executor_pool pool(threads_of(options));
  for (const definition& d : wanted) {
    executor& e = pool.get(d.device);
    job call = d.make(e, d.measured);
    for (int i = 0; i < calls; i++) call();
    e.sync();
  }
}

report run_ceilings(const run_options& options) {
  executor_pool pool(threads_of(options));
  std::map<std::string, ceilings> limits;
  for (const std::string& device : devices_of(options)) {
    limits.emplace(device, measure_ceilings(pool, device));
    limits.at(device).keep_best(measure_ceilings(pool, device));
  }
  return make_report(options, pool, {}, limits, {}, 0);
}

}  // namespace wb::bench
