#pragma once
// The two ends of every detector's op: a use of the channel from memory, and its LLRs to memory.
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/detect/detect_call.hpp>
#include <warpband/detect/detect_sizes.hpp>
#include <warpband/detect/lattice_body.hpp>
#include <warpband/detect/order_op.hpp>
#include <warpband/linalg/flops.hpp>

namespace wb {
inline namespace WB_ISA {

/// Device memory a use takes at least.
inline double detect_bytes(const detect_call& a) {
  const double bits = 2.0 * a.pam_bits * a.streams;
  return 8.0 * a.rx_antennas *
             (1 + static_cast<double>(a.streams) / static_cast<double>(a.uses_per_channel)) +
         (a.noise_var.item_stride ? 4 : 0) + (a.prior.data ? 4 * bits * (a.extrinsic ? 2 : 1) : 0) +
         (a.llr.data ? 4 * bits : 0) + (a.bits.data ? bits : 0) + (a.status.data ? 1 : 0);
}

/// Operations of a use from y and H to R. A tile repeats them in each of its threads; they count once.
inline double triangle_flops(const detect_call& a) {
  const double n = a.streams, rows = a.rx_antennas;
  return 2 * rows * (n + 1) + 2 + gram_schmidt_flops(2, rows, n);
}
/// To sort the streams by their energies; a sorted QR decomposition counts as another QR decomposition. Noise
/// amplification takes that, the inverse of R and the decomposition of its rows.
inline double sort_flops(const detect_call&) { return 0; }
inline double sort_flops(const search_args& a) {
  const double n = a.streams, rows = a.rx_antennas;
  const double qr = gram_schmidt_flops(2, rows, n);
  if (a.sort == sort_none) return 0;
  if (a.sort == sort_by_qr) return qr;
  if (a.sort == sort_fsd)
    return qr + gram_schmidt_flops(2, n, n) + 8 * n * (n - 1) * (n + 1) / 6 + n * (n + 1);
  return 4 * n * rows;
}
/// And to the steps of the constellation.
template <class Call>
double lattice_flops(const Call& a) {
  const double n = a.streams;
  return sort_flops(a) + triangle_flops(a) + 4 * n + 3 * n * (n - 1);
}
/// Of the costs of the steps; 0 without prior.
inline double prior_flops(const detect_call& a) {
  return a.prior.data ? a.streams * 2.0 * a.pam_bits * (6 + (1 << a.pam_bits)) : 0;
}
/// Of the LLRs from the minima; `scaled` by 1 / N0.
inline double llr_flops(const detect_call& a, bool scaled = true) {
  const double bits = 2.0 * a.pam_bits * a.streams;
  return bits * (3 + scaled + (a.extrinsic && a.prior.data ? 3 : 0) + (a.llr.data != nullptr)) +
         (scaled ? division_flops + 1 : 0);
}

/// y and H of a use, the columns in an order.
template <class S, class T>
struct use_of_channel {
  using M = typename rebind<T>::mask;
  cx<T> h[S::streams::capacity][S::rows::capacity];
  cx<T> y[S::rows::capacity];
  T n0, trace;  // trace of H^H H
  M good;       // finite, and of a size that can be worked with; elsewhere H and y are 0

  template <class Order>
  WB_HD use_of_channel(const detect_call& a, S s, item<T> item, const Order& order) {
    n0 = load(a.noise_var, 0, item);
    trace = T(0.f);
    read(a, s, item, order);
    T energy = T(0.f);
    loop(s.rx, [&](int r) WB_INLINE_LAMBDA {
      energy = norm_fma(y[r], energy);
      loop(s.n, [&](int k) WB_INLINE_LAMBDA { trace = norm_fma(h[k][r], trace); });
    });
    good = (trace <= T(1e30f)) & (energy <= T(1e30f)) & (trace >= T(1e-30f)) & (n0 >= T(1e-30f)) &
           (n0 <= T(1e30f)) & (energy <= T(1e10f) * trace);
    n0 = select(good, n0, T(1.f));
    trace = select(good, trace, T(1.f));
    loop(s.rx, [&](int r) WB_INLINE_LAMBDA {
      y[r] = {select(good, y[r].re, T(0.f)), select(good, y[r].im, T(0.f))};
      loop(s.n, [&](int k) WB_INLINE_LAMBDA {
        h[k][r] = {select(good, h[k][r].re, T(0.f)), select(good, h[k][r].im, T(0.f))};
      });
    });
  }
  /// Below this a squared pivot makes H singular.
  WB_HD T least_pivot() const { return trace * T(1e-12f); }

 private:
  template <class Order, class F>
  WB_HD void read_by_lane(S s, const Order& order, F column) {
    for (int r = 0; r < s.rx; r++) {
      cx<T> row[S::streams::capacity];
      loop(s.n, [&](int stream) WB_INLINE_LAMBDA { row[stream] = column(r, stream); });
      loop(s.n, [&](int k) WB_INLINE_LAMBDA {
        h[k][r].re = at_position(s.n, order, k, [&](int stream) WB_INLINE_LAMBDA { return row[stream].re; });
        h[k][r].im = at_position(s.n, order, k, [&](int stream) WB_INLINE_LAMBDA { return row[stream].im; });
      });
    }
  }
  template <class Order>
  WB_HD void read(const detect_call& a, S s, item<T> item, const Order& order) {
#if defined(__CUDACC__)
    if constexpr (S::streams::known) {
      constexpr int n = S::streams::capacity;
      load_cx_row(a.received, 0, item, 1, y);
      const int first = n == 2 ? order(n, 0) : order.first;  // an order of two is a turn
      if (n > 2 && order.given) {
        // Through local memory, in a loop: in line its addresses would take registers from calls without one.
        cx<T> columns[n][S::rows::capacity];
#pragma unroll 1
        for (int k = 0; k < n; k++) {
          const int stream = order(n, k);
          WB_UNROLL for (int r = 0; r < S::rows::capacity; r++) columns[k][r] =
              load_cx(a.channel, static_cast<std::size_t>(r * n + stream), item, a.uses_per_channel);
        }
        WB_UNROLL for (int k = 0; k < n; k++) {
          WB_UNROLL for (int r = 0; r < S::rows::capacity; r++) h[k][r] = columns[k][r];
        }
        return;
      }
      WB_UNROLL for (int r = 0; r < S::rows::capacity; r++) {  // whole rows, then turned
        cx<T> row[n];
        load_cx_row(a.channel, static_cast<std::size_t>(r * n), item, a.uses_per_channel, row);
        WB_UNROLL for (int k = 0; k < n; k++) h[k][r] = row[k];
      }
      WB_UNROLL for (int turn = 1; turn < n; turn *= 2) if (first & turn) {
        WB_UNROLL for (int r = 0; r < S::rows::capacity; r++) {
          cx<T> row[n];
          WB_UNROLL for (int k = 0; k < n; k++) row[k] = h[(k + turn) % n][r];
          WB_UNROLL for (int k = 0; k < n; k++) h[k][r] = row[k];
        }
      }
      return;
    }
#endif
    loop(s.rx,
         [&](int r) WB_INLINE_LAMBDA { y[r] = load_cx(a.received, static_cast<std::size_t>(r), item); });
    const auto column = [&](int r, int stream) WB_INLINE_LAMBDA {
      return load_cx(a.channel, static_cast<std::size_t>(r * s.n + stream), item, a.uses_per_channel);
    };
    if constexpr (Order::lanes) {
      if (order.sorted) {
        read_by_lane(s, order, column);
        return;
      }
    }
    loop(s.n, [&](int k) WB_INLINE_LAMBDA {
      const int stream = order(s.n, k);
      loop(s.rx, [&](int r) WB_INLINE_LAMBDA { h[k][r] = column(r, stream); });
    });
  }
};

/// The rule for what a detector stores of a call's numbers (core/fixed_point.hpp).
template <class T, class Call>
WB_HD auto rule_of(const Call& a) {
  if constexpr (requires { a.words; })
    return fixed_point<T>(a.words);
  else
    return floating_point{};
}
/// (M - 1) / 6 of M points: one over the squared distance of neighbours, where the mean energy is 1.
WB_HD float spacing_of(int pam_bits) { return static_cast<float>((1 << 2 * pam_bits) - 1) / 6.f; }
/// H, y and N0 as words, y and N0 so that neighbouring points are 1 apart.
template <class S, class T>
WB_HD void to_words(S s, fixed_point<T> word, use_of_channel<S, T>& use) {
  const int pam = s.b;
  const float root = pam == 1 ? 0.707106769f : pam == 2 ? 1.58113885f : pam == 3 ? 3.2403703f : 6.51920223f;
  use.n0 = word.positive(T(spacing_of(pam)) * use.n0);
  loop(s.rx, [&](int r) WB_INLINE_LAMBDA {
    use.y[r] = word(T(root) * use.y[r]);
    loop(s.n, [&](int k) WB_INLINE_LAMBDA { use.h[k][r] = word(use.h[k][r]); });
  });
}

/// N neighbouring LLRs, the first of them `element`. Where they lie side by side in a CUDA device's memory
/// two or four travel at once.
template <int N, class T>
WB_HD void load_llr_row(const view<const float>& v, std::size_t element, item<T> b, T (&x)[N]) {
#if defined(__CUDACC__)
  const float* p = v.data + element * v.element_stride + b.first * v.item_stride;
  if (v.element_stride == 1 && reinterpret_cast<std::uintptr_t>(p) % (N % 4 == 0 ? 16 : 8) == 0) {
    if constexpr (N % 4 == 0) {
      WB_UNROLL for (int i = 0; i < N; i += 4) {
        const float4 four = *reinterpret_cast<const float4*>(p + i);
        x[i] = four.x, x[i + 1] = four.y, x[i + 2] = four.z, x[i + 3] = four.w;
      }
    } else {
      WB_UNROLL for (int i = 0; i < N; i += 2) {
        const float2 two = *reinterpret_cast<const float2*>(p + i);
        x[i] = two.x, x[i + 1] = two.y;
      }
    }
    return;
  }
#endif
  loop(fixed<N>{}, [&](int i) WB_INLINE_LAMBDA { x[i] = load(v, element + static_cast<std::size_t>(i), b); });
}

/// A-priori LLRs beyond this count as this.
inline constexpr float most_prior = 1e6f;

/// Costs of the steps of each dimension from a-priori LLRs, times N0: those of bits that contradict the
/// prior. Positions of the search are in an order. Returns false where the prior is not finite.
template <class S, class T>
struct prior_costs {
  T re[S::streams::capacity][1 << S::pam::capacity], im[S::streams::capacity][1 << S::pam::capacity];

  template <class Order, class Rule = floating_point>
  WB_HD auto load_from(const detect_call& a, S s, item<T> item, const Order& order, T n0, Rule word = {}) {
    auto good = mask_from<typename rebind<T>::mask>(true);
    const auto given = [&](int k, int i) WB_INLINE_LAMBDA {
      const auto stream_prior = [&](int stream) WB_INLINE_LAMBDA {
        return load(a.prior, static_cast<std::size_t>(stream * 2 * s.b + i), item);
      };
      if constexpr (Order::lanes) {
        if (order.sorted) return at_position(s.n, order, k, stream_prior);
      }
      return stream_prior(order(s.n, k));
    };
    bool sorted = false;
    if constexpr (Order::lanes) sorted = order.sorted;
    loop(s.n, [&](int k) WB_INLINE_LAMBDA {
      loop(levels_of(s.b), [&](int j) WB_INLINE_LAMBDA { re[k][j] = im[k][j] = T(0.f); });
      if (a.prior.data == nullptr) return;
      if constexpr (S::pam::known) {
        if (!sorted) {
          T of_symbol[2 * S::pam::capacity];
          load_llr_row(a.prior, static_cast<std::size_t>(order(s.n, k) * 2 * s.b), item, of_symbol);
          loop(fixed<2 * S::pam::capacity>{},
               [&](int i) WB_INLINE_LAMBDA { add(s, k, i, of_symbol[i], n0, good); });
          return;
        }
      }
      for (int i = 0; i < 2 * s.b; i++) add(s, k, i, given(k, i), n0, good);
      loop(levels_of(s.b), [&](int j) WB_INLINE_LAMBDA {
        re[k][j] = word(re[k][j]);
        im[k][j] = word(im[k][j]);
      });
    });
    return good;
  }

 private:
  /// Bit i of a symbol.
  template <class M>
  WB_HD void add(S s, int k, int i, T p, T n0, M& good) {
    const auto fine = is_finite(p);
    good = good & fine;
    p = n0 * saturate(select(fine, p, T(0.f)), most_prior);
    const T for_zero = max(T(0.f) - p, T(0.f)), for_one = max(p, T(0.f));
    const int bit = bit_of(s.b, i) - (i % 2 ? 0 : static_cast<int>(s.b)), half = (1 << s.b) / 2 - 1;
    loop(levels_of(s.b), [&](int j) WB_INLINE_LAMBDA {
      const bool one = ((j ^ j >> 1 ^ half) >> bit & 1) != 0;
      T& cost = i % 2 ? im[k][j] : re[k][j];
      cost = cost + (one ? for_one : for_zero);
    });
  }
};

/// The triangular system of a use, and its N0. Returns where both can be worked with. In fixed point a column
/// that is 0 after rounding makes H singular.
template <class S, class T, class Order, class Rule = floating_point>
WB_HD auto load_lattice(const detect_call& a, S s, item<T> item, const Order& order,
                        lattice<typename S::streams, T>& m, T& n0, Rule word = {}) {
  use_of_channel<S, T> use(a, s, item, order);
  triangle<typename S::streams, cx<T>> r;
  T least = use.least_pivot();
  float scale = scale_of(s.b);
  if constexpr (Rule::is_fixed) {
    to_words(s, word, use);
    least = T(word.step * word.step);
    scale = 0.5f;
  }
  const auto good = use.good & gram_schmidt(s.rx, s.n, use.h, use.y, least, r, word);
  to_lattice(s.n, s.b, scale, r, m);
  n0 = use.n0;
  return good;
}
/// Calls f with the costs from a use's a-priori LLRs, or a null pointer where there are none. In fixed point
/// there always are, of 0 where no LLRs are: a search for the least metric needs no division.
template <class S, class T, class Order, class M, class F, class Rule = floating_point>
WB_HD void with_prior(const detect_call& a, S s, item<T> item, const Order& order, T n0, M& good, F f,
                      Rule word = {}) {
  const prior_costs<S, T>* costs = nullptr;
  if constexpr (!S::takes_prior) {
    f(costs);
  } else {
    prior_costs<S, T> given;
    if (a.prior.data || Rule::is_fixed) {
      good = good & given.load_from(a, s, item, order, n0, word);
      costs = &given;
    }
    f(costs);
  }
}

/// One over N0, which turns differences of distances into LLRs.
template <class T>
WB_HD T llr_scale(T n0) {
  return min(T(1.f) / n0, T(3e38f));
}
/// Writes a use's LLRs: `difference(k, i)` times `scale` is that of bit i of the label of position k, which
/// is stream order(n, k). Threads of a group share the work. Prior: whether there may be one with known
/// sizes.
template <bool Prior = false, class N, class B, class T, class G, class Order, class F>
WB_HD void store_llrs(const detect_call& a, N n, B pam, item<T> item, G g, const Order& order, T scale,
                      typename rebind<T>::mask good, F difference) {
  using I = typename rebind<T>::i32;
  if constexpr (Order::lanes) {
    if (order.sorted) {
      store_llrs<Prior>(a, n, pam, item, g, as_they_come{}, scale, good, of_streams(n, order, difference));
      return;
    }
  }
  const float limit = a.clip < 3e38f ? a.clip : 3e38f;
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    const int stream = order(n, k);
    if constexpr (B::known && N::known && G::size == 1) {  // whole symbols
      const std::size_t place = static_cast<std::size_t>(stream * 2 * pam);
      T llr[2 * B::capacity];
      WB_UNROLL for (int i = 0; i < 2 * B::capacity; i++) llr[i] = difference(k, bit_of(pam, i)) * scale;
      if constexpr (Prior) {
        if (a.extrinsic && a.prior.data) {
          T prior[2 * B::capacity];
          load_llr_row(a.prior, place, item, prior);
          WB_UNROLL for (int i = 0; i < 2 * B::capacity; i++) llr[i] =
              saturate(llr[i], 3e38f) - saturate(prior[i], most_prior);
        }
      }
      WB_UNROLL for (int i = 0; i < 2 * B::capacity; i++) llr[i] =
          select(good, saturate(llr[i], limit), T(0.f));
      if (a.llr.data) store_row(a.llr, place, item, llr);
      if (a.bits.data) {
        WB_UNROLL for (int i = 0; i < 2 * B::capacity; i++)
            store_int<T>(a.bits, place + static_cast<std::size_t>(i), item, decide(llr[i]));
      }
      return;
    }
    loop(pam, [&](int b) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 2 * b; i < 2 * b + 2; i++) {
        const std::size_t place = static_cast<std::size_t>(stream * 2 * pam + i);
        if ((k * 2 * pam + i) % g.size != g.rank) continue;
        T llr = saturate(difference(k, bit_of(pam, i)) * scale, 3e38f);
        if (a.extrinsic && a.prior.data) llr = llr - saturate(load(a.prior, place, item), most_prior);
        llr = select(good, saturate(llr, limit), T(0.f));
        if (a.llr.data) store(a.llr, place, item, llr);
        if (a.bits.data) store_int<T>(a.bits, place, item, decide(llr));
      }
    });
  });
  if (a.status.data && g.rank == 0) store_int<T>(a.status, 0, item, select(good, I(0), I(status_erased)));
}

}  // namespace WB_ISA
}  // namespace wb
