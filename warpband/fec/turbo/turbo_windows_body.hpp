#pragma once
// Max-log-MAP decoding of turbo codes in 16-bit integers, with the windows of a codeword side by side.
//
// K steps are split into P windows of W = K / P steps. Step j of all windows is a row in memory, so whoever
// works on window w, a lane of a vector or a thread of a CUDA block, touches column w. The interleaver must
// be free of contention: what step j of the P windows reads lies in one row, as for every QPP and every P
// that divides K. With more windows than lanes, vector v of V has the windows v, v + V, v + 2V, ...: a QPP is
// a polynomial modulo any divisor of P, so what these read lies in one vector again. With fewer, codewords
// share a vector.
//
// Values are multiples of 1 / steps: channel LLRs in 8 bits, extrinsics in 16. A step changes a metric by at
// most 127 + 127 + 1024, there are eight between normalisations, the states differ by three steps, and by
// 5000 in addition near a known state: sums of two metrics stay below 20000, and nothing wraps.
//
// Array `extrinsic` is used in place. Before the first decoder it holds the extrinsics of the second; after
// it, the a-priori plus systematic weights of the second. Only the owner of a step reads and writes it there,
// but for the warm-up in the neighbours' windows, which is a phase of its own. The lowest bit of what the
// second decoder leaves is its decision.
#include <warpband/core/group.hpp>
#include <warpband/core/short_lane.hpp>
#include <warpband/fec/trellis/map_window.hpp>
#include <warpband/fec/turbo/turbo_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// The semiring (max, +) on 16-bit metrics; a weight is -L.
struct max_log_short {
  static constexpr int chains = 1;
  static constexpr int most_extrinsic = 1023, impossible = -5000;
  WB_HD static i16x times(i16x a, i16x b) { return a + b; }
  WB_HD static i16x plus(i16x a, i16x b) { return max(a, b); }
  WB_HD static i16x accumulate(i16x sum, i16x a, i16x w) { return add_max(a, w, sum); }
  WB_HD static i16x ratio(i16x one, i16x zero) { return one - zero; }
  template <class T>
  WB_HD static T one() {
    return to_short(0);
  }
  template <class T>
  WB_HD static T zero() {
    return to_short(impossible);
  }
  template <int S>
  WB_HD static void normalise_step(i16x (&)[S]) {}
  template <int S>
  WB_HD static void normalise_segment(i16x (&a)[S]) {
    const i16x z = a[0];
    WB_UNROLL for (int s = 0; s < S; s++) a[s] = a[s] - z;
  }
};

constexpr int lanes_index = i16x::lanes == 1 ? 0 : i16x::lanes == 8 ? 1 : i16x::lanes == 16 ? 2 : 3;

/// Byte offsets of the arrays in scratch, and sizes. `columns`: vectors of a row in all groups; a group is a
/// codeword, on a CPU as many as share a vector, on CUDA a pair.
struct turbo_windows_plan {
  int steps, columns, codewords;
  std::size_t extrinsic, borders, warm, tails, checkpoints, systematic, parity, flags, bytes;
};

/// The decoder's arrays, and one half-iteration on them.
template <class C>
struct turbo_windows {
  static constexpr int S = C::states, L = i16x::lanes, Seg = 8;
  using M = max_log_short;
  const turbo_windows_args& a;
  const turbo_lanes& at;
  const turbo_windows_plan& p;
  char* scratch;

  WB_HD short_element* shorts(std::size_t place) const {
    return reinterpret_cast<short_element*>(scratch + place);
  }
  WB_HD byte_element* bytes(std::size_t place) const {
    return reinterpret_cast<byte_element*>(scratch + place);
  }
  WB_HD int array() const { return p.steps * at.stride; }  // of a group
  WB_HD short_element* extrinsic(int group) const { return shorts(p.extrinsic) + group * array(); }
  WB_HD byte_element* systematic(int group) const { return bytes(p.systematic) + group * array(); }
  WB_HD byte_element* parity(int group, int decoder) const {
    return bytes(p.parity) + (decoder * a.groups + group) * array();
  }
  WB_HD short_element* border(int group, int decoder, int direction) const {
    return shorts(p.borders) + ((group * 2 + decoder) * 2 + direction) * S * at.stride;
  }
  WB_HD short_element* tail(int group, int decoder) const {
    return shorts(p.tails) + (group * 2 + decoder) * S * L;
  }

  /// The vector that holds the windows before (-1) or behind (+1) those of vector v, and by how many lanes
  /// they lie off there. The outermost windows get any other: their metrics are replaced.
  struct neighbour {
    int vector, lanes;
  };
  WB_HD neighbour beside(int v, int side) const {
    const int n = v + side;
    if (n >= 0 && n < at.vectors) return {n, 0};
    if constexpr (L == 1) return {v, 0};
    return {n < 0 ? at.vectors - 1 : 0, side};
  }
  /// What the outermost windows have in place of a neighbour: `value` in their lanes, x in the others.
  WB_HD i16x at_the_end(int v, int side, i16x value, i16x x) const {
    if (side < 0 ? v != 0 : v + 1 != at.vectors) return x;
#if WB_WIDTH == 1
    return value;
#else
    const int share = L / at.codewords;  // lanes of a codeword, a power of two
    const i16x position = lane_numbers() & to_short(share - 1);
    return select_if_zero(position - to_short(side < 0 ? 0 : share - 1), value, x);
#endif
  }

  /// A value of the interleaved order: step j of vector v.
  WB_HD short_element* place(int group, int j, int v) const {
#if WB_WIDTH == 1
    return extrinsic(group) + at.places[j * at.vectors + v];
#else
    return extrinsic(group) + at.rows[j * at.vectors + v];
#endif
  }
  WB_HD i16x permuted(i16x x, const std::int16_t* table, int j, int v, int lanes) const {
#if WB_WIDTH == 1
    static_cast<void>(table), static_cast<void>(j), static_cast<void>(v), static_cast<void>(lanes);
    return x;
#else
    i16x at_lane;
    __builtin_memcpy(&at_lane, table + (j * at.vectors + v) * L + lanes, sizeof at_lane);
    return permute(x, at_lane);
#endif
  }

  /// The weights of step j of the windows `lanes` ahead in vector v.
  template <int Decoder>
  WB_HD void weights(int group, int j, int v, int lanes, i16x& ws, i16x& wp) const {
    const int i = j * at.stride + v * L + lanes;
    if constexpr (Decoder == 0)
      ws = load_byte(systematic(group) + i) + load_short(extrinsic(group) + i);
    else
      ws = permuted(load_short(place(group, j, v)), at.from, j, v, lanes);
    wp = load_byte(parity(group, Decoder) + i);
  }

  WB_HD int first_kept() const { return a.overlap == 0 ? p.steps : (p.steps - a.overlap) / Seg * Seg; }
  WB_HD int last_kept() const { return (a.overlap + Seg - 1) / Seg * Seg; }

  /// The metrics that the windows of column u begin with, in `warm`.
  template <int Decoder, class G>
  WB_HD void begin(G g) const {
    for (int u = g.rank; u < p.columns; u += g.size) {
      const int group = u / at.vectors, v = u % at.vectors;
      for (int side = -1; side <= 1; side += 2) {
        const neighbour n = beside(v, side);
        const short_element* from = border(group, Decoder, side < 0 ? 0 : 1) + n.vector * L + n.lanes;
        i16x x[S];
        WB_UNROLL for (int s = 0; s < S; s++) x[s] = load_short(from + s * at.stride);
        const int steps = a.overlap == 0 ? 0 : side < 0 ? p.steps - first_kept() : last_kept();
        for (int k = 0; k < steps; k += Seg) {
          M::normalise_segment(x);
          i16x ws[Seg], wp[Seg];
          WB_UNROLL_ON_DEVICE for (int i = 0; i < Seg; i++) {
            // the last segment of alpha may be short: its steps are within the window, but not used
            const int at_step =
                side < 0 ? first_kept() + (k + i < steps ? k + i : steps - 1) : steps - 1 - k - i;
            weights<Decoder>(group, at_step, n.vector, n.lanes, ws[i], wp[i]);
          }
          WB_UNROLL_ON_DEVICE for (int i = 0; i < Seg; i++) {
            if (side < 0 && k + i < steps) forward_step<C, M>(x, ws[i], wp[i]);
            if (side > 0) backward_step<C, M>(x, ws[i], wp[i]);
          }
        }
        short_element* to = shorts(p.warm) + (side < 0 ? 0 : S * L * p.columns) + u * L;
        WB_UNROLL for (int s = 0; s < S; s++) {
          const i16x end = side < 0 ? (s == 0 ? M::one<i16x>() : M::zero<i16x>())
                                    : load_short(tail(group, Decoder) + s * L);
          store_short(to + s * L * p.columns, at_the_end(v, side, end, x[s]));
        }
      }
    }
  }

  /// One half-iteration, from the metrics in `warm`.
  template <int Decoder, class G>
  WB_HD void half_iteration(G g, int eighths) const {
    const i16x most = to_short(M::most_extrinsic), least = to_short(-M::most_extrinsic);
    const int sharing = g.size < p.columns ? g.size : p.columns;
    i16x* checkpoints = reinterpret_cast<i16x*>(scratch + p.checkpoints) + g.rank;
    for (int u = g.rank; u < p.columns; u += g.size) {
      const int group = u / at.vectors, v = u % at.vectors;
      i16x alpha[S], beta[S];
      const short_element* warm = shorts(p.warm) + u * L;
      WB_UNROLL for (int s = 0; s < S; s++) {
        alpha[s] = load_short(warm + s * L * p.columns);
        beta[s] = load_short(warm + (S + s) * L * p.columns);
      }
      auto keep = [=, this](int direction, const i16x(&m)[S]) WB_INLINE_LAMBDA {
        short_element* to = border(group, Decoder, direction) + v * L;
        WB_UNROLL for (int s = 0; s < S; s++) store_short(to + s * at.stride, m[s]);
      };
      map_window_by_segments<Seg, C, M>(
          alpha, beta, p.steps, first_kept(), last_kept(), checkpoints, sharing,
          [=, this](int j, i16x& ws, i16x& wp) WB_INLINE_LAMBDA { weights<Decoder>(group, j, v, 0, ws, wp); },
          [=, this](int j, i16x e, i16x ws) WB_INLINE_LAMBDA {
            const i16x decided = sign_bit(to_short(0) - (ws + e));  // a weight above 0: bit 1
            e = scaled(max(min(e, most), least), eighths);
            if constexpr (Decoder == 0) {
              const int i = j * at.stride + v * L;
              store_short(extrinsic(group) + i, e + load_byte(systematic(group) + i));
            } else {
              e = (e & to_short(~1)) | decided;
              store_short(place(group, j, v), permuted(e, at.to, j, v, 0));
            }
          },
          [=](const i16x(&m)[S]) WB_INLINE_LAMBDA { keep(0, m); },
          [=](const i16x(&m)[S]) WB_INLINE_LAMBDA { keep(1, m); });
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
