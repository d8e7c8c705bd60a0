#include <warpband/fec/ldpc/ldpc.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/fec/ldpc/check_rule_settings.hpp>
#include <warpband/fec/ldpc/ldpc_nr.hpp>

namespace wb {

WB_DECLARE_KERNEL(ldpc_decode_f32)
WB_DECLARE_KERNEL(ldpc_decode_product)
WB_DECLARE_KERNEL(ldpc_decode_f16)
WB_DECLARE_KERNEL(ldpc_decode_f16_rows)
WB_DECLARE_KERNEL(ldpc_decode_f16_kept_rows)
WB_DECLARE_KERNEL(ldpc_decode_i8_rows)
WB_DECLARE_KERNEL(ldpc_decode_f32_rows)
WB_DECLARE_KERNEL(ldpc_decode_product_rows)
WB_DECLARE_KERNEL(ldpc_decode_i8)

namespace {

// What a vector may read or write behind the last value, and to what rows of messages are padded: no vector
// has more elements.
constexpr int padding = 32;
int padded(int values) { return (values + padding - 1) / padding * padding; }
int column_stride(int z, bool flooding) { return padded((flooding ? 2 : 1) * z + padding); }

/// Columns in rotating storage (ldpc_op.hpp). Place p of a column in rotation s has bit (p + s) mod z; a row
/// r of shift s reads place (r + s - rotation) mod z and leaves rotation s.
struct layout_tables {
  std::vector<ldpc_edge> edges;
  std::vector<ldpc_row> rows;
  std::vector<ldpc_column> columns;
};
/// f(edge, buffer, rotation) of the edges of column c in their order: where the column lies when the edge
/// reads it, in an even (0) or odd (1) iteration.
template <class Edges, class F>
void each_reader(Edges& edges, int c, int odd, F f) {
  int degree = 0, rotation = 0;
  for (const ldpc_edge& e : edges)
    if (e.column == c) degree++, rotation = e.shift;
  int buffer = odd * degree % 2;
  for (auto& e : edges)
    if (e.column == c) {
      f(e, buffer, rotation);
      buffer = 1 - buffer;
      rotation = e.shift;
    }
}
layout_tables tables_of(const ldpc_code& code) {
  const int stride = column_stride(code.z(), false);
  auto place = [&](int buffer, int column) { return (buffer * code.columns() + column) * stride; };
  layout_tables t;
  for (int m = 0; m < code.rows(); m++) {
    t.rows.push_back({static_cast<std::int32_t>(t.edges.size()), 0});
    for (int c = 0; c < code.columns(); c++)
      if (const int s = code.shift(m, c); s >= 0) {
        t.edges.push_back({c, s, {}});
        t.rows.back().degree++;
      }
  }
  for (int c = 0; c < code.columns(); c++) {
    ldpc_column column{0, place(0, c), {place(0, c), place(0, c)}};
    for (int odd = 0; odd < 2; odd++)
      each_reader(t.edges, c, odd, [&](ldpc_edge& e, int buffer, int) {
        e.to[odd] = column.last[odd] = place(1 - buffer, c);
        column.rotation = e.shift;
      });
    t.columns.push_back(column);
  }
  return t;
}

/// ldpc_decode_args::column_firsts, and behind them column_edges.
std::vector<std::int32_t> column_edges_of(const ldpc_code& code, const std::vector<ldpc_edge>& edges) {
  std::vector<std::int32_t> firsts, by_column;
  for (int c = 0; c < code.columns(); c++) {
    firsts.push_back(static_cast<std::int32_t>(by_column.size()));
    for (std::size_t i = 0; i < edges.size(); i++)
      if (edges[i].column == c) by_column.push_back(static_cast<std::int32_t>(i));
  }
  firsts.push_back(static_cast<std::int32_t>(by_column.size()));
  firsts.insert(firsts.end(), by_column.begin(), by_column.end());
  return firsts;
}

/// ldpc_decode_args::reads for vectors of so many values.
std::vector<std::int32_t> reads_of(const ldpc_code& code, const std::vector<ldpc_edge>& edges,
                                   const std::vector<ldpc_row>& rows, const std::vector<ldpc_column>& columns,
                                   int values) {
  const int z = code.z(), vectors = (z + values - 1) / values, stride = column_stride(z, false);
  const std::size_t n = edges.size(), reads = n * static_cast<std::size_t>(vectors);
  auto places = [&](int from, int by) {  // of a column from place `from` on, read `by` places further
    std::vector<std::int32_t> positions;
    for (int v = 0; v < vectors; v++) positions.push_back(from + ((by + v * values) % z + z) % z);
    return positions;
  };
  std::vector<std::size_t> row_of(n);
  for (std::size_t m = 0; m < rows.size(); m++)
    for (int d = 0; d < rows[m].degree; d++) row_of[static_cast<std::size_t>(rows[m].first + d)] = m;
  std::vector<std::int32_t> table(4 * reads);
  for (int c = 0; c < code.columns(); c++)
    for (int odd = 0; odd < 2; odd++)
      each_reader(edges, c, odd, [&](const ldpc_edge& e, int buffer, int rotation) {
        const auto edge = static_cast<std::size_t>(&e - edges.data());
        const ldpc_row row = rows[row_of[edge]];
        const ldpc_column& column = columns[static_cast<std::size_t>(c)];
        const auto read = places((buffer * code.columns() + c) * stride, e.shift - rotation),
                   last = places(column.last[odd], e.shift - column.rotation);
        const auto before = static_cast<std::size_t>(row.first * (vectors - 1)),
                   degree = static_cast<std::size_t>(row.degree);
        for (std::size_t v = 0; v < static_cast<std::size_t>(vectors); v++) {
          table[static_cast<std::size_t>(odd) * reads + before + v * degree + edge] = read[v];
          table[static_cast<std::size_t>(2 + odd) * reads + v * n + edge] = last[v];
        }
      });
  return table;
}

/// int8: of an automatic scale (llr_scale), and what the offset is counted in then.
constexpr float int8_fineness = 9.f, int8_offset_quanta = 2.f;

/// Steps of an offset in an LLR of 1, with int8.
std::optional<float> offset_steps(const ldpc_decoder_config& c) {
  if (c.precision != ldpc_precision::int8) return {};
  return c.llr_steps.value_or(int8_offset_quanta);
}

constexpr int value_bytes = 4;  // of an LLR in shared memory

/// ldpc_decode_args::addresses, of codes whose rows and values fit a thread block.
std::vector<std::uint32_t> addresses_of(const ldpc_code& code, const layout_tables& t) {
  std::vector<std::uint32_t> table;
  if (code.z() > ldpc_row_threads || value_bytes * code.n() > 32768) return table;
  int max_degree = 0;
  for (const ldpc_row& row : t.rows) max_degree = std::max(max_degree, row.degree);
  for (const ldpc_row& row : t.rows)
    for (int c = 0; c < (max_degree + 3) / 4; c++)
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
ldpc_decode_args fixed_arguments(const ldpc_code& code, const ldpc_decoder_config& c, const layout_tables& t,
                                 const std::vector<ldpc_correction>& corrections) {
  ldpc_decode_args a;
  a.n = code.n();
  a.z = code.z();
  a.rows = code.rows();
  a.columns = code.columns();
  a.blocks = code.blocks();
  a.column_stride = column_stride(a.z, c.schedule == ldpc_schedule::flooding);
  a.row_stride = padded(a.z);
  a.iterations = c.iterations;
  a.sum_product = c.algorithm == ldpc_algorithm::sum_product;
  a.flooding = c.schedule == ldpc_schedule::flooding;
  a.early_stop = c.early_stop != ldpc_early_stop::none;
  a.corrections.fixed = corrections.front();
  for (std::size_t m = 0; m < t.rows.size(); m++) {
    const ldpc_row& row = t.rows[m];
    a.firsts[m] = row.first;
    a.firsts[m + 1] = row.first + row.degree;
    a.least_degree = m == 0 ? row.degree : std::min(a.least_degree, row.degree);
    a.most_degree = std::max(a.most_degree, row.degree);
  }
  for (std::size_t i = 0; i < t.edges.size(); i++) a.places[i] = {t.edges[i].column * a.z, t.edges[i].shift};
  a.base_graph = nr_base_graph_of(code);
  for (std::size_t i = 0; a.base_graph != 0 && i < t.edges.size(); i++)
    a.byte_shifts[i] = value_bytes * t.edges[i].shift;
  return a;
}

/// An output of k or n values for each codeword.
template <class T>
void check_bits(const char* argument, const view<T>& v, const ldpc_code& code, std::size_t items) {
  const auto k = static_cast<std::size_t>(code.k()), n = static_cast<std::size_t>(code.n());
  if (v.data != nullptr) check_shape(argument, v, items, v.elements == n ? n : k);
}

/// Those for any code; on a CUDA device those with messages in registers where they serve the call.
const kernel_set& kernels_of(const executor& exec, ldpc_precision precision, const ldpc_decode_args& a) {
  const bool int8 = precision == ldpc_precision::int8, float16 = precision == ldpc_precision::float16;
  const kernel_set& any = a.sum_product ? ldpc_decode_product_kernels()
                          : int8        ? ldpc_decode_i8_kernels()
                          : float16     ? ldpc_decode_f16_kernels()
                                        : ldpc_decode_f32_kernels();
  if (&exec.build_of(any) != any.cuda || !ldpc_has_known_rows(a)) return any;
  if (float16 && ldpc_keeps_rows(a)) return ldpc_decode_f16_kept_rows_kernels();
  if (a.messages.data != nullptr) return any;
  return a.sum_product ? ldpc_decode_product_rows_kernels()
         : int8        ? ldpc_decode_i8_rows_kernels()
         : float16     ? ldpc_decode_f16_rows_kernels()
                       : ldpc_decode_f32_rows_kernels();
}

}  // namespace

const std::vector<setting_of<ldpc_decoder_config>>& ldpc_decoder_settings() {
  using c = ldpc_decoder_config;
  static const std::vector<setting_of<c>> settings = with_check_rule<c>(
      " With int8 a multiple of 0.125.",
      {
          integer("iterations", &c::iterations, 1, 1000, "Iterations; with early_stop the most."),
          words<c, ldpc_schedule>(
              "schedule", &c::schedule,
              {{"layered", ldpc_schedule::layered}, {"flooding", ldpc_schedule::flooding}},
              "layered: block rows one after the other, each with the results of those "
              "before it; flooding: all checks at once."),
          words<c, ldpc_precision>(
              "precision", &c::precision,
              {{"float32", ldpc_precision::float32},
               {"float16", ldpc_precision::float16},
               {"int8", ldpc_precision::int8}},
              "Number format of the messages. float16 is for GPUs: a CPU computes the same "
              "bits, but slowly. sum-product takes float32 only."),
          llr_steps_setting("llr_steps", &c::llr_steps, "Steps of int8 messages in an LLR of 1.")
              .only_with("precision", {"int8"}),
          words<c, ldpc_early_stop>("early_stop", &c::early_stop,
                                    {{"syndrome", ldpc_early_stop::syndrome},
                                     {"none", ldpc_early_stop::none},
                                     {"crc", ldpc_early_stop::crc}},
                                    "syndrome: iterating stops once all checks of the codeword hold; crc: "
                                    "once they or its CRC hold, "
                                    "for codes with a CRC."),
      });
  return settings;
}

void check(const ldpc_code& code, const ldpc_decoder_config& c, bool has_crc) {
  check_settings(ldpc_decoder_settings(), c);
  if (c.early_stop == ldpc_early_stop::crc && !has_crc)
    throw argument_error("early_stop", "\"crc\"", "\"syndrome\" or \"none\" for a code without a CRC");
  const bool int8 = c.precision == ldpc_precision::int8;
  if (c.algorithm == ldpc_algorithm::sum_product && c.precision != ldpc_precision::float32)
    throw argument_error("precision", int8 ? "\"int8\"" : "\"float16\"", "\"float32\" with sum-product");
  check_corrections(c, int8);
  if (c.precision != ldpc_precision::float16) return;
  for (int column = 0; column < code.columns(); column++) {  // A of more messages could pass 65504
    int degree = 0;
    for (int row = 0; row < code.rows(); row++) degree += code.shift(row, column) >= 0;
    if (degree > 63)
      throw argument_error("precision", "float16",
                           "float32 for a code with more than 63 blocks in a column: column " +
                               std::to_string(column) + " has " + std::to_string(degree));
  }
}

struct ldpc_decoder::reads_by_vector {
  std::mutex mutex;
  std::map<int, resident<std::int32_t>> tables;
};

ldpc_decoder::ldpc_decoder(const ldpc_code& code, const ldpc_decoder_config& config,
                           const std::optional<ldpc_crc>& crc, ldpc_erasures erasures)
    : code_(code),
      config_((check(code, config, crc.has_value()), config)),
      reads_(std::make_shared<reads_by_vector>()),
      scale_(config.llr_steps, int8_fineness, static_cast<float>(code.k())) {
  if (config.early_stop == ldpc_early_stop::crc) {
    check_range("crc.bits", crc->bits, 0, code.k());
    crc_weights_ = resident(crc_remainders(crc->bits == 0 ? code.k() : crc->bits, crc->polynomial));
  }
  layout_tables t = tables_of(code);
  addresses_ = resident<std::uint32_t>(addresses_of(code, t));
  std::vector<ldpc_correction> corrections = corrections_of(config, offset_steps(config));
  fixed_ = fixed_arguments(code, config, t, corrections);
  if (corrections.size() > 1) corrections_ = resident<ldpc_correction>(std::move(corrections));
  fixed_.takes_any_word = erasures == ldpc_erasures::none;
  column_edges_ = resident<std::int32_t>(column_edges_of(code, t.edges));
  edges_ = resident<ldpc_edge>(std::move(t.edges));
  rows_ = resident<ldpc_row>(std::move(t.rows));
  columns_ = resident<ldpc_column>(std::move(t.columns));
}

std::size_t ldpc_decoder::message_values() const noexcept {
  return static_cast<std::size_t>(code_.blocks()) * static_cast<std::size_t>(code_.z()) +
         2 * static_cast<std::size_t>(code_.n()) + 1;
}

std::size_t ldpc_decoder::state_values() const noexcept {
  if (config_.precision != ldpc_precision::float16) return message_values();
  // Rows begin where 128 bytes do.
  constexpr std::size_t multiple = 32;
  const std::size_t halves = message_values() - 1, values = (halves + 1) / 2 + 1;
  return (values + multiple - 1) / multiple * multiple;
}

void ldpc_decoder::run(executor& exec, const llr_batch& given, const ldpc_decoder_output& out) const {
  check_shape("llr", given, given.items, static_cast<std::size_t>(code_.n()));
  check_bits("bits", out.bits, code_, given.items);
  check_bits("soft", out.soft, code_, given.items);
  check_bits("extrinsic", out.extrinsic, code_, given.items);
  check_optional_shape("messages", out.messages, given.items, message_values());
  check_optional_shape("state", out.state, given.items, state_values());
  if (out.state.data != nullptr && out.messages.data != nullptr)
    throw argument_error("state", "given beside messages", "one of the two");
  if (out.state.data != nullptr && out.state.element_stride != 1)
    throw argument_error("state",
                         "a stride of " + std::to_string(out.state.element_stride) + " between values",
                         "values side by side, a stride of 1");
  check_optional_shape("iterations", out.iterations, given.items, 1);
  check_optional_shape("status", out.status, given.items, 1);
  check_apart({{"bits", out.bits},
               {"soft", out.soft},
               {"extrinsic", out.extrinsic},
               {"messages", out.messages},
               {"state", out.state},
               {"iterations", out.iterations},
               {"status", out.status}});
  const view<const float> llr = floats_.of(exec, given);
  ldpc_decode_args a = fixed_;
  a.llr = llr;
  a.bits = out.bits;
  a.soft = out.soft;
  a.extrinsic = out.extrinsic;
  a.messages = out.state.data != nullptr ? out.state : out.messages;
  a.kept_halves = out.state.data != nullptr && config_.precision == ldpc_precision::float16;
  a.reads_messages = out.reads_messages;
  a.writes_messages = out.writes_messages;
  a.iterations_used = out.iterations;
  a.status = out.status;
  a.edges = edges_.on(exec);
  a.row_table = rows_.on(exec);
  a.column_table = columns_.on(exec);
  if (a.messages.data != nullptr) {
    a.column_firsts = column_edges_.on(exec);
    a.column_edges = a.column_firsts + a.columns + 1;
  }
  if (!corrections_.host().empty()) {
    a.corrections.list = corrections_.on(exec);
    a.corrections.count = static_cast<std::int32_t>(corrections_.host().size());
  }
  if (!addresses_.host().empty()) a.addresses = addresses_.on(exec);
  if (config_.early_stop == ldpc_early_stop::crc) {
    a.crc_weights = crc_weights_.on(exec);
    a.crc_bits = static_cast<int>(crc_weights_.host().size());
  }
  if (config_.precision == ldpc_precision::int8) a.quanta = scale_.of(exec, llr);
  const kernel_set& kernels = kernels_of(exec, config_.precision, a);
  const kernel& build = exec.build_of(kernels);
  if (&build != kernels.cuda) {
    const int values = build.lanes;
    a.vectors = (a.z + values - 1) / values;
    std::lock_guard lock(reads_->mutex);
    auto entry = reads_->tables.find(values);
    if (entry == reads_->tables.end()) {
      resident table(reads_of(code_, edges_.host(), rows_.host(), columns_.host(), values));
      entry = reads_->tables.emplace(values, std::move(table)).first;
    }
    a.reads = entry->second.on(exec);
  }
  exec.run(kernels, &a, llr.items);
}

}  // namespace wb
