#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/crc/crc_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// A CRC is linear: the parity is the exclusive-or of one remainder per set bit, so all bits count at once.
struct crc_attach_op : block_op<crc_attach_args> {
  int threads() const { return a.n >= 1024 ? 128 : 32; }
  double flops() const { return 0; }
  double bytes() const { return a.n + a.degree; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using I = typename rebind<T>::i32;
    I parity = I(0);
    for (int i = g.rank; i < a.n; i += g.size) {
      const I bit = load_int<T>(a.bits, static_cast<std::size_t>(i), item) & I(1);
      parity = parity ^ ((I(0) - bit) & I(a.weights[i]));
    }
    parity = g.xor_all(parity);
    for (int i = g.rank; i < a.degree; i += g.size)
      store_int<T>(a.bits, static_cast<std::size_t>(a.n + i), item, (parity >> (a.degree - 1 - i)) & I(1));
  }
};

}  // namespace WB_ISA
}  // namespace wb
