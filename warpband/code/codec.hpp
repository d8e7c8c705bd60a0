#pragma once
// What runs a channel code: an encoder with its decoder, and for transport blocks their transmissions one by
// one.
#include <cstdint>
#include <memory>
#include <vector>

#include <warpband/exec/executor.hpp>

namespace wb {

/// Bits into the encoder and bits sent for them; of a transport block in one transmission.
struct code_sizes {
  std::size_t k = 0, n = 0;
};

struct decoder_output {
  view<std::uint8_t> bits = {};  // [batch, k] hard decisions
  view<float> soft = {};         // [batch, k] a-posteriori LLRs; not of viterbi, polar and transport blocks
  /// [batch] iterations done; conv, polar: 1, of an erased codeword 0; transport: of all code blocks together
  view<std::int32_t> iterations = {};
  view<std::uint8_t> status = {};  // [batch] status_erased, status_insufficient, status_stopped
};

/// An encoder and its decoder. Every call queues one batch on an executor. For transport blocks n counts all
/// transmissions: G bits each, one after the other.
/// Threads: any number may call one object at once, each with an executor of its own; one of transport blocks
/// one at a time.
class codec {
 public:
  virtual ~codec() = default;
  /// Bits into the encoder and out of it.
  virtual std::size_t k() const noexcept = 0;
  virtual std::size_t n() const noexcept = 0;
  /// Memory that a call takes on its executor meanwhile, for each codeword.
  virtual std::size_t working_bytes() const noexcept { return 0; }
  /// Memory that each thread of a CPU needs at most while it decodes, or else encodes.
  virtual std::size_t thread_bytes(bool decodes) const noexcept = 0;
  /// bits [batch, k] to coded [batch, >= n], zeros behind the first n; of transport blocks [batch, n]. Throws
  /// shape_error.
  virtual void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const = 0;
  /// llr [batch, n]. Outputs without data are not computed. Throws shape_error, and argument_error where
  /// `soft` is asked of a decoder that has none.
  virtual void decode(executor& exec, view<const float> llr, const decoder_output& out) const = 0;
};

// ---- transport blocks

/// The most that a transport block is sent.
inline constexpr int most_transmissions = 8;

/// How transport blocks are sent again until their CRCs hold.
struct harq_rule {
  int transmissions = 1;                   // at most, 1..8
  std::vector<int> redundancy_versions{};  // of the first, second, ...; from the first again where they end
  int code_blocks = 1;                     // of a transport block
  int version(int transmission) const {
    return redundancy_versions[static_cast<std::size_t>(transmission) % redundancy_versions.size()];
  }
};

/// Outputs without data are not computed.
struct transport_output {
  view<std::uint8_t> bits = {};        // [batch, k] decisions, right or not
  view<std::uint8_t> ok = {};          // [batch] 1 where all CRCs hold and what was received suffices, else 0
  view<std::int32_t> iterations = {};  // [batch, code_blocks]
  view<std::uint8_t> status = {};      // [batch] status_erased, status_insufficient
};

/// Encodes transport blocks for each transmission, and decodes the sum of what was received of them. It keeps
/// the soft buffers of a batch from `reset` to `reset`.
/// Threads: one at a time.
class transport_coder {
 public:
  transport_coder() = default;
  transport_coder(const transport_coder&) = delete;
  transport_coder& operator=(const transport_coder&) = delete;
  virtual ~transport_coder() = default;
  /// Memory that it keeps for each transport block.
  virtual std::size_t bytes() const noexcept = 0;
  /// The same of each thread of a CPU meanwhile, at most: of an encoder, of a decoder.
  virtual std::size_t thread_bytes(bool decodes) const noexcept = 0;
  /// Queues bits [batch, k] to one transmission of a redundancy version: coded [batch, G].
  virtual void encode(executor& exec, view<const std::uint8_t> bits, int version,
                      view<std::uint8_t> coded) = 0;
  /// Forgets what was received. The next `combine` sets batch size and executor.
  virtual void reset() noexcept = 0;
  /// Queues adding the LLRs [batch, G] of a transmission.
  virtual void combine(executor& exec, view<const float> llr, int version) = 0;
  /// Queues the decoding of what was received.
  virtual void decode(executor& exec, const transport_output& out) = 0;
};

}  // namespace wb
