#pragma once
// Code block segmentation of LTE, 3GPP TS 36.212 §5.1.2: a transport block with its CRC-24A becomes code
// blocks of sizes that the turbo code has. Where there is more than one, each gets a CRC-24B.
#include <algorithm>

namespace wb {

/// How a transport block is cut. Block r = 0..blocks - 1 holds fillers(r) filler bits (zeros into the
/// encoder, never sent). Then come payload(r) bits of the transport block and its CRC, and block_crc_bits.
struct lte_segmentation {
  int transport_bits = 0;        // A
  int bits = 0;                  // B = A + 24
  int blocks = 0;                // C
  int block_crc_bits = 0;        // L: 24 where blocks > 1, else 0
  int c_minus = 0, k_minus = 0;  // C-, K-: the first blocks, the shorter ones; K- = 0 where blocks = 1
  int c_plus = 0, k_plus = 0;    // C+, K+
  int filler_bits = 0;           // F, all in block 0

  /// Size of block r, K_r.
  int k(int r) const noexcept { return r < c_minus ? k_minus : k_plus; }
  int fillers(int r) const noexcept { return r == 0 ? filler_bits : 0; }
  /// Bits of block r that are of the transport block or its CRC, and the place of the first among those B.
  int payload(int r) const noexcept { return k(r) - block_crc_bits - fillers(r); }
  int first_bit(int r) const noexcept {
    if (r == 0) return 0;
    return std::min(r, c_minus) * (k_minus - block_crc_bits) +
           std::max(r - c_minus, 0) * (k_plus - block_crc_bits) - filler_bits;
  }
};

/// The largest transport block there is room for. The standard's tables end at 391656 bits, up to 256QAM.
inline constexpr int lte_most_transport_bits = 1 << 20;

/// Cuts a transport block of A = 1..2^20 bits. Throws argument_error ("transport_bits").
lte_segmentation segment_transport_block(int transport_bits);

}  // namespace wb
