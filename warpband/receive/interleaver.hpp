#pragma once
// The order in which a frame sends its coded bits.
#include <cstdint>
#include <vector>

#include <warpband/exec/executor.hpp>

namespace wb {

/// A permutation of 0 .. n - 1 from a seed, the same on every machine: for i = n - 1, n - 2, ... 1 entry i
/// changes places with entry floor((i + 1) r / 2^32), r the upper half of the next number of
/// std::mt19937_64(seed) (R. Durstenfeld, "Algorithm 235: random permutation", 1964).
std::vector<std::int32_t> random_permutation(std::size_t n, std::uint64_t seed);

/// Bit i of a frame is coded bit permutation[i]. Every call queues one batch on an executor.
/// Threads: any number may call one object at once, each with an executor of its own.
class bit_interleaver {
 public:
  /// The coded bits in their own order.
  explicit bit_interleaver(std::size_t n) : n_(n) {}
  /// Throws argument_error with argument `interleaver` where this is no permutation of 0 .. its size - 1.
  explicit bit_interleaver(std::vector<std::int32_t> permutation);
  /// Moves copy: one that was moved from stays as it was.
  bit_interleaver(const bit_interleaver&) = default;
  bit_interleaver& operator=(const bit_interleaver&) = default;

  std::size_t n() const noexcept { return n_; }
  /// Whether the order is another than that of the code.
  bool permutes() const noexcept { return !order_.host().empty(); }
  /// The permutation; empty for the code's own order.
  const std::vector<std::int32_t>& permutation() const noexcept { return order_.host(); }

  /// coded [frames, n] to the bits of frames [frames, >= n], zeros behind the first n. Throws shape_error.
  void interleave(executor& exec, view<const std::uint8_t> coded, view<std::uint8_t> frame) const;
  /// The same of LLRs.
  void interleave(executor& exec, view<const float> coded, view<float> frame) const;
  /// LLRs of frames [frames, >= n] to those of the coded bits [frames, n]. Throws shape_error.
  void deinterleave(executor& exec, view<const float> frame, view<float> coded) const;

  // For kernels: null for the code's own order.
  const std::int32_t* order_on(executor& exec) const { return permutes() ? order_.on(exec) : nullptr; }
  const std::int32_t* inverse_on(executor& exec) const { return permutes() ? inverse_.on(exec) : nullptr; }

 private:
  std::size_t n_;
  resident<std::int32_t> order_, inverse_;
};

}  // namespace wb
