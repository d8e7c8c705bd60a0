#pragma once
// Gradients of layered min-sum, once over lane type T and group G. min_sum_backward.hpp has the formulas.
//
// Scratch memory, in values, has A of the n bits and R of the ones of H. The same for the start of each
// segment of iterations except the first and the last one. Then q of the iterations of a segment, dF/dA and
// dF/dR. Last a sum for each row.
#include <warpband/core/known_llr.hpp>
#include <warpband/core/size.hpp>
#include <warpband/fec/ldpc/ldpc_body.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward_args.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// A check: from dF/dA and dF/dR behind its update to those before it. Returns dF/dscale, or dF/doffset. A
/// message that no other bit limits has no derivative.
template <class T>
WB_HD T check_backward(const min_sum<T>& rule, bool of_offset, int degree, const std::int32_t* columns,
                       const T* q, T* app_gradient, T* message_gradient) {
  const T one(1.f), zero(0.f), none(-1.f);
  T least = rule.most(), next = least, first = none, second = none, sign = one;
  for (int d = 0; d < degree; d++) {
    const T a = abs(q[d]), edge(static_cast<float>(d));
    const auto is_least = a < least;
    const auto is_next = (a < next) & (a >= least);
    second = select(is_least, first, select(is_next, edge, second));
    next = select(is_least, least, select(is_next, a, next));
    first = select(is_least, edge, first);
    least = select(is_least, a, least);
    sign = select(q[d] < zero, zero - sign, sign);
  }
  // What the messages of the least, and of the next magnitude, add to the gradients.
  T to_first = zero, to_second = zero;
  for (int d = 0; d < degree; d++) {
    const T edge(static_cast<float>(d));
    const T given = message_gradient[d] + app_gradient[columns[d]];
    const T along = given * select(q[d] < zero, zero - sign, sign);
    const auto is_first = first == edge;
    to_first = to_first + select(is_first, zero, along);
    to_second = select(is_first, along, to_second);
  }
  const auto counts = [&](T m, T edge) WB_INLINE_LAMBDA {
    return (difference(product(m, rule.scale), rule.offset) > zero) & (edge >= zero);
  };
  to_first = select(counts(least, first), to_first, zero);
  to_second = select(counts(next, second), to_second, zero);
  for (int d = 0; d < degree; d++) {
    const T edge(static_cast<float>(d));
    const T of_minimum = select(first == edge, to_first, select(second == edge, to_second, zero));
    const T through = of_minimum * select(q[d] < zero, zero - rule.scale, rule.scale);
    const T of_q = app_gradient[columns[d]] + through;
    app_gradient[columns[d]] = of_q;
    message_gradient[d] = zero - of_q;
  }
  if (of_offset) return zero - (to_first + to_second);
  return to_first * select(first >= zero, least, zero) + to_second * select(second >= zero, next, zero);
}

/// The gradients of the codewords of a group's item.
template <class T, class G>
class min_sum_backward_pass {
 public:
  WB_HD min_sum_backward_pass(const min_sum_backward_args& args, G group, T* scratch)
      : a(args),
        g(group),
        app(scratch),
        messages(app + a.n),
        kept(messages + a.places),
        q(kept + a.states * (a.n + a.places)),
        app_gradient(q + a.segment * a.places),
        message_gradient(app_gradient + a.n),
        sums(message_gradient + a.places) {}
  static std::size_t values(const min_sum_backward_args& a) {
    const auto size = [](int x) { return static_cast<std::size_t>(x); };
    return size(a.states + 2) * (size(a.n) + size(a.places)) + size(a.segment) * size(a.places) +
           size(a.rows);
  }

  WB_HD T* app_values() const { return app; }
  WB_HD T* gradients() const { return app_gradient; }

  /// load(): A becomes the channel's LLRs, and the group is synchronised. dF/dA of the end is in gradients(),
  /// and dF/dA of the start in the end. correction(iteration, sum) takes dF/dscale or dF/doffset in one
  /// thread.
  template <class Load, class Correction>
  WB_HD void run(Load load, Correction correction) const {
    for (int segment = 0; segment < a.segments; segment++) {
      if (segment == 0)
        start(load);
      else if (segment + 1 < a.segments)
        copy(app, state(segment));
      if (segment + 1 < a.segments) forward(segment, false);
    }
    for (int i = g.rank; i < a.places; i += g.size) message_gradient[i] = T(0.f);
    for (int segment = a.segments - 1; segment >= 0; segment--) {
      if (segment + 1 < a.segments) {
        if (segment == 0)
          start(load);
        else
          copy(state(segment), app);
      }
      forward(segment, true);
      for (int it = end_of(segment) - 1; it >= segment * a.segment; it--) {
        backward(it, q_of(it));
        if (g.rank == 0) correction(it, sums[0]);
        g.sync();
      }
    }
  }

 private:
  const min_sum_backward_args& a;
  G g;
  T *app, *messages, *kept, *q, *app_gradient, *message_gradient, *sums;

  /// A and R at the start of a segment that is not the first or last one.
  WB_HD T* state(int segment) const { return kept + (segment - 1) * (a.n + a.places); }
  WB_HD int end_of(int segment) const {
    return (segment + 1) * a.segment < a.iterations ? (segment + 1) * a.segment : a.iterations;
  }
  WB_HD T* q_of(int iteration) const { return q + iteration % a.segment * a.places; }
  /// A and R.
  WB_HD void copy(const T* from, T* to) const {
    for (int i = g.rank; i < a.n + a.places; i += g.size) to[i] = from[i];
    g.sync();
  }
  template <class Load>
  WB_HD void start(Load load) const {
    for (int i = g.rank; i < a.places; i += g.size) messages[i] = T(0.f);
    load();
  }
  WB_HD min_sum<T> rule_in(int iteration) const {
    return rule_of(correction_in(a.corrections, iteration), static_cast<const min_sum<T>*>(nullptr));
  }

  /// The iterations of a segment as the decoder has them. stores: q of each one stays.
  WB_HD void forward(int segment, bool stores) const {
    for (int it = segment * a.segment; it < end_of(segment); it++) {
      const min_sum<T> rule = rule_in(it);
      T* const values = stores ? q_of(it) : q;
      for (int layer = 0; layer < a.layers; layer++) {
        for (int i = a.layer_firsts[layer] + g.rank; i < a.layer_firsts[layer + 1]; i += g.size) {
          const sparse_ldpc_row row = a.row_table[i];
          const sparse_check<T, true> check{app, messages + row.first, a.place_columns + row.first,
                                            row.degree, values + row.first};
          update_check<true>(rule, check, T(0.f), static_cast<T*>(nullptr));
        }
        g.sync();
      }
    }
  }
  WB_HD void backward(int iteration, const T* values) const {
    const min_sum<T> rule = rule_in(iteration);
    for (int layer = a.layers - 1; layer >= 0; layer--) {
      for (int i = a.layer_firsts[layer] + g.rank; i < a.layer_firsts[layer + 1]; i += g.size) {
        const sparse_ldpc_row row = a.row_table[i];
        sums[i] = check_backward(rule, a.of_offset, row.degree, a.place_columns + row.first,
                                 values + row.first, app_gradient, message_gradient + row.first);
      }
      g.sync();
    }
    // In pairs, so that the order is the same for any group.
    for (int width = 1; width < a.rows; width *= 2) {
      for (int i = 2 * width * g.rank; i + width < a.rows; i += 2 * width * g.size)
        sums[i] = sums[i] + sums[i + width];
      g.sync();
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
