#pragma once
// QR decomposition by Householder reflections (G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th
// edition, 2013, section 5.2), of real or complex matrices with full column rank. Q is orthonormal up to
// rounding, whatever the condition of H.
#include <warpband/linalg/qr/qr_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// The reflection of column i is I - factor[i] v v^H. Its v has zeros, a 1 in row i, and below it what is
/// left in h[i]. It makes -turn[i] R[i][i] of the column's part from row i on.
template <class N, class E>
struct reflections {
  real_of<E> factor[N::capacity];
  E turn[N::capacity];  // of magnitude 1
};

/// Magnitude and direction x / |x|: 0 and 1 where |x|^2 is below 1e-36, as its square loses digits there.
template <class E>
struct polar_form {
  real_of<E> magnitude;
  E direction;
};
template <class T>
WB_HD polar_form<cx<T>> polar_of(cx<T> x) {
  const T square = norm(x);
  const auto large = square >= T(1e-36f);
  const T magnitude = sqrt(select(large, square, T(1.f))), inverse = T(1.f) / magnitude;
  return {select(large, magnitude, T(0.f)),
          {select(large, inverse * x.re, T(1.f)), select(large, inverse * x.im, T(0.f))}};
}
template <class T>
WB_HD polar_form<T> polar_of(T x) {
  return {abs(x), select(x < T(0.f), T(-1.f), T(1.f))};
}

/// R and z = Q^H y of columns h[0..n) with `rows` entries; h and f then hold the reflections. Returns where
/// every squared pivot was at least `least`; elsewhere the result is finite and means nothing. Where `least`
/// is below 1e-27 the work is done on 2^40 H, so that no square of a pivot is a subnormal number.
template <class R, class N, class E>
WB_HD auto householder(R rows, N n, E (&h)[N::capacity][R::capacity], E (&y)[R::capacity], real_of<E> least,
                       triangle<N, E>& t, reflections<N, E>& f) {
  using T = real_of<E>;
  const auto small = least < T(1e-27f);
  const T scale = select(small, T(0x1p40f), T(1.f)), back = select(small, T(0x1p-40f), T(1.f));
  const T bound = scale * (scale * least);
  loop(n, [&](int k)
              WB_INLINE_LAMBDA { loop(rows, [&](int r) WB_INLINE_LAMBDA { h[k][r] = scale * h[k][r]; }); });
  auto regular = mask_from<typename rebind<T>::mask>(true);
  /// Reflects rows i.. of v. Returns what is then R's or z's entry.
  const auto reflect = [&](int i, E(&v)[R::capacity]) WB_INLINE_LAMBDA {
    E s = v[i];
    loop(rows, [&](int r) WB_INLINE_LAMBDA {
      if (r > i) s = conj_fma(h[i][r], v[r], s);
    });
    s = f.factor[i] * s;
    loop(rows, [&](int r) WB_INLINE_LAMBDA {
      if (r > i) v[r] = fnma(s, h[i][r], v[r]);
    });
    return conj_fma(f.turn[i], s - v[i], entry<E>::of(T(0.f)));
  };
  loop(n, [&](int i) WB_INLINE_LAMBDA {
    T square = T(0.f);
    loop(rows, [&](int r) WB_INLINE_LAMBDA {
      if (r >= i) square = norm_fma(h[i][r], square);
    });
    const auto enough = square >= bound;
    regular = regular & enough;
    const T pivot = sqrt(select(enough, square, T(1.f))), inverse = T(1.f) / pivot;
    t.diagonal[i] = back * pivot;
    t.inverse[i] = scale * inverse;
    const polar_form<E> head = polar_of(h[i][i]);
    // What is too short is not reflected: it could grow without bound.
    const T unit = select(enough, T(1.f) / (pivot + head.magnitude), T(0.f));
    f.factor[i] = select(enough, fma(head.magnitude, inverse, T(1.f)), T(0.f));
    f.turn[i] = head.direction;
    const E turned = unit * head.direction;
    loop(rows, [&](int r) WB_INLINE_LAMBDA {
      if (r > i) h[i][r] = conj_fma(turned, h[i][r], entry<E>::of(T(0.f)));
    });
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j > i) t.above[i][j] = back * reflect(i, h[j]);
    });
    t.z[i] = reflect(i, y);
  });
  return regular;
}

/// The columns of Q, in h, from the reflections that householder() left there.
template <class R, class N, class E>
WB_HD void householder_q(R rows, N n, E (&h)[N::capacity][R::capacity], const reflections<N, E>& f) {
  using T = real_of<E>;
  const E zero = entry<E>::of(T(0.f));
  loop(n, [&](int k) WB_INLINE_LAMBDA {
    const int i = n - 1 - k;
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j <= i) return;
      E s = zero;  // column j is 0 in row i and above
      loop(rows, [&](int r) WB_INLINE_LAMBDA {
        if (r > i) s = conj_fma(h[i][r], h[j][r], s);
      });
      s = f.factor[i] * s;
      h[j][i] = zero - s;
      loop(rows, [&](int r) WB_INLINE_LAMBDA {
        if (r > i) h[j][r] = fnma(s, h[i][r], h[j][r]);
      });
    });
    const E turned = f.factor[i] * f.turn[i];
    loop(rows, [&](int r) WB_INLINE_LAMBDA {
      if (r > i) h[i][r] = fma(turned, h[i][r], zero);
    });
    h[i][i] = turned - f.turn[i];
  });
}

}  // namespace WB_ISA
}  // namespace wb
