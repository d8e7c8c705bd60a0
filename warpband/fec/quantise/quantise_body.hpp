#pragma once
// Float LLRs to integers. A fixed number of quanta rounds to the nearest integer. An automatic scale also
// keeps signs: an LLR that is not tiny becomes at least one quantum.
#include <warpband/core/rounding.hpp>
#include <warpband/fec/quantise/quantise_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// The scale of one item.
struct llr_quantiser {
  /// Of a quantum. The upper quartile is 9 quanta or more, so this is below 1/4096 of the largest LLR: it
  /// tells nothing (zeros_least in usable.hpp).
  static constexpr float tiny = 1.f / 1024;
  float quanta, least;  // least: the smallest magnitude of an LLR that is not tiny

  llr_quantiser() = default;
  WB_HD llr_quantiser(const llr_quanta& q, std::size_t item)
      : quanta(q.per_item != nullptr ? q.per_item[item] : q.fixed),
        least(q.per_item != nullptr ? 1.f : 0.f) {}
  /// The integer of a finite LLR, within +-limit; ties to even.
  template <class T>
  WB_HD typename rebind<T>::i32 operator()(T llr, float limit) const {
    const T x = max(min(llr * T(quanta), T(limit)), T(-limit));
    return nearest_integer(select(x > T(tiny), max(x, T(least)), select(x < T(-tiny), min(x, T(-least)), x)));
  }
};

}  // namespace WB_ISA
}  // namespace wb
