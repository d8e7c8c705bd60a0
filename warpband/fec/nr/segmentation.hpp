#pragma once
// Code block segmentation of 5G NR, 3GPP TS 38.212 §5.2.2: a transport block with its CRC becomes code blocks
// of equal length, each with a CRC-24B where there are several.
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/nr/code_block.hpp>

namespace wb {

/// The largest transport block there is room for; the standard's end at 1573768 bits (275 resource blocks, 4
/// layers, 1024-QAM).
inline constexpr int nr_most_transport_bits = 1 << 21;

/// How a transport block is cut. Block r = 0..blocks - 1 holds `payload` bits of the transport block and its
/// CRC from r payload on, then block_crc_bits, then fillers.
struct nr_segmentation {
  int transport_bits = 0;  // A
  int crc_bits = 0;        // L of the transport block: 24 (CRC-24A) above 3824 bits, else 16
  int bits = 0;            // B = A + L
  int blocks = 0;          // C
  int block_crc_bits = 0;  // 24 where blocks > 1, else 0
  int payload = 0;         // of a block: B / C
  nr_code_block block;     // K' = payload + block_crc_bits, Z

  crc_polynomial crc() const noexcept { return crc_bits == 24 ? crc24a : crc16; }
};

/// Cuts a transport block of A = 1..2^21 bits for base graph 1 or 2. Blocks have equal lengths: C must divide
/// B, as it does for every size of TS 38.214. Throws argument_error ("base_graph", "transport_bits").
nr_segmentation segment_nr_transport_block(int transport_bits, int base_graph);

}  // namespace wb
