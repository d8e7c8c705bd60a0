#pragma once
#include <complex>

#include <warpband/core/view.hpp>

namespace wb {

/// Views of complex values, the way kernels see them.
inline view<cx_pair> as_pairs(view<std::complex<float>> v) {
  return {reinterpret_cast<cx_pair*>(v.data), v.elements, v.items, v.element_stride, v.item_stride};
}
inline view<const cx_pair> as_pairs(view<const std::complex<float>> v) {
  return {reinterpret_cast<const cx_pair*>(v.data), v.elements, v.items, v.element_stride, v.item_stride};
}

}  // namespace wb
