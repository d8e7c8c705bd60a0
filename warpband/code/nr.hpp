#pragma once
// nr-ldpc, 3GPP TS 38.212 §5.3.2 and §5.4.2: a code block of k bits to n = E bits of each transmission.
#include <optional>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>

namespace wb {

struct nr_ldpc_settings {
  int k = 8448;
  std::optional<int> n = {};  // E, bits of one transmission; absent: 2 k
  /// Of its transmissions, which make one frame: 1 to 8 of 0..3. The frame has n bits for each.
  std::vector<int> redundancy_versions{0};
  int modulation_order = 1;            // Q_m of the bit interleaver; 1: not interleaved
  std::optional<int> base_graph = {};  // 1 or 2; absent: by k and k / n (nr_base_graph_of_block)
  std::optional<crc_polynomial> crc = {};
  ldpc_decoder_config decoder = {};
  bool operator==(const nr_ldpc_settings&) const = default;
};

/// The rows and columns that k and n need. Throws argument_error.
ldpc_code nr_code_of(const nr_ldpc_settings& settings);

/// base_graph, also of transport blocks.
template <class T>
setting_of<T> base_graph_setting(std::optional<int> T::*member) {
  return integer_or_auto("base_graph", member, 1, 2,
                         "\"auto\": 2 with k <= 292, with k <= 3824 and R <= 0.67, or with R <= 0.25.",
                         "1 or 2");
}

code_kind nr_ldpc_kind();

}  // namespace wb
