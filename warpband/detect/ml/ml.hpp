#pragma once
// Exhaustive max-log detection: all qam^streams hypotheses, of which the first antenna's are taken together,
// since given the others its two dimensions separate.
//
// When to use. As the reference of other detectors, and for two streams or QPSK. The cost grows as
// qam^(streams - 1) times the amplitudes of a symbol: from 4x4 16-QAM on nway or kbest are near its error
// rates (docs/wu2012.md) and many times faster.
#include <warpband/detect/detector_kind.hpp>

namespace wb {

/// "ml": of type and sizes alone. At most 2^24 hypotheses. Takes a prior.
detector_kind ml_kind();

}  // namespace wb
