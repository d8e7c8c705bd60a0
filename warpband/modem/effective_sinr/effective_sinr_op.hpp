#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/modem/effective_sinr/effective_sinr_args.hpp>
#include <warpband/modem/effective_sinr/effective_sinr_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// An item is a vector of SINRs. On a CUDA device eight threads share it.
template <bool Exponential>
struct effective_sinr_op : thread_op<effective_sinr_args> {
  static constexpr int tile = 8;
  /// Of an element; those of an item are few beside them.
  double flops() const { return (Exponential ? 40.0 : 75.0) * static_cast<double>(a.sinr.elements); }
  double bytes() const {
    return static_cast<double>(a.sinr.elements) * (a.weight.item_stride ? 8 : 4) +
           (a.effective.data ? 4 : 0) + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G g, T*) const {
    using M = typename rebind<T>::mask;
    const int elements = static_cast<int>(a.sinr.elements);
    const T lowest = T(a.decibel ? -3e38f : 0.f);
    T bad = T(0.f), least = T(3e38f), largest = T(-3e38f);
    dealt_sum<T, G> weights;
    for_elements(elements, g, [&](int i, int e) WB_INLINE_LAMBDA {
      const T w = weight_of(b, e), x = load(a.sinr, static_cast<std::size_t>(e), b);
      const auto used = w > T(0.f);
      const auto right = is_finite(w) & (w >= T(0.f)) & ((w == T(0.f)) | (is_finite(x) & (x >= lowest)));
      bad = select(right, bad, T(1.f));
      const auto counted = used & right;
      least = select(counted, min(least, x), least);
      largest = select(counted, max(largest, x), largest);
      weights.sum[i] = weights.sum[i] + or_zero(counted, a.bits ? w * T(a.bits[e]) : w);
    });
    bad = largest_of(bad, g);
    const T total = weights.total(g);
    const M good = (bad == T(0.f)) & (total > T(0.f)) & is_finite(total);
    least = or_zero(good, least_of(least, g));
    largest = or_zero(good, largest_of(largest, g));
    T result;
    if constexpr (Exponential)
      result = exponential(b, elements, good, least, select(good, total, T(1.f)), g);
    else
      result = by_information(b, elements, good, least, largest, select(good, total, T(1.f)), g);
    if (g.rank != 0) return;
    if (a.effective.data) store(a.effective, 0, b, select(good, result, as_float(nan_bits<T>())));
    if (a.status.data) store_status(a.status, b, good);
  }

 private:
  template <class T>
  static WB_HD typename rebind<T>::i32 nan_bits() {
    return typename rebind<T>::i32(0x7fc00000);
  }
  template <class T>
  WB_HD T weight_of(item<T> b, int e) const {
    return a.weight.data ? load(a.weight, static_cast<std::size_t>(e), b) : T(1.f);
  }
  /// SINR over beta, linear, of one as it was given.
  template <class T>
  WB_HD T scaled(T x) const {
    if (a.decibel) return exp((min(max(x, T(-300.f)), T(300.f)) - T(a.beta_db)) * T(ln_of_db));
    return min(max(x, T(1e-30f)), T(1e30f)) * T(1.f / a.beta);
  }
  template <class T>
  WB_HD T scaled_db(T x) const {
    if (a.decibel) return min(max(x, T(-300.f)), T(300.f)) - T(a.beta_db);
    return fma(log(min(max(x, T(1e-30f)), T(1e30f))), T(db_of_ln), T(-a.beta_db));
  }

  template <class T, class G, class M>
  WB_HD T exponential(item<T> b, int elements, M good, T least, T total, G g) const {
    const T base = scaled(least);
    dealt_sum<T, G> lost, kept;  // of 1 - e^-d and of e^-d, d the distance to the least
    for_elements(elements, g, [&](int i, int e) WB_INLINE_LAMBDA {
      const T w = weight_of(b, e);
      const auto used = good & (w > T(0.f));
      const T x = or_zero(used, load(a.sinr, static_cast<std::size_t>(e), b));
      const T d = max(scaled(x) - base, T(0.f)), u = or_zero(used, w);
      lost.sum[i] = fma(u, one_minus_exp(d), lost.sum[i]);
      kept.sum[i] = fma(u, exp(-d), kept.sum[i]);
    });
    const T q = lost.total(g) / total, rest = max(kept.total(g) / total, T(1e-37f));
    const T excess = select(q <= T(0.5f), minus_log_of_rest(min(q, T(0.5f))), -log(rest));
    const T x = base + excess;
    return a.decibel ? fma(log(max(x, T(1e-37f))), T(db_of_ln), T(a.beta_db)) : x * T(a.beta);
  }

  template <class T, class G, class M>
  WB_HD T by_information(item<T> b, int elements, M good, T least, T largest, T total, G g) const {
    // The largest terms of the two sums.
    T top_information, top_deficit, unused;
    if (a.offset == nullptr) {  // both curves are monotone
      log_information(a.table, scaled_db(largest), top_information, unused);
      log_information(a.table, scaled_db(least), unused, top_deficit);
    } else {
      top_information = top_deficit = T(-3e38f);
      for_elements(elements, g, [&](int, int e) WB_INLINE_LAMBDA {
        const auto used = good & (weight_of(b, e) > T(0.f));
        T information, deficit;
        log_information(a.table + a.offset[e],
                        scaled_db(or_zero(used, load(a.sinr, static_cast<std::size_t>(e), b))), information,
                        deficit);
        top_information = select(used, max(top_information, information), top_information);
        top_deficit = select(used, max(top_deficit, deficit), top_deficit);
      });
      top_information = or_zero(good, largest_of(top_information, g));
      top_deficit = or_zero(good, largest_of(top_deficit, g));
    }
    dealt_sum<T, G> sums, deficits;
    for_elements(elements, g, [&](int i, int e) WB_INLINE_LAMBDA {
      const T w = weight_of(b, e);
      const auto used = good & (w > T(0.f));
      const T u = or_zero(used, w);
      T information, deficit;
      log_information(a.table + (a.offset ? a.offset[e] : 0),
                      scaled_db(or_zero(used, load(a.sinr, static_cast<std::size_t>(e), b))), information,
                      deficit);
      sums.sum[i] = fma(u, exp(information - top_information), sums.sum[i]);
      deficits.sum[i] = fma(u, exp(deficit - top_deficit), deficits.sum[i]);
    });
    const T information = top_information + log(max(sums.total(g) / total, T(1e-37f)));
    const T deficit = top_deficit + log(max(deficits.total(g) / total, T(1e-37f)));
    const T db =
        inverse_information(a.table, information, deficit, information < T(a.log_half_bits)) + T(a.beta_db);
    return a.decibel ? db : exp(db * T(ln_of_db));
  }
};

}  // namespace WB_ISA
}  // namespace wb
