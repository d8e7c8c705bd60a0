#pragma once
// What min-sum does to a minimum m in an iteration. Plain data.
#include <cstdint>

namespace wb {

/// max(scale m - offset, 0); int8: the scale in eighths, the offset in quanta.
struct ldpc_correction {
  float scale = 1.f, offset = 0.f;
  std::int32_t eighths = 8;
  // int8 on a CUDA device: scale and 1536 + offset as halves, each twice in a word. Made on the host, so that
  // no kernel converts them for every row.
  std::uint32_t half_scale = 0x3c003c00, half_offset = 0x66006600;
};
/// One for all iterations, or one for each: the last of `count` holds for all further ones.
struct ldpc_corrections {
  ldpc_correction fixed;
  const ldpc_correction* list = nullptr;  // null: `fixed`
  std::int32_t count = 0;
};

}  // namespace wb
