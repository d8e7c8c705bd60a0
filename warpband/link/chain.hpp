#pragma once
// One link, from random bits to counted errors:
//
//   source -> CRC -> encode -> map -> channel -> demap or detect -> decode -> count
//
// A frame is k bits into the encoder (its CRC included), sent as the n bits of link/codec.hpp: R = k / n,
// tails included, so lte-turbo with all its bits has R = k / (3 k + 12). An uncoded link sends the k bits, R
// = 1. Zeros fill a frame up to whole uses of the channel; they are neither counted nor part of R.
//
// A use of the channel sends one symbol, or with a detector `streams` of them to `rx_antennas`: y = H s + n,
// the bits stream after stream. With m bits a symbol and Es = 1 for each stream:
//
//   snr_db  = ebn0_db + 10 log10(streams R m / rx_antennas)    of one receive antenna
//   esn0_db = snr_db - 10 log10(streams)                       of one stream at one antenna
//   N0      = 10^(-esn0_db / 10)                               per complex entry
//
// With a space-time code (stbc/stbc.hpp) two uses send a codeword between two antennas, `streams`, with one H
// for both, and r_s = 2 symbols a use (Alamouti 1) stand in the place of `streams` in the first line. Zeros
// fill a frame's last codeword. Uncoded links take the decoder's most likely codewords, coded ones its LLRs.
//
// With a tapped delay line the uses of a frame are the resource elements of OFDM symbols, frequency first
// (ofdm/grid.hpp), each with an H of its own; zeros fill its last block too. The cyclic prefix costs neither
// power nor rate.
//
// With lte-transport a frame is a transport block of k = A bits, and n = G those of one transmission: R = A /
// G, and Eb/N0 is that of one transmission. While the block's CRCs fail it is sent again, with the next
// redundancy version, up to `transmissions` times; the decoder adds up the LLRs of all (HARQ). Every
// transmission has noise and a channel of its own.
//
// Massive MIMO (link/massive_link.hpp) has many codewords in a frame, k bits each: B antennas and U users in
// the place of rx_antennas and streams. In the downlink every user has one antenna, so that rx_antennas is 1
// there, and U is the power of the base station: Eb and the SNR are those of all that it sends.
//
// Random numbers depend on the seed, on the point of the sweep, on the number of the transmission and on the
// index of the frame (bits, block fading), of the block (delay lines) or of the use (noise; fast fading, with
// a space-time code of the codeword) alone: not on the batch, the threads or the backend. Links that differ
// only in their detector and decoder therefore see the same noise.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpband/channel/cdl/cdl.hpp>
#include <warpband/channel/tdl/tdl.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/link/codec.hpp>
#include <warpband/link/csi_channel.hpp>
#include <warpband/link/massive_link.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/stbc/stbc.hpp>

namespace wb {

enum class channel_type { awgn, rayleigh, tdl, cdl, file };
/// Of channel_type::rayleigh.
enum class fading_type {
  fast,   // a new h, or H, for every use of the channel; with a space-time code for every codeword
  block,  // one for a frame
};
const char* name_of(channel_type) noexcept;  // "awgn", "rayleigh", "tdl", "cdl", "file"
const char* name_of(fading_type) noexcept;   // "fast", "block"
/// What the numbers of a sweep are.
enum class snr_axis { ebn0_db, snr_db };
/// "ebn0_db", "snr_db".
const char* name_of(snr_axis axis) noexcept;
/// "Eb/N0", "SNR".
const char* title_of(snr_axis axis) noexcept;

struct link_config {
  std::uint64_t seed = 1;

  /// Uncoded: its k are the bits of a frame, 1..2^24; 0: 6144.
  code_config code;

  /// Points of the constellation: 2 (BPSK; not with a detector), 4, 16, 64, 256.
  int qam = 2;
  /// Not looked at with a detector.
  demap_algorithm demapper = demap_algorithm::max_log;

  channel_type channel = channel_type::awgn;
  fading_type fading = fading_type::fast;
  /// Of channel_type::tdl. Its streams and rx_antennas are not looked at: they are those below. A block has
  /// grid.symbols OFDM symbols; 0: those of a frame. A frame begins with a new block, and takes whole blocks.
  tdl_config tdl{.profile = {}, .grid = {.symbols = 0}};

  /// Of channel_type::cdl, which massive MIMO alone takes: its antennas, users, subcarriers and symbols are
  /// those of massive, and users stand still (speed_kmh = 0).
  cdl_config cdl{.profile = {}, .power_control = true};

  /// Of channel_type::file, which massive MIMO alone takes.
  csi_channel_config csi;

  /// Antennas: streams 1..8, rx_antennas streams..16. More than one of either needs fading.
  int streams = 1, rx_antennas = 1;
  /// Nothing: MMSE with several antennas; with one of each the demapper. Its streams, rx_antennas and qam are
  /// not looked at: they are those above.
  std::optional<detector_config> detector;

  /// A space-time code, in Rayleigh fading, in the place of streams and detector: streams are its two
  /// antennas, 2 or left at 1; rx_antennas 1..4; qam 4, 16 or 64. Its own rx_antennas and qam are not looked
  /// at. Not with lte-transport.
  std::optional<stbc_config> space_time;

  /// Massive MIMO in fading, in the place of streams, rx_antennas, detector and the space-time code. With
  /// channel_type::tdl its subcarriers and symbols are the grid's, and there is no Doppler shift. Not with
  /// lte-transport. Uncoded k is at most the bits of an OFDM symbol; 0: these.
  std::optional<massive_link_config> massive;

  /// In what `link_chain::run` is told the point.
  snr_axis axis = snr_axis::ebn0_db;
};

/// The configuration with everything chosen that it leaves open: what the code and its decoder do, the
/// detector and what it leaves open; lte-transport has modulation_order and layers of the link's
/// constellation and streams, of which it takes up to 4. Throws argument_error for what is not allowed.
link_config completed(const link_config& config);

/// Whether the LLRs of a use may be erased, and erased uses are counted: with a detector, a space-time code
/// or massive MIMO.
bool erases_uses(const link_config& config) noexcept;

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

/// A signal-to-noise ratio in its three forms, see above.
struct noise_level {
  double ebn0_db = 0, snr_db = 0, esn0_db = 0;
};
/// Of a point of the sweep, given in config.axis.
noise_level noise_level_at(const link_config& config, double point_db);

/// What a batch of frames came to, one value per frame in order of index.
struct frame_counts {
  std::vector<std::int32_t> bit_errors;  // of k; with massive MIMO of all codewords
  std::vector<std::int32_t> iterations;  // of the decoder; empty when uncoded
  std::vector<std::uint8_t> erased;      // 1 where the decoder erased the word; empty when uncoded
  /// Uses that the detector erased, see detector; of a space-time code two for each codeword that it erased.
  /// Empty without either.
  std::vector<std::int32_t> erased_uses = {};
  /// With massive MIMO codewords with wrong bits; `erased` tells of any of them, iterations add up. Else
  /// empty.
  std::vector<std::int32_t> codeword_errors = {};
  // With HARQ iterations are those of all code blocks after each of the frame's transmissions, erased uses
  // those of its transmissions, bit errors those after the last; and, empty without it:
  std::vector<std::uint8_t> transmissions = {};  // of the frame, 1 to config.code.transport.transmissions
  std::vector<std::uint8_t> passed = {};         // 1 where its CRCs held after the last of them
};

/// A link on an executor. Buffers are allocated once, for the largest batch; only a punctured code takes
/// memory again in each run, and HARQ its soft buffers in one with another number of frames. Holds on to the
/// executor.
class link_chain {
 public:
  /// For at most `max_batch` frames in one run, and no more than about 64 MiB (CPU) or 1 GiB (CUDA) hold, but
  /// what keeps the executor busy up to 1 GiB, and at least one. Throws argument_error, memory_error.
  link_chain(const link_config& config, executor& exec, std::size_t max_batch = SIZE_MAX);

  /// Sends the frames [first_frame, first_frame + frames) at a point, in config().axis, and waits for the
  /// counts, which stay valid until the next run. Throws argument_error for frames > max_batch() or a point
  /// out of -100..100 dB.
  const frame_counts& run(std::uint64_t first_frame, std::size_t frames, double point_db);

  /// The configuration in force, see `completed`.
  const link_config& config() const noexcept { return config_; }
  executor& where() const noexcept { return exec_; }
  bool coded() const noexcept { return config_.code.type != code_type::none; }
  std::size_t max_batch() const noexcept { return max_batch_; }
  /// Frames that keep the executor busy; a good batch is a multiple.
  std::size_t preferred_frames() const;

 private:
  std::size_t bytes_per_frame() const noexcept;
  void allocate(std::size_t batch);
  /// From the bits that a frame sends, in rows of padded_, to their LLRs. Transmission 0 is the first.
  void transmit(const std::uint8_t* sent, std::uint64_t first_frame, std::size_t frames, double point_db,
                int transmission = 0);
  /// The transmissions of transport blocks, until all have passed or none is left.
  void run_transmissions(view<const std::uint8_t> bits, std::uint64_t first_frame, std::size_t frames,
                         double point_db);
  /// The blocks of a delay line from a frame on.
  random_range blocks_of(std::uint64_t first_frame, std::uint32_t point) const noexcept;
  void transmit_streams(std::uint64_t first_frame, std::size_t frames, std::uint32_t point);
  /// Codewords of the space-time code, from symbols_sent_ to LLRs, or uncoded to decided_.
  void transmit_codewords(std::uint64_t first_frame, std::size_t frames, std::uint32_t point);
  /// Noise on what several antennas receive.
  void add_noise(std::uint64_t first_frame, std::size_t frames, std::uint32_t point);
  /// From counts of codewords to those of frames.
  void count_codewords(std::size_t frames);
  /// Of each frame, where `per_frame` status bytes differ from 0 in the lowest bit.
  void count_erased(std::size_t per_frame, std::size_t frames);

  link_config config_;
  executor& exec_;
  qam_mapper mapper_;
  demapper demapper_;
  std::optional<crc_attacher> crc_;
  std::unique_ptr<codec> code_;  // none when uncoded, and with HARQ
  std::optional<lte_transport_encoder> transport_encoder_;
  std::optional<lte_transport_decoder> transport_decoder_;
  std::unique_ptr<detector> detector_;  // none: the demapper does it
  std::optional<stbc_encoder> space_time_encoder_;
  std::optional<stbc_decoder> space_time_decoder_;
  std::optional<tdl_channel> tdl_;
  std::unique_ptr<massive_link> massive_;
  std::size_t codewords_ = 1;  // of a frame; arrays of bits and LLRs have a row for each
  std::size_t sent_ = 0, uses_ = 0, symbols_ = 0, padded_ = 0, max_batch_ = 0;

  array<std::uint8_t> bits_, coded_, decided_, status_, passed_, use_status_, zero_;
  array<std::complex<float>> symbols_sent_, received_, gain_;  // the symbols in received_ without a detector
  array<float> llr_, noise_var_;
  array<std::int32_t> errors_, iterations_, erased_uses_;
  float n0_ = 0;  // lives here because uploads are queued
  frame_counts counts_;
};

}  // namespace wb
