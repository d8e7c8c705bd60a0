#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/linalg/ldl/ldl_body.hpp>
#include <warpband/massive/massive_body.hpp>
#include <warpband/massive/soft_uplink/soft_uplink_args.hpp>
#include <warpband/massive/soft_uplink/soft_uplink_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Antennas that are staged at a time, and vectors that pass over H at a time.
inline constexpr int soft_uplink_antennas = 8, soft_uplink_vectors = 8;

/// Scratch of a frame: G and B as ldl_body.hpp has matrices, and vectors over users.
template <class T>
struct soft_uplink_memory {
  packed_matrix<T> gram, factor;
  T *rows, *samples;  // staged: [antenna][user], [antenna][vector]
  packed_vector<T> matched, mean, residual, right, middle, solved;  // matched: [vector][user]
  T *deviation, *diagonal, *inverse, *fine;

  WB_HD soft_uplink_memory(T* next, int n) {
    const int ld = n | 1;
    const auto take = [&](int count) WB_INLINE_LAMBDA {
      T* const piece = next;
      next += count;
      return piece;
    };
    gram = {take(2 * n * ld), ld};
    factor = {take(2 * n * ld), ld};
    rows = take(2 * soft_uplink_antennas * n);
    samples = take(2 * soft_uplink_antennas * soft_uplink_vectors);
    matched = {take(2 * soft_uplink_vectors * n)};
    mean = {take(2 * n)};
    residual = {take(2 * n)};
    right = {take(2 * n)};
    middle = {take(2 * n)};
    solved = {take(2 * n)};
    deviation = take(n);
    diagonal = take(n);
    inverse = take(n);
    fine = take(n);
  }
  static std::size_t values(int n) {
    const int count = 4 * n * (n | 1) + 2 * soft_uplink_antennas * (n + soft_uplink_vectors) +
                      2 * soft_uplink_vectors * n + 14 * n;
    return static_cast<std::size_t>(count);
  }
};

/// An item is a frame: one H and `symbols` vectors.
template <int B>
struct soft_uplink_op : block_op<soft_uplink_args> {
  int threads() const { return a.users <= 8 ? 32 : a.users <= 16 ? 64 : 128; }
  std::size_t scratch(int) const { return soft_uplink_memory<lane>::values(a.users); }
  double flops() const {
    const double n = a.users, b = a.antennas, levels = 1 << B, half = n * (n + 1) / 2;
    const double prior = a.prior.data ? 2 * (B * (6 + levels)) : 0;
    const double moments = 2 * (levels * (1 + 1 + 14 + 2 + 3) + division_flops + 2) + square_root_flops;
    double updates = 0;
    for (double k = n - 1; k > 0; k--) updates += k * (k + 1) / 2 + (n - 1 - k) * k;
    const double factor = 4 * half + n + n * division_flops + 4 * updates + 4 * n * (n - 1);
    const double user = 3 * n + 8 * n + 4 * n * n + 40 + 2 * division_flops;
    const double llrs = prior + 2 * (levels * (3 + B) + B * 8);
    return 4 * b * half + a.symbols * (4 * 2 * b * n + factor + n * (moments + prior + user + llrs));
  }
  double bytes() const {
    const double bits = 2.0 * B * a.users;
    return 8.0 * a.antennas * a.users + 4 +
           a.symbols * (8.0 * a.antennas + (a.prior.data ? 4 * bits : 0) + (a.llr.data ? 4 * bits : 0) +
                        (a.bits.data ? bits : 0) + (a.status.data ? 1 : 0));
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using M = typename rebind<T>::mask;
    const soft_uplink_memory<T> m(scratch, a.users);
    T n0 = load(a.noise_var, 0, item), most_energy = T(0.f);
    M good = is_valid_noise(n0, least_massive_n0);
    WB_ROLL for (int first = 0; first < a.symbols; first += soft_uplink_vectors) {
      const int count = a.symbols - first < soft_uplink_vectors ? a.symbols - first : soft_uplink_vectors;
      sums(item, g, m, first, count);
      if (first == 0) {
        T trace = T(0.f);
        for (int u = 0; u < a.users; u++) trace = trace + m.gram.diagonal(u);
        good = good & is_valid_trace(trace);
        n0 = select(good, n0, T(1.f));
        most_energy = most_matched_energy(trace);
        g.sync();
        clean(g, m, good);
      }
      WB_ROLL for (int v = 0; v < count; v++) {
        const packed_vector<T> z{m.matched.data + 2 * v * a.users};
        vector(item, g, m, z, first + v, n0, good, most_energy);
      }
    }
  }

 private:
  template <class E>
  WB_HD view<E> of_vector(const view<E>& vectors, int v) const {
    return symbol_of(vectors, v, a.symbols);
  }

  /// G, with the first vectors, and H^H y of `count` vectors. Antennas are added from the first to the last.
  template <class T, class G>
  WB_HD void sums(item<T> item, G g, const soft_uplink_memory<T>& m, int first, int count) const {
    const int n = a.users, entries = n * (n + 1) / 2;
    const packed_vector<T> rows{m.rows}, samples{m.samples};
    WB_ROLL for (int from = 0; from < a.antennas; from += soft_uplink_antennas) {
      const int staged = a.antennas - from < soft_uplink_antennas ? a.antennas - from : soft_uplink_antennas;
      for (int i = g.rank; i < staged * n; i += g.size)
        rows.put(i, load_cx(a.channel, static_cast<std::size_t>(from * n + i), item));
      for (int i = g.rank; i < staged * count; i += g.size)
        samples.put(i, load_cx(of_vector(a.received, first + i % count),
                               static_cast<std::size_t>(from + i / count), item));
      g.sync();
      const bool fresh = from == 0;
      const cx<T> none = {T(0.f), T(0.f)};
      if (first == 0) {
        int r = 0, before = 0;  // entries of the rows above
        for (int i = g.rank; i < entries; i += g.size) {
          while (before + r + 1 <= i) before += ++r;
          const int c = i - before;
          cx<T> sum = fresh ? none : m.gram.get(r, c);
          for (int b = 0; b < staged; b++) sum = conj_fma(rows.get(b * n + c), rows.get(b * n + r), sum);
          m.gram.put(r, c, sum);
        }
      }
      for (int i = g.rank; i < count * n; i += g.size) {
        const int v = i / n, u = i - v * n;
        cx<T> sum = fresh ? none : m.matched.get(i);
        for (int b = 0; b < staged; b++) sum = conj_fma(rows.get(b * n + u), samples.get(b * count + v), sum);
        m.matched.put(i, sum);
      }
      g.sync();
    }
  }
  /// The unit matrix for G of frames that are not good.
  template <class T, class G, class M>
  WB_HD void clean(G g, const soft_uplink_memory<T>& m, M good) const {
    for_triangle<true>(a.users, g, [&](int r, int c) WB_INLINE_LAMBDA {
      m.gram.put(r, c, entry_if(good, m.gram.get(r, c), r == c));
    });
    g.sync();
  }
  /// Entry (u, j) of G.
  template <class T>
  WB_HD static cx<T> entry(const packed_matrix<T>& gram, int u, int j) {
    return j >= u ? gram.get(j, u) : conj(gram.get(u, j));
  }

  template <class T, class G, class M>
  WB_HD void vector(item<T> item, G g, const soft_uplink_memory<T>& m, const packed_vector<T>& z, int v, T n0,
                    M good, T most_energy) const {
    const int n = a.users;
    good = good & moments(item, g, m, z, v, most_energy);
    for_triangle<true>(n, g, [&](int r, int c) WB_INLINE_LAMBDA {
      cx<T> entry = (m.deviation[r] * m.deviation[c]) * m.gram.get(r, c);
      if (r == c) {
        entry.re = entry.re + n0;
        m.diagonal[r] = entry.re;
      }
      m.factor.put(r, c, entry);
    });
    for (int u = g.rank; u < n; u += g.size) {
      cx<T> e = {select(good, z.get(u).re, T(0.f)), select(good, z.get(u).im, T(0.f))};
      for (int j = 0; j < n; j++) e = fnma(entry(m.gram, u, j), m.mean.get(j), e);
      m.residual.put(u, e);
      m.right.put(u, m.deviation[u] * e);
    }
    g.sync();
    good = good & invert_factor(n, m.factor, m.diagonal, m.inverse, g);
    substitute(n, 1, m.factor, m.inverse, m.right, m.middle, m.solved, g);
    for (int u = g.rank; u < n; u += g.size) user(item, m, u, v, n0, good);
    if (a.status.data && g.rank == 0) store_status(of_vector(a.status, v), item, good);
    g.sync();
  }
  /// Means and deviations of all users. Returns where priors and what is received are good.
  template <class T, class G>
  WB_HD auto moments(item<T> item, G g, const soft_uplink_memory<T>& m, const packed_vector<T>& z, int v,
                     T most_energy) const {
    const int n = a.users;
    const auto prior = of_vector(a.prior, v);
    for (int u = g.rank; u < n; u += g.size) {
      T cost[1 << B], variance = T(0.f);
      const std::size_t first = static_cast<std::size_t>(u * 2 * B);
      auto fine = user_costs<B>(prior, first, item, cost);
      const T re = user_mean<B>(cost, variance);
      fine = fine & user_costs<B>(prior, first + 1, item, cost);
      const T im = user_mean<B>(cost, variance);
      m.mean.put(u, {re, im});
      m.deviation[u] = sqrt(variance);
      m.fine[u] = select(fine, T(1.f), T(0.f));
    }
    g.sync();
    T least = T(1.f);
    for (int u = 0; u < n; u++) least = min(least, m.fine[u]);
    return (energy_of(z, n) <= most_energy) & (least > T(0.f));
  }
  /// Estimate and LLRs of one user. Where little is unknown of it q and r come without a division by E.
  template <class T, class M>
  WB_HD void user(item<T> item, const soft_uplink_memory<T>& m, int u, int v, T n0, M good) const {
    const int n = a.users;
    const T deviation = m.deviation[u], one = T(1.f) / n0;
    const T p = min(max(n0 * inverse_diagonal(m.factor, m.inverse, u), T(1e-37f)), T(1.f));
    const auto known = p > T(0.5f);
    // |D^-1/2 V^-1 D g_u|^2 of the factors of B, and r from the residual.
    T square = T(0.f);
    cx<T> rest = m.residual.get(u);
    for (int k = 0; k < n; k++) {
      cx<T> s = m.deviation[k] * entry(m.gram, k, u);
      for (int j = k + 1; j < n; j++) s = fnma(m.factor.get(j, k), m.deviation[j] * entry(m.gram, j, u), s);
      square = dot_fma(m.inverse[k] * s, s, square);
      rest = fnma(entry(m.gram, u, k), m.deviation[k] * m.solved.get(k), rest);
    }
    const T part = T(1.f) / select(known, T(1.f), deviation);
    const T q = select(known, max((m.gram.diagonal(u) - square) * one, T(0.f)), (T(1.f) - p) * part * part);
    const cx<T> x = m.solved.get(u), mean = m.mean.get(u);
    const cx<T> r = {select(known, rest.re * one, x.re * part), select(known, rest.im * one, x.im * part)};
    const T over = T(1.f) / p, weight = saturate(q * over, most_user_weight);
    const cx<T> pull = {saturate(fma(q, mean.re, r.re) * over, most_user_weight),
                        saturate(fma(q, mean.im, r.im) * over, most_user_weight)};
    store(item, u, v, weight, pull, good);
  }
  template <class T, class M>
  WB_HD void store(item<T> item, int u, int v, T weight, cx<T> pull, M good) const {
    const float limit = a.clip < 3e38f ? a.clip : 3e38f;
    const auto prior = of_vector(a.prior, v);
    const auto llrs = of_vector(a.llr, v);
    const auto bits = of_vector(a.bits, v);
    WB_ROLL for (int q = 0; q < 2; q++) {
      T cost[1 << B], llr[B];
      const std::size_t first = static_cast<std::size_t>(u * 2 * B + q);
      user_costs<B>(prior, first, item, cost);
      user_llrs<B>(weight, q ? pull.im : pull.re, cost, llr);
      WB_UNROLL for (int i = 0; i < B; i++) {
        const std::size_t place = first + static_cast<std::size_t>(2 * i);
        T x = saturate(llr[i], 3e38f);
        if (a.extrinsic && a.prior.data) x = x - saturate(load(prior, place, item), most_user_prior);
        x = select(good, saturate(x, limit), T(0.f));
        if (a.llr.data) wb::store(llrs, place, item, x);
        if (a.bits.data) store_int<T>(bits, place, item, decide(x));
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
