#pragma once
// What a device can do at most, measured: the bounds of benchmarks are made of it.
#include <bench/meter.hpp>
#include <bench/pool.hpp>
#include <string>
#include <vector>

namespace wb::bench {

/// Rates in operations (kernel.hpp) and bytes a second; 0 where the device has none of that kind.
struct ceilings {
  std::vector<double> fp32;  // of each fp32_mix
  struct memory_rate {
    double footprint = 0;       // bytes that are gone through
    double copy = 0, read = 0;  // bytes read and written; bytes read
  };
  std::vector<memory_rate> memory;                // by growing footprint
  double host_to_device = 0, device_to_host = 0;  // page-locked memory
  double both = 0;                                // both ways at once, the sum
  double launch_seconds = 0,
         round_trip_seconds = 0;  // of a call that does next to nothing: queued; waited for
  double clock_mhz = 0;           // CUDA: of a multiprocessor during fp32 work

  double best_fp32() const;
  /// The fastest that this many bytes can be gone through.
  double best_memory(double bytes) const;
  /// The better of two measurements.
  void keep_best(const ceilings& other);
};

/// Takes about a second.
ceilings measure_ceilings(executor_pool& pool, const std::string& device);

/// The shortest time a call can take, and what makes it that long.
struct bound {
  double seconds = 0;
  std::string
      by;  // "fp32", "memory", "host to device", "device to host", "copies"; empty: nothing was stated
};
/// Copies and kernels may overlap, or follow each other.
bound bound_of(const cost& call, const ceilings& c, bool overlap = true);

}  // namespace wb::bench
