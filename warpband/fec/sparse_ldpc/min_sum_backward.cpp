#include <warpband/fec/sparse_ldpc/min_sum_backward.hpp>

#include <algorithm>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/fec/ldpc/check_rule_settings.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward_args.hpp>
#include <warpband/fec/sparse_ldpc/row_tables.hpp>

namespace wb {

WB_DECLARE_KERNEL(min_sum_backward)

struct min_sum_backward::tables {
  min_sum_backward_args fixed;  // without data
  resident<std::int32_t> sent, shortened, layer_firsts, place_columns;
  resident<sparse_ldpc_row> rows;
  resident<ldpc_correction> corrections;

  template <class Config>
  tables(min_sum_backward_args a, row_tables t, std::vector<int> sent_columns,
         std::vector<int> shortened_columns, const Config& c)
      : fixed(a),
        sent(std::move(sent_columns)),
        shortened(std::move(shortened_columns)),
        corrections(corrections_of(c, std::nullopt)) {
    if (c.algorithm == ldpc_algorithm::sum_product)
      throw argument_error("algorithm", "\"sum-product\"", "a min-sum algorithm: it has gradients");
    if (c.schedule == ldpc_schedule::flooding)
      throw argument_error("schedule", "\"flooding\"", "\"layered\": it has gradients");
    t.describe(fixed);
    for (const sparse_ldpc_row& row : t.rows) fixed.ones += row.degree;
    fixed.rows = static_cast<int>(t.rows.size());
    fixed.sent = static_cast<int>(sent.host().size());
    fixed.shortened = static_cast<int>(shortened.host().size());
    fixed.iterations = c.iterations;
    while (fixed.segment * fixed.segment < c.iterations) fixed.segment++;
    fixed.segments = (c.iterations + fixed.segment - 1) / fixed.segment;
    fixed.states = std::max(fixed.segments - 2, 0);
    fixed.of_offset = c.algorithm == ldpc_algorithm::offset_min_sum;
    layer_firsts = resident<std::int32_t>(std::move(t.layer_firsts));
    place_columns = resident<std::int32_t>(std::move(t.place_columns));
    rows = resident<sparse_ldpc_row>(std::move(t.rows));
  }
};

namespace {

/// The rows of a block row are a layer.
row_tables row_tables_of(const ldpc_code& code) {
  row_tables t;
  std::vector<int> columns;
  for (int m = 0; m < code.rows(); m++) {
    for (int r = 0; r < code.z(); r++) {
      columns.clear();
      for (int c = 0; c < code.columns(); c++)
        if (const int shift = code.shift(m, c); shift >= 0)
          columns.push_back(c * code.z() + (r + shift) % code.z());
      t.add(columns, m * code.z() + r);
    }
    t.end_layer();
  }
  return t;
}

min_sum_backward_args sizes_of(int n, int k) {
  min_sum_backward_args a;
  a.n = n;
  a.k = k;
  return a;
}

std::vector<int> first_columns(int n) {
  std::vector<int> columns;
  for (int c = 0; c < n; c++) columns.push_back(c);
  return columns;
}

const ldpc_decoder_config& checked(const ldpc_code& code, const ldpc_decoder_config& c) {
  check(code, c, true);
  if (c.precision != ldpc_precision::float32)
    throw argument_error("precision", c.precision == ldpc_precision::int8 ? "\"int8\"" : "\"float16\"",
                         "\"float32\": it has gradients");
  return c;
}
const sparse_ldpc_config& checked(const sparse_ldpc_config& c) {
  check_settings(sparse_ldpc_settings(), c);
  check_corrections(c, false);
  return c;
}

}  // namespace

min_sum_backward::min_sum_backward(const ldpc_code& code, const ldpc_decoder_config& config)
    : n_(code.n()),
      sent_(code.n()),
      iterations_(checked(code, config).iterations),
      tables_(std::make_shared<const tables>(sizes_of(code.n(), code.k()), row_tables_of(code),
                                             first_columns(code.n()), std::vector<int>{}, config)) {}

min_sum_backward::min_sum_backward(const parity_check_matrix& matrix, const sparse_ldpc_config& config)
    : n_(matrix.n()),
      sent_(matrix.sent()),
      iterations_(checked(config).iterations),
      tables_(std::make_shared<const tables>(sizes_of(matrix.n(), matrix.k()), row_tables_of(matrix, false),
                                             matrix.sent_columns(), matrix.shortened(), config)) {}

void min_sum_backward::run(executor& exec, view<const float> llr, view<const float> soft_gradient,
                           const min_sum_gradients& out) const {
  if (!tables_) refuse_moved_from();
  const std::size_t items = llr.items;
  check_shape("llr", llr, items, as_size(sent_));
  check_shape("soft_gradient", soft_gradient, items, as_size(n_));
  check_optional_shape("llr_gradient", out.llr, items, as_size(sent_));
  check_optional_shape("correction_gradient", out.correction, items, as_size(iterations_));
  check_optional_shape("status", out.status, items, 1);
  check_apart({{"llr_gradient", out.llr}, {"correction_gradient", out.correction}, {"status", out.status}});
  min_sum_backward_args a = tables_->fixed;
  a.llr = llr;
  a.soft_gradient = soft_gradient;
  a.llr_gradient = out.llr;
  a.correction_gradient = out.correction;
  a.status = out.status;
  a.corrections.list = tables_->corrections.on(exec);
  a.corrections.count = static_cast<std::int32_t>(tables_->corrections.host().size());
  a.sent_columns = tables_->sent.on(exec);
  a.shortened_columns = tables_->shortened.on(exec);
  a.row_table = tables_->rows.on(exec);
  a.layer_firsts = tables_->layer_firsts.on(exec);
  a.place_columns = tables_->place_columns.on(exec);
  exec.run(min_sum_backward_kernels(), &a, items);
}

}  // namespace wb
