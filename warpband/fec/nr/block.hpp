#pragma once
// Single code blocks of 5G NR through LDPC code and rate matching and back: k bits to the E bits of each
// transmission. CRCs, if any, are among the k bits; transport.hpp has the whole channel with HARQ.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>
#include <warpband/fec/nr/rate_matching.hpp>

namespace wb {

/// The base graph of a code block by itself, as nr_base_graph has it: 2 with k <= 292, with k <= 3824 and
/// k / E <= 0.67, or with k / E <= 0.25 where it holds k bits. Throws argument_error ("k", "sent_bits").
int nr_base_graph_of_block(int k, int sent_bits);

/// Transmissions of a code block at most.
inline constexpr std::size_t most_block_transmissions = 8;

/// Rows of the base graph that transmissions of these redundancy versions need together. Throws
/// argument_error ("redundancy_versions").
int nr_block_rows(const nr_rate_matcher& matcher, const std::vector<int>& versions);

struct nr_block_output {
  view<std::uint8_t> bits = {};        // [batch, k] hard decisions
  view<float> soft = {};               // [batch, k] a-posteriori LLRs
  view<std::int32_t> iterations = {};  // [batch] iterations done
  view<std::uint8_t> status = {};      // [batch] as ldpc_decoder_output
  view<float> extrinsic = {};  // [batch, sent_bits()] a-posteriori minus received LLR of the sent bits
};

/// Encoder and decoder of batches of code blocks. A block is sent in one transmission or in several, each of
/// E bits with its own redundancy version. They lie one behind the other, and the decoder adds their LLRs.
/// Both compute only the rows of the base graph that these bits need. A NaN or infinite LLR erases its
/// transmission. A block of which fewer than k LLRs are usable is an erasure with status_insufficient: its
/// outputs are zero, its neighbours are untouched. Working memory is kept on each executor. CPU and CUDA, any
/// instruction set, batch size and number of threads give the same bits.
///
///   nr_block_codec code({.base_graph = 2, .k = 1024, .sent_bits = 2048}, {.iterations = 20});
///   code.encode(exec, bits, coded);         // [batch, k] -> [batch, E]
///   code.decode(exec, llr, {.bits = bits});
///   nr_block_codec twice({.base_graph = 2, .k = 1024, .sent_bits = 2048}, {}, {}, {0, 2});  // [batch, 2 E]
///
/// Threads: any number may call one object at once, each with an executor of its own.
class nr_block_codec {
 public:
  /// `crc`: what the k bits end with, if anything. `versions`: the redundancy version, 0..3, of each of 1 to
  /// most_block_transmissions transmissions. Throws argument_error.
  explicit nr_block_codec(const nr_rate_matching_config& config, const ldpc_decoder_config& ldpc = {},
                          const std::optional<crc_polynomial>& crc = std::nullopt,
                          const std::vector<int>& versions = {0});

  /// coded [batch, >= sent_bits()], zeros behind the first of these. Throws shape_error.
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  /// llr [batch, sent_bits()], float32 or integers with a scale. Outputs without data are not computed.
  /// Throws argument_error, shape_error.
  void decode(executor& exec, const llr_batch& llr, const nr_block_output& out) const;

  const nr_rate_matcher& matcher() const noexcept { return matcher_; }
  std::span<const int> versions() const noexcept { return {versions_.data(), transmissions_}; }
  /// E of each transmission, times their number.
  std::size_t sent_bits() const noexcept {
    return static_cast<std::size_t>(matcher_.config().sent_bits) * transmissions_;
  }
  /// The code that is decoded: rows and columns that E and k need.
  const ldpc_code& code() const noexcept { return decoder_.code(); }
  const ldpc_decoder_config& ldpc() const noexcept { return decoder_.config(); }
  /// Memory that a call takes on its executor, for each code block.
  std::size_t working_bytes() const noexcept;

 private:
  nr_rate_matcher matcher_;
  std::array<int, most_block_transmissions> versions_{};
  std::size_t transmissions_ = 1;
  ldpc_encoder encoder_;
  ldpc_decoder decoder_;
  kept_workspace workspace_;
  float_llrs floats_;
};

}  // namespace wb
