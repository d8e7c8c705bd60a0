#pragma once
// Soft MIMO detection: y = H s + n, with n ~ CN(0, N0) in each entry. s has `streams` symbols of Gray QAM
// with Es = 1 (TS 38.211 §5.1), and H is `rx_antennas` x `streams`. `make_detector` makes a detector by the
// name of its kind (detect/detector_kind.hpp).
//
// LLRs are ln P(b = 0) - ln P(b = 1), max-log: the least |y - H s|^2 / N0 over the candidates with b = 1,
// minus the same with b = 0. Which candidates there are is what distinguishes the searches. The linear
// detectors, pic and ep estimate each symbol by itself; LLRs are those of its estimate.
#include <complex>
#include <cstdint>

#include <warpband/detect/detector_kind.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {

struct detector_input {
  /// H, row after row: element r * streams + s is the gain from stream s to antenna r.
  /// [ceil(uses / uses_per_channel), rx_antennas * streams]
  view<const std::complex<float>> channel = {};
  std::size_t uses_per_channel = 1;               // consecutive uses that share an H
  view<const std::complex<float>> received = {};  // y: [uses, rx_antennas]
  view<const float> noise_var = {};  // N0 per complex entry: [uses, 1], item_stride 0 to share one
  /// A-priori LLRs [uses, bits_per_use]; no data for none. Those beyond +-1e6 count as +-1e6. Only where
  /// `takes_prior`.
  view<const float> prior = {};
};

/// Outputs without data are not computed. Bits of a use lie stream after stream, each symbol's in 3GPP order.
struct detector_output {
  view<float> llr = {};             // [uses, bits_per_use]
  view<std::uint8_t> bits = {};     // [uses, bits_per_use] hard decisions, 1 where the LLR is negative
  view<std::uint8_t> status = {};   // [uses, 1] status_erased
  view<std::int32_t> visited = {};  // [uses, 1] nodes that the search visited. Only where `counts_visited`
};

/// A detector for one number of streams, antennas and points. A use is erased, with LLRs of 0, bits of 0 and
/// status_erased, if there is NaN or Inf in y, H or the prior. It is also erased if N0 or |H|^2 (the sum over
/// its entries) is outside 1e-30..1e30, or |y|^2 is above 1e30 or 1e10 |H|^2. The last case is a singular H:
/// a squared pivot of its QR is below 1e-12 of the trace of H^H H.
///
/// Distances are float32: what an LLR has below about 1e-7 (|y|^2 + |H|^2) / N0 is lost. One that is smaller,
/// as of a sign where y is almost 0, may be 0 without status.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class detector {
 public:
  virtual ~detector() = default;
  /// Queues the uses of in.received on an executor. Throws shape_error where shapes do not match.
  /// Throws argument_error for a prior that the detector does not take, and for `visited` of one that does
  /// not count nodes.
  void run(executor& exec, const detector_input& in, const detector_output& out) const;

  int streams() const noexcept { return streams_; }
  int rx_antennas() const noexcept { return rx_antennas_; }
  int qam() const noexcept { return qam_; }
  /// LLRs of a use: streams * log2(qam).
  std::size_t bits_per_use() const noexcept { return bits_per_use_; }
  /// Whether it takes a-priori LLRs; its output is then a-posteriori, or extrinsic where so configured.
  bool takes_prior() const noexcept { return takes_prior_; }
  /// Whether it can say how many nodes its search visited.
  virtual bool counts_visited() const noexcept { return false; }
  /// Operations for one use, roughly (exec/kernel.hpp). A link chooses its first batch by it.
  virtual double flops_per_use() const { return 64.0 * streams_ * streams_ * rx_antennas_; }

 protected:
  /// Throws argument_error: streams 1..16, rx_antennas streams..16, qam 4, 16, 64 or 256.
  explicit detector(const detector_config& config, bool takes_prior = false);
  /// Queues a call whose shapes are checked: reads `in`, and writes those outputs that have data. It must
  /// erase uses as above, and limit LLRs to the configuration's llr_clip. With `extrinsic` and a prior it
  /// must take the prior off the LLRs.
  virtual void compute(executor& exec, const detector_input& in, const detector_output& out) const = 0;

 private:
  int streams_, rx_antennas_, qam_;
  std::size_t bits_per_use_;
  bool takes_prior_;
};

}  // namespace wb
