#pragma once
// What the massive-MIMO detector and precoder share: the linear system A z = b with A = H^H H + (N0 / Es) I
// of one channel estimate, and how it is solved. After K. Li, "GPU Accelerated Reconfigurable Detector and
// Precoder for Massive MIMO SDR Systems" (docs/li-thesis.md).
#include <cstddef>
#include <iterator>

namespace wb {

enum class massive_solver {
  cholesky,   // MMSE, A decomposed once per channel estimate
  cg,         // MMSE, conjugate gradients: for every vector `iterations`, fewer once `residual` is reached
  jacobi_cg,  // the same on A scaled to a diagonal of ones, which is Jacobi's preconditioner
  // MMSE, on the same scaled A by linalg/splitting: for every vector `iterations`, without inner products.
  neumann,       // `iterations` terms of the Neumann series
  gauss_seidel,  // `iterations` sweeps over the users
  chebyshev,     // `iterations` steps, with eigenvalue bounds from the Gram matrix (`bound_eigenvalues`)
  zf,            // zero forcing: A = H^H H, decomposed
  mf,            // matched filter
};
/// "cholesky", "cg", "jacobi_cg", "neumann", "gauss_seidel", "chebyshev", "zf", "mf".
inline const char* name_of(massive_solver solver) noexcept {
  constexpr const char* names[] = {"cholesky",     "cg",        "jacobi_cg", "neumann",
                                   "gauss_seidel", "chebyshev", "zf",        "mf"};
  const auto i = static_cast<std::size_t>(solver);
  return i < std::size(names) ? names[i] : "other";
}
/// Whether a solver takes `iterations`.
inline bool is_iterative(massive_solver solver) noexcept {
  return solver >= massive_solver::cg && solver <= massive_solver::chebyshev;
}
/// Whether it also takes `residual`.
inline bool has_residual(massive_solver solver) noexcept {
  return solver == massive_solver::cg || solver == massive_solver::jacobi_cg;
}

/// Residual |b - A x| / |b| at which iterations stop if nothing else is asked for: what float32 resolves.
inline constexpr float least_massive_residual = 1e-7f;

/// Limits of both: 1 <= users <= 64, users <= antennas <= 512.
inline constexpr int most_massive_antennas = 512, most_massive_users = 64;

}  // namespace wb
