// Gradients of min-sum: the body in double precision against differences of the oracle's decoder, and kernels
// against that body.
#define WB_ISA doubled_min_sum
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include <oracle/gradient.hpp>
#include <tests/double_lane.hpp>
#include <tests/sparse_ldpc.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/forwarding.hpp>
#include <warpband/fec/ldpc/ldpc_nr.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward_body.hpp>

namespace wb {
inline namespace WB_ISA {

inline double_lane difference(double_lane a, double_lane b) { return a - b; }
inline double_lane product(double_lane a, double_lane b) { return a * b; }
inline double_lane magnitude(double_lane a) { return abs(a); }
inline double_lane with_sign(double_lane m, double_lane s) { return std::signbit(s.x) ? -m.x : m.x; }
inline double_lane sign_product(double_lane a, double_lane b) {
  return std::signbit(a.x) == std::signbit(b.x) ? 0. : -0.;
}
inline double_lane where_equal(double_lane a, double_lane b, double_lane x, double_lane y) {
  return a.x == b.x ? x : y;
}

}  // namespace WB_ISA

namespace min_sum_backward_test {

using testing::blamed;
using testing::on_device;
using testing::row_of;
using wb::WB_ISA::double_lane;
using numbers = std::vector<double>;
using floats = std::vector<float>;

class min_sum_backward_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(min_sum_backward_on);

std::size_t size(int n) { return static_cast<std::size_t>(n); }

class watched final : public forwarding_executor {
 public:
  watched(executor& cpu, std::function<void(const min_sum_backward_args&)> watch)
      : forwarding_executor(cpu), watch_(std::move(watch)) {}
  void run(const kernel_set&, const void* args, std::size_t) override {
    watch_(*static_cast<const min_sum_backward_args*>(args));
  }

 private:
  std::function<void(const min_sum_backward_args&)> watch_;
};

/// Gradients of LLRs, then of corrections.
numbers in_double(const min_sum_backward& d, const floats& llr, const floats& given) {
  numbers found(size(d.sent()) + size(d.iterations()));
  cpu base({.threads = 1, .instructions = isa::scalar});
  watched exec(base, [&](const min_sum_backward_args& a) {
    using pass_type = wb::WB_ISA::min_sum_backward_pass<double_lane, wb::WB_ISA::solo>;
    std::vector<double_lane> memory(pass_type::values(a));
    const pass_type pass(a, {}, memory.data());
    for (std::size_t i = 0; i < given.size(); i++) pass.gradients()[i] = given[i];
    pass.run(
        [&] {
          for (std::size_t i = 0; i < given.size(); i++) pass.app_values()[i] = 0;
          for (int i = 0; i < a.shortened; i++) pass.app_values()[a.shortened_columns[i]] = 1e30;
          for (std::size_t i = 0; i < llr.size(); i++) pass.app_values()[a.sent_columns[i]] = llr[i];
        },
        [&](int it, double_lane sum) { found[llr.size() + size(it)] = sum.x; });
    for (std::size_t i = 0; i < llr.size(); i++) found[i] = pass.gradients()[a.sent_columns[i]].x;
  });
  const auto in = on_device(base, llr, 1, llr.size()), weights = on_device(base, given, 1, given.size());
  d.run(exec, in, weights, {});
  return found;
}

/// What the oracle decodes, with a list of corrections.
struct sample {
  std::string name;
  oracle::parity_checks ordered;  // rows in order of the decoder
  std::vector<int> sent, shortened;
  bool of_offset;
  numbers corrections;
  std::function<min_sum_backward()> make;
};
numbers by_differences(const sample& s, const floats& llr, const floats& given, double step) {
  const auto f = [&](const numbers& x) {
    numbers in(given.size());
    for (const int i : s.shortened) in[size(i)] = 1e30;
    for (std::size_t i = 0; i < llr.size(); i++) in[size(s.sent[i])] = x[i];
    oracle::ldpc_options o{.rule = oracle::check_rule::min_sum,
                           .iterations = static_cast<int>(s.corrections.size())};
    numbers& list = s.of_offset ? o.offsets : o.scales;
    list.assign(x.begin() + static_cast<std::ptrdiff_t>(llr.size()), x.end());
    const auto a = oracle::ldpc_decode(s.ordered, in, o).a_posteriori;
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); i++) sum += given[i] * a[i];
    return sum;
  };
  numbers x(llr.begin(), llr.end());
  x.insert(x.end(), s.corrections.begin(), s.corrections.end());
  return oracle::gradient(f, x, step);
}
/// The largest difference in parts of the largest gradient, of LLRs and of corrections.
double apart(const numbers& a, const numbers& b, std::size_t llrs) {
  double worst = 0;
  for (const auto& [first, last] : {std::pair{std::size_t{0}, llrs}, {llrs, a.size()}}) {
    double difference = 0, largest = 1e-9;
    for (std::size_t i = first; i < last; i++) {
      difference = std::max(difference, std::fabs(a[i] - b[i]));
      largest = std::max({largest, std::fabs(a[i]), std::fabs(b[i])});
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}
floats drawn(std::size_t count, double mean, std::mt19937_64& random) {
  std::normal_distribution<double> normal(mean, 1.5);
  floats x(count);
  for (float& v : x) v = static_cast<float>(normal(random));
  return x;
}

std::vector<sample> samples() {
  std::vector<sample> list;
  const auto columns = [](int n) {
    std::vector<int> all_columns;
    for (int c = 0; c < n; c++) all_columns.push_back(c);
    return all_columns;
  };
  const auto add = [&](const std::string& name, const ldpc_code& code, numbers corrections, bool of_offset) {
    ldpc_decoder_config c{.iterations = static_cast<int>(corrections.size())};
    (of_offset ? c.offsets : c.factors) = corrections;
    if (of_offset) c.algorithm = ldpc_algorithm::offset_min_sum;
    list.push_back({name, testing::checks_of(code), columns(code.n()), {}, of_offset, corrections, [=] {
                      return min_sum_backward(code, c);
                    }});
  };
  const ldpc_code small = testing::random_code(4, 9, 3, 4, 2);
  // Sums of offsets that are equal would make magnitudes equal.
  const double irregular[] = {0.113, 0.271, 0.194, 0.337, 0.089, 0.421, 0.156, 0.503, 0.243, 0.368};
  for (const int iterations : {1, 2, 3, 5, 10}) {
    numbers factors, offsets;
    for (int i = 0; i < iterations; i++) factors.push_back(0.51 + 0.037 * i), offsets.push_back(irregular[i]);
    add("factors " + std::to_string(iterations), small, factors, false);
    add("offsets " + std::to_string(iterations), small, offsets, true);
  }
  add("base graph 2", nr_ldpc(2, 2, 6), {0.5, 0.76, 0.87, 0.95}, false);
  // Rows of three layers, of a matrix with columns that are not sent.
  const std::vector<std::vector<int>> rows{{0, 1, 2, 9}, {3, 4, 5}, {2, 3, 6}, {7, 8, 9, 0}, {5, 6, 8, 1}};
  const parity_check_matrix h(10, rows, {.punctured = {9}, .shortened = {4}});
  const sparse_ldpc_config c{.iterations = 3, .factors = {0.5, 0.76, 0.93}};
  list.push_back({"sparse",
                  {10, {rows[0], rows[1], rows[2], rows[3], rows[4]}},
                  h.sent_columns(),
                  {4},
                  false,
                  c.factors,
                  [=] { return min_sum_backward(h, c); }});
  return list;
}

TEST(min_sum_backward, is_the_derivative_of_the_oracle) {
  // Differences over a kink are wrong: there two steps disagree. With a factor of 1, or an offset of 0, equal
  // magnitudes are common, and then they are those of both sides.
  int compared = 0, kinks = 0;
  for (const sample& s : samples()) {
    const min_sum_backward d = s.make();
    std::mt19937_64 random(7);
    for (int word = 0; word < 5; word++) {
      const floats llr = drawn(s.sent.size(), 1.5, random);
      floats given = drawn(size(s.ordered.n), 0, random);
      for (const int i : s.shortened) given[size(i)] = 0;  // their 1e30 would hide all differences
      const numbers fine = by_differences(s, llr, given, 1e-6);
      if (apart(fine, by_differences(s, llr, given, 4e-6), llr.size()) > 1e-6) {
        kinks++;
        continue;
      }
      compared++;
      EXPECT_LE(apart(in_double(d, llr, given), fine, llr.size()), 1e-5) << s.name << ", word " << word;
    }
  }
  EXPECT_GT(compared, 40);
  EXPECT_LT(kinks, 20);
}

struct result {
  floats llr, correction;
  testing::bytes status;
};
result backward(executor& exec, const min_sum_backward& d, const floats& llr, const floats& given) {
  const std::size_t sent = size(d.sent()), n = size(d.n()), items = llr.size() / sent;
  const auto in = on_device(exec, llr, items, sent), weights = on_device(exec, given, items, n);
  auto of_llr = exec.make<float>(items, sent), of_correction = exec.make<float>(items, size(d.iterations()));
  auto status = exec.make<std::uint8_t>(items, 1);
  d.run(exec, in, weights, {of_llr, of_correction, status});
  return {exec.to_host(of_llr), exec.to_host(of_correction), exec.to_host(status)};
}
bool same(const result& a, const result& b) {
  const auto equal = [](const floats& x, const floats& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), 4 * x.size()) == 0;
  };
  return equal(a.llr, b.llr) && equal(a.correction, b.correction) && a.status == b.status;
}

TEST_P(min_sum_backward_on, agrees_with_double_precision) {
  const ldpc_code code = wifi_ldpc(648, wifi_rate::r1_2);
  const parity_check_matrix h =
      testing::random_matrix(90, 45, 6, 1, {.punctured = {7}, .shortened = {0, 30}}, false);
  for (const bool of_offset : {false, true}) {
    ldpc_decoder_config c{.iterations = 4};
    sparse_ldpc_config of_sparse{.iterations = 5};
    if (of_offset) {
      c.algorithm = of_sparse.algorithm = ldpc_algorithm::offset_min_sum;
      c.offsets = of_sparse.offsets = {0.25, 0.1, 0.45};
    } else {
      c.factors = of_sparse.factors = {0.5, 0.8, 0.95, 0.86};
    }
    for (const min_sum_backward& d : {min_sum_backward(code, c), min_sum_backward(h, of_sparse)}) {
      const std::size_t items = testing::small_scale() ? 5 : 19, sent = size(d.sent()), n = size(d.n());
      std::mt19937_64 random(11);
      const floats llr = drawn(items * sent, 2.5, random), given = drawn(items * n, 0, random);
      const result got = backward(exec(), d, llr, given);
      EXPECT_EQ(got.status, testing::bytes(items));
      // Words that do not converge have gradients of 1e4, and float32 may take another of two magnitudes
      // there.
      int others = 0;
      for (std::size_t i = 0; i < items; i++) {
        const floats of_llr = row_of(got.llr, i, sent),
                     of_correction = row_of(got.correction, i, size(d.iterations()));
        numbers x(of_llr.begin(), of_llr.end());
        x.insert(x.end(), of_correction.begin(), of_correction.end());
        others += apart(x, in_double(d, row_of(llr, i, sent), row_of(given, i, n)), sent) > 1e-4;
      }
      EXPECT_LE(others, 1) << n;
      EXPECT_TRUE(same(got, backward(*testing::open_scalar(), d, llr, given)));
    }
  }
}

TEST_P(min_sum_backward_on, one_factor_has_the_sum_of_the_gradients) {
  const ldpc_code code = testing::random_code(4, 9, 5, 4, 2);
  std::mt19937_64 random(2);
  const floats llr = drawn(45, 2, random), given = drawn(45, 0, random);
  const min_sum_backward list(code, {.iterations = 4, .factors = {0.75, 0.75, 0.75, 0.75}});
  EXPECT_TRUE(same(backward(exec(), list, llr, given),
                   backward(exec(), min_sum_backward(code, {.iterations = 4}), llr, given)));
  const result got = backward(exec(), list, llr, given);
  double total = 0;
  for (const float x : got.correction) total += x;
  const auto f = [&](const numbers& x) {
    const auto a = oracle::ldpc_decode(testing::checks_of(code), {llr.begin(), llr.end()},
                                       {.rule = oracle::check_rule::min_sum, .scale = x[0], .iterations = 4});
    double sum = 0;
    for (std::size_t i = 0; i < given.size(); i++) sum += given[i] * a.a_posteriori[i];
    return sum;
  };
  const double wanted = oracle::gradient(f, {0.75}, 1e-6)[0];
  EXPECT_NEAR(total, wanted, 1e-4 * std::fabs(wanted));
}

TEST_P(min_sum_backward_on, is_linear_in_the_gradient_from_above) {
  const min_sum_backward d(wimax_ldpc(576, wimax_rate::r5_6), {.iterations = 4});
  std::mt19937_64 random(4);
  const floats llr = drawn(3 * 576, 2, random);
  floats given = drawn(3 * 576, 0, random);
  const result once = backward(exec(), d, llr, given);
  for (float& x : given) x *= -4;
  const result scaled = backward(exec(), d, llr, given);
  for (std::size_t i = 0; i < once.llr.size(); i++) EXPECT_EQ(scaled.llr[i], -4 * once.llr[i]);
  const result none = backward(exec(), d, llr, floats(3 * 576));
  for (const float x : none.correction) EXPECT_EQ(x, 0);
}

TEST_P(min_sum_backward_on, what_the_decoder_erases_has_no_gradient) {
  const ldpc_code code = testing::random_code(4, 9, 5, 4, 2);
  const min_sum_backward d(code, {.iterations = 3});
  const std::size_t n = 45, items = 6;
  std::mt19937_64 random(5);
  const floats clean = drawn(items * n, 2, random), weights = drawn(items * n, 0, random);
  floats llr = clean, given = weights;
  llr[1 * n + 3] = NAN;
  for (std::size_t i = 0; i < n; i++) llr[2 * n + i] = i < 10 ? 1.f : 0.f;
  given[4 * n + 7] = INFINITY;
  llr[5 * n + 6] = 1e31f;
  const result got = backward(exec(), d, llr, given), wanted = backward(exec(), d, clean, weights);
  EXPECT_EQ(got.status,
            (testing::bytes{0, status_erased, status_erased | status_insufficient, 0, status_erased, 0}));
  for (const std::size_t i : {1u, 2u, 4u}) {
    EXPECT_EQ(row_of(got.llr, i, n), floats(n)) << i;
    EXPECT_EQ(row_of(got.correction, i, 3), floats(3)) << i;
  }
  for (const std::size_t i : {0u, 3u}) {
    EXPECT_EQ(row_of(got.llr, i, n), row_of(wanted.llr, i, n));
    EXPECT_EQ(row_of(got.correction, i, 3), row_of(wanted.correction, i, 3));
  }
  EXPECT_EQ(got.llr[5 * n + 6], 0);  // it is limited
  EXPECT_NE(got.llr[5 * n + 5], 0);
}

TEST(min_sum_backward, names_what_is_wrong) {
  const ldpc_code code = testing::random_code(4, 9, 5, 4, 2);
  const auto with = [&](const ldpc_decoder_config& c) { return blamed([&] { min_sum_backward(code, c); }); };
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(with({.algorithm = ldpc_algorithm::sum_product}), "algorithm");
  EXPECT_EQ(with({.schedule = ldpc_schedule::flooding}), "schedule");
  EXPECT_EQ(with({.precision = ldpc_precision::int8}), "precision");
  EXPECT_EQ(with({.factors = {2}}), "factors");
  const parity_check_matrix h(6, {{0, 1, 2}, {2, 3, 4}});
  EXPECT_EQ(blamed([&] { min_sum_backward(h, {.schedule = ldpc_schedule::flooding}); }), "schedule");
  EXPECT_EQ(blamed([&] { min_sum_backward(h, {.iterations = 0}); }), "iterations");
  const auto exec = testing::open_scalar();
  const min_sum_backward d(code, {.iterations = 2});
  auto llr = exec->make_zeros<float>(3, 45), short_row = exec->make_zeros<float>(3, 44);
  const auto run = [&](view<const float> l, view<const float> g, const min_sum_gradients& out) {
    return blamed([&] { d.run(*exec, l, g, out); });
  };
  EXPECT_EQ(run(llr, llr, {}), "");
  EXPECT_EQ(run(short_row, llr, {}), "llr");
  EXPECT_EQ(run(llr, short_row, {}), "soft_gradient");
  EXPECT_EQ(run(llr, llr, {.llr = short_row}), "llr_gradient");
  EXPECT_EQ(run(llr, llr, {.correction = short_row}), "correction_gradient");
}

}  // namespace min_sum_backward_test
}  // namespace wb
