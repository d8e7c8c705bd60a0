#pragma once
// N-way detection: parallel SSFE (M. Wu, B. Yin, J. R. Cavallaro, "Flexible N-way MIMO detector on GPU",
// 2012).
//
// Pass p = 0 .. ways - 1 puts antenna p of the order on top of the search and the others below it, p - 1, p -
// 2, ... p + 1 (mod streams), and takes the QR decomposition of the columns in that order. Each point of the
// top antenna begins a candidate. Below it a candidate takes one child a level, the nearest point (rounded
// and clamped in both dimensions). LLRs come from the candidates of all passes. One pass is SSFE; 2x2 with
// two passes is exhaustive; ways = streams reaches both values of every bit. The paper's real-valued
// decomposition has the same R as the complex one used here, in blocks.
//
// With a-priori LLRs a child is the point with the least sum of metric and prior.
//
// When to use. The first choice for four streams of 16- and 64-QAM. All ways lose 0.2 to 0.35 dB against
// exhaustive search; one way less with a clip of 8 is as good and faster (docs/wu2012.md). Up to two streams
// multi_pass trellis or ml are exact.
#include <warpband/detect/detector.hpp>

namespace wb {

struct nway_config {
  int streams = 2;      // 1..8
  int rx_antennas = 2;  // streams..16
  int qam = 4;          // 4, 16, 64, 256
  int ways = 0;         // 1..streams; 0 is streams
  /// LLRs are limited to +-llr_clip, which stands for a missing hypothesis too. Nothing: 8, and no_clip with
  /// ways = streams. no_clip with fewer is refused.
  std::optional<float> llr_clip = {};
  bool extrinsic = false;       // the prior is taken off the output again
  std::vector<int> order = {};  // of the streams, see detector_config
  stream_sort sort = stream_sort::none;
};

/// Threads: any number may call one object at once, each with an executor of its own.
class nway final : public detector {
 public:
  /// Throws argument_error for what is not allowed.
  explicit nway(const nway_config& config);
  bool takes_prior() const noexcept override { return true; }
  int ways() const noexcept { return ways_; }
  float llr_clip() const noexcept { return clip_; }

 private:
  void start(executor& exec, std::size_t uses, detect_args& args) const override;
  int ways_;
  float clip_;
  bool extrinsic_;
};

}  // namespace wb
