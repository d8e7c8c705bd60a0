#include <algorithm>
#include <bench/ceilings.hpp>
#include <bench/ceilings_args.hpp>
#include <bench/statistics.hpp>
#include <cmath>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {
WB_DECLARE_KERNEL(fp32_ceiling)
WB_DECLARE_KERNEL(memory_ceiling)
}  // namespace wb

namespace wb::bench {
namespace {

constexpr int attempts = 5;
constexpr double mebibyte = 1024.0 * 1024.0;

/// Seconds of a call, by the device's clock where it has one.
class stopwatch {
 public:
  explicit stopwatch(executor& e) : timer_(e.make_timer()) {}
  template <class Call>
  double seconds(int calls, Call&& call) {
    timer_->hold();
    timer_->start();
    for (int i = 0; i < calls; i++) call();
    timer_->stop();
    timer_->release();
    return timer_->seconds();
  }

 private:
  std::unique_ptr<executor_timer> timer_;
};

std::size_t threads_of(executor& e) {
  const auto* c = dynamic_cast<const cpu*>(&e);
  return c != nullptr ? static_cast<std::size_t>(c->threads()) : 1;
}

void measure_fp32(executor& e, ceilings& c) {
  const kernel& k = e.build_of(fp32_ceiling_kernels());
  const bool on_cpu = !e.is_device();
  // One wave of a CUDA device's threads; a few vectors for each thread of a CPU.
  const std::size_t items =
      on_cpu ? 4 * threads_of(e) * static_cast<std::size_t>(k.lanes) : e.preferred_items();
  auto out = e.make<float>(items, 1), clock = e.make<float>(1, 2);
  const auto values = e.make_from(std::vector<float>{1.f, 0.f, 1e-3f});
  fp32_ceiling_args a;
  a.values = values;
  a.out = make_view(out.data(), items);
  a.clock = clock;
  stopwatch watch(e);
  const auto call = [&] { e.run(fp32_ceiling_kernels(), &a, items); };
  a.rounds = 256;
  for (const double start = now(); now() - start < 0.2;) watch.seconds(10, call);  // an idle clock goes up
  for (int mix = 0; mix < fp32_mixes; mix++) {
    a.mix = static_cast<fp32_mix>(mix);
    a.rounds = 16;
    watch.seconds(1, call);
    const double scale = 4e-3 / std::max(watch.seconds(1, call), 1e-7);
    a.rounds = static_cast<int>(std::clamp(16 * scale, 1.0, 1e6));
    double best = 1e300;
    for (int i = 0; i < 2 * attempts; i++) best = std::min(best, watch.seconds(1, call));
    c.fp32.push_back(k.flops(&a) * static_cast<double>(items) / best);
    if (!on_cpu) {
      const std::vector<float> seen = e.to_host(clock);  // clocks, nanoseconds
      if (seen[1] > 0) c.clock_mhz = std::max(c.clock_mhz, 1e3 * static_cast<double>(seen[0] / seen[1]));
    }
  }
}

void measure_memory_of_cpu(executor& e, ceilings& c) {
  const std::size_t threads = threads_of(e);
  const kernel& k = e.build_of(memory_ceiling_kernels());
  const std::size_t vector = 4 * static_cast<std::size_t>(k.lanes), items = threads * (vector / 4);
  std::vector<double> footprints;
  for (double f = 16.0 * 1024 * static_cast<double>(threads); f < 256 * mebibyte; f *= 2)
    footprints.push_back(f);
  footprints.push_back(std::max(256 * mebibyte, footprints.empty() ? 0.0 : footprints.back()));
  auto data = e.make<float>(1, static_cast<std::size_t>(footprints.back() / 4) + threads * 8 * vector);
  std::fill_n(data.data(), data.size(), 1.f);
  stopwatch watch(e);
  for (const double footprint : footprints) {
    memory_ceiling_args a;
    a.vectors = std::max<std::size_t>(
        4, static_cast<std::size_t>(footprint / static_cast<double>(2 * threads * vector)) / 4 * 4);
    a.in = a.out = data.data();
    ceilings::memory_rate rate{2.0 * static_cast<double>(a.vectors * threads * vector), 0, 0};
    for (const bool read_only : {false, true}) {
      a.read_only = read_only;
      a.passes =
          static_cast<int>(std::clamp(16 * mebibyte * static_cast<double>(threads) / footprint, 1.0, 1e6));
      double best = 1e300;
      for (int i = 0; i < attempts; i++)
        best = std::min(best, watch.seconds(1, [&] { e.run(memory_ceiling_kernels(), &a, items); }));
      (read_only ? rate.read : rate.copy) = k.bytes(&a) * static_cast<double>(items) / best;
    }
    c.memory.push_back(rate);
  }
}

void measure_memory_of_cuda(executor& e, ceilings& c) {
  const kernel& k = e.build_of(memory_ceiling_kernels());
  const double max_footprint = 2048 * mebibyte;
  auto in = e.make<unsigned char>(1, static_cast<std::size_t>(max_footprint / 2)),
       out = e.make<unsigned char>(1, static_cast<std::size_t>(max_footprint / 2));
  stopwatch watch(e);
  for (double footprint = 4 * mebibyte; footprint <= max_footprint; footprint *= 2) {
    ceilings::memory_rate rate{footprint, 0, 0};
    for (const bool read_only : {false, true})
      for (const std::size_t vectors : {1, 4, 8}) {
        if (read_only && vectors == 1) continue;
        memory_ceiling_args a;
        a.read_only = read_only;
        a.vectors = vectors;
        a.in = in.data();
        a.out = out.data();
        const std::size_t items = static_cast<std::size_t>(footprint / 2) / (16 * vectors);
        const int calls = static_cast<int>(std::clamp(4096 * mebibyte / footprint, 4.0, 200.0));
        const auto call = [&] { e.run(memory_ceiling_kernels(), &a, items); };
        watch.seconds(1, call);
        for (int i = 0; i < attempts; i++) {
          double& best = read_only ? rate.read : rate.copy;
          best =
              std::max(best, k.bytes(&a) * static_cast<double>(items) * calls / watch.seconds(calls, call));
        }
      }
    c.memory.push_back(rate);
  }
}

void measure_copies(executor_pool& pool, const std::string& device, ceilings& c) {
  executor &a = pool.get(device), &b = pool.get(device, 1);
  const std::size_t bytes = std::size_t{128} << 20;
  auto host_in = a.make_host<unsigned char>(1, bytes), host_out = b.make_host<unsigned char>(1, bytes);
  auto in = a.make<unsigned char>(1, bytes), out = b.make<unsigned char>(1, bytes);
  const auto rate = [&](bool up, bool down) {
    const auto copies = [&](int n) {
      for (int i = 0; i < n; i++) {
        if (up) a.upload(in.data(), host_in.data(), bytes);
        if (down) b.download(host_out.data(), out.data(), bytes);
      }
      a.sync();
      b.sync();
    };
    copies(1);
    double best = 0;
    for (int i = 0; i < attempts; i++) {
      const double start = now();
      copies(6);
      best = std::max(best, 6.0 * (up + down) * static_cast<double>(bytes) / (now() - start));
    }
    return best;
  };
  c.host_to_device = rate(true, false);
  c.device_to_host = rate(false, true);
  c.both = rate(true, true);
}

void measure_launches(executor& e, ceilings& c) {
  auto out = e.make<float>(1, 1), clock = e.make<float>(1, 2);
  const auto values = e.make_from(std::vector<float>{1.f, 0.f, 1e-3f});
  fp32_ceiling_args a;
  a.values = values;
  a.out = out;
  a.clock = clock;
  const auto call = [&] { e.run(fp32_ceiling_kernels(), &a, 1); };
  c.launch_seconds = c.round_trip_seconds = 1e300;
  for (int i = 0; i < attempts; i++) {
    call();
    e.sync();
    double start = now();
    for (int n = 0; n < 1000; n++) call();
    e.sync();
    c.launch_seconds = std::min(c.launch_seconds, (now() - start) / 1000);
    std::vector<double> waits;
    for (int n = 0; n < 200; n++) {
      start = now();
      call();
      e.sync();
      waits.push_back(now() - start);
    }
    c.round_trip_seconds = std::min(c.round_trip_seconds, quantile(waits, 0.5));
  }
}

}  // namespace

double ceilings::best_fp32() const { return fp32.empty() ? 0 : *std::max_element(fp32.begin(), fp32.end()); }

double ceilings::best_memory(double bytes) const {
  // From the footprint just below on: a bound must not be too slow, and a larger one may be lucky.
  double best = 0;
  for (std::size_t i = 0; i < memory.size(); i++)
    if (i + 1 == memory.size() || memory[i + 1].footprint > bytes)
      best = std::max({best, memory[i].copy, memory[i].read});
  return best;
}

void ceilings::keep_best(const ceilings& other) {
  const auto better = [](double& a, double b) { a = std::max(a, b); };
  for (std::size_t i = 0; i < std::min(fp32.size(), other.fp32.size()); i++) better(fp32[i], other.fp32[i]);
  for (std::size_t i = 0; i < std::min(memory.size(), other.memory.size()); i++) {
    better(memory[i].copy, other.memory[i].copy);
    better(memory[i].read, other.memory[i].read);
  }
  better(host_to_device, other.host_to_device);
  better(device_to_host, other.device_to_host);
  better(both, other.both);
  better(clock_mhz, other.clock_mhz);
  launch_seconds = std::min(launch_seconds, other.launch_seconds);
  round_trip_seconds = std::min(round_trip_seconds, other.round_trip_seconds);
}

ceilings measure_ceilings(executor_pool& pool, const std::string& device) {
  ceilings c;
  executor& e = pool.get(device);
  measure_fp32(e, c);
  if (device == "cpu") {
    measure_memory_of_cpu(e, c);
  } else {
    measure_memory_of_cuda(e, c);
    measure_copies(pool, device, c);
  }
  measure_launches(e, c);
  return c;
}

bound bound_of(const cost& call, const ceilings& c, bool overlap) {
  double fp32 = 0, memory = 0, total = 0;  // of the kernels that each bounds
  for (const auto& k : call.kernels) {
    const double f = k.flops / c.best_fp32(), m = k.bytes / c.best_memory(k.bytes);
    total += std::max(f, m);
    (f > m ? fp32 : memory) += std::max(f, m);
  }
  bound b;
  if (total > 0) b = {total, fp32 > memory ? "fp32" : "memory"};
  if (c.both > 0 && !overlap) {
    const double copies = call.in / c.host_to_device + call.out / c.device_to_host;
    b = {total + copies, copies > total ? "copies" : b.by};
  } else if (c.both > 0) {
    const auto at_least = [&](double seconds, const char* by) {
      if (seconds > b.seconds) b = {seconds, by};
    };
    at_least(call.in / c.host_to_device, "host to device");
    at_least(call.out / c.device_to_host, "device to host");
    at_least((call.in + call.out) / c.both, "copies");
  }
  return b;
}

}  // namespace wb::bench
