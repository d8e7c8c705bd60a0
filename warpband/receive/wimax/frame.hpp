#pragma once
// WiMAX frames (time division duplex, ofdm/wimax.hpp) with space-time codes: from the bits of bursts to a
// grid of OFDM symbols and tones, and from a received grid back to bits. A burst has its own modulation, its
// own place, and if need be its own code, WiMAX LDPC and convolutional ones among them.
//
// A space-time codeword takes a tone of two consecutive symbols, counted from the burst's first one; of an
// odd number the last symbol stays empty. The codewords of a burst follow one another tone by tone, and on a
// tone in the order of time. H of a tone lasts for a frame (Bollapalli et al., "Highly parallel decoding of
// space-time codes on graphics processing units", 2009): codewords of a tone share it.
//
// A coded burst holds as many blocks as fit, C, with their bits in turn: bit j of block c is bit j C + c of
// the burst, so that each block is spread over all of it. Zeros fill the rest.
//
// The first symbol of a direction may be a preamble, from which the receiver estimates H once a frame: BPSK
// from the pilots' generator of IEEE 802.16, x^11 + x^9 + 1, started with ones. Antenna 0 has the even tones
// and antenna 1 the odd ones, with twice the energy, so that each sends as much as in other symbols. Least
// squares at the pilots and linear interpolation between them give H of every tone (estimate/filters.hpp).
// N0 becomes N0 plus the error variances of H, which the estimator measures in each frame.
//
// FCH and DL-MAP (map.hpp) may follow the preamble of a downlink. The receiver decodes both first. It then
// takes each burst from where the frame's DL-MAP says. Size and modulation of a burst are its settings, since
// they fix the results' shapes. A burst is erased if the DL-MAP has another size or modulation for it, or
// puts it outside of the frame. All bursts of a frame are erased if a check of its FCH or DL-MAP fails.
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpband/code/code_kind.hpp>
#include <warpband/ofdm/wimax.hpp>
#include <warpband/receive/wimax/map.hpp>
#include <warpband/stbc/stbc.hpp>

namespace wb {

/// Values on the grid of frames, in any order: that of frame f, symbol s, tone t and antenna a is
/// data[f * frame_stride + s * symbol_stride + t * tone_stride + a * antenna_stride].
template <class T>
struct frame_grid {
  T* data = nullptr;
  std::size_t frames = 0, symbols = 0, tones = 0, antennas = 0;
  std::size_t frame_stride = 0, symbol_stride = 0, tone_stride = 0, antenna_stride = 0;

  operator frame_grid<const T>() const noexcept {
    return {data, frames, symbols, tones, antennas, frame_stride, symbol_stride, tone_stride, antenna_stride};
  }
};
/// Contiguous: [frames, symbols, tones, antennas].
template <class T>
frame_grid<T> make_frame_grid(T* data, std::size_t frames, std::size_t symbols, std::size_t tones,
                              std::size_t antennas) {
  return {data, frames, symbols, tones, antennas, symbols * tones * antennas, tones * antennas, antennas, 1};
}

struct wimax_link_config {
  wimax_frame frame;
  /// Whose bursts are sent or received; the other direction is another link.
  wimax_direction direction = wimax_direction::downlink;
  /// The space-time code, its search, the receive antennas and the clip. Its qam is not looked at: each burst
  /// has one.
  stbc_config space_time = {};
  /// Codes of the direction's bursts, in their order; "none" for an uncoded one. Empty: all are
  /// uncoded.
  std::vector<code_config> codes = {};
  /// LLRs of uncoded bursts too, whose decisions are then those of the LLRs.
  bool soft = false;
  /// The first symbol is a preamble, and the receiver estimates H.
  bool preamble = false;
  /// FCH and DL-MAP behind it; absent: the receiver knows where bursts are. In the downlink alone.
  std::optional<wimax_map_config> maps = {};
  /// If set, only this burst is sent and received; the tones of the others stay empty, and they have no
  /// results.
  std::optional<std::size_t> only = {};

  bool has(std::size_t burst) const noexcept { return !only || *only == burst; }
};

/// The first symbol of the direction that bursts may have: behind preamble, FCH and DL-MAP. Throws
/// argument_error as wimax_map_symbols does.
int wimax_first_data_symbol(const wimax_link_config& config);

/// A burst of the direction, and what one frame holds of it.
struct wimax_burst_sizes {
  wimax_burst burst;
  std::size_t codewords = 0, bits_per_codeword = 0;  // of the space-time code
  /// Of the code k bits of information in n sent; without one a block is a codeword, k = n its bits.
  std::size_t blocks = 0, k = 0, n = 0;

  std::size_t capacity() const noexcept { return codewords * bits_per_codeword; }
};
/// The bursts of the direction. Throws argument_error for a frame that check(wimax_frame) refuses, and for
/// what the space-time code or a code refuses. Also if there are not as many codes as bursts, or if no block
/// of a code fits into its burst. Also for a burst in symbols of the preamble or the maps, and for maps of an
/// uplink or of no burst. A preamble needs an even number of tones.
std::vector<wimax_burst_sizes> wimax_bursts_of(const wimax_link_config& config);

/// Stages of a receiver: "estimate" with a preamble, "maps" with maps, "bursts".
std::vector<std::string> wimax_stages_of(const wimax_link_config& config);

struct wimax_plan;  // what transmitter and receiver have in common, in frame.cpp

/// Bits of bursts to what the two antennas send. Buffers are allocated once; keeps a reference to the
/// executor. Threads: one at a time.
class wimax_transmitter {
 public:
  /// For at most `frames` in one run. Throws argument_error as wimax_bursts_of does, and for frames = 0 or
  /// more than 2^31 tones of symbols in them; memory_error.
  wimax_transmitter(const wimax_link_config& config, executor& exec, std::size_t frames = 1);
  ~wimax_transmitter();
  const std::vector<wimax_burst_sizes>& bursts() const noexcept;
  /// Queues frames. `bits`: of each burst [frames * blocks, k], 0 or 1. `out` [frames, the frame's symbols,
  /// data subcarriers, 2]: all of the direction's symbols are written, zeros where there is no burst; those
  /// of the other direction are left alone. Throws shape_error, and argument_error for more frames than
  /// announced.
  void run(std::span<const view<const std::uint8_t>> bits, const frame_grid<std::complex<float>>& out);
  /// The same of bits that are coded already: of each burst [frames * blocks, n].
  void run_coded(std::span<const view<const std::uint8_t>> bits, const frame_grid<std::complex<float>>& out);

 private:
  void send(std::span<const view<const std::uint8_t>> bits, const frame_grid<std::complex<float>>& out,
            bool coded);

  std::unique_ptr<wimax_plan> plan_;
};

/// Of a burst, in the executor's memory; valid until the next run. A burst that is erased has codewords with
/// status_erased, and LLRs and bits of 0.
struct wimax_burst_result {
  view<const std::uint8_t> bits;  // [frames * blocks, k] decisions
  view<const float> llr;          // [frames * codewords, bits_per_codeword]; no data: uncoded, not soft
  view<const std::uint8_t> codeword_status;  // [frames * codewords, 1] status_erased, see stbc_decoder
  // Of the code's decoder [frames * blocks, 1], see decoder_output; no data: uncoded.
  view<const std::int32_t> iterations;
  view<const std::uint8_t> status;
};

/// Where results of a burst go, [frames * ...] as above, rows side by side; without data to memory of the
/// receiver. With `llr` the decisions of an uncoded burst are those of its LLRs.
struct wimax_burst_output {
  view<std::uint8_t> bits = {}, codeword_status = {}, status = {};
  view<std::int32_t> iterations = {};
  view<float> llr = {};
};

/// The same of a run.
struct wimax_output {
  std::span<const wimax_burst_output> bursts = {};  // of every burst, or of none
  view<std::uint8_t> map_status = {};               // [frames, 1], see wimax_receiver::map_status
  // Estimates of the preamble: H [frames * data subcarriers, 2 * rx_antennas] and N0 [..., 1].
  view<std::complex<float>> channel = {};
  view<float> noise_var = {};
};

struct wimax_received {
  /// H of the direction: [frames, 1, data subcarriers, 2 * rx_antennas], element 2 * r + t the gain from
  /// antenna t to receive antenna r. Ignored with a preamble.
  frame_grid<const std::complex<float>> channel;
  /// Y: [frames, the frame's symbols, data subcarriers, rx_antennas].
  frame_grid<const std::complex<float>> received;
  view<const float> noise_var;  // N0 per complex entry: [frames, 1], item_stride 0 to share one
};

/// A received grid to the bits of bursts: for each burst one call of the decoder for its modulation over all
/// frames, and one of its code's. If frames have an N0 each, the former is one call for each frame. Codewords
/// are copied out of the grid, but where its strides are those of a batch: of two symbols with tones side by
/// side, or of whole tones that lie symbol after symbol. H is not copied for single frames and for bursts of
/// all tones. Preamble and maps change both: see `run_stage`.
/// Threads: one at a time.
class wimax_receiver {
 public:
  /// As wimax_transmitter.
  wimax_receiver(const wimax_link_config& config, executor& exec, std::size_t frames = 1);
  ~wimax_receiver();
  const std::vector<wimax_burst_sizes>& bursts() const noexcept;
  /// Queues frames; results in the order of bursts(). Throws shape_error, and argument_error for more frames
  /// than announced.
  const std::vector<wimax_burst_result>& run(const wimax_received& in, const wimax_output& out = {});
  /// wimax_stages_of its configuration.
  const std::vector<std::string>& stages() const noexcept;
  /// Queues one of them. Stages of a batch are called in order, with the same arguments. Results are there
  /// after the last.
  void run_stage(std::size_t stage, const wimax_received& in, const wimax_output& out = {});
  const std::vector<wimax_burst_result>& results() const noexcept { return results_; }
  /// [frames, 1] status_erased where a frame's FCH or DL-MAP, or a burst's entry, is not as it should be; no
  /// data without maps. Valid until the next run.
  view<const std::uint8_t> map_status() const noexcept;
  /// H and N0 of the last run's tones: estimates as in wimax_output, where they went; no data without
  /// preamble.
  view<const std::complex<float>> channel() const noexcept;
  view<const float> noise_var() const noexcept;
  /// Memory of the receiver for each frame, about.
  static std::size_t bytes_per_frame(const wimax_link_config& config);

 private:
  std::unique_ptr<wimax_plan> plan_;
  std::vector<wimax_burst_result> results_;
};

}  // namespace wb
