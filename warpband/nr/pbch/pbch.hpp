#pragma once
// The physical broadcast channel (PBCH) of 5G NR: encoder and decoder of SS/PBCH blocks, 3GPP TS 38.211
// §7.3.3, §7.4.1.4 and §7.4.3, TS 38.212 §7.1.
//
//   y(l, k) = h(k) exp(i phi (l - 2)) x(l, k) + noise     symbols l = 0..3, subcarriers k = 0..239
//
// 1. The DMRS of symbols 1 to 3 are correlated with the cell's eight sequences at 65 delays. The powers of
//    the symbols are added, so that their phases do not matter. A sequence's score is the largest sum, and
//    what sums have above 3.3 times that of noise.
// 2. The phase advance phi comes from the taps of neighbouring symbols. Those of symbol 2 include the SSS.
// 3. The symbols' mean at every fourth subcarrier gives 37 taps h_j, and the noise N0 comes from the
//    differences between symbols. Each tap is weighted with max(0, 1 - 3 v / |h_j|^2), v its noise: an
//    empirical Wiener filter, which leaves out taps of noise. The taps give h(k).
// 4. LLRs 2 sqrt 2 Re(conj(h) y) / N0 are descrambled and decoded by a CRC-aided list decoder (polar.hpp).
// 5. The payload is descrambled and split into its fields (pbch_content.hpp).
//
// Delays are within 16 samples of 256 a symbol of the FFT window's start, paths within 18 of the strongest.
// phi may be any value: a frequency offset below half a subcarrier or a wrong carrier frequency of TS 38.211
// §5.4 does not stop the decoder. Offsets beyond about 2 % of a subcarrier make subcarriers interfere.
//
// Range: magnitudes up to 1e15, mean power above 1e-32. Cost: about 0.7 Mflop a block and the list decoder.
// Paper: the weights follow W. James, C. Stein, "Estimation with quadratic loss", Proc. 4th Berkeley Symp.,
// 1961. Tests hold the encoder against the standard in double and against other programs.
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/polar/polar.hpp>
#include <warpband/nr/pbch/pbch_content.hpp>

namespace wb {

struct pbch_encoder_config {
  int l_max = 8;  // candidate blocks of a half frame: 4, 8, 64
  bool operator==(const pbch_encoder_config&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<pbch_encoder_config>>& pbch_encoder_settings();

/// Makes SS/PBCH blocks: PSS, SSS, PBCH and its DMRS, all of amplitude 1.
/// Threads: any number may call one object at once, each with an executor of its own.
class pbch_encoder {
 public:
  /// Throws argument_error.
  explicit pbch_encoder(const pbch_encoder_config& config);
  const pbch_encoder_config& config() const noexcept { return config_; }
  /// Writes grids [blocks, 960], element 240 symbol + subcarrier, of contents and cells 0..1007, one for each
  /// block. Waits for the executor. Throws argument_error and shape_error.
  void run(executor& exec, const std::vector<nr_ssb_content>& contents, const std::vector<int>& cell_ids,
           view<std::complex<float>> grids) const;

 private:
  pbch_encoder_config config_;
  polar_encoder coder_;
  resident<float> pss_;
  kept_workspace workspace_;
};

struct pbch_decoder_config {
  int l_max = 8;       // candidate blocks of a half frame: 4, 8, 64
  int list_size = 8;   // paths of the polar decoder: 1, 2, 4, 8, 16, 32
  int hypotheses = 1;  // DMRS sequences, the likeliest first, with which a block is decoded: 1..8
  bool operator==(const pbch_decoder_config&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<pbch_decoder_config>>& pbch_decoder_settings();

/// What became of a block.
struct nr_pbch_block {
  bool ok = false;      // the CRC holds and the payload is a MIB that agrees with the DMRS
  bool erased = false;  // a value that is not finite or above 1e15, or silence
  std::optional<nr_ssb_content> content = std::nullopt;  // if ok
  pbch_payload payload{};                                // a_0..a_31; zeros if the CRC fails
  int dmrs_index = 0;        // the sequence of the CRC's success, else the likeliest
  double snr_db = -40;       // of a resource element: -40 to 60; -40 if erased
  double cfo_spacings = 0;   // residual frequency offset in subcarrier spacings, -0.467 to 0.467
  double delay_symbols = 0;  // of the strongest path, behind the FFT windows, in useful symbol durations
};

/// Decodes SS/PBCH blocks.
///
/// P(ok) of noise is at most hypotheses list_size 2^-25 for each block: CRC of 24 bits, and the first bit of
/// a MIB is 0.
///
/// CPU and CUDA, all instruction sets, batch sizes and numbers of threads give the same bits.
/// Threads: any number may call one object at once, each with an executor of its own.
class pbch_decoder {
 public:
  /// Throws argument_error.
  explicit pbch_decoder(const pbch_decoder_config& config);
  const pbch_decoder_config& config() const noexcept { return config_; }
  /// Decodes grids [blocks, 960], element 240 symbol + subcarrier, of cells 0..1007. Waits for the executor.
  /// Throws argument_error and shape_error.
  std::vector<nr_pbch_block> run(executor& exec, view<const std::complex<float>> grids,
                                 const std::vector<int>& cell_ids) const;

 private:
  pbch_decoder_config config_;
  polar_decoder coder_;
  resident<float> circle_;
  kept_workspace workspace_;
};

}  // namespace wb
