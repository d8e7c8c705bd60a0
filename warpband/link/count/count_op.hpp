#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/link/count/count_args.hpp>

namespace wb {
inline namespace WB_ISA {

template <bool Soft>
struct count_op : block_op<count_args> {
  int threads() const { return a.sent.elements >= 1024 ? 128 : 32; }
  double flops() const { return 0; }
  double bytes() const { return (Soft ? 5.0 : 2.0) * static_cast<double>(a.sent.elements) + 4; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using I = typename rebind<T>::i32;
    I errors = I(0);
    const int n = static_cast<int>(a.sent.elements);
    for (int i = g.rank; i < n; i += g.size) {
      const std::size_t e = static_cast<std::size_t>(i);
      I got;
      if constexpr (Soft)
        got = decide(load(a.llr, e, item));
      else
        got = load_int<T>(a.received, e, item);
      errors = errors + ((load_int<T>(a.sent, e, item) ^ got) & I(1));
    }
    errors = g.sum_all(errors);
    if (g.rank == 0) store_int<T>(a.errors, 0, item, errors);
  }
};

struct count_erased_op : block_op<count_erased_args> {
  int threads() const { return a.status.elements >= 1024 ? 128 : 32; }
  double flops() const { return 0; }
  double bytes() const { return static_cast<double>(a.status.elements) + 4; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using I = typename rebind<T>::i32;
    I erased = I(0);
    const int n = static_cast<int>(a.status.elements);
    for (int i = g.rank; i < n; i += g.size)
      erased = erased + (load_int<T>(a.status, static_cast<std::size_t>(i), item) & I(1));
    erased = g.sum_all(erased);
    if (g.rank == 0) store_int<T>(a.erased, 0, item, erased * I(a.weight));
  }
};

}  // namespace WB_ISA
}  // namespace wb
