#pragma once
#include <warpband/code/passes/passes_args.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

struct count_pass_op : thread_op<count_pass_args> {
  double flops() const { return 0; }
  double bytes() const { return 5; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using I = typename rebind<T>::i32;
    static_assert(status_erased == 1);
    if (g.rank == 0) store_int<T>(a.iterations, 0, item, (load_int<T>(a.status, 0, item) & I(1)) ^ I(1));
  }
};

struct sum_up_op : block_op<sum_up_args> {
  int threads() const { return 32; }
  double flops() const { return 0; }
  double bytes() const { return 4.0 * static_cast<double>(a.block_iterations.elements) + 7; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using I = typename rebind<T>::i32;
    I sum = I(0);
    const int n = static_cast<int>(a.block_iterations.elements);
    for (int i = g.rank; i < n; i += g.size)
      sum = sum + load_int<T>(a.block_iterations, static_cast<std::size_t>(i), item);
    sum = g.sum_all(sum);
    if (g.rank != 0) return;
    if (a.iterations.data != nullptr) store_int<T>(a.iterations, 0, item, sum);
    if (a.stopped.data != nullptr)
      store_int<T>(a.stopped, 0, item,
                   load_int<T>(a.status, 0, item) | (load_int<T>(a.ok, 0, item) * I(status_stopped)));
  }
};

}  // namespace WB_ISA
}  // namespace wb
