#pragma once
// The names that scenario files, results and messages use for what a link is made of.
#include <optional>
#include <string>
#include <vector>

#include <warpband/link/codec.hpp>
#include <warpband/massive/uplink/uplink.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/stbc/stbc.hpp>

namespace wb {

const char* name_of(code_type) noexcept;        // "none", "lte-turbo", "lte-transport", ...
const char* name_of(conv_algorithm) noexcept;   // "viterbi", "max-log-map", "log-map"
const char* name_of(conv_ending) noexcept;      // "zero-tail", "tail-biting", "truncated"
const char* name_of(demap_algorithm) noexcept;  // "max-log", "exact"
const char* name_of(golden_search) noexcept;    // "exact", "slicing"
const char* name_of(massive_sinr) noexcept;     // "exact", "approximate"
const char* name_of(const std::optional<crc_polynomial>&) noexcept;  // "none", "crc24a", "crc24b", "other"
const char* name_of_modulation(int points) noexcept;                 // "bpsk", "qpsk", "16qam", ...

/// The candidate that `word` is most likely a misspelling of; empty if none is near.
std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace wb
