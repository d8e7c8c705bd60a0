#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

/// An item is a resource element of a slot.
struct nr_map_args {
  int elements = 1;  // of a slot
  int ports = 1, layers = 1;
  int first_layers = 1;                  // of codeword 0
  bool precoded = false;                 // else port p is layer p
  const std::int32_t* number = nullptr;  // [elements]: of the data in each codeword and layer, or -1
  const cx_pair* precoder = nullptr;     // [ports, layers]
  const cx_pair* dmrs = nullptr;         // [ports, elements]
  view<const cx_pair> codeword[2];       // [slots, data * its layers]
  view<cx_pair> grid;                    // [slots * elements, ports]
};

/// An item is a row of the output: row r of slot s is row place[r] of the input's slot s.
struct nr_extract_args {
  int rows = 1, elements = 1;  // of a slot: of the output, of the input
  const std::int32_t* place = nullptr;
  view<const cx_pair> in;
  view<cx_pair> out;
};

}  // namespace wb
