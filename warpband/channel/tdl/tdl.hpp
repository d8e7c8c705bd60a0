#pragma once
// Tapped-delay-line channels on a grid of OFDM resource elements. Between a transmit and a receive antenna
//
//   H(t, f) = sum over taps l of  sqrt(P_l) g_l(t) exp(-2 pi i f tau_l)
//
// with the delays tau and powers P of a profile, sum of P = 1. f counts from the lowest subcarrier on (a free
// carrier is not left out), t from the first symbol of a block on. Within a symbol H does not change. Blocks
// and taps are independent, and pairs of antennas unless they are correlated.
//
// A Rayleigh tap is a sum of M sinusoids, each with a random complex weight and a random angle of arrival:
//
//   g(t) = 1 / sqrt(M)  sum over n = 0 .. M - 1 of  a_n exp(2 pi i fD t cos(2 pi (n + u_n) / M))
//
// a_n ~ CN(0, 1), u_n uniform in [0, 1). As in Y. R. Zheng and C. Xiao, "Simulation models with correct
// statistical properties for Rayleigh fading channels", IEEE Trans. Commun. 51, 2003, phases and angles are
// random, with an angle in every M-th of the circle. So over many blocks E g(t) g*(t + T) = J0(2 pi fD T)
// exactly (Clarke's model), for any M. Their amplitudes are constant. Here they are Rayleigh: g(t) is exactly
// complex normal at every t, with deep fades as frequent as they should be. The price is that the mean power
// of one long block is not 1 but 1 +- 1/sqrt(M): statistics are those over blocks.
//
// The Rician first tap, with K: sqrt(1 / (K + 1)) g(t) + sqrt(K / (K + 1)) exp(i (phi + 2 pi 0.7 fD t)), with
// the Doppler shift of TR 38.901 clause 7.7.2. phi is uniform, and another one for each pair of antennas.
//
// Antennas may be correlated (spatial.hpp): then the g of all pairs of antennas are L times independent ones,
// L L^H their correlation matrix, of Rayleigh taps alone.
//
// At fD = 0 a block has one g per tap and pair, CN(0, 1), and all its symbols the same H.
//
// When to use. For links of one terminal at a time, with delay spread and Doppler. Users in directions of
// their own, seen by an array: channel/cdl.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpband/channel/random.hpp>
#include <warpband/channel/tdl/profile.hpp>
#include <warpband/channel/tdl/spatial.hpp>
#include <warpband/channel/tdl/tdl_args.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/ofdm/grid.hpp>

namespace wb {

struct tdl_config {
  tdl_profile profile;
  ofdm_grid grid;                    // of a block; its cyclic prefix must cover the longest delay
  double doppler_hz = 0;             // fD, the largest Doppler shift: 0 up to 1000 turns in a block
  int sinusoids = 32;                // M: 8..256
  int streams = 1, rx_antennas = 1;  // 1..8, 1..16
  spatial_config spatial = {};       // correlation of the antennas; only low with a Rician tap
  bool operator==(const tdl_config&) const = default;
};

/// Throws argument_error for what is not allowed.
void check(const tdl_config& config);
/// Its settings but for the profile, `tdl_profile_settings`: names, what is allowed, what they mean.
const std::vector<setting_of<tdl_config>>& tdl_settings();

/// Safe to use from several threads. Random numbers are keyed by seed, point, the block's index and, within
/// it, antennas and tap: more antennas leave the channels between the first ones as they are, unless they are
/// correlated.
class tdl_channel {
 public:
  /// Throws argument_error for what is not allowed.
  explicit tdl_channel(const tdl_config& config);

  /// Queues: H of whole blocks, [blocks * symbols * subcarriers, rx_antennas * streams]: the uses of a block
  /// lie symbol after symbol, of each symbol the subcarriers. Element r * streams + s is the gain from stream
  /// s to antenna r, as detectors take it. `range.first` is the index of the first block. Throws shape_error.
  void response(executor& exec, view<std::complex<float>> channel, random_range range) const;

  /// The same, and sends [uses, streams] to [uses, rx_antennas]: out = H in. `in` and `out` must not overlap,
  /// but with one antenna on each side may be the same.
  void apply(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
             view<std::complex<float>> channel, random_range range) const;

  const tdl_config& config() const noexcept { return config_; }

 private:
  tdl_args arguments(executor& exec, view<std::complex<float>> channel, random_range range) const;

  tdl_config config_;
  resident<float> amplitudes_;       // of every path the fading part's, then the fixed part's
  resident<float> spatial_;          // L, row after row; empty: the identity
  resident<std::uint32_t> numbers_;  // of every path: which random numbers it has
  resident<float> rotations_;  // exp(-2 pi i f tau): of every tap the real parts, then the imaginary ones
};

}  // namespace wb
