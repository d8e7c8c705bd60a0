#pragma once
// Bases of ops with what most have in common (launch.hpp says what an op is). An op hides what differs.
#include <cstddef>

namespace wb {
inline namespace WB_ISA {

/// On a CUDA device a thread for each item, or a tile if the op has one. No scratch memory.
template <class Args>
struct thread_op {
  Args a;
  static constexpr bool by_block = false;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
};

/// On a CUDA device a block for each item. No scratch memory.
template <class Args>
struct block_op {
  Args a;
  static constexpr bool by_block = true;
  std::size_t scratch(int) const { return 0; }
};

/// The same where lanes are parts of an item: a call works on one item.
template <class Args>
struct parts_op {
  Args a;
  static constexpr bool by_block = true;
  static constexpr int at_once = 1;
  std::size_t scratch_bytes(int) const { return 0; }
};

}  // namespace WB_ISA
}  // namespace wb
