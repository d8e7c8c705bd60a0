#pragma once
// Trained factors of min-sum decoders as a file. It is JSON:
//
//   {"format": "warpband-ldpc-factors", "version": 1,
//    "trained_for": "5G NR base graph 2, Z = 64, rate 1/3, layered",
//    "iterations": 10,
//    "factors": [0.625, 0.75, 0.75, 0.75, 0.75, 0.875, 0.875, 0.875, 0.875, 1]}
//
// `factors` are those of normalised min-sum, 0..1, or `offsets` those of offset min-sum, 0..8, in units of
// LLRs. There is one for each of the `iterations`.
#include <string>
#include <string_view>
#include <vector>

#include <warpband/core/error.hpp>

namespace wb {

inline constexpr std::size_t most_ldpc_factors = 1000;

struct ldpc_factors {
  std::string trained_for;
  std::vector<double> factors, offsets;  // one of them is empty
};

/// Throws file_error that names the key, its value and what is allowed: for text that is not JSON, another
/// format or version, an unknown key, and a list whose length is not `iterations`.
ldpc_factors read_ldpc_factors(const std::string& path);
/// The same of a text; `name` stands for the file in messages.
ldpc_factors parse_ldpc_factors(std::string_view text, const std::string& name);

}  // namespace wb
