#pragma once
// What a link is made of, and what follows from it: sizes of frames, rates, signal-to-noise ratios.
//
// A frame is k bits into the encoder (its CRC included), sent as the n bits of its code: R = k / n,
// tails included, so lte-turbo with all its bits has R = k / (3 k + 12). An uncoded link sends the k bits, R
// = 1. Zeros fill a frame up to whole uses of the channel; they are neither counted nor part of R.
//
// A use of the channel sends one symbol, or with a detector `streams` of them to `rx_antennas`: y = H s + n,
// the bits stream after stream. With m bits a symbol and Es = 1 for each stream:
//
//   snr_db  = ebn0_db + 10 log10(streams R m / rx_antennas)    of one receive antenna
//   esn0_db = snr_db - 10 log10(streams)                       of one stream at one antenna
//   N0      = Es 10^(-esn0_db / 10)                            per complex entry
//
// With a space-time code (stbc/stbc.hpp) two uses with one H send a codeword from two antennas, `streams`. In
// the first line r_s = 2 symbols a use (Alamouti 1) then replace `streams`. Zeros fill a frame's last
// codeword. Uncoded links take the decoder's most likely codewords, coded ones its LLRs.
//
// With a tapped delay line the uses of a frame are the resource elements of OFDM symbols, frequency first
// (ofdm/grid.hpp). Each has its own H. Zeros fill the frame's last block too. The cyclic prefix costs neither
// power nor rate.
//
// With a channel of bits (air/binary.hpp) a use sends one coded bit. The point is its probability.
//
// With lte-transport a frame is a transport block of k = A bits, and n = G those of one transmission: R = A /
// G, and Eb/N0 is that of one transmission. While the block's CRCs fail it is sent again, with the next
// redundancy version, up to `transmissions` times. The decoder adds up the LLRs of all (HARQ). Every
// transmission has noise and a channel of its own.
//
// Massive MIMO (docs/li-thesis.md) has B antennas of a base station and U users in the place of rx_antennas
// and streams, and OFDM. A frame is a drop: U users and their channels, for `symbols` OFDM symbols that share
// one channel estimate per subcarrier. Every user sends, or receives, one codeword of k bits in every OFDM
// symbol, coded bits on subcarriers from the first on. Zeros fill the last of them. Frames are independent of
// each other; codewords of a frame are not. In the downlink every user has one antenna, so that rx_antennas
// is 1 there. A vector that the base station sends has energy 1, which is Es = 1 / U for each user: Eb and
// the SNR are those of all that it sends. link/gain/gain.hpp has what a user knows of its channel.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <warpband/air/awgn.hpp>
#include <warpband/air/binary.hpp>
#include <warpband/air/cdl.hpp>
#include <warpband/air/file.hpp>
#include <warpband/air/kronecker.hpp>
#include <warpband/air/rayleigh.hpp>
#include <warpband/air/rician.hpp>
#include <warpband/air/tdl.hpp>
#include <warpband/code/code_kind.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/link/link_antennas.hpp>
#include <warpband/link/massive_link.hpp>
#include <warpband/link/nr_link.hpp>
#include <warpband/modem/constellation/constellation.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/receive/iterative.hpp>
#include <warpband/stbc/stbc.hpp>

namespace wb {

// ---- antennas: these settings, or those of massive_link.hpp, nr_link.hpp or of a program's own kind

/// One stream to one antenna.
struct single_antenna {
  demap_algorithm demapper = demap_algorithm::max_log;
};
template <>
inline constexpr std::string_view antennas_name<single_antenna> = "single";
/// Streams with a detector, which gets the link's constellation.
template <>
inline constexpr std::string_view antennas_name<detector_config> = "streams";
/// A space-time code of two antennas, with the link's constellation.
template <>
inline constexpr std::string_view antennas_name<stbc_config> = "space-time";

// ---- the link

/// What the numbers of a sweep are: a signal-to-noise ratio in dB, or the probability of a channel of bits.
enum class snr_axis { ebn0_db, snr_db, esn0_db, probability };
/// "ebn0_db", "snr_db", "esn0_db", "probability".
const char* name_of(snr_axis axis) noexcept;
/// "Eb/N0", "SNR", "Es/N0", "probability".
const char* title_of(snr_axis axis) noexcept;
/// " dB", or of probabilities "".
const char* unit_of(snr_axis axis) noexcept;

struct link_config {
  std::uint64_t seed = 1;
  /// Uncoded: its k are the bits of a frame, 1..2^24, with massive MIMO of a codeword, up to those of an OFDM
  /// symbol; 0: 6144, or these. Transport blocks: not with a space-time code or massive MIMO, and with up to
  /// 4 streams.
  code_config code = {};
  /// Points of the constellation: 2 (BPSK; only with one antenna), 4, 16, 64, 256.
  int qam = 2;
  /// In place of qam: 8PSK, 16APSK, 32APSK or a list of points, only with one antenna. With code.type
  /// "dvb-s2" the first three have the standard's bit interleaver. If ring ratios are left out, they follow
  /// from the code rate.
  std::optional<constellation_config> constellation = {};
  link_antennas antennas = {};
  air_config channel = {};
  /// Detector and decoder in a loop: a detector of streams, a space-time code or a massive-MIMO uplink, and a
  /// code whose decoder gives extrinsic LLRs; or slots of 5G NR. Nothing: the open loop. In the uplink the
  /// first outer iteration has the detector of the open loop, with the link's solver. The others have
  /// massive/soft_uplink, MMSE with an exact inverse.
  std::optional<receiver_config> receiver = {};
  /// In what `link_chain::run` is told the point.
  snr_axis axis = snr_axis::ebn0_db;
  /// Also measures the mutual information of sent bits and LLRs. Not with a receiver in a loop, transport
  /// blocks or an uncoded space-time code.
  bool mutual_information = false;
};

/// The configuration with everything chosen that it leaves open: what the code and its decoder do, the
/// detector and what it leaves open; lte-transport has modulation_order and layers of the link's
/// constellation and streams. Throws argument_error for what is not allowed, and file_error for the
/// channel's.
link_config completed(const link_config& config);

/// Bits of a symbol.
int bits_per_symbol(const link_config& config);
/// "16qam", or the constellation's type.
std::string name_of_modulation(const link_config& config);
/// The order in which codewords of the open loop send their coded bits: that of DVB-S2's bit interleaver.
/// Empty if codewords are sent in the code's order. `config` is completed.
std::vector<std::int32_t> bit_order_of(const link_config& config);

/// Symbols that are sent at once: streams, antennas of a space-time code, users.
int streams_of(const link_config& config) noexcept;
/// Antennas that receive them together.
int rx_antennas_of(const link_config& config) noexcept;
/// Whether the LLRs of a use may be erased, and erased uses are counted: not with single_antenna.
bool erases_uses(const link_config& config) noexcept;
/// The link's antennas as its channel needs them.
air_antennas air_antennas_of(const link_config& config);

/// Outer iterations of a frame: 1 in the open loop.
int outer_iterations(const link_config& config) noexcept;
/// The most iterations that the decoder does on a codeword, of lte-transport on a code block.
int most_iterations(const link_config& config);

/// Whether frames have many codewords, which are counted too: with massive MIMO.
bool has_codewords(const link_config& config) noexcept;
/// Codewords of a frame: 1 but with massive MIMO.
std::size_t codewords_per_frame(const link_config& config) noexcept;
/// Bits of a frame into the encoder: k of each codeword.
std::size_t bits_per_frame(const link_config& config);

/// R = bits into the encoder / bits sent, of lte-transport in one transmission.
double code_rate(const link_config& config);
/// Uses of the channel, resource elements, that hold bits of a frame; of lte-transport in one transmission.
std::size_t resource_elements(const link_config& config);
/// Uses of the channel that a frame (a transmission) takes; with a tapped delay line those of whole blocks.
std::size_t uses_per_frame(const link_config& config);
/// Symbols of these uses.
std::size_t symbols_per_frame(const link_config& config);

/// A signal-to-noise ratio in its three forms, see above. NaN with a channel of bits.
struct noise_level {
  double ebn0_db = 0, snr_db = 0, esn0_db = 0;
};
/// Of a point of the sweep, given in config.axis.
noise_level noise_level_at(const link_config& config, double point_db);
/// N0 of a point, for Es = 1, and Es = 1 / users in the downlink of massive MIMO.
double noise_var_at(const link_config& config, double point_db);

}  // namespace wb
