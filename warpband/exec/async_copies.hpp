#pragma once
// Copies from device memory into shared memory that run by themselves while their thread goes on.
#include <cstdint>

#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
struct async_copies {
  /// Of a place in shared memory, for `copy16`.
  WB_HD static std::uint32_t address(const void* p) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
  }
  /// Starts to copy 16 bytes; both addresses are multiples of 16.
  WB_HD static void copy16(std::uint32_t to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  }
  /// Until all copies that this thread started have ended. Other threads see them after the next meeting.
  WB_HD static void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
