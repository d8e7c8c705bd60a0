#include <oracle/massive.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <oracle/modem.hpp>

namespace oracle {
namespace {

using complex = std::complex<double>;

complex dot(const matrix& a, const matrix& b) {
  complex s = 0;
  for (std::size_t i = 0; i < a.entries.size(); i++) s += std::conj(a.entries[i]) * b.entries[i];
  return s;
}
matrix plus(const matrix& a, complex factor, const matrix& b) {
  matrix s = a;
  for (std::size_t i = 0; i < s.entries.size(); i++) s.entries[i] += factor * b.entries[i];
  return s;
}

/// Conjugate gradients with the preconditioner M = diag(A) or I.
matrix conjugate_gradients(const matrix& a, const matrix& b, int iterations, bool jacobi, double residual) {
  const auto preconditioned = [&](const matrix& r) {
    matrix z = r;
    if (jacobi)
      for (int i = 0; i < z.rows; i++) z(i, 0) /= a(i, i);
    return z;
  };
  matrix x(b.rows, 1), r = b, z = preconditioned(r), p = z;
  const double first = dot(r, z).real();
  for (int i = 0; i < iterations; i++) {
    if (dot(r, z).real() <= residual * residual * first) break;
    const matrix ap = a * p;
    const complex rz = dot(r, z), alpha = rz / dot(p, ap);
    x = plus(x, alpha, p);
    r = plus(r, -alpha, ap);
    z = preconditioned(r);
    p = plus(z, dot(r, z) / rz, p);
  }
  return x;
}

matrix regularized(const matrix& h, double added) {
  matrix a = adjoint(h) * h;
  for (int u = 0; u < a.rows; u++) a(u, u) += added;
  return a;
}
/// The sum of (I - D^-1 A)^k D^-1 b, k = 0 to terms - 1.
matrix neumann(const matrix& a, const matrix& b, int terms) {
  matrix step(a.rows, a.columns), term = b;
  for (int r = 0; r < a.rows; r++) {
    term(r, 0) /= a(r, r);
    for (int c = 0; c < a.columns; c++) step(r, c) = r == c ? 0 : -a(r, c) / a(r, r);
  }
  matrix x = term;
  for (int k = 1; k < terms; k++) {
    term = step * term;
    x = plus(x, 1, term);
  }
  return x;
}
matrix gauss_seidel(const matrix& a, const matrix& b, int sweeps) {
  matrix x(b.rows, 1);
  for (int k = 0; k < sweeps; k++)
    for (int r = 0; r < a.rows; r++) {
      complex rest = b(r, 0);
      for (int c = 0; c < a.columns; c++)
        if (c != r) rest -= a(r, c) * x(c, 0);
      x(r, 0) = rest / a(r, r);
    }
  return x;
}
/// G. H. Golub, C. F. Van Loan, Matrix Computations, 3rd ed., section 10.1.5: x_k+1 = w (x_k - x_k-1 + g z)
/// + x_k-1 with D z = b - A x_k, w from the quotient of two Chebyshev polynomials.
matrix chebyshev(const matrix& a, const matrix& b, int steps, interval eigenvalues) {
  const double gamma = 2 / (eigenvalues.high + eigenvalues.low),
               mu = (eigenvalues.high + eigenvalues.low) / (eigenvalues.high - eigenvalues.low);
  matrix before(b.rows, 1), x(b.rows, 1);
  double less = 1, value = mu;  // T_k-1 and T_k of mu
  for (int k = 0; k < steps; k++) {
    matrix z = plus(b, -1, a * x);
    for (int r = 0; r < z.rows; r++) z(r, 0) /= a(r, r);
    double weight = 1;
    if (k > 0) {
      const double next = 2 * mu * value - less;
      weight = 2 * mu * value / next;
      less = value, value = next;
    }
    const matrix change = plus(plus(x, -1, before), gamma, z), newest = plus(before, weight, change);
    before = x;
    x = newest;
  }
  return x;
}

}  // namespace

interval chebyshev_interval(const matrix& a, double added) {
  double energy = 0, radius = 0, strongest = 0;
  for (int r = 0; r < a.rows; r++) {
    double sum = 0;
    strongest = std::max(strongest, a(r, r).real());
    for (int c = 0; c < a.columns; c++) {
      if (c == r) continue;
      const double entry = std::abs(a(r, c)) / std::sqrt(a(r, r).real() * a(c, c).real());
      sum += entry;
      energy += entry * entry / a.rows;
    }
    radius = std::max(radius, sum);
  }
  const double s = std::sqrt(energy), high = std::min(1 + radius, 1.1 * (1 + s) * (1 + s)),
               low = std::pow(std::max(1 - s, 0.), 2) + added / strongest;
  return {std::min(low, 0.9 * high), high};
}

matrix solve_massive(const matrix& a, const matrix& b, massive_solver solver) {
  if (solver.iterations == 0) return solve(a, b);
  switch (solver.method) {
    case massive_iteration::neumann:
      return neumann(a, b, solver.iterations);
    case massive_iteration::gauss_seidel:
      return gauss_seidel(a, b, solver.iterations);
    case massive_iteration::chebyshev:
      return chebyshev(a, b, solver.iterations, chebyshev_interval(a, solver.added));
    case massive_iteration::gradients:
      break;
  }
  return conjugate_gradients(a, b, solver.iterations, solver.jacobi, solver.residual);
}

massive_estimate detect_massive(const matrix& h, const matrix& y, double n0, int points, massive_rule rule,
                                massive_solver solver, bool approximate) {
  const int users = h.columns;
  const matrix gram = adjoint(h) * h, matched = adjoint(h) * y;
  solver.added = rule == massive_rule::mmse ? n0 : 0;
  const matrix a = regularized(h, solver.added);
  const matrix x = rule == massive_rule::mf ? matched : solve_massive(a, matched, solver);
  massive_estimate e;
  matrix w = adjoint(h);  // the filter
  if (!approximate && rule != massive_rule::mf) w = solve(a, w);
  const matrix seen = w * h;
  for (int u = 0; u < users; u++) {
    double gain, sinr;
    if (approximate) {
      const double power = gram(u, u).real();
      sinr = power / n0;
      gain = rule == massive_rule::mf ? power : rule == massive_rule::zf ? 1 : sinr / (1 + sinr);
    } else {
      gain = seen(u, u).real();
      double others = 0;
      for (int j = 0; j < users; j++)
        if (j != u) others += std::norm(seen(u, j));
      for (int b = 0; b < h.rows; b++) others += n0 * std::norm(w(u, b));
      sinr = gain * gain / others;
    }
    e.symbols.push_back(x(u, 0) / gain);
    e.sinr.push_back(sinr);
    for (const double llr : demap(e.symbols.back(), 1 / sinr, 1, points, demapper::max_log))
      e.llr.push_back(llr);
  }
  return e;
}

massive_estimate detect_clusters(const matrix& h, const matrix& y, double n0, int points, int clusters) {
  const int users = h.columns, rows = h.rows / clusters;
  massive_estimate combined;
  combined.symbols.resize(static_cast<std::size_t>(users));
  combined.sinr.resize(static_cast<std::size_t>(users));
  for (int c = 0; c < clusters; c++) {
    matrix part(rows, users), received(rows, 1);
    for (int b = 0; b < rows; b++) {
      received(b, 0) = y(c * rows + b, 0);
      for (int u = 0; u < users; u++) part(b, u) = h(c * rows + b, u);
    }
    const massive_estimate part_estimate =
        detect_massive(part, received, n0, points, massive_rule::mmse, {}, false);
    for (std::size_t u = 0; u < combined.sinr.size(); u++) {
      combined.symbols[u] += part_estimate.sinr[u] * part_estimate.symbols[u];
      combined.sinr[u] += part_estimate.sinr[u];
    }
  }
  for (std::size_t u = 0; u < combined.sinr.size(); u++) {
    combined.symbols[u] /= combined.sinr[u];
    for (const double llr : demap(combined.symbols[u], 1 / combined.sinr[u], 1, points, demapper::max_log))
      combined.llr.push_back(llr);
  }
  return combined;
}

matrix precode_massive(const matrix& h, const matrix& s, double n0, double energy, massive_rule rule,
                       massive_solver solver) {
  if (rule == massive_rule::mf) return h * s;
  solver.added = rule == massive_rule::mmse ? n0 / energy : 0;
  return h * solve_massive(regularized(h, solver.added), s, solver);
}

}  // namespace oracle
