#include <algorithm>
#include <bench/measure.hpp>
#include <bench/statistics.hpp>
#include <cmath>
#include <exception>
#include <new>
#include <stdexcept>
#include <warpband/exec/executor.hpp>

namespace wb::bench {
namespace {

constexpr double piece_seconds = 1e-3;
constexpr double launch_hidden = 2e-4;       // seconds from which on a call hides the launch of the next
constexpr std::size_t launches_ahead = 400;  // that a stream's queue takes

}  // namespace

void measurement::learn_cost(executor& exec) {
  meter m(exec);
  job call = definition_->make(m, definition_->measured);
  call();  // tables that are copied at first use do not count
  m.sync();
  m.seen = {};
  call();
  m.sync();
  cost_ = m.seen;
  items_ = call.items();
  bits_ = call.bits();
}

/// Finds out once how many calls a repetition has.
template <class Seconds>
double measurement::timed(double min_seconds, Seconds&& seconds_of) {
  if (calls_ == 0) {
    long n = 1;
    double seconds = seconds_of(n);
    while (seconds < min_seconds / 8 && n < (1L << 24)) {
      n = static_cast<long>(static_cast<double>(n) *
                            std::clamp(min_seconds / 4 / std::max(seconds, 1e-9), 2.0, 16.0));
      seconds = seconds_of(n);
    }
    const double wanted = std::ceil(static_cast<double>(n) * min_seconds / std::max(seconds, 1e-9));
    calls_ = static_cast<long>(std::clamp(wanted, 1.0, 1e9));
  }
  return seconds_of(calls_) / static_cast<double>(calls_);
}

/// On a CPU: pieces of a millisecond or more, and the median of them. What interrupts one now and then does
/// not count.
double measurement::timed_pieces(job& call, double min_seconds) {
  const auto seconds_of = [&](long n) {
    const double start = now();
    for (long i = 0; i < n; i++) call();
    return (now() - start) / static_cast<double>(n);
  };
  if (calls_ == 0) {
    long n = 1;
    while (n < (1L << 24) && seconds_of(n) * static_cast<double>(n) < piece_seconds) n *= 2;
    calls_ = n;
  }
  std::vector<double> pieces;
  const double start = now();
  do {
    pieces.push_back(seconds_of(calls_));
  } while (now() - start < min_seconds);
  return quantile(pieces, 0.5);
}

void measurement::repeat_small(executor& exec, job& call, double min_seconds) {
  std::vector<double> samples;
  for (double total = 0; total < min_seconds || samples.size() < 20;) {
    const double start = now();
    call();
    exec.sync();
    samples.push_back(now() - start);
    total += samples.back();
    if (samples.size() >= 20 && total > 20 * min_seconds) break;
  }
  seconds_.push_back(quantile(samples, 0.5));
  p99_.push_back(quantile(samples, 0.99));
}

/// Keeps what `f` throws as the error of the benchmark, and does nothing once there is one.
template <class F>
void measurement::guarded(F&& f) {
  if (!error_.empty()) return;
  try {
    f();
  } catch (const std::bad_alloc&) {
    error_ = "out of memory";
  } catch (const std::exception& e) {
    error_ = e.what();
  }
}

void measurement::count_energy(energy_counter& counter, double seconds, double idle_watts) {
  guarded([&] {
    const definition& d = *definition_;
    const std::size_t n = d.measured == figure::host_fed ? slots : 1;
    const bool waits = d.measured == figure::sync || d.measured == figure::small;
    std::vector<job> calls;
    for (std::size_t i = 0; i < n; i++) calls.push_back(d.make(pool_->get(d.device, i), d.measured));
    const auto sync_all = [&] {
      for (std::size_t i = 0; i < n; i++) pool_->get(d.device, i).sync();
    };
    for (job& call : calls) call();
    sync_all();
    energy_use e{.idle_watts = idle_watts};
    const double before = counter.joules(), start = now();
    double looked = start;
    do {
      // As many as a repetition has: one wait for all of them.
      for (long i = 0; i < std::max(calls_, 1L); i++, e.calls++) {
        calls[static_cast<std::size_t>(i) % n]();
        if (waits) sync_all();
      }
      sync_all();
      e.seconds = now() - start;
      if (start + e.seconds - looked > 1) (void)counter.joules(), looked = now();
    } while (e.seconds < seconds);
    e.joules = counter.joules() - before;
    energy_ = e;
  });
}

void measurement::repeat(double min_seconds) {
  guarded([&] {
    const definition& d = *definition_;
    executor& exec = pool_->get(d.device);
    if (items_ == 0) learn_cost(exec);
    if (d.measured == figure::host_fed) {
      std::vector<job> calls;
      for (std::size_t i = 0; i < slots; i++) calls.push_back(d.make(pool_->get(d.device, i), d.measured));
      const auto seconds_of = [&](long n) {
        const double start = now();
        for (long i = 0; i < n; i++) calls[static_cast<std::size_t>(i) % slots]();
        for (std::size_t i = 0; i < slots; i++) pool_->get(d.device, i).sync();
        return now() - start;
      };
      seconds_of(slots);
      seconds_.push_back(timed(min_seconds, seconds_of));
      return;
    }
    job call = d.make(exec, d.measured);
    call();
    exec.sync();
    if (d.measured == figure::small) {
      repeat_small(exec, call, min_seconds);
    } else if (d.measured == figure::kernel) {
      if (!exec.is_device()) throw std::logic_error("kernel figures are for CUDA devices");
      const auto timer = exec.make_timer();
      const long ahead = static_cast<long>(
          std::max<std::size_t>(1, launches_ahead / std::max<std::size_t>(1, cost_.kernels.size())));
      const auto seconds_of = [&](long n) {
        // Short calls: queued while the stream is held, so that the device never waits for the host.
        double total = 0;
        for (long done = 0; done < n;) {
          const bool held = n == 1 || total / static_cast<double>(std::max(done, 1L)) < launch_hidden;
          const long part = held ? std::min(n - done, ahead) : n - done;
          if (held) timer->hold();
          timer->start();
          for (long i = 0; i < part; i++) call();
          timer->stop();
          if (held) timer->release();
          total += timer->seconds();
          done += part;
        }
        return total;
      };
      seconds_.push_back(timed(min_seconds, seconds_of));
    } else if (d.measured == figure::sync) {
      seconds_.push_back(timed(min_seconds, [&](long n) {
        const double start = now();
        for (long i = 0; i < n; i++) {
          call();
          exec.sync();
        }
        return now() - start;
      }));
    } else if (d.device == "cpu") {
      seconds_.push_back(timed_pieces(call, min_seconds));
    } else {
      seconds_.push_back(timed(min_seconds, [&](long n) {
        const double start = now();
        for (long i = 0; i < n; i++) call();
        exec.sync();
        return now() - start;
      }));
    }
  });
}

}  // namespace wb::bench
