#pragma once
// Construction of polar codes of 5G NR, 3GPP TS 38.212 §5.2.1, §5.3.1 and §5.4.1: the information set, frozen
// and parity-check bits, and rate matching.
//
//   A bits and their CRC -> K bits c -> N bits u: c on the information set, frozen bits 0
//   -> d = u F^(x)n, F = [1 0; 1 1], n = log2 N -> E sent bits
//
// Rate matching in the order of the sub-block interleaver:
// - E < N, K/E <= 7/16: puncturing. The first N - E coded bits are not sent.
// - E < N, K/E > 7/16: shortening. The last N - E coded bits are not sent; they are zeros.
// - E > N: repetition from the first bit on.
// Cost: construction O(N log N) on the host, once per code.
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/polar/polar_args.hpp>

namespace wb {

/// The CRCs of control channels (§5.1).
inline constexpr crc_polynomial crc24c{0x1B2B117, 24}, crc11{0xE21, 11}, crc6{0x61, 6};

/// Use of the code, which determines its CRC and interleavers.
enum class polar_kind {
  /// Uplink control, §6.3.1. A <= 19: CRC-6 and three parity-check bits; else CRC-11. Channel interleaver.
  /// N up to 1024. Two code blocks if A >= 360 and E >= 1088, or A >= 1013.
  uci,
  /// Downlink control, §7.3: CRC-24C over 24 ones and the bits; the RNTI masks its last 16 bits. Input
  /// interleaver; N up to 512. Messages below 12 bits are padded with zeros.
  dci,
  /// Broadcast channel, §7.1.3 to §7.1.5: CRC-24C; input interleaver; N up to 512. The payload is already
  /// interleaved and scrambled (§7.1.1, §7.1.2).
  pbch,
  /// Only the sub-block interleaver, any CRC, N up to 1024.
  plain,
};

struct polar_config {
  polar_kind kind = polar_kind::uci;
  /// A: message bits without the CRC. uci: 12..1706; dci and pbch: 1..140; plain: 1..1024 less the CRC.
  int k = 64;
  /// E: sent bits, 1..16384. Each code block needs at least K plus its parity checks.
  int coded_bits = 128;
  /// dci: the 16 bits that mask the CRC, 0..65535.
  int rnti = 0;
  /// plain: length of the CRC, 0 (none), 6, 11 or 24 (CRC-24C).
  int crc_bits = 11;
  bool operator==(const polar_config&) const = default;
};
/// Names, ranges and descriptions of the settings.
const std::vector<setting_of<polar_config>>& polar_settings();

/// One code block.
struct polar_block {
  int k = 0;           // K: size of the information set, fillers and CRC included
  int n = 0;           // N: 32..1024
  int e = 0;           // E of this block
  int fillers = 0;     // zero bits of c before the message bits (uci) or after them (dci)
  int payload = 0;     // message bits of this block, K - fillers - CRC
  int first_bit = 0;   // index in the message of the block's first message bit
  int first_sent = 0;  // index in the message's E sent bits of the block's first one
  bool fillers_behind = false;
  bool shortened = false;  // coded bits that are not sent are zeros; else they are punctured
  int crc_bits = 0;
  /// Information set: place[i] is the index in u of bit i of c, i = 0..K - 1.
  std::vector<std::int32_t> place;
  /// Indices in u of the parity-check bits. Bit u is the sum of the information bits u - 5, u - 10, ...
  std::vector<std::int32_t> parity_checks;
  /// sent[f] is the index in d of sent bit f, f = 0..E - 1.
  std::vector<std::int32_t> sent;
  /// The CRC holds if the exclusive-or of the weights of all ones of c is crc_target.
  std::vector<std::int32_t> crc_weights;
  std::int32_t crc_target = 0;
};

/// A configuration's code blocks: one, or two of equal size.
/// Threads: any number may read one object at once.
class polar_code {
 public:
  /// Throws argument_error: k, coded_bits, rnti, crc_bits.
  explicit polar_code(const polar_config& config);
  /// Moves copy: a moved-from object stays valid.
  polar_code(const polar_code&) = default;
  polar_code& operator=(const polar_code&) = default;
  const polar_config& config() const noexcept { return config_; }
  const std::vector<polar_block>& blocks() const noexcept { return blocks_; }
  /// A and E. With two code blocks and an odd E the last sent bit is 0.
  std::size_t k() const noexcept { return static_cast<std::size_t>(config_.k); }
  std::size_t coded_bits() const noexcept { return static_cast<std::size_t>(config_.coded_bits); }

 private:
  polar_config config_;
  std::vector<polar_block> blocks_;
};

/// The sizes of a block for kernels, without tables.
polar_shape polar_shape_of(const polar_block& block);

/// The CRC of a configuration, if it has one.
std::optional<crc_polynomial> polar_crc_of(const polar_config& config);

}  // namespace wb
