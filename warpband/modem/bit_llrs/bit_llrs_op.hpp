#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/modem/bit_llrs/bit_llrs_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// An item is a bit.
struct bit_llrs_op : thread_op<bit_llrs_args> {
  double flops() const { return 0; }
  double bytes() const { return 1 + 4; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    const I received = load_int<T>(a.received, 0, item);
    const T known = select(received == I(0), T(a.values[0]), T(a.values[1]));
    store(a.llr, 0, item, select(received < I(2), known, T(a.values[2])));
  }
};

}  // namespace WB_ISA
}  // namespace wb
