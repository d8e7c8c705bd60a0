// Counters of energy, with stand-ins for what the machine has.
#include <gtest/gtest.h>

#include <functional>

#include <tests/powercap.hpp>
#include <warpband/core/error.hpp>
#include <warpband/exec/energy.hpp>

namespace energy_test {

using wb::testing::powercap;

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const wb::device_error& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST(energy, rapl_adds_packages_up_and_wraps) {
  const powercap p;
  p.add("intel-rapl:0", "package-0", "999000000");
  p.add("intel-rapl:0:0", "core", "5");
  p.add("intel-rapl:1", "psys", "7");
  p.add("intel-rapl:2", "package-1", "100");
  const auto counter = wb::open_rapl(p.path());
  EXPECT_EQ(counter->source(), "RAPL of 2 packages");
  EXPECT_EQ(counter->joules(), 0);
  p.set("intel-rapl:2", "energy_uj", "2000100");
  p.set("intel-rapl:0:0", "energy_uj", "9000000");
  p.set("intel-rapl:1", "energy_uj", "9000000");
  EXPECT_NEAR(counter->joules(), 2, 1e-12);
  p.set("intel-rapl:0", "energy_uj", "500000");  // past the end of its range: 1 J, then 0.5 J
  EXPECT_NEAR(counter->joules(), 3.5, 1e-12);
  EXPECT_NEAR(counter->joules(), 3.5, 1e-12);
}

TEST(energy, rapl_says_what_is_missing) {
  const powercap p;
  EXPECT_EQ(
      message_of([&] { wb::open_rapl(p.path()); }),
      "the energy of the CPU is not counted here: " + p.path() + " has no intel-rapl:N that is a package");
  p.add("intel-rapl:0", "package-0", "no number");
  EXPECT_EQ(message_of([&] { wb::open_rapl(p.path()); }),
            p.path("intel-rapl:0/energy_uj") + " cannot be read: Linux lets only root read it by default");
}

TEST(energy, nvml_counts_from_when_it_was_opened) {
  const auto counter = wb::open_nvml("0000:65:00.0", WARPBAND_NVML);
  EXPECT_EQ(counter->source(), "NVML");
  EXPECT_NEAR(counter->joules(), 1.5, 1e-12);
  EXPECT_NEAR(counter->joules(), 3, 1e-12);
}

TEST(energy, nvml_says_what_is_missing) {
  EXPECT_EQ(message_of([] { wb::open_nvml("0000:66:00.0", WARPBAND_NVML); }),
            "the energy of the GPU is not counted here: nvmlDeviceGetHandleByPciBusId_v2 returned 6");
  EXPECT_NE(message_of([] {
              wb::open_nvml("0000:65:00.0", "libnothing.so.1");
            }).find("libnothing.so.1 was not found; the driver brings it"),
            std::string::npos);
}

}  // namespace energy_test
