#pragma once
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {

enum class qr_method { gram_schmidt, householder, cholesky };

/// P: float or cx_pair.
template <class P>
struct qr_args {
  static constexpr int max_columns = 16;
  int rows = 0, columns = 0;
  qr_method method = qr_method::gram_schmidt;
  std::int32_t order[max_columns] = {};  // column k of the decomposed matrix is column order[k] of h
  view<const P> h, y;                    // y: null data for none
  view<P> r, q, z;                       // q, z: null data: not wanted
  view<std::uint8_t> status;             // null data: not wanted
};

}  // namespace wb
