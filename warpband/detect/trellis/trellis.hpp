#pragma once
// Trellis detection (M. Wu, "Implementation of a high throughput MIMO detector and Turbo decoder on GPU",
// thesis, 2010, ch. 3.2 and 4.1). A stage for each antenna, from the last of the order to
// the first; a vertex for each point.
//
//   one_pass (OT)     edge reductions from the first stage to the last; LLRs from the points' paths at the
//                     end. Hypotheses can be missing.
//   multi_pass (MTT)  for each stage: reductions up to it, then path extensions through the others; the LLRs
//                     of its antenna from that list, which has every point of it. 2x2 equals exhaustive
//                     search.
//
// With a-priori LLRs an edge weighs the distance it adds, over N0, and the costs of the bits of the point it
// leads to that contradict them. 2x2 still equals exhaustive search.
//
// When to use. multi_pass for two streams, where it equals exhaustive search. With four streams nway has
// fewer errors at a similar rate (docs/wu2012.md), and multi_pass needs an LLR clip of 8: without one it has
// an error floor (docs/wu2010.md).
#include <warpband/detect/detector.hpp>
#include <warpband/detect/trellis/trellis_args.hpp>

namespace wb {

struct trellis_config {
  int streams = 2;      // 1..8
  int rx_antennas = 2;  // streams..16
  int qam = 4;          // 4, 16, 64, 256
  trellis_algorithm algorithm = trellis_algorithm::multi_pass;
  /// LLRs are limited to +-llr_clip, which stands for a missing hypothesis too. Nothing: no_clip for
  /// multi_pass, 8 for one_pass, to which no_clip is refused.
  std::optional<float> llr_clip = {};
  std::vector<int> order = {};  // of the streams, see detector_config
  bool extrinsic = false;       // the prior is taken off the output again
  stream_sort sort = stream_sort::none;
};

/// Threads: any number may call one object at once, each with an executor of its own.
class trellis_detector final : public detector {
 public:
  /// Throws argument_error for what is not allowed.
  explicit trellis_detector(const trellis_config& config);
  bool takes_prior() const noexcept override { return true; }

 private:
  void start(executor& exec, std::size_t uses, detect_args& args) const override;
  trellis_algorithm algorithm_;
  float clip_;
  bool extrinsic_;
};

}  // namespace wb
