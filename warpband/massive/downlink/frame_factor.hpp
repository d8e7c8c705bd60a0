#pragma once
// A = H^H H + (N0 / Es) I of a frame of 16 users and its solutions A^-1 s, by one warp on a CUDA device, for
// the precoder. It computes what massive_op.hpp computes, in the same order, so with the same bits.
//
// Two lanes have a user: lanes 0 to 15 the real part of a solution, lanes 16 to 31 the imaginary part. A
// vector that all lanes read is stored once for each part, with the signs of that part (`spread`). So both
// parts run the same two fma.
//
// Who calls: one whole warp. `prepare` decomposes A; `substitute` or `gradients` solve.
//
// Needs: a `whole_matrix` with the sums at `results` (`frame_shape`), and 8 U floats for each vector solved.
//
// Barriers: none inside but `__syncwarp`. The caller makes the sums visible before, and the factor after.
#include <warpband/massive/frame_matrix.hpp>
#include <warpband/massive/massive_op.hpp>
#include <warpband/massive/uplink/frame_sums.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// The matrix of one frame, in shared memory at `results`.
struct frame_factor {
  static constexpr int U = 16;
  using Matrix = whole_matrix<U>;
  using Shape = frame_shape<U, false, Matrix::floats>;
  const massive_args& a;
  float* results;  // offsets: `Shape`
  int lane;

  WB_HD frame_factor(const massive_args& args, float* to)
      : a(args), results(to), lane(static_cast<int>(threadIdx.x) % 32) {}

  WB_HD int row() const { return lane % U; }
  WB_HD int half() const { return lane / U; }
  WB_HD float2 entry(int r, int c) const {
    return *reinterpret_cast<const float2*>(results + Matrix::place(r, c));
  }
  WB_HD bool decomposed() const { return a.mode == massive_mode::cholesky || a.mode == massive_mode::zf; }

  /// `massive_engine::prepare` by one warp: checks N0 and the trace, and returns whether the frame is valid.
  /// With a decomposition the matrix then holds W as `invert_factor` defines it, and `inverse` 1 / D.
  /// Otherwise the matrix keeps A without its diagonal, and `inverse` has the diagonal.
  WB_HD bool prepare(std::size_t frame) const {
    float n0 = a.noise_var.data[frame * a.noise_var.item_stride];
    bool good = (n0 >= 0.f) & (n0 <= 1e12f);
    const float* diagonal = results + Shape::diagonal;
    const float trace = trace_of<U>(diagonal);
    good = good & (trace >= 1e-12f) & (trace <= 1e12f);
    n0 = select(good, n0, 1.f);
    const float added = a.mode == massive_mode::zf ? 0.f : n0 * (1.f / a.symbol_energy);
    float own = select(good, diagonal[row()], 1.f) + select(good, added, 0.f);
    if (decomposed()) {
      matrix_rows<U> rows(results, lane);
      rows.load(good, own);
      good = good & rows.invert_factor(own);
      own = rows.inverse;
    }
    if (half() == 0) results[Shape::inverse + row()] = own;
    return good;
  }

  /// Stores a vector for both parts: (re, s im) for the real part, (im, s re) for the imaginary part.
  WB_HD void spread(float* to, float x, float sign_of_real, float sign_of_imaginary) const {
    const float other = __shfl_xor_sync(0xffffffffu, x, 16);
    *reinterpret_cast<float2*>(to + 2 * U * half() + 2 * row()) = {
        x, half() == 0 ? sign_of_imaginary * other : sign_of_real * other};
  }
  /// Two entries as `spread` stored them for this lane's part.
  WB_HD void spread_pair(const float* from, int i, float2 (&x)[2]) const {
    load_pairs(from + 2 * U * half() + 2 * i, x);
  }
  /// One part of s - z b (or of s - conj(z) b) and of s + z b. b is as `spread` stores it, which sets the
  /// signs.
  WB_HD static float less(float2 z, float2 b, float s) { return fma(z.y, b.y, fnma(z.x, b.x, s)); }
  WB_HD static float more(float2 z, float2 b, float s) { return fma(z.y, b.y, fma(z.x, b.x, s)); }

  /// A^-1 b for N vectors, which are independent dependency chains. `memory`: 8 U floats for each.
  template <int N>
  WB_HD void substitute(float (&b)[N], float* memory) const {
    const auto right = [&](int s) { return memory + s * 8 * U; };
    const auto between = [&](int s) { return right(s) + 4 * U; };
    const int u = row();
    const float inverse = results[Shape::inverse + u];
    WB_UNROLL for (int s = 0; s < N; s++) spread(right(s), b[s], -1.f, 1.f);
    __syncwarp();
    WB_UNROLL for (int i = 0; i < U; i += 2) {
      float2 x[N][2];
      WB_UNROLL for (int s = 0; s < N; s++) spread_pair(right(s), i, x[s]);
      WB_UNROLL for (int e = 0; e < 2; e++) {
        if (i + e == 0 || i + e <= u) continue;
        const float2 z = entry(i + e, u);
        WB_UNROLL for (int s = 0; s < N; s++) b[s] = less(z, x[s][e], b[s]);
      }
    }
    WB_UNROLL for (int s = 0; s < N; s++) {
      b[s] = inverse * b[s];
      spread(between(s), b[s], 1.f, -1.f);
    }
    __syncwarp();
    WB_UNROLL for (int i = 0; i < U; i += 2) {
      float2 x[N][2];
      WB_UNROLL for (int s = 0; s < N; s++) spread_pair(between(s), i, x[s]);
      float four[4];
      load4(results + Matrix::place(u, i), four);
      WB_UNROLL for (int e = 0; e < 2; e++) {
        if (i + e >= u) continue;
        WB_UNROLL for (int s = 0; s < N; s++) b[s] = less({four[2 * e], four[2 * e + 1]}, x[s][e], b[s]);
      }
    }
  }

  /// Column u of A, from the matrix and the diagonal.
  WB_HD void column_of(float2 (&column)[U]) const {
    const int u = row();
    WB_UNROLL for (int c = 0; c < U; c++) {
      float2 z = c < u ? entry(u, c) : entry(c, u);
      if (c < u) z.y = 0.f - z.y;
      if (c == u) z = {results[Shape::inverse + u], 0.f};
      column[c] = z;
    }
  }
  /// `conjugate_gradients` for one vector. `column`: column u of A. `memory`: 8 U floats.
  WB_HD float gradients(const float2 (&column)[U], float r, float* memory) const {
    float *of_t = memory, *of_s = memory + 4 * U, *of_r = of_s + 2 * U;
    const auto put = [&](float* to, float v) { to[2 * row() + half()] = v; };
    float x = 0.f, t = r;
    put(of_r, r);
    spread(of_t, t, 1.f, -1.f);
    __syncwarp();
    float now = energy_of<U>(of_r), least = cg_eps_squared * now;
    WB_ROLL for (int iteration = 0; iteration < a.iterations; iteration++) {
      float s = 0.f;
      WB_UNROLL for (int c = 0; c < U; c += 2) {
        float2 v[2];
        spread_pair(of_t, c, v);
        s = more(column[c + 1], v[1], more(column[c], v[0], s));
      }
      put(of_s, s);
      __syncwarp();
      float curvature = 0.f;
      WB_UNROLL for (int i = 0; i < U; i += 2) {
        float2 tv[2], sv[2];
        load_pairs(of_t + 2 * i, tv);
        load_pairs(of_s + 2 * i, sv);
        // The copy of t for real parts has the imaginary part negated.
        WB_UNROLL for (int e = 0; e < 2; e++) curvature =
            fma(-tv[e].y, sv[e].y, fma(tv[e].x, sv[e].x, curvature));
      }
      const bool convex = curvature > 0.f;
      least = select(convex, least, 3e38f);
      const bool goes_on = convex & (now > least);
      const float alpha = select(goes_on, now, 0.f) / select(goes_on, curvature, 1.f);
      x = fma(alpha, t, x);
      r = fnma(alpha, s, r);
      if (iteration + 1 == a.iterations) break;
      put(of_r, r);
      __syncwarp();
      const float before = now;
      now = energy_of<U>(of_r);
      const float beta = now / select(before > 0.f, before, 1.f);
      t = fma(beta, t, r);
      spread(of_t, t, 1.f, -1.f);
      __syncwarp();
    }
    return x;
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
