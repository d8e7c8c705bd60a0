#pragma once
// Cell search of 5G NR: SS/PBCH blocks in samples, by PSS and SSS, over all 1008 cells, all timings and a
// range of carrier frequency offsets (CFO).
//
//   y_n = h s_i(n - t) exp(2 pi i f n) + noise     PSS of N_ID2 in symbol 0, SSS of N_ID1 in symbol 2
//
// 1. Samples are shifted so that the signals are centred, filtered by a root-raised-cosine filter and
//    decimated to 128 samples for each subcarrier spacing. White noise stays white.
// 2. Each offset, in half samples, is correlated with the three PSS at frequencies at most half a subcarrier
//    apart: rho_p^2 = |sum conj(x) y|^2 / (sum |x|^2 sum |y|^2). The greatest of 64 neighbours are
//    candidates.
// 3. A candidate's fine frequency is the phase advance between the halves of the PSS. The PSS gives the
//    channel, of taps within 8 samples of the strongest path.
// 4. With that channel the SSS of symbol 2 is correlated with all 336: rho_s^2, normalised alike.
// 5. metric = -126 ln((1 - rho_p^2)(1 - rho_s^2)). In white Gaussian noise 1 - rho^2 of 127 values has the
//    distribution function x^126. Each of the two terms is then exponential with mean 1, and
//    P(metric > x) = (1 + x) exp(-x). The threshold makes the union bound over all offsets, frequencies and
//    cells false_alarm for each row. It does not depend on the level of the noise.
//
// Range: magnitudes of about 1e-12 to 1e15. Samples that are not finite or larger count as erased and are
// taken as 0. Silence finds nothing. A block is found if all of its PSS and SSS are in the row: let rows of a
// stream overlap by block_samples(). Steps 2 and 4 are FFTs of 256 values with overlap-save and Hadamard
// transforms. A correlation with less than 1e-9 of the energy of its 256 samples counts less, as their
// rounding errors are in it. Cost: filter, and about 6 x hypotheses x 100 operations a sample at the search
// rate. Papers: A. Omri et al., "Synchronization procedure in 5G NR systems", IEEE
// Access 7, 2019; P. Moose, "A technique for orthogonal frequency division multiplexing frequency offset
// correction", IEEE Trans. Commun. 42, 1994. Tests hold each step against sums in double.
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/nr/sync/ssb.hpp>

namespace wb {

struct cell_search_config {
  double sample_rate_hz = 7.68e6;  // a multiple, 1 to 64, of 128 spacings
  int spacing_khz = 15;            // of the SS/PBCH block: 15, 30, 120, 240
  double offset_hz = 0;            // of the block's subcarrier 120 from the centre of the samples
  double max_cfo_hz = 1e4;         // 0 to four spacings
  // Radio frequency of the samples' centre, if the transmitter refers phases to it; 0: it does not; absent:
  // unknown
  std::optional<double> carrier_hz = std::nullopt;
  double false_alarm = 1e-4;  // probability that noise alone gives a block in a row, 1e-12 to 0.1
  int candidates = 16;        // of each N_ID2 and row, whose SSS is looked at: 1 to 4096
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<cell_search_config>>& cell_search_settings();
/// Throws argument_error for what is not allowed, a block outside of the sampled band among it.
void check(const cell_search_config& config);

/// An SS/PBCH block that was found.
struct nr_found_block {
  std::size_t row = 0;      // of the samples
  int cell_id = 0;          // 0..1007
  double first_sample = 0;  // where the prefix of its first symbol begins, with fraction
  double cfo_hz = 0;        // received minus nominal carrier frequency
  double snr_db = 0;        // of a resource element with PSS or SSS: -40 to 60
  double metric = 0;        // step 5
};
struct cell_search_result {
  std::vector<nr_found_block> blocks;  // row by row, the greatest metric first
  std::vector<std::int64_t> erased;    // of each row: samples that were not finite or above 1e15
};

/// Threads: any number may call one object at once, each with an executor of its own.
class cell_search {
 public:
  /// Throws argument_error.
  explicit cell_search(const cell_search_config& config);
  const cell_search_config& config() const noexcept { return config_; }
  /// Samples that a block needs, from the prefix of its PSS to the end of its SSS.
  std::size_t block_samples() const noexcept;
  /// The detection threshold of the metric for rows of `samples` samples.
  double threshold(std::size_t samples) const noexcept;
  /// Searches samples [rows, n], n up to 2^28. Several antennas are rows. Waits for the executor. Rows too
  /// short for a block have none. Throws shape_error.
  cell_search_result run(executor& exec, view<const std::complex<float>> samples) const;

 private:
  double frequency(int hypothesis) const noexcept;  // in subcarrier spacings
  std::size_t offsets(std::size_t samples) const noexcept;

  cell_search_config config_;
  int decimation_ = 1, hypotheses_ = 1;
  std::uint32_t turn_ = 0;
  resident<cx_pair> taps_;
  resident<float> replicas_, times_, pss_, first_, circle_;
  resident<std::int32_t> states_, masks_;
  resident<std::uint32_t> turns_;
  kept_workspace workspace_;
};

}  // namespace wb
