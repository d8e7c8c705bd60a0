#pragma once
// K-best detection: breadth first from the last antenna of the order to the first, K survivors a level by
// partial distance. LLRs come from the K candidates at the end. With K as large as all candidates it is
// exhaustive.
//
// A tree of complex symbols has `streams` levels; a real-valued one (K. Wong, C. Tsui, R. Cheng, W. Mow, "A
// VLSI architecture of a K-best lattice decoding algorithm for MIMO channels", 2002) has twice as many. The
// imaginary part of an antenna comes before its real part.
//
// The order of the streams matters for small K. Bit error rates of 4x4, Rayleigh fading, without a code
// (49152 uses at each SNR; i.i.d. H for each):
//
//     sort                        none      norm      norm-ascending  sqrd
//     16-QAM, K = 4, 18 dB        0.0288    0.0331    0.0242          0.0226
//     16-QAM, K = 4, 22 dB        0.0071    0.0096    0.0048          0.0038
//     16-QAM, K = 4, 26 dB        0.0024    0.0034    0.0016          0.0011
//     QPSK, K = 4, 12 dB          0.0058    0.0065    0.0053          0.0053
//
// Among equal distances the paths survive whose steps, from the top of the tree down, come first.
//
// When to use. If error rates near those of exhaustive search matter more than speed: with K of four times
// the points of a symbol the loss is 0.03 dB for 4x4 with 16- and 64-QAM (docs/wu2012.md). nway is faster,
// most of all on a GPU (docs/performance.md).
#include <warpband/detect/detector_kind.hpp>
#include <warpband/detect/search_order.hpp>

namespace wb {

struct kbest_settings {
  int survivors = 64;        // K, 1..4096
  bool real_valued = false;  // a tree of real dimensions
  search_order search = {};
  bool operator==(const kbest_settings&) const = default;
};

/// "kbest". Takes a prior. A hypothesis can be missing.
detector_kind kbest_kind();

}  // namespace wb
