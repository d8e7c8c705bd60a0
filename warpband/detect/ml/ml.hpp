#pragma once
// Exhaustive max-log detection: all qam^streams hypotheses, of which the first antenna's are taken together,
// since given the others its two dimensions separate.
//
// When to use. As the reference of other detectors, and for two streams or QPSK. The cost grows as
// qam^(streams - 1) times the amplitudes of a symbol: from 4x4 16-QAM on nway or kbest are near its error
// rates (docs/wu2012.md) and many times faster.
#include <warpband/detect/detector.hpp>

namespace wb {

struct ml_config {
  int streams = 2;           // 1..8
  int rx_antennas = 2;       // streams..16
  int qam = 4;               // 4, 16, 64, 256; at most 2^24 hypotheses
  float llr_clip = no_clip;  // above 0, at most 1e6 where finite
  bool extrinsic = false;    // the prior is taken off the output again
};

/// Threads: any number may call one object at once, each with an executor of its own.
class ml final : public detector {
 public:
  /// Throws argument_error for what is not allowed.
  explicit ml(const ml_config& config);
  bool takes_prior() const noexcept override { return true; }

 private:
  void start(executor& exec, std::size_t uses, detect_args& args) const override;
  float clip_;
  bool extrinsic_;
};

}  // namespace wb
