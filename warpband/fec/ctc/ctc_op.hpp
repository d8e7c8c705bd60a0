#pragma once
// Decoder and encoder of convolutional turbo codes as ops: load, phases, store.
#include <warpband/core/large_llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/ctc/ctc_args.hpp>
#include <warpband/fec/ctc/ctc_body.hpp>
#include <warpband/fec/trellis/max_star_table.hpp>

namespace wb {
inline namespace WB_ISA {

/// Coded: with extrinsics of the coded bits.
template <class M, bool Coded = false>
struct ctc_decode_op : block_op<ctc_decode_args> {
  using C = ctc_trellis;
  static constexpr int S = C::states;
  static constexpr bool has_large = requires { typename M::of_large_llrs; };

  int threads() const { return a.windows; }
  /// Symbols, two parities, two extrinsics of four values each, alpha; then the borders.
  std::size_t scratch(int) const {
    const int size = (a.couples + a.windows - 1) / a.windows * a.windows;  // as ctc_layout's
    return static_cast<std::size_t>((5 * 4 + S) * size + 8 * S * (a.windows + 1));
  }
  /// Of a codeword that does all its iterations. A step of alpha and beta adds 32 branches to 8 states, an
  /// output adds them to 4 symbols.
  double flops() const {
    const bool log = a.algorithm == map_algorithm::log_map;
    const double sum = log ? 1 : 2 + correction_flops_of<M>;  // of an accumulation
    const double load = log ? 8 : 4, normal = log ? 3 * S - 1 : 0;
    const double forward = load + 16 + S * (1 + 3 * sum) + normal,
                 backward = load + 32 + S * (1 + 3 * sum) + normal;
    const double output = 32 + 4 * (1 + 7 * sum) + (log ? 11 : 4 + 4);
    const double segments = log ? 0 : 2.0 * S * a.couples / ctc_segment;
    const double half = a.couples * (forward + backward + output) + segments +
                        static_cast<double>(a.windows) * a.overlap * (forward + backward);
    const double weights = log ? 16 : 3;  // of a channel LLR
    const double store = 8 + 2 * (log ? 2 + 5 + 2 : 2 * (1 + correction_flops_of<M>)+1) +
                         (a.soft.data ? 2 * (log ? 19 : 1) : 0);
    // Coded bits: a half-iteration more of each decoder, whose output has two ratios.
    const double ratio = log ? 19 + division_flops : 3;
    const double coded = !Coded ? 0
                                : 2 * half + a.couples * (2 * (4 + 2 * (2 * (1 + sum) + ratio)) + 4 +
                                                          2 * (4 * (log ? 2 : 2) + 2 * sum + ratio));
    return coded + 2.0 * a.iterations * half + a.couples * (6 * weights + 3 * 4 * (log ? 2 : 1) + store);
  }
  double bytes() const {
    const double k = 2.0 * a.couples;
    return (Coded ? 8.0 : 4.0) * static_cast<double>(a.llr.elements) + (a.bits.data ? 1.0 : 0.0) * k +
           (a.soft.data ? 4.0 : 0.0) * k + (a.iterations_used.data ? 4 : 0) + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using mask = typename rebind<T>::mask;
    const mask large = decode(item, g, scratch, mask_from<mask>(false));
    if constexpr (has_large) {
      if (!any(large)) return;
      g.sync();
      ctc_decode_op<typename M::of_large_llrs, Coded>{a}.decode(item, g, scratch, !large);
    }
  }

  /// Decodes the codewords that are not `done`, but for those whose LLRs are too large for M. Returns these.
  template <class T, class G>
  WB_HD_CALL typename rebind<T>::mask decode(item<T> item, G g, T* scratch,
                                             typename rebind<T>::mask done) const {
    using I = typename rebind<T>::i32;
    using mask = typename rebind<T>::mask;
    const int N = a.couples, P = a.windows;
    const ctc_layout layout{N, P};
    const int size = layout.size();
    T *symbol = scratch, *parity1 = symbol + 4 * size, *parity2 = parity1 + 4 * size;
    T *extrinsic1 = parity2 + 4 * size, *extrinsic2 = extrinsic1 + 4 * size, *alpha = extrinsic2 + 4 * size;
    const turbo_borders<C, T> borders{alpha + S * size, P};

    // Load: LLRs become weights of symbols and of pairs of parity bits. An item with a non-finite LLR, or
    // with fewer usable LLRs than bits, becomes an erasure.
    mask bad = mask_from<mask>(false);
    I beyond = I(0), usable = I(0);
    const auto channel = [&](int e) WB_INLINE_LAMBDA {
      const int place = a.received[e];
      if (place < 0) return T(0.f);
      const T x = load(a.llr, static_cast<std::size_t>(place), item);
      const mask finite = is_finite(x);
      if constexpr (has_large) count_large(beyond, x, M::large_llr, turbo_far_llr);
      bad = bad | !finite;
      usable = usable + select(abs(x) > T(a.least), I(1), I(0));
      return saturate(select(finite, x, T(0.f)), M::llr_limit);
    };
    const auto set = [&](T* array, int p, int first, int second) WB_INLINE_LAMBDA {
      T zero[2], one[2];
      M::weights(channel(first), zero[0], one[0]);
      M::weights(channel(second), zero[1], one[1]);
      WB_UNROLL for (int u = 0; u < 4; u++) array[u * size + p] =
          M::product(u >> 1 ? one[0] : zero[0], u & 1 ? one[1] : zero[1]);
    };
    for (int i = g.rank; i < N; i += g.size) {
      const int p = layout.address(i);
      set(symbol, p, i, N + i);
      set(parity1, p, 2 * N + i, 4 * N + i);
      set(parity2, p, 3 * N + i, 5 * N + i);
      WB_UNROLL for (int u = 0; u < 4; u++) extrinsic1[u * size + p] = extrinsic2[u * size + p] =
          M::template one<T>();
    }
    for (int i = g.rank; i < 8 * S * (P + 1); i += g.size) borders.data[i] = M::template one<T>();
    const mask few = g.sum_all(usable) < I(2 * N);
    const I status =
        select(g.any(bad), I(status_erased), select(few, I(status_erased | status_insufficient), I(0)));
    const mask erased = status != I(0);
    mask large = mask_from<mask>(false);
    if constexpr (has_large) {
      large = are_large(g.sum_all(beyond), static_cast<int>(a.llr.elements));
      done = done | large;
      if (all(done)) return large;
    }
    g.sync();

    for (int it = 0;; it++) {
      const bool last = it + 1 == a.iterations, agreement = a.early_stop == ctc_early_stop::sign_agreement;
      const float scale = last ? 1.f : a.scale;
      ctc_half_iteration<C, M>(g, layout, a.overlap,
                               ctc_half<T>{symbol, parity1, extrinsic2, extrinsic1, alpha, nullptr, scale},
                               borders, it & 1, 0, false);
      g.sync();
      const mask differs = ctc_half_iteration<C, M>(
          g, layout, a.overlap,
          ctc_half<T>{symbol, parity2, extrinsic1, extrinsic2, alpha, a.interleaved, scale}, borders, it & 1,
          1, agreement);
      g.sync();
      const mask stopped = agreement ? !g.any(differs) : mask_from<mask>(false);
      const mask leaving = (!done) & (stopped | mask_from<mask>(last));
      if (any(leaving)) {
        for (int i = g.rank; i < N; i += g.size) {
          const int p = layout.address(i);
          T posterior[4];
          WB_UNROLL for (int u = 0; u < 4; u++) posterior[u] =
              M::times(M::times(symbol[u * size + p], extrinsic1[u * size + p]), extrinsic2[u * size + p]);
          WB_UNROLL for (int bit = 0; bit < 2; bit++) {
            const T weight = M::limit_twice(ctc_bit<M>(posterior, bit == 0));
            const std::size_t e = static_cast<std::size_t>(2 * i + bit);
            if (a.bits.data)
              store_int<T>(a.bits, e, item, select((weight > M::template one<T>()) & (!erased), I(1), I(0)),
                           leaving);
            if (a.soft.data) store(a.soft, e, item, select(erased, T(0.f), M::llr(weight)), leaving);
          }
        }
        if (g.rank == 0) {
          if (a.iterations_used.data)
            store_int<T>(a.iterations_used, 0, item, select(erased, I(0), I(it + 1)), leaving);
          if (a.status.data)
            store_int<T>(a.status, 0, item, select(erased, status, select(stopped, I(status_stopped), I(0))),
                         leaving);
        }
        if constexpr (Coded) {
          const ctc_half<T> halves[] = {
              {symbol, parity1, extrinsic2, extrinsic1, alpha, nullptr, scale},
              {symbol, parity2, extrinsic1, extrinsic2, alpha, a.interleaved, scale}};
          const auto put = [&](int e, T weight) WB_INLINE_LAMBDA {
            if (a.received[e] >= 0)
              store(a.coded, static_cast<std::size_t>(a.received[e]), item,
                    select(erased, T(0.f), M::llr(weight)), leaving);
          };
          for (int i = g.rank; i < N; i += g.size) {
            const int p = layout.address(i);
            T outer[4];
            WB_UNROLL for (int u = 0; u < 4; u++) outer[u] =
                M::times(extrinsic1[u * size + p], extrinsic2[u * size + p]);
            WB_UNROLL for (int bit = 0; bit < 2; bit++) {
              // The weights of the other bit alone: the larger of those that differ in this one.
              T without[4];
              WB_UNROLL for (int u = 0; u < 4; u++) without[u] =
                  M::times(max(symbol[u * size + p], symbol[(u ^ (bit == 0 ? 2 : 1)) * size + p]), outer[u]);
              put(bit * N + i, M::limit_twice(ctc_bit<M>(without, bit == 0)));
            }
          }
          for (int d = 0; d < 2; d++)
            ctc_parity_extrinsics<C, M>(g, layout, a.overlap, halves[d], borders, 1 - (it & 1), d,
                                        [&](int j, T y, T w) WB_INLINE_LAMBDA {
                                          put((2 + d) * N + j, y);
                                          put((4 + d) * N + j, w);
                                        });
        }
        g.sync();  // the next iteration writes what others still read
        done = done | leaving;
      }
      if (last || all(done)) break;
    }
    return large;
  }
};

template <bool Coded, class F>
auto with_ctc(const ctc_decode_args& a, F f) {
  switch (a.algorithm) {
    case map_algorithm::max_log_map:
      return f(ctc_decode_op<max_log, Coded>{a});
    case map_algorithm::log_map_table:
      return f(ctc_decode_op<max_star_table, Coded>{a});
    default:
      return f(ctc_decode_op<log_map, Coded>{a});
  }
}

/// A thread encodes a codeword: once from state 0, and once from the state that then follows.
struct ctc_encode_op : thread_op<ctc_encode_args> {
  double flops() const { return 0; }
  double bytes() const { return 2.0 * a.couples + a.sent; }

  /// Three registers, each an int32 lane of 0 or 1.
  template <class I>
  struct state {
    I s1, s2, s3;
    WB_HD I step(I A, I B) {
      const I in = A ^ B ^ s1 ^ s3;
      s3 = s2 ^ B;
      s2 = s1 ^ B;
      s1 = in;
      return in;
    }
  };

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    const int N = a.couples;
    const auto bit = [&](int e) WB_INLINE_LAMBDA {
      return load_int<T>(a.bits, static_cast<std::size_t>(e), item) & I(1);
    };
    const auto put = [&](int e, I x) WB_INLINE_LAMBDA {
      if (a.received[e] >= 0) store_int<T>(a.coded, static_cast<std::size_t>(a.received[e]), item, x);
    };
    for (std::size_t e = static_cast<std::size_t>(a.sent); e < a.coded.elements; e++)
      store_int<T>(a.coded, e, item, I(0));
    for (int d = 0; d < 2; d++) {
      const auto couple = [&](int j, I& A, I& B) WB_INLINE_LAMBDA {
        const int i = d == 0 ? j : a.permutation[j], swapped = d == 1 && j % 2 == 0 ? 1 : 0;
        A = bit(2 * i + swapped);
        B = bit(2 * i + 1 - swapped);
      };
      I A, B;
      state<I> s{I(0), I(0), I(0)};
      for (int j = 0; j < N; j++) {
        couple(j, A, B);
        s.step(A, B);
      }
      const auto circulation = [&](int b) WB_INLINE_LAMBDA {
        const auto part = [&](int column, I x)
                              WB_INLINE_LAMBDA { return (a.circulation[column] >> b & 1) != 0 ? x : I(0); };
        return part(0, s.s3) ^ part(1, s.s2) ^ part(2, s.s1);
      };
      s = {circulation(2), circulation(1), circulation(0)};
      for (int j = 0; j < N; j++) {
        couple(j, A, B);
        if (d == 0) {
          put(j, A);
          put(N + j, B);
        }
        const I s2 = s.s2, s3 = s.s3, in = s.step(A, B);
        put((2 + d) * N + j, in ^ s2 ^ s3);
        put((4 + d) * N + j, in ^ s3);
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
