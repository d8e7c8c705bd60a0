#pragma once
// Samples of a 5G NR cell's downlink, as nr_downlink receives them: SS/PBCH blocks, and system information in
// CORESET 0 (3GPP TS 38.211 §7, TS 38.212 §7, TS 38.213 §4.1 and §13).
//
//   content -> pbch_encoder -> SS/PBCH block                            in frames whose SFN is a multiple
//   DCI 1_0 -> pdcch_encoder -> control channel in CORESET 0            of the period
//   transport block -> nr_transport_encoder -> qam_mapper -> nr_shared_channel -> PDSCH
//           -> ofdm_modulator, shifted in frequency -> samples
//
// A capture begins with a frame. Each block that is sent has its occasion of search space 0 every 20 ms. The
// occasion's first slot has the DCI and its PDSCH, once if blocks share the occasion. Resource elements have
// amplitude 1 and transforms are unitary: noise of variance N0 a sample gives an SNR of 1 / N0 for each
// element.
//
// Refused is what a real base station does not send: PDCCH or PDSCH on an SS/PBCH block or on each other,
// and two occasions in one slot. So are a modulation other than QPSK, more than 2976 bits, and a code rate
// above 0.95 (TS 38.214 §5.1.3). With rv 1 to 3 a receiver of one transmission needs a low code rate.
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/nr/pbch/pbch_content.hpp>
#include <warpband/nr/pdcch/dci.hpp>
#include <warpband/nr/shared_channel.hpp>
#include <warpband/nr/sync/ssb.hpp>
#include <warpband/ofdm/numerology.hpp>

namespace wb {

struct nr_downlink_generator_config {
  double sample_rate_hz = 15.36e6;                 // nr_downlink_takes_rate, and room for CORESET 0
  int spacing_khz = 30;                            // of SS/PBCH blocks: 15, 30
  std::optional<ssb_case> pattern = std::nullopt;  // a, b, c; absent: a at 15 kHz, c at 30 kHz
  double offset_hz = 0;   // of a block's subcarrier 120 from the centre of the samples
  double carrier_hz = 0;  // f0 of TS 38.211 §5.4 at the centre of the samples, 0..1e11
  int cell_id = 0;        // 0..1007
  // Candidate blocks of a half frame: 4, 8. Absent: 4 up to 3 GHz (case c: 1.88 GHz), 8 above and with
  // carrier_hz = 0.
  std::optional<int> l_max = std::nullopt;
  std::vector<int> ssb_indices = {0};   // blocks that are sent: 0..l_max - 1
  int period_frames = 2;                // of the blocks: 1, 2, 4, 8, 16
  int frames = 2;                       // of a capture: 1..1024
  int sfn = 0;                          // of the first frame
  int half_frame = 0;                   // of the blocks
  int k_ssb = 0;                        // 0..23; 24..31: without CORESET 0
  int common_spacing_khz = 30;          // of CORESET 0 and PDSCH: 15, 30
  int dmrs_first_symbol = 2;            // 2, 3
  int coreset0 = 0, search_space0 = 4;  // 0..15
  bool wide = false;                    // as in nr_downlink_config
  bool cell_barred = false, intra_frequency = true;
  int first_block = 0;                       // of the PDSCH, virtual resource block of CORESET 0
  std::optional<int> blocks = std::nullopt;  // absent: all from the first on, up to 2976 bits
  int time_domain = 0;                       // index of the default table A: 0..15
  bool interleaved = false;
  int mcs = 2;        // of table 1: 0..9, QPSK
  int rv = 0;         // 0..3
  int level = 4;      // control channel elements: 4, 8, 16
  int first_cce = 0;  // of a candidate of the search space
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<nr_downlink_generator_config>>& nr_downlink_generator_settings();

/// An SS/PBCH block that was sent.
struct nr_sent_block {
  nr_ssb_content content;
  std::size_t first_sample = 0;  // of its first prefix
  std::size_t samples = 0;       // of its symbols, with prefixes
};
/// A DCI that was sent, with its PDSCH.
struct nr_sent_message {
  int ssb_index = 0;  // of the block whose occasion it is
  int sfn = 0, slot = 0;
  int coreset_symbol = 0;        // of the slot: the CORESET's first
  std::size_t first_sample = 0;  // of the slot's first prefix
  std::size_t samples = 0;       // of the slot
};

/// Threads: any number may call one object at once, each with an executor of its own.
class nr_downlink_generator {
 public:
  /// Throws argument_error.
  explicit nr_downlink_generator(const nr_downlink_generator_config& config);
  /// Moves copy: a moved-from object stays valid.
  nr_downlink_generator(const nr_downlink_generator&) = default;
  nr_downlink_generator& operator=(const nr_downlink_generator&) = default;
  /// The configuration, with pattern, l_max and blocks chosen.
  const nr_downlink_generator_config& config() const noexcept { return config_; }
  /// Samples of a capture.
  std::size_t samples() const noexcept;
  /// Bits of the transport block; 0 without CORESET 0.
  std::size_t transport_bits() const noexcept { return transport_bits_; }
  /// Resource blocks of CORESET 0; 0 without it.
  int coreset_blocks() const noexcept { return coreset_blocks_; }
  /// An upper bound of the mean power of an OFDM symbol's samples.
  double symbol_power() const noexcept;
  const nr_si_dci& dci() const noexcept { return dci_; }
  /// What a capture has, in order of time.
  const std::vector<nr_sent_block>& sent_blocks() const noexcept { return sent_blocks_; }
  const std::vector<nr_sent_message>& sent_messages() const noexcept { return sent_messages_; }
  /// The samples with this transport block [transport_bits()], of which the lowest bits count. Waits for the
  /// executor. Throws argument_error ("block"), and device_error where the build has no FFT for it.
  std::vector<std::complex<float>> run(executor& exec, std::span<const std::uint8_t> block) const;

 private:
  using grid_values = std::vector<std::complex<float>>;
  ofdm_numerology numerology(int spacing_khz, int blocks) const;
  void set_messages();
  void set_transport();
  void check_apart() const;
  nr_channel_config channel(int slot) const;
  grid_values slot_values(executor& exec, const nr_sent_message& m,
                          std::span<const std::uint8_t> block) const;
  void add(executor& exec, const grid_values& values, int spacing_khz, int blocks, int first_symbol,
           double hz, std::size_t first_sample, std::vector<std::complex<float>>& samples) const;

  nr_downlink_generator_config config_;
  nr_si_dci dci_;
  std::size_t transport_bits_ = 0;
  int coreset_blocks_ = 0, coreset_symbols_ = 0;
  double coreset_hz_ = 0;  // middle of CORESET 0 from the centre of the samples
  std::vector<nr_sent_block> sent_blocks_;
  std::vector<nr_sent_message> sent_messages_;
};

}  // namespace wb
