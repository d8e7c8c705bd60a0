#pragma once
// Counters of the energy that a device takes. They count all that runs on it, other programs too.
#include <memory>
#include <string>

#include <warpband/exec/executor.hpp>

namespace wb {

/// Threads: one at a time.
class energy_counter {
 public:
  virtual ~energy_counter() = default;
  /// Joules since the counter was opened; ask at least once a minute, because some counters wrap. Throws
  /// device_error.
  virtual double joules() = 0;
  /// What counts: "NVML", "RAPL of 2 packages".
  virtual std::string source() const = 0;
};

/// The counter of the executor's device. A GPU has NVML's (nvmlDeviceGetTotalEnergyConsumption, Volta and
/// newer): the whole board. A CPU has RAPL's: all its packages, without memory and fans. Throws device_error
/// where nothing counts or what counts cannot be read.
///
///   const auto counter = wb::open_energy_counter(exec);
///   decoder.run(exec, llr, out);
///   exec.sync();
///   const double joules = counter->joules();
std::unique_ptr<energy_counter> open_energy_counter(const executor& exec);

/// Intel's and AMD's "running average power limit" as Linux shows it: the packages in a folder like
/// /sys/class/powercap. Empty: WARPBAND_POWERCAP of the environment, else that folder.
std::unique_ptr<energy_counter> open_rapl(std::string folder = {});
/// NVIDIA's management library, loaded now, of the GPU with a PCI bus ID as "0000:65:00.0".
std::unique_ptr<energy_counter> open_nvml(const std::string& pci_bus_id,
                                          const std::string& library = "libnvidia-ml.so.1");

}  // namespace wb
