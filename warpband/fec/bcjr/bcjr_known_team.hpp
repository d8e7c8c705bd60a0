#pragma once
// BCJR in float32 for known codes (bcjr_known_call.hpp) with 64 states and without feedback. The outputs are
// those of bcjr_op, bit for bit.
//
// Contract: bcjr_known::run is a collective of a warp. Four threads share a codeword, and a warp has eight
// codewords. Sizes of shared and device memory: bcjr_known_memory. The caller needs a barrier of the warp
// before it reuses the memory.
//
// Stages: a stage is four trellis steps, for which each thread keeps 16 states in registers
// (conv_short_body.hpp). Threads exchange states through shared memory between stages. The remaining steps of
// a run are stages of one step.
//
// Memory: alpha at the first step of each run is in device memory; in shared memory it would leave room for
// too few codewords. Alpha after each stage of the current run is in shared memory.
//
// Range: a step scales its weights, and so its metrics, by a power of two, 2^-1 to 2^63. Weights are at least
// 2^-60 and metrics 2^-63 to 4. All products are normal numbers, so that scaling is exact.
#include <warpband/fec/bcjr/bcjr_body.hpp>
#include <warpband/fec/conv/conv_short_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// Floats that the codewords of a warp need in shared and in device memory.
struct bcjr_known_memory {
  static constexpr int threads = 4, codewords = 32 / threads, states = 64, inner = 5;
  /// A set has one metric per state and codeword. Sets: alpha at the first step of a run and of the next one,
  /// alpha after the stages between them (`inner`), and two of beta.
  static constexpr int set = codewords * states, sets = 2 + inner + 2;
  /// Stride of the ratios of a codeword. It avoids bank conflicts.
  static constexpr int ratios = conv_run + 4;
  static constexpr int shared(int bits) {
    return sets * set + codewords * ratios + (conv_run << bits) * codewords;
  }
  static constexpr std::size_t device(int steps) {
    return static_cast<std::size_t>((steps + conv_run - 1) / conv_run) * set;
  }
};

/// Decodes a codeword. All threads of the warp call run() together. G: the codeword's threads, with the
/// barrier of the warp. Own: the same threads as a tile, for calls that other codewords' threads do not make.
template <class M, class Code, bool Prior, class G, class Own = G>
struct bcjr_known {
  using memory = bcjr_known_memory;
  using parts = conv_parts<6, 4>;
  static constexpr int outputs = Code::outputs, bits = outputs + (Prior ? 1 : 0), patterns = Code::patterns,
                       W = 1 << bits;
  static constexpr int N = 16, half = 8, steps_each = conv_run / memory::threads;
  static constexpr bool scaled = bcjr_range<M>::each_step;

  const bcjr_args& a;
  const conv_trellis& c;
  G g;
  item<float> batch_item;
  bool stores;  // false: other threads have this codeword, or bcjr_op decodes it for its kind
  int flip;     // spreads neighbouring codewords over the banks of shared memory
  float *sets, *table, *ratios, *kept;
  int codes[4] = {};  // coded bits of a stage's first butterfly of this thread
  bool bad = false;
  int usable = 0;
  float ahead[steps_each][bits];  // the LLRs of steps `loaded` + rank, + 4, ...
  int loaded = -1;

  WB_HD bcjr_known(const bcjr_args& args, G group, int codeword, item<float> item, bool is_there,
                   float* shared, float* device)
      : a(args),
        c(args.code),
        g(group),
        batch_item(item),
        stores(is_there),
        flip(codeword % 2 * 6),
        sets(shared + codeword * memory::states),
        table(shared + memory::sets * memory::set + codeword * W),
        ratios(shared + memory::sets * memory::set + memory::codewords * conv_run * W +
               codeword * memory::ratios),
        kept(device + (codeword * memory::threads + group.rank) * 4) {
    WB_UNROLL for (int i = 0; i < 4; i++) codes[i] = Code::coded(parts::butterfly(i, 0, g.rank));
  }

  WB_HD void run() {
    if constexpr (requires { typename M::of_large_llrs; }) {
      const int kind = find_kind();
      if (stores && g.rank == 0) a.kinds[batch_item.first] = static_cast<std::uint8_t>(kind);
      stores = stores && kind == of_usual_llrs;
    }
    forward();
    backward();
  }

 private:
  WB_HD float* set(int i) const { return sets + i * memory::set; }
  WB_HD float* beta(int i) const { return set(2 + memory::inner + i); }

  // ------------------------------------------------------------------------------- metrics of 16 states
  // Before a stage thread p has the states 16 p + u. Behind one of four steps it has 4 u + p. Behind a single
  // step it has 8 p + u and, from u = 8 on, 32 more. Four states u, u + 4, ... of one p are side by side.

  WB_HD int vector_of(int quarter, int p) const { return 4 * ((4 * quarter + (p ^ (quarter >> 1))) ^ flip); }
  WB_HD int place_of(int state) const { return vector_of(state >> 4, state & 3) + ((state >> 2) & 3); }
  WB_HD int behind_one(int u) const { return (u >> 3) * 32 + g.rank * 8 + (u & 7); }

  WB_HD void put_before(float* to, const float (&m)[N]) const {
    WB_UNROLL for (int p = 0; p < 4; p++)
        store4(to + vector_of(g.rank, p), {m[p], m[4 + p], m[8 + p], m[12 + p]});
  }
  WB_HD void get_before(const float* from, float (&m)[N]) const {
    WB_UNROLL for (int p = 0; p < 4; p++) {
      float x[4];
      load4(from + vector_of(g.rank, p), x);
      WB_UNROLL for (int i = 0; i < 4; i++) m[4 * i + p] = x[i];
    }
  }
  template <int Steps>
  WB_HD void put_behind(float* to, const float (&m)[N]) const {
    if constexpr (Steps == 4)
      WB_UNROLL for (int q = 0; q < 4; q++)
          store4(to + vector_of(q, g.rank), {m[4 * q], m[4 * q + 1], m[4 * q + 2], m[4 * q + 3]});
    else
      WB_UNROLL for (int u = 0; u < N; u++) to[place_of(behind_one(u))] = m[u];
  }
  template <int Steps>
  WB_HD void get_behind(const float* from, float (&m)[N]) const {
    if constexpr (Steps == 4) WB_UNROLL for (int q = 0; q < 4; q++) {
        float x[4];
        load4(from + vector_of(q, g.rank), x);
        WB_UNROLL for (int i = 0; i < 4; i++) m[4 * q + i] = x[i];
      }
    else
      WB_UNROLL for (int u = 0; u < N; u++) m[u] = from[place_of(behind_one(u))];
  }
  /// The factor of the next step.
  WB_HD float factor_of(const float (&m)[N]) const {
    if constexpr (scaled) {
      float x[half];
      WB_UNROLL for (int u = 0; u < half; u++) x[u] = max(m[u], m[half + u]);
      WB_UNROLL for (int n = half / 2; n > 0; n /= 2) WB_UNROLL for (int u = 0; u < n; u++) x[u] =
          max(x[u], x[u + n]);
      x[0] = max(x[0], g.exchange(x[0], 1));
      return bcjr_factor(max(x[0], g.exchange(x[0], 2)));
    } else {
      return 1.f;
    }
  }
  WB_HD void begin(float* to, bool any_state) const {
    for (int s = g.rank; s < memory::states; s += memory::threads)
      to[place_of(s)] =
          any_state || s == 0 ? M::template one<float>() : bcjr_range<M>::template zero<float>();
    g.sync();
  }

  // ------------------------------------------------------------------------------------------ stages

  /// Weights of step i of a stage, s of the run: of the coded bits that differ from those of butterfly 0 like
  /// this, with a new bit 0 and 1.
  struct step_weights {
    float weight[2][patterns];
    WB_HD step_weights(const bcjr_known& k, int s, int i, float factor) {
      const float* row = k.table + s * memory::codewords * W;
      WB_UNROLL for (int u = 0; u < 2; u++) WB_UNROLL for (int e = 0; e < patterns; e++) {
        if (u == 1 && !Prior) {
          weight[1][e] = weight[0][e];
          continue;
        }
        weight[u][e] = row[u * patterns + (e ^ k.codes[i])];
        if constexpr (scaled) weight[u][e] = weight[u][e] * factor;
      }
    }
  };
  WB_HD static float metric(float x, float w, float y, float v) {
    const float n = M::accumulate(M::times(x, w), y, v);
    return scaled ? max(n, bcjr_range<M>::template zero<float>()) : n;
  }
  /// Alpha behind a stage, in place of that before it.
  template <int Steps>
  WB_HD void step_forward(int s, float (&m)[N], float& factor) const {
    WB_UNROLL for (int i = 0; i < Steps; i++) {
      const step_weights w(*this, s + i, i, factor);
      float n[N];
      WB_UNROLL for (int q = 0; q < half; q++) {
        const int e = Code::coded(parts::butterfly(i, q, 0)), other = patterns - 1 - e;
        n[q] = metric(m[2 * q], w.weight[0][e], m[2 * q + 1], w.weight[0][other]);
        n[half + q] = metric(m[2 * q], w.weight[1][other], m[2 * q + 1], w.weight[1][e]);
      }
      WB_UNROLL for (int u = 0; u < N; u++) m[u] = n[u];
      factor = factor_of(m);
    }
  }
  /// Beta before a stage, in place of that behind it.
  template <int Steps>
  WB_HD void step_back(int s, float (&m)[N], float& factor) const {
    WB_UNROLL for (int i = Steps - 1; i >= 0; i--) {
      const step_weights w(*this, s + i, i, factor);
      float n[N];
      WB_UNROLL for (int q = 0; q < half; q++) {
        const int e = Code::coded(parts::butterfly(i, q, 0)), other = patterns - 1 - e;
        n[2 * q] = metric(m[q], w.weight[0][e], m[half + q], w.weight[1][other]);
        n[2 * q + 1] = metric(m[q], w.weight[0][other], m[half + q], w.weight[1][e]);
      }
      WB_UNROLL for (int u = 0; u < N; u++) m[u] = n[u];
      factor = factor_of(m);
    }
  }
  /// As bcjr_ratios: the ratios of a stage's steps, of alpha and beta behind it. Of four steps each thread
  /// has one.
  template <int Steps>
  WB_HD void find_ratios(int s, const float (&alpha)[N], const float (&b)[N]) const {
    float x[N];
    WB_UNROLL for (int u = 0; u < N; u++) x[u] = M::times(alpha[u], b[u]);
    if constexpr (Steps == 4) {
      float sums[8], pair_sums[4], sum[2];
      bcjr_sums_by_bit<M, 4>(x, sums);
      const bool odd = g.rank % 2 != 0, upper = g.rank >= 2;
      WB_UNROLL for (int i = 0; i < 4; i++) {  // steps 0 and 2, or 1 and 3
        const int even = i / 2 * 4 + i % 2;
        pair_sums[i] = M::plus(select(odd, sums[even + 2], sums[even]),
                               g.exchange(select(odd, sums[even], sums[even + 2]), 1));
      }
      WB_UNROLL for (int i = 0; i < 2; i++) sum[i] =
          M::plus(select(upper, pair_sums[2 + i], pair_sums[i]),
                  g.exchange(select(upper, pair_sums[i], pair_sums[2 + i]), 2));
      ratios[s + g.rank] = M::ratio(sum[1], sum[0]);
    } else {
      float sum[2];
      WB_UNROLL for (int v = 0; v < 2; v++) {
        float y[half];
        WB_UNROLL for (int q = 0; q < half; q++) y[q] = x[v * half + q];
        sum[v] = sum_of_pairs<M>(y);
        sum[v] = M::plus(sum[v], g.exchange(sum[v], 1));
        sum[v] = M::plus(sum[v], g.exchange(sum[v], 2));
      }
      if (g.rank == 0) ratios[s] = M::ratio(sum[1], sum[0]);
    }
  }
  /// Alpha from `m` at step s, behind a stage to `to`. Leaves what is before the next one in m.
  WB_HD void stage_forward(int s, bool single, float (&m)[N], float& factor, float* to) const {
    if (single) {
      step_forward<1>(s, m, factor);
      put_behind<1>(to, m);
    } else {
      step_forward<4>(s, m, factor);
      put_behind<4>(to, m);
    }
    g.sync();
    get_before(to, m);
  }
  /// Beta from one set to the other. `alpha` behind the stage; null: no ratios are wanted.
  template <int Steps>
  WB_HD void stage_back(int s, const float* alpha, const float* from, float* to, float& factor) const {
    float m[N];
    get_behind<Steps>(from, m);
    if (alpha != nullptr) {
      float x[N];
      get_behind<Steps>(alpha, x);
      find_ratios<Steps>(s, x, m);
    }
    step_back<Steps>(s, m, factor);
    put_before(to, m);
    g.sync();
  }

  // ------------------------------------------------------------------------------------------ weights

  /// The LLRs of 16 steps from t on, to `ahead`.
  WB_HD void fetch(int t) {
    loaded = t;
    WB_UNROLL for (int i = 0; i < steps_each; i++) {
      const int step = t + g.rank + i * memory::threads;
      WB_UNROLL for (int e = 0; e < bits; e++) {
        ahead[i][e] = 0.f;
        if (e == outputs) {
          if (step < c.k) ahead[i][e] = load(a.prior, static_cast<std::size_t>(step), batch_item);
        } else if (step < c.steps) {
          const int place = a.punctured     ? c.places[step * outputs + e]
                            : c.ranges == 1 ? step * outputs + e
                                            : e * c.steps + step;
          if (place >= 0) ahead[i][e] = load(a.llr, static_cast<std::size_t>(place), batch_item);
        }
      }
    }
  }
  /// As conv_branches::make: the weights of `count` steps from t on. Then fetches those from `next` on.
  WB_HD void make(int t, int count, float first, bool counts, int next) {
    if (loaded != t) fetch(t);
    WB_UNROLL for (int i = 0; i < steps_each; i++) {
      const int s = g.rank + i * memory::threads;
      if (s < count) {
        float row[W] = {};
        WB_UNROLL for (int e = 0; e < bits; e++) {
          float x = ahead[i][e], zero, one;
          if (!is_finite(x)) {
            bad = true;
            x = 0.f;
          }
          if (counts && abs(x) > M::least_llr) usable++;
          M::weights(saturate(x, M::llr_limit), zero, one);
          if (e == 0) {
            row[0] = zero;
            row[1] = one;
          } else {
            WB_UNROLL for (int o = 0; o < 1 << e; o++) {
              row[o + (1 << e)] = M::product(row[o], one);
              if constexpr (!M::zero_is_one) row[o] = M::product(row[o], zero);
            }
          }
        }
        float* to = table + s * memory::codewords * W;
        WB_UNROLL for (int o = 0; o < W; o += 4) {
          float x[4];
          WB_UNROLL for (int j = 0; j < 4; j++) x[j] =
              !scaled && s == 0 ? M::times(row[o + j], first) : row[o + j];
          store4(to + o, x);
        }
      }
    }
    g.sync();
    fetch(next);
  }

  // --------------------------------------------------------------------------------------------- runs

  /// f(s, single) of a run's stages.
  template <class F>
  WB_HD static void each_stage(int from, int count, F f) {
    for (int s = from; s < count; s += s < count / 4 * 4 ? 4 : 1) f(s, s >= count / 4 * 4);
  }
  WB_HD static int stages_of(int count) { return count / 4 + count % 4; }
  WB_HD float* kept_of(int run) const { return kept + run * memory::set; }

  WB_HD void forward() {
    const int steps = c.steps, runs = (steps + conv_run - 1) / conv_run;
    const bool circular = c.ending == conv_ending::tail_biting;
    float m[N], factor = 1.f;
    int current = 0;
    begin(set(0), circular);
    get_before(set(0), m);
    const auto keep = [&](int v) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 0; i < 4; i++)
          store4(kept_of(v / conv_run) + i * 4 * 32, {m[4 * i], m[4 * i + 1], m[4 * i + 2], m[4 * i + 3]});
    };
    conv_forward(-a.overlap, (runs - 1) * conv_run, steps, [&](int v, int t, int count) WB_INLINE_LAMBDA {
      if (v >= 0) keep(v);
      const int next = t + count < steps ? t + count : 0;
      make(t, count, 0.f - set(current)[place_of(0)], v >= 0, next);
      each_stage(0, count, [&](int s, bool single) WB_INLINE_LAMBDA {
        current = 1 - current;
        stage_forward(s, single, m, factor, set(current));
      });
    });
    keep((runs - 1) * conv_run);
  }
  WB_HD void backward() {
    const int steps = c.steps, last_run = (steps - 1) / conv_run;
    int current = 0;
    bool erased = false;
    float factor = 1.f;
    begin(beta(0), c.ending != conv_ending::zero_tail);
    conv_backward(steps + a.overlap, steps, [&](int v, int t, int count) WB_INLINE_LAMBDA {
      const bool outside = v >= steps, last = v + count == steps;
      const int run = t / conv_run, next = t > 0 ? (t - 1) / conv_run * conv_run : last_run * conv_run;
      const auto alpha_behind = [&](int stage) WB_INLINE_LAMBDA {  // stages from 1 on
        return stage == stages_of(count) ? set(1 - run % 2) : set(1 + stage);
      };
      if (outside) {
        make(t, count, 0.f - beta(current)[place_of(0)], false, next);
      } else {
        float m[N];
        WB_UNROLL for (int i = 0; i < 4; i++) {
          float x[4];
          load4(kept_of(run) + i * 4 * 32, x);
          WB_UNROLL for (int j = 0; j < 4; j++) m[4 * i + j] = x[j];
        }
        put_before(set(run % 2), m);
        g.sync();
        make(t, count, 0.f - set(run % 2)[place_of(0)], last, next);
        if (last) {
          const int n = static_cast<int>(a.llr.elements);
          const bool few = Own(g).sum_all(usable) < (c.k < n ? c.k : n);
          const int status = Own(g).any(bad) ? status_erased : few ? status_erased | status_insufficient : 0;
          erased = status != 0;
          if (g.rank == 0 && stores && a.status.data) store_int<float>(a.status, 0, batch_item, status);
        }
        // Behind the last stage alpha is that of the next run, if there is one.
        float along = factor_of(m);
        int stage = 0;
        const int stages = stages_of(count) - (last ? 0 : 1);
        for (int s = 0; stage < stages; s += s < count / 4 * 4 ? 4 : 1)
          stage_forward(s, s >= count / 4 * 4, m, along, alpha_behind(++stage));
      }
      for (int stage = stages_of(count); stage > 0; stage--) {
        const float* alpha = outside ? nullptr : alpha_behind(stage);
        if (stage > count / 4)
          stage_back<1>(count / 4 * 4 + stage - count / 4 - 1, alpha, beta(current), beta(1 - current),
                        factor);
        else
          stage_back<4>(4 * stage - 4, alpha, beta(current), beta(1 - current), factor);
        current = 1 - current;
      }
      const int out = c.k - t < count ? c.k - t : count;
      if (!outside && stores && out > 0) bcjr_store<M>(Own(g), a, t, out, batch_item, ratios, erased);
      g.sync();
    });
  }
  /// The codeword's bcjr_kind, as bcjr_kinds has it.
  WB_HD int find_kind() const {
    int large = 0, not_small = 0;
    const float small = bcjr_small_llr(a);
    const auto add = [&](const view<const float>& v) WB_INLINE_LAMBDA {
      constexpr int at_once = 16;
      const int n = static_cast<int>(v.elements);
      for (int e = g.rank; e < n; e += at_once * memory::threads) {
        float x[at_once];
        WB_UNROLL for (int i = 0; i < at_once; i++) {
          const int element = e + i * memory::threads;
          x[i] = element < n ? load(v, static_cast<std::size_t>(element), batch_item) : 0.f;
        }
        WB_UNROLL for (int i = 0; i < at_once; i++) {
          count_large(large, x[i], bcjr_large_llr, log_map::llr_limit);
          not_small += is_large(x[i], small);
        }
      }
    };
    add(a.llr);
    if (Prior) add(a.prior);
    return bcjr_kind_of(a, Own(g).sum_all(large), Own(g).sum_all(not_small));
  }
};

}  // namespace WB_ISA
}  // namespace wb
