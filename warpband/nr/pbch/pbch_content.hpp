#pragma once
// What an SS/PBCH block of 5G NR says: the master information block (MIB) of 3GPP TS 38.331 and the eight
// bits about timing that the physical layer adds (TS 38.212 §7.1).
//
//   payload a_0 .. a_31: 24 bits of the MIB, 4 LSBs of the SFN, half frame,
//                        3 MSBs of i_SSB (l_max 64) or MSB of k_SSB and two reserved bits
//
// a' is a, interleaved by G (§7.1.1) and then scrambled (§7.1.2). These 32 bits get CRC and polar code.
#include <array>
#include <cstdint>
#include <optional>

namespace wb {

inline constexpr int pbch_payload_bits = 32;
using pbch_payload = std::array<std::uint8_t, pbch_payload_bits>;  // bits 0 and 1

/// The fields of a block.
struct nr_ssb_content {
  int sfn = 0;                  // system frame number, 0..1023
  int half_frame = 0;           // 0, 1
  int ssb_index = 0;            // i_SSB, 0..l_max - 1
  int k_ssb = 0;                // subcarrier offset, 0..31; l_max 64: 0..15
  int common_spacing_khz = 15;  // of SIB1: 15, 30; l_max 64: 60, 120
  int dmrs_first_symbol = 2;    // of PDSCH and PUSCH with mapping type A: 2, 3
  int coreset0 = 0;             // controlResourceSetZero, 0..15
  int search_space0 = 0;        // searchSpaceZero, 0..15
  bool cell_barred = false;
  bool intra_frequency = true;  // intraFreqReselection: allowed
  bool operator==(const nr_ssb_content&) const = default;
};
/// Throws argument_error that names a field, or "l_max" (4, 8, 64).
void check(const nr_ssb_content& content, int l_max);

/// The payload a of a block. The spare bit of the MIB and reserved bits are 0. Throws argument_error.
pbch_payload nr_pbch_payload(const nr_ssb_content& content, int l_max);
/// The fields of a payload. `dmrs_index` 0..7 is the index of the DMRS sequence, which holds the LSBs of
/// i_SSB. None if the payload is no MIB (first bit 1), or with l_max 4 if its half frame is not that of the
/// DMRS. Throws argument_error ("l_max", "dmrs_index").
std::optional<nr_ssb_content> nr_pbch_content(const pbch_payload& payload, int l_max, int dmrs_index);

/// The index of the DMRS sequence (§7.4.1.4.1 of TS 38.211): i_SSB + 4 half_frame with l_max 4, else the
/// three LSBs of i_SSB.
int nr_pbch_dmrs_index(const nr_ssb_content& content, int l_max);
/// c_init of that sequence.
std::int64_t nr_pbch_dmrs_init(int cell_id, int dmrs_index);

/// Interleaver and scrambling of the payload, a to a', and back. Throws argument_error ("l_max", "cell_id").
pbch_payload nr_pbch_scrambled(const pbch_payload& payload, int cell_id, int l_max);
pbch_payload nr_pbch_descrambled(const pbch_payload& scrambled, int cell_id, int l_max);

}  // namespace wb
