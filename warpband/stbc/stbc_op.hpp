#pragma once
// The two ends of every space-time decoder's op: a codeword from memory, and its LLRs or decisions to memory.
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/stbc/stbc_args.hpp>
#include <warpband/stbc/stbc_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// All that a code needs of Y and H, as sums over the receive antennas: h_k is the gain from antenna k, y_k
/// what arrives in slot k.
template <class T>
struct codeword_sums {
  using M = typename rebind<T>::mask;
  T n1, n2;          // |h1|^2, |h2|^2
  cx<T> t;           // h1* h2
  cx<T> a, b, c, d;  // h1* y1, h2* y2, h2* y1, h1* y2
  T n0;
  M good;  // elsewhere the sums are those of a channel of unit gains and nothing received

  WB_HD codeword_sums(const stbc_decode_args& args, item<T> item) {
    const cx<T> none = {T(0.f), T(0.f)};
    n0 = load(args.noise_var, 0, item);
    n1 = n2 = T(0.f);
    t = a = b = c = d = none;
    T energy = T(0.f);
    const auto add = [&](cx<T> h1, cx<T> h2, cx<T> y1, cx<T> y2) WB_INLINE_LAMBDA {
      n1 = norm_fma(h1, n1);
      n2 = norm_fma(h2, n2);
      energy = norm_fma(y2, norm_fma(y1, energy));
      t = conj_fma(h1, h2, t);
      a = conj_fma(h1, y1, a);
      b = conj_fma(h2, y2, b);
      c = conj_fma(h2, y1, c);
      d = conj_fma(h1, y2, d);
    };
    const std::size_t rx = static_cast<std::size_t>(args.rx_antennas), run = args.codewords_per_channel;
    if (rx == 2) {
      cx<T> y1[2], y2[2], h[2][2];
      load_cx_row(args.received, 0, item, 1, y1);
      load_cx_row(args.received, 2, item, 1, y2);
      load_cx_row(args.channel, 0, item, run, h[0]);
      load_cx_row(args.channel, 2, item, run, h[1]);
      WB_UNROLL for (int r = 0; r < 2; r++) add(h[r][0], h[r][1], y1[r], y2[r]);
    } else {
      WB_ROLL for (std::size_t r = 0; r < rx; r++) {
        cx<T> h[2];
        load_cx_row(args.channel, 2 * r, item, run, h);
        add(h[0], h[1], load_cx(args.received, r, item), load_cx(args.received, rx + r, item));
      }
    }
    const T gain = n1 + n2;
    good = (gain <= T(1e30f)) & (energy <= T(1e30f)) & (gain >= T(1e-30f)) & (n0 >= T(1e-30f)) &
           (n0 <= T(1e30f)) & (energy <= T(1e10f) * gain);
    n0 = select(good, n0, T(1.f));
    n1 = select(good, n1, T(1.f));
    n2 = select(good, n2, T(1.f));
    t = or_zero(good, t);
    a = or_zero(good, a);
    b = or_zero(good, b);
    c = or_zero(good, c);
    d = or_zero(good, d);
  }
  /// One over N0, which turns differences of metrics into LLRs.
  WB_HD T llr_scale() const { return T(1.f) / n0; }
};
inline double codeword_sums_flops(const stbc_decode_args& a) { return 28.0 * a.rx_antennas + 2; }
/// Of an LLR: from the difference of minima to memory, where it is not already scaled.
inline constexpr double stored_llr_flops = 5;
/// Of one search over a pair of symbols; `other` is what `metric` takes of the other pair for one hypothesis.
inline double search_flops(int b, bool soft, bool crossed, double other) {
  const double levels = 1 << b, with_cross = crossed ? 4 + 2 * levels : 0;
  const double hypothesis = 5 + other + (soft ? 2 : 1);
  const double row = 6 + levels * hypothesis + 1 + (soft ? b : 0);
  const double first = 12 + with_cross + levels * row + (soft ? 2 * b : 0);
  const double last = 6 + 12 + 6 + (crossed ? 4 : 0) + levels * (5 + 2 + other + 1) + 7;
  return (crossed ? 0 : 2 * levels) + levels * levels * first + (soft ? levels * b : last);
}

/// Device memory a codeword takes at least.
inline double stbc_bytes(const stbc_decode_args& a, int symbols) {
  const double bits = 2.0 * a.pam_bits * symbols;
  return 16.0 * a.rx_antennas * (1 + 1 / static_cast<double>(a.codewords_per_channel)) +
         (a.noise_var.item_stride ? 4 : 0) + (a.llr.data ? 4 * bits : 0) + (a.bits.data ? bits : 0) +
         (a.status.data ? 1 : 0);
}

/// Writes the LLRs of one symbol: `value(q, i)` is that of bit i of its real part (q = 0) or imaginary part,
/// before the clip. Threads of a group share the work.
template <int B, class T, class G, class F>
WB_HD void store_symbol(const stbc_decode_args& a, int symbol, item<T> item, G g,
                        typename rebind<T>::mask good, F value) {
  const float limit = a.clip < 3e38f ? a.clip : 3e38f;
  const std::size_t place = static_cast<std::size_t>(symbol * 2 * B);
  if constexpr (G::size == 1) {
    T llr[2 * B];
    WB_UNROLL for (int e = 0; e < 2 * B; e++) llr[e] =
        select(good, saturate(value(e & 1, e >> 1), limit), T(0.f));
    store_row(a.llr, place, item, llr);
    if (a.bits.data) {
      WB_UNROLL for (int e = 0; e < 2 * B; e++)
          store_int<T>(a.bits, place + static_cast<std::size_t>(e), item, decide(llr[e]));
    }
  } else {
    WB_UNROLL for (int e = 0; e < 2 * B; e++) {
      if ((symbol * 2 * B + e) % g.size != g.rank) continue;
      const T llr = select(good, saturate(value(e & 1, e >> 1), limit), T(0.f));
      store(a.llr, place + static_cast<std::size_t>(e), item, llr);
      if (a.bits.data) store_int<T>(a.bits, place + static_cast<std::size_t>(e), item, decide(llr));
    }
  }
}
/// Writes the bits of the symbol nearest to w, whose levels are g apart from 0. One thread of a group does.
template <int B, class T, class G>
WB_HD void store_decision(const stbc_decode_args& a, int symbol, item<T> item, G g,
                          typename rebind<T>::mask good, const folds<B, T>& borders, cx<T> w) {
  using I = typename rebind<T>::i32;
  if (g.rank != 0 || a.bits.data == nullptr) return;
  WB_UNROLL for (int q = 0; q < 2; q++) {
    borders.each_bit(q ? w.im : w.re, [&](int i, T v) WB_INLINE_LAMBDA {
      const auto one = i == 0 ? v < T(0.f) : v > T(0.f);
      store_int<T>(a.bits, static_cast<std::size_t>(symbol * 2 * B + 2 * i + q), item,
                   select(good & one, I(1), I(0)));
    });
  }
}
template <class T, class G>
WB_HD void store_status(const stbc_decode_args& a, item<T> item, G g, typename rebind<T>::mask good) {
  if (a.status.data && g.rank == 0) store_status(a.status, item, good);
}
/// Writes the LLRs of a pair of symbols from its minima.
template <int B, class T, class G>
WB_HD void store_pair(const stbc_decode_args& a, int symbol, item<T> item, G g,
                      const pair_minima<B, T>& found, T scale, typename rebind<T>::mask good) {
  WB_UNROLL for (int k = 0; k < 2; k++)
      store_symbol<B>(a, symbol + k, item, g, good,
                      [&](int q, int i) WB_INLINE_LAMBDA { return found.difference(2 * k + q, i) * scale; });
}

}  // namespace WB_ISA
}  // namespace wb
