#pragma once
// How kernels of sparse matrices load the LLRs of a codeword.
#include <warpband/core/group.hpp>
#include <warpband/core/known_llr.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_args.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

/// A becomes the channel's LLRs, limited. Returns whether all are finite, and counts those that are usable.
/// The caller synchronises the group before others read A.
template <class T, class G>
WB_HD typename rebind<T>::mask load_sent_llrs(const sparse_ldpc_args& a, item<T> item, G g, T* app,
                                              typename rebind<T>::i32& usable) {
  using I = typename rebind<T>::i32;
  using mask = typename rebind<T>::mask;
  mask bad = mask_from<mask>(false);
  if (a.sent < a.n) {
    for (int i = g.rank; i < a.n; i += g.size) app[i] = T(0.f);
    g.sync();
    for (int i = g.rank; i < a.shortened; i += g.size) app[a.shortened_columns[i]] = T(known_llr);
  }
  const auto put = [&](int i, T x) WB_INLINE_LAMBDA {
    const mask finite = is_finite(x);
    bad = bad | (!finite);
    x = saturate(select(finite, x, T(0.f)), known_llr) + T(0.f);  // -0 would be a decision
    usable = usable + select(x == T(0.f), I(0), I(1));
    app[a.sent_columns[i]] = x;
  };
  constexpr int W = width_of<T>;
  const int squares = a.sent / W * W;
  for (int i = g.rank * W; i < squares; i += g.size * W) {
    T x[W];
    load_square(a.llr, static_cast<std::size_t>(i), item, x);
    WB_UNROLL for (int j = 0; j < W; j++) put(i + j, x[j]);
  }
  for (int i = squares + g.rank; i < a.sent; i += g.size)
    put(i, load(a.llr, static_cast<std::size_t>(i), item));
  usable = g.sum_all(usable);
  return !g.any(bad);
}

}  // namespace WB_ISA
}  // namespace wb
