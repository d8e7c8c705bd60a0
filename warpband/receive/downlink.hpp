#pragma once
// 5G NR from samples to system information: SS/PBCH blocks and their MIB, control channels in CORESET 0, and
// the transport blocks that they schedule with SI-RNTI, such as SIB1.
//
//   samples -> cell_search -> pbch_decoder -> blocks
//   blocks, samples -> type 0 occasions -> ofdm_demodulator -> pdcch_decoder -> DCI 1_0
//           -> channel_estimator, demapper, nr_transport_decoder -> transport block
//
// Blocks give timing and carrier frequency offset (CFO) of a cell's occasions, before and after the block.
// The phases of TS 38.211 §5.4 follow from carrier_hz. If it is left out or wrong, they follow from the phase
// advance within the block. Frequency range 1: blocks and SIB1 at 15 and 30 kHz. CORESET 0 must lie within
// the sampled band, and the sample rate must be 1 to 32 times 128 of SIB1's spacings. Other messages are left
// out. A PDSCH is mapped round its PDCCH, and other system information than SIB1 also round SS/PBCH blocks of
// its cell that were decoded.
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <warpband/nr/pbch/pbch.hpp>
#include <warpband/nr/pdcch/dci.hpp>
#include <warpband/nr/sync/cell_search.hpp>
#include <warpband/ofdm/modem/modem.hpp>

namespace wb {

/// A decoded transport block.
struct nr_si_block {
  /// As of nr_transport_decoder. P(ok) of noise is at most 2^-16 for each carrier that is tried: 13 2^-16
  /// with an unknown carrier.
  bool ok = false;
  std::vector<std::uint8_t> bits = {};  // of the transport block; zeros if not ok
};
/// Decodes the PDSCH of a DCI in one slot: grid [1, 14 * 12 * blocks], element 12 blocks symbol + subcarrier
/// of CORESET 0. channel is that of nr_si_channel, mcs of table 1 up to 28. noise_var is N0 of an element. It
/// is needed, and looked at, only where DMRS do not give it: one resource block and one CDM group without
/// data. Waits for the executor. Throws argument_error, shape_error.
nr_si_block nr_si_decode(executor& exec, view<const std::complex<float>> grid,
                         const nr_channel_config& channel, int mcs, int rv,
                         std::optional<double> noise_var = std::nullopt);

/// The resource blocks x symbols of a slot that an SS/PBCH block takes, if any. lowest_hz: from subcarrier 0
/// of the slot's blocks to that of the SS/PBCH block; seconds: from the slot's start to that of the block.
std::optional<nr_reserved> nr_ssb_reserved(const nr_carrier& carrier, int ssb_spacing_khz, double lowest_hz,
                                           double seconds);

/// Whether nr_downlink takes a sample rate: 2 to 32 times 128 subcarrier spacings, without prime factors
/// above 5.
bool nr_downlink_takes_rate(double sample_rate_hz, int spacing_khz) noexcept;

/// Whether a sample is used as it is: both parts are at most 1e15 in size. Others are taken as 0.
inline bool nr_is_usable(const std::complex<float>& sample) noexcept {
  return std::fabs(sample.real()) <= 1e15f && std::fabs(sample.imag()) <= 1e15f;
}

struct nr_downlink_config {
  double sample_rate_hz = 7.68e6;  // nr_downlink_takes_rate
  int spacing_khz = 15;            // of SS/PBCH blocks: 15, 30, 120, 240
  double offset_hz = 0;            // of a block's subcarrier 120 from the centre of the samples
  double max_cfo_hz = 1e4;         // 0 to four spacings
  std::optional<double> carrier_hz = std::nullopt;  // as in cell_search_config
  double false_alarm = 1e-4;                        // of the cell search, for each piece of 20 ms
  std::optional<int> l_max = std::nullopt;  // candidate blocks of a half frame; absent: 8 and 4, or 64
  bool wide = false;                        // 30 kHz: the band's least channel bandwidth is 40 MHz
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<nr_downlink_config>>& nr_downlink_settings();

/// An SS/PBCH block.
struct nr_downlink_block {
  nr_found_block found;
  nr_pbch_block pbch;
};
/// A DCI with SI-RNTI, and what it schedules.
struct nr_downlink_message {
  int cell_id = 0;
  int ssb_index = 0;  // of the block whose occasion it is
  int sfn = 0, slot = 0;
  double first_sample = 0;  // where the slot's first prefix begins
  int coreset_blocks = 0;
  int level = 0, first_cce = 0;
  double snr_db = 0, metric = 0;        // of the PDCCH
  std::vector<std::uint8_t> bits = {};  // of the DCI
  nr_si_dci dci = {};
  /// Not ok also where the PDSCH is not looked at: a reserved MCS, or DMRS that its PDCCH or a block has.
  nr_si_block block = {};
};

/// What a decoded block shows of the channel.
struct nr_block_picture {
  /// Of its 240 subcarriers, from the least frequency on. Means over nine subcarriers and all symbols.
  std::vector<std::complex<float>> channel;
  std::vector<std::complex<float>> points;  // PBCH and its DMRS over the channel: QPSK
  /// Squared correlation with the PSS over the energies of both, 0 to 1, of a symbol without its prefix. The
  /// middle is the block's first sample, and neighbours are a sample apart.
  std::vector<float> pss;
};

/// Finds cells in samples and decodes their MIBs and system information.
/// Threads: any number may call one object at once, each with an executor of its own.
class nr_downlink {
 public:
  /// Throws argument_error.
  explicit nr_downlink(const nr_downlink_config& config);
  /// Moves copy: a moved-from object stays valid.
  nr_downlink(const nr_downlink&) = default;
  nr_downlink& operator=(const nr_downlink&) = default;
  const nr_downlink_config& config() const noexcept { return config_; }
  /// Samples that a block takes, with room for the FFT windows.
  std::size_t block_samples() const noexcept { return demodulator_.samples() + early() + 1; }
  /// Samples of a slot at 15 kHz. Consecutive pieces of a stream must overlap by this number.
  std::size_t slot_samples() const noexcept;

  /// SS/PBCH blocks that begin before sample `end` and are wholly among the samples, in order of time. Pieces
  /// of 20 ms are searched, which overlap by block_samples().
  /// on_device: the same samples on the executor, [1, n]. Samples that are not finite or above 1e15 count
  /// as 0. Waits for the executor. Throws shape_error, and device_error where the build has no FFT for it.
  std::vector<nr_downlink_block> blocks(executor& exec, std::span<const std::complex<float>> samples,
                                        view<const std::complex<float>> on_device, std::size_t end) const;
  /// Messages whose slot begins before sample `end` and is wholly among the samples, in order of time. A slot
  /// begins at the sample nearest to first_sample.
  /// `known`: decoded blocks, with first_sample counted in these samples; it may be below 0 or behind them.
  /// Occasions are those of all block indices of a known cell. Timing and CFO are those of the cell's block
  /// that is nearest in time. Waits for the executor. Throws argument_error for a block with content that is
  /// not allowed, by the member's name.
  std::vector<nr_downlink_message> messages(executor& exec, std::span<const std::complex<float>> samples,
                                            std::size_t end,
                                            const std::vector<nr_downlink_block>& known) const;
  /// What a block shows that decodes and is wholly among the samples. Waits for the executor. Throws
  /// argument_error for one that was not decoded.
  nr_block_picture picture(executor& exec, std::span<const std::complex<float>> samples,
                           const nr_downlink_block& block) const;

 private:
  /// Samples by which FFT windows begin early, for paths before the strongest.
  std::size_t early() const noexcept {
    return static_cast<std::size_t>(demodulator_.numerology().fft_size / 64);
  }
  /// Values of a block whose prefix begins at sample `first`.
  array<std::complex<float>> grid_of(executor& exec, std::span<const std::complex<float>> samples,
                                     double first, double cfo_hz) const;
  void decode(executor& exec, std::span<const std::complex<float>> samples, double first,
              nr_downlink_block& block) const;
  struct occasion;
  class occasion_list;
  struct kept_objects;
  void check_known(const nr_downlink_block& block) const;
  void add_occasions(const nr_downlink_block& block, double from, double to, occasion_list& list) const;
  void add_messages(executor& exec, std::span<const std::complex<float>> samples, const occasion& o,
                    const std::vector<const nr_downlink_block*>& ssbs,
                    std::vector<nr_downlink_message>& messages) const;

  nr_downlink_config config_;
  cell_search search_;
  ofdm_demodulator demodulator_;
  std::vector<pbch_decoder> decoders_;
  std::shared_ptr<kept_objects> kept_;  // from call to call
};

}  // namespace wb
