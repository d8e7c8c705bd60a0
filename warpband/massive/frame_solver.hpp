#pragma once
// From H^H H and right sides b of 32 / U frames to x = A^-1 b, by one warp on a CUDA device. A lane has one
// user of one frame. The detector (uplink/frame_estimates.hpp) and the precoder
// (downlink/downlink_frames.hpp) build on it.
//
// A = H^H H + (N0 / Es) I. x comes by V D V^H (`substitute`) or by conjugate gradients (`gradients`), for
// `jacobi_cg` of A scaled to a diagonal of ones.
//
// Who calls: one whole warp, once `prepare`, then for each group of right sides `judge` and `solve_sides`.
//
// Needs: a slot for each frame (`frame_shape`): what is below the diagonal of H^H H in a `lower_triangle`,
// its diagonal apart, and the right sides. A row of the matrix is in registers.
//
// Barriers: none inside but `__syncwarp`. The caller waits until the slot is filled, and frees it.
//
// Order of sums: as massive_op.hpp and linalg/ldl, so that all results have the same bits.
#include <warpband/linalg/cg/cg_body.hpp>
#include <warpband/massive/frame_layout.hpp>
#include <warpband/massive/frame_rows.hpp>
#include <warpband/massive/massive_body.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// The solver of a lane's frame; the first comment of this file has the contract. `AtOnce`: vectors that
/// conjugate gradients solve at once, if there are that many. Each is a dependency chain of its own, and
/// takes about eight registers.
template <int U, bool Many, int AtOnce = Many ? 2 : 1>
struct frame_solver {
  static_assert(AtOnce == 1 || AtOnce == 2 || AtOnce == 4);
  using Shape = frame_shape<U, Many>;
  const massive_args& a;
  float* results;
  int row;
  // Of the lane's user. `diagonal` is the entry of H^H H, `regularized` that of A; `inverse` is 1 / D, or for
  // `jacobi_cg` the factor that scales the user.
  float n0 = 1.f, diagonal = 0.f, regularized = 1.f, inverse = 0.f;
  float trace = 0.f;          // of H^H H
  float most_energy = 1e24f;  // of a right side that is not erased
  bool good = false;

  WB_HD frame_solver(const massive_args& args, float* slot)
      : a(args), results(slot), row(static_cast<int>(threadIdx.x) % 32 % U) {}

  WB_HD float2 entry(int r, int c) const {
    return *reinterpret_cast<const float2*>(results + lower_triangle<U>::place(r, c));
  }
  WB_HD bool scaled() const { return a.solver == massive_solver::jacobi_cg; }

  WB_HD void take_noise(float noise_var, float least_n0) {
    n0 = noise_var;
    good = is_valid_noise(n0, least_n0);
  }
  /// `massive_engine::prepare`: checks N0 and the trace. With a decomposition the triangle then holds W as
  /// `invert_factor` defines it. Otherwise it keeps the entries of A below the diagonal.
  WB_HD void prepare(float noise_var, float least_n0) {
    take_noise(noise_var, least_n0);
    trace = trace_of<U>(results + Shape::diagonal);
    good = good & is_valid_trace(trace);
    n0 = select(good, n0, 1.f);
    const float added = regularization(a, n0);
    diagonal = results[Shape::diagonal + row];
    regularized = select(good, diagonal, 1.f) + select(good, added, 0.f);
    if (decomposes(a.solver)) {
      frame_rows<U> rows(results, results + Shape::work, row);
      rows.load(good);
      good = good & rows.invert_factor(regularized);
      inverse = rows.inverse;
    } else if (scaled()) {
      inverse = 1.f / sqrt(select(regularized > 0.f, regularized, 1.f));
    } else {
      return;
    }
    if (stores_row<U>()) results[Shape::inverse + row] = inverse;
    __syncwarp();
  }

  WB_HD float* right(int k) const { return results + Shape::right + k * Shape::side_floats; }
  /// Bit k: whether right side `first` + k is finite and at most `most_energy` in energy. Others become
  /// zeros.
  WB_HD unsigned judge(int first, int count) const {
    bool fine = true;
    // By each lane for itself, as it changes what it reads: no lane repeats this.
    const int side = static_cast<int>(threadIdx.x) % Shape::lanes;
    if (side < count) {
      float* b = right(first + side);
      fine = energy_of<U>(b) <= most_energy;
      if (!fine)
        for (int i = 0; i < 2 * U; i++) b[i] = 0.f;
    }
    const unsigned fine_lanes = __ballot_sync(0xffffffffu, fine);
    return fine_lanes >> (threadIdx.x & (32 - Shape::lanes));
  }

  /// Copies sums to a slot that no producer will write. `matrix`: H^H H too.
  WB_HD static void copy_sums(const float* from, float* to, bool matrix) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    WB_ROLL for (int i = (matrix ? 0 : Shape::right) + 4 * lane; i < Shape::inverse; i += 128) {
      float four[4];
      load4(from + i, four);
      store4(to + i, four);
    }
    __syncwarp();
  }

  /// A^-1 b in place of the right sides `first` to `first` + side_count - 1, of which those from `end` on are
  /// left as they are.
  WB_HD void solve_sides(int first, int side_count, int end) const {
    if (iterates(a.solver)) {
      float2 column[U];
      column_of(column);
      if constexpr (AtOnce > 2) {
        if (side_count > 2) {
          WB_ROLL for (int k = 0; k < side_count; k += AtOnce) gradients<AtOnce>(column, first + k, end);
          return;
        }
      }
      constexpr int together = AtOnce > 2 ? 2 : AtOnce;
      WB_ROLL for (int k = 0; k < side_count; k += together) gradients<together>(column, first + k, end);
    } else if (decomposes(a.solver)) {
      if constexpr (Many) {
        if (side_count > 4) {
          constexpr int together = Shape::sides == 8 ? 4 : 7;
          WB_ROLL for (int k = 0; k < side_count; k += together) substitute<together>(first + k, end);
        } else {
          substitute<4>(first, end);
        }
      } else {
        substitute<1>(first, end);
      }
    }
  }

 private:
  /// A^-1 b in place of b for P vectors from `first` on, or as many as there are. P vectors are independent
  /// dependency chains.
  template <int P>
  WB_HD void substitute(int first, int count) const {
    const int u = row;
    float* b[P];
    cx<float> s[P];
    WB_UNROLL for (int i = 0; i < P; i++) {
      // If there is none: a vector that no lane of this slot is writing.
      b[i] = right(first + i < count ? first + i : first < count ? first : 0);
      s[i] = {b[i][2 * u], b[i][2 * u + 1]};
    }
    eliminate<true>(b, s);
    __syncwarp();
    WB_UNROLL for (int i = 0; i < P; i++) {
      s[i] = inverse * s[i];
      if (first + i < count && stores_row<U>()) *reinterpret_cast<float2*>(b[i] + 2 * u) = {s[i].re, s[i].im};
    }
    __syncwarp();
    eliminate<false>(b, s);
    __syncwarp();
    WB_UNROLL for (int i = 0; i < P; i++) {
      if (first + i < count && stores_row<U>()) *reinterpret_cast<float2*>(b[i] + 2 * u) = {s[i].re, s[i].im};
    }
  }
  /// The sums of `forward` or of `backward` (linalg/ldl) for entry `row` of P vectors.
  template <bool Forward, int P>
  WB_HD void eliminate(float* const (&b)[P], cx<float> (&s)[P]) const {
    constexpr int together = P == 1 ? U : U == 16 ? 4 : 8;
    WB_ROLL for (int j0 = 0; j0 < U; j0 += together) {
      WB_UNROLL for (int i0 = 0; i0 < together; i0 += 2) {
        const int j = j0 + i0;
        float z[4];
        if constexpr (Forward) {
          const float2 two[2] = {entry(j, row), entry(j + 1, row)};
          z[0] = two[0].x, z[1] = two[0].y, z[2] = two[1].x, z[3] = two[1].y;
        } else {
          load4(results + lower_triangle<U>::place(row, j), z);
        }
        WB_UNROLL for (int i = 0; i < P; i++) {
          float x[4];
          load4(b[i] + 2 * j, x);
          WB_UNROLL for (int e = 0; e < 2; e++) {
            const cx<float> w = {z[2 * e], z[2 * e + 1]}, v = {x[2 * e], x[2 * e + 1]};
            if (Forward && j + e > row) s[i] = fnma(w, v, s[i]);
            if (!Forward && j + e < row) s[i] = conj_fnma(w, v, s[i]);
          }
        }
      }
    }
  }

  /// Column `row` of A, from the triangle and the diagonal.
  WB_HD void column_of(float2 (&column)[U]) const {
    WB_UNROLL for (int c = 0; c < U; c++) {
      float2 z = c < row ? entry(row, c) : entry(c, row);
      if (c < row) z.y = 0.f - z.y;
      if (c == row) z = {regularized, 0.f};
      if (scaled()) {
        const float both = inverse * results[Shape::inverse + c];
        z = {both * z.x, both * z.y};
      }
      column[c] = z;
    }
  }
  /// Calls f(i, c, value) for all users c of P vectors in shared memory. Their sums are independent
  /// dependency chains.
  template <int P, class F>
  WB_HD static void for_users(float* const (&v)[P], F f) {
    WB_UNROLL for (int c = 0; c < U; c += 2) {
      WB_UNROLL for (int i = 0; i < P; i++) {
        float x[4];
        load4(v[i] + 2 * c, x);
        f(i, c, cx<float>{x[0], x[1]});
        f(i, c + 1, cx<float>{x[2], x[3]});
      }
    }
  }
  /// `conjugate_gradients` in place of P vectors from `first` on, or as many as there are.
  template <int P>
  WB_HD void gradients(const float2 (&column)[U], int first, int count) const {
    float *of_t[P], *of_s[P];  // t in the memory of b; s and after it r
    cx<float> r[P], t[P], x[P], s[P];
    cg_state<float> state[P];
    const float factor = scaled() ? inverse : 1.f;
    const auto put = [&](float* to, cx<float> v) {
      if (stores_row<U>()) *reinterpret_cast<float2*>(to + 2 * row) = {v.re, v.im};
    };
    // Past the last vector: the first of the P once more, with the same values in the same memory. A slot
    // without any takes one that it had before, in memory of its own; nothing of it is stored.
    const bool any = first < count;
    float* const work = results + Shape::work;
    WB_UNROLL for (int i = 0; i < P; i++) {
      const float* b = right(first + i < count ? first + i : any ? first : 0);
      of_t[i] = any ? right(first + i < count ? first + i : first) : work + 2 * U;
      of_s[i] = any ? work + 2 * U * i : work;
      r[i] = t[i] = {factor * b[2 * row], factor * b[2 * row + 1]};
      x[i] = {0.f, 0.f};
    }
    __syncwarp();
    WB_UNROLL for (int i = 0; i < P; i++) {
      if (scaled() || !any) put(of_t[i], t[i]);
    }
    __syncwarp();
    WB_UNROLL for (int i = 0; i < P; i++) state[i] =
        cg_state<float>::of(energy_of<U>(of_t[i]), a.residual_squared);
    WB_ROLL for (int iteration = 0; iteration < a.iterations; iteration++) {
      WB_UNROLL for (int i = 0; i < P; i++) s[i] = {0.f, 0.f};
      for_users(of_t,
                [&](int i, int c, cx<float> v) { s[i] = fma(cx<float>{column[c].x, column[c].y}, v, s[i]); });
      WB_UNROLL for (int i = 0; i < P; i++) put(of_s[i], s[i]);
      __syncwarp();
      float curvature[P] = {};
      WB_UNROLL for (int c = 0; c < U; c += 2) {
        WB_UNROLL for (int i = 0; i < P; i++) {
          float tv[4], sv[4];
          load4(of_t[i] + 2 * c, tv);
          load4(of_s[i] + 2 * c, sv);
          WB_UNROLL for (int e = 0; e < 4; e += 2) curvature[i] =
              dot_fma(cx<float>{tv[e], tv[e + 1]}, cx<float>{sv[e], sv[e + 1]}, curvature[i]);
        }
      }
      WB_UNROLL for (int i = 0; i < P; i++) {
        const float alpha = state[i].alpha(curvature[i]);
        x[i] = fma(alpha, t[i], x[i]);
        r[i] = fnma(alpha, s[i], r[i]);
      }
      if (iteration + 1 == a.iterations) break;
      __syncwarp();
      WB_UNROLL for (int i = 0; i < P; i++) put(of_s[i], r[i]);
      __syncwarp();
      float new_energy[P] = {};
      for_users(of_s, [&](int i, int, cx<float> v) { new_energy[i] = norm_fma(v, new_energy[i]); });
      __syncwarp();
      WB_UNROLL for (int i = 0; i < P; i++) {
        t[i] = fma(state[i].beta(new_energy[i]), t[i], r[i]);
        put(of_t[i], t[i]);
      }
      bool stopped = true;
      WB_UNROLL for (int i = 0; i < P; i++) stopped = stopped & !state[i].goes_on();
      if (__all_sync(0xffffffffu, stopped)) break;
      __syncwarp();
    }
    __syncwarp();
    WB_UNROLL for (int i = 0; i < P; i++) {
      if (first + i < count) put(right(first + i), factor * x[i]);
    }
    __syncwarp();
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
