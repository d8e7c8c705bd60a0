#pragma once
// The update of a check in three steps, once over number type T and degree. With A, the a-posteriori LLRs of
// its bits, and R, its last messages to them:
//
//   variable_to_check   q = A - R
//   check_to_variable   R of q, by a rule: min_sum, sum_product or sum_product_of_large_llrs (ldpc.hpp)
//   posteriors          A = q + R
//
// Where A and R are, the storage of the messages says (ldpc_op.hpp).
#include <type_traits>

#include <warpband/core/known_llr.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/message_lane.hpp>
#include <warpband/core/ratio_math.hpp>
#include <warpband/core/size.hpp>
#include <warpband/fec/ldpc/ldpc_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// A degree from Least to Most.
template <int Least, int Most>
struct between {
  static constexpr int least = Least, capacity = Most;
  static constexpr bool known = false;
  int n;
  WB_HD constexpr operator int() const { return n; }
};
template <class Degree>
constexpr int least_of = 0;
template <int Least, int Most>
constexpr int least_of<between<Least, Most>> = Least;

/// f(0), f(1), ... for the edges of a row: unrolled where the degree is known, and for small bounds on a GPU,
/// so that a row stays in registers.
template <class Degree, class F>
WB_HD void each_edge(Degree degree, F f) {
#if defined(__CUDACC__)
  constexpr bool unrolled = Degree::capacity <= 24;
#else
  constexpr bool unrolled = Degree::known;
#endif
  if constexpr (Degree::known) {
    WB_UNROLL for (int d = 0; d < Degree::capacity; d++) f(d);
  } else if constexpr (unrolled) {
    WB_UNROLL for (int d = 0; d < Degree::capacity; d++) if (d < least_of<Degree> || d < degree) f(d);
  } else {
    for (int d = 0; d < degree; d++) f(d);
  }
}
/// The same from the last edge down.
template <class Degree, class F>
WB_HD void each_edge_back(Degree degree, F f) {
#if defined(__CUDACC__)
  constexpr bool unrolled = Degree::capacity <= 24;
#else
  constexpr bool unrolled = Degree::known;
#endif
  if constexpr (unrolled) {
    WB_UNROLL for (int d = Degree::capacity - 1; d >= 0; d--) if (d < degree) f(d);
  } else {
    for (int d = degree - 1; d >= 0; d--) f(d);
  }
}

/// Min-sum and its corrections: what a minimum becomes is max(scale m - offset, 0).
template <class T>
struct min_sum {
  T scale, offset;
  static constexpr float limit = known_llr;  // of channel LLRs and messages
  WB_HD T reduce(T m) const { return max(difference(product(m, scale), offset), T(0.f)); }
  WB_HD static T most() { return T(limit); }
  WB_HD static T zero() { return T(0.f); }
};
template <>
struct min_sum<f16x> {
  f16x scale, offset;
  static constexpr float limit = 1e3f;  // messages of 64 edges and the channel's stay below 65504
  WB_HD f16x reduce(f16x m) const { return max(difference(product(m, scale), offset), to_half(0.f)); }
  WB_HD static f16x most() { return to_half(limit); }
  WB_HD static f16x zero() { return to_half(0.f); }
};
template <>
struct min_sum<i8x> {
  int eighths, offset;
  static constexpr float limit = 127.f;  // of channel LLRs
  // A third of the range: where A saturates, what it lost must not outweigh the messages that disagree.
  static constexpr int message_limit = 42;
  WB_HD i8x reduce(i8x m) const { return scaled(m, eighths, offset); }
  WB_HD static i8x most() { return to_int8(message_limit); }
  WB_HD static i8x zero() { return to_int8(0); }
};

/// The correction of an iteration, counted from 0 in a call.
WB_HD ldpc_correction correction_in(const ldpc_corrections& c, int iteration) {
  if (c.list == nullptr) return c.fixed;
  return c.list[iteration < c.count ? iteration : c.count - 1];
}
template <class T>
WB_HD min_sum<T> rule_of(const ldpc_correction& c, const min_sum<T>*) {
  if constexpr (requires(min_sum<T> r) { r.eighths; })
    return {c.eighths, static_cast<int>(c.offset)};
  else if constexpr (std::is_same_v<T, f16x>)
    return {to_half(c.scale), to_half(c.offset)};
  else
    return {T(c.scale), T(c.offset)};
}

/// What min-sum messages of a check are made of: the least magnitude, and the messages but for the sign of
/// their edge, m2 to the bits of that magnitude and m1 to the others.
template <class T>
struct check_minima {
  T least, m1, m2;
  /// The message back to where q came from.
  WB_HD T message(T q) const {
    // Of two equal minima either excludes the other: m2 is m1 then.
    return with_sign(where_equal(magnitude(q), least, m2, m1), q);
  }
};
template <class T, class Degree>
WB_HD check_minima<T> minima_of(const min_sum<T>& rule, Degree degree, const T* q) {
  T least = rule.most(), next = least, sign = rule.zero();
  each_edge(degree, [&](int d) WB_INLINE_LAMBDA {
    const T a = magnitude(q[d]);
    next = min(next, max(least, a));
    least = min(least, a);
    sign = sign_product(sign, q[d]);
  });
  return {least, with_sign(rule.reduce(least), sign), with_sign(rule.reduce(next), sign)};
}

/// The first step. app(d), last(d): the a-posteriori LLR A and the last R of edge d.
template <class T, class Degree, class App, class Last>
WB_HD void variable_to_check(Degree degree, T* q, App app, Last last) {
  each_edge(degree, [&](int d) WB_INLINE_LAMBDA { q[d] = difference(app(d), last(d)); });
}
/// The third step. keep(d, r) and store(d, a) put the new R and A of edge d where they belong.
template <class T, class Degree, class Keep, class Store>
WB_HD void posteriors(Degree degree, const T* q, const T* r, Keep keep, Store store) {
  each_edge(degree, [&](int d) WB_INLINE_LAMBDA {
    keep(d, r[d]);
    store(d, sum(q[d], r[d]));
  });
}
/// The second step, as each rule has one. Returns what the messages are made of.
template <class T, class Degree>
WB_HD check_minima<T> check_to_variable(const min_sum<T>& rule, Degree degree, const T* q, T* r) {
  const check_minima<T> minima = minima_of(rule, degree, q);
  each_edge(degree, [&](int d) WB_INLINE_LAMBDA { r[d] = minima.message(q[d]); });
  return minima;
}

/// Sum-product on probabilities, signs separately. Bit d is 0 or 1 in proportion 1 : x with x = e^-|q[d]|.
/// The sum of several bits is 0 or 1 in proportion e0 : e1; one more bit makes that e0 + x e1 : e1 + x e0.
/// All terms are positive, so nothing cancels. They stay below 2^64, as a check has at most 64 bits.
template <class T>
struct sum_product {
  static constexpr float most_taken = 30.f, large_llr = 20.f;  // of a codeword that is_large
  static constexpr float far_llr = 1000.f;  // one is enough. Behind fading some exceed 30, and all is well
};
template <class T, class Degree>
WB_HD void check_to_variable(const sum_product<T>&, Degree degree, const T* q, T* r) {
  T x[Degree::capacity], before0[Degree::capacity], before1[Degree::capacity];
  T e0 = T(1.f), e1 = T(0.f), sign = T(0.f);
  const auto add = [&](T next) WB_INLINE_LAMBDA {
    const T even = fma(e1, next, e0);
    e1 = fma(e0, next, e1);
    e0 = even;
  };
  each_edge(degree, [&](int d) WB_INLINE_LAMBDA {
    x[d] = exp_of_moderate(T(0.f) - min(magnitude(q[d]), T(sum_product<T>::most_taken)));
    before0[d] = e0, before1[d] = e1;
    add(x[d]);
    sign = sign_product(sign, q[d]);
  });
  e0 = T(1.f), e1 = T(0.f);
  each_edge_back(degree, [&](int d) WB_INLINE_LAMBDA {
    const T even = fma(before1[d], e1, before0[d] * e0), odd = fma(before1[d], e0, before0[d] * e1);
    r[d] = with_sign(log_of_ratio(even, odd), sign_product(sign, q[d]));
    add(x[d]);
  });
}

/// Sum-product on LLRs, for codewords whose LLRs are beyond what probabilities hold (are_large). Of two bits,
///   2 artanh(tanh(a / 2) tanh(b / 2))
///     = sign(a b) (min(|a|, |b|) + ln(1 + e^-(|a| + |b|)) - ln(1 + e^-||a| - |b||)),
/// the logarithms within 0.013.
template <class T>
struct sum_product_of_large_llrs {
  WB_HD static T combined(T a, T b) {
    const T x = magnitude(a), y = magnitude(b), least = min(x, y);
    const T m = least - log_sum_correction(max(x, y) - least) + log_sum_correction(x + y);
    return with_sign(max(m, T(0.f)), sign_product(a, b));
  }
};
template <class T, class Degree>
WB_HD void check_to_variable(const sum_product_of_large_llrs<T>& rule, Degree degree, const T* q, T* r) {
  const T nothing = T(min_sum<T>::limit);  // combined with it a message stays what it is
  T combined = nothing;
  each_edge(degree, [&](int d) WB_INLINE_LAMBDA {
    r[d] = combined;
    combined = rule.combined(combined, q[d]);
  });
  combined = nothing;
  each_edge_back(degree, [&](int d) WB_INLINE_LAMBDA {
    r[d] = rule.combined(r[d], combined);
    combined = rule.combined(combined, q[d]);
  });
}

/// f(degree) with a degree from 2 to Most that the compiler knows.
template <int Most, class F>
WB_HD void with_known_degree(int degree, F f) {
  if constexpr (Most > 2) {
    if (degree != Most) return with_known_degree<Most - 1>(degree, f);
  }
  f(fixed<Most>{});
}
/// f(degree): what a compiler knows of a row's degree. Most is a bound of all rows of the code, 8, 24 or 64.
template <int Most, class T, class F>
WB_HD void with_degree(int degree, const min_sum<T>&, F f) {
#if defined(__CUDACC__)
  constexpr bool by_degree = true;
#else
  constexpr bool by_degree = !std::is_same_v<T, f16x>;  // there a rounding is six instructions: compile time
#endif
  if constexpr (!by_degree || Most == 64) {
    f(upto<64>{degree});
  } else {
    with_known_degree<Most>(degree, f);
  }
}
template <int Most, class Rule, class F>
WB_HD void with_degree(int degree, const Rule&, F f) {
  f(upto<Most>{degree});
}

}  // namespace WB_ISA
}  // namespace wb
