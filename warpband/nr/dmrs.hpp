#pragma once
// Demodulation reference signals (DMRS) of the shared channels of 5G NR, 3GPP TS 38.211 §6.4.1.1 (PUSCH)
// and §7.4.1.1 (PDSCH).
//
//   a(k, l) = beta w_f(k') w_t(l') r(2 n + k'),   k' = 0, 1,   l = l0 + l',
//   k = 4 n + 2 k' + D  (type 1: 2 CDM groups of 4 ports)  or  6 n + k' + D  (type 2: 3 groups of 4 ports)
//   r(m) = ((1 - 2 c(2 m)) + i (1 - 2 c(2 m + 1))) / sqrt 2
//
// with c the sequence of fec/nr/scrambling.hpp, begun anew in each OFDM symbol by
//   c_init = (2^17 (14 slot + l + 1) (2 N_ID + 1) + 2 N_ID + n_SCID) mod 2^31.
// With transform precoding r is r_{u,v} of low PAPR (nr/pucch/pucch_sequences.hpp), counted from the
// allocation's first resource block, and has type 1.
//
// D, w_f and w_t are the port's. Ports of a CDM group share resource elements: pairs k' and, with double
// symbols, l' tell them apart.
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/nr/carrier.hpp>

namespace wb {

enum class nr_direction { uplink, downlink };  // PUSCH, PDSCH
/// Where the first DMRS is: A, in a symbol of the slot; B, in the first symbol of the allocation.
enum class nr_mapping { type_a, type_b };
/// Whether u or v of DMRS of low PAPR change from symbol to symbol.
enum class nr_dmrs_hopping { none, group, sequence };

struct nr_dmrs_config {
  int type = 1;                  // 1, 2
  int length = 1;                // symbols side by side: 1, 2
  int additional_positions = 0;  // 0..3, of double symbols 0, 1
  int first_symbol = 2;          // mapping type A: l0 = 2, 3
  int cdm_groups = 2;  // CDM groups without data: the first 1, 2 or, type 2, 3 carry no data in these symbols
  /// Of each layer, without the 1000 of PDSCH: 0..3, double symbols 0..7; type 2 0..5 or 0..11. Empty: 0, 1,
  /// ...
  std::vector<int> ports = {};
  int scid = 0;               // n_SCID: 0, 1
  std::vector<int> ids = {};  // N_ID^0, N_ID^1: 0..65535; empty: the cell's
  // With transform precoding alone: instead of scid and ids.
  nr_dmrs_hopping hopping = nr_dmrs_hopping::none;
  std::optional<int> low_papr_id = {};  // n_ID^RS: 0..1007; absent: the cell's
  // PDSCH of mapping type B on 2, 4 or 7 symbols: DMRS begin this number of symbols later, behind a CORESET.
  int delay = 0;
  /// Of antenna ports: sqrt(cdm_groups), as DMRS have the power of the resource elements without data.
  float beta() const noexcept;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<nr_dmrs_config>>& nr_dmrs_settings();

/// Ports of a type and length.
constexpr int nr_dmrs_ports(int type, int length) { return (type == 1 ? 4 : 6) * length; }

/// A port's place and weights: tables 6.4.1.1.3-1 and -2, 7.4.1.1.2-1 and -2.
struct nr_dmrs_port {
  int group = 0;      // CDM group
  int first = 0;      // D
  int frequency = 1;  // w_f(1): 1, -1; w_f(0) = 1
  int time = 1;       // w_t(1)
};
nr_dmrs_port nr_dmrs_port_of(int type, int port) noexcept;
/// The CDM group of a subcarrier, counted from common resource block 0.
constexpr int nr_dmrs_group(int type, int subcarrier) {
  return type == 1 ? subcarrier % 2 : subcarrier % 6 / 2;
}

/// OFDM symbols with DMRS, of the slot: tables 6.4.1.1.3-3 and -4 without frequency hopping, 7.4.1.1.2-3 and
/// -4 (l_1 = 11). `first` and `symbols` are the allocation. With mapping type A PUSCH begins in symbol 0, and
/// PDSCH in 0 to 3 (TS 38.214 tables 6.1.2.1-1, 5.1.2.1-1). Throws argument_error that names what no table
/// has: "dmrs_additional_positions", "dmrs_delay", "dmrs_first_symbol", "dmrs_length", "first_symbol",
/// "symbols".
///   nr_dmrs_symbols(nr_direction::uplink, nr_mapping::type_a, 0, 14, {.additional_positions = 1});  // 2, 11
std::vector<int> nr_dmrs_symbols(nr_direction direction, nr_mapping mapping, int first, int symbols,
                                 const nr_dmrs_config& dmrs);

/// c_init of an OFDM symbol, counted from the frame's first one on, for an identity N_ID and n_SCID.
std::int64_t nr_dmrs_init(std::int64_t id, std::int64_t symbol, int scid);
/// The same of an OFDM symbol of the carrier's slot.
std::int64_t nr_dmrs_init(const nr_carrier& carrier, int symbol, const nr_dmrs_config& dmrs);
/// Group and sequence number of DMRS of low PAPR.
struct nr_dmrs_group_number {
  int u = 0, v = 0;
};
/// Those of an OFDM symbol of the carrier's slot, §6.4.1.1.1.2, for sequences of `length` values. With double
/// symbols: of the first. v hops from 72 values on.
nr_dmrs_group_number nr_low_papr_dmrs(const nr_carrier& carrier, int symbol, const nr_dmrs_config& dmrs,
                                      int length);
/// r(0..n - 1).
std::vector<std::complex<float>> nr_dmrs_sequence(std::int64_t c_init, std::size_t n);

}  // namespace wb
