#pragma once
// LDPC codes, the k information bits first:
//
//   wimax-ldpc  IEEE 802.16e: n = 576, 672, ... 2304
//   wifi-ldpc   IEEE 802.11n: n = 648, 1296 or 1944
//   qc-ldpc     any quasi-cyclic base matrix of a file (fec/ldpc/ldpc_file.hpp)
#include <memory>
#include <optional>
#include <string>

#include <warpband/code/code_kind.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>

namespace wb {

/// Of wimax-ldpc and wifi-ldpc.
struct ldpc_settings {
  std::optional<int> k = {};  // what n and the rate give
  std::optional<int> n = {};  // absent: the longest, 2304 or 1944
  /// wimax-ldpc: 1/2, 2/3A, 2/3B, 3/4A, 3/4B, 5/6; wifi-ldpc: 1/2, 2/3, 3/4, 5/6.
  std::string rate = "1/2";
  std::optional<crc_polynomial> crc = {};
  ldpc_decoder_config decoder = {};
  bool operator==(const ldpc_settings&) const = default;
};

struct qc_ldpc_settings {
  std::optional<int> k = {};  // what the base matrix gives
  /// The file, from `folder` on if it is not absolute, and its lifting size; absent: what the file says.
  std::string base_matrix = {}, folder = {};
  std::optional<int> lifting_size = {};
  std::shared_ptr<const ldpc_code> matrix = nullptr;  // what `completed` has read
  std::optional<crc_polynomial> crc = {};
  ldpc_decoder_config decoder = {};
  bool operator==(const qc_ldpc_settings&) const = default;
};

/// The code of wimax-ldpc, wifi-ldpc, qc-ldpc and nr-ldpc, of this the rows and columns that k and n need.
/// Throws argument_error, and of qc-ldpc that is not completed file_error.
ldpc_code ldpc_code_of(const code_config& config);

code_kind wimax_ldpc_kind();
code_kind wifi_ldpc_kind();
code_kind qc_ldpc_kind();

// ---- what nr-ldpc has alike

/// Memory that a thread of a CPU takes at most.
std::size_t ldpc_thread_bytes(const ldpc_code& code, bool decodes);
/// Decoders that `choose` may try.
std::vector<ldpc_decoder_config> ldpc_candidates(const ldpc_decoder_config& base, bool on_device);

}  // namespace wb
