#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/modem/qam/qam_body.hpp>
#include <warpband/stbc/stbc_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// The Alamouti block A(x1, x2): rows are antennas, columns slots.
template <class T>
WB_HD void alamouti_block(cx<T> x1, cx<T> x2, cx<T> (&s)[2][2]) {
  s[0][0] = x1;
  s[0][1] = {-x2.re, x2.im};
  s[1][0] = x2;
  s[1][1] = {x1.re, -x1.im};
}

/// Kind: a space_time_kind. B bits a dimension; 0: symbols are given.
template <int Kind, int B>
struct stbc_encode_op : thread_op<stbc_encode_args> {
  static constexpr int symbols = Kind == 0 ? 2 : 4;
  double flops() const {
    const double mapped = B == 0 ? 0 : symbols * 2 * (2 * (B - 1) + 1);
    return mapped + (Kind == 0 ? 0 : Kind == 1 ? 40 : 24) + 8;
  }
  double bytes() const { return symbols * (B == 0 ? 8.0 : 2.0 * B) + 32; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    const cx<T> none = {T(0.f), T(0.f)};
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
    cx<T> s[2][2];
    if constexpr (Kind == 0) {
      alamouti_block(x[0], x[1], s);
    } else if constexpr (Kind == 1) {
      cx<T> first[2][2], second[2][2];
      alamouti_block(x[0], x[1], first);
      alamouti_block(x[2], x[3], second);
      WB_UNROLL for (int r = 0; r < 2; r++) {
        const cx<T> v0 = {T(a.v[2 * r].re), T(a.v[2 * r].im)},
                    v1 = {T(a.v[2 * r + 1].re), T(a.v[2 * r + 1].im)};
        WB_UNROLL for (int t = 0; t < 2; t++) s[r][t] =
            T(0.707106781f) * fma(v1, second[1][t], fma(v0, second[0][t], first[r][t]));
      }
    } else {
      constexpr double golden = 1.6180339887498948482, root5 = 2.2360679774997896964;
      constexpr float t = static_cast<float>(golden), u = static_cast<float>(1 - golden);
      constexpr float re = static_cast<float>(1 / root5);
      const cx<T> alpha = {T(re), T(static_cast<float>((1 - golden) / root5))},
                  beta = {T(re), T(static_cast<float>(golden / root5))};
      const auto sum = [](cx<T> p, float f, cx<T> q)
                           WB_INLINE_LAMBDA { return cx<T>{fma(T(f), q.re, p.re), fma(T(f), q.im, p.im)}; };
      s[0][0] = fma(alpha, sum(x[0], t, x[1]), none);
      s[0][1] = fma(alpha, sum(x[2], t, x[3]), none);
      const cx<T> turned = fma(beta, sum(x[2], u, x[3]), none);
      s[1][0] = {-turned.im, turned.re};
      s[1][1] = fma(beta, sum(x[0], u, x[1]), none);
    }
    WB_UNROLL for (int t = 0; t < 2; t++) {
      WB_UNROLL for (int r = 0; r < 2; r++)
          store_cx(a.codewords, static_cast<std::size_t>(2 * t + r), item, s[r][t]);
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
