#include <warpband/fec/lte/segmentation.hpp>

#include <warpband/core/check.hpp>
#include <warpband/fec/lte/qpp.hpp>

namespace wb {

lte_segmentation segment_transport_block(int transport_bits) {
  check_range("transport_bits", transport_bits, 1, lte_most_transport_bits);
  constexpr int longest = 6144;  // Z
  lte_segmentation s;
  s.transport_bits = transport_bits;
  s.bits = transport_bits + 24;
  s.block_crc_bits = s.bits <= longest ? 0 : 24;
  const int room = longest - s.block_crc_bits;
  s.blocks = (s.bits + room - 1) / room;
  const int total = s.bits + s.blocks * s.block_crc_bits;  // B'
  const auto sizes = qpp_table();
  std::size_t i = 0;
  while (s.blocks * sizes[i].k < total) i++;  // ends: blocks * longest is enough
  s.k_plus = sizes[i].k;
  if (s.blocks > 1) {  // so that i > 0
    s.k_minus = sizes[i - 1].k;
    s.c_minus = (s.blocks * s.k_plus - total) / (s.k_plus - s.k_minus);
  }
  s.c_plus = s.blocks - s.c_minus;
  s.filler_bits = s.c_plus * s.k_plus + s.c_minus * s.k_minus - total;
  return s;
}

}  // namespace wb
