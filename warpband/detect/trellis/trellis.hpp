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
// With a-priori LLRs an edge weighs the distance it adds, over N0, and the costs of bits. These are the bits
// of the point it leads to that contradict the LLRs. 2x2 still equals exhaustive search.
//
// When to use. multi_pass for two streams, where it equals exhaustive search. With four streams nway has
// fewer errors at a similar rate (docs/wu2012.md).
//
// The limit of LLRs. multi_pass misses no hypothesis, but the right path can be lost in a reduction. The LLR
// is then wrong and large, which gives an error floor (docs/wu2010.md). So LLRs are limited to 8 by default,
// except of up to two streams, where multi_pass is exhaustive (curves/mimo_clip_all_ways.json).
#include <warpband/detect/detector_kind.hpp>
#include <warpband/detect/search_order.hpp>

namespace wb {

struct trellis_settings {
  search_order search = {};
  bool operator==(const trellis_settings&) const = default;
};

/// "ot" (one_pass), "mtt" (multi_pass). They take a prior.
detector_kind ot_kind();
detector_kind mtt_kind();

}  // namespace wb
