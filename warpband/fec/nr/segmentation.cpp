#include <warpband/fec/nr/segmentation.hpp>

#include <string>

#include <warpband/core/check.hpp>

namespace wb {

nr_segmentation segment_nr_transport_block(int transport_bits, int base_graph) {
  check_range("base_graph", base_graph, 1, 2);
  check_range("transport_bits", transport_bits, 1, nr_most_transport_bits);
  const int longest = nr_systematic(base_graph) * nr_most_lifting;  // K_cb
  nr_segmentation s;
  s.transport_bits = transport_bits;
  s.crc_bits = transport_bits > 3824 ? 24 : 16;
  s.bits = transport_bits + s.crc_bits;
  s.block_crc_bits = s.bits <= longest ? 0 : 24;
  const int room = longest - s.block_crc_bits;
  s.blocks = (s.bits + room - 1) / room;
  if (const int rest = s.bits % s.blocks; rest != 0) {
    const int more = transport_bits + s.blocks - rest;
    throw argument_error("transport_bits", std::to_string(transport_bits),
                         "a size that gives " + std::to_string(s.blocks) +
                             " code blocks of equal length, as those of TS 38.214 do: " +
                             std::to_string(more <= nr_most_transport_bits ? more : transport_bits - rest) +
                             " for example");
  }
  s.payload = s.bits / s.blocks;
  // K_b goes by B, which is K' where there is one block.
  s.block = make_nr_code_block(base_graph, s.payload + s.block_crc_bits,
                               s.blocks == 1 ? 0 : nr_systematic(base_graph));
  return s;
}

}  // namespace wb
