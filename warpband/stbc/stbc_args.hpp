#pragma once
#include <cstdint>

#include <warpband/core/status.hpp>
#include <warpband/core/view.hpp>

namespace wb {

struct stbc_encode_args {
  int kind = 0;      // space_time_kind
  int pam_bits = 0;  // bits of a symbol in one real dimension; 0: symbols are given
  cx_pair v[4] = {};
  view<const std::uint8_t> bits;
  view<const cx_pair> symbols;
  view<cx_pair> codewords;  // [codewords, antennas * slot + antenna]
};

struct stbc_decode_args {
  int kind = 0;  // space_time_kind
  int pam_bits = 0, rx_antennas = 0;
  int tile = 1;  // CUDA: threads that share a codeword
  bool slicing = false;
  bool extrinsic = false;  // the prior is taken off the LLRs again
  float clip = 0;
  cx_pair v[4] = {};
  std::size_t codewords_per_channel = 1;
  view<const cx_pair> received, channel;
  view<const float> noise_var;
  view<const float> prior;          // null data: none
  view<float> llr;                  // null data: not wanted
  view<std::uint8_t> bits, status;  // null data: not wanted
};

}  // namespace wb
