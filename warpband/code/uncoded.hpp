#pragma once
// none: frames of k bits that are sent as they are.
#include <optional>

#include <warpband/code/code_kind.hpp>

namespace wb {

struct uncoded_settings {
  std::optional<int> k = {};  // absent: 6144, with massive MIMO the bits of an OFDM symbol
  std::optional<crc_polynomial> crc = {};
  bool operator==(const uncoded_settings&) const = default;
};

code_kind uncoded_kind();

}  // namespace wb
