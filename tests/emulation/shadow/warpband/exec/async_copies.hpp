#pragma once
// In the place of warpband/exec/async_copies.hpp for kernels that run in an emulated block.
#include <cstdint>

#include <tests/emulation/emulated_block.hpp>
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

struct async_copies {
  static std::uint32_t address(const void* p) {
    return static_cast<std::uint32_t>(static_cast<const char*>(p) -
                                      reinterpret_cast<const char*>(emulation::shared));
  }
  static void copy16(std::uint32_t to, const void* from) {
    emulation::copy16(reinterpret_cast<char*>(emulation::shared) + to, from);
  }
  static constexpr bool bulk = emulation::engine;
  static void order_bulk() {}
  static void wait() { emulation::wait_for_copies(); }
};
inline void meet_in_block(int which, int threads) { emulation::meet(which, threads); }
struct shared_barrier {
  std::uint64_t* address;
  explicit shared_barrier(std::uint64_t* word) : address(word) {}
  void init(int arrivals) const { emulation::init_barrier(address, arrivals); }
  void arrive() const { emulation::arrive(address); }
  void arrive_after_copies() const { emulation::arrive_after_copies(address); }
  void copy(float* to, const void* from, int bytes) const {
    emulation::copy_by_engine(address, to, from, bytes);
  }
  void wait(int turn) const { emulation::wait_for_turn(address, turn); }
};

}  // namespace WB_ISA
}  // namespace wb
