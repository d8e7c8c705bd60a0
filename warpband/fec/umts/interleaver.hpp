#pragma once
// The interleaver of the UMTS turbo code, 3GPP TS 25.212 §4.2.3.2.3: bits are written row by row into a
// matrix, permuted within rows and between them, and read column by column without the padding.
//
// The constituent codes and the coded bits are those of LTE. Bit 3 i + j of the UMTS sequence (§4.2.3.2.1,
// 4.2.3.2.2) is element i of stream d_j (TS 36.212 §5.1.3.2). This includes the tail bits.
#include <cstdint>
#include <vector>

namespace wb {

/// The shortest and the longest block.
inline constexpr int umts_least_k = 40, umts_most_k = 5114;

/// Bit i into the second encoder is input bit umts_permutation(k)[i]. Throws argument_error (argument "k")
/// unless k is 40..5114.
std::vector<std::int32_t> umts_permutation(int k);

}  // namespace wb
