#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/modem/qam/qam_body.hpp>
#include <warpband/stbc/codeword_body.hpp>
#include <warpband/stbc/stbc_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Kind: a space_time_kind. B bits a dimension; 0: symbols are given.
template <int Kind, int B>
struct stbc_encode_op : thread_op<stbc_encode_args> {
  static constexpr int symbols = symbols_of_kind<Kind>, size = size_of_kind<Kind>;
  double flops() const {
    const double mapped = B == 0 ? 0 : symbols * 2 * (2 * (B - 1) + 1);
    return mapped +
           (Kind == 1   ? 40
            : Kind == 2 ? 24
            : Kind == 4 ? 8
                        : 0) +
           (Kind == 4 ? 16 : 8);  // zeros cost nothing
  }
  double bytes() const { return symbols * (B == 0 ? 8.0 : 2.0 * B) + 8 * size * size; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    cx<T> x[symbols];
    WB_UNROLL for (int k = 0; k < symbols; k++) {
      if constexpr (B == 0) {
        x[k] = load_cx(a.symbols, static_cast<std::size_t>(k), item);
      } else {
        T part[2];
        WB_UNROLL for (int q = 0; q < 2; q++) {
          I b[B];
          WB_UNROLL for (int i = 0; i < B; i++) b[i] =
              load_int<T>(a.bits, static_cast<std::size_t>(2 * (k * B + i) + q), item) & I(1);
          part[q] = pam_map<B, T>(b);
        }
        x[k] = T(qam_scale<B>()) * cx<T>{part[0], part[1]};
      }
    }
    cx<T> s[size][size];
    codeword_of<Kind>(x, a.v, s);
    WB_UNROLL for (int t = 0; t < size; t++) {
      WB_UNROLL for (int r = 0; r < size; r++)
          store_cx(a.codewords, static_cast<std::size_t>(size * t + r), item, s[r][t]);
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
