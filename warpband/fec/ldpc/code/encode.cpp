// The encoder's schedule of sums, from the structure of the parity part of H.
//
// Block rows with one unknown parity column give it (peeling). Where none is left, a parity column is taken
// as if it were known, up to four times: the core columns g. All others are then A(s) + B g, with s the
// systematic bits and B polynomials: a sum of rotations by s places is a polynomial in x of degree below z,
// modulo x^z - 1. The rows left over give Phi g = sigma(s), and g = Phi^-1 sigma. (After T. Richardson and R.
// Urbanke, "Efficient encoding of low-density parity-check codes", 2001, block-wise.)
#include <algorithm>
#include <optional>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>

namespace wb {

WB_DECLARE_KERNEL(ldpc_encode)

namespace {

constexpr std::size_t most_core = 4;

/// A polynomial over GF(2) modulo x^z - 1: its coefficients.
using polynomial = std::vector<std::uint8_t>;

bool is_zero(const polynomial& p) {
  return std::none_of(p.begin(), p.end(), [](std::uint8_t c) { return c != 0; });
}
void add_rotated(polynomial& to, const polynomial& p, std::size_t shift) {
  const std::size_t z = p.size();
  for (std::size_t i = 0; i < z; i++)
    if (p[i] != 0) to[(i + shift) % z] ^= 1;
}
polynomial product(const polynomial& a, const polynomial& b) {
  polynomial r(a.size());
  for (std::size_t i = 0; i < a.size(); i++)
    if (a[i] != 0) add_rotated(r, b, i);
  return r;
}

/// The inverse modulo x^z - 1, by Euclid's algorithm; nothing where there is none.
std::optional<polynomial> inverse(const polynomial& p) {
  const std::size_t z = p.size();
  auto degree = [](const polynomial& a) {
    std::size_t d = a.size();
    while (d > 0 && a[d - 1] == 0) d--;
    return d;  // plus one; 0 for the zero polynomial
  };
  auto add_shifted = [](polynomial& to, const polynomial& a, std::size_t shift) {
    for (std::size_t i = 0; i + shift < to.size(); i++) to[i + shift] ^= a[i];
  };
  // r = u p modulo x^z - 1 throughout, for both pairs.
  polynomial r0(z + 1), r1(p), u0(z + 1), u1(z + 1);
  r0[0] = r0[z] = 1;
  r1.push_back(0);
  u1[0] = 1;
  while (degree(r1) > 1) {
    while (degree(r0) >= degree(r1)) {
      const std::size_t shift = degree(r0) - degree(r1);
      add_shifted(r0, r1, shift);
      add_shifted(u0, u1, shift);
    }
    r0.swap(r1);
    u0.swap(u1);
  }
  if (degree(r1) == 0) return std::nullopt;
  polynomial result(z);
  for (std::size_t i = 0; i <= z; i++) result[i % z] ^= u1[i];
  return result;
}

using matrix = std::vector<std::vector<polynomial>>;

matrix without(const matrix& m, std::size_t row, std::size_t column) {
  matrix r;
  for (std::size_t i = 0; i < m.size(); i++) {
    if (i == row) continue;
    r.emplace_back();
    for (std::size_t j = 0; j < m.size(); j++)
      if (j != column) r.back().push_back(m[i][j]);
  }
  return r;
}
polynomial determinant(const matrix& m, std::size_t z) {
  polynomial d(z);
  if (m.empty()) {
    d[0] = 1;
    return d;
  }
  for (std::size_t j = 0; j < m.size(); j++)
    if (!is_zero(m[0][j])) add_rotated(d, product(m[0][j], determinant(without(m, 0, j), z)), 0);
  return d;
}

/// The order in which parity columns follow, each from a row; what is left are the core's rows and columns.
struct peeling {
  struct step {
    int row, column;
  };
  std::vector<step> steps;
  std::vector<int> core_rows, core_columns;
};

class structure {
 public:
  explicit structure(const ldpc_code& code) : code_(code), first_(code.columns() - code.rows()) {}

  std::optional<peeling> find() {
    const std::vector<char> none(static_cast<std::size_t>(code_.rows()));
    if (auto found = continued({}, none, none)) return found;
    // A core column need not stand in the row where peeling halts: every one and every pair.
    const peeling::step halt = stuck_;
    for (int c = 0; c < code_.rows(); c++)
      for (int d = c; d < code_.rows(); d++) {
        peeling p;
        std::vector<char> known = none;
        for (int core : {c, d}) {
          if (known[static_cast<std::size_t>(core)] != 0) continue;
          known[static_cast<std::size_t>(core)] = 1;
          p.core_columns.push_back(first_ + core);
        }
        most_ = p.core_columns.size();
        if (auto found = continued(std::move(p), std::move(known), none)) return found;
      }
    stuck_ = halt;
    return std::nullopt;
  }
  /// Where peeling without a core came to a halt.
  peeling::step stuck() const { return stuck_; }

 private:
  int unknowns(int row, const std::vector<char>& known, int& column) const {
    int n = 0;
    for (int c = code_.rows() - 1; c >= 0; c--)
      if (code_.shift(row, first_ + c) >= 0 && known[static_cast<std::size_t>(c)] == 0) {
        n++;
        column = c;
      }
    return n;
  }
  std::optional<peeling> continued(peeling p, std::vector<char> known, std::vector<char> used) {
    int least = 0, row = -1;
    for (bool found = true; found;) {
      found = false;
      least = code_.rows() + 1;
      for (int m = 0; m < code_.rows(); m++) {
        if (used[static_cast<std::size_t>(m)] != 0) continue;
        int column = 0;
        const int n = unknowns(m, known, column);
        if (n == 1) {
          p.steps.push_back({m, first_ + column});
          known[static_cast<std::size_t>(column)] = used[static_cast<std::size_t>(m)] = 1;
          found = true;
        } else if (n > 1 && n < least) {
          least = n;
          row = m;
        }
      }
    }
    if (least > code_.rows()) {  // no row has an unknown
      for (int c = 0; c < code_.rows(); c++)
        if (known[static_cast<std::size_t>(c)] == 0) {
          stuck_ = {code_.rows() - 1, first_ + c};
          return std::nullopt;  // a column that no row is left to give
        }
      for (int m = 0; m < code_.rows(); m++)
        if (used[static_cast<std::size_t>(m)] == 0) p.core_rows.push_back(m);
      return p;
    }
    if (p.core_columns.empty()) {
      int column = 0;
      unknowns(row, known, column);
      stuck_ = {row, first_ + column};
    }
    // Each column taken as known leaves a row one unknown less, and no row has fewer than this one.
    if (p.core_columns.size() == most_ || static_cast<std::size_t>(least) > 1 + most_ - p.core_columns.size())
      return std::nullopt;
    for (int c = 0; c < code_.rows(); c++) {
      if (code_.shift(row, first_ + c) < 0 || known[static_cast<std::size_t>(c)] != 0) continue;
      peeling q = p;
      q.core_columns.push_back(first_ + c);
      std::vector<char> with = known;
      with[static_cast<std::size_t>(c)] = 1;
      if (auto found = continued(std::move(q), std::move(with), used)) return found;
    }
    return std::nullopt;
  }

  const ldpc_code& code_;
  int first_;
  std::size_t most_ = most_core;
  peeling::step stuck_{};
};

std::string place(int row, int column) {
  return "row " + std::to_string(row) + ", column " + std::to_string(column);
}

/// Sums and their terms, in the order of the kernel.
struct schedule {
  std::vector<ldpc_sum> sums;
  std::vector<ldpc_term> terms;
  void begin(int target) { sums.push_back({target, static_cast<std::int32_t>(terms.size()), 0, 0}); }
  void term(int block, int shift) {
    terms.push_back({block, shift});
    sums.back().terms++;
  }
  void end_phase() {
    if (!sums.empty()) sums.back().last_of_phase = 1;
  }
};

schedule schedule_of(const ldpc_code& code) {
  structure parity(code);
  const auto found = parity.find();
  if (!found)
    throw argument_error(
        "code", "a parity part that is not triangular at " + place(parity.stuck().row, parity.stuck().column),
        "block rows that give the parity columns one by one, but for a core of up to 4");
  const peeling& p = *found;
  const int z = code.z(), first = code.columns() - code.rows();
  auto mod = [&](int s) { return (s % z + z) % z; };
  auto sums_of_row = [&](int m) { return code.columns() + m; };  // blocks of scratch behind the codeword

  schedule s;
  for (int m = 0; m < code.rows(); m++) {
    s.begin(sums_of_row(m));
    for (int c = 0; c < first; c++)
      if (code.shift(m, c) >= 0) s.term(c, code.shift(m, c));
  }
  s.end_phase();

  // What depends on the systematic bits alone, and B on the way.
  const std::size_t g = p.core_columns.size(), uz = static_cast<std::size_t>(z);
  std::vector<std::vector<polynomial>> b(static_cast<std::size_t>(code.rows()));
  std::vector<char> peeled(b.size());
  for (std::size_t j = 0; j < g; j++) {
    auto& column = b[static_cast<std::size_t>(p.core_columns[j] - first)];
    column.assign(g, polynomial(uz));
    column[j][0] = 1;
  }
  auto row_of_b = [&](int m, int but) {
    std::vector<polynomial> sum(g, polynomial(uz));
    for (int c = first; c < code.columns(); c++)
      if (code.shift(m, c) >= 0 && c != but)
        for (std::size_t j = 0; j < g; j++)
          add_rotated(sum[j], b[static_cast<std::size_t>(c - first)][j],
                      static_cast<std::size_t>(code.shift(m, c)));
    return sum;
  };
  auto add_peeled = [&](int m, int turn) {
    s.term(sums_of_row(m), mod(-turn));
    for (int c = first; c < code.columns(); c++)
      if (code.shift(m, c) >= 0 && peeled[static_cast<std::size_t>(c - first)] != 0)
        s.term(c, mod(code.shift(m, c) - turn));
  };
  for (const peeling::step& step : p.steps) {
    const int turn = code.shift(step.row, step.column);
    s.begin(step.column);
    add_peeled(step.row, turn);
    s.end_phase();
    auto sum = row_of_b(step.row, step.column);
    auto& column = b[static_cast<std::size_t>(step.column - first)];
    column.assign(g, polynomial(uz));
    for (std::size_t j = 0; j < g; j++) add_rotated(column[j], sum[j], static_cast<std::size_t>(mod(-turn)));
    peeled[static_cast<std::size_t>(step.column - first)] = 1;
  }
  if (g == 0) return s;

  // The core.
  matrix phi;
  for (const int m : p.core_rows) {
    s.begin(sums_of_row(m));
    add_peeled(m, 0);
    phi.push_back(row_of_b(m, -1));
  }
  s.end_phase();
  const auto over = inverse(determinant(phi, uz));
  if (!over)
    throw argument_error("code", "a singular core at " + place(p.core_rows[0], p.core_columns[0]),
                         "a parity part of full rank");
  auto add_terms = [&](const polynomial& q, int block) {
    for (int i = 0; i < z; i++)
      if (q[static_cast<std::size_t>(i)] != 0) s.term(block, i);
  };
  for (std::size_t j = 0; j < g; j++) {
    s.begin(p.core_columns[j]);
    for (std::size_t i = 0; i < g; i++)  // Phi^-1 = adjugate / determinant; signs do not matter in GF(2)
      add_terms(product(determinant(without(phi, i, j), uz), *over), sums_of_row(p.core_rows[i]));
  }
  s.end_phase();
  for (const peeling::step& step : p.steps) {
    const auto& column = b[static_cast<std::size_t>(step.column - first)];
    if (std::all_of(column.begin(), column.end(), is_zero)) continue;
    s.begin(step.column);
    s.term(step.column, 0);
    for (std::size_t j = 0; j < g; j++) add_terms(column[j], p.core_columns[j]);
  }
  s.end_phase();
  return s;
}

}  // namespace

ldpc_encoder::ldpc_encoder(const ldpc_code& code)
    : k_(code.k()), n_(code.n()), z_(code.z()), blocks_(code.columns() + code.rows()) {
  schedule s = schedule_of(code);
  sums_ = resident<ldpc_sum>(std::move(s.sums));
  terms_ = resident<ldpc_term>(std::move(s.terms));
}

ldpc_encode_tables ldpc_encoder::tables_on(executor& exec) const {
  return {static_cast<int>(sums_.host().size()), static_cast<int>(terms_.host().size()), blocks_,
          sums_.on(exec), terms_.on(exec)};
}

void ldpc_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  check_shape("bits", bits, bits.items, static_cast<std::size_t>(k_));
  check_shape("coded", coded, bits.items, std::max(coded.elements, static_cast<std::size_t>(n_)));
  ldpc_encode_args a;
  a.n = n_;
  a.k = k_;
  a.z = z_;
  a.sums = static_cast<int>(sums_.host().size());
  a.blocks = blocks_;
  a.bits = bits;
  a.coded = coded;
  a.sum_table = sums_.on(exec);
  a.term_table = terms_.on(exec);
  exec.run(ldpc_encode_kernels(), &a, bits.items);
}

}  // namespace wb
