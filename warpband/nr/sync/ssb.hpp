#pragma once
// Synchronization signals of 5G NR and where SS/PBCH blocks lie: 3GPP TS 38.211 §7.4.2 and §7.4.3, TS 38.213
// §4.1. A block has 240 subcarriers and 4 OFDM symbols with the normal cyclic prefix. Its frequency is that
// of its subcarrier 120. The primary signal (PSS) is in symbol 0, the secondary one (SSS) in symbol 2, both
// on subcarriers 56 to 182.
#include <cstdint>
#include <vector>

namespace wb {

inline constexpr int ssb_subcarriers = 240;
inline constexpr int ssb_symbols = 4;
inline constexpr int sync_length = 127;     // values of PSS and SSS
inline constexpr int sync_subcarrier = 56;  // of the block: the first with PSS and SSS
inline constexpr int nr_cell_ids = 1008;    // N_ID = 3 N_ID1 + N_ID2
inline constexpr int nr_second_ids = 336;   // N_ID1: 0..335

/// PSS of N_ID2 = 0, 1, 2: 127 values, 1 or -1. Throws argument_error ("n_id2").
std::vector<float> nr_pss(int n_id2);
/// SSS of a cell 0..1007. Throws argument_error ("cell_id").
std::vector<float> nr_sss(int cell_id);
/// The two m-sequences of the SSS, 127 values each: element n of a cell's SSS is first[(n + m0) % 127] *
/// second[(n + m1) % 127].
struct sss_parts {
  std::vector<float> first, second;
};
const sss_parts& nr_sss_parts();
constexpr int nr_sss_shift0(int n_id1, int n_id2) { return 15 * (n_id1 / 112) + 5 * n_id2; }
constexpr int nr_sss_shift1(int n_id1) { return n_id1 % 112; }

/// Patterns of blocks in a half frame, TS 38.213 §4.1.
enum class ssb_case { a, b, c, d, e };
/// Subcarrier spacing in kHz: 15, 30, 30, 120, 240.
int ssb_spacing_khz(ssb_case pattern) noexcept;
/// First OFDM symbols of the candidate blocks, counted from the start of the half frame: of each i_SSB. l_max
/// is 4 or 8 with the cases A, B and C, 64 with D and E. Throws argument_error ("l_max").
///   nr_ssb_first_symbols(ssb_case::c, 4);  // 2, 8, 16, 22
std::vector<int> nr_ssb_first_symbols(ssb_case pattern, int l_max);

}  // namespace wb
