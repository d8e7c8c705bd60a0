#pragma once

namespace wb {

/// Amplitudes of the two parts of h. The default is Rayleigh fading, K = 0.
struct rician_amplitudes {
  float fixed = 0, scattered = 1;
};

}  // namespace wb
