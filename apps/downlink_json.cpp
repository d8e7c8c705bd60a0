#include "downlink_json.hpp"

std::string bits_text(std::span<const std::uint8_t> bits) {
  std::string text;
  for (const std::uint8_t b : bits) text += static_cast<char>('0' + b);
  return text;
}

void add_content(nlohmann::ordered_json& j, const wb::nr_ssb_content& c) {
  j["sfn"] = c.sfn, j["half_frame"] = c.half_frame, j["ssb_index"] = c.ssb_index, j["k_ssb"] = c.k_ssb;
  j["common_spacing_khz"] = c.common_spacing_khz, j["dmrs_first_symbol"] = c.dmrs_first_symbol;
  j["coreset0"] = c.coreset0, j["search_space0"] = c.search_space0;
  j["cell_barred"] = c.cell_barred, j["intra_frequency"] = c.intra_frequency;
}

void add_dci(nlohmann::ordered_json& j, const wb::nr_si_dci& d) {
  j["sib1"] = !d.other_information;
  j["first_block"] = d.first_block, j["resource_blocks"] = d.blocks, j["time_domain"] = d.time_domain;
  j["interleaved"] = d.interleaved, j["mcs"] = d.mcs, j["rv"] = d.rv;
}
