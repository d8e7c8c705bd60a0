#pragma once
// Downlink control information of 5G NR: format 1_0 with SI-RNTI, 3GPP TS 38.212 §7.3.1.2.1, and what it
// schedules: resource blocks (TS 38.214 §5.1.2.2.2, TS 38.211 §7.3.1.6) and symbols (TS 38.214 §5.1.2.1).
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <warpband/nr/shared_channel.hpp>

namespace wb {

inline constexpr int nr_si_rnti = 0xFFFF;

/// DCI format 1_0 with SI-RNTI, without shared spectrum.
struct nr_si_dci {
  int first_block = 0;             // virtual resource block, of CORESET 0
  int blocks = 1;                  // virtual resource blocks
  int time_domain = 0;             // index of the table of symbols: 0..15
  bool interleaved = false;        // mapping of virtual to physical resource blocks
  int mcs = 0;                     // of table 1: 0..31
  int rv = 0;                      // redundancy version: 0..3
  bool other_information = false;  // false: SIB1
  bool operator==(const nr_si_dci&) const = default;
};
/// Bits of the format with a CORESET 0 of 24, 48 or 96 resource blocks: 37, 39, 41. Throws argument_error
/// ("coreset_blocks").
int nr_si_dci_bits(int coreset_blocks);
/// The bits of a DCI; reserved ones are 0. Throws argument_error that names the member, or "coreset_blocks".
std::vector<std::uint8_t> nr_si_dci_encode(const nr_si_dci& dci, int coreset_blocks);
/// The DCI of these bits; none if they name resource blocks outside the CORESET. Throws argument_error
/// ("coreset_blocks", "bits").
std::optional<nr_si_dci> nr_si_dci_decode(std::span<const std::uint8_t> bits, int coreset_blocks);

/// Physical resource blocks of a DCI, in the order of the virtual ones, from the CORESET's first on.
/// Interleaved ones are in two rows of bundles of two. Throws argument_error.
std::vector<int> nr_si_blocks(const nr_si_dci& dci, int coreset_blocks);

/// Symbols of a PDSCH in the slot of its PDCCH (K_0 = 0).
struct nr_pdsch_time {
  nr_mapping mapping = nr_mapping::type_a;
  int first_symbol = 0;
  int symbols = 1;
};
/// Default table A for normal cyclic prefix (TS 38.214 table 5.1.2.1.1-2). index 0..15, dmrs_first_symbol
/// 2, 3. Throws argument_error.
nr_pdsch_time nr_pdsch_default_a(int index, int dmrs_first_symbol);

/// The PDSCH of a DCI: in a carrier that is CORESET 0's resource blocks, with its cell and slot. DMRS are of
/// type 1 with up to two additional positions. A PDSCH of two symbols has one CDM group without data, others
/// two (TS 38.214 §5.1.6.2). Throws argument_error.
nr_channel_config nr_si_channel(const nr_si_dci& dci, const nr_carrier& carrier, int dmrs_first_symbol);

}  // namespace wb
