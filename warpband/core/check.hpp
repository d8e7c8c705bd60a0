#pragma once
// Checks of settings and shapes. Each throws before any work.
#include <string>

#include <warpband/core/error.hpp>
#include <warpband/core/overlap.hpp>
#include <warpband/core/view.hpp>

namespace wb {

inline void check_range(const char* argument, long long value, long long least, long long greatest) {
  if (value < least || value > greatest)
    throw argument_error(argument, std::to_string(value),
                         std::to_string(least) + " to " + std::to_string(greatest));
}

inline std::string shape_text(std::size_t items, std::size_t elements) {
  return "[" + std::to_string(items) + ", " + std::to_string(elements) + "]";
}

/// A batch that must be there and have exactly this shape.
template <class T>
void check_shape(const char* argument, const view<T>& v, std::size_t items, std::size_t elements) {
  if (v.elements != elements || v.items != items)
    throw shape_error(argument, shape_text(v.items, v.elements), "shape " + shape_text(items, elements));
  if (v.data == nullptr && items * elements != 0) throw shape_error(argument, "null", "data");
  if constexpr (!std::is_const_v<T>) {  // an output that items or elements share would be a race
    const bool shared = (items > 1 && v.item_stride == 0) || (elements > 1 && v.element_stride == 0);
    if (shared && items * elements != 0)
      throw shape_error(argument, "a view with stride 0", "a place of its own for every value");
    if (overlaps_itself(byte_range(v)))
      throw shape_error(argument, "a view whose own items overlap", "a place of its own for every value");
  }
}
/// The same for one that may be left out (no data).
template <class T>
void check_optional_shape(const char* argument, const view<T>& v, std::size_t items, std::size_t elements) {
  if (v.data != nullptr) check_shape(argument, v, items, elements);
}

}  // namespace wb
