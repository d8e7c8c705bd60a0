#pragma once
// Encoder of the polar codes of polar_code.hpp.
#include <cstdint>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/polar/polar_args.hpp>
#include <warpband/fec/polar/polar_code.hpp>

namespace wb {

/// Encodes batches of messages: bits [batch, A] of 0 or 1 (only the lowest bit counts) to coded [batch, >=
/// E], zeros behind the first E. CPU and CUDA, any instruction set, batch size and number of threads give the
/// same bits.
class polar_encoder {
 public:
  /// Throws argument_error.
  explicit polar_encoder(const polar_config& config);
  /// Queues a batch. Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  const polar_code& code() const noexcept { return code_; }

 private:
  struct tables {
    polar_shape shape;
    resident<std::int32_t> place, crc_weights, sent, carries, parity_checks;
  };
  polar_code code_;
  std::vector<tables> tables_;  // of each code block
};

}  // namespace wb
