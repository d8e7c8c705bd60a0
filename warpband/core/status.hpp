#pragma once
// Status bytes: one per item, written by an op. Bit 0 means the same everywhere.
#include <cstddef>
#include <cstdint>

namespace wb {

inline constexpr std::uint8_t status_erased = 1;   // non-finite or impossible input: the outputs are zero
inline constexpr std::uint8_t status_stopped = 2;  // a decoder's stop rule held
// Beside status_erased: too little was received of a word to tell which word was sent.
inline constexpr std::uint8_t status_insufficient = 4;

/// Items of a batch that were erased.
template <class Bytes>
std::size_t count_erased(const Bytes& status) {
  std::size_t n = 0;
  for (const std::uint8_t s : status) n += s & status_erased;
  return n;
}

}  // namespace wb
