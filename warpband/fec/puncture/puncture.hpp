#pragma once
// Puncturing: which of a codeword's bits are sent, and in what order, as a list of their places.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/puncture/puncture_args.hpp>

namespace wb {

/// Sends bits of codewords of n bits in the order of a list. Every call queues one batch on an executor.
/// Threads: any number may call one object at once, each with an executor of its own.
class puncturer {
 public:
  /// `sent`: the place in the codeword of each bit that is sent. Throws argument_error where n is above 2^24
  /// or a place is out of 0..n - 1 or there twice.
  puncturer(std::size_t n, const std::vector<std::int32_t>& sent);

  /// Bits of a codeword, and of them sent.
  std::size_t n() const noexcept { return received_.host().size(); }
  std::size_t sent() const noexcept { return sent_.host().size(); }

  /// coded [batch, n] to out [batch, >= sent()], zeros behind the first sent(). Throws shape_error.
  void puncture(executor& exec, view<const std::uint8_t> coded, view<std::uint8_t> out) const;
  /// The same of LLRs [batch, n] to [batch, sent()].
  void puncture(executor& exec, view<const float> llr, view<float> out) const;
  /// LLRs [batch, sent()] to those of the codeword [batch, n]: 0 where nothing was sent. Throws shape_error.
  void restore(executor& exec, view<const float> llr, view<float> out) const;

 private:
  resident<std::int32_t> sent_, received_;
};

/// The LTE turbo code at rate 1/2, from the streams d0, d1, d2 of k + 4 places each, one after the other, to
/// 2 k + 12 bits: all of d0 with its tail. Of the parity bits of step i = 0..k - 1 the one of d1 where i is
/// even, and the one of d2 where it is odd. Then the tails of d1 and d2. R = k / (2 k + 12).
std::vector<std::int32_t> turbo_half_rate_places(std::size_t k);

}  // namespace wb
