#pragma once
// Where control channels of 5G NR are: CORESET 0 and when it is monitored (3GPP TS 38.213 §13), and the
// candidates of search spaces (§10.1). CORESET 0 has subcarriers 15 or 30 kHz apart in frequency range 1
// (FR1), and 60 or 120 kHz in FR2.
#include <optional>
#include <vector>

namespace wb {

/// CORESET 0: tables 13-1 to 13-10 of TS 38.213.
struct nr_coreset0 {
  int blocks = 0;   // resource blocks: 24, 48, 96
  int symbols = 0;  // 1..3
  int offset = 0;   // from its first resource block to the one with the SS/PBCH block's first subcarrier
  int pattern = 1;  // multiplexing with SS/PBCH blocks: 1, in FR2 also 2 and 3
  bool operator==(const nr_coreset0&) const = default;
};
/// The CORESET of controlResourceSetZero = index 0..15; none if the index is reserved. Spacings of the
/// SS/PBCH block and of the CORESET in kHz: 15 and 30, or 120 and 240 with 60 and 120. wide: bands whose
/// least channel bandwidth is 40 MHz (30 kHz blocks alone). k_ssb 0..23, in FR2 0..11, on which some offsets
/// of FR2 depend: those need it. Throws argument_error.
///   nr_coreset0_of(30, 30, 10);  // 48 resource blocks, 1 symbol, offset 12
std::optional<nr_coreset0> nr_coreset0_of(int ssb_spacing_khz, int spacing_khz, int index, bool wide = false,
                                          std::optional<int> k_ssb = {});
/// From the block's subcarrier 120 to subcarrier 0 of the CORESET, in Hz. k_ssb 0..23, FR2 0..11. Throws
/// argument_error.
double nr_coreset0_first_hz(const nr_coreset0& coreset, int ssb_spacing_khz, int spacing_khz, int k_ssb);

/// When CORESET 0 is monitored for an SS/PBCH block: in slots `slot` and slot + 1 of frames of this parity.
struct nr_type0_occasion {
  int sfn_parity = 0;    // SFN mod 2
  int slot = 0;          // n_0, of the frame
  int first_symbol = 0;  // of the CORESET
  bool operator==(const nr_type0_occasion&) const = default;
};
/// Of searchSpaceZero = index 0..15 (table 13-11) and block i_SSB 0..7; at 60 and 120 kHz table 13-12 and
/// i_SSB 0..63. None if the index is reserved. Occasions are those of multiplexing pattern 1, which the
/// CORESET must have. Throws argument_error.
std::optional<nr_type0_occasion> nr_type0_occasion_of(int index, int ssb_index, int spacing_khz,
                                                      int coreset_symbols);

/// Parameters of a UE-specific search space.
struct nr_ue_search_space {
  int rnti = 1;     // n_RNTI: 1..65535
  int coreset = 0;  // p: 0..15
  int slot = 0;     // in its frame, 0..79
  int carrier = 0;  // n_CI, of the serving cell in cross-carrier scheduling: 0..7
};
/// The first control channel element (CCE) of each of `candidates` candidates. Candidates repeat in a
/// small CORESET. Without a UE the search space is common. cces 1..135, level 1, 2, 4, 8, 16 up to
/// cces, candidates 1..8. Throws argument_error.
std::vector<int> nr_pdcch_candidates(int cces, int level, int candidates,
                                     const std::optional<nr_ue_search_space>& ue = {});

}  // namespace wb
