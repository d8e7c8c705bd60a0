#pragma once
// Checks that the detector and the precoder share.
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/massive/massive.hpp>

namespace wb {

inline void check_massive(int antennas, int users, massive_mode mode, int iterations) {
  check_range("users", users, 1, most_massive_users);
  check_range("antennas", antennas, users, most_massive_antennas);
  if (mode != massive_mode::cholesky && mode != massive_mode::zf && mode != massive_mode::mf &&
      !is_iterative(mode))
    throw argument_error("mode", std::to_string(static_cast<int>(mode)), "cholesky, cg, jacobi_cg, zf or mf");
  if (is_iterative(mode))
    check_range("iterations", iterations, 1, most_massive_users);
  else if (iterations != 0)
    throw argument_error("iterations", std::to_string(iterations),
                         std::string("unset: ") + name_of(mode) + " has none");
}

}  // namespace wb
