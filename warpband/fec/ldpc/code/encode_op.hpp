#pragma once
// The encoder as an op.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/fec/ldpc/ldpc_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// The parity bits are sums of rotated blocks, in phases that build on each other (encode.cpp).
struct ldpc_encode_op {
  ldpc_encode_args a;
  static constexpr bool by_block = true;

  int threads() const { return a.z; }
  std::size_t scratch(int) const { return static_cast<std::size_t>(a.blocks * a.z); }
  double flops() const { return 0; }
  double bytes() const { return a.k + static_cast<double>(a.coded.elements); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    for (int i = g.rank; i < a.k; i += g.size) {
      const I bit = load_int<T>(a.bits, static_cast<std::size_t>(i), item) & I(1);
      scratch[i] = as_float(bit);
      store_int<T>(a.coded, static_cast<std::size_t>(i), item, bit);
    }
    g.sync();
    for (int s = 0; s < a.sums; s++) {
      const ldpc_sum sum = a.sum_table[s];
      for (int r = g.rank; r < a.z; r += g.size) {
        I bit = I(0);
        for (int t = sum.first; t < sum.first + sum.terms; t++) {
          const ldpc_term term = a.term_table[t];
          const int row = r + term.shift < a.z ? r + term.shift : r + term.shift - a.z;
          bit = bit ^ as_int(scratch[term.block * a.z + row]);
        }
        scratch[sum.target * a.z + r] = as_float(bit);
      }
      if (sum.last_of_phase) g.sync();
    }
    for (int i = a.k + g.rank; i < a.n; i += g.size)
      store_int<T>(a.coded, static_cast<std::size_t>(i), item, as_int(scratch[i]));
    for (std::size_t e = static_cast<std::size_t>(a.n + g.rank); e < a.coded.elements;
         e += static_cast<std::size_t>(g.size))
      store_int<T>(a.coded, e, item, I(0));
  }
};

}  // namespace WB_ISA
}  // namespace wb
