#pragma once
// Transport block sizes and modulation and coding schemes of 5G NR, 3GPP TS 38.214 §5.1.3 and §6.1.4.

namespace wb {

/// A modulation and coding scheme.
struct nr_mcs {
  int modulation_order = 2;  // Q_m
  /// Target code rate R times 1024, with halves; 0 where the index is reserved for retransmissions, which
  /// keep the transport block size of the first transmission.
  double rate_x1024 = 0;
  double code_rate() const noexcept { return rate_x1024 / 1024; }
};
/// Tables 5.1.3.1-1 to -4: table 1 up to 64-QAM, 2 up to 256-QAM, 3 of low spectral efficiency, 4 up to
/// 1024-QAM. index: 0..31. Throws argument_error ("table", "index").
nr_mcs nr_mcs_of(int table, int index);

/// Tables 6.1.4.1-1 and -2, of PUSCH with transform precoding: table 1 up to 64-QAM, 2 of low spectral
/// efficiency. With `pi2_bpsk` the first indices have pi/2-BPSK in place of QPSK (q = 1). index: 0..31.
/// Throws argument_error ("table", "index").
nr_mcs nr_precoded_mcs_of(int table, int index, bool pi2_bpsk = false);

/// What a transport block is sent on.
struct nr_allocation {
  int resource_blocks = 1;  // n_PRB, 1..275
  int symbols = 14;         // OFDM symbols of the slot, 1..14
  int dmrs_per_block = 12;  // resource elements of DMRS in a resource block, CDM groups without data included
  int overhead_per_block = 0;  // N_oh: 0, 6, 12 or 18
  int layers = 1;              // 1..4
};
/// Resource elements that count for the size: min(156, 12 symbols - DMRS - overhead) n_PRB. Throws
/// argument_error that names the member.
int nr_resource_elements(const nr_allocation& allocation);

/// §5.1.3.2, steps 2 to 4. Resource elements 1..2^20, modulation order 2, 4, 6, 8 or 10 (1: pi/2-BPSK),
/// rate_x1024 above 0 up to 1024 in halves, layers 1..4. Throws argument_error, also where the mcs is
/// reserved ("rate_x1024").
///   nr_transport_block_size(nr_resource_elements({.resource_blocks = 25, .dmrs_per_block = 24}),
///                           nr_mcs_of(1, 13), 1);  // 6912
int nr_transport_block_size(int resource_elements, const nr_mcs& mcs, int layers);

/// What TBS_LBRM of limited-buffer rate matching follows from, TS 38.212 §5.4.2.1.
struct nr_lbrm {
  int resource_blocks = 273;  // of the carrier's largest bandwidth part, 1..275
  int layers = 1;             // the most that a transport block may have, 1..4
  int modulation_order = 6;   // the largest of the configured MCS tables: 6, 8 or 10
};
/// TBS_LBRM: the transport block size on 156 resource elements in each of n_PRB,LBRM resource blocks
/// (table 5.4.2.1-1) at R = 948/1024. The buffer is nr_limited_buffer of it. DL-SCH always has one, UL-SCH
/// where rateMatching is limitedBufferRM. Throws argument_error that names the member.
int nr_lbrm_transport_bits(const nr_lbrm& lbrm);

/// Whether the base graph of a transport block is 2, §6.2.2 and §7.2.2 of TS 38.212: with A <= 292 bits,
/// with A <= 3824 and R <= 0.67, or with R <= 0.25. Returns 1 or 2. Throws argument_error
/// ("transport_bits", "code_rate").
int nr_base_graph(int transport_bits, double code_rate);

}  // namespace wb
