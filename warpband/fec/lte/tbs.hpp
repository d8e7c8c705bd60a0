#pragma once
// Transport block sizes and modulation and coding schemes of LTE, 3GPP TS 36.213 §7.1.7 and §8.6.
#include <span>

namespace wb {

/// A modulation and coding scheme.
struct lte_mcs {
  int modulation_order = 2;  // Q_m; 0 where the index is reserved
  int tbs_index = 0;         // I_TBS
};
/// Table 7.1.7.1-1 of PDSCH, or with `uplink` table 8.6.1-1 of PUSCH, both up to 64-QAM. index: 0..31, of
/// which 29 to 31 are reserved. Throws argument_error ("index").
lte_mcs lte_mcs_of(bool uplink, int index);

/// N_PRB of which lte_transport_block_size has a column: the bandwidths of LTE, 6, 15, 25, 50, 75 and 100.
std::span<const int> lte_resource_blocks();
/// Table 7.1.7.2.1-1: bits of a transport block on one layer. tbs_index: 0..26. Throws argument_error
/// ("tbs_index", "resource_blocks").
///   lte_transport_block_size(lte_mcs_of(false, 28).tbs_index, 100);  // 75376
int lte_transport_block_size(int tbs_index, int resource_blocks);

}  // namespace wb
