#pragma once
// PBCH of 5G NR from its definition, in double: payload, sequences and the block's grid (3GPP TS 38.212 §7.1,
// TS 38.211 §5.2.1, §7.3.3, §7.4.1.4, §7.4.3).
#include <complex>
#include <cstdint>
#include <vector>

namespace oracle {

/// c(0..count - 1) of §5.2.1, bit by bit.
std::vector<int> nr_gold(std::int64_t c_init, int count);

/// Payload a (32 bits: MIB, then the eight of timing) to a', interleaved and scrambled.
std::vector<int> nr_pbch_scrambled(const std::vector<int>& a, int cell_id, int l_max);

/// The grid, 4 x 240, of a block with these 864 coded bits. i_ssb 0..l_max - 1.
std::vector<std::complex<double>> nr_ssb_grid(const std::vector<int>& coded, int cell_id, int l_max,
                                              int i_ssb, int half_frame);

/// LLRs of the 864 coded bits for a channel that is known: h of each of the 960 values.
std::vector<double> nr_pbch_llrs(const std::vector<std::complex<double>>& y,
                                 const std::vector<std::complex<double>>& h, double noise_var, int cell_id,
                                 int l_max, int i_ssb);

}  // namespace oracle
