#pragma once
#include <complex>
#include <cstdint>

#include <warpband/core/error.hpp>
#include <warpband/core/view.hpp>

namespace wb {

/// Views of complex values, the way kernels see them. Throws argument_error for data that does not begin on a
/// multiple of 8 bytes.
inline view<const cx_pair> as_pairs(view<const std::complex<float>> v) {
  if (reinterpret_cast<std::uintptr_t>(v.data) % alignof(cx_pair) != 0)
    throw argument_error("complex data", "at an odd multiple of 4 bytes", "on a multiple of 8 bytes");
  return {reinterpret_cast<const cx_pair*>(v.data), v.elements, v.items, v.element_stride, v.item_stride};
}
inline view<cx_pair> as_pairs(view<std::complex<float>> v) {
  const view<const cx_pair> c = as_pairs(view<const std::complex<float>>(v));
  return {const_cast<cx_pair*>(c.data), c.elements, c.items, c.element_stride, c.item_stride};
}

}  // namespace wb
