#pragma once
// dvb-s2: forward error correction of DVB-S2 and DVB-S2X frames, ETSI EN 302 307-1 clause 5.3 and EN 302
// 307-2: a BCH code (fec/bch), whose codewords an LDPC code of n bits encodes
// (fec/sparse_ldpc/standard_matrix.hpp).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc.hpp>

namespace wb {

struct dvb_s2_settings {
  std::optional<int> k = {};  // bits into the BCH encoder
  int n = 64800;              // 64800, 32400 or 16200
  std::string rate = "1/2";   // of the LDPC code, as the standard names it
  std::optional<crc_polynomial> crc = {};
  sparse_ldpc_config decoder = {};
  bool operator==(const dvb_s2_settings&) const = default;
};

code_kind dvb_s2_kind();

/// The bit interleaver of 8PSK, 16APSK and 32APSK, clause 5.3.3, for symbols of 3, 4 or 5 bits: sent bit i is
/// coded bit order[i]. The rows of a block of n / bits rows are sent one after the other, its columns are the
/// coded bits. 8PSK with rate 3/5 sends the last column first.
std::vector<std::int32_t> dvb_s2_bit_order(const dvb_s2_settings& settings, int bits_per_symbol);

}  // namespace wb
