#pragma once
// Resource elements of PDSCH and PUSCH from their definition: 3GPP TS 38.211 §7.3.1.5, §7.3.1.6, §7.4.1.2,
// §6.4.1.2, TS 38.214 §5.1.4.
#include <complex>
#include <cstdint>
#include <vector>

namespace oracle {

/// Resource blocks x symbols.
struct nr_part {
  int first_block, blocks, first_symbol, symbols;
};
struct nr_slot {
  int carrier_blocks, first_common_block;
  std::vector<int> blocks;  // allocated, of the carrier
  int first_symbol, symbols;
  std::vector<int> dmrs_symbols;
  int dmrs_type, dmrs_length, cdm_groups;
  std::vector<nr_part> reserved;
  int time_density;  // of PTRS; 0: none
  int frequency_density, offset, port, rnti;
};

/// Elements with data, symbol * subcarriers + subcarrier, in the order of the mapping.
std::vector<int> nr_data_elements(const nr_slot& s);
/// Elements with PTRS.
std::vector<int> nr_ptrs_elements(const nr_slot& s);
/// Their values, with the c_init of the first DMRS symbol's sequence.
std::vector<std::complex<double>> nr_ptrs_values(const nr_slot& s, std::int64_t c_init, double beta);

/// Physical resource block of each virtual one of a bandwidth part, interleaved.
std::vector<int> nr_interleaved(int first_common_block, int blocks, int bundle);

}  // namespace oracle
