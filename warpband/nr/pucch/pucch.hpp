#pragma once
// PUCCH of 5G NR, the physical uplink control channel: formats 0 to 4. 3GPP TS 38.211 sections 6.3.2 and
// 6.4.1.3, TS 38.212 section 6.3.1, TS 38.213 section 9.2.
//
//   0   1 or 2 symbols, 1 PRB       up to 2 HARQ-ACK bits and SR choose a cyclic shift of a sequence
//   1   4 to 14 symbols, 1 PRB      up to 2 bits are a BPSK or QPSK symbol on a spread sequence
//   2   1 or 2 symbols, 1-16 PRBs   3 to 1706 bits, coded, QPSK; DMRS on every third subcarrier
//   3   4 to 14 symbols, 1-16 PRBs  the same with DFT and DMRS symbols, QPSK or pi/2-BPSK
//   4   4 to 14 symbols, 1 PRB      as 3, spread by 2 or 4
//
// 3 to 11 bits have the short block code of short_block.hpp, more have a CRC and the polar code of polar.hpp.
// Resource elements have amplitude 1.
//
// Detection of formats 0 and 1: of all messages the one whose signal explains most of the energy. The channel
// is constant over the subcarriers and over a symbol (format 0) or a hop (format 1). The metric is the share
// of the energy. In white Gaussian noise of any level a message's share has the beta distribution of K and
// D - K. D counts all resource elements; K is antennas times symbols (format 0) or hops (format 1). The
// threshold bounds the probability that any message exceeds it.
//
// Detection of formats 2 to 4:
// 1. DMRS are transformed to the eigenvectors of a channel with uniform delay and Doppler spectra
//    (pucch_filters.hpp). Those with 0.1 % of the channel's power or more hold the signal, and the others
//    noise. This gives the powers S and N0.
// 2. A Wiener filter gives the channel h.
// 3. Format 2: LLRs 2 sqrt 2 Re(sum of conj(h) y) / N0. Formats 3 and 4: x(k) = sum of conj(h) y /
//    (sum of |h|^2 + N0), its inverse DFT, LLRs with the variance of that estimate, and despreading.
// 4. Decoding. The metric is the square of the cosine between the received data and those that h and the
//    decoded message would give: the share of the energy that they explain. It is exact for format 2, and
//    approximate for formats 3 and 4, as the power of a message's spectrum is taken as its mean. Noise has
//    any direction, whatever its level, so that the law of the cosine is known. The threshold bounds the
//    probability that any of the 2^bits messages exceeds it. A message is detected if the metric exceeds it
//    and the CRC, if there is one, holds. Where the CRC alone keeps false_alarm there is no threshold.
//
// CSI of two parts, formats 3 and 4 (TS 38.212 sections 6.3.1.1.3, 6.3.1.4.1, 6.3.1.6): HARQ-ACK, SR and CSI
// part 1 have one code, CSI part 2 another. With L bits of CRC part 1 has
//   G1 = min(E, Qm ceil((bits + L) / (max_code_rate Qm)))
// coded bits, and part 2 has the other E - G1. Part 1 takes the symbols next to DMRS first. A symbol at the
// distance at which it ends has its bits on the first elements, an equal share for each such symbol.
// Each part has a metric and a threshold, over its own elements and the 2^bits messages of its own. In
// symbols with both parts these elements are values of the inverse DFT. Part 2 is detected only with part 1,
// which says what it is.
//
// Paper: the filter is that of O. Edfors et al., "OFDM channel estimation by singular value decomposition",
// IEEE Trans. Commun. 46, 1998.
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/fec/short_block/short_block.hpp>
#include <warpband/nr/pucch/pucch_args.hpp>
#include <warpband/nr/pucch/pucch_sequences.hpp>

namespace wb {

struct pucch_config {
  int format = 0;
  int spacing_khz = 15;    // 15, 30, 60, 120: a frame has 10 spacing / 15 slots
  int first_symbol = 0;    // of the slot
  int symbols = 1;         // 1 or 2 with formats 0 and 2, else 4..14; up to the slot's end
  int first_prb = 0;       // format 2, whose DMRS count from common resource block 0: 0..2200 - prbs
  int prbs = 1;            // formats 2 and 3: 1..16; format 3 products of 2, 3 and 5
  bool hopping = false;    // within the slot, after symbols / 2
  int second_hop_prb = 0;  // format 2 with hopping
  pucch_hopping group_hopping = pucch_hopping::neither;  // of formats 0, 1, 3, 4
  int hopping_id = 0;                                    // of formats 0, 1, 3, 4: 0..1023
  int initial_cyclic_shift = 0;                          // of formats 0 and 1: 0..11
  int occ = 0;                   // format 1: index of the orthogonal code over symbols; format 4: of its code
  int spreading = 2;             // format 4: 2, 4
  bool additional_dmrs = false;  // formats 3 and 4
  bool pi2_bpsk = false;         // formats 3 and 4
  int rnti = 0;                  // formats 2 to 4
  int scrambling_id = 0;         // formats 2 to 4: 0..1023
  int dmrs_id = 0;               // format 2: 0..65535
  // Formats 0 and 1: HARQ-ACK bits, 0 to 2. Formats 2 to 4: 3..1706 bits of UCI, in the order HARQ-ACK, SR,
  // CSI or CSI part 1.
  int bits = 1;
  int csi2_bits = 0;           // formats 3 and 4: CSI part 2, 3..1706; 0: there is none
  double max_code_rate = 0.8;  // of part 1, beside part 2: 0.08, 0.15, 0.25, 0.35, 0.45, 0.6, 0.8
  // Format 0: the occasion is one for a scheduling request too. Format 1: it is for nothing else, bits = 0.
  bool scheduling_request = false;
  // Detection
  int antennas = 1;            // 1..64
  double false_alarm = 0.005;  // probability that noise gives a message: 1e-9..0.5
  int list_size = 8;           // of the polar decoder: 1, 2, 4, 8, 16, 32
  // Of the channel; absent: 30 / spacing, at most 2. Up to 10, and up to 560 / spacing, with format 2 a
  // third.
  std::optional<double> max_delay_us = std::nullopt;
  double max_doppler_hz = 200;  // 0..5000
  bool operator==(const pucch_config&) const = default;
};
/// Settings of a detector, and of a generator: all but those of detection.
const std::vector<setting_of<pucch_config>>& pucch_settings();
const std::vector<setting_of<pucch_config>>& pucch_generator_settings();
/// Throws argument_error for what is not allowed.
void check(const pucch_config& config);

/// What a configuration stands for.
struct pucch_shape {
  int slots = 10;        // of a frame
  int subcarriers = 12;  // of a symbol
  int symbols = 1;
  int bits = 1;              // of a message: those of the settings, and SR
  int coded_bits = 0;        // E of formats 2 to 4
  int first_coded_bits = 0;  // G1, those of part 1: E without CSI part 2
  int hops = 1;
  pucch_hop hop[2];
  std::vector<int> pilot_symbols, data_symbols;  // of formats 2 to 4: with DMRS, and with data
  std::size_t values() const noexcept {
    return static_cast<std::size_t>(symbols) * static_cast<std::size_t>(subcarriers);
  }
};
/// Throws argument_error.
pucch_shape shape_of(const pucch_config& config);

/// The codes of formats 2 to 4: of all bits, or of part 1 and of CSI part 2. Coded bits of part 1 come first.
/// Threads: any number may call one object at once, each with an executor of its own.
class pucch_encoder {
 public:
  pucch_encoder(const pucch_config& config, const pucch_shape& shape);
  /// Queues: bits [occasions, bits] to coded bits [occasions, E].
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;

 private:
  struct part {
    std::size_t bits = 0, coded_bits = 0;
    std::optional<short_block_encoder> short_block = {};
    std::optional<polar_encoder> polar = {};
  };
  std::vector<part> parts_;
};

/// Makes PUCCH.
///   wb::pucch_generator generator({.format = 2, .prbs = 4, .bits = 11});
///   generator.run(exec, bits, {3, 4}, values);   // of slots 3 and 4
/// Threads: any number may call one object at once, each with an executor of its own.
class pucch_generator {
 public:
  /// Throws argument_error.
  explicit pucch_generator(const pucch_config& config);
  const pucch_config& config() const noexcept { return config_; }
  const pucch_shape& shape() const noexcept { return shape_; }
  /// Bits [occasions, shape().bits] to resource elements [occasions, values()], element 12 PRBs symbol +
  /// subcarrier of the PRBs of the symbol's hop. With `scheduling_request` the last bit of formats 0 and 1 is
  /// the request; without any other bit and without the request nothing is sent. `slots` are numbers in the
  /// frame, one for each occasion. Waits for the executor before it queues. Throws argument_error ("slots")
  /// and shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, const std::vector<int>& slots,
           view<std::complex<float>> values) const;

 private:
  pucch_config config_;
  pucch_shape shape_;
  std::optional<pucch_encoder> encoder_;
  resident<cx_pair> reference_, units_, codes_, candidates_;
  resident<std::int32_t> kinds_, shifts_, order_;
  resident<float> signs_;
  kept_workspace workspace_;
};

/// Outputs without data are not written.
struct pucch_output {
  view<std::uint8_t> bits = {};           // [occasions, shape().bits]; 0 where nothing is detected
  view<std::uint8_t> detected = {};       // [occasions, 1] the message, or part 1 of it
  view<std::uint8_t> csi2_detected = {};  // [occasions, 1] CSI part 2; 0 without csi2_bits
  view<float> metric = {};  // [occasions, 1] share of the energy, 0..1; of part 1 if there are two
  view<float> snr_db = {};  // [occasions, 1] of a resource element, -40..60; 0 where nothing is detected
  view<std::uint8_t> status = {};  // [occasions, 1] status_erased
};

/// Detects and decodes PUCCH.
///   wb::pucch_detector detector({.format = 2, .prbs = 4, .bits = 11, .antennas = 2});
///   detector.run(exec, values, slots, {.bits = bits, .detected = detected});
/// Magnitudes of about 1e-15 to 1e15. An occasion with a value that is not finite or larger is erased:
/// nothing is detected, all outputs are 0. Silence detects nothing. Antennas are taken to have the same
/// noise.
///
/// `false_alarm` holds in noise. Another terminal on the same resource block leaks energy if the channel
/// varies over its 12 subcarriers, and may exceed the threshold.
///
/// CPU and CUDA, all instruction sets, batch sizes and numbers of threads give the same bits.
/// Threads: any number may call one object at once, each with an executor of its own.
class pucch_detector {
 public:
  /// Throws argument_error.
  explicit pucch_detector(const pucch_config& config);
  const pucch_config& config() const noexcept { return config_; }
  const pucch_shape& shape() const noexcept { return shape_; }
  /// Of an occasion: [antennas, symbols, 12 PRBs].
  std::size_t values() const noexcept { return static_cast<std::size_t>(config_.antennas) * shape_.values(); }
  /// Of the metric of the message, or of part 1; 0 if the CRC alone bounds false alarms.
  double threshold() const noexcept { return threshold_; }
  /// Resource elements [occasions, values()], of slots in the frame. Waits for the executor before it queues.
  /// Throws argument_error ("slots") and shape_error.
  void run(executor& exec, view<const std::complex<float>> values, const std::vector<int>& slots,
           const pucch_output& out) const;

 private:
  void run_tones(executor& exec, view<const cx_pair> in, const std::int32_t* slots,
                 const pucch_output& out) const;
  void run_coded(executor& exec, view<const cx_pair> in, const std::int32_t* slots,
                 const pucch_output& out) const;

  pucch_config config_;
  pucch_shape shape_;
  double threshold_ = 0, csi2_threshold_ = 0;
  struct decoder {
    std::size_t bits = 0, coded_bits = 0;
    std::optional<short_block_decoder> short_block = {};
    std::optional<polar_decoder> polar = {};
  };
  std::vector<decoder> decoders_;         // of all bits, or of both parts
  std::optional<pucch_encoder> encoder_;  // for the metric
  pucch_equalise_args equalise_;          // without data
  resident<cx_pair> reference_, units_, codes_, candidates_, analysis_, synthesis_;
  resident<std::int32_t> shifts_, messages_, symbols_, order_, shares_;
  resident<float> signs_, filters_;
  kept_workspace workspace_, slots_;
};

}  // namespace wb
