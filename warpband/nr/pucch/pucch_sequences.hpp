#pragma once
// Sequences of PUCCH, 3GPP TS 38.211: base sequences of low PAPR (section 5.2.2), group and sequence hopping
// (6.3.2.2.1), hopping of cyclic shifts (6.3.2.2.2), orthogonal codes of formats 1 and 4.
//
//   M = 6, 12, 18, 24   r(n) = exp(i pi phi(n) / 4), phi from tables 5.2.2.2-1 to 5.2.2.2-4
//   M = 30              r(n) = exp(-i pi (u + 1) (n + 1) (n + 2) / 31)
//   M >= 36             r(n) = x_q(n mod N), x_q(m) = exp(-i pi q m (m + 1) / N)
//                       N the largest prime below M, p = N (u + 1) / 31, q = floor(p + 1/2) + v (-1)^floor(2
//                       p)
//
// Section 5.2.2 defines v = 1 from M = 72 on, and section 6.3.2.2.1 hops to it at any M. Up to M = 30 there
// is one sequence for both v. M = 36, 48 and 60 follow the formula with v = 1.
#include <complex>
#include <vector>

namespace wb {

/// r_{u,v}(0..length - 1) without cyclic shift. u 0..29, v 0 or 1; v is ignored up to length 30. Lengths:
/// multiples of 6 up to 3300. Throws argument_error.
std::vector<std::complex<double>> nr_low_papr_sequence(int length, int u, int v);

/// pucch-GroupHopping.
enum class pucch_hopping { neither, enable, disable };

/// Group and sequence number.
struct pucch_group {
  int u = 0, v = 0;
};
/// Of a slot of a frame and a hop, 0 or 1. `identity` is hoppingId or the cell's, 0..1023. Throws
/// argument_error.
pucch_group nr_pucch_group(pucch_hopping mode, int identity, int slot, int hop);

/// n_cs of the 14 symbols of a slot of a frame: 0..255. Throws argument_error.
std::vector<int> nr_pucch_shifts(int identity, int slot);

/// w_index(m) of format 1: phase in turns, of a code of `length` symbols, 1..7.
double pucch_code_turns(int length, int index, int m);

/// Symbols with DMRS in formats 3 and 4, of a PUCCH of 4 to 14 symbols: table 6.4.1.3.3.2-1.
std::vector<int> pucch_dmrs_symbols(int symbols, bool hopping, bool additional);

}  // namespace wb
