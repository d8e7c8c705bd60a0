#pragma once
#include <cstddef>
#include <cstdint>

#include <warpband/core/view.hpp>

namespace wb {

class executor;

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
/// Queues the kernel, for shared channels and for sounding.
void map_elements(executor& exec, const nr_map_args& args);

/// An item is a row of the output: row r of slot s is row place[r] of the input's slot s.
struct nr_extract_args {
  int rows = 1, elements = 1;  // of a slot: of the output, of the input
  const std::int32_t* place = nullptr;
  view<const cx_pair> in;
  view<cx_pair> out;
};

/// Symbols before or behind the DFT of transform precoding. An item is a symbol; number n of a slot is
/// multiplied by turn[n mod 2] and, behind the receiver's DFT, divided by rho.
struct nr_turn_args {
  int count = 1, subcarriers = 12;  // of a slot: symbols with data; of an OFDM symbol
  cx_pair turn[2];
  const float* rest = nullptr;  // [OFDM symbols] 1 - rho, or null
  view<const cx_pair> in;       // [slots, count]
  view<cx_pair> out;            // [slots, count]
  view<cx_pair> channel;        // [slots count, 1]: 1; data may be null
  view<float> noise_var;        // [slots count, 1]: (1 - rho) / rho; data may be null
};

/// z = h^H y / (|h|^2 + N0) of a use, and 1 - rho_k = N0 / (|h|^2 + N0).
struct nr_equalise_args {
  view<const cx_pair> channel, received;  // [uses, antennas]
  view<const float> noise_var;            // [uses, 1]
  cx_pair* out = nullptr;                 // [uses]
  float* rest = nullptr;                  // [uses]
};

/// The mean of 1 - rho_k over an OFDM symbol, which an item is.
struct nr_rest_args {
  int subcarriers = 12;
  const float* in = nullptr;
  float* out = nullptr;
};

}  // namespace wb
