#pragma once
// BPSK and Gray-mapped square QAM with unit mean energy: 3GPP TS 38.211 §5.1.2-5.1.7 (BPSK, QPSK, 16, 64,
// 256, 1024-QAM), bits of a symbol in 3GPP order (b0 first). 4096-QAM nests its bits in the same way.
#include <complex>
#include <cstdint>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/modem/qam/qam_args.hpp>

namespace wb {

/// Bits of a symbol for a constellation of `points`: 2 -> 1, 4 -> 2, 16 -> 4, 64 -> 6, 256 -> 8, 1024 -> 10,
/// 4096 -> 12. Throws argument_error("qam", ...) for any other number.
int bits_per_symbol(int points);

/// The setting that mapper and demapper have.
template <class C>
setting_of<C> qam_setting(int C::*member) {
  return one_of("qam", member, {2, 4, 16, 64, 256, 1024, 4096}, "Points of the constellation; 2 is BPSK.");
}

/// Maps bits to symbols. One item is one symbol: bits [symbols, m], symbols [symbols, 1].
/// Threads: any number may call one object at once, each with an executor of its own.
class qam_mapper {
 public:
  explicit qam_mapper(int points);
  void run(executor& exec, view<const std::uint8_t> bits, view<std::complex<float>> symbols) const;
  int bits() const noexcept { return bits_; }

 private:
  int bits_;
};

}  // namespace wb
