#pragma once
// What the steps of PUCCH hand to kernels. A PUCCH has S symbols of M = 12 PRBs subcarriers, in one or two
// hops. Items are occasions. Tables that change from slot to slot have a part for each slot of a frame.
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

inline constexpr int pucch_most_candidates = 8;  // sequences of format 0 that a detector tells apart
inline constexpr int pucch_numbers = 5;          // see pucch_decide_args

/// The symbols of a hop.
struct pucch_hop {
  std::int32_t first = 0, symbols = 0;
  std::int32_t first_pilot = 0, pilots = 0;  // symbols with DMRS
};

/// Formats 0 and 1.
struct pucch_tones_args {
  const std::int32_t* slots = nullptr;     // [occasions]
  const cx_pair* sequences = nullptr;      // [slots, S, 12]
  const cx_pair* units = nullptr;          // exp(2 pi i k / 12)
  const cx_pair* candidates = nullptr;     // format 1: symbols d that may be sent
  const std::int32_t* shifts = nullptr;    // format 0: m_cs that may be sent
  const std::int32_t* messages = nullptr;  // of each candidate: its bits, the first one in bit 0
  std::int32_t format = 0, symbols = 1, hops = 1, first_hop = 1, antennas = 1, candidate_count = 1, bits = 1;
  float threshold = 0;  // of the metric
  view<const cx_pair> in;
  view<std::uint8_t> out_bits, detected, second_detected, status;
  view<float> metric, snr_db;
};

/// Where the values of an occasion begin in scratch memory, behind the coordinates of its pilots. Complex
/// values take two. `levels` are the signal's power and the noise's.
struct pucch_offsets {
  std::int32_t pilot_energies = 0, paths = 0, data_energies = 0, part_energies = 0, norms = 0, factors = 0,
               levels = 0, gains = 0, values = 0, total = 0;
};

/// Formats 2 to 4, from resource elements to LLRs.
struct pucch_equalise_args {
  const std::int32_t* slots = nullptr;
  const cx_pair* pilots = nullptr;              // [slots, pilot symbols, P] what is sent
  const std::int32_t* pilot_symbols = nullptr;  // [pilot symbols]
  const std::int32_t* data_symbols = nullptr;   // [data symbols]
  const cx_pair* analysis = nullptr;            // [P, ranks] conjugate eigenvectors over frequency
  const cx_pair* synthesis = nullptr;           // [M, ranks] of the channel on subcarriers
  const float* time_analysis = nullptr;   // [pilot symbols, 4] eigenvectors over time, of a hop's pilots
  const float* time_synthesis = nullptr;  // [S, 4]
  const float* gains = nullptr;           // [pilot symbols, ranks] eigenvalues
  const float* strong = nullptr;          // [pilot symbols, ranks] 1 where the signal is looked for, or 0
  const cx_pair* units = nullptr;         // exp(2 pi i k / M)
  const cx_pair* codes = nullptr;         // [12] conjugate of format 4's code, over its length
  const float* signs = nullptr;           // [E] of the scrambling
  const std::int32_t* order = nullptr;    // [E] number of each sent bit among the coded bits of both parts
  const std::int32_t* shares = nullptr;   // [data symbols] elements of part 1; nullptr: there is one part
  std::int32_t format = 2, symbols = 1, subcarriers = 12, pilot_count = 4, ranks = 1, antennas = 1;
  std::int32_t pilot_symbol_count = 1, data_symbol_count = 1, hops = 1, spreading = 1, one_bit = 0;
  pucch_hop hop[2];
  pucch_offsets offsets;
  // Of the coordinates with the signal and of the rest: sums of eigenvalues, and counts. The noise is
  // noise_of_rest times the energy of the rest less noise_of_found times that of the signal's coordinates.
  float strong_gain = 1, strong_count = 1, rest_count = 1, noise_of_rest = 1, noise_of_found = 0;
  view<const cx_pair> in;  // [occasions, antennas S M]
  view<float> llr;         // [occasions, E], of part 1 and then of part 2
  view<float> numbers;     // [occasions, pucch_numbers]
};

/// Decision on the decoded message, formats 2 to 4. `second` is CSI part 2, whose views may have no data.
struct pucch_decide_args {
  // Energy of the data times that of the direction which LLRs are along, of all or of part 1. Signal.
  // Noise. 1 if all is usable. The first number, of part 2.
  view<const float> numbers;
  view<const float> llr;
  view<const std::uint8_t> decoded, decoded_status, second_status, coded;
  std::int32_t bits = 0, first_bits = 0, first_coded_bits = 0, with_crc = 0, second_with_crc = 0;
  float threshold = 0, second_threshold = 0;
  view<std::uint8_t> out_bits, detected, second_detected, status;
  view<float> metric, snr_db;
};

/// UCI to resource elements.
struct pucch_map_args {
  const std::int32_t* slots = nullptr;
  const cx_pair* reference = nullptr;         // sequences, or pilots
  const std::int32_t* symbol_kind = nullptr;  // [S] number among data symbols, or -1 - number among pilots
  const cx_pair* units = nullptr;             // of 12, or of M
  const cx_pair* codes = nullptr;             // [12] format 4's code
  const cx_pair* candidates = nullptr;        // format 1, by its bits
  const std::int32_t* shifts = nullptr;       // format 0, by its bits; -1: nothing is sent
  const float* signs = nullptr;
  const std::int32_t* order = nullptr;  // formats 2 to 4: of each sent bit among the coded bits
  std::int32_t format = 0, symbols = 1, subcarriers = 12, pilot_count = 4, pilot_symbol_count = 0, bits = 1;
  std::int32_t spreading = 1, one_bit = 0;
  view<const std::uint8_t> in;  // bits of formats 0 and 1, else coded bits
  view<cx_pair> out;            // [occasions, S M]
};

}  // namespace wb
