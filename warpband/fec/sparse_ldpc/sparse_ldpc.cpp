#include <warpband/fec/sparse_ldpc/sparse_ldpc.hpp>

#include <algorithm>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/fec/ldpc/check_rule_settings.hpp>
#include <warpband/fec/sparse_ldpc/row_tables.hpp>

namespace wb {

WB_DECLARE_KERNEL(sparse_ldpc_decode)
WB_DECLARE_KERNEL(sparse_ldpc_product)
WB_DECLARE_KERNEL(sparse_ldpc_encode)

namespace {

/// The layer of each row: the first in which no row shares a bit with it. Sets of layers a bit has are words
/// of 64, as many as the largest layer needs.
std::vector<int> layers_of(const parity_check_matrix& h) {
  std::vector<std::vector<std::uint64_t>> taken(as_size(h.n()));
  std::vector<int> layers;
  std::vector<std::uint64_t> used;
  for (const std::vector<int>& row : h.rows()) {
    used.clear();
    for (const int c : row) {
      const auto& of_bit = taken[as_size(c)];
      used.resize(std::max(used.size(), of_bit.size()));
      for (std::size_t w = 0; w < of_bit.size(); w++) used[w] |= of_bit[w];
    }
    int layer = 0;
    while (as_size(layer) < 64 * used.size() && (used[as_size(layer) / 64] >> (layer % 64) & 1u) != 0)
      layer++;
    layers.push_back(layer);
    for (const int c : row) {
      auto& of_bit = taken[as_size(c)];
      of_bit.resize(std::max(of_bit.size(), as_size(layer) / 64 + 1));
      of_bit[as_size(layer) / 64] |= std::uint64_t{1} << (layer % 64);
    }
  }
  return layers;
}

}  // namespace

void row_tables::add(const std::vector<int>& columns, int number) {
  rows.push_back(
      {static_cast<std::int32_t>(place_columns.size()), static_cast<std::int32_t>(columns.size()), number});
  place_columns.insert(place_columns.end(), columns.begin(), columns.end());
  // Neighbouring threads then use all banks of shared memory.
  if (columns.size() % 2 == 0) place_columns.push_back(0);
}

void row_tables::describe(sparse_ldpc_args& a) const {
  a.places = static_cast<int>(place_columns.size());
  a.layers = static_cast<int>(layer_firsts.size()) - 1;
  for (int i = 0; i < a.layers; i++)
    a.widest = std::max(a.widest, layer_firsts[as_size(i) + 1] - layer_firsts[as_size(i)]);
  for (const sparse_ldpc_row& row : rows) a.most_degree = std::max(a.most_degree, row.degree);
}

row_tables row_tables_of(const parity_check_matrix& h, bool flooding) {
  const std::vector<int> layers = flooding ? std::vector<int>(as_size(h.checks())) : layers_of(h);
  std::vector<int> order(layers.size());
  for (std::size_t i = 0; i < order.size(); i++) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int i, int j) { return layers[as_size(i)] < layers[as_size(j)]; });
  row_tables t;
  for (const int i : order) {
    if (!t.rows.empty() && layers[as_size(i)] != layers[as_size(t.rows.back().number)]) t.end_layer();
    t.add(h.rows()[as_size(i)], i);
  }
  t.end_layer();
  return t;
}

namespace {

/// sparse_ldpc_args::column_firsts, then column_places.
std::vector<std::int32_t> places_of_columns(const parity_check_matrix& h, const row_tables& t) {
  std::vector<std::vector<std::int32_t>> places(as_size(h.n()));
  for (const sparse_ldpc_row& row : t.rows)  // flooding: in order of H
    for (int d = row.first; d < row.first + row.degree; d++)
      places[as_size(t.place_columns[as_size(d)])].push_back(d);
  std::vector<std::int32_t> table{0};
  for (const auto& p : places) table.push_back(table.back() + static_cast<std::int32_t>(p.size()));
  for (const auto& p : places) table.insert(table.end(), p.begin(), p.end());
  return table;
}

/// Sparse parity bits in order of steps, as sparse_ldpc_encode_args has them.
struct sparse_sums {
  std::vector<std::int32_t> columns, first{0}, summed;
  std::vector<sparse_ldpc_step> steps;

  /// Whether parity bit i needs no other one than that before it.
  bool accumulates(std::size_t i) const {
    return i > 0 && first[2 * i + 2] - first[2 * i + 1] == 1 &&
           summed[as_size(first[2 * i + 1])] == columns[i - 1];
  }
  /// The parity bits from `begin` on are the next level: they need only those of earlier ones.
  void add_step(std::size_t begin) {
    if (begin == 0) return;  // all bits that they need are known
    const bool one = columns.size() - begin == 1 && accumulates(begin);
    if (one && !steps.empty() && steps.back().accumulates)
      steps.back().end++;
    else
      steps.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(columns.size()), one});
  }
};
sparse_sums sparse_sums_of(const parity_check_matrix& h) {
  const std::vector<std::vector<int>> sums = h.parity_sums();
  const std::size_t dense = h.parity_columns().size() - sums.size();
  std::vector<int> level(as_size(h.n()), -1);  // -1: known before all levels
  std::vector<std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < sums.size(); i++) {
    int last = -1;
    for (const int c : sums[i]) last = std::max(last, level[as_size(c)]);
    level[as_size(h.parity_columns()[dense + i])] = last + 1;
    if (members.size() <= as_size(last + 1)) members.emplace_back();
    members[as_size(last + 1)].push_back(i);
  }
  sparse_sums t;
  for (const auto& next_level : members) {
    const std::size_t begin = t.columns.size();
    for (const std::size_t i : next_level) {
      t.columns.push_back(h.parity_columns()[dense + i]);
      for (const bool known : {true, false}) {
        for (const int c : sums[i])
          if ((level[as_size(c)] < 0) == known) t.summed.push_back(c);
        t.first.push_back(static_cast<std::int32_t>(t.summed.size()));
      }
    }
    t.add_step(begin);
  }
  return t;
}

}  // namespace

const std::vector<setting_of<sparse_ldpc_config>>& sparse_ldpc_settings() {
  using c = sparse_ldpc_config;
  static const std::vector<setting_of<c>> settings = with_check_rule<c>(
      "", {
              integer("iterations", &c::iterations, 1, 10000, "Iterations; with early_stop the most."),
              words<c, ldpc_schedule>(
                  "schedule", &c::schedule,
                  {{"layered", ldpc_schedule::layered}, {"flooding", ldpc_schedule::flooding}},
                  "layered: layers of rows without a common bit one after the other, each with "
                  "the results of those before it; flooding: all checks at once."),
              words<c, bool>("early_stop", &c::early_stop, {{"syndrome", true}, {"none", false}},
                             "syndrome: iterating stops once all checks of the codeword hold."),
          });
  return settings;
}

sparse_ldpc_decoder::sparse_ldpc_decoder(const parity_check_matrix& matrix, const sparse_ldpc_config& config)
    : matrix_(matrix), config_((check_settings(sparse_ldpc_settings(), config), config)) {
  const bool flooding = config.schedule == ldpc_schedule::flooding;
  row_tables t = row_tables_of(matrix_, flooding);
  sparse_ldpc_args& a = fixed_;
  a.n = matrix_.n();
  a.sent = matrix_.sent();
  a.k = matrix_.k();
  a.rows = matrix_.checks();
  a.shortened = static_cast<int>(matrix_.shortened().size());
  t.describe(a);
  a.ones = static_cast<double>(matrix_.ones());
  a.iterations = config.iterations;
  a.flooding = flooding;
  a.early_stop = config.early_stop;
  check_corrections(config, false);
  std::vector<ldpc_correction> corrections = corrections_of(config, std::nullopt);
  a.corrections.fixed = corrections.front();
  if (corrections.size() > 1) corrections_ = resident<ldpc_correction>(std::move(corrections));
  if (flooding) column_places_ = resident<std::int32_t>(places_of_columns(matrix_, t));
  sent_ = resident<std::int32_t>(matrix_.sent_columns());
  shortened_ = resident<std::int32_t>(matrix_.shortened());
  information_ = resident<std::int32_t>(matrix_.information_columns());
  layer_firsts_ = resident<std::int32_t>(std::move(t.layer_firsts));
  place_columns_ = resident<std::int32_t>(std::move(t.place_columns));
  rows_ = resident<sparse_ldpc_row>(std::move(t.rows));
}

void sparse_ldpc_decoder::run(executor& exec, const llr_batch& given, const sparse_ldpc_output& out,
                              view<const std::uint8_t> syndrome) const {
  const std::size_t items = given.items;
  const auto check_bits = [&](const char* argument, const auto& v) {
    if (v.data != nullptr)
      check_shape(argument, v, items,
                  v.elements == as_size(fixed_.n) ? as_size(fixed_.n) : as_size(fixed_.k));
  };
  check_shape("llr", given, items, as_size(fixed_.sent));
  check_bits("bits", out.bits);
  check_bits("soft", out.soft);
  check_optional_shape("extrinsic", out.extrinsic, items, as_size(fixed_.sent));
  check_optional_shape("iterations", out.iterations, items, 1);
  check_optional_shape("status", out.status, items, 1);
  check_optional_shape("undecided", out.undecided, items, 1);
  check_optional_shape("syndrome", syndrome, items, as_size(fixed_.rows));
  check_apart({{"bits", out.bits},
               {"soft", out.soft},
               {"extrinsic", out.extrinsic},
               {"iterations", out.iterations},
               {"status", out.status},
               {"undecided", out.undecided}});
  sparse_ldpc_args a = fixed_;
  a.llr = floats_.of(exec, given);
  a.syndrome = syndrome;
  a.bits = out.bits;
  a.soft = out.soft;
  a.extrinsic = out.extrinsic;
  a.iterations_used = out.iterations;
  a.status = out.status;
  a.undecided = out.undecided;
  if (!corrections_.host().empty()) {
    a.corrections.list = corrections_.on(exec);
    a.corrections.count = static_cast<std::int32_t>(corrections_.host().size());
  }
  a.sent_columns = sent_.on(exec);
  a.shortened_columns = shortened_.on(exec);
  a.information_columns = information_.on(exec);
  a.row_table = rows_.on(exec);
  a.layer_firsts = layer_firsts_.on(exec);
  a.place_columns = place_columns_.on(exec);
  if (a.flooding) {
    a.column_firsts = column_places_.on(exec);
    a.column_places = a.column_firsts + a.n + 1;
  }
  const bool product = config_.algorithm == ldpc_algorithm::sum_product;
  exec.run(product ? sparse_ldpc_product_kernels() : sparse_ldpc_decode_kernels(), &a, items);
}

sparse_ldpc_encoder::sparse_ldpc_encoder(const parity_check_matrix& matrix) : matrix_(matrix) {
  const std::vector<std::uint32_t> by_row = matrix_.parity_rows();
  const std::size_t words = (as_size(matrix_.k()) + 31) / 32, dense = words == 0 ? 0 : by_row.size() / words;
  std::vector<std::uint32_t> by_word(by_row.size());
  for (std::size_t i = 0; i < dense; i++)
    for (std::size_t w = 0; w < words; w++) by_word[w * dense + i] = by_row[i * words + w];
  sparse_sums sums = sparse_sums_of(matrix_);
  fixed_.n = matrix_.n();
  fixed_.k = matrix_.k();
  fixed_.sent = matrix_.sent();
  fixed_.sparse = static_cast<int>(sums.columns.size());
  fixed_.dense = static_cast<int>(matrix_.parity_columns().size()) - fixed_.sparse;
  fixed_.words = fixed_.dense == 0 ? 0 : (fixed_.k + 31) / 32;
  fixed_.steps = static_cast<int>(sums.steps.size());
  std::vector<std::int32_t> columns = matrix_.parity_columns();
  std::copy(sums.columns.begin(), sums.columns.end(), columns.end() - fixed_.sparse);
  parity_ = resident<std::uint32_t>(std::move(by_word));
  parity_columns_ = resident<std::int32_t>(std::move(columns));
  information_ = resident<std::int32_t>(matrix_.information_columns());
  sent_ = resident<std::int32_t>(matrix_.sent_columns());
  first_ = resident<std::int32_t>(std::move(sums.first));
  summed_ = resident<std::int32_t>(std::move(sums.summed));
  steps_ = resident<sparse_ldpc_step>(std::move(sums.steps));
}

void sparse_ldpc_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  check_shape("bits", bits, bits.items, as_size(matrix_.k()));
  if (coded.elements < as_size(matrix_.sent()))
    throw shape_error("coded", shape_text(coded.items, coded.elements),
                      "at least " + std::to_string(matrix_.sent()) + " bits a codeword");
  check_shape("coded", coded, bits.items, coded.elements);
  sparse_ldpc_encode_args a = fixed_;
  a.bits = bits;
  a.coded = coded;
  a.parity = parity_.on(exec);
  a.parity_columns = parity_columns_.on(exec);
  a.information_columns = information_.on(exec);
  a.sent_columns = sent_.on(exec);
  a.first = first_.on(exec);
  a.summed_columns = summed_.on(exec);
  a.step_table = steps_.on(exec);
  exec.run(sparse_ldpc_encode_kernels(), &a, bits.items);
}

}  // namespace wb
