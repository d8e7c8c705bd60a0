#pragma once
// Linear detection: a filter for each stream, then max-log demapping with the exact SINR behind it (Es = 1).
//   mf     x_k = h_k^H y / |h_k|^2,          SINR |h_k|^4 / (sum_{j != k} |h_k^H h_j|^2 + N0 |h_k|^2)
//   zf     x = (H^H H)^-1 H^H y,             SINR 1 / (N0 [(H^H H)^-1]_kk)
//   mmse   x = (H^H H + N0 I)^-1 H^H y and its bias taken off,
//                                            SINR 1 / (N0 [(H^H H + N0 I)^-1]_kk) - 1
// All decompose H by QR, which tells a singular one; mmse then takes the QR decomposition of [R; sqrt(N0) I].
// In fixed point it takes that of [H; sqrt(N0) I].
//
// When to use. mmse is faster than detectors that search (docs/performance.md), and near the best with
// clearly more receive antennas than streams. In 4x4 16-QAM with a rate-1/2 LDPC code exhaustive search gains
// 0.8 dB and nway 0.6 dB (docs/iterative.md). zf and mf are faster and have more errors.
#include <warpband/detect/detector_kind.hpp>
#include <warpband/detect/words.hpp>

namespace wb {

struct mmse_settings {
  word_settings words = {};
  bool operator==(const mmse_settings&) const = default;
};

/// "mf", "zf", "mmse": no prior. mf and zf have no settings.
detector_kind mf_kind();
detector_kind zf_kind();
detector_kind mmse_kind();

}  // namespace wb
