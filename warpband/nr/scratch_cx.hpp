#pragma once
// Complex numbers in an op's scratch, real part first.
#include <warpband/core/cx.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T>
WB_HD cx<T> load_cx(const T* s, int n) {
  return {s[2 * n], s[2 * n + 1]};
}
template <class T>
WB_HD void store_cx(T* s, int n, cx<T> z) {
  s[2 * n] = z.re;
  s[2 * n + 1] = z.im;
}

}  // namespace WB_ISA
}  // namespace wb
