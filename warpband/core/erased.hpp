#pragma once
// What ops store for items that are erased: zeros, and the status.
#include <warpband/core/cx.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/status.hpp>

namespace wb {
inline namespace WB_ISA {

/// x where `good`, 0 elsewhere.
template <class M, class T>
WB_HD T or_zero(M good, T x) {
  return select(good, x, T(0.f));
}
template <class M, class T>
WB_HD cx<T> or_zero(M good, cx<T> x) {
  return {select(good, x.re, T(0.f)), select(good, x.im, T(0.f))};
}
/// The status of an item: erased unless `good`.
template <class T>
WB_HD void store_status(const view<std::uint8_t>& v, item<T> b, typename rebind<T>::mask good) {
  using I = typename rebind<T>::i32;
  store_int<T>(v, 0, b, select(good, I(0), I(status_erased)));
}

}  // namespace WB_ISA
}  // namespace wb
