#pragma once
// Effective SINR: a code block is sent on elements of SINRs g_e with weights w_e. On a flat channel of the
// effective SINR it has the same error rate.
//   eesm:   g = -beta ln(sum_e w_e exp(-g_e / beta) / sum_e w_e)
//           (K. Brueninghaus et al., "Link performance models for system level simulations of broadband radio
//           access systems", PIMRC 2005)
//   miesm:  g = beta I^-1(sum_e w_e I_e(g_e / beta) Q / sum_e w_e Q_e), I of single bits (BICM)
//   rbir:   the same, I of symbols. I / Q is the received bit information rate (IEEE 802.16m-08/004r5, 4.3).
//
// I_e and Q_e are the information and the bits of the constellation of element e, I and Q those of `qam`. See
// mutual_information.hpp.
//
// No SINR over- or underflows. Means are taken of ln I, and of ln(Q - I) where they come close to Q, each
// relative to its largest term: I is never clamped before it is inverted, and equal SINRs give this SINR at
// any level. Below -50 dB I, and above 80 dB ln(Q - I), are taken to be proportional to the SINR. EESM
// subtracts the least SINR first. SINRs are limited to -300..300 dB (0 of a linear scale is -300 dB).
//
// Cost: an element takes about 60 operations, two exponentials among them; with eesm about 30.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/modem/effective_sinr/mutual_information.hpp>

namespace wb {

enum class effective_method { eesm, miesm, rbir };

struct effective_sinr_config {
  effective_method method = effective_method::miesm;
  int qam = 4;               // points: 2, 4, 16, 64, 256, 1024 or 4096; eesm does not use it
  double beta = 1;           // of 1e-3..1e5, linear
  bool decibel = false;      // SINRs are in dB, those in and those out; else linear
  std::vector<int> mixed{};  // points of each element's constellation; empty: `qam` for all. Not with eesm
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<effective_sinr_config>>& effective_sinr_settings();

struct effective_sinr_input {
  view<const float> sinr = {};    // [items, elements]
  view<const float> weight = {};  // [items, elements], item_stride 0 to share; no data: all equal
};

/// Effective SINRs of a batch, float32 within 1e-4 dB of the formula. An item is erased, with NaN and
/// status_erased, if a SINR of a weight above 0 is NaN, infinite or, on a linear scale, negative. The same
/// holds if a weight is negative, NaN or infinite, or if all weights are 0. SINRs of weight 0 are not used.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class effective_sinr {
 public:
  /// Throws argument_error ("method", "qam", "beta", "decibel", "mixed").
  explicit effective_sinr(const effective_sinr_config& config);
  /// sinr of 1 or more elements, as many as `mixed` has if that has any. Outputs without data are not
  /// computed.
  void run(executor& exec, const effective_sinr_input& in, view<float> effective,
           view<std::uint8_t> status = {}) const;
  const effective_sinr_config& config() const noexcept { return config_; }

 private:
  effective_sinr_config config_;
  resident<float> tables_;          // of the constellations, that of `qam` first
  resident<std::int32_t> offsets_;  // [elements] of `mixed`: where an element's table begins
  resident<float> bits_;            // [elements] of `mixed`: Q_e / Q
};

}  // namespace wb
