#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/linalg/cg/cg_body.hpp>
#include <warpband/massive/cluster/cluster_body.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// A stage of decentralised conjugate gradients. An item is a frame. Every member does the same steps with
/// the same sums, so that all have the same residuals.
struct cluster_cg_op : block_op<cluster_cg_args> {
  int threads() const { return a.massive.users <= 32 ? 32 : 64; }
  /// Three vectors.
  std::size_t scratch(int) const { return 6 * static_cast<std::size_t>(a.massive.users); }
  double flops() const {
    const double n = a.massive.users, sides = a.massive.symbols, clusters = a.sums.count;
    if (a.stage == cluster_cg_stage::begin) return (n + 2 * n * sides) * (clusters - 1);
    const double products =
        a.stage == cluster_cg_stage::last ? 0 : clusters * 4 * n * n + 2 * n * (clusters - 1);
    const double step = a.stage == cluster_cg_stage::first ? 0 : 12 * n + 2 * division_flops;
    return sides * (products + step);
  }
  double bytes() const {
    const double n = a.massive.users, sides = a.massive.symbols, clusters = a.sums.count;
    if (a.stage == cluster_cg_stage::begin) return 4 * (n + 2 * n * sides) * (clusters + 1);
    const double products = a.stage == cluster_cg_stage::last ? 0 : 4 * clusters * n * n + 8 * n * sides;
    return products + sides * (8 * n * 6 + 16);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> frames, G g, T* scratch) const {
    const int n = a.massive.users;
    if (a.stage == cluster_cg_stage::begin) return begin(frames, g);
    const packed_vector<T> t{scratch}, r{t.data + 2 * n}, s{r.data + 2 * n};
    T n0 = load(a.massive.noise_var, 0, frames), trace = T(0.f);
    auto good = is_valid_noise(n0, a.massive.in.data ? 0.f : least_massive_n0);
    for (int u = 0; u < n; u++) trace = trace + load_sum(a.starts, static_cast<std::size_t>(u), frames);
    good = good & is_valid_trace(trace);
    n0 = select(good, n0, T(1.f));
    for (int k = 0; k < a.massive.symbols; k++) {
      if (a.stage == cluster_cg_stage::first)
        start(frames, g, k, trace, t);
      else
        step(frames, g, k, n0 * T(1.f / a.massive.symbol_energy), t, r, s);
      if (a.stage == cluster_cg_stage::last)
        finish(frames, g, k, n0, trace, good);
      else
        multiply(frames, g, k, t);
      g.sync();
    }
  }

 private:
  WB_HD std::size_t place(int symbol, int i) const {
    return static_cast<std::size_t>(2 * a.massive.users * symbol + i);
  }
  template <class S>
  WB_HD view<S> of_symbol(view<S> x, int symbol) const {
    return symbol_of(x, symbol, a.massive.symbols);
  }

  template <class T, class G>
  WB_HD void begin(item<T> frames, G g) const {
    const int n = a.massive.users, value_count = n + (a.massive.in.data ? 0 : 2 * n * a.massive.symbols);
    for (int i = g.rank; i < value_count; i += g.size) {
      const std::size_t from = i < n ? gram_place(i, i) : static_cast<std::size_t>(n * n + i - n);
      store(a.start, static_cast<std::size_t>(i), frames, load_sum(a.sums, from, frames));
    }
  }
  /// Value i of the right side of a vector.
  template <class T>
  WB_HD T right_side(item<T> frames, int symbol, int i) const {
    if (a.massive.in.data == nullptr)
      return load_sum(a.starts, static_cast<std::size_t>(a.massive.users) + place(symbol, i), frames);
    return load(parts(of_symbol(a.massive.in, symbol), static_cast<std::size_t>(i & 1)),
                static_cast<std::size_t>(i >> 1), frames);
  }
  /// Where a right side is a number, and not too large.
  template <class T>
  WB_HD auto is_fine(item<T> frames, int symbol, T trace) const {
    T energy = T(0.f);
    for (int i = 0; i < 2 * a.massive.users; i++) {
      const T x = right_side(frames, symbol, i);
      energy = fma(x, x, energy);
    }
    return energy <= (a.massive.in.data ? T(1e24f) : most_matched_energy(trace));
  }

  template <class T, class G>
  WB_HD void start(item<T> frames, G g, int symbol, T trace, const packed_vector<T>& t) const {
    const auto fine = is_fine(frames, symbol, trace);
    for (int i = g.rank; i < 2 * a.massive.users; i += g.size) {
      const T b = select(fine, right_side(frames, symbol, i), T(0.f));
      t.data[i] = b;
      store(a.x, place(symbol, i), frames, T(0.f));
      store(a.r, place(symbol, i), frames, b);
      store(a.t, place(symbol, i), frames, b);
    }
    g.sync();
    if (g.rank != 0) return;
    store_state(frames, symbol, cg_state<T>::of(energy_of(t, a.massive.users), a.massive.residual_squared));
  }

  template <class T>
  WB_HD void store_state(item<T> frames, int symbol, cg_state<T> state) const {
    store(a.energy, static_cast<std::size_t>(symbol), frames, state.energy);
    store(a.least, static_cast<std::size_t>(symbol), frames, state.least);
  }

  /// An iteration, as conjugate_gradients has it; A t = G t + `added` t.
  template <class T, class G>
  WB_HD void step(item<T> frames, G g, int symbol, T added, const packed_vector<T>& t,
                  const packed_vector<T>& r, const packed_vector<T>& s) const {
    const int n = a.massive.users;
    const auto number = static_cast<std::size_t>(symbol);
    for (int i = g.rank; i < 2 * n; i += g.size) {
      t.data[i] = load_stored(a.t, place(symbol, i), frames);
      s.data[i] = fma(added, t.data[i], load_sum(a.products, place(symbol, i), frames));
    }
    cg_state<T> state{load_stored(a.energy, number, frames), load_stored(a.least, number, frames)};
    g.sync();
    T curvature = T(0.f);
    for (int u = 0; u < n; u++) curvature = dot_fma(t.get(u), s.get(u), curvature);
    const T alpha = state.alpha(curvature);
    for (int i = g.rank; i < 2 * n; i += g.size) {
      store(a.x, place(symbol, i), frames, fma(alpha, t.data[i], load_stored(a.x, place(symbol, i), frames)));
      r.data[i] = fnma(alpha, s.data[i], load_stored(a.r, place(symbol, i), frames));
      store(a.r, place(symbol, i), frames, r.data[i]);
    }
    g.sync();
    const T beta = state.beta(energy_of(r, n));
    for (int i = g.rank; i < 2 * n; i += g.size) {
      t.data[i] = fma(beta, t.data[i], r.data[i]);
      store(a.t, place(symbol, i), frames, t.data[i]);
    }
    if (g.rank == 0) store_state(frames, symbol, state);
    g.sync();
  }

  /// The own clusters' G_c t, and their sum.
  template <class T, class G>
  WB_HD void multiply(item<T> frames, G g, int symbol, const packed_vector<T>& t) const {
    const int n = a.massive.users;
    for (int u = g.rank; u < n; u += g.size) {
      const cx<T> product = sum_in_pairs<cx<T>>(a.sums.count, [&](int c) WB_INLINE_LAMBDA {
        const view<const float> gram = term_of(a.sums, c);
        cx<T> sum = {T(0.f), T(0.f)};
        for (int j = 0; j < n; j++) sum = fma(gram_entry(gram, u, j, frames), t.get(j), sum);
        return sum;
      });
      store(a.product, place(symbol, 2 * u), frames, product.re);
      store(a.product, place(symbol, 2 * u + 1), frames, product.im);
    }
  }

  /// Estimates and SINRs of the detector, or what the precoder sends: NaN where it is erased.
  template <class T, class G, class M>
  WB_HD void finish(item<T> frames, G g, int symbol, T n0, T trace, M good) const {
    good = good & is_fine(frames, symbol, trace);
    const bool down = a.massive.in.data != nullptr;
    const T erased = as_float(typename rebind<T>::i32(down ? 0x7fc00000 : 0));
    for (int u = g.rank; u < a.massive.users; u += g.size) {
      const T power = load_sum(a.starts, static_cast<std::size_t>(u), frames);
      const estimate_weight<T> weight = approximate_weight(massive_solver::cg, power, n0);
      const T gain = down ? T(1.f) : weight.gain;
      const T re = gain * load_stored(a.x, place(symbol, 2 * u), frames),
              im = gain * load_stored(a.x, place(symbol, 2 * u + 1), frames);
      const std::size_t user = static_cast<std::size_t>(u);
      store_cx(of_symbol(a.massive.out, symbol), user, frames,
               {select(good, re, erased), select(good, im, erased)});
      if (!down) store(of_symbol(a.massive.sinr, symbol), user, frames, select(good, weight.sinr, T(0.f)));
    }
    if (!down && g.rank == 0) store_status(of_symbol(a.massive.status, symbol), frames, good);
  }
};

}  // namespace WB_ISA
}  // namespace wb
