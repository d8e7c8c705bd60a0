#pragma once
// Benchmarks over named axes. A *_bench.cpp says what it measures:
//
//   static const wb::bench::group demap_benches{[] {
//     for (const std::string& device : wb::bench::devices())
//       for (const int points : {4, 256})
//         wb::bench::add("demap", device, {{"points", points}}, [=](wb::bench::session& s) {
//           auto llr = s.exec().make<float>(8, items);  // arrays, uploads: not timed
//           s.measure({.items = items, .bits = 8.0 * items}, [&](wb::executor& e) { demapper.run(e, in, llr);
//           });
//         });
//   }};
//
// and bench/main.cpp runs it. Rates come from the time of whole calls, their launches and the wait at the end
// included; operations and bytes are those that the kernels state (kernel.flops, kernel.bytes), summed over
// all kernels of a call.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <warpband/exec/cpu.hpp>
#include <warpband/exec/cuda.hpp>

namespace wb::bench {

/// A named axis and the value that a benchmark has on it.
struct axis {
  std::string name, value;
  bool number = false;
  axis(std::string n, std::string v) : name(std::move(n)), value(std::move(v)) {}
  axis(std::string n, const char* v) : name(std::move(n)), value(v) {}
  axis(std::string n, int v) : name(std::move(n)), value(std::to_string(v)), number(true) {}
};

/// What one call does.
struct work {
  std::size_t items = 0;  // symbols, codewords, ...
  double bits = 0;        // bits in or out, whichever the op is rated by
};

/// Forwards to another executor and sums the operations and bytes that the started kernels state.
class meter final : public executor {
 public:
  explicit meter(executor& base)
      : executor(std::make_shared<borrowed>(base, false), std::make_shared<borrowed>(base, true)),
        base_(base) {}
  std::string name() const override { return base_.name(); }
  std::string description() const override { return base_.description(); }
  std::size_t preferred_batch(bool block_per_item) const override {
    return base_.preferred_batch(block_per_item);
  }
  void run(const kernel_set& op, const void* args, std::size_t items) override {
    const kernel& k = base_.build_of(op);
    flops += k.flops(args) * static_cast<double>(items);
    bytes += k.bytes(args) * static_cast<double>(items);
    base_.run(op, args, items);
  }
  void sync() override { base_.sync(); }
  void upload(void* to, const void* from, std::size_t n) override { base_.upload(to, from, n); }
  void download(void* to, const void* from, std::size_t n) override { base_.download(to, from, n); }
  const kernel& build_of(const kernel_set& op) const override { return base_.build_of(op); }

  double flops = 0, bytes = 0;

 private:
  /// Memory of the other executor.
  class borrowed final : public memory {
   public:
    borrowed(executor& base, bool host) : base_(base), host_(host) {}
    void* take(std::size_t n) override {
      auto a = host_ ? base_.make_host<unsigned char>(n, 1) : base_.make<unsigned char>(n, 1);
      void* p = a.data();
      std::lock_guard lock(mutex_);
      arrays_.emplace(p, std::move(a));
      return p;
    }
    void give(void* p, std::size_t) noexcept override {
      std::lock_guard lock(mutex_);
      arrays_.erase(p);
    }

   private:
    executor& base_;
    bool host_;
    std::mutex mutex_;
    std::map<void*, array<unsigned char>> arrays_;
  };
  executor& base_;
};

/// One benchmark at work: its executor, and the loop that times a call.
class session {
 public:
  session(benchmark::State& state, executor& exec) : state_(state), exec_(exec) {}
  executor& exec() noexcept { return exec_; }

  /// Times call(executor&), which queues one batch. As many calls as fill a few milliseconds lie between two
  /// waits, so that a device is timed at work and not at waiting.
  template <class Call>
  void measure(const work& w, Call&& call) {
    meter m(exec_);
    call(static_cast<executor&>(m));  // also warms up
    m.sync();
    call(exec_);
    exec_.sync();
    const auto seconds_of = [&](int calls) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < calls; i++) call(exec_);
      exec_.sync();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const int calls = static_cast<int>(std::clamp(3e-3 / std::max(seconds_of(1), 1e-7), 1.0, 1000.0));
    for ([[maybe_unused]] auto _ : state_) {
      for (int i = 0; i < calls; i++) call(exec_);
      exec_.sync();
    }
    const double total = static_cast<double>(calls) * static_cast<double>(state_.iterations());
    const auto rate = [&](double per_call) {
      return benchmark::Counter(per_call * total, benchmark::Counter::kIsRate);
    };
    state_.counters["calls"] = benchmark::Counter(calls);  // of one iteration
    state_.counters["items"] = benchmark::Counter(static_cast<double>(w.items));
    state_.counters["items/s"] = rate(static_cast<double>(w.items));
    if (w.bits > 0) state_.counters["Mb/s"] = rate(w.bits * 1e-6);
    if (m.flops > 0) state_.counters["GFLOP/s"] = rate(m.flops * 1e-9);
    if (m.bytes > 0) state_.counters["GB/s"] = rate(m.bytes * 1e-9);
  }

 private:
  benchmark::State& state_;
  executor& exec_;
};

/// "cpu", and "cuda:0" where there is one.
std::vector<std::string> devices();
/// Items that keep a device busy for a good while: many waves of `preferred_batch`.
std::size_t batch_for(const std::string& device, std::size_t cpu_items, std::size_t cuda_items);
/// Adds the benchmark "op/axis=value/.../device=cpu". `body` runs once per repetition; an error that it
/// throws is reported and the other benchmarks go on.
void add(const std::string& op, const std::string& device, std::vector<axis> axes,
         std::function<void(session&)> body);

/// At namespace scope of a *_bench.cpp: main calls `define` before it runs anything.
struct group {
  explicit group(void (*define)());
};

}  // namespace wb::bench
