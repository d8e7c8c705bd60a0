#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/puncture/puncture_args.hpp>

namespace wb {
inline namespace WB_ISA {

template <bool Soft>
struct pick_op : block_op<pick_args> {
  int threads() const { return a.n < 128 ? a.n : 128; }
  double flops() const { return Soft ? a.n : 0; }  // the stores
  double bytes() const { return (Soft ? 8.0 : 2.0) * a.n; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using I = typename rebind<T>::i32;
    for (int i = g.rank; i < a.n; i += g.size) {
      const std::size_t to = static_cast<std::size_t>(i);
      const std::int32_t from = i < a.places ? a.from[i] : -1;
      if constexpr (Soft)
        store(a.llr_out, to, item, from < 0 ? T(0.f) : load(a.llr_in, static_cast<std::size_t>(from), item));
      else
        store_int<T>(a.bits_out, to, item,
                     from < 0 ? I(0) : load_int<T>(a.bits_in, static_cast<std::size_t>(from), item));
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
