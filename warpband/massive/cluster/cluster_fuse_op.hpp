#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/llr_steps.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/linalg/flops.hpp>
#include <warpband/massive/cluster/cluster_body.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>
#include <warpband/modem/demap/demap_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Weights of the clusters' estimates are at most this, so that their sum is a number.
inline constexpr float most_cluster_weight = 1e36f;

/// Where all terms of an item are not erased.
template <class T>
WB_HD auto none_erased(const cluster_terms<const std::uint8_t>& states, item<T> vector) {
  using I = typename rebind<T>::i32;
  I any = I(0);
  for (int i = 0; i < states.count; i++) any = any | load_int<T>(term_of(states, i), 0, vector);
  return (any & I(status_erased)) == I(0);
}

/// x = sum of w_c x_c over w = sum of w_c for each user, and LLRs of x with the SINR w. An item is a vector.
template <int B>
struct cluster_fuse_op : block_op<cluster_fuse_args> {
  int threads() const { return 32; }
  double flops() const {
    const double levels = 1 << B, llrs = 2 + 2 * (2 + 3 * levels + B * (levels + 2));
    return a.users * (a.estimates.count * 6 + division_flops + (a.llr.data || a.llr8.data ? llrs : 0));
  }
  double bytes() const {
    const double outputs =
        (a.llr.data ? 8 * B : 0) + (a.llr8.data ? 2 * B : 0) + (a.out.data ? 8 : 0) + (a.sinr.data ? 4 : 0);
    return a.users * (12 * a.estimates.count + outputs) + a.estimates.count + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> vector, G g, T*) const {
    const auto good = none_erased(a.states, vector);
    for (int u = g.rank; u < a.users; u += g.size) fuse(vector, u, good);
    if (a.status.data && g.rank == 0) store_status(a.status, vector, good);
  }

 private:
  template <class T>
  WB_HD T weight_of(item<T> vector, std::size_t user, int i) const {
    return min(load(term_of(a.sinrs, i), user, vector), T(most_cluster_weight));
  }
  template <class T, class M>
  WB_HD void fuse(item<T> vector, int u, M good) const {
    const std::size_t user = static_cast<std::size_t>(u);
    const int count = a.estimates.count;
    const T sinr = sum_in_pairs<T>(count, [&](int i) WB_INLINE_LAMBDA { return weight_of(vector, user, i); });
    const auto some = sinr > T(0.f);
    const T one = select(some, T(1.f) / select(some, sinr, T(1.f)), T(0.f));
    const cx<T> x = sum_in_pairs<cx<T>>(count, [&](int i) WB_INLINE_LAMBDA {
      const cx<T> part = load_cx(term_of(a.estimates, i), user, vector);
      return count == 1 ? part : (one * weight_of(vector, user, i)) * part;
    });
    if (a.out.data) store_cx(a.out, user, vector, {select(good, x.re, T(0.f)), select(good, x.im, T(0.f))});
    if (a.sinr.data) store(a.sinr, user, vector, select(good, sinr, T(0.f)));
    if (!a.llr.data && !a.llr8.data) return;
    T llr[2 * B];
    estimate_llrs<B>(x, sinr, good, a.clip, llr);
    WB_UNROLL for (int j = 0; j < 2 * B; j++) {
      const std::size_t element = 2 * B * user + static_cast<std::size_t>(j);
      if (a.llr.data) store(a.llr, element, vector, llr[j]);
      if (a.llr8.data) store_int<T>(a.llr8, element, vector, to_steps(llr[j], a.steps));
    }
  }
};

struct cluster_energy_op : block_op<cluster_energy_args> {
  int threads() const { return a.users <= 32 ? 32 : 64; }
  std::size_t scratch(int) const { return static_cast<std::size_t>(a.users); }
  double flops() const { return a.symbols * a.users * (4.0 * a.users + 3); }
  double bytes() const { return 4.0 * a.users * a.users + a.symbols * (8.0 * a.users + 8); }

  template <class T, class G>
  WB_HD void operator()(item<T> frames, G g, T* part) const {
    for (int k = 0; k < a.symbols; k++) {
      const view<const cx_pair> z = symbol_of(a.z, k, a.symbols);
      for (int u = g.rank; u < a.users; u += g.size) {
        cx<T> sum = {T(0.f), T(0.f)};
        for (int j = 0; j < a.users; j++)
          sum = fma(gram_entry(a.gram, u, j, frames), load_cx(z, static_cast<std::size_t>(j), frames), sum);
        const cx<T> entry = load_cx(z, static_cast<std::size_t>(u), frames);
        part[u] = fma(entry.im, sum.im, entry.re * sum.re);
      }
      g.sync();
      if (g.rank == 0) {
        T energy = T(0.f);
        for (int u = 0; u < a.users; u++) energy = energy + part[u];
        store(symbol_of(a.member_energy, k, a.symbols), 0, frames, energy);
        store(symbol_of(a.total_energy, k, a.symbols), 0, frames, energy);
      }
      g.sync();
    }
  }
};

/// What the clusters send, with the power of all together. An item is a vector.
struct cluster_join_op : block_op<cluster_join_args> {
  int threads() const { return 128; }
  double flops() const { return 2.0 * static_cast<double>(a.sent.elements); }
  double bytes() const { return 16.0 * static_cast<double>(a.sent.elements) + a.states.count; }

  template <class T, class G>
  WB_HD void operator()(item<T> vector, G g, T*) const {
    const auto good = none_erased(a.states, vector);
    T factor = T(a.factor);
    if (a.member_energy.data) {
      const T total_energy = load(a.total_energy, 0, vector);
      const auto some = total_energy > T(0.f);  // false where it is no number
      const T member_energy = select(some, load(a.member_energy, 0, vector), T(0.f));
      factor = sqrt(member_energy / select(some, total_energy, T(1.f)));
    }
    const view<const cx_pair> from = {a.sent.data, a.sent.elements, a.sent.items, a.sent.element_stride,
                                      a.sent.item_stride};
    for (int b = g.rank; b < static_cast<int>(a.sent.elements); b += g.size) {
      const std::size_t element = static_cast<std::size_t>(b);
      store_cx(a.sent, element, vector, or_zero(good, factor * load_cx(from, element, vector)));
    }
    if (a.status.data && g.rank == 0) store_status(a.status, vector, good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
