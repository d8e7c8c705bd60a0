#pragma once
// Arguments of the kernels that convert LLRs and pack bits. Plain data.
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// Number format of a caller's LLRs.
enum class llr_format { int8, int16, float32 };
/// Number format of a caller's HARQ memory.
enum class harq_format { int8, float16 };
constexpr std::size_t harq_value_bytes(harq_format format) { return format == harq_format::int8 ? 1 : 2; }

/// Rows of integers to rows of floats. An item is a piece of a row: item / pieces is the row.
struct llr_convert_args {
  llr_format format = llr_format::int8;
  const void* from = nullptr;
  std::size_t row_stride = 0, stride = 1;  // of `from`, in values
  float* to = nullptr;                     // rows follow each other
  float scale = 1.f;
  std::int32_t length = 0, pieces = 1;  // of a row
};
/// An item is a piece of a row's packed bytes.
struct bit_pack_args {
  view<const std::uint8_t> bits;  // [batch, k]
  view<std::uint8_t> packed;      // [batch, ceil(k / 8)]
  std::int32_t pieces = 1;
};
/// Values of a piece: floats, or packed bytes.
inline constexpr std::int32_t format_piece = 4096;
constexpr std::int32_t format_pieces(std::size_t length) {
  return static_cast<std::int32_t>((length + format_piece - 1) / format_piece);
}

}  // namespace wb
