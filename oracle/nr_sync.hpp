#pragma once
// Synchronization signals of 5G NR from their definition, 3GPP TS 38.211 §7.4.2, in double: sequences, blocks
// as continuous waveforms, and what a correlation with them gives.
#include <complex>
#include <vector>

namespace oracle {

/// d(0..126) of PSS and SSS.
std::vector<int> nr_pss(int n_id2);
std::vector<int> nr_sss(int cell_id);

/// A block on the air: PSS, SSS and QPSK on the subcarriers of PBCH.
struct nr_block {
  int cell_id = 0;
  double spacing_hz = 15e3;
  double offset_hz = 0;  // of subcarrier 120 from the centre
  double cfo_hz = 0;
  double carrier_hz = 0;  // f0 of section 5.4
  int first_symbol = 2;   // in its subframe, for the phase of section 5.4
  unsigned seed = 1;      // of the QPSK
  bool pbch = true;       // false: PSS and SSS alone, which 128 samples a symbol can hold
};
/// Samples 0..count - 1. The prefix of symbol 0 begins at sample `start`, with fraction. Each resource
/// element has amplitude 1 in a unitary transform at the sample rate.
std::vector<std::complex<double>> nr_block_samples(const nr_block& block, double sample_rate_hz, double start,
                                                   std::size_t count);

}  // namespace oracle
