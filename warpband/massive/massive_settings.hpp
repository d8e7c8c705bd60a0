#pragma once
// Settings that the massive-MIMO detector, the precoder and links with them have in common, and their checks.
#include <optional>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/massive/massive.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

template <class C>
setting_of<C> antennas_setting() {
  return integer("antennas", &C::antennas, 1, most_massive_antennas, "B, of the base station.",
                 "an integer from the users to 512");
}
template <class C>
setting_of<C> users_setting() {
  return integer("users", &C::users, 1, most_massive_users, "U, of one antenna each.");
}
template <class C>
setting_of<C> solver_setting(massive_solver C::*member) {
  return words(
      "solver", member,
      {{"cholesky", massive_solver::cholesky},
       {"cg", massive_solver::cg},
       {"jacobi-cg", massive_solver::jacobi_cg},
       {"neumann", massive_solver::neumann},
       {"gauss-seidel", massive_solver::gauss_seidel},
       {"chebyshev", massive_solver::chebyshev},
       {"zf", massive_solver::zf},
       {"mf", massive_solver::mf}},
      "How the equations of the MMSE detector or precoder are solved: Cholesky, or conjugate gradients, the "
      "same with Jacobi's preconditioner, the Neumann series, Gauss-Seidel or Chebyshev's method. Or "
      "zero forcing, or the matched filter.");
}
template <class C>
setting_of<C> iterations_setting() {
  return integer("iterations", &C::iterations, 1, most_massive_users,
                 "Iterations, required with these solvers. With neumann: terms of the series; the first is b "
                 "divided by the diagonal.")
      .only_with("solver", {"cg", "jacobi-cg", "neumann", "gauss-seidel", "chebyshev"});
}
template <class C>
setting_of<C> residual_setting() {
  return number(
             "residual", &C::residual, 1e-7, 0.9,
             "A vector's iterations stop once the norm of the residual b - A x is at most this share of b's. "
             "With jacobi-cg both are those of the scaled equations. The default is what float32 resolves.")
      .only_with("solver", {"cg", "jacobi-cg"})
      .left_out_by_default();
}
template <class C>
setting_of<C> qam_setting() {
  return one_of("qam", &C::qam, {4, 16, 64, 256}, "Points of the constellation.").not_of_links();
}
template <class C>
setting_of<C> llr_clip_setting() {
  return number("llr_clip", &C::llr_clip, 1e-6, 1e6, "LLRs are limited to this.", false,
                "a number from 1e-6 to 1e6, or \"none\"")
      .absent_as("none");
}

inline void check_massive(int antennas, int users, massive_solver solver, std::optional<int> iterations,
                          float residual = least_massive_residual) {
  check_range("users", users, 1, most_massive_users);
  check_range("antennas", antennas, users, most_massive_antennas);
  if (solver < massive_solver::cholesky || solver > massive_solver::mf)
    throw argument_error("solver", std::to_string(static_cast<int>(solver)),
                         "cholesky, cg, jacobi_cg, neumann, gauss_seidel, chebyshev, zf or mf");
  if (is_iterative(solver) && !iterations)
    throw argument_error("iterations", "none", "1 to " + std::to_string(most_massive_users));
  if (is_iterative(solver))
    check_range("iterations", *iterations, 1, most_massive_users);
  else if (iterations)
    throw argument_error("iterations", std::to_string(*iterations),
                         std::string("none: ") + name_of(solver) + " has none");
  if (has_residual(solver) ? !(residual >= least_massive_residual && residual <= 0.9f)
                           : residual != least_massive_residual)
    throw argument_error("residual", as_message(residual),
                         has_residual(solver) ? std::string("1e-7 to 0.9")
                                              : std::string("none: ") + name_of(solver) + " has none");
}
/// Of a detector.
inline void check_symbols(int qam, std::optional<float> llr_clip) {
  if (qam != 4 && qam != 16 && qam != 64 && qam != 256)
    throw argument_error("qam", std::to_string(qam), "4, 16, 64 or 256");
  if (llr_clip && !(*llr_clip > 0 && *llr_clip <= 1e6f))
    throw argument_error("llr_clip", as_message(*llr_clip), "above 0 and at most 1e6, or none");
}

}  // namespace wb
