// One benchmark without a pause, for minutes or hours: does it keep its rate, its memory and its results?
#include <unistd.h>

#include <algorithm>
#include <bench/measure.hpp>
#include <bench/record.hpp>
#include <bench/run.hpp>
#include <bench/statistics.hpp>
#include <cstring>
#include <fstream>
#include <warpband/exec/executor.hpp>

namespace wb::bench {
namespace {

/// Bytes of this process in memory.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// A call on a stream of its own, and what it gave the first time.
struct slot {
  executor* exec;
  job call;
  std::vector<unsigned char> first;
};

}  // namespace

report endure(const run_options& options, double seconds) {
  const definition d = the_only(options);
  executor_pool pool(threads_of(options));
  executor& exec = pool.get(d.device);
  endurance e;
  std::vector<slot> slots;
  for (std::size_t i = 0; i < (d.measured == figure::host_fed ? measurement::slots : 1); i++) {
    executor& slot_exec = pool.get(d.device, i);
    slots.push_back({&slot_exec, d.make(slot_exec, d.measured), {}});
    slots.back().call();
    slot_exec.sync();
    const auto [data, bytes] = slots.back().call.result();
    if (data != nullptr) slots.back().first.assign(data, data + bytes);
  }
  e.compared_bytes = slots.front().first.size();
  // Samples are a second apart, in a long run as many as 600.
  const double every = std::max(std::min(1.0, seconds / 10), seconds / 600);
  const double start = now();
  for (slot& s : slots) s.call();
  double last = start;
  long since = 0;
  const auto look = [&](const slot& s, double t) {
    e.samples.push_back({t - start, static_cast<double>(since) / (t - last), resident_bytes(),
                         static_cast<double>(exec.memory_used())});
    const auto [data, bytes] = s.call.result();
    if (!s.first.empty() && std::memcmp(data, s.first.data(), bytes) != 0) e.different++;
    e.calls += since;
    last = t;
    since = 0;
  };
  for (std::size_t i = 0; now() - start < seconds; i++) {
    slot& s = slots[i % slots.size()];
    s.exec->sync();
    since++;
    const double t = now();
    if (t - last >= every) {
      look(s, t);
      if (options.watch && !options.watch({d.name, static_cast<std::size_t>(t - start),
                                           static_cast<std::size_t>(seconds), seconds - (t - start)}))
        throw error("interrupted: nothing was written");
    }
    s.call();
  }
  for (slot& s : slots) s.exec->sync();
  since += static_cast<long>(slots.size());
  look(slots.back(), now());
  e.seconds = last - start;
  e.items = slots.front().call.items();
  e.bits = slots.front().call.bits();
  return make_report(options, pool, d, e);
}

}  // namespace wb::bench
