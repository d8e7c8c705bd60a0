#pragma once
// Arrays in a workspace (kept_workspace of executor.hpp), one behind the other.
#include <cstddef>

namespace wb {

/// An array of `count` elements at `from`, which is moved behind it to the next multiple of 64 bytes. A
/// workspace for several arrays needs 64 bytes more for each.
template <class T>
T* take_part(std::byte*& from, std::size_t count) {
  T* p = reinterpret_cast<T*>(from);
  from += (count * sizeof(T) + 63) / 64 * 64;
  return p;
}

}  // namespace wb
