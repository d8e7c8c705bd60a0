#pragma once
// Construction of polar codes: those of 5G NR, 3GPP TS 38.212 §5.2.1, §5.3.1 and §5.4.1, and general ones of
// up to 2^15 bits. It gives the information set, frozen and parity-check bits, and rate matching.
//
//   A bits and their CRC -> K bits c -> N bits u: c on the information set, frozen bits 0
//   -> d = u F^(x)n, F = [1 0; 1 1], n = log2 N -> E sent bits
//
// Rate matching in the order of the sub-block interleaver:
// - E < N, K/E <= 7/16: puncturing. The first N - E coded bits are not sent.
// - E < N, K/E > 7/16: shortening. The last N - E coded bits are not sent; they are zeros.
// - E > N: repetition from the first bit on.
//
// General codes take the smallest N >= E and send d in its natural order. If E < N, they leave out the bits
// that 5G NR leaves out. Their information set comes from one of three orders of reliability
// (polar_construction). Cost: construction O(N log N) on the host, once per code.
#include <cstdint>
#include <optional>
#include <string>
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
  /// No interleaver, any CRC, any information set, N = 32..32768.
  general,
};

/// general: where the order of reliability of the bits of u comes from.
enum class polar_construction {
  /// Gaussian approximation at a design SNR (polar_gaussian.hpp).
  gaussian,
  /// The sequence of 5G NR, N up to 1024.
  nr,
  /// polar_config::reliability, or else the file polar_config::reliability_file (polar_order.hpp).
  custom,
};

struct polar_config {
  polar_kind kind = polar_kind::uci;
  /// A: message bits without the CRC. uci: 12..1706; dci and pbch: 1..140; plain: 1..1024 less the CRC;
  /// general: 1..32767 less the CRC.
  int k = 64;
  /// E: sent bits, 1..16384; general: 1..32768. Each code block needs at least K plus its parity checks.
  int coded_bits = 128;
  /// dci: the 16 bits that mask the CRC, 0..65535.
  int rnti = 0;
  /// plain, general: length of the CRC, 0 (none), 6, 8, 11, 16 or 24 (CRC-24C).
  int crc_bits = 11;
  /// general.
  polar_construction construction = polar_construction::gaussian;
  /// gaussian: Es/N0 in dB of BPSK in white Gaussian noise, -20..40. Absent: where the approximation gives a
  /// frame error rate of 1e-3 for successive cancellation.
  std::optional<double> design_esn0_db = {};
  /// custom: all N indices of u, from the least to the most reliable, or the N - K frozen ones. Empty: they
  /// are in the file.
  std::vector<int> reliability = {};
  std::string reliability_file = {};
  bool operator==(const polar_config&) const = default;
};
/// Names, ranges and descriptions of the settings.
const std::vector<setting_of<polar_config>>& polar_settings();

/// One code block.
struct polar_block {
  int k = 0;           // K: size of the information set, fillers and CRC included
  int n = 0;           // N: 32..32768
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
  /// Throws argument_error: k, coded_bits, rnti, crc_bits, construction, design_esn0_db,
  /// reliability. Throws file_error for reliability_file.
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
