#pragma once
#include <warpband/detect/detect_op.hpp>
#include <warpband/detect/trellis/trellis_args.hpp>
#include <warpband/detect/trellis/trellis_body.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Threads that share a use on a CUDA device, measured on an H100: two rows of points for each, one of
/// 256-QAM.
template <class S>
constexpr int trellis_tile() {
  if constexpr (!S::pam::known)
    return 8;
  else
    return S::pam::capacity == 4 ? 16 : 1 << (S::pam::capacity - 1);
}

/// The kernels of a CUDA device for known sizes take streams as they come: an order costs them registers (15
/// % of 4x4 QPSK on an H100). Calls with one go to the general kernel.
template <class S, class T>
WB_HD auto trellis_order(const search_args& a, S s, item<T> item) {
#if defined(__CUDACC__)
  if constexpr (S::streams::known && S::streams::capacity > 2)
    return as_they_come{};
  else
#endif
    return order_for<S, T>(a, s, item, 0);
}
template <class F>
auto with_trellis_sizes(const search_args& a, F f) {
#if defined(__CUDACC__)
  if (a.streams > 2 && a.order != order_of_columns) return f.template operator()<any_sizes>();
#endif
  return with_sizes(a, f);
}

/// `Local`: paths in local memory or registers instead of scratch, for a CUDA thread that has few.
template <class S, trellis_algorithm Algorithm, int Tile, bool Local = false>
struct trellis_op : thread_op<search_args> {
  static constexpr int tile = Tile;
  // Measured on an H100: more registers for more points.
  static constexpr int resident = !S::pam::known          ? 1
                                  : S::pam::capacity == 1 ? 6
                                  : S::pam::capacity == 2 ? 5
                                  : S::pam::capacity == 3 ? 3
                                                          : 2;
  static constexpr bool points = Algorithm == trellis_algorithm::one_pass;
  std::size_t scratch(int) const {
    if (Local) return 0;
    const int planes = (1 + 2 * (a.streams - 1) + (points ? a.streams : 0) + 3) / 4;
    const int stages = S::pam::known ? 1 : 2;  // those of known sizes work in place
    return (std::size_t{4} << 2 * a.pam_bits) * static_cast<std::size_t>(planes * stages);
  }
  /// Of each stage the edges, two operations each, and the paths that stay; for MTT the extensions. A prior
  /// adds a cost to each vertex and edge of a path, and slicing looks at all levels.
  double flops() const {
    const double n = a.streams, levels = 1 << a.pam_bits, vertices = levels * levels, bits = a.pam_bits;
    double operations = lattice_flops(a) + prior_flops(a) + vertices * 4 * n + llr_flops(a);
    if (a.prior.data) operations += vertices * 2 * n;
    for (int k = 0; k < a.streams - 1; k++) {
      const bool path_wanted = k > 0 || points;
      operations += levels * vertices * (4 + 2 * levels) + vertices * (path_wanted ? 4 + 4 * k : 2);
    }
    if constexpr (points) {
      operations += vertices * (2 + 2 * bits * n);
    } else {
      for (int k = 0; k < a.streams; k++)
        operations +=
            vertices * (1 + bits + (a.prior.data ? 4 * levels : 10) * k + 2 * k * (k - 1)) + levels * bits;
    }
    return operations;
  }
  double bytes() const { return detect_bytes(a); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using N = typename S::streams;
    using B = typename S::pam;
    const S s(a);
    lattice<N, T> m;
    T n0;
    const auto order = trellis_order(a, s, item);
    auto good = load_lattice(a, s, item, order, m, n0);
    with_prior(a, s, item, order, n0, good, [&](auto* costs) WB_INLINE_LAMBDA {
      if constexpr (Local) {
        T local[(4 << 2 * B::capacity) * trellis_planes(N::capacity, points)];
        search(item, g, s, order, m, costs, local, n0, good);
      } else {
        search(item, g, s, order, m, costs, scratch, n0, good);
      }
    });
  }

 private:
  template <class T, class G, class Order, class Costs>
  WB_HD void search(item<T> item, G g, S s, const Order& order, const lattice<typename S::streams, T>& m,
                    const Costs* costs, T* memory, T n0, typename rebind<T>::mask good) const {
    using N = typename S::streams;
    using B = typename S::pam;
    trellis<G, N, B, T, points, Costs> t(g, s.n, s.b, m, costs, memory);
    if constexpr (points) {
      hypotheses<N, B, T> found;
      found.clear(s.n, s.b);
      t.one_pass(found);
      found.merge(g, s.n, s.b);
      store_llrs(a, s.n, s.b, item, g, order, llr_scale(n0), good,
                 [&](int k, int i) WB_INLINE_LAMBDA { return found.difference(s.b, k, i); });
    } else {
      minima<N, B, T> found;
      t.multi_pass(found);
      store_llrs(a, s.n, s.b, item, g, order, llr_scale(n0), good,
                 [&](int k, int i) WB_INLINE_LAMBDA { return found.difference(s.b, k, i); });
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
