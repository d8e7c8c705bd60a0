#include <warpband/fec/osd/osd.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/overlap.hpp>
#include <warpband/exec/kernel.hpp>

namespace wb {

WB_DECLARE_KERNEL(osd)

namespace {

constexpr int osd_most_checks = 46340;  // m^2 bits are at most 2^31

/// The first place of each list, then all entries.
std::vector<std::int32_t> osd_table(const std::vector<std::vector<int>>& lists) {
  std::vector<std::int32_t> table{0};
  for (const auto& list : lists) table.push_back(table.back() + static_cast<std::int32_t>(list.size()));
  for (const auto& list : lists) table.insert(table.end(), list.begin(), list.end());
  return table;
}

std::vector<std::vector<int>> osd_columns(const parity_check_matrix& h) {
  std::vector<std::vector<int>> columns(as_size(h.n()));
  for (int r = 0; r < h.checks(); r++)
    for (const int c : h.rows()[as_size(r)]) columns[as_size(c)].push_back(r);
  return columns;
}

std::vector<float> osd_priors(const std::vector<double>& error_channel, int n) {
  if (!error_channel.empty() && error_channel.size() != 1 && error_channel.size() != as_size(n))
    throw argument_error("error_channel", std::to_string(error_channel.size()) + " values",
                         "1 or " + std::to_string(n) + " probabilities");
  std::vector<float> llr;
  for (const double p : error_channel) {
    if (!(p > 0 && p < 1))
      throw argument_error("error_channel", as_message(setting_value(p)),
                           "probabilities above 0 and below 1");
    llr.push_back(static_cast<float>(std::log1p(-p) - std::log(p)));
  }
  if (llr.size() == 1) llr.resize(as_size(n), llr[0]);
  return llr;
}

const parity_check_matrix& osd_matrix(const parity_check_matrix& h) {
  if (h.sent() != h.n())
    throw argument_error("matrix", std::to_string(h.n() - h.sent()) + " unsent columns",
                         "a matrix without punctured and shortened columns");
  if (h.checks() > osd_most_checks)
    throw argument_error("matrix", std::to_string(h.checks()) + " checks",
                         "at most " + std::to_string(osd_most_checks));
  return h;
}

sparse_ldpc_config osd_bp(const parity_check_matrix& h, const bp_osd_config& c) {
  return {
      .algorithm = c.bp_method,
      .scale = c.bp_method == ldpc_algorithm::sum_product ? sparse_ldpc_config{}.scale : c.ms_scaling_factor,
      .iterations = c.max_iter == 0 ? std::min(h.n(), 10000) : c.max_iter,
      .schedule = c.schedule};
}

}  // namespace

const std::vector<setting_of<bp_osd_config>>& bp_osd_settings() {
  using c = bp_osd_config;
  static const std::vector<setting_of<c>> settings{
      integer("max_iter", &c::max_iter, 0, 10000,
              "Iterations of belief propagation at most; 0 stands for n, at most 10000."),
      words<c, ldpc_algorithm>(
          "bp_method", &c::bp_method,
          {{"minimum-sum", ldpc_algorithm::normalised_min_sum}, {"product-sum", ldpc_algorithm::sum_product}},
          "product-sum is exact belief propagation; minimum-sum approximates it."),
      number("ms_scaling_factor", &c::ms_scaling_factor, 0, 1, "Factor on the messages of checks.", true)
          .only_with("bp_method", {"minimum-sum"}),
      words<c, ldpc_schedule>("schedule", &c::schedule,
                              {{"parallel", ldpc_schedule::flooding}, {"serial", ldpc_schedule::layered}},
                              "parallel: all checks at once; serial: layers of rows without a common bit one "
                              "after the other."),
      words<c, osd_method>(
          "osd_method", &c::osd_method,
          {{"osd-0", osd_method::osd_0},
           {"osd-e", osd_method::osd_e},
           {"osd-cs", osd_method::osd_cs},
           {"off", osd_method::off}},
          "osd-0: only the most likely errors; osd-e: also all patterns of the next osd_order "
          "columns; osd-cs: also single columns, and pairs of the next osd_order ones; off: "
          "belief propagation alone."),
      integer(
          "osd_order", &c::osd_order, 0, 1000,
          "Columns of which patterns or pairs are tried, at most 20 with osd-e. More than n - rank counts "
          "as n - rank, and 0 is osd-0.")
          .only_with("osd_method", {"osd-e", "osd-cs"}),
      words<c, osd_cost>(
          "osd_cost", &c::osd_cost, {{"probability", osd_cost::probability}, {"ratio", osd_cost::ratio}},
          "What an error of probability p costs. probability: ln(1 / p); ratio: ln((1 - p) / p), so that "
          "the least cost is the greatest likelihood.")
          .only_with("osd_method", {"osd-e", "osd-cs"}),
  };
  return settings;
}

bp_osd::bp_osd(const parity_check_matrix& matrix, const bp_osd_config& config,
               const std::vector<double>& error_channel)
    : config_((check_settings(bp_osd_settings(), config), config)),
      bp_(osd_matrix(matrix), osd_bp(matrix, config)),
      has_priors_(!error_channel.empty()),
      priors_(osd_priors(error_channel, matrix.n())) {
  osd_args& a = fixed_;
  a.n = matrix.n();
  a.checks = matrix.checks();
  a.rank = matrix.rank();
  a.words = (a.checks + 31) / 32;
  a.padded = static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(a.n, 2))));
  a.exhaustive = config.osd_method == osd_method::osd_e;
  if (a.exhaustive || config.osd_method == osd_method::osd_cs)
    a.order = std::min(config.osd_order, a.n - a.rank);
  if (a.exhaustive && a.order > 20)
    throw argument_error("osd_order", std::to_string(config.osd_order), "at most 20 with osd-e");
  a.ratio_cost = config.osd_cost == osd_cost::ratio;
  columns_ = resident<std::int32_t>(osd_table(osd_columns(matrix)));
  rows_ = resident<std::int32_t>(osd_table(matrix.rows()));
}

void bp_osd::run(executor& exec, view<const std::uint8_t> syndrome, const bp_osd_output& out) const {
  if (!has_priors_)
    throw argument_error("error_channel", "none", "probabilities of errors, or LLRs with each call");
  check_shape("syndrome", syndrome, syndrome.items, as_size(fixed_.checks));
  const view<const float> llr{priors_.on(exec), as_size(fixed_.n), syndrome.items, 1, 0};
  run(exec, llr, out, syndrome);
}

void bp_osd::run(executor& exec, const llr_batch& given, const bp_osd_output& out,
                 view<const std::uint8_t> syndrome) const {
  const std::size_t items = given.items, n = as_size(fixed_.n);
  check_shape("llr", given, items, n);
  check_optional_shape("bits", out.bits, items, n);
  check_optional_shape("soft", out.soft, items, n);
  check_optional_shape("iterations", out.iterations, items, 1);
  check_optional_shape("status", out.status, items, 1);
  check_optional_shape("syndrome", syndrome, items, as_size(fixed_.checks));
  check_apart(
      {{"bits", out.bits}, {"soft", out.soft}, {"iterations", out.iterations}, {"status", out.status}});
  if (items == 0) return;
  osd_args a = fixed_;
  a.llr = floats_.of(exec, given);
  bp_osd_output wanted = out;
  const bool after =
      config_.osd_method != osd_method::off && (out.bits.data != nullptr || out.status.data != nullptr);
  if (after) {
    // What the caller does not want is in memory of this object: LLRs, then bits, then status.
    std::byte* memory = memory_.on(exec, items * (n * (sizeof(float) + 1) + 1));
    if (wanted.soft.data == nullptr) wanted.soft = make_view(reinterpret_cast<float*>(memory), items, n);
    memory += items * n * sizeof(float);
    if (wanted.bits.data == nullptr)
      wanted.bits = make_view(reinterpret_cast<std::uint8_t*>(memory), items, n);
    memory += items * n;
    if (wanted.status.data == nullptr)
      wanted.status = make_view(reinterpret_cast<std::uint8_t*>(memory), items);
  }
  bp_.run(
      exec, a.llr,
      {.bits = wanted.bits, .soft = wanted.soft, .iterations = wanted.iterations, .status = wanted.status},
      syndrome);
  if (!after) return;
  a.word_form = syndrome.data == nullptr;
  a.posterior = wanted.soft;
  a.syndrome = syndrome;
  a.bits = wanted.bits;
  a.status = wanted.status;
  a.column_firsts = columns_.on(exec);
  a.column_rows = a.column_firsts + a.n + 1;
  a.row_firsts = rows_.on(exec);
  a.row_columns = a.row_firsts + a.checks + 1;
  exec.run(osd_kernels(), &a, items);
}

}  // namespace wb
