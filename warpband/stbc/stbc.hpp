#pragma once
// Space-time block codes of two transmit antennas and two slots: Y = H S + N, with n ~ CN(0, N0) in each
// entry. S is 2 x 2, antennas by slots, made of symbols x1, x2, ... of Gray QAM with Es = 1 (TS 38.211 §5.1):
//
//   Alamouti      A(x1, x2) = [[x1, -x2*], [x2, x1*]]
//   pair          (A(x1, x2) + V A(x3, x4)) / sqrt 2, V unitary; the Silver code is one
//   Golden        [[a (x1 + t x2), a (x3 + t x4)], [i a' (x3 + t' x4), a' (x1 + t' x2)]] / sqrt 5
//                 with t = (1 + sqrt 5) / 2, t' = 1 - t, a = 1 + i - i t, a' = 1 + i - i t'
//
// so that every antenna sends unit mean energy a slot. Two codes of LTE (TS 36.211 §6.3.4.3) use neighbouring
// subcarriers instead of slots, each with an H of its own:
//
//   SFBC          [[x1, x2], [-x2*, x1*]]
//   FSTD          sqrt 2 [[x1, x2, 0, 0], [0, 0, x3, x4], [-x2*, x1*, 0, 0], [0, 0, -x4*, x3*]]
//
// SFBC is Alamouti(x1, -x2*). FSTD is SFBC of antennas 1 and 3 on two subcarriers, and of antennas 2 and 4 on
// the next two. LTE sends 1 / sqrt 2 and 1 / 2 of these amplitudes: unit energy of all antennas. Alamouti,
// IEEE JSAC 16(8), 1998; Hollanti et al., IEEE ITW 2008 (Silver); Belfiore, Rekaya, Viterbo, IEEE Trans. IT
// 51(4), 2005 (Golden).
//
// Decoding is maximum likelihood by conditional optimisation (Bollapalli et al., "Highly parallel decoding of
// space-time codes on graphics processing units", 2009): for every (x3, x4) the best (x1, x2) follows
// directly. docs/bollapalli.md has the method and its operations. With a-priori LLRs (docs/iterative.md) each
// bit that contradicts its LLR adds that to the metric; prior_body.hpp says why the search stays exact. The
// exhaustive search tries every codeword, and has the same results up to rounding. Codes over subcarriers are
// decoded by linear combining: where the two H of a pair of subcarriers differ, the interference of its
// symbols counts as noise.
#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

enum class space_time_kind { alamouti, pair, golden, sfbc, fstd };

/// A code: which, and for a pair its matrix V.
/// Threads: any number may call one object at once, each with an executor of its own.
class space_time_code {
 public:
  using matrix = std::array<std::complex<double>, 4>;  // row after row

  static space_time_code alamouti() { return {space_time_kind::alamouti, {}}; }
  static space_time_code silver();
  static space_time_code golden() { return {space_time_kind::golden, {}}; }
  /// Over subcarriers, of two antennas.
  static space_time_code sfbc() { return {space_time_kind::sfbc, {}}; }
  /// The same of four antennas.
  static space_time_code fstd() { return {space_time_kind::fstd, {}}; }
  /// Two Alamouti blocks, the second one turned by V. Throws argument_error for a V that is not unitary: an
  /// entry of V^H V is more than 1e-6 from that of the identity.
  static space_time_code pair(const matrix& v);

  space_time_kind kind() const noexcept { return kind_; }
  /// V of a pair; zeros for other codes.
  const matrix& v() const noexcept { return v_; }
  /// Symbols of a codeword: 2 for Alamouti and SFBC, else 4.
  int symbols() const noexcept {
    return kind_ == space_time_kind::alamouti || kind_ == space_time_kind::sfbc ? 2 : 4;
  }
  /// 4 for FSTD, else 2.
  int tx_antennas() const noexcept { return kind_ == space_time_kind::fstd ? 4 : 2; }
  /// Slots or subcarriers of a codeword.
  int uses() const noexcept { return tx_antennas(); }
  bool over_subcarriers() const noexcept {
    return kind_ == space_time_kind::sfbc || kind_ == space_time_kind::fstd;
  }
  /// H of a codeword: one for all slots, or one for each subcarrier.
  int channels() const noexcept { return over_subcarriers() ? uses() : 1; }

 private:
  space_time_code(space_time_kind kind, const matrix& v) : kind_(kind), v_(v) {}
  space_time_kind kind_;
  matrix v_;
};

const char* name_of(
    const space_time_code&) noexcept;  // "alamouti", "silver", "golden", "pair", "sfbc", "fstd"

/// Bits or symbols to codewords. A codeword is [slot, antenna]: element tx_antennas * slot + antenna, so that
/// a batch of them is one of as many uses of a channel with tx_antennas streams. Subcarriers take the place
/// of slots. Threads: any number may call one object at once, each with an executor of its own.
class stbc_encoder {
 public:
  /// Throws argument_error: qam 4, 16, 64 or 256.
  stbc_encoder(const space_time_code& code, int qam);
  /// bits [codewords, bits_per_codeword()], 0 or 1, symbol after symbol, each in 3GPP order; out [codewords,
  /// uses * tx_antennas]. Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, view<std::complex<float>> out) const;
  /// symbols [codewords, code.symbols()], any finite numbers; out [codewords, uses * tx_antennas]. Throws
  /// shape_error.
  void run_symbols(executor& exec, view<const std::complex<float>> symbols,
                   view<std::complex<float>> out) const;
  std::size_t bits_per_codeword() const noexcept {
    return static_cast<std::size_t>(2 * pam_bits_ * code_.symbols());
  }

 private:
  space_time_code code_;
  int pam_bits_;
};

/// How (x1, x2) of the Golden code are found for each (x3, x4).
enum class golden_search {
  exact,    // the real and the imaginary part apart, each by all levels of x2 and a slice of x1: O(M^2.5), ML
  slicing,  // a slice of one, then of the other, in both orders: O(M^2), nearly ML
};

/// Which codewords are tried.
enum class stbc_method {
  conditional,  // those that are best for one pair of symbols
  exhaustive,   // all, at most 65536, whatever the code's structure: a reference for the other method
};

struct stbc_config {
  space_time_code code = space_time_code::silver();
  int qam = 4;          // 4, 16, 64, 256
  int rx_antennas = 2;  // 1..4
  golden_search search = golden_search::exact;
  stbc_method method = stbc_method::conditional;
  /// LLRs are limited to +-llr_clip: above 0 and at most 1e6. Absent: no limit.
  std::optional<float> llr_clip = {};
  bool extrinsic = false;  // the prior is taken off the LLRs again
};

/// Throws argument_error: qam 4, 16, 64 or 256; rx_antennas 1..4; llr_clip; slicing for another code than
/// Golden; extrinsic with slicing, which takes no a-priori LLRs. Exhaustive search is refused with slicing,
/// with codes over subcarriers and for more than 65536 codewords, which four symbols of 64-QAM have.
void check(const stbc_config& config);
/// Whether decoders of a configuration take a-priori LLRs: all but the slicing one.
bool takes_prior(const stbc_config& config) noexcept;
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<stbc_config>>& stbc_settings();

struct stbc_input {
  /// H, row after row: element 2 * r + t is the gain from antenna t to receive antenna r.
  /// [ceil(codewords / codewords_per_channel), 2 * rx_antennas]. Of a code over subcarriers one H after the
  /// other: element (subcarrier * rx_antennas + r) * tx_antennas + t.
  view<const std::complex<float>> channel = {};
  std::size_t codewords_per_channel = 1;  // consecutive codewords that share an H
  /// Y: [codewords, uses * rx_antennas], element rx_antennas * slot + antenna.
  view<const std::complex<float>> received = {};
  view<const float> noise_var = {};  // N0 per complex entry: [codewords, 1], item_stride 0 to share one
  /// A-priori LLRs [codewords, bits_per_codeword]; no data for none. Those beyond +-1e6 count as +-1e6. Only
  /// where `takes_prior`.
  view<const float> prior = {};
};

/// Outputs without data are not computed; without `llr` and `prior` the search is the cheaper one for
/// decisions alone.
struct stbc_output {
  /// [codewords, bits_per_codeword] max-log ln P(b = 0) - ln P(b = 1): the least |Y - H S|^2 / N0 with b = 1
  /// minus the least with b = 0, over all codewords. With a prior the costs of a codeword's bits are added to
  /// its distance, so that LLRs are a-posteriori. `extrinsic` takes the bit's own a-priori LLR off.
  view<float> llr = {};
  /// [codewords, bits_per_codeword] of the most likely codeword. With `llr` or a prior a bit is 1 where the
  /// LLR is negative. So if two codewords are equally likely but for rounding, each bit may be either's.
  view<std::uint8_t> bits = {};
  view<std::uint8_t> status = {};  // [codewords, 1] status_erased
};

/// Maximum-likelihood decoder, with a prior a maximum a-posteriori one. A codeword is erased, with LLRs of 0,
/// bits of 0 and status_erased, if there is NaN or Inf in Y, H or the prior. It is also erased if N0 or |H|^2
/// is outside 1e-30..1e30, or if |Y|^2 is above 1e30 or 1e10 |H|^2. What an LLR has below about 1e-7 (|Y|^2 +
/// |H|^2) / N0 is lost in float32. Threads: any number may call one object at once, each with an executor of
/// its own.
class stbc_decoder {
 public:
  /// Throws argument_error as `check` does.
  explicit stbc_decoder(const stbc_config& config);
  /// Queues the codewords of in.received on an executor. Throws shape_error where shapes do not match, and
  /// argument_error for a prior that the decoder does not take.
  void run(executor& exec, const stbc_input& in, const stbc_output& out) const;
  const stbc_config& config() const noexcept { return config_; }
  /// LLRs of a codeword: code.symbols() * log2(qam).
  std::size_t bits_per_codeword() const noexcept {
    return static_cast<std::size_t>(2 * pam_bits_ * config_.code.symbols());
  }

 private:
  stbc_config config_;
  int pam_bits_;
};

}  // namespace wb
