#pragma once
// The turbo decoder and encoder as ops: load, phases, store.
#include <warpband/core/large_llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/turbo/turbo_args.hpp>
#include <warpband/fec/turbo/turbo_coded_body.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

/// Coded: with the extrinsics of all coded bits.
template <class C, class M, bool Coded = false>
struct turbo_decode_op : block_op<turbo_decode_args> {
  static constexpr int Seg = 8;  // steps between checkpoints of alpha
  static constexpr int S = C::states;
  static constexpr bool has_large = requires { typename M::of_large_llrs; };

  int threads() const { return a.windows; }
  std::size_t scratch(int group) const {
    const std::size_t padded = static_cast<std::size_t>(a.k + a.windows * a.pad);
    const std::size_t sharing = static_cast<std::size_t>(group < a.windows ? group : a.windows);
    return 5 * padded + 8 * S * static_cast<std::size_t>(a.windows + 1) +
           sharing * map_window_checkpoints<Seg, C>((a.k + a.windows - 1) / a.windows);
  }
  /// Of a codeword that does all its iterations. A half-iteration steps alpha forward twice and beta back
  /// once with an output, and both over the overlaps. The second pass of alpha starts from the checkpoints,
  /// without the last step before each. Counted by bench/flops_*_test.cpp and equal to the loops of the
  /// machine code for sm_90.
  double flops() const {
    const double weights = a.log_map ? 3 : 1, forward = a.log_map ? 38 : 21, backward = a.log_map ? 39 : 24;
    const double output = a.log_map ? 16 + 5 + 2 : 30 + 1 + 1, normalise = a.log_map ? 0 : 2 * S;
    const int steps = a.k / a.windows, longer = a.k % a.windows;  // so many windows have a step more
    const double segments = (a.windows - longer) * ((steps + Seg - 1) / Seg) + longer * ((steps + Seg) / Seg);
    const double half =
        a.k * (2 * (weights + forward) + backward + output) + segments * (normalise - forward) +
        (a.windows - 1.0) * a.overlap * (2 * weights + forward + backward) +
        correction_flops_of<M> *
            (a.k * (3 * S + 2 * (S - 1)) - segments * S + (a.windows - 1.0) * a.overlap * 2 * S);
    const double load = a.log_map ? 17 : 3, store = a.log_map ? 4 : 2, value = a.log_map ? 19 : 2;
    // Coded bits: one iteration more, of which parity bits and what is stored take more; and the tails.
    const double coded = !Coded ? 0 : a.log_map ? 76.0 * a.k + 970 : 21.0 * a.k + 342;
    return 2.0 * (a.iterations + (Coded ? 1 : 0)) * half + coded + load * 3 * (a.k + 4) +
           a.k * (store + (a.soft.data ? value : 0) + (a.extrinsic.data ? value + (a.log_map ? 2 : 0) : 0));
  }
  double bytes() const {
    return 4.0 * 3 * (a.k + 4) + (a.bits.data ? 1.0 : 0.0) * a.k + (a.soft.data ? 4.0 : 0.0) * a.k +
           (a.extrinsic.data ? 4.0 : 0.0) * a.k + (Coded ? 4.0 : 0.0) * 3 * (a.k + 4) +
           (a.iterations_used.data ? 4 : 0) + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using mask = typename rebind<T>::mask;
    const mask large = decode(item, g, scratch, mask_from<mask>(false));
    if constexpr (has_large) {
      if (!any(large)) return;
      g.sync();
      turbo_decode_op<C, typename M::of_large_llrs, Coded>{a}.decode(item, g, scratch, !large);
    }
  }

  /// Decodes the codewords that are not `done`, but for those whose LLRs are too large for M. Returns these.
  template <class T, class G>
  WB_HD_CALL typename rebind<T>::mask decode(item<T> item, G g, T* scratch,
                                             typename rebind<T>::mask done) const {
    using I = typename rebind<T>::i32;
    using mask = typename rebind<T>::mask;
    const int K = a.k, P = a.windows;
    const turbo_layout layout{K, P, a.pad};
    const int padded = layout.padded();
    T *systematic = scratch, *parity1 = systematic + padded, *parity2 = parity1 + padded;
    T *extrinsic1 = parity2 + padded, *extrinsic2 = extrinsic1 + padded;
    const turbo_borders<C, T> borders{extrinsic2 + padded, P};
    T* checkpoints = borders.data + 8 * S * (P + 1);

    // Load: LLRs become weights. An item with a non-finite LLR becomes an erasure as a whole. So does an item
    // with fewer LLRs that are not 0 than it has bits.
    mask bad = mask_from<mask>(false);
    I beyond = I(0);  // LLRs that are_large counts
    I usable = I(0);
    auto channel = [&](int e) WB_INLINE_LAMBDA {
      const T x = load(a.llr, static_cast<std::size_t>(e), item);
      const mask finite = is_finite(x);
      if constexpr (has_large) count_large(beyond, x, M::large_llr, turbo_far_llr);
      bad = bad | !finite;
      usable = usable + select(abs(x) > T(a.least), I(1), I(0));
      return M::weight(select(finite, x, T(0.f)));
    };
    for (int i = g.rank; i < K; i += g.size) {
      const int p = layout.address(i);
      systematic[p] = channel(i);
      parity1[p] = channel(K + 4 + i);
      parity2[p] = channel(2 * (K + 4) + i);
      extrinsic1[p] = extrinsic2[p] = M::template one<T>();
    }
    for (int i = g.rank; i < 8 * S * (P + 1); i += g.size) borders.data[i] = M::template one<T>();
    g.sync();
    for (int d = g.rank; d < 2; d += g.size) {
      // Tail bits of decoder d in 36.212 order: six consecutive places of d0[K+i], d1[K+i], d2[K+i], ...
      T tail[6], b[S], start[S];
      WB_UNROLL for (int i = 0; i < 6; i++) {
        const int n = 6 * d + i;
        tail[i] = channel(n % 3 * (K + 4) + K + n / 3);
      }
      beta_of_tail<C, M>(tail, b);
      WB_UNROLL for (int s = 0; s < S; s++) start[s] = s ? M::template zero<T>() : M::template one<T>();
      for (int buffer = 0; buffer < 2; buffer++) {
        borders.keep(borders.at(buffer, d, 0, 0), start);
        borders.keep(borders.at(buffer, d, 1, P), b);
      }
    }
    const mask few = g.sum_all(usable) < I(K);
    I status =
        select(g.any(bad), I(status_erased), select(few, I(status_erased | status_insufficient), I(0)));
    mask large = mask_from<mask>(false);
    if constexpr (has_large) {
      large = are_large(g.sum_all(beyond), 3 * (K + 4));
      done = done | large;
      if (all(done)) return large;
    }
    g.sync();

    for (int it = 0;; it++) {
      const int buffer = it & 1;
      const bool last = it + 1 == a.iterations;
      const float scale = last ? 1.f : a.scale;
      turbo_half_iteration<Seg, C, M>(
          g, layout, a.overlap, turbo_half<T>{systematic, parity1, extrinsic2, extrinsic1, nullptr, scale},
          borders, buffer, 0, checkpoints, false);
      g.sync();
      const mask differs = turbo_half_iteration<Seg, C, M>(
          g, layout, a.overlap,
          turbo_half<T>{systematic, parity2, extrinsic1, extrinsic2, a.interleaved, scale}, borders, buffer,
          1, checkpoints, a.early_stop == turbo_early_stop::sign_agreement);
      g.sync();

      mask stopped = mask_from<mask>(false);
      const bool may_stop = it + 1 >= a.least_iterations;
      if (may_stop && a.early_stop == turbo_early_stop::sign_agreement) {
        stopped = !g.any(differs);
      } else if (may_stop && a.early_stop == turbo_early_stop::crc) {
        I remainder = I(0);
        mask ones = mask_from<mask>(false);
        for (int i = g.rank; i < K; i += g.size) {
          const int p = layout.address(i);
          const T L = M::times(M::times(systematic[p], extrinsic1[p]), extrinsic2[p]);
          const mask one = L > M::template one<T>();
          remainder = remainder ^ select(one, I(a.crc_weights[i]), I(0));
          ones = ones | one;
        }
        stopped = g.xor_all(remainder) == I(0);
        const mask zeros = stopped & (!g.any(ones)) & (!done);
        if (a.doubts_zeros && any(zeros))
          status = select(zeros & (status == I(0)) & (!supports_zeros(item, g)),
                          I(status_erased | status_insufficient), status);
      }
      const mask erased = status != I(0);
      const mask leaving = (!done) & (stopped | mask_from<mask>(last));
      if (any(leaving)) {
        // Store: what a codeword gets does not depend on its neighbours in the vector.
        for (int i = g.rank; i < K; i += g.size) {
          const int p = layout.address(i);
          const std::size_t e = static_cast<std::size_t>(i);
          const T outer = M::times(extrinsic1[p], extrinsic2[p]);
          const T posterior = M::limit_twice(M::times(systematic[p], outer));
          if (a.bits.data)
            store_int<T>(a.bits, e, item, select((posterior > M::template one<T>()) & (!erased), I(1), I(0)),
                         leaving);
          if (a.soft.data) store(a.soft, e, item, select(erased, T(0.f), M::llr(posterior)), leaving);
          if (a.extrinsic.data)
            store(a.extrinsic, e, item, select(erased, T(0.f), M::llr(M::limit_twice(outer))), leaving);
        }
        if (g.rank == 0) {
          if (a.iterations_used.data)
            store_int<T>(a.iterations_used, 0, item, select(erased, I(0), I(it + 1)), leaving);
          if (a.status.data)
            store_int<T>(a.status, 0, item, select(erased, status, select(stopped, I(status_stopped), I(0))),
                         leaving);
        }
        if constexpr (Coded) {
          const turbo_half<T> halves[] = {
              {systematic, parity1, extrinsic2, extrinsic1, nullptr, scale},
              {systematic, parity2, extrinsic1, extrinsic2, a.interleaved, scale}};
          for (int i = g.rank; i < K; i += g.size) {
            const int p = layout.address(i);
            const T outer = M::limit_twice(M::times(extrinsic1[p], extrinsic2[p]));
            store(a.coded, static_cast<std::size_t>(i), item, select(erased, T(0.f), M::llr(outer)), leaving);
          }
          for (int d = 0; d < 2; d++)
            store_coded(item, g, layout, halves[d], borders, 1 - buffer, d, checkpoints, erased, leaving);
          g.sync();  // the next iteration writes what others still read
        }
        done = done | leaving;
      }
      if (last || all(done)) break;
    }
    return large;
  }

 private:
  /// Extrinsics of decoder d's parity and tail bits.
  template <class T, class G>
  WB_HD_CALL void store_coded(item<T> item, G g, turbo_layout layout, turbo_half<T> half,
                              turbo_borders<C, T> borders, int buffer, int d, T* checkpoints,
                              typename rebind<T>::mask erased, typename rebind<T>::mask leaving) const {
    const int K = a.k;
    const auto put = [&](int e, T weight) WB_INLINE_LAMBDA {
      store(a.coded, static_cast<std::size_t>(e), item, select(erased, T(0.f), M::llr(weight)), leaving);
    };
    const auto tail_place = [&](int i) WB_INLINE_LAMBDA {
      const int n = 6 * d + i;
      return n % 3 * (K + 4) + K + n / 3;
    };
    turbo_parity_extrinsics<Seg, C, M>(
        g, layout, a.overlap, half, borders, buffer, d, checkpoints,
        [&](int i, T e) WB_INLINE_LAMBDA { put((d + 1) * (K + 4) + i, e); },
        [&](const T(&alpha)[S]) WB_INLINE_LAMBDA {
          T tail[6], extrinsic[6];
          WB_UNROLL for (int i = 0; i < 6; i++) {
            const T x = load(a.llr, static_cast<std::size_t>(tail_place(i)), item);
            tail[i] = M::weight(select(is_finite(x), x, T(0.f)));
          }
          tail_extrinsics<C, M>(alpha, tail, extrinsic);
          WB_UNROLL for (int i = 0; i < 6; i++) put(tail_place(i), extrinsic[i]);
        });
  }
  /// Whether enough of the systematic LLRs support an all-zero word (usable.hpp).
  template <class T, class G>
  WB_HD_CALL typename rebind<T>::mask supports_zeros(item<T> item, G g) const {
    using I = typename rebind<T>::i32;
    const auto magnitude = [&](int i) WB_INLINE_LAMBDA {
      return abs(load(a.llr, static_cast<std::size_t>(i), item));
    };
    T largest = T(0.f);
    for (int i = g.rank; i < a.k; i += g.size) largest = max(largest, unless_known(magnitude(i)));
    const T least = max(g.max_all(largest) * T(zeros_least), T(a.least));
    I usable = I(0);
    for (int i = g.rank; i < a.k; i += g.size) usable = usable + select(magnitude(i) > least, I(1), I(0));
    return I(zeros_share * a.k - 1) < g.sum_all(usable) * I(zeros_whole);
  }
};

/// TS 36.212 §5.1.3.2: two constituent encoders, the second behind the interleaver, each terminated. Windows
/// of the input are encoded at once: the register is linear, so a window's end state is that of the zero
/// start state plus the free motion of the true one. The free motion repeats every 7 steps.
template <class C>
struct turbo_encode_op : block_op<turbo_encode_args> {
  int threads() const { return a.k >= 1024 ? 128 : 32; }
  std::size_t scratch(int group) const { return static_cast<std::size_t>(a.k + 2 * group); }
  double flops() const { return 0; }
  double bytes() const { return a.k + 3.0 * (a.k + 4); }

  /// A register of three bits, each an int32 lane of 0 or 1.
  template <class I>
  struct state {
    I r1, r2, r3;
    WB_HD I feedback() const { return r2 ^ r3; }
    WB_HD void shift(I in) {
      r3 = r2;
      r2 = r1;
      r1 = in;
    }
    WB_HD I parity(I in) const { return in ^ r1 ^ r3; }
  };

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    const int K = a.k;
    T *bits = scratch, *ends = bits + K;
    const view<std::uint8_t>& out = a.coded;
    for (int i = g.rank; i < K; i += g.size) {
      const I u = load_int<T>(a.bits, static_cast<std::size_t>(i), item) & I(1);
      bits[i] = as_float(u);
      store_int<T>(out, static_cast<std::size_t>(i), item, u);
    }
    for (std::size_t e = static_cast<std::size_t>(3 * (K + 4) + g.rank); e < out.elements;
         e += static_cast<std::size_t>(g.size))
      store_int<T>(out, e, item, I(0));
    g.sync();
    const int W = (K + g.size - 1) / g.size, first = g.rank * W < K ? g.rank * W : K;
    const int last = first + W < K ? first + W : K;
    auto input = [&](int d, int i) WB_INLINE_LAMBDA { return as_int(bits[d ? a.permutation[i] : i]); };
    for (int d = 0; d < 2; d++) {
      state<I> s{I(0), I(0), I(0)};
      for (int i = first; i < last; i++) s.shift(input(d, i) ^ s.feedback());
      ends[d * g.size + g.rank] = as_float(s.r1 | (s.r2 << 1) | (s.r3 << 2));
    }
    g.sync();
    if (g.rank == 0) {
      for (int d = 0; d < 2; d++) {
        state<I> s{I(0), I(0), I(0)};
        for (int w = 0; w < g.size; w++) {
          T& slot = ends[d * g.size + w];
          const I end = as_int(slot);
          slot = as_float(s.r1 | (s.r2 << 1) | (s.r3 << 2));  // now: the true start of window w
          const int begin = w * W < K ? w * W : K, steps = (begin + W < K ? begin + W : K) - begin;
          for (int i = 0; i < steps % 7; i++) s.shift(s.feedback());
          s = {s.r1 ^ (end & I(1)), s.r2 ^ ((end >> 1) & I(1)), s.r3 ^ (end >> 2)};
        }
      }
    }
    g.sync();
    for (int d = 0; d < 2; d++) {
      const I begin = as_int(ends[d * g.size + g.rank]);
      state<I> s{begin & I(1), (begin >> 1) & I(1), begin >> 2};
      for (int i = first; i < last; i++) {
        const I in = input(d, i) ^ s.feedback();
        store_int<T>(out, static_cast<std::size_t>((d + 1) * (K + 4) + i), item, s.parity(in));
        s.shift(in);
      }
      if (last == K && first < K) {  // the thread that holds the end of the block terminates it
        for (int j = 0; j < 3; j++) {
          const I x = s.feedback(), z = s.parity(I(0));
          s.shift(I(0));
          const int n = 6 * d + 2 * j;
          store_int<T>(out, static_cast<std::size_t>(n % 3 * (K + 4) + K + n / 3), item, x);
          store_int<T>(out, static_cast<std::size_t>((n + 1) % 3 * (K + 4) + K + (n + 1) / 3), item, z);
        }
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
