#pragma once
#include <complex>

#include <warpband/core/view.hpp>

namespace wb {

/// Complex values as pairs of floats (element 0 the real, 1 the imaginary part), the way kernels see them.
/// Rows hold one complex value each.
inline view<float> as_floats(view<std::complex<float>> v) {
  return {reinterpret_cast<float*>(v.data), 2, v.items, 1, 2 * v.item_stride};
}
inline view<const float> as_floats(view<const std::complex<float>> v) {
  return {reinterpret_cast<const float*>(v.data), 2, v.items, 1, 2 * v.item_stride};
}

}  // namespace wb
