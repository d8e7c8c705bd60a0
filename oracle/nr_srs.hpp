#pragma once
#include <complex>
#include <vector>

/// Sounding reference signals of 5G NR from their definition, 3GPP TS 38.211 section 6.4.1.4, in double. Base
/// sequences of lengths 12 and 24 come from tables: they are given.
namespace oracle {

struct nr_srs {
  int slot = 0, symbols_per_slot = 14, subcarriers = 0;  ///< of the carrier
  int ports = 1, symbols = 1, first_symbol = 13, comb = 2, comb_offset = 0, cyclic_shift = 0;
  int c_srs = 0, b_srs = 0, b_hop = 0, n_rrc = 0, n_shift = 0, repetition = 1, n_srs = 0, id = 0;
  int hopping = 0;  ///< 0 neither, 1 group, 2 sequence
  std::vector<std::complex<double>> (*base)(int length, int u, int v) = nullptr;
};
/// m_SRS,b, as the table's columns have it.
int nr_srs_blocks(int c_srs, int b);
/// [ports][symbols of the slot][subcarriers], 0 where nothing is sent. A value outside of the carrier throws.
std::vector<std::complex<double>> nr_srs_values(const nr_srs& s);

}  // namespace oracle
