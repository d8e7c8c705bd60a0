#pragma once

#include <complex>
#include <vector>

#include <oracle/linalg.hpp>

/// Linear detection and precoding for many antennas by their textbook formulas, for checking the library.
namespace oracle {

enum class massive_rule { mmse, zf, mf };

enum class massive_iteration { gradients, neumann, gauss_seidel, chebyshev };

/// How A x = b is solved: by elimination, or by so many iterations from 0. Conjugate gradients are with or
/// without Jacobi's preconditioner M = diag(A). They stop once the residual r = b - A x has
/// r^H M^-1 r <= residual^2 b^H M^-1 b; without a preconditioner M = I. The others split A at its diagonal D.
struct massive_solver {
  int iterations = 0;  ///< 0: elimination
  bool jacobi = false;
  double residual = 1e-13;
  massive_iteration method = massive_iteration::gradients;
  double added = 0;  ///< to the diagonal of A, which Chebyshev's method knows
};

/// x of A x = b.
matrix solve_massive(const matrix& a, const matrix& b, massive_solver solver);
/// The interval of Chebyshev's method, from S = D^-1/2 A D^-1/2 and what was added to the diagonal of A. s^2
/// is the mean over rows of the energy off the diagonal. The upper end is 1.1 (1 + s)^2, or Gershgorin's
/// bound if that is less. The lower end is (1 - s)^2, or 0 if s > 1, and the added noise over the largest
/// entry of D. It is at most 0.9 of the upper one.
struct interval {
  double low, high;
};
interval chebyshev_interval(const matrix& a, double added);

struct massive_estimate {
  std::vector<std::complex<double>> symbols;  ///< without bias
  std::vector<double> sinr;
  std::vector<double> llr;  ///< max-log, user after user
};
/// y = H x + n, n ~ CN(0, n0) in each entry, x of constellation(points). `approximate`: bias and SINR from
/// the diagonal of the Gram matrix (K. Li's thesis, eqs 3.3 and 3.4), else those of the filter itself, for
/// elimination.
massive_estimate detect_massive(const matrix& h, const matrix& y, double n0, int points, massive_rule rule,
                                massive_solver solver, bool approximate);

/// The antennas in clusters of neighbours, as many in each, which detect by MMSE for themselves: their
/// estimates weighted with their SINRs (C. Jeon, K. Li, J. R. Cavallaro, C. Studer, IEEE Trans. Signal
/// Processing 67(17), 2019, fully decentralised).
massive_estimate detect_clusters(const matrix& h, const matrix& y, double n0, int points, int clusters);

/// H A^-1 s with A = H^H H + (n0 / energy) I (zf: without that; mf: H s), before it is normalised.
matrix precode_massive(const matrix& h, const matrix& s, double n0, double energy, massive_rule rule,
                       massive_solver solver);

}  // namespace oracle
