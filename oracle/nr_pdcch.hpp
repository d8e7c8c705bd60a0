#pragma once
// PDCCH of 5G NR from its definition, in double: 3GPP TS 38.211 §7.3.2 and §7.4.1.3.
#include <complex>
#include <vector>

namespace oracle {

struct nr_pdcch {
  int blocks, symbols, first_symbol, dmrs_first_block;
  bool interleaved;
  int reg_bundle, rows, shift;
  int dmrs_id, scrambling_id, scrambling_rnti;
  int level;
};

/// Resource-element groups of the CCEs from first_cce on, numbered in time first, in the order of their CCEs.
std::vector<int> nr_pdcch_groups(const nr_pdcch& c, int first_cce);

/// The CORESET, symbols x 12 blocks, with the coded bits of one candidate.
std::vector<std::complex<double>> nr_pdcch_grid(const nr_pdcch& c, const std::vector<int>& coded, int slot,
                                                int first_cce);

/// LLRs of the coded bits for a channel that is known: h of each element of the CORESET.
std::vector<double> nr_pdcch_llrs(const nr_pdcch& c, const std::vector<std::complex<double>>& y,
                                  const std::vector<std::complex<double>>& h, double noise_var,
                                  int first_cce);

}  // namespace oracle
