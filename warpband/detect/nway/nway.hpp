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
// A spread m_1 .. m_streams keeps more children (SSFE: M. Li, B. Bougard, E. Lopez, A. Bourdoux, D. Novo, L.
// Van der Perre, F. Catthoor, "Selective spanning with fast enumeration: a near maximum-likelihood MIMO
// detector designed for parallel programmable baseband architectures", IEEE ICC, 2008). At level k, from 1 at
// the bottom to streams at the top, each path keeps the m_k points of the least metric. Every pass has the
// same spread. The paper takes points by a fixed pattern around the nearest one; here their order is exact.
// All m_k = qam is exhaustive search. A spread other than 1 .. 1, qam has a kernel for any sizes, which is
// not tuned for GPUs.
//
// With sort = fsd pass 0 has the order of a fixed-complexity sphere decoder (detect/search_order.hpp). A
// level is full where m_k = qam: without a spread the top alone.
//
// When to use. The first choice for four streams of 16- and 64-QAM. Up to two streams multi_pass trellis or
// ml are exact.
//
// The limit of LLRs. All ways reach both values of every bit, but not always the vector that was sent. The
// LLR is then wrong and large. So LLRs are limited to 8 by default, except with all ways of up to two
// streams, which are exhaustive. Four ways, 4x4 16-QAM and an LDPC code of rate 1/2 at 13 dB: the frame error
// rate is 3.5e-3 without a limit, and 1.4e-4 with it (56 wrong frames; curves/wu2012_fig3_16qam.json and
// wu2012_clip_16qam.json).
#include <optional>

#include <warpband/detect/detector_kind.hpp>
#include <warpband/detect/search_order.hpp>
#include <warpband/detect/words.hpp>

namespace wb {

struct nway_settings {
  std::optional<int> ways = {};  // passes, 1..streams; absent: streams
  /// Points kept at each level, 1..qam, that of the lowest stream of the tree first: streams numbers whose
  /// product is at most 2^24. Empty: 1, ..., 1, qam.
  std::vector<int> spread = {};
  search_order search = {};
  /// In fixed point, without a spread and with any sort but fsd. The order of a sort comes from H in float32.
  word_settings words = {};
  bool operator==(const nway_settings&) const = default;
};

/// "nway". Takes a prior. A hypothesis can be missing with fewer ways than streams, or with a spread that
/// keeps fewer than qam points at the top. None is missing if every level keeps all points.
detector_kind nway_kind();

}  // namespace wb
