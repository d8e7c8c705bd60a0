#pragma once
// Copies from device memory into shared memory that run by themselves while their thread goes on, and
// barriers that know when they end.
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
#if __CUDA_ARCH__ >= 900
  /// Whether the device has an engine that copies more than 16 bytes by one command.
  static constexpr bool bulk = true;
#else
  static constexpr bool bulk = false;
#endif
  /// What threads wrote or read before they meet comes before copies of the engine.
  WB_HD static void order_bulk() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  }
  /// Until all copies that this thread started by copy16 have ended. Other threads see them after the next
  /// meeting.
  WB_HD static void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
};
/// `Threads` of a block meet, whole warps and always the same ones. `which`: 1 to 15, others for other
/// threads.
WB_HD void meet_in_block(int which, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(which), "r"(threads) : "memory");
}
/// A barrier in shared memory that some threads arrive at and others wait for, turn by turn.
struct shared_barrier {
  std::uint32_t address;
  WB_HD explicit shared_barrier(std::uint64_t* word) : address(async_copies::address(word)) {}
  /// By one thread, before all threads of the block meet. `arrivals`: of one turn.
  WB_HD void init(int arrivals) const {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
  }
  WB_HD void arrive() const {
    asm volatile("{\n .reg .b64 state;\n mbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(address)
                 : "memory");
  }
  /// Arrives when all copies that this thread started have ended.
  WB_HD void arrive_after_copies() const {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address) : "memory");
  }
#if __CUDA_ARCH__ >= 900
  /// Starts to copy by the engine: the turn that now is ends after that. Before this thread arrives;
  /// addresses and `bytes` are multiples of 16.
  WB_HD void copy(float* to, const void* from, int bytes) const {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            async_copies::address(to)),
        "l"(from), "r"(bytes), "r"(address)
        : "memory");
  }
#else
  WB_HD void copy(float*, const void*, int) const {}
#endif
  /// Until turn number `turn` is over, or back at once in turn -1; turn + 1 must not be over.
  WB_HD void wait(int turn) const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n .reg .pred over;\n again:\n mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
        " @!over bra again;\n}" ::"r"(address),
        "r"(turn & 1)
        : "memory");
#else
    asm volatile(
        "{\n .reg .pred over;\n again:\n mbarrier.test_wait.parity.shared.b64 over, [%0], %1;\n"
        " @!over bra again;\n}" ::"r"(address),
        "r"(turn & 1)
        : "memory");
#endif
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
