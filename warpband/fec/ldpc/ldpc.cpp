#include <warpband/fec/ldpc/ldpc.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/exec/kernel.hpp>

namespace wb {

WB_DECLARE_KERNEL(ldpc_decode_f32)
WB_DECLARE_KERNEL(ldpc_decode_f16)
WB_DECLARE_KERNEL(ldpc_decode_f16_rows)
WB_DECLARE_KERNEL(ldpc_decode_i8)

namespace {

// Of vectors: what a load may read behind the last value, and to what rows of messages are padded. No vector
// has more elements.
constexpr int padding = 32;
int padded(int values) { return (values + padding - 1) / padding * padding; }

/// Columns in rotating storage (ldpc_op.hpp). Place p of a column in rotation s has bit (p + s) mod z; a row
/// r of shift s reads place (r + s - rotation) mod z and leaves rotation s.
struct layout_tables {
  std::vector<ldpc_edge> edges;
  std::vector<ldpc_row> rows;
  std::vector<ldpc_column> columns;
};
layout_tables tables_of(const ldpc_code& code) {
  const int z = code.z(), stride = padded(2 * z + padding);
  auto buffer = [&](int which, int column) { return (which * code.columns() + column) * stride; };
  auto mod = [&](int s) { return (s % z + z) % z; };
  layout_tables t;
  std::vector<int> degree(static_cast<std::size_t>(code.columns())), last(degree.size());
  for (int m = 0; m < code.rows(); m++) {
    t.rows.push_back({static_cast<std::int32_t>(t.edges.size()), 0});
    for (int c = 0; c < code.columns(); c++)
      if (const int s = code.shift(m, c); s >= 0) {
        t.edges.push_back({c, s, {}, {}, {}});
        t.rows.back().degree++;
        degree[static_cast<std::size_t>(c)]++;
        last[static_cast<std::size_t>(c)] = s;
      }
  }
  for (int c = 0; c < code.columns(); c++) {
    const int d = degree[static_cast<std::size_t>(c)], left = last[static_cast<std::size_t>(c)];
    ldpc_column column{left, buffer(0, c), {}};
    for (int parity = 0; parity < 2; parity++) {
      int which = parity * d % 2, rotation = left;
      const int end = (which + d) % 2;
      for (ldpc_edge& e : t.edges)
        if (e.column == c) {
          e.from[parity] = buffer(which, c) + mod(e.shift - rotation);
          e.to[parity] = buffer(1 - which, c);
          e.check[parity] = buffer(end, c) + mod(e.shift - left);
          which = 1 - which;
          rotation = e.shift;
        }
      column.out[parity] = buffer(end, c) + mod(-left);
    }
    t.columns.push_back(column);
  }
  return t;
}

/// ldpc_decode_args::addresses, of codes whose rows and values fit a thread block.
std::vector<std::uint32_t> addresses_of(const ldpc_code& code, const layout_tables& t) {
  constexpr int value_bytes = 4;
  std::vector<std::uint32_t> table;
  if (code.z() > ldpc_row_threads || value_bytes * code.n() > 32768) return table;
  int most = 0;
  for (const ldpc_row& row : t.rows) most = std::max(most, row.degree);
  for (const ldpc_row& row : t.rows)
    for (int c = 0; c < (most + 3) / 4; c++)
      for (int r = 0; r < ldpc_row_threads; r++)
        for (int d = 4 * c; d < 4 * c + 4; d++) {
          int place = code.n() + std::max(r - code.z(), 0);
          if (d < row.degree && r < code.z()) {
            const ldpc_edge& e = t.edges[static_cast<std::size_t>(row.first + d)];
            place = e.column * code.z() + (r + e.shift) % code.z();
          }
          table.push_back(static_cast<std::uint32_t>(value_bytes * place));
        }
  return table;
}

/// What the code and the settings make of the arguments.
ldpc_decode_args fixed_arguments(const ldpc_code& code, const ldpc_decoder_config& c,
                                 const layout_tables& t) {
  const bool normalised = c.algorithm == ldpc_algorithm::normalised_min_sum;
  const bool offset = c.algorithm == ldpc_algorithm::offset_min_sum;
  const bool int8 = c.precision == ldpc_precision::int8;
  ldpc_decode_args a;
  a.n = code.n();
  a.z = code.z();
  a.rows = code.rows();
  a.columns = code.columns();
  a.blocks = code.blocks();
  a.column_stride = padded(2 * a.z + padding);
  a.row_stride = padded(a.z);
  a.iterations = c.iterations;
  a.sum_product = c.algorithm == ldpc_algorithm::sum_product;
  a.flooding = c.schedule == ldpc_schedule::flooding;
  a.early_stop = c.early_stop;
  a.scale = normalised ? c.scale : 1.f;
  a.eighths = static_cast<int>(8 * a.scale);
  a.offset = !offset ? 0.f : int8 ? std::min(std::nearbyint(c.offset * c.int8_steps), 127.f) : c.offset;
  a.steps = c.int8_steps;
  for (std::size_t m = 0; m < t.rows.size(); m++) {
    const ldpc_row& row = t.rows[m];
    a.firsts[m] = row.first;
    a.firsts[m + 1] = row.first + row.degree;
    a.least_degree = m == 0 ? row.degree : std::min(a.least_degree, row.degree);
    a.most_degree = std::max(a.most_degree, row.degree);
  }
  for (std::size_t i = 0; i < t.edges.size(); i++) a.places[i] = {t.edges[i].column * a.z, t.edges[i].shift};
  return a;
}

std::string text(float x) {
  std::string s = std::to_string(x);
  s.erase(s.find_last_not_of('0') + 1);
  return s.back() == '.' ? s + "0" : s;
}

void check(const ldpc_decoder_config& c) {
  auto named = [](const char* argument, int value, int most, const char* allowed) {
    if (value < 0 || value > most) throw argument_error(argument, std::to_string(value), allowed);
  };
  named("algorithm", static_cast<int>(c.algorithm), 3,
        "min_sum, normalised_min_sum, offset_min_sum or sum_product");
  named("schedule", static_cast<int>(c.schedule), 1, "layered or flooding");
  named("precision", static_cast<int>(c.precision), 2, "float32, float16 or int8");
  check_range("iterations", c.iterations, 1, 1000);
  const bool int8 = c.precision == ldpc_precision::int8;
  if (c.algorithm == ldpc_algorithm::sum_product && c.precision != ldpc_precision::float32)
    throw argument_error("precision", int8 ? "int8" : "float16", "float32 with sum_product");
  if (c.algorithm == ldpc_algorithm::normalised_min_sum) {
    if (!(c.scale > 0.f && c.scale <= 1.f)) throw argument_error("scale", text(c.scale), "above 0 to 1");
    if (int8 && (8 * c.scale != std::floor(8 * c.scale)))
      throw argument_error("scale", text(c.scale), "a multiple of 0.125 with int8");
  }
  if (c.algorithm == ldpc_algorithm::offset_min_sum && !(c.offset >= 0.f && c.offset <= 8.f))
    throw argument_error("offset", text(c.offset), "0 to 8");
  if (int8 && !(c.int8_steps >= 0.25f && c.int8_steps <= 64.f))
    throw argument_error("int8_steps", text(c.int8_steps), "0.25 to 64");
}

/// An output of k or n values for each codeword.
template <class T>
void check_bits(const char* argument, const view<T>& v, const ldpc_code& code, std::size_t items) {
  const auto k = static_cast<std::size_t>(code.k()), n = static_cast<std::size_t>(code.n());
  if (v.data != nullptr) check_shape(argument, v, v.elements == n ? n : k, items);
}

}  // namespace

ldpc_decoder::ldpc_decoder(const ldpc_code& code, const ldpc_decoder_config& config)
    : code_(code), config_(config) {
  check(config);
  layout_tables t = tables_of(code);
  addresses_ = resident<std::uint32_t>(addresses_of(code, t));
  if (config.precision == ldpc_precision::float16) {  // A of more messages than that could pass 65504
    std::vector<int> degree(static_cast<std::size_t>(code.columns()));
    for (const ldpc_edge& e : t.edges) degree[static_cast<std::size_t>(e.column)]++;
    for (int c = 0; c < code.columns(); c++)
      if (degree[static_cast<std::size_t>(c)] > 63)
        throw argument_error("precision", "float16",
                             "float32 for a code with more than 63 blocks in a column: column " +
                                 std::to_string(c) + " has " +
                                 std::to_string(degree[static_cast<std::size_t>(c)]));
  }
  fixed_ = fixed_arguments(code, config, t);
  edges_ = resident<ldpc_edge>(std::move(t.edges));
  rows_ = resident<ldpc_row>(std::move(t.rows));
  columns_ = resident<ldpc_column>(std::move(t.columns));
}

void ldpc_decoder::run(executor& exec, view<const float> llr, const ldpc_decoder_output& out) const {
  check_shape("llr", llr, static_cast<std::size_t>(code_.n()), llr.items);
  check_bits("bits", out.bits, code_, llr.items);
  check_bits("soft", out.soft, code_, llr.items);
  check_bits("extrinsic", out.extrinsic, code_, llr.items);
  check_optional_shape("iterations", out.iterations, 1, llr.items);
  check_optional_shape("status", out.status, 1, llr.items);
  ldpc_decode_args a = fixed_;
  a.llr = llr;
  a.bits = out.bits;
  a.soft = out.soft;
  a.extrinsic = out.extrinsic;
  a.iterations_used = out.iterations;
  a.status = out.status;
  a.edges = edges_.on(exec);
  a.row_table = rows_.on(exec);
  a.column_table = columns_.on(exec);
  if (!addresses_.host().empty()) a.addresses = addresses_.on(exec);
  switch (config_.precision) {
    case ldpc_precision::float32:
      exec.run(ldpc_decode_f32_kernels(), &a, llr.items);
      break;
    case ldpc_precision::float16:
      exec.run(ldpc_has_known_rows(a) ? ldpc_decode_f16_rows_kernels() : ldpc_decode_f16_kernels(), &a,
               llr.items);
      break;
    case ldpc_precision::int8:
      exec.run(ldpc_decode_i8_kernels(), &a, llr.items);
      break;
  }
}

}  // namespace wb
