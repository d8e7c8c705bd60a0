#pragma once
#include <complex>
#include <cstdint>
#include <vector>

/// PUCCH of 5G NR from its definition, 3GPP TS 38.211 sections 6.3.2 and 6.4.1.3, in double. Base sequences
/// of lengths up to 24 come from tables: they are given.
namespace oracle {

/// r_{u,v} of section 5.2.2.1, from length 36 on, and of length 30.
std::vector<std::complex<double>> nr_zadoff_chu_base(int length, int u, int v);

struct nr_pucch {
  int format = 0, slot = 0, first_symbol = 0, symbols = 1, first_prb = 0, prbs = 1;
  bool hopping = false;
  int second_hop_prb = 0;
  int group_hopping = 0;  ///< 0 neither, 1 enable, 2 disable
  int hopping_id = 0, initial_cyclic_shift = 0, m_cs = 0, occ = 0, spreading = 2;
  bool pi2_bpsk = false;
  int rnti = 0, scrambling_id = 0, dmrs_id = 0;
  std::vector<int> dmrs_symbols = {};  ///< of formats 3 and 4
  std::vector<int> bits = {};          ///< of format 1; of formats 2 to 4 coded bits
  /// Base sequence of length 12 prbs for u and v.
  std::vector<std::complex<double>> (*base)(int length, int u, int v) = nullptr;
};
/// [symbols][12 prbs], in the resource blocks of each symbol's hop.
std::vector<std::complex<double>> nr_pucch_values(const nr_pucch& p);

/// Coded bits of HARQ-ACK, SR and CSI part 1 beside part 2, TS 38.212 table 6.3.1.4.1-1. `hundredths`: of the
/// largest code rate.
int nr_pucch_first_bits(int coded_bits, int bits, int hundredths, int modulation_order);
/// Coded bits of both parts in the order in which they are modulated, TS 38.212 section 6.3.1.6. `elements`:
/// modulated symbols of an OFDM symbol.
std::vector<int> nr_pucch_multiplex(const std::vector<int>& first, const std::vector<int>& second,
                                    int symbols, const std::vector<int>& dmrs, int elements,
                                    int modulation_order);

/// Share of the energy of values [antennas][n] that a signal [n] explains. Its gain is free in each part of
/// the signal; `lengths` are those of the parts.
double nr_energy_share(const std::vector<std::complex<double>>& values, int antennas,
                       const std::vector<int>& lengths, const std::vector<std::complex<double>>& signal);

/// LMMSE estimates of a channel of power `signal` at positions z, from pilots in noise at positions x. Its
/// correlation at a distance d is sinc(width d) exp(-2 pi i middle d).
std::vector<std::complex<double>> nr_lmmse(const std::vector<double>& x, const std::vector<double>& z,
                                           const std::vector<std::complex<double>>& pilots, double middle,
                                           double width, double signal, double noise);

}  // namespace oracle
