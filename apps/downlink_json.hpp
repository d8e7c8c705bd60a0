#pragma once
// What 5G NR's downlink says, in the JSON of `generate` and `receive`.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include <warpband/nr/pbch/pbch_content.hpp>
#include <warpband/nr/pdcch/dci.hpp>

/// Bits as "0" and "1".
std::string bits_text(std::span<const std::uint8_t> bits);
/// Adds the fields of an SS/PBCH block, without its MIB's bits.
void add_content(nlohmann::ordered_json& j, const wb::nr_ssb_content& content);
/// Adds the fields of a DCI, without its bits.
void add_dci(nlohmann::ordered_json& j, const wb::nr_si_dci& dci);
