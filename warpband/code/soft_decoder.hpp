#pragma once
// Decoders with soft input and soft output, for loops of detector and decoder.
//
// LLRs are ln P(b = 0) - ln P(b = 1). Extrinsic means: what is known of a bit from all others, without the
// LLR that was given for the bit itself.
#include <cstddef>
#include <cstdint>
#include <memory>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>
#include <warpband/fec/ctc/ctc.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/turbo/turbo.hpp>

namespace wb {

/// What a decoder keeps of its frames from one call to the next, in the memory of the caller.
struct soft_decoder_state {
  view<float> values = {};  // [frames, state_size()]; no data: the decoder begins anew and keeps nothing
  bool fresh = true;        // the values mean nothing yet
  bool last = false;        // no call follows: the values need not be written
};

/// Outputs without data are not computed.
struct soft_decoder_output {
  view<float> extrinsic = {};          // [frames, n] of all coded bits: a-posteriori minus input LLR
  view<std::uint8_t> bits = {};        // [frames, k] hard decisions
  view<std::int32_t> iterations = {};  // [frames] iterations done in this call
  view<std::uint8_t> status = {};      // [frames] status_erased, status_insufficient, status_stopped
  view<std::uint8_t> finished = {};    // [frames] 1 where all checks hold that there are, 0 without checks
};

/// A decoder with extrinsic LLRs of all coded bits. Every call queues one batch on an executor.
/// Threads: any number may call one object at once, each with an executor of its own.
class soft_decoder {
 public:
  virtual ~soft_decoder() = default;
  /// Bits of a frame that are decided, and coded bits.
  virtual std::size_t k() const noexcept = 0;
  virtual std::size_t n() const noexcept = 0;
  /// Whether it gives extrinsic LLRs. One that does not serves a receiver with one outer iteration.
  virtual bool gives_extrinsic() const noexcept { return true; }
  /// The most iterations of a call.
  virtual int most_iterations() const noexcept { return 1; }
  /// Values of a frame's state; 0: it has none, and `state` is not looked at.
  virtual std::size_t state_size() const noexcept { return 0; }
  /// Whether status_stopped says that all parity checks of the codeword hold.
  virtual bool stops_by_checks() const noexcept { return false; }
  /// Whether a call may have some of the frames of the call before, in other places. Not where it keeps by
  /// place what it received of them before.
  virtual bool frames_may_move() const noexcept { return true; }
  /// Decodes llr [frames, n]. Throws shape_error.
  virtual void run(executor& exec, view<const float> llr, const soft_decoder_state& state,
                   const soft_decoder_output& out) const = 0;
};

/// The decoder of an LDPC code. This one and the next three do not write `finished`: make_soft_decoder of
/// receive/soft.hpp computes it from status and CRC. Throws argument_error.
std::unique_ptr<soft_decoder> make_soft_ldpc(const ldpc_code& code, const ldpc_decoder_config& config,
                                             std::optional<crc_polynomial> crc = {});
/// Of a turbo decoder. `sent`: the place in the codeword of each bit that is sent; empty: all 3 (k + 4).
std::unique_ptr<soft_decoder> make_soft_turbo(const turbo_decoder& decoder,
                                              const std::vector<std::int32_t>& sent = {});
/// Of a convolutional code.
std::unique_ptr<soft_decoder> make_soft_bcjr(const bcjr_decoder& decoder);
/// Of a convolutional turbo code.
std::unique_ptr<soft_decoder> make_soft_ctc(const ctc_decoder& decoder);

}  // namespace wb
