#pragma once
// A stand-in for /sys/class/powercap, where Linux has the energy counters of CPUs.
#include <string>

#include <tests/scratch.hpp>

namespace wb::testing {

class powercap : public scratch_folder {
 public:
  /// A file of a zone; a reader finds all of it or what was there before.
  void set(const std::string& zone, const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(folder_ / zone);
    write("next", text + "\n");
    std::filesystem::rename(folder_ / "next", folder_ / zone / file);
  }
  void add(const std::string& zone, const std::string& name, const std::string& microjoules,
           const std::string& range = "1000000000") const {
    set(zone, "name", name);
    set(zone, "energy_uj", microjoules);
    set(zone, "max_energy_range_uj", range);
  }
  /// What stands before a command that is to read it.
  std::string environment() const { return "WARPBAND_POWERCAP='" + path() + "'"; }
};

}  // namespace wb::testing
