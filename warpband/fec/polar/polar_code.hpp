#pragma once
// Polar codes of 5G NR, 3GPP TS 38.212 §5.2.1, §5.3.1 and §5.4.1: which bits are information, which are
// frozen or check parity, and which of the N coded bits are sent, how often and in what order.
//
//   A bits, their CRC -> K bits c -> N bits u, of which K are c -> d = u F^(x)n, F = [1 0; 1 1] -> E bits
//
// Of the N coded bits the first N - E of the sub-block interleaver's order are not sent (puncturing, at rates
// K/E up to 7/16) or the last ones (shortening: they are known zeros); with E > N they are sent again.
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/polar/polar_args.hpp>

namespace wb {

/// The CRCs of control channels (§5.1).
inline constexpr crc_polynomial crc24c{0x1B2B117, 24}, crc11{0xE21, 11}, crc6{0x61, 6};

/// What the code is used for, which tells its CRC and its interleavers.
enum class polar_kind {
  /// Uplink control, §6.3.1: CRC-6 and three parity-check bits up to 19 bits, then CRC-11; channel
  /// interleaver; N up to 1024; two code blocks where A >= 360 and E >= 1088, or A >= 1013.
  uci,
  /// Downlink control, §7.3: CRC-24C over 24 ones and the bits, its last 16 bits masked by the RNTI; input
  /// interleaver; N up to 512. Fewer than 12 bits are filled up with zeros.
  dci,
  /// Broadcast channel, §7.1.3 to §7.1.5: CRC-24C; input interleaver; N up to 512. Of the payload after its
  /// own interleaving and scrambling.
  pbch,
  /// No interleavers but the sub-block one, any CRC, N up to 1024.
  plain,
};

struct polar_config {
  polar_kind kind = polar_kind::uci;
  /// A, bits without the CRC. uci: 12..1706; dci and pbch: 1..140; plain: 1..1024 less the CRC.
  int k = 64;
  /// E, bits sent, 1..16384; at least K, the bits with CRC and parity checks; with two code blocks twice
  /// that.
  int coded_bits = 128;
  /// dci: the 16 bits that mask the CRC, 0..65535.
  int rnti = 0;
  /// plain: bits of the CRC behind the message, 0 (none), 6, 11 or 24 (CRC-24C).
  int crc_bits = 11;
  bool operator==(const polar_config&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<polar_config>>& polar_settings();

/// One code block. u: index of a bit into the transform; d: of a coded bit.
struct polar_block {
  int k = 0;           // K: bits into the code, fillers and CRC included
  int n = 0;           // N: 32..1024
  int e = 0;           // E of this block
  int fillers = 0;     // zeros that are part of the K: in front of the bits (uci), or behind them (dci)
  int payload = 0;     // bits of the message in this block, K - fillers - CRC
  int first_bit = 0;   // place of the first of them in the message
  int first_sent = 0;  // place of its first coded bit among the E of the message
  bool fillers_behind = false;
  bool shortened = false;  // the coded bits that are not sent are zeros, else nothing is known of them
  int crc_bits = 0;
  /// Of bit i of c, i = 0..K - 1, the u that carries it.
  std::vector<std::int32_t> place;
  /// The u that are parity checks: each the sum of the u before it, 5, 10, ... back, that carry bits of c.
  std::vector<std::int32_t> parity_checks;
  /// Of sent bit f, f = 0..E - 1, the d that it is.
  std::vector<std::int32_t> sent;
  /// By bit of c its remainder: the exclusive-or over the ones among them is crc_target where the CRC holds.
  std::vector<std::int32_t> crc_weights;
  std::int32_t crc_target = 0;
};

/// A configuration's code blocks: one, or two of equal size.
/// Threads: any number may read one object at once.
class polar_code {
 public:
  /// Throws argument_error: k, coded_bits, rnti, crc_bits.
  explicit polar_code(const polar_config& config);
  /// Moves copy: one that was moved from stays as it was.
  polar_code(const polar_code&) = default;
  polar_code& operator=(const polar_code&) = default;
  const polar_config& config() const noexcept { return config_; }
  const std::vector<polar_block>& blocks() const noexcept { return blocks_; }
  /// Bits of the message and bits sent. The last one of an odd number is 0 with two code blocks.
  std::size_t k() const noexcept { return static_cast<std::size_t>(config_.k); }
  std::size_t coded_bits() const noexcept { return static_cast<std::size_t>(config_.coded_bits); }

 private:
  polar_config config_;
  std::vector<polar_block> blocks_;
};

/// What kernels take of a block; the tables are missing.
polar_shape polar_shape_of(const polar_block& block);

/// The CRC of a configuration; nothing where it has none.
std::optional<crc_polynomial> polar_crc_of(const polar_config& config);

}  // namespace wb
