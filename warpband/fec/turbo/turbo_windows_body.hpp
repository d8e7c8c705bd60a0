#pragma once
// The turbo decoder with the windows of a codeword side by side, over code C and numbers V.
//
// K steps are split into P windows of W = K / P steps. Step j of all windows is a row in memory. So the
// worker of window w, a lane of a vector or a thread of a CUDA block, touches column w. The interleaver must
// be free of contention: what step j of the P windows reads lies in one row, as for every QPP and every P
// that divides K. With more windows than lanes, vector v of V has the windows v, v + V, v + 2V, ...: a QPP is
// a polynomial modulo any divisor of P, so what these read lies in one vector again. With fewer, codewords
// share a vector.
//
// Array `prior` is used in place. Before the first decoder it holds the extrinsics of the second; after it,
// the a-priori times systematic weights of the second. Only the owner of a step reads and writes it there,
// except for the warm-up in the neighbours' windows. The warm-up is a phase of its own. The lowest bit of
// what the second decoder leaves is its decision.
//
// V says how numbers are computed and how they lie in memory: short_numbers (turbo_short.hpp) and
// bfloat_numbers (turbo_bfloat.hpp).
#include <warpband/core/group.hpp>
#include <warpband/fec/trellis/map_window.hpp>
#include <warpband/fec/turbo/turbo_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Byte offsets of the arrays in scratch, and sizes. `columns`: vectors of a row in all groups; a group is a
/// codeword, on a CPU as many as share a vector, on CUDA a pair.
struct turbo_windows_plan {
  int steps, columns, codewords;
  std::size_t prior, borders, warm, tails, checkpoints, systematic, parity, flags, large, bytes;
};

/// The decoder's arrays, and one half-iteration on them.
template <class C, class V>
struct turbo_windows {
  static constexpr int S = C::states, L = V::lanes, Seg = 8;
  using M = typename V::semiring;
  using number = typename V::number;
  using prior_element = typename V::prior_element;      // in memory: weights passed on
  using channel_element = typename V::channel_element;  // the channel's
  using metric_element = typename V::metric_element;
  const turbo_windows_args& a;
  const turbo_lanes& layout;
  const turbo_windows_plan& p;
  char* scratch;

  WB_HD int array() const { return p.steps * layout.stride; }  // of a group
  WB_HD prior_element* prior(int group) const {
    return reinterpret_cast<prior_element*>(scratch + p.prior) + group * array();
  }
  WB_HD channel_element* systematic(int group) const {
    return reinterpret_cast<channel_element*>(scratch + p.systematic) + group * array();
  }
  WB_HD channel_element* parity(int group, int decoder) const {
    return reinterpret_cast<channel_element*>(scratch + p.parity) + (decoder * a.groups + group) * array();
  }
  /// How many LLRs of a codeword are large (are_large).
  WB_HD std::int32_t* large(int codeword) const {
    return reinterpret_cast<std::int32_t*>(scratch + p.large) + codeword;
  }
  WB_HD metric_element* metrics(std::size_t place) const {
    return reinterpret_cast<metric_element*>(scratch + place);
  }
  WB_HD metric_element* border(int group, int decoder, int direction) const {
    return metrics(p.borders) + ((group * 2 + decoder) * 2 + direction) * S * layout.stride;
  }
  WB_HD metric_element* tail(int group, int decoder) const {
    return metrics(p.tails) + (group * 2 + decoder) * S * L;
  }

  /// The vector that holds the windows before (-1) or behind (+1) those of vector v, and by how many lanes
  /// they lie off there. The outermost windows get any other: their metrics are replaced.
  struct neighbour {
    int vector, lanes;
  };
  WB_HD neighbour beside(int v, int side) const {
    const int n = v + side;
    if (n >= 0 && n < layout.vectors) return {n, 0};
    if constexpr (L == 1) return {v, 0};
    return {n < 0 ? layout.vectors - 1 : 0, side};
  }
  /// What the outermost windows have in place of a neighbour: `value` in their lanes, x in the others.
  WB_HD number at_the_end(int v, int side, number value, number x) const {
    if (side < 0 ? v != 0 : v + 1 != layout.vectors) return x;
    if constexpr (L == 1) {
      return value;
    } else {
      const int share = L / layout.codewords;  // lanes of a codeword, a power of two
      return V::in_lanes(side < 0 ? 0 : share - 1, share, value, x);
    }
  }

  /// A value of the interleaved order: step j of vector v.
  WB_HD prior_element* place(int group, int j, int v) const {
#if WB_WIDTH == 1
    return prior(group) + layout.places[j * layout.vectors + v];
#else
    return prior(group) + layout.rows[j * layout.vectors + v];
#endif
  }
  WB_HD number permuted(number x, const std::int16_t* table, int j, int v, int lanes) const {
    if constexpr (L == 1)
      return x;
    else
      return V::permuted(x, table + (j * layout.vectors + v) * L + lanes);
  }

  /// The weights of step j of the windows `lanes` ahead in vector v.
  template <int Decoder>
  WB_HD void weights(int group, int j, int v, int lanes, number& ws, number& wp) const {
    const int i = j * layout.stride + v * L + lanes;
    if constexpr (Decoder == 0)
      ws = M::times(V::load(systematic(group) + i), V::load(prior(group) + i));
    else
      ws = permuted(V::load(place(group, j, v)), layout.from, j, v, lanes);
    wp = V::load(parity(group, Decoder) + i);
  }

  WB_HD int first_kept() const { return a.overlap == 0 ? p.steps : (p.steps - a.overlap) / Seg * Seg; }
  WB_HD int last_kept() const { return (a.overlap + Seg - 1) / Seg * Seg; }

  /// The metrics that the windows of column u begin with, in `warm`.
  template <int Decoder, class G>
  WB_HD void begin(G g) const {
    for (int u = g.rank; u < p.columns; u += g.size) {
      const int group = u / layout.vectors, v = u % layout.vectors;
      for (int side = -1; side <= 1; side += 2) {
        const neighbour n = beside(v, side);
        const metric_element* from = border(group, Decoder, side < 0 ? 0 : 1) + n.vector * L + n.lanes;
        number x[S];
        WB_UNROLL for (int s = 0; s < S; s++) x[s] = V::load(from + s * layout.stride);
        const int steps = a.overlap == 0 ? 0 : side < 0 ? p.steps - first_kept() : last_kept();
        for (int k = 0; k < steps; k += Seg) {
          number ws[Seg], wp[Seg];
          WB_UNROLL_ON_DEVICE for (int i = 0; i < Seg; i++) {
            // the last segment of alpha may be short: its steps are within the window, but not used
            const int at_step =
                side < 0 ? first_kept() + (k + i < steps ? k + i : steps - 1) : steps - 1 - k - i;
            weights<Decoder>(group, at_step, n.vector, n.lanes, ws[i], wp[i]);
          }
          WB_UNROLL_ON_DEVICE for (int i = 0; i < Seg; i++) {
            if (i % M::interval == 0) M::normalise_segment(x);
            if (side < 0 && k + i < steps) forward_step<C, M>(x, ws[i], wp[i]);
            if (side > 0) backward_step<C, M>(x, ws[i], wp[i]);
          }
        }
        metric_element* to = metrics(p.warm) + (side < 0 ? 0 : S * L * p.columns) + u * L;
        WB_UNROLL for (int s = 0; s < S; s++) {
          const number end = side < 0 ? (s == 0 ? M::template one<number>() : M::template zero<number>())
                                      : V::load(tail(group, Decoder) + s * L);
          V::store(to + s * L * p.columns, at_the_end(v, side, end, x[s]));
        }
      }
    }
  }

  /// One half-iteration, from the metrics in `warm`.
  template <int Decoder, class G>
  WB_HD void half_iteration(G g, bool last) const {
    const int sharing = g.size < p.columns ? g.size : p.columns;
    using checkpoint = typename V::checkpoint;
    checkpoint* checkpoints = reinterpret_cast<checkpoint*>(scratch + p.checkpoints) + g.rank;
    constexpr int checkpoint_size = S / V::together;
    number* weights_kept = nullptr;
    if constexpr (!V::on_cuda) weights_kept = checkpoints + (p.steps + Seg - 1) / Seg * S;
    for (int u = g.rank; u < p.columns; u += g.size) {
      const int group = u / layout.vectors, v = u % layout.vectors;
      number alpha[S], beta[S];
      const metric_element* warm = metrics(p.warm) + u * L;
      WB_UNROLL for (int s = 0; s < S; s++) {
        alpha[s] = V::load(warm + s * L * p.columns);
        beta[s] = V::load(warm + (S + s) * L * p.columns);
      }
      auto keep = [=, this](int direction, const number(&m)[S]) WB_INLINE_LAMBDA {
        metric_element* to = border(group, Decoder, direction) + v * L;
        WB_UNROLL for (int s = 0; s < S; s++) V::store(to + s * layout.stride, m[s]);
      };
      map_window_by_segments<Seg, C, M>(
          alpha, beta, p.steps, first_kept(), last_kept(), weights_kept,
          [=](int i, const number(&m)[S])
              WB_INLINE_LAMBDA { V::save(checkpoints + i * checkpoint_size * sharing, sharing, m); },
          [=](int i, number(&m)[S])
              WB_INLINE_LAMBDA { V::restore(checkpoints + i * checkpoint_size * sharing, sharing, m); },
          [=, this](int j, number& ws, number& wp)
              WB_INLINE_LAMBDA { weights<Decoder>(group, j, v, 0, ws, wp); },
          [=, this](int j)
              WB_INLINE_LAMBDA { return V::load(parity(group, Decoder) + j * layout.stride + v * L); },
          [=, this](int j, number e, number ws) WB_INLINE_LAMBDA {
            const number passed = V::passed_on(e, a, last);
            if constexpr (Decoder == 0) {
              const int i = j * layout.stride + v * L;
              V::store(prior(group) + i, M::times(passed, V::load(systematic(group) + i)));
            } else {
              V::store_decision(place(group, j, v),
                                permuted(V::with_decision(passed, M::times(ws, e)), layout.to, j, v, 0));
            }
          },
          [=](const number(&m)[S]) WB_INLINE_LAMBDA { keep(0, m); },
          [=](const number(&m)[S]) WB_INLINE_LAMBDA { keep(1, m); });
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
