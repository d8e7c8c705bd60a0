#pragma once
// Arguments of the kernels that measure what a device can do at most. Plain data.
#include <cstddef>

#include <warpband/core/view.hpp>

namespace wb::bench {

/// Which operations run at once: processors have units that only some of them use.
enum class fp32_mix { fma, fma_add, fma_max, add_max, multiply_add };
inline constexpr int fp32_mixes = 5;
inline constexpr const char* fp32_mix_names[fp32_mixes] = {"fma", "fma_add", "fma_max", "add_max",
                                                           "multiply_add"};

/// An item runs `rounds` rounds of independent chains of operations in registers.
struct fp32_ceiling_args {
  fp32_mix mix = fp32_mix::fma;
  int rounds = 1;
  view<const float> values;  // 3 that no compiler knows: 1, 0 and a small one
  view<float> out;           // 1
  view<float> clock;         // CUDA: clocks and nanoseconds that the first item took
};

/// Copies or only reads memory.
///   CPU: an item is one vector lane; `width` of them have a piece of 2 * vectors vectors (in, then out) that
///        they go through `passes` times.
///   CUDA: an item has `vectors` vectors of 16 bytes, those of a block of 128 items beside each other.
struct memory_ceiling_args {
  bool read_only = false;
  int passes = 1;
  std::size_t vectors = 1;
  const void* in = nullptr;
  void* out = nullptr;
};

}  // namespace wb::bench
