#pragma once
// Runs benchmarks and makes the record of them.
//
// Repetitions are done in rounds: each round runs every benchmark once, in a new random order. If a machine
// grows slower or faster while it runs, or is shared with others, the spread of every figure shows it. The
// benchmark that ran first has no advantage. The set-up of a benchmark is done anew in each round, so that
// where its memory lies is part of the spread too. How long threads stood ready but had to wait for a CPU
// that others used is recorded, `waited_percent`. (Google Benchmark's random interleaving shuffles all
// repetitions at once and repeats set-ups to find its iteration counts; hence a loop of our own.)
#include <bench/bench.hpp>
#include <functional>
#include <string>
#include <vector>

namespace wb::bench {

struct progress {
  std::string name;
  std::size_t done = 0, total = 0;  // measurements
  double seconds_left = 0;
};
struct run_options {
  std::string filter;                // regular expression, found anywhere in a name; empty: all
  std::vector<std::string> devices;  // empty: cpu, and cuda:0 where there is one
  int threads = 0;                   // of the CPU; 0: all cores
  int repetitions = 9;
  double min_time = 0.1;  // seconds of a repetition
  double energy = 0;      // seconds of a further run of each benchmark that counts energy; 0: none
  std::function<bool(const progress&)> watch = nullptr;  // false: stop, which throws wb::error
};

/// What came of a run: the record as JSON text, tables for a terminal, how many benchmarks failed.
struct report {
  std::string json, table;
  std::size_t failed = 0;
};

/// Whether a text is a regular expression; all below throw argument_error for a filter that is none.
bool is_filter(const std::string& text);
/// Names of the benchmarks that the filter leaves.
std::vector<std::string> list(const run_options& options);
/// Measures the ceilings, then the benchmarks that the filter leaves, then the ceilings again: the better
/// count. Throws wb::error where none is left; a benchmark that fails has an "error" in the record.
report run(const run_options& options);
/// Repeats the calls of the one benchmark that the filter leaves for the given seconds. Checks rate, memory
/// and results every second, 600 times at most. Throws wb::error where the filter leaves none or several, and
/// where the benchmark fails; report::failed counts the looks that found other results.
report endure(const run_options& options, double seconds);
/// Only makes the calls, so many of each benchmark, for a profiler to look at: nothing is timed.
void call_only(const run_options& options, int calls);
/// A record of the ceilings alone.
report run_ceilings(const run_options& options);

}  // namespace wb::bench
