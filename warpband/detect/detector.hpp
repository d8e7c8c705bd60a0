#pragma once
// Soft MIMO detection: y = H s + n, with n ~ CN(0, N0) in each entry, s of `streams` symbols of Gray QAM with
// Es = 1 (TS 38.211 §5.1), H of `rx_antennas` x `streams`. One face for all detectors; their classes lie in
// the rooms of detect/, and `make_detector` makes them by name.
//
// LLRs are ln P(b = 0) - ln P(b = 1), max-log: the least |y - H s|^2 / N0 over the candidates with b = 1,
// minus the same with b = 0. Which candidates there are is what distinguishes the searches. The linear
// detectors, pic and ep estimate each symbol by itself; LLRs are those of its estimate.
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace wb {

/// How a search sorts the streams of each use by its channel. The order is then, of columns h_k of H:
enum class stream_sort {
  none,            // the caller's
  norm,            // by falling |h_k|
  norm_ascending,  // by rising |h_k|
  sqrd,  // as a sorted QR decomposition takes them: each the one with the least part outside the span
         // of those before it (Wübben et al., Electronics Letters 37(22), 2001)
};

struct detector_input {
  view<const std::complex<float>> received = {};  // y: [uses, rx_antennas]
  /// H, row after row: element r * streams + s is the gain from stream s to antenna r.
  /// [ceil(uses / uses_per_channel), rx_antennas * streams]
  view<const std::complex<float>> channel = {};
  std::size_t uses_per_channel = 1;  // consecutive uses that share an H
  view<const float> noise_var = {};  // N0 per complex entry: [uses, 1], item_stride 0 to share one
  /// A-priori LLRs [uses, bits_per_use]; no data for none. Those beyond +-1e6 count as +-1e6. Only where
  /// `takes_prior`.
  view<const float> prior = {};
};

/// Outputs without data are not computed. Bits of a use lie stream after stream, each symbol's in 3GPP order.
struct detector_output {
  view<float> llr = {};            // [uses, bits_per_use]
  view<std::uint8_t> bits = {};    // [uses, bits_per_use] hard decisions, 1 where the LLR is negative
  view<std::uint8_t> status = {};  // [uses, 1] status_erased
};

/// A detector for one number of streams, antennas and points. A use is erased, with LLRs of 0, bits of 0 and
/// status_erased, where there is NaN or Inf in y, H or the prior; N0 is outside 1e-30..1e30; |H|^2 (the sum
/// over its entries) is outside 1e-30..1e30; |y|^2 is above 1e30 or above 1e10 |H|^2; or H is singular (a
/// squared pivot of its QR is below 1e-12 of the trace of H^H H).
///
/// Distances are float32: what an LLR has below about 1e-7 (|y|^2 + |H|^2) / N0 is lost. One that is smaller,
/// as of a sign where y is almost 0, may be 0 without status.
class detector {
 public:
  virtual ~detector() = default;
  /// Queues the uses of in.received on an executor. Throws shape_error where shapes do not match, and
  /// argument_error for a prior that the detector does not take.
  void run(executor& exec, const detector_input& in, const detector_output& out) const;

  int streams() const noexcept { return streams_; }
  int rx_antennas() const noexcept { return rx_antennas_; }
  int qam() const noexcept { return 1 << 2 * pam_bits_; }
  /// LLRs of a use: streams * log2(qam).
  std::size_t bits_per_use() const noexcept { return static_cast<std::size_t>(2 * pam_bits_ * streams_); }
  /// Whether it takes a-priori LLRs; its output is then a-posteriori, or extrinsic where so configured.
  virtual bool takes_prior() const noexcept { return false; }

 protected:
  /// Throws argument_error: streams 1..most_streams, rx_antennas streams..16, qam 4, 16, 64 or 256, and an
  /// order that is neither empty nor has each of 0 .. streams - 1 once. No order of more than 8 streams.
  /// No order beside a sort.
  detector(int streams, int rx_antennas, int qam, const std::vector<int>& order = {}, int most_streams = 8,
           stream_sort sort = stream_sort::none);
  /// The call after its shapes are checked.
  virtual void start(executor& exec, std::size_t uses, struct detect_args& args) const = 0;

 private:
  int streams_, rx_antennas_, pam_bits_;
  std::uint32_t order_;  // as detect_args has it
  int sort_;
};

enum class detector_type {
  ml,     // exhaustive max-log
  mf,     // matched filter
  zf,     // zero forcing
  mmse,   // linear minimum mean square error
  ot,     // one-pass trellis
  mtt,    // multi-pass trellis traversal
  kbest,  // K-best
  nway,   // N-way parallel SSFE
  pic,    // MMSE with parallel interference cancellation
  ep,     // expectation propagation
};
/// Streams that pic and ep take; the other detectors take 8.
inline constexpr int most_soft_streams = 16;
/// No limit to the LLRs.
inline constexpr float no_clip = std::numeric_limits<float>::infinity();

/// A detector by name. Fields that its type does not have must keep their initial values.
struct detector_config {
  detector_type type = detector_type::mmse;
  int streams = 2;      // 1..8, with pic and ep to 16
  int rx_antennas = 2;  // streams..16
  int qam = 4;          // 4, 16, 64, 256
  /// LLRs are limited to +-llr_clip, which also stands for a missing hypothesis: above 0 and at most 1e6, or
  /// `no_clip` where no hypothesis can be missing: all but ot, kbest, and nway with fewer ways than streams.
  /// Nothing: no_clip for those, else 8.
  std::optional<float> llr_clip;
  int ways = 0;              // nway: passes, 1..streams; 0 is streams
  int survivors = 64;        // kbest: K, 1..4096
  bool real_valued = false;  // kbest: a tree of real dimensions
  bool extrinsic = false;    // the prior is taken off the output again
  /// ot, mtt, kbest and nway: the order of the streams in the search, each of 0 .. streams - 1 once; empty
  /// for 0, 1, 2, ... The result is, bit for bit, that of an H whose column k is column order[k] of the given
  /// one, with its LLRs and priors back in their places. ot, mtt and kbest begin with the last stream of the
  /// order (top of the tree, first stage of the trellis) and go down to the first. Pass p of nway has
  /// order[p] on top, below it order[p - 1], order[p - 2], ... order[p + 1] (mod streams). The other
  /// detectors look at all streams alike and take none. On a GPU ot and mtt are several times slower with an
  /// order of more than two streams: give them H with its columns in that order where speed matters.
  std::vector<int> order = {};
  /// ot, mtt, kbest and nway: the order sorted for each use by its H, instead of `order`. Among equals the
  /// stream of the lower number comes first. K-best searches best with sqrd (the strongest stream that is
  /// left on top of the tree); norm is what Sionna's K-best has (the weakest on top). On a GPU ot, mtt and
  /// nway are several times slower with it.
  stream_sort sort = stream_sort::none;
  demap_algorithm demapper = demap_algorithm::max_log;  // pic, ep: LLRs of a symbol from its estimate
  int iterations = 10;                                  // ep: 1..100
  float damping = 0.9f;                                 // ep: share of the old parameters, 0..0.999
  /// ep: variance of the symbols at the start, in units of that of the a-priori probabilities, 0.1..10.
  /// Nothing: P / (P - 1) with P = sqrt(qam) amplitudes of a dimension.
  std::optional<float> start_variance = {};
};

/// Whether detectors of this type take a-priori LLRs.
bool takes_prior(detector_type type) noexcept;

/// The configuration with `ways` and `llr_clip` chosen, and without an order that is 0, 1, 2, ... Throws
/// argument_error for what make_detector does not allow.
detector_config completed(const detector_config& config);
/// Whether a detector takes an order of streams.
bool takes_order(detector_type type) noexcept;
/// "2,0,1"
std::string text_of_order(const std::vector<int>& order);
/// Throws argument_error for what is not allowed.
std::unique_ptr<detector> make_detector(const detector_config& config);

/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<detector_config>>& detector_settings();

/// "ml", "mf", "zf", "mmse", "ot", "mtt", "kbest", "nway", "pic", "ep".
const char* name_of(detector_type type) noexcept;
/// In any case, also with hyphens: "K-best".
std::optional<detector_type> detector_named(const std::string& name) noexcept;
/// All names, in the order of the enumeration.
const std::vector<std::string>& detector_names();

}  // namespace wb
