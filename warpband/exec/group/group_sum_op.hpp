#pragma once
#include <warpband/core/memory.hpp>
#include <warpband/core/sum_in_pairs.hpp>
#include <warpband/exec/group/group_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// An item is a value.
struct group_sum_op {
  group_sum_args a;
  static constexpr bool by_block = false;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  double flops() const { return a.count - 1; }
  double bytes() const { return 4 * (a.count + 1); }

  template <class T, class G>
  WB_HD void operator()(item<T> value, G, T*) const {
    const T sum = sum_in_pairs<T>(a.count, [&](int i) WB_INLINE_LAMBDA {
      return load(view<const float>{a.first + static_cast<std::size_t>(i) * a.distance, 1, a.values, 1, 1}, 0,
                  value);
    });
    store(view<float>{a.out, 1, a.values, 1, 1}, 0, value, sum);
  }
};

}  // namespace WB_ISA
}  // namespace wb
