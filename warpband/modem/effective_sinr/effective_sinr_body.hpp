#pragma once
// Means in the log domain, and the inverse of mutual information. The formulas are in effective_sinr.hpp.
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>

namespace wb {
inline namespace WB_ISA {

inline constexpr float ln_of_db = 0.230258509f;    // ln 10 / 10
inline constexpr float db_of_ln = 4.34294482f;     // 10 / ln 10
inline constexpr int information_intervals = 520;  // as information_grid has
inline constexpr float information_first_db = -50.f, information_last_db = 80.f, information_steps = 4.f;

/// What a group's members have of sums over elements: `parts` running sums, dealt out among the members.
/// Element e belongs to sum e % parts, and the sums are added in pairs, so that every group adds in one
/// order.
template <class T, class G>
struct dealt_sum {
  static constexpr int parts = 8, held = parts / G::size;
  static_assert(parts % G::size == 0);
  T sum[held];
  WB_HD dealt_sum() { WB_UNROLL for (int i = 0; i < held; i++) sum[i] = T(0.f); }
  /// The same total in each member.
  WB_HD T total(G g) const {
    T rest[held];
    WB_UNROLL for (int i = 0; i < held; i++) rest[i] = sum[i];
    WB_UNROLL for (int n = held / 2; n > 0; n /= 2) {
      WB_UNROLL for (int i = 0; i < held / 2; i++) {
        if (i < n) rest[i] = rest[i] + rest[i + n];
      }
    }
    T x = rest[0];
    WB_UNROLL for (int step = G::size / 2; step > 0; step /= 2) x = x + g.exchange(x, step);
    return x;
  }
};

/// f(i, element) for the elements of this member, i the number of their sum.
template <class G, class F>
WB_HD void for_elements(int elements, G g, F f) {
  constexpr int held = dealt_sum<float, G>::held, parts = dealt_sum<float, G>::parts;
  for (int first = 0; first < elements; first += parts) {
    WB_UNROLL_ON_DEVICE for (int i = 0; i < held; i++) {
      const int e = first + i * G::size + g.rank;
      if (e < elements) f(i, e);
    }
  }
}
/// The least x of the group, and the largest.
template <class T, class G>
WB_HD T least_of(T x, G g) {
  WB_UNROLL for (int step = G::size / 2; step > 0; step /= 2) x = min(x, g.exchange(x, step));
  return x;
}
template <class T, class G>
WB_HD T largest_of(T x, G g) {
  WB_UNROLL for (int step = G::size / 2; step > 0; step /= 2) x = max(x, g.exchange(x, step));
  return x;
}

/// Values of a table whose index differs from lane to lane.
template <class T>
WB_HD T coefficient(const float* table, typename rebind<T>::i32 index) {
  if constexpr (width_of<T> == 1) {
    return table[index];
  } else {
    T r;
    for (int i = 0; i < width_of<T>; i++) r.x[i] = table[index.x[i]];
    return r;
  }
}
template <class T>
WB_HD T cubic(const T (&c)[4], T t) {
  return fma(fma(fma(c[3], t, c[2]), t, c[1]), t, c[0]);
}
template <class T>
WB_HD void coefficients(const float* table, typename rebind<T>::i32 index, T (&c)[4]) {
  using I = typename rebind<T>::i32;
  WB_UNROLL for (int i = 0; i < 4; i++) c[i] = coefficient<T>(table, index + I(i));
}

/// ln I and ln(Q - I) at an SINR in dB.
template <class T>
WB_HD void log_information(const float* table, T db, T& information, T& deficit) {
  using I = typename rebind<T>::i32;
  const T inside = min(max(db, T(information_first_db)), T(information_last_db));
  const T s = (inside - T(information_first_db)) * T(information_steps);
  const T magic = T(12582912.f);  // 1.5 * 2^23: adding it rounds to an integer
  const T rounded = max(min((s - T(0.5f)) + magic, magic + T(information_intervals - 1.f)), magic);
  const I interval = as_int(rounded) - I(0x4B400000);
  const T t = s - (rounded - magic);
  T c[4];
  coefficients(table, interval << 3, c);
  information = fma(min(db - inside, T(0.f)), T(ln_of_db), cubic(c, t));
  coefficients(table + 4, interval << 3, c);
  deficit = cubic(c, t) * exp(max(db - inside, T(0.f)) * T(ln_of_db));
}

/// The SINR in dB at which ln I is `information` where `low`, else ln(Q - I) is `deficit`.
template <class T, class M>
WB_HD T inverse_information(const float* table, T information, T deficit, M low) {
  using I = typename rebind<T>::i32;
  const T sign = select(low, T(1.f), T(-1.f)), wanted = select(low, information, deficit);
  const I curve = select(low, I(0), I(4));
  I interval = I(0);
  WB_UNROLL_ON_DEVICE for (int step = 512; step > 0; step /= 2) {
    const I next = interval + I(step);
    const auto inside = next < I(information_intervals);
    const T value = coefficient<T>(table, (select(inside, next, I(0)) << 3) + curve);
    interval = select(inside & (value * sign <= wanted * sign), next, interval);
  }
  T c[4];
  coefficients(table, (interval << 3) + curve, c);
  T t = T(0.5f);
  WB_UNROLL_ON_DEVICE for (int i = 0; i < 4; i++) {  // Newton; the curve is nearly straight here
    const T slope = fma(fma(T(3.f) * c[3], t, T(2.f) * c[2]), t, c[1]);
    t = t - (cubic(c, t) - wanted) / select(slope * sign > T(1e-30f), slope, sign);
    t = unit_clamp(t);
  }
  const T db = fma(to_float(interval) + t, T(1.f / information_steps), T(information_first_db));
  // Beyond the grid I, or ln(Q - I), is proportional to the SINR.
  const T below = wanted - coefficient<T>(table, I(0));
  constexpr int last = 8 * (information_intervals - 1) + 4;
  coefficients(table, I(last), c);
  const T ratio = wanted / cubic(c, T(1.f));
  return select(
      low, fma(min(below, T(0.f)), T(db_of_ln), db),
      select(ratio > T(1.f), fma(log(max(ratio, T(1.f))), T(db_of_ln), T(information_last_db)), db));
}

/// 1 - e^-x for x >= 0, also of a small x.
template <class T>
WB_HD T one_minus_exp(T x) {
  const T y = min(x, T(0.5f));
  T p = fma(y, T(1.98412698e-4f), T(-1.38888889e-3f));
  p = fma(p, y, T(8.33333377e-3f));
  p = fma(p, y, T(-4.16666679e-2f));
  p = fma(p, y, T(0.166666672f));
  p = fma(p, y, T(-0.5f));
  p = fma(p * y, y, y);
  return select(x < T(0.5f), p, T(1.f) - exp(-x));
}
/// -ln(1 - q) for q of 0..1/2, also of a small q: 2 artanh(q / (2 - q)).
template <class T>
WB_HD T minus_log_of_rest(T q) {
  const T s = q / (T(2.f) - q), z = s * s;
  T p = fma(z, T(1.f / 13.f), T(1.f / 11.f));
  p = fma(p, z, T(1.f / 9.f));
  p = fma(p, z, T(1.f / 7.f));
  p = fma(p, z, T(0.2f));
  p = fma(p, z, T(1.f / 3.f));
  const T twice = s + s;
  return fma(p * z, twice, twice);
}

}  // namespace WB_ISA
}  // namespace wb
