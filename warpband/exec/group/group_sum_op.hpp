#pragma once
#include <warpband/core/memory.hpp>
#include <warpband/core/sum_in_pairs.hpp>
#include <warpband/exec/group/group_args.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

/// An item is a value.
struct group_sum_op : thread_op<group_sum_args> {
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
