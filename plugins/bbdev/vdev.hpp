#pragma once
// The driver interface of DPDK's virtual bus. Distributions leave its headers out: DPDK installs them only if
// it was built with -Denable_driver_sdk=true. Without them this file declares the memory layout of the bus,
// which is the same from DPDK 22.11 to 26.03.
#include <rte_common.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_version.h>

#include <cstddef>
#include <cstdint>

#if __has_include(<bus_vdev_driver.h>)

#include <bus_vdev_driver.h>

namespace wb_bbdev::bus {
using device = rte_vdev_device;
using driver = rte_vdev_driver;
inline rte_device* generic(device* d) { return &d->device; }
inline void name(driver& d, const char* text) { d.driver.name = text; }
}  // namespace wb_bbdev::bus

#elif RTE_VERSION >= RTE_VERSION_NUM(22, 11, 0, 0) && RTE_VERSION < RTE_VERSION_NUM(26, 7, 0, 0)

namespace wb_bbdev::bus {

/// An entry of a BSD tail queue.
struct list_entry {
  void* next;
  void** previous_next;
};
/// Behind its list entry follows a struct rte_device, whose definition is not installed.
struct device {
  list_entry entry;
};
struct driver {
  list_entry in_bus;
  struct {  // struct rte_driver
    list_entry in_eal;
    const char* name;
    const char* alias;
  } generic;
  int (*probe)(device*);
  int (*remove)(device*);
  int (*dma_map)(device*, void*, std::uint64_t, std::size_t);
  int (*dma_unmap)(device*, void*, std::uint64_t, std::size_t);
  std::uint32_t flags;
};
static_assert(sizeof(list_entry) == 2 * sizeof(void*) && sizeof(driver) == 11 * sizeof(void*));

inline rte_device* generic(device* d) { return reinterpret_cast<rte_device*>(d + 1); }
inline void name(driver& d, const char* text) { d.generic.name = text; }

}  // namespace wb_bbdev::bus

extern "C" {
void rte_vdev_register(wb_bbdev::bus::driver*);
void rte_vdev_unregister(wb_bbdev::bus::driver*);
}

#else
#error "Unknown driver interface of this DPDK. Build DPDK with -Denable_driver_sdk=true."
#endif

namespace wb_bbdev::bus {
inline const char* device_name(device* d) { return rte_dev_name(generic(d)); }
inline const char* device_arguments(device* d) {
  const rte_devargs* given = rte_dev_devargs(generic(d));
  return given != nullptr && given->args != nullptr ? given->args : "";
}
}  // namespace wb_bbdev::bus
