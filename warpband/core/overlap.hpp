#pragma once
// Whether views overlap: outputs must not, or what they hold would depend on who writes last.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <string>
#include <utility>

#include <warpband/core/error.hpp>
#include <warpband/core/view.hpp>

namespace wb {

/// Where the values of a view are, in bytes: `rows` of `inner` values of `size` bytes each. The stride of
/// rows is not the smaller one.
struct byte_range {
  std::uintptr_t first = 0;
  std::size_t size = 0, inner = 0, inner_stride = 0, rows = 0, row_stride = 0;

  template <class T>
  explicit byte_range(const view<T>& v)
      : first(reinterpret_cast<std::uintptr_t>(v.data)),
        size(sizeof(T)),
        inner(v.data == nullptr ? 0 : v.elements),
        inner_stride(v.element_stride * sizeof(T)),
        rows(v.items),
        row_stride(v.item_stride * sizeof(T)) {
    if (rows > 1 && (inner_stride > row_stride || inner <= 1)) {
      std::swap(inner, rows);
      std::swap(inner_stride, row_stride);
    }
    if (rows == 1) row_stride = 0;
    if (inner == 1) inner_stride = 0;
  }
  bool empty() const noexcept { return inner == 0 || rows == 0; }
  /// Bytes from the first value of a row to the end of its last one, and of all rows.
  std::size_t row_bytes() const noexcept { return (inner - 1) * inner_stride + size; }
  std::size_t bytes() const noexcept { return (rows - 1) * row_stride + row_bytes(); }
};

/// Whether two values of a view share memory.
inline bool overlaps_itself(const byte_range& a) {
  if (a.empty()) return false;
  if ((a.inner > 1 && a.inner_stride == 0) || (a.rows > 1 && a.row_stride == 0)) return true;
  if (a.inner == 1 || a.rows == 1 || a.row_bytes() <= a.row_stride) return false;
  // Value i of row r is value i + row_stride/g of row r - inner_stride/g.
  const std::size_t g = std::gcd(a.inner_stride, a.row_stride);
  return a.row_stride / g < a.inner && a.inner_stride / g < a.rows;
}

/// Whether two rows of `a` and `b` may share memory, where b's begins `ahead` bytes behind a's.
inline bool rows_may_overlap(const byte_range& a, const byte_range& b, std::size_t ahead) {
  if (ahead >= a.row_bytes()) return false;
  const std::size_t step = a.inner_stride;
  if (step == 0 || (b.inner > 1 && b.inner_stride != step)) return true;
  return ahead % step < a.size || ahead % step + b.size > step;  // else it is between values of a
}

/// Whether two views may share memory. Exact for views that do not overlap themselves and have the same
/// strides, as parts of one array's rows or columns have. Others that interleave count as overlapping.
inline bool may_overlap(byte_range a, byte_range b) {
  if (a.empty() || b.empty()) return false;
  if (a.first > b.first) std::swap(a, b);
  const std::size_t ahead = b.first - a.first;
  if (ahead >= a.bytes()) return false;
  const std::size_t row = a.row_stride != 0 ? a.row_stride : b.row_stride;
  if (row == 0) return rows_may_overlap(a, b, ahead);
  if ((a.rows > 1 && a.row_stride != row) || (b.rows > 1 && b.row_stride != row)) return true;
  if (a.row_bytes() > row || b.row_bytes() > row) return true;
  const std::size_t in_row = ahead % row;
  return rows_may_overlap(a, b, in_row) || rows_may_overlap(b, a, row - in_row);
}

/// An output of a call.
struct named_output {
  const char* name;
  byte_range range;
  template <class T>
  named_output(const char* n, const view<T>& v) : name(n), range(v) {}
};

/// Throws shape_error where two outputs may share memory. Those without data were not asked for.
inline void check_apart(std::initializer_list<named_output> outputs) {
  for (const named_output* b = outputs.begin(); b != outputs.end(); b++)
    for (const named_output* a = outputs.begin(); a != b; a++)
      if (may_overlap(a->range, b->range))
        throw shape_error(b->name, std::string("a view that overlaps ") + a->name, "memory of its own");
}

}  // namespace wb
