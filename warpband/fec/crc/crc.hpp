#pragma once
// Cyclic redundancy checks (3GPP TS 36.212 §5.1.1): register starts at 0, no final inversion, the first bit
// is the coefficient of the highest power, parity follows with the highest power first.
#include <cstdint>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/crc/crc_args.hpp>

namespace wb {

struct crc_polynomial {
  std::uint32_t polynomial;  // with the leading term
  int degree;                // 1..24
  bool operator==(const crc_polynomial&) const = default;
};
inline constexpr crc_polynomial crc24a{0x1864CFB, 24}, crc24b{0x1800063, 24}, crc16{0x11021, 16},
    crc8{0x19B, 8};

/// Throws argument_error: crc_degree 1..24, crc_polynomial of that degree.
void check(crc_polynomial p);
/// The parity bits of `bits` (0 or 1), as an integer whose highest bit is sent first. Host only.
std::uint32_t crc_parity(const std::vector<std::uint8_t>& bits, crc_polynomial p);

/// x^(n-1-i) mod p for i = 0..n-1: the exclusive-or over the set bits of a word of n bits is 0 exactly if its
/// last `degree` bits are its parity.
std::vector<std::int32_t> crc_remainders(int n, crc_polynomial p);

/// Writes the parity of the first n bits of each row behind them: rows are [batch, n + degree].
/// Threads: any number may call one object at once, each with an executor of its own.
class crc_attacher {
 public:
  crc_attacher(int n, crc_polynomial p);
  void run(executor& exec, view<std::uint8_t> bits) const;

 private:
  int n_;
  crc_polynomial p_;
  resident<std::int32_t> weights_;
};

}  // namespace wb
