#pragma once
// Sums over clusters.
#include <warpband/core/cx.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/sum_in_pairs.hpp>
#include <warpband/linalg/ldl/ldl_body.hpp>
#include <warpband/massive/cluster/cluster_args.hpp>

namespace wb {
inline namespace WB_ISA {

template <class S>
WB_HD view<S> term_of(const cluster_terms<S>& terms, int i) {
  view<S> v = terms.first;
  v.data += static_cast<std::size_t>(i) * terms.distance;
  return v;
}
/// Value `element` of the sum of all terms.
template <class T>
WB_HD T load_sum(const cluster_terms<const float>& terms, std::size_t element, item<T> frames) {
  return sum_in_pairs<T>(terms.count,
                         [&](int i) WB_INLINE_LAMBDA { return load(term_of(terms, i), element, frames); });
}

/// Of what an earlier stage stored.
template <class T>
WB_HD T load_stored(const view<float>& v, std::size_t element, item<T> frames) {
  return load(view<const float>{v.data, v.elements, v.items, v.element_stride, v.item_stride}, element,
              frames);
}

/// Where entry (r, c) of G, c <= r, begins among its values: the real part, and left of the diagonal the
/// imaginary part behind it.
WB_HD std::size_t gram_place(int r, int c) { return static_cast<std::size_t>(r * r + 2 * c); }

/// Entry (u, j) of the Gram matrix whose transpose lies in `gram`.
template <class T>
WB_HD cx<T> gram_entry(const view<const float>& gram, int u, int j, item<T> frames) {
  // The lower entry (r, c) holds G[c][r].
  if (u == j) return {load(gram, gram_place(u, u), frames), T(0.f)};
  const std::size_t index = j > u ? gram_place(j, u) : gram_place(u, j);
  const T re = load(gram, index, frames), im = load(gram, index + 1, frames);
  return {re, j > u ? im : T(0.f) - im};
}

}  // namespace WB_ISA
}  // namespace wb
