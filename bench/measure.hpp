#pragma once
// Measures one benchmark, a repetition at a time.
#include <bench/bench.hpp>
#include <bench/ceilings.hpp>
#include <bench/pool.hpp>
#include <optional>
#include <string>
#include <vector>
#include <warpband/exec/energy.hpp>

namespace wb::bench {

/// What a run of many calls took, with what the device takes with nothing to do.
struct energy_use {
  double seconds = 0, joules = 0, idle_watts = 0;
  long calls = 0;
  /// Joules of a call beyond those of an idle device.
  double of_call() const { return (joules - idle_watts * seconds) / static_cast<double>(calls); }
};

class measurement {
 public:
  /// Calls of host_fed that are under way at once: in, at work, out.
  static constexpr std::size_t slots = 3;
  measurement(const definition& d, executor_pool& pool) : definition_(&d), pool_(&pool) {}
  /// Prepares the call and times it for about this long. An error ends the benchmark.
  void repeat(double min_seconds);

  /// Repeats the call for this long and counts the energy. An error ends the benchmark.
  void count_energy(energy_counter& counter, double seconds, double idle_watts);

  const definition& what() const noexcept { return *definition_; }
  const std::string& error() const noexcept { return error_; }
  /// Seconds of a call, one for each repetition; `small`: the median call of a repetition, and the slowest
  /// but 1 % of its calls.
  const std::vector<double>& seconds() const noexcept { return seconds_; }
  const std::vector<double>& p99() const noexcept { return p99_; }
  const cost& asked() const noexcept { return cost_; }
  const std::optional<energy_use>& energy() const noexcept { return energy_; }
  double items() const noexcept { return items_; }
  double bits() const noexcept { return bits_; }
  /// What it ran on: "avx512, 2 threads", "NVIDIA H100 80GB HBM3".
  std::string description() const { return pool_->get(definition_->device).description(); }

 private:
  void learn_cost(executor& exec);
  template <class F>
  void guarded(F&& f);
  template <class Seconds>
  double timed(double min_seconds, Seconds&& seconds_of);
  double timed_pieces(job& call, double min_seconds);
  void repeat_small(executor& exec, job& call, double min_seconds);

  const definition* definition_;
  executor_pool* pool_;
  std::string error_;
  std::vector<double> seconds_, p99_;
  cost cost_;
  std::optional<energy_use> energy_;
  double items_ = 0, bits_ = 0;
  long calls_ = 0;  // of a repetition or piece; 0: not known yet
};

}  // namespace wb::bench
