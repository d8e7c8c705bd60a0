#pragma once

namespace wb {

/// LLR of a bit that both sides know. Received float32 LLRs are limited to +- this.
inline constexpr float known_llr = 1e30f;

}  // namespace wb
