#pragma once
// Strided views of a batch. Plain data: they cross the borders between instruction sets and into CUDA.
#include <cstddef>
#include <type_traits>

namespace wb {

/// Order of a batch in memory. `row_major` is NumPy's: the elements of one item lie side by side.
/// `batch_fastest` puts the same element of neighbouring items side by side.
enum class layout { row_major, batch_fastest };

/// Element e of item b is data[e * element_stride + b * item_stride].
template <class T>
struct view {
  T* data = nullptr;
  std::size_t elements = 0, items = 0;
  std::size_t element_stride = 1, item_stride = 0;

  template <class C>
    requires(std::is_same_v<C, const T> && !std::is_const_v<T>)
  operator view<C>() const noexcept {
    return {data, elements, items, element_stride, item_stride};
  }
};

/// A complex value in memory, as std::complex<float> lays it out, on a multiple of 8 bytes.
struct alignas(8) cx_pair {
  float re, im;
};

/// A view of `items` x `elements` contiguous values.
template <class T>
view<T> make_view(T* data, std::size_t items, std::size_t elements, layout order = layout::row_major) {
  if (order == layout::row_major) return {data, elements, items, 1, elements};
  return {data, elements, items, items, 1};
}

/// A view of one value per item.
template <class T>
view<T> make_view(T* data, std::size_t items) {
  return {data, 1, items, 1, 1};
}

}  // namespace wb
