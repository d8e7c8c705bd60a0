#pragma once
// Forward and backward recursion of max-log-MAP in 16-bit integers ("short"), a stage of `Steps` trellis
// steps at a time.
//
// A stage keeps all metrics of a part (conv_short_body.hpp) in registers. Alpha before a stage and beta after
// it give the metrics at every step between. The largest alpha + beta of each input bit gives its LLR.
//
// Range: branch metrics of a step differ by at most B = 508, and state metrics by at most D = 8 B. At a known
// state the other states get -(D + 1), so that they lose against the path of the same bits from it. In the
// first K - 1 steps after it metrics differ by at most 2 D + 1 = 8129. The metric of state 0 is 0 before each
// stage, and a stage adds at most 1020. So |alpha + beta| <= 18300: no overflow.
#include <warpband/fec/bcjr/bcjr_short_args.hpp>
#include <warpband/fec/conv/conv_short_body.hpp>

namespace wb {
inline namespace WB_ISA {

template <int Memory, int Steps>
struct bcjr_parts : conv_parts<Memory, Steps> {
  using base = conv_parts<Memory, Steps>;
  /// The metrics of a part's states before and after a stage, plus `add`.
  template <class V>
  WB_HD static void load_before(const short_element* from, int part, V add, V* m) {
    WB_UNROLL for (int u = 0; u < base::size; u++) m[u] =
        load_short(from + base::place(part * base::size, u) * i16x::lanes) + add;
  }
  template <class V>
  WB_HD static void load_behind(const short_element* from, int part, V add, V* m) {
    WB_UNROLL for (int u = 0; u < base::size; u++) m[u] =
        load_short(from + base::place(u * base::count, part) * i16x::lanes) + add;
  }
};

/// Alpha of one part after a stage. `add` is added to alpha before it.
template <int Memory, int Steps, class V, class Weights>
WB_HD void bcjr_short_alpha(int part, const Weights& weights, const short_element* before, V add,
                            short_element* behind) {
  using parts = bcjr_parts<Memory, Steps>;
  constexpr int N = parts::size, half = parts::half;
  V m[Steps + 1][N];
  parts::load_before(before, part, add, m[0]);
  WB_UNROLL for (int i = 0; i < Steps; i++) WB_UNROLL for (int q = 0; q < half; q++) {
    V w[4];
    weights.find(i, q, w);
    conv_short_butterfly(w, m[i][2 * q], m[i][2 * q + 1], m[i + 1][q], m[i + 1][half + q]);
  }
  WB_UNROLL for (int u = 0; u < N; u++)
      store_short(behind + parts::place(u * parts::count, part) * i16x::lanes, m[Steps][u]);
}

/// Beta of one part before a stage; `add_beta` is added to beta after it. Out: largest[i][u] becomes its
/// maximum with alpha + beta after step i over the states whose newest bit is u.
template <int Memory, int Steps, bool Out, class V, class Weights>
WB_HD void bcjr_short_beta(int part, const Weights& weights, const short_element* alpha, V add_alpha,
                           const short_element* behind, V add_beta, short_element* before, V (*largest)[2]) {
  using parts = bcjr_parts<Memory, Steps>;
  constexpr int N = parts::size, half = parts::half;
  V m[Steps + 1][N], b[N];
  if constexpr (Out) {
    parts::load_before(alpha, part, add_alpha, m[0]);
    WB_UNROLL for (int i = 0; i < Steps; i++) WB_UNROLL for (int q = 0; q < half; q++) {
      V w[4];
      weights.find(i, q, w);
      conv_short_butterfly(w, m[i][2 * q], m[i][2 * q + 1], m[i + 1][q], m[i + 1][half + q]);
    }
  }
  parts::load_behind(behind, part, add_beta, b);
  WB_UNROLL for (int i = Steps - 1; i >= 0; i--) {
    if constexpr (Out) WB_UNROLL for (int q = 0; q < half; q++) {
        largest[i][0] = add_max(m[i + 1][q], b[q], largest[i][0]);
        largest[i][1] = add_max(m[i + 1][half + q], b[half + q], largest[i][1]);
      }
    V to[N];
    WB_UNROLL for (int q = 0; q < half; q++) {
      V w[4];
      weights.find(i, q, w);
      to[2 * q] = add_max(b[half + q], w[2], b[q] + w[0]);
      to[2 * q + 1] = add_max(b[half + q], w[3], b[q] + w[1]);
    }
    WB_UNROLL for (int u = 0; u < N; u++) b[u] = to[u];
  }
  WB_UNROLL for (int u = 0; u < N; u++) store_short(before + parts::place(part * N, u) * i16x::lanes, b[u]);
}

}  // namespace WB_ISA
}  // namespace wb
