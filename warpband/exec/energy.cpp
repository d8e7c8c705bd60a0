#include <warpband/exec/energy.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/exec/shared_library.hpp>

namespace wb {
namespace {

/// The number in a file of one line.
unsigned long long number_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  unsigned long long x = 0;
  if (!(in >> x))
    throw device_error(file.string() + " cannot be read: Linux lets only root read it by default");
  return x;
}

class rapl_counter final : public energy_counter {
 public:
  explicit rapl_counter(const std::string& folder) {
    // intel-rapl:0 is a package, intel-rapl:0:0 a part of it; "psys" has packages and more.
    std::error_code none;
    for (int i = 0; std::filesystem::exists(zone_of(folder, i), none); i++) {
      std::string name;
      std::ifstream(zone_of(folder, i) / "name") >> name;
      if (!name.starts_with("package")) continue;
      package p{zone_of(folder, i) / "energy_uj", 0, 0};
      p.range = number_in(zone_of(folder, i) / "max_energy_range_uj");
      p.last = number_in(p.file);
      packages_.push_back(std::move(p));
    }
    if (packages_.empty())
      throw device_error("the energy of the CPU is not counted here: " + folder +
                         " has no intel-rapl:N that is a package");
  }

  double joules() override {
    for (package& p : packages_) {
      const unsigned long long current = number_in(p.file);
      total_ += static_cast<double>(current >= p.last ? current - p.last : current + (p.range - p.last));
      p.last = current;
    }
    return total_ * 1e-6;
  }
  std::string source() const override {
    return "RAPL of " + std::to_string(packages_.size()) + (packages_.size() == 1 ? " package" : " packages");
  }

 private:
  struct package {
    std::filesystem::path file;
    unsigned long long last, range;  // microjoules
  };
  static std::filesystem::path zone_of(const std::string& folder, int index) {
    return std::filesystem::path(folder) / ("intel-rapl:" + std::to_string(index));
  }

  std::vector<package> packages_;
  double total_ = 0;  // microjoules
};

/// Names and types as nvml.h documents them.
class nvml_counter final : public energy_counter {
 public:
  nvml_counter(const std::string& pci_bus_id, const std::string& library)
      : library_("NVIDIA's management library", {library}, "the driver brings it") {
    library_.find(energy_of_, "nvmlDeviceGetTotalEnergyConsumption");
    library_.find(shutdown_, "nvmlShutdown");
    int (*init)() = nullptr;
    int (*find_device)(const char*, void**) = nullptr;
    library_.find(init, "nvmlInit_v2");
    library_.find(find_device, "nvmlDeviceGetHandleByPciBusId_v2");
    check_result(init(), "nvmlInit_v2");
    try {
      check_result(find_device(pci_bus_id.c_str(), &device_), "nvmlDeviceGetHandleByPciBusId_v2");
      first_ = millijoules();
    } catch (...) {
      shutdown_();
      throw;
    }
  }
  ~nvml_counter() override { shutdown_(); }
  nvml_counter(const nvml_counter&) = delete;
  nvml_counter& operator=(const nvml_counter&) = delete;

  double joules() override { return static_cast<double>(millijoules() - first_) * 1e-3; }
  std::string source() const override { return "NVML"; }

 private:
  static void check_result(int code, const char* call) {
    if (code != 0)
      throw device_error("the energy of the GPU is not counted here: " + std::string(call) + " returned " +
                         std::to_string(code));
  }
  unsigned long long millijoules() const {
    unsigned long long x = 0;
    check_result(energy_of_(device_, &x), "nvmlDeviceGetTotalEnergyConsumption");
    return x;
  }

  shared_library library_;
  int (*energy_of_)(void*, unsigned long long*) = nullptr;
  int (*shutdown_)() = nullptr;
  void* device_ = nullptr;
  unsigned long long first_ = 0;
};

}  // namespace

std::unique_ptr<energy_counter> open_rapl(std::string folder) {
  if (folder.empty())
    if (const char* named = std::getenv("WARPBAND_POWERCAP")) folder = named;
  return std::make_unique<rapl_counter>(folder.empty() ? "/sys/class/powercap" : folder);
}
std::unique_ptr<energy_counter> open_nvml(const std::string& pci_bus_id, const std::string& library) {
  return std::make_unique<nvml_counter>(pci_bus_id, library);
}
std::unique_ptr<energy_counter> open_energy_counter(const executor& exec) {
  if (const auto* gpu = dynamic_cast<const cuda*>(&exec)) return open_nvml(gpu->device().pci_bus_id);
  if (exec.is_device()) throw device_error("no counter of energy is known for " + exec.name());
  return open_rapl();
}

}  // namespace wb
