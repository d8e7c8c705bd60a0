#include <oracle/massive.hpp>

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
matrix solved(const matrix& a, const matrix& b, massive_solver solver) {
  return solver.iterations == 0
             ? solve(a, b)
             : conjugate_gradients(a, b, solver.iterations, solver.jacobi, solver.residual);
}

}  // namespace

massive_estimate detect_massive(const matrix& h, const matrix& y, double n0, int points, massive_rule rule,
                                massive_solver solver, bool approximate) {
  const int users = h.columns;
  const matrix gram = adjoint(h) * h, matched = adjoint(h) * y;
  const matrix a = regularized(h, rule == massive_rule::mmse ? n0 : 0);
  const matrix x = rule == massive_rule::mf ? matched : solved(a, matched, solver);
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
  return h * solved(regularized(h, rule == massive_rule::mmse ? n0 / energy : 0), s, solver);
}

}  // namespace oracle
