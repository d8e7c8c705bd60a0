#pragma once
// lte-turbo, 3GPP TS 36.212 §5.1.3, also with the interleaver of UMTS (TS 25.212 §4.2.3.2.3): k bits to n = 3
// (k + 4), the streams d0, d1, d2 one after the other. At rate 1/2 they are punctured to n = 2 k + 12;
// fec/puncture/puncture.hpp lists the bits that are sent.
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/fec/turbo/turbo.hpp>

namespace wb {

/// Of the turbo code, but for its tail bits.
enum class turbo_rate { third, half };

/// Whose interleaver the turbo code has. The constituent codes are the same.
enum class turbo_standard { lte, umts };

/// Coefficients of a QPP interleaver, see qpp_parameters.
struct interleaver_coefficients {
  int f1 = 0, f2 = 0;
  bool operator==(const interleaver_coefficients&) const = default;
};

struct turbo_settings {
  int k = 6144;
  turbo_rate rate = turbo_rate::third;
  std::optional<crc_polynomial> crc = {};
  /// umts: any k from 40 to 5114.
  turbo_standard standard = turbo_standard::lte;
  /// Instead of the standard's; any k from 40 to 65536 is then allowed.
  std::optional<interleaver_coefficients> interleaver = {};
  /// Its k, crc_polynomial and crc_degree are not looked at: they follow from `k` and `crc`. Its code_rate is
  /// k / n or more: more where some of the n LLRs are 0.
  turbo_decoder_config decoder = {};
  bool operator==(const turbo_settings&) const = default;
};

/// Bit i into the second encoder is bit permutation_of(s)[i]. Throws argument_error.
std::vector<std::int32_t> permutation_of(const turbo_settings& settings);

/// Decoders that `warpband choose` tries, the given one first.
std::vector<turbo_decoder_config> turbo_candidates(const turbo_decoder_config& base);

code_kind lte_turbo_kind();

}  // namespace wb
