#pragma once
// The detector's generic kernel: sums and solver of a `massive_engine`, then weights, SINRs and LLRs. On a
// CUDA device the calls of mapping.hpp take uplink_frames.hpp instead, which repeats this.
#include <warpband/core/llr.hpp>
#include <warpband/core/llr_steps.hpp>
#include <warpband/massive/massive_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Gram matrix and matched filters from H and y.
struct sums_over_antennas {
  template <class Engine>
  WB_HD void operator()(const Engine& e, int symbol, int count) const {
    e.template products<true>(symbol, count, symbol == 0);
  }
};

template <class Users>
struct uplink_op : massive_call {
  explicit uplink_op(const massive_args& args) : massive_call(args, false) {}

  int threads() const { return massive_threads(a, p, true); }
  double flops() const {
    const double n = a.users, levels = 1 << a.pam_bits,
                 per_symbol = 2 + 2 * (2 + 3 * levels + a.pam_bits * (levels + 2)),
                 rounding = 2 * a.pam_bits * 4;
    return massive_flops(a, true) +
           a.symbols * n * (2 + (a.llr.data || a.llr8.data ? per_symbol : 0) + (a.llr8.data ? rounding : 0));
  }
  double bytes() const {
    const double n = a.users, b = a.antennas;
    const double of_h = a.half_channel.data ? 4 : 8, of_y = a.half_in.data ? 4 : 8;
    return of_h * b * n + 4 +
           a.symbols * (of_y * b +
                        n * ((a.llr.data ? 8 * a.pam_bits : 0) + (a.llr8.data ? 2 * a.pam_bits : 0) +
                             (a.out.data ? 8 : 0) + (a.sinr.data ? 4 : 0)) +
                        (a.status.data ? 1 : 0));
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int frames, G g, void* scratch) const {
    run(first, frames, g, static_cast<lane*>(scratch));
  }
  /// `sums(engine, symbol, count)` makes the matched filters of `count` vectors from `symbol` on and, with
  /// the first of a frame, the Gram matrix. It ends with all threads having met.
  template <class T, class G, class Sums = sums_over_antennas>
  WB_HD void run(std::size_t first, int frames, G g, T* scratch, const Sums& sums = Sums()) const {
    massive_engine<Users, T, G> e(a, p, g, first, frames, scratch);
    for (int symbol = 0; symbol < a.symbols; symbol += p.sides) {
      const int count = a.symbols - symbol < p.sides ? a.symbols - symbol : p.sides;
      sums(e, symbol, count);
      if (symbol == 0) {
        e.prepare(true, least_massive_n0);
        e.most_energy = most_matched_energy(e.trace);
        weigh(e);
        g.sync();
      }
      const packed_vector<T> z = e.solve(count);
      with_pam_bits(a.pam_bits, [&]<int B>() WB_INLINE_LAMBDA { finish<B>(e, z, symbol, count); });
      g.sync();
    }
  }

 private:
  /// What estimates are multiplied with, and the SINR behind it.
  template <class T, class G>
  WB_HD void weigh(massive_engine<Users, T, G>& e) const {
    for (int u = e.g.rank; u < e.n; u += e.g.size) {
      const auto interference = [&](T gain) WB_INLINE_LAMBDA {
        T others = e.n0;
        for (int j = 0; j < e.n; j++) {
          if (j == u) continue;
          const cx<T> h = j < u ? e.m.get(u, j) : e.m.get(j, u),
                      part = gain * h;  // scaled before it is squared
          others = dot_fma(part, h, others);
        }
        return others;
      };
      const auto inverse = [&]() WB_INLINE_LAMBDA { return inverse_diagonal(e.m, e.inverse, u); };
      const T power = e.diagonal[u];
      const estimate_weight<T> w = a.exact_sinr ? exact_weight(a.solver, power, e.n0, interference, inverse)
                                                : approximate_weight(a.solver, power, e.n0);
      e.gain[u] = w.gain;
      e.sinr[u] = w.sinr;
    }
  }

  /// Estimates to outputs.
  template <int B, class T, class G>
  WB_HD void finish(const massive_engine<Users, T, G>& e, packed_vector<T> z, int symbol, int count) const {
    using I = typename rebind<T>::i32;
    for (int k = 0; k < (width_of<T> > 1 ? count : 1);
         k++) {  // lanes of frames: LLRs of a vector are transposed
      const int from = width_of<T> > 1 ? k * e.n : 0, to = width_of<T> > 1 ? from + e.n : count * e.n;
      for (int i = from + e.g.rank; i < to; i += e.g.size) {
        const int side = i / e.n, u = i - side * e.n;
        const auto good = e.good & (e.numbers[side] > T(0.f));
        const std::size_t user = static_cast<std::size_t>(u);
        const cx<T> x = e.gain[u] * z.get(i);
        if (a.out.data)
          store_cx(e.of_symbol(a.out, symbol + side), user, e.frames(),
                   {select(good, x.re, T(0.f)), select(good, x.im, T(0.f))});
        if (a.sinr.data)
          store(e.of_symbol(a.sinr, symbol + side), user, e.frames(), select(good, e.sinr[u], T(0.f)));
        if (!a.llr.data && !a.llr8.data) continue;
        T llr[2 * B];
        estimate_llrs<B>(x, e.sinr[u], good, a.clip, llr);
        if constexpr (width_of<T> > 1) {
          WB_UNROLL for (int j = 0; j < 2 * B; j++) e.llr[2 * B * u + j] = llr[j];
        } else {
          if (a.llr.data) store_row(e.of_symbol(a.llr, symbol + side), 2 * B * user, e.frames(), llr);
          if (a.llr8.data)
            store_steps_row(e.of_symbol(a.llr8, symbol + side), 2 * B * user, e.frames(), llr, a.steps);
        }
      }
      if constexpr (width_of<T> > 1) {
        int i = 0;
        for (; i + width_of<T> <= 2 * B * e.n; i += width_of<T>) {
          const std::size_t element = static_cast<std::size_t>(i);
          if (a.llr.data) store_square(e.of_symbol(a.llr, symbol + k), element, e.frames(), e.llr + i);
          if (a.llr8.data)
            store_steps_square(e.of_symbol(a.llr8, symbol + k), element, e.frames(), e.llr + i, a.steps);
        }
        for (; i < 2 * B * e.n; i++) {
          const std::size_t element = static_cast<std::size_t>(i);
          if (a.llr.data) store(e.of_symbol(a.llr, symbol + k), element, e.frames(), e.llr[i]);
          if (a.llr8.data)
            store_int<T>(e.of_symbol(a.llr8, symbol + k), element, e.frames(), to_steps(e.llr[i], a.steps));
        }
      }
    }
    if (a.status.data)
      for (int k = e.g.rank; k < count; k += e.g.size)
        store_int<T>(e.of_symbol(a.status, symbol + k), 0, e.frames(),
                     select(e.good & (e.numbers[k] > T(0.f)), I(0), I(status_erased)));
  }
};

}  // namespace WB_ISA
}  // namespace wb
