#pragma once
// Channel codes by name: one face for what `encode`, `decode` and the links run.
//
//   lte-turbo   3GPP TS 36.212 §5.1.3: k bits to n = 3 (k + 4), the streams d0, d1, d2 one after the other;
//   or,
//               at rate 1/2, punctured to n = 2 k + 12 (fec/puncture/puncture.hpp says which)
#include <cstdint>
#include <memory>
#include <optional>

#include <warpband/exec/executor.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/turbo/turbo.hpp>

namespace wb {

enum class code_type { none, lte_turbo };
/// Of the turbo code, but for its tail bits.
enum class turbo_rate { third, half };

/// Coefficients of a QPP interleaver, see qpp_parameters.
struct interleaver_coefficients {
  int f1 = 0, f2 = 0;
};

struct code_config {
  code_type type = code_type::lte_turbo;
  /// Bits into the encoder, CRC included.
  int k = 6144;
  turbo_rate rate = turbo_rate::third;
  /// The last of the k bits are this CRC.
  std::optional<crc_polynomial> crc;
  /// Instead of the standard's; any k from 40 to 65536 is then allowed.
  std::optional<interleaver_coefficients> interleaver;
  /// Its k, crc_polynomial and crc_degree are not looked at: they follow from `k` and `crc` above.
  turbo_decoder_config decoder;
};

struct decoder_output {
  view<std::uint8_t> bits = {};        // [batch, k] hard decisions
  view<float> soft = {};               // [batch, k] a-posteriori LLRs
  view<std::int32_t> iterations = {};  // [batch] iterations done
  view<std::uint8_t> status = {};      // [batch] status_erased, status_stopped
};

/// An encoder and its decoder. Every call queues one batch on an executor.
class codec {
 public:
  virtual ~codec() = default;
  /// Bits into the encoder and out of it.
  virtual std::size_t k() const noexcept = 0;
  virtual std::size_t n() const noexcept = 0;
  /// Memory that a call takes on its executor meanwhile, for each codeword.
  virtual std::size_t working_bytes() const noexcept = 0;
  /// The configuration in force: windows and overlap as chosen.
  virtual const code_config& config() const noexcept = 0;
  /// bits [batch, k] to coded [batch, >= n], zeros behind the first n. Throws shape_error.
  virtual void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const = 0;
  /// llr [batch, n]. Outputs without data are not computed. Throws shape_error.
  virtual void decode(executor& exec, view<const float> llr, const decoder_output& out) const = 0;
};

/// The configuration with everything chosen that it leaves open: the windows, the overlap, and the k and the
/// CRC of the decoder. Throws argument_error for what is not allowed.
code_config completed(const code_config& config);

/// The code of a configuration. Throws argument_error for what is not allowed, and for code_type::none.
std::unique_ptr<codec> make_codec(const code_config& config);

/// Bits sent for k bits into the encoder; `none` sends the k bits.
std::size_t coded_bits(code_type code, std::size_t k, turbo_rate rate = turbo_rate::third) noexcept;
/// The k for which coded_bits(code, k) is n at rate 1/3; nothing where there is none.
std::optional<std::size_t> k_of_coded_bits(code_type code, std::size_t n) noexcept;

}  // namespace wb
