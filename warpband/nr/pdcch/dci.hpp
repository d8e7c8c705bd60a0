#pragma once
// Downlink control information (DCI) of 5G NR, 3GPP TS 38.212 §7.3.1: the fields of formats 0_0, 0_1, 1_0 and
// 1_1, by the settings of RRC that decide their widths. Format 1_0 with SI-RNTI and what it schedules:
// resource blocks (TS 38.214 §5.1.2.2, TS 38.211 §7.3.1.6) and symbols (TS 38.214 §5.1.2.1).
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpband/nr/pdcch/pdcch.hpp>
#include <warpband/nr/shared_channel.hpp>

namespace wb {

inline constexpr int nr_si_rnti = 0xFFFF;

enum class nr_dci_format { f0_0, f0_1, f1_0, f1_1 };
/// The RNTI that masks the CRC, or for format 1_0 with C-RNTI the order to send a preamble. Formats 0_1 and
/// 1_1 have C-RNTI, format 0_0 C-RNTI or TC-RNTI.
enum class nr_dci_use { c_rnti, tc_rnti, si_rnti, ra_rnti, p_rnti, order };
/// Frequency-domain allocation: bitmaps of resource block groups, neighbouring resource blocks, or both.
enum class nr_dci_allocation { type_0, type_1, both };
enum class nr_codebook_subset { full, partial, non_coherent };

/// What decides the fields of a DCI in release 15, without shared spectrum. Fields that later releases add
/// are absent where RRC does not configure them.
struct nr_dci_config {
  nr_dci_format format = nr_dci_format::f1_0;
  nr_dci_use use = nr_dci_use::c_rnti;
  /// Resource blocks of the bandwidth parts that sizes depend on (§7.3.1.0): in a common search space the
  /// initial uplink part, and CORESET 0 if there is one.
  int uplink_blocks = 24, downlink_blocks = 24;  // 1..275
  /// Formats 0_0 and 1_0: whether the size of 0_0 becomes that of 1_0, or that of the longer one.
  bool common_search_space = true;
  bool supplementary_uplink = false;

  // Formats 0_1 and 1_1. uplink_blocks and downlink_blocks are those of the active bandwidth parts.
  bool cross_carrier = false;
  int bandwidth_parts = 0;  // that RRC adds to the initial one: 0..4
  nr_dci_allocation allocation = nr_dci_allocation::type_1;
  int first_resource_block = 0;  // of the active bandwidth part, in common resource blocks: 0..2199
  int rbg_configuration = 1;     // 1, 2
  int time_rows = 16;            // of the list of symbols: 1..16
  bool dynamic_harq = false;     // HARQ-ACK codebook
  int code_block_groups = 0;     // of a transport block: 0, 2, 4, 6, 8
  int dmrs_type = 1, dmrs_length = 1;
  int fallback_bits = 0;  // of 0_0 and 1_0 in a UE's search spaces, which the size must not equal; 0: none

  // Of 0_1.
  bool frequency_hopping = false;
  bool second_dai = false;  // dynamic_harq with a sub-codebook of code block groups
  bool codebook = true;     // precoder of the codebook
  int srs_resources = 1;    // 1..4
  int max_layers = 1;       // of PUSCH: 1..4
  int antenna_ports = 1;    // with codebook: 1, 2, 4
  nr_codebook_subset codebook_subset = nr_codebook_subset::full;
  bool transform_precoding = false;
  int csi_request_bits = 0;  // 0..6
  bool ptrs = false;
  bool dynamic_beta = false;
  int least_bits = 0;  // supplementary_uplink: size of the longer 0_1 of the cell's two carriers, 0..140

  // Of 1_1.
  bool interleaved = false;       // VRB-to-PRB mapping
  bool dynamic_bundling = false;  // of PRBs
  int rate_match_groups = 0;      // 0..2
  int zp_csi_rs_sets = 0;         // 0..3
  int codewords = 1;              // 1, 2
  bool several_cells = false;     // with dynamic_harq
  int harq_delays = 8;            // entries of dl-DataToUL-ACK: 1..8
  bool tci = false;
  bool flush_indicator = false;  // with code_block_groups
  bool operator==(const nr_dci_config&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<nr_dci_config>>& nr_dci_settings();
/// Throws argument_error for what is not allowed.
void check(const nr_dci_config& config);

struct nr_dci_field {
  std::string name;
  int bits = 0;                   // at least 1
  std::optional<int> fixed = {};  // its value in every DCI of the format; "reserved" and "padding" are 0
  bool operator==(const nr_dci_field&) const = default;
};
/// The fields of a DCI in their order, each name once. Fields that the format reserves for an RNTI are fixed
/// at 0. Throws argument_error.
std::vector<nr_dci_field> nr_dci_fields(const nr_dci_config& config);
/// The sum of their bits. Throws argument_error.
int nr_dci_bits(const nr_dci_config& config);
/// The bits of a DCI. values: of the fields that are not fixed, in their order. Throws argument_error that
/// names the field, or "values". A frequency_domain of all ones is not allowed where it marks an order.
std::vector<std::uint8_t> nr_dci_encode(const nr_dci_config& config, const std::vector<int>& values);
/// The values of these bits; none if they are of another format of this size, by the identifier or the
/// mark of an order. Formats of SI-RNTI, RA-RNTI and P-RNTI have neither. An order in a part of one resource
/// block has no mark. Throws argument_error ("bits").
std::optional<std::vector<int>> nr_dci_decode(const nr_dci_config& config,
                                              std::span<const std::uint8_t> bits);

/// Value of an allocation of neighbouring resource blocks of n, and back: none for values without one. TS
/// 38.214 §5.1.2.2.2. Throws argument_error.
int nr_resource_indication(int first_block, int blocks, int n);
struct nr_block_range {
  int first_block = 0, blocks = 1;
};
std::optional<nr_block_range> nr_block_range_of(int value, int n);
/// Virtual resource blocks of the bandwidth part that a value of "frequency_domain" allocates; none if it
/// allocates none that the part has. Bits between a mark of type 0 or 1 and the allocation do not count.
/// hopping_bits: bits of the second hop's offset before the allocation, in a DCI of PUSCH with type 1 whose
/// frequency_hopping is 1: 1 with two offsets, 2 with four. Blocks are those of the first hop. Throws
/// argument_error.
std::optional<std::vector<int>> nr_dci_blocks(const nr_dci_config& config, int frequency_domain,
                                              int hopping_bits = 0);

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
/// two (TS 38.214 §5.1.6.2). With mapping type B, DMRS begin behind the CORESET (`first_symbol` and `symbols`
/// of `coreset`) if that has the first symbol. Throws argument_error.
nr_channel_config nr_si_channel(const nr_si_dci& dci, const nr_carrier& carrier, int dmrs_first_symbol,
                                const std::optional<pdcch_config>& coreset = {});
/// What a PDSCH is mapped round because of the PDCCH that schedules it (TS 38.214 §5.1.4): the candidate's
/// resource-element groups. Resource blocks are counted from the CORESET's first one. In a CORESET of one
/// symbol that is not interleaved, candidates of 8 and 16 CCEs may begin with the same CCE. A DCI found in
/// that of 8 then leaves out the elements of 16: pass level 16. Throws argument_error.
std::vector<nr_reserved> nr_pdcch_reserved(const pdcch_config& coreset, int first_cce);

}  // namespace wb
