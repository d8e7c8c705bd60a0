#include <warpband/stream/batching.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <deque>
#include <random>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/core/half.hpp>
#include <warpband/stream/pipeline.hpp>

namespace wb {
namespace {

void check_list(const char* argument, const std::vector<int>& list) {
  const auto text = [&] {
    std::string words;
    for (const int n : list) words += (words.empty() ? "" : ", ") + std::to_string(n);
    return "[" + words + "]";
  };
  const bool in_range = std::all_of(list.begin(), list.end(), [](int n) { return n >= 1 && n <= 64; });
  const bool rises = std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) == list.end();
  if (list.empty() || !in_range || !rises)
    throw argument_error(argument, text(), "one or more rising numbers from 1 to 64");
}

/// Unit normals in complex arrays, and a noise variance of 0.1.
std::vector<std::byte> samples_of(const frame_port& port, std::size_t items, std::mt19937_64& random) {
  std::vector<std::byte> bytes(port.bytes_of(items));
  const std::size_t count = port.rows_of(items) * port.elements;
  std::normal_distribution<float> normal(0, std::sqrt(0.5f));
  std::vector<std::complex<float>> values;
  switch (port.type) {
    case element_type::complex64:
    case element_type::complex32:
      for (std::size_t i = 0; i < count; i++) values.emplace_back(normal(random), normal(random));
      if (port.type == element_type::complex64)
        std::memcpy(bytes.data(), values.data(), bytes.size());
      else
        to_half(values.data(), reinterpret_cast<half_complex*>(bytes.data()), count);
      break;
    case element_type::float32:
      std::fill_n(reinterpret_cast<float*>(bytes.data()), count, 0.1f);
      break;
    case element_type::uint8:
    case element_type::int8:
    case element_type::int32:
      break;  // zeros
  }
  return bytes;
}

}  // namespace

named_values described(const batching_entry& e) {
  return {{"symbols", std::int64_t{e.symbols}},
          {"streams", std::int64_t{e.streams}},
          {"latency_us", e.rate.latency_us},
          {"frames_per_second", e.rate.frames_per_second},
          {"symbols_per_second", e.symbols_per_second()},
          {"within", e.within}};
}
std::vector<int> symbols_to_try(int limit) {
  check_range("symbols", limit, 1, 64);
  std::vector<int> symbols;
  for (int n = 1; n < limit; n *= 2) symbols.push_back(n);
  symbols.push_back(limit);
  return symbols;
}

std::vector<batching_entry> search_batching(const batching_config& config,
                                            const batching_measurement& measure,
                                            const std::function<bool()>& goes_on) {
  if (!(config.latency_us > 0 && config.latency_us <= 1e9))
    throw argument_error("latency_us", decimal(config.latency_us), "above 0 and at most 1e9");
  check_list("symbols", config.symbols);
  check_list("streams", config.streams);
  std::vector<batching_entry> entries;
  for (const int symbols : config.symbols)
    for (const int streams : config.streams) {
      const bool too_slow = std::any_of(entries.begin(), entries.end(), [&](const batching_entry& e) {
        return !e.within && e.symbols <= symbols && e.streams <= streams;
      });
      if (too_slow) break;
      if (goes_on && !goes_on()) return entries;
      const batching_rate rate = measure(symbols, streams);
      entries.push_back({symbols, streams, rate, rate.latency_us <= config.latency_us});
    }
  return entries;
}

std::optional<std::size_t> best_batching(std::span<const batching_entry> entries) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < entries.size(); i++)
    if (entries[i].within && (!best || entries[i].symbols_per_second() > entries[*best].symbols_per_second()))
      best = i;
  return best;
}

batching_rate measure_batching(const std::shared_ptr<const frame_receiver>& chain, std::size_t items,
                               int streams, const batching_run& run) {
  if (!(run.seconds > 0 && run.seconds <= 60))
    throw argument_error("seconds", decimal(run.seconds), "above 0 and at most 60");
  check_items(*chain, "items", items);
  pipeline_config config;
  config.devices = {run.device};
  config.streams = streams;
  config.threads = run.threads;
  config.most_items = items;
  config.queue = 1;
  config.waiting = run.device == "cpu" ? wait_policy::block : wait_policy::spin;
  frame_pipeline pipeline(chain, std::move(config));

  std::mt19937_64 random(1);
  std::vector<std::vector<std::byte>> arrays;
  for (const frame_port& port : chain->inputs()) arrays.push_back(samples_of(port, items, random));
  std::vector<bool> filled(pipeline.slots());
  std::deque<frame_ticket> under_way;
  const auto send = [&] {
    frame_slot slot = pipeline.acquire(items);
    for (std::size_t i = 0; i < arrays.size() && !filled[slot.index()]; i++)  // they stay there
      std::memcpy(slot.bytes(i), arrays[i].data(), arrays[i].size());
    filled[slot.index()] = true;
    under_way.push_back(pipeline.submit(std::move(slot)));
  };
  const auto wait = [&] {
    const frame_result result = under_way.front().wait();
    if (result.status == frame_status::failed) throw device_error(result.error);
    under_way.pop_front();
  };

  const auto whole = static_cast<std::size_t>(streams);
  for (std::size_t i = 0; i < 4 * whole; i++) {  // slots and tables are in use before the clock starts
    if (under_way.size() == whole) wait();
    send();
  }
  pipeline.reset_times();
  std::size_t frames = 0;
  const auto start = frame_clock::now();
  std::chrono::duration<double> passed{0};
  while (passed.count() < run.seconds || frames < 2 * whole) {
    wait();
    send();
    frames++;
    passed = frame_clock::now() - start;
  }
  const double latency = pipeline.times().latency.percentile_us(99);
  while (!under_way.empty()) wait();
  return {static_cast<double>(frames) / passed.count(), latency};
}

}  // namespace wb
