#pragma once
// The update of a check of any weight, once over lane type T. With A, the a-posteriori LLRs of its bits, and
// R, its last messages to them, in three steps as in fec/ldpc/ldpc_body.hpp:
//
//   q = A - R;  R of q by a rule;  A = q + R (layered; with flooding the columns sum R up afterwards)
//
// A CPU thread keeps q in `scratch`, as memory of the messages is far. A GPU reads A and R again.
#include <warpband/core/known_llr.hpp>
#include <warpband/core/message_lane.hpp>
#include <warpband/core/ratio_math.hpp>
#include <warpband/fec/ldpc/ldpc_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// A row's values in memory, each a vector of codewords or one value.
template <class T, bool KeepsQ>
struct sparse_check {
  T *app, *messages;            // A of all bits, R of this row
  const std::int32_t* columns;  // of this row
  int degree;
  T* q_kept;  // KeepsQ: of `degree` values

  WB_HD T first_q(int d) const {
    const T q = app[columns[d]] - messages[d];
    if constexpr (KeepsQ) q_kept[d] = q;
    return q;
  }
  /// After first_q and before `put` of the same bit.
  WB_HD T q(int d) const {
    if constexpr (KeepsQ)
      return q_kept[d];
    else
      return app[columns[d]] - messages[d];
  }
  template <bool Layered>
  WB_HD void put(int d, T q, T r) const {
    messages[d] = r;
    if constexpr (Layered) app[columns[d]] = q + r;
  }
};

/// Values of T that a thread needs for each bit of a check, beside q.
template <class Rule>
inline constexpr int sparse_scratch = 0;

/// `sign`: +0, or a value with a sign where the check is to be odd.
template <bool Layered, class T, bool KeepsQ>
WB_HD void update_check(const min_sum<T>& rule, const sparse_check<T, KeepsQ>& c, T sign, T*) {
  T least = rule.most(), next = least;
  for (int d = 0; d < c.degree; d++) {
    const T q = c.first_q(d), a = abs(q);
    next = min(next, max(least, a));
    least = min(least, a);
    sign = sign_product(sign, q);
  }
  const check_minima<T> minima{least, with_sign(rule.reduce(least), sign),
                               with_sign(rule.reduce(next), sign)};
  for (int d = 0; d < c.degree; d++) {
    const T q = c.q(d);
    c.template put<Layered>(d, q, minima.message(q));
  }
}

/// Sum-product on ratios of probabilities, signs separately. A sum of bits is 0 or 1 in proportion 1 : p with
/// p = e^-|L|. One more bit with x = e^-|q| makes that p' = (p + x) / (1 + p x). Nothing cancels, and p stays
/// in 0..1 for any weight. The message to a bit combines p of the bits before and behind it.
///
/// Magnitudes are limited to `most_taken` in x. What the least other magnitude m has above that is added to
/// the message. So a message of large LLRs lies between m - ln(weight - 1) and m, as the exact one does.
template <class T>
struct sparse_sum_product {
  static constexpr float most_taken = 40.f;         // of exp_of_moderate
  static constexpr float nothing = 4.2483543e-18f;  // e^-40: combined with it a value stays what it is
};
template <class T>
inline constexpr int sparse_scratch<sparse_sum_product<T>> = 2;
template <bool Layered, class T, bool KeepsQ>
WB_HD void update_check(const sparse_sum_product<T>& rule, const sparse_check<T, KeepsQ>& c, T sign,
                        T* scratch) {
  T *ratios = scratch, *before = scratch + c.degree;
  const T one = T(1.f), limit = T(rule.most_taken);
  T least = T(known_llr), next = least, p = T(rule.nothing);
  for (int d = 0; d < c.degree; d++) {
    const T q = c.first_q(d), a = abs(q), x = exp_of_moderate(T(0.f) - min(a, limit));
    ratios[d] = x;
    before[d] = p;
    p = (p + x) / fma(p, x, one);
    next = min(next, max(least, a));
    least = min(least, a);
    sign = sign_product(sign, q);
  }
  p = T(rule.nothing);
  for (int d = c.degree - 1; d >= 0; d--) {
    const T q = c.q(d), x = ratios[d];
    const T other = select(abs(q) == least, next, least);
    const T m = log_of_ratio(fma(before[d], p, one), before[d] + p) + max(other - limit, T(0.f));
    c.template put<Layered>(d, q, with_sign(max(m, T(0.f)), sign_product(sign, q)));
    p = (p + x) / fma(p, x, one);
  }
}

}  // namespace WB_ISA
}  // namespace wb
