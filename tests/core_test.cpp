// The vocabulary of core/: the same bits on every backend, the stated error bounds, Philox.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include <oracle/philox.hpp>
#include <oracle/theory.hpp>
#include <tests/core_args.hpp>
#include <tests/on_backends.hpp>

namespace wb {
WB_DECLARE_KERNEL(core_test)
WB_DECLARE_KERNEL(philox_test)
}  // namespace wb

namespace core_test {

using wb::core_function;
using wb::layout;
using wb::testing::on_device;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float denormal = std::numeric_limits<float>::denorm_min();
constexpr float smallest_normal = std::numeric_limits<float>::min();
constexpr float largest = std::numeric_limits<float>::max();

struct inputs {
  std::vector<float> x, y, z;
  void add(float a, float b = 0, float c = 0) {
    x.push_back(a);
    y.push_back(b);
    z.push_back(c);
  }
};
struct outputs {
  std::vector<std::int32_t> first, second;  // bits
};

outputs evaluate(wb::executor& exec, core_function f, const inputs& in) {
  const std::size_t n = in.x.size();
  std::vector<float> concatenated = in.x;
  concatenated.insert(concatenated.end(), in.y.begin(), in.y.end());
  concatenated.insert(concatenated.end(), in.z.begin(), in.z.end());
  const auto from = on_device(exec, concatenated, n, 3, layout::batch_fastest);
  auto to = exec.make<std::int32_t>(n, 2, layout::batch_fastest);
  const wb::core_args args{f, from, to};
  exec.run(wb::core_test_kernels(), &args, n);
  const auto bits = exec.to_host(to);
  const auto middle = bits.begin() + static_cast<std::ptrdiff_t>(n);
  return {{bits.begin(), middle}, {middle, bits.end()}};
}

float as_float(std::int32_t bits) { return std::bit_cast<float>(bits); }
float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
/// One NaN for all: which one an operation gives differs between machines.
std::int32_t one_nan(std::int32_t bits) {
  return std::isnan(as_float(bits)) ? std::bit_cast<std::int32_t>(not_a_number) : bits;
}
std::size_t scaled(std::size_t n) { return wb::testing::small_scale() ? n / 32 : n; }

const std::vector<float>& special_values() {
  static const std::vector<float> values = [] {
    std::vector<float> v{0.f,
                         denormal,
                         3 * denormal,
                         smallest_normal,
                         smallest_normal - denormal,
                         1.f,
                         1.f + 0x1p-23f,
                         1.f - 0x1p-24f,
                         0.5f,
                         1.5f,
                         3.f,
                         8.f,
                         16777215.f,
                         0x1p-75f,
                         0x1p64f,
                         0x1.000002p63f,
                         largest,
                         infinity};
    const std::size_t n = v.size();
    for (std::size_t i = 0; i < n; i++) v.push_back(-v[i]);
    return v;
  }();
  return values;
}
float random_bits_float(std::mt19937& random) { return as_float(static_cast<std::uint32_t>(random())); }
/// A float whose exponent lies in [low, high].
float random_float(std::mt19937& random, int low, int high) {
  const auto exponent = std::uniform_int_distribution(low, high)(random);
  auto mantissa = static_cast<std::uint32_t>(random());
  switch (random() % 4) {
    case 0:  // short: products are often halfway between two floats
      mantissa &= 0x7ff000u;
      break;
    case 1:  // a power of two
      mantissa = 0;
      break;
    default:
      break;
  }
  const float x = std::ldexp(1.f + static_cast<float>(mantissa & 0x7fffffu) * 0x1p-23f, exponent);
  return random() % 2 != 0 ? -x : x;
}

/// Triples that are hard to round: results that cancel, that lie halfway or just beside it, that overflow or
/// become denormal.
inputs fma_inputs() {
  std::mt19937 random(1);
  inputs in;
  for (const float a : special_values())
    for (const float b : special_values())
      for (const float c : special_values()) in.add(a, b, c);
  for (const float a : special_values()) {
    in.add(not_a_number, a, 1.f);
    in.add(a, not_a_number, 1.f);
    in.add(1.f, a, not_a_number);
  }
  const std::size_t n = scaled(1 << 21);
  for (std::size_t i = 0; i < n; i++) switch (i % 8) {
      case 0:
        in.add(random_bits_float(random), random_bits_float(random), random_bits_float(random));
        break;
      case 1:
      case 2: {  // the sum's exponents differ by up to 60
        const int e = std::uniform_int_distribution(-60, 60)(random);
        const int f = std::uniform_int_distribution(-60, 60)(random);
        in.add(random_float(random, e, e), random_float(random, f, f),
               random_float(random, e + f - 60, e + f + 60));
        break;
      }
      case 3:
      case 4: {  // nearly all cancels
        const float a = random_float(random, -20, 20), b = random_float(random, -20, 20);
        const int ulps = static_cast<int>(random() % 5) - 2;
        in.add(a, b, as_float(std::bit_cast<std::int32_t>(-(a * b)) + ulps));
        break;
      }
      case 5: {  // halfway cases with a tiny third term
        const float a = std::ldexp(static_cast<float>(random() % 4096 + 4096), -6);
        const float b = std::ldexp(static_cast<float>(random() % 4096 + 4096), -6);
        in.add(a, b, random_float(random, -140, -20));
        break;
      }
      case 6: {  // denormal results
        const int e = std::uniform_int_distribution(-120, -20)(random);
        in.add(random_float(random, e, e), random_float(random, -150 - e, -126 - e),
               random_float(random, -149, -127));
        break;
      }
      default: {  // about the largest float
        const int e = std::uniform_int_distribution(0, 120)(random);
        in.add(random_float(random, e, e), random_float(random, 126 - e, 127 - e),
               random_float(random, 100, 127));
        break;
      }
    }
  return in;
}

/// What exp_of_moderate takes.
inputs moderate_inputs() {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> range(-40.f, 40.f);
  inputs in;
  for (const float x : {0.f, -0.f, denormal, -40.f, 40.f, 0.34657359f, 0.34657362f}) in.add(x);
  for (std::size_t i = 0; i < scaled(1 << 18); i++) {
    in.add(range(random));
    in.add(random_float(random, -30, 4));
  }
  return in;
}

/// What log_of_ratio takes: equal numbers, neighbours, and any ratio.
inputs ratio_inputs() {
  std::mt19937 random(8);
  inputs in;
  for (std::size_t i = 0; i < scaled(1 << 18); i++) {
    const float a = std::fabs(random_float(random, -59, 65)), b = std::fabs(random_float(random, -59, 65));
    in.add(a, b);
    in.add(a, a);
    in.add(a, a * (1.f + 0.75f * b / (a + b)));
    for (const int by : {-1, 1, 2}) in.add(a, as_float(std::bit_cast<std::int32_t>(a) + by));
    for (const int half : {-0x400001, -0x400000, 0x3fffff, 0x400000})  // where the power of two changes
      in.add(as_float(std::bit_cast<std::int32_t>(a) + half), a);
  }
  return in;
}

/// Special values and random ones for the functions of one or two arguments. Leaves out what a function's
/// contract leaves out.
inputs plain_inputs(core_function f) {
  std::mt19937 random(2);
  inputs in;
  const auto add = [&](float a, float b) {
    const bool no_nan = f == core_function::max || f == core_function::min || f == core_function::exp ||
                        f == core_function::saturate;
    if (no_nan && (std::isnan(a) || std::isnan(b))) return;
    if (f == core_function::log && !(a >= 0.f)) return;
    if (f == core_function::sincos && !(std::fabs(a) <= 1e6f)) return;
    in.add(a, b, 1.25f);
  };
  for (const float a : special_values())
    for (const float b : special_values()) add(a, b);
  add(not_a_number, 1.f);
  add(1.f, not_a_number);
  std::uniform_real_distribution<float> moderate(-100.f, 100.f);
  for (std::size_t i = 0; i < scaled(1 << 18); i++) {
    add(random_bits_float(random), random_bits_float(random));
    add(moderate(random), moderate(random));
  }
  return in;
}
/// Unsigned integers as the bits of floats.
inputs unsigned_inputs() {
  std::mt19937 random(3);
  inputs in;
  const std::vector<std::uint32_t> corners{
      0u,          1u,          2u,          0x7fffffu,   0x800000u,   0x1000001u,  0x1fffffffu, 0x20000000u,
      0x20000001u, 0x3fffffffu, 0x40000000u, 0x7fffffffu, 0x80000000u, 0x80000001u, 0x80000080u, 0x80000081u,
      0xdfffffffu, 0xe0000000u, 0xffffff7fu, 0xffffff80u, 0xffffff81u, 0xffffffffu};
  for (const auto a : corners)
    for (const auto b : corners) in.add(as_float(a), as_float(b));
  for (std::size_t i = 0; i < scaled(1 << 19); i++) {
    const std::uint32_t shift = random() % 32;
    in.add(as_float(static_cast<std::uint32_t>(random()) >> shift), random_bits_float(random));
  }
  return in;
}
std::uint32_t as_unsigned(float x) { return std::bit_cast<std::uint32_t>(x); }

// ------------------------------------------------------------------------------- equality between backends

class core : public wb::testing::on_backend {
 protected:
  /// How the outputs of a function are compared.
  enum class kind { floats, integers, zeros_equal };

  void expect_scalar_bits(core_function f, const inputs& in, kind k = kind::floats) {
    const auto scalar = wb::testing::open_scalar();
    const outputs expected = evaluate(*scalar, f, in), got = evaluate(exec(), f, in);
    const auto differs = [&](std::int32_t a, std::int32_t b) {
      if (k == kind::integers) return a != b;
      if (k == kind::zeros_equal) return !(as_float(a) == as_float(b));
      return one_nan(a) != one_nan(b);
    };
    int faults = 0;
    for (std::size_t i = 0; i < in.x.size() && faults < 5; i++)
      if (differs(expected.first[i], got.first[i]) || differs(expected.second[i], got.second[i])) {
        ADD_FAILURE() << std::hexfloat << "inputs " << in.x[i] << ", " << in.y[i] << ", " << in.z[i]
                      << std::hex << ": expected bits " << expected.first[i] << ", " << expected.second[i]
                      << ", got " << got.first[i] << ", " << got.second[i];
        faults++;
      }
  }
};
WB_ON_ALL_BACKENDS(core);

TEST_P(core, fma_is_rounded_once) {
  const inputs in = fma_inputs();
  const outputs got = evaluate(exec(), core_function::fma, in);
  int faults = 0;
  for (std::size_t i = 0; i < in.x.size() && faults < 5; i++) {
    const auto expected = std::bit_cast<std::int32_t>(std::fma(in.x[i], in.y[i], in.z[i]));
    if (one_nan(expected) != one_nan(got.first[i])) {
      ADD_FAILURE() << std::hexfloat << "fma(" << in.x[i] << ", " << in.y[i] << ", " << in.z[i]
                    << "): expected " << as_float(expected) << ", got " << as_float(got.first[i]);
      faults++;
    }
  }
}
TEST_P(core, max_and_min) {
  for (const core_function f : {core_function::max, core_function::min}) {
    const inputs in = plain_inputs(f);
    expect_scalar_bits(f, in, kind::zeros_equal);
    const outputs got = evaluate(exec(), f, in);
    for (std::size_t i = 0; i < in.x.size(); i++) {
      const float expected =
          f == core_function::max ? std::fmax(in.x[i], in.y[i]) : std::fmin(in.x[i], in.y[i]);
      ASSERT_EQ(as_float(got.first[i]), expected) << in.x[i] << ", " << in.y[i];
    }
  }
}
TEST_P(core, sqrt_is_rounded_correctly) {
  const inputs in = plain_inputs(core_function::sqrt);
  const outputs got = evaluate(exec(), core_function::sqrt, in);
  for (std::size_t i = 0; i < in.x.size(); i++)
    ASSERT_EQ(one_nan(got.first[i]), one_nan(std::bit_cast<std::int32_t>(std::sqrt(in.x[i])))) << in.x[i];
}
TEST_P(core, abs_clears_the_sign) {
  const inputs in = plain_inputs(core_function::abs);
  const outputs got = evaluate(exec(), core_function::abs, in);
  for (std::size_t i = 0; i < in.x.size(); i++)
    ASSERT_EQ(static_cast<std::uint32_t>(got.first[i]), as_unsigned(in.x[i]) & 0x7fffffffu) << in.x[i];
}
TEST_P(core, exp_equals_scalar) { expect_scalar_bits(core_function::exp, plain_inputs(core_function::exp)); }
TEST_P(core, log_equals_scalar) { expect_scalar_bits(core_function::log, plain_inputs(core_function::log)); }
TEST_P(core, exp_of_moderate_equals_scalar) {
  expect_scalar_bits(core_function::exp_of_moderate, moderate_inputs());
}
TEST_P(core, log_of_ratio_equals_scalar) { expect_scalar_bits(core_function::log_of_ratio, ratio_inputs()); }
TEST_P(core, sincos_equals_scalar) {
  expect_scalar_bits(core_function::sincos, plain_inputs(core_function::sincos));
}
TEST_P(core, sincos_turn_equals_scalar) { expect_scalar_bits(core_function::sincos_turn, unsigned_inputs()); }
TEST_P(core, complex_normal_equals_scalar) {
  expect_scalar_bits(core_function::complex_normal, unsigned_inputs());
}
TEST_P(core, complex_product_equals_scalar) {
  expect_scalar_bits(core_function::complex_product, plain_inputs(core_function::complex_product));
}
TEST_P(core, unsigned_to_float_is_nearest) {
  const inputs in = unsigned_inputs();
  const outputs got = evaluate(exec(), core_function::unsigned_to_float, in);
  for (std::size_t i = 0; i < in.x.size(); i++)
    ASSERT_EQ(as_float(got.first[i]), static_cast<float>(as_unsigned(in.x[i]))) << as_unsigned(in.x[i]);
}
TEST_P(core, mulhi_is_the_high_word) {
  const inputs in = unsigned_inputs();
  const outputs got = evaluate(exec(), core_function::mulhi, in);
  for (std::size_t i = 0; i < in.x.size(); i++) {
    const std::uint64_t product = std::uint64_t{as_unsigned(in.x[i])} * as_unsigned(in.y[i]);
    ASSERT_EQ(static_cast<std::uint32_t>(got.first[i]), product >> 32)
        << as_unsigned(in.x[i]) << " * " << as_unsigned(in.y[i]);
  }
}
TEST_P(core, comparisons_and_select) {
  const inputs in = plain_inputs(core_function::compare);
  const outputs got = evaluate(exec(), core_function::compare, in);
  for (std::size_t i = 0; i < in.x.size(); i++) {
    const float a = in.x[i], b = in.y[i];
    const std::int32_t expected = (a < b ? 1 : 0) + (a > b ? 2 : 0) + (a <= b ? 4 : 0) + (a >= b ? 8 : 0) +
                                  (a == b ? 16 : 0) + (a != b ? 32 : 0);
    ASSERT_EQ(got.first[i], expected) << a << ", " << b;
    ASSERT_EQ(got.second[i], std::bit_cast<std::int32_t>(a < b ? a : b)) << a << ", " << b;
  }
}
TEST_P(core, is_finite_and_decide) {
  const inputs in = plain_inputs(core_function::is_finite);
  const outputs finite = evaluate(exec(), core_function::is_finite, in);
  const outputs decided = evaluate(exec(), core_function::decide, in);
  for (std::size_t i = 0; i < in.x.size(); i++) {
    ASSERT_EQ(finite.first[i], std::isfinite(in.x[i]) ? 1 : 0) << in.x[i];
    ASSERT_EQ(decided.first[i], in.x[i] < 0.f ? 1 : 0) << in.x[i];  // zeros of either sign decide 0
  }
}
TEST_P(core, saturate_limits_both_sides) {
  const inputs in = plain_inputs(core_function::saturate);
  const outputs got = evaluate(exec(), core_function::saturate, in);
  for (std::size_t i = 0; i < in.x.size(); i++)
    ASSERT_EQ(as_float(got.first[i]), std::fmin(std::fmax(in.x[i], -8.f), 8.f)) << in.x[i];
}
TEST_P(core, any_and_all_see_the_lanes_of_a_vector) {
  std::mt19937 random(4);
  inputs in;
  for (std::size_t i = 0; i < 16 * 64 + 5; i++) {
    const unsigned mode = static_cast<unsigned>(i / 16 % 4);  // none, one, all but one, all
    const bool odd_one = i % 16 == i / 16 % 16;
    in.add(mode == 3 || (mode == 1 && odd_one) || (mode == 2 && !odd_one) ? 1.f : -1.f);
  }
  const auto lanes = static_cast<std::size_t>(exec().build_of(wb::core_test_kernels()).lanes);
  const outputs got = evaluate(exec(), core_function::whole_vector, in);
  for (std::size_t i = 0; i < in.x.size(); i++) {
    const std::size_t begin = i / lanes * lanes, end = std::min(begin + lanes, in.x.size());
    bool any = false, every = true;
    for (std::size_t j = begin; j < end; j++) {
      any = any || in.x[j] > 0.f;
      every = every && in.x[j] > 0.f;
    }
    ASSERT_EQ(got.first[i], any ? 1 : 0) << i;
    ASSERT_EQ(got.second[i], every ? 1 : 0) << i;
  }
}

// ------------------------------------------------------------------------ error bounds, on the scalar build

/// Distance from the exact value in units of the last place of a float there.
double ulps(float got, double exact) {
  const double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
  return std::fabs(static_cast<double>(got) - exact) / unit;
}

TEST(core_math, exp_is_within_two_ulp_and_clamped) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> range(-87.f, 88.f);
  inputs in;
  for (const float x : {-87.f, 88.f, 0.f, -0.f, denormal, -denormal, 1.f, -1.f}) in.add(x);
  for (std::size_t i = 0; i < scaled(1 << 21); i++) {
    in.add(range(random));
    in.add(random_float(random, -30, 5));
  }
  const auto scalar = wb::testing::open_scalar();
  const outputs got = evaluate(*scalar, core_function::exp, in);
  double worst = 0;
  for (std::size_t i = 0; i < in.x.size(); i++)
    worst = std::max(worst, ulps(as_float(got.first[i]), std::exp(static_cast<double>(in.x[i]))));
  EXPECT_LE(worst, 2.0);
  RecordProperty("worst_ulp", std::to_string(worst));

  inputs outside;
  for (const float x : {-87.f, 88.f, -88.f, 89.f, -1e10f, 1e10f, -infinity, infinity}) outside.add(x);
  const outputs clamped = evaluate(*scalar, core_function::exp, outside);
  for (std::size_t i = 2; i < outside.x.size(); i++)
    EXPECT_EQ(clamped.first[i], clamped.first[i % 2]) << outside.x[i];
  EXPECT_GE(as_float(clamped.first[0]), smallest_normal);
  EXPECT_LT(as_float(clamped.first[1]), infinity);
}

TEST(core_math, log_is_within_two_ulp_over_all_exponents) {
  std::mt19937 random(6);
  inputs in;
  for (int e = -126; e <= 127; e++) {
    in.add(std::ldexp(1.f, e));
    in.add(std::ldexp(2.f - 0x1p-23f, e));
    for (std::size_t i = 0; i < scaled(1 << 12); i++)
      in.add(std::ldexp(1.f + static_cast<float>(random() & 0x7fffff) * 0x1p-23f, e));
  }
  for (int i = -2000; i <= 2000;
       i++)  // about 1, where the logarithm changes sign, and about the fold at sqrt 2
    for (const std::int32_t boundary : {0x3f800000, 0x3fb504f3, 0x3f3504f3}) in.add(as_float(boundary + i));
  const auto scalar = wb::testing::open_scalar();
  const outputs got = evaluate(*scalar, core_function::log, in);
  double worst = 0;
  for (std::size_t i = 0; i < in.x.size(); i++) {
    const double exact = std::log(static_cast<double>(in.x[i]));
    if (in.x[i] == 1.f)
      EXPECT_EQ(as_float(got.first[i]), 0.f);
    else
      worst = std::max(worst, ulps(as_float(got.first[i]), exact));
  }
  EXPECT_LE(worst, 2.0);
  RecordProperty("worst_ulp", std::to_string(worst));
}

TEST(core_math, exp_of_moderate_is_within_its_bound) {
  const inputs in = moderate_inputs();
  const auto scalar = wb::testing::open_scalar();
  const outputs got = evaluate(*scalar, core_function::exp_of_moderate, in);
  double worst = 0;
  for (std::size_t i = 0; i < in.x.size(); i++) {
    const double exact = std::exp(static_cast<double>(in.x[i]));
    worst = std::max(worst, std::fabs(static_cast<double>(as_float(got.first[i])) / exact - 1));
  }
  EXPECT_LE(worst, 7e-7);
  EXPECT_EQ(as_float(got.first[0]), 1.f);
  RecordProperty("worst", std::to_string(worst));
}

TEST(core_math, log_of_ratio_is_within_its_bound) {
  const inputs in = ratio_inputs();
  const auto scalar = wb::testing::open_scalar();
  const outputs got = evaluate(*scalar, core_function::log_of_ratio, in);
  double worst = 0;
  for (std::size_t i = 0; i < in.x.size(); i++) {
    const double exact = std::log(static_cast<double>(in.x[i]) / static_cast<double>(in.y[i]));
    if (in.x[i] == in.y[i])
      EXPECT_EQ(as_float(got.first[i]), 0.f);
    else
      worst = std::max(worst, std::fabs(static_cast<double>(as_float(got.first[i])) / exact - 1));
  }
  EXPECT_LE(worst, 1.2e-6);
  RecordProperty("worst", std::to_string(worst));
}

TEST(core_math, sincos_error_up_to_ten_thousand) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> wide(-1e4f, 1e4f), narrow(-10.f, 10.f);
  inputs in;
  for (const float x : {0.f, -0.f, 1e4f, -1e4f, denormal}) in.add(x);
  for (int k = -6366; k <= 6366; k++)  // about every quarter turn, where most of the argument cancels
    for (int i = -1; i <= 1; i++)
      in.add(as_float(std::bit_cast<std::int32_t>(static_cast<float>(k * std::numbers::pi / 2)) +
                      (k == 0 ? 0 : i)));
  for (std::size_t i = 0; i < scaled(1 << 20); i++) {
    in.add(wide(random));
    in.add(narrow(random));
  }
  const auto scalar = wb::testing::open_scalar();
  const outputs got = evaluate(*scalar, core_function::sincos, in);
  double worst = 0;
  for (std::size_t i = 0; i < in.x.size(); i++) {
    const double x = in.x[i];
    worst = std::max({worst, std::fabs(as_float(got.first[i]) - std::sin(x)),
                      std::fabs(as_float(got.second[i]) - std::cos(x))});
  }
  EXPECT_LE(worst, 1.2e-7);
  RecordProperty("worst_times_1e7", std::to_string(worst * 1e7));
}

TEST(core_math, sincos_turn_error) {
  const inputs in = unsigned_inputs();
  const auto scalar = wb::testing::open_scalar();
  const outputs got = evaluate(*scalar, core_function::sincos_turn, in);
  double worst = 0;
  for (std::size_t i = 0; i < in.x.size(); i++) {
    const double x = 2 * std::numbers::pi * as_unsigned(in.x[i]) / 4294967296.0;
    worst = std::max({worst, std::fabs(as_float(got.first[i]) - std::sin(x)),
                      std::fabs(as_float(got.second[i]) - std::cos(x))});
  }
  EXPECT_LE(worst, 1.2e-7);
  RecordProperty("worst_times_1e7", std::to_string(worst * 1e7));
}

TEST(core_math, complex_normal_moments_and_tail) {
  // CN(0, 1): parts of variance 1/2. Every check allows 5 standard deviations of its estimator.
  std::mt19937 random(8);
  const std::size_t n = scaled(1 << 21);
  inputs in;
  for (std::size_t i = 0; i < n; i++) {
    const float w0 = random_bits_float(random);
    in.add(w0, random_bits_float(random));
  }
  const auto scalar = wb::testing::open_scalar();
  const outputs got = evaluate(*scalar, core_function::complex_normal, in);
  const double samples = static_cast<double>(n);
  double cross = 0;
  for (std::size_t i = 0; i < n; i++) cross += 2.0 * as_float(got.first[i]) * as_float(got.second[i]);
  EXPECT_LT(std::fabs(cross / samples), 5 / std::sqrt(samples));
  for (const auto* part : {&got.first, &got.second}) {
    double sum = 0, squares = 0, fourth = 0;
    std::array<double, 3> beyond{};  // 2, 3, 4 standard deviations, either side
    std::array<double, 2> side{};    // beyond 3 to the left, to the right
    for (const std::int32_t bits : *part) {
      const double x = std::numbers::sqrt2 * as_float(bits);  // of unit variance
      sum += x;
      squares += x * x;
      fourth += x * x * x * x;
      for (std::size_t k = 0; k < beyond.size(); k++)
        beyond[k] += std::fabs(x) > 2.0 + static_cast<double>(k);
      if (std::fabs(x) > 3) side[x > 0]++;
    }
    EXPECT_LT(std::fabs(sum / samples), 5 / std::sqrt(samples));
    EXPECT_LT(std::fabs(squares / samples - 1), 5 * std::sqrt(2 / samples));
    EXPECT_LT(std::fabs(fourth / samples - 3), 5 * std::sqrt(96 / samples));
    for (std::size_t k = 0; k < beyond.size(); k++) {
      const double expected = samples * oracle::normal_two_sided_p(2.0 + static_cast<double>(k));
      EXPECT_LT(std::fabs(beyond[k] - expected), 5 * std::sqrt(expected)) << k + 2 << " sigma";
    }
    EXPECT_LT(std::fabs(side[1] - side[0]), 5 * std::sqrt(side[0] + side[1]));
  }
}

TEST(core_math, complex_normal_of_extreme_words) {
  inputs in;  // the modulus is sqrt(-ln u), u = (w0 + 1/2) / 2^32
  in.add(as_float(0u), as_float(0u));
  in.add(as_float(0u), as_float(0x80000000u));
  in.add(as_float(0xffffffffu), as_float(0x12345678u));
  const auto scalar = wb::testing::open_scalar();
  const outputs got = evaluate(*scalar, core_function::complex_normal, in);
  const double longest = std::sqrt(33 * std::numbers::ln2);
  EXPECT_NEAR(as_float(got.first[0]), longest, 1e-6);
  EXPECT_NEAR(as_float(got.second[0]), 0, 1e-6);
  EXPECT_NEAR(as_float(got.first[1]), -longest, 1e-6);
  EXPECT_EQ(as_float(got.first[2]), 0.f);
  EXPECT_EQ(as_float(got.second[2]), 0.f);
}

// ------------------------------------------------------------------------------------------------- Philox

using words = std::array<std::uint32_t, 4>;

class philox : public wb::testing::on_backend {
 protected:
  std::vector<words> run(const std::vector<words>& counters, std::array<std::uint32_t, 2> key) {
    std::vector<std::int32_t> flat;
    for (const words& c : counters)
      for (const std::uint32_t w : c) flat.push_back(static_cast<std::int32_t>(w));
    const auto from = on_device(exec(), flat, counters.size(), 4);
    return start({from, 0, 0, 0, key[0], key[1], {}}, counters.size());
  }
  /// Of the library's counters of consecutive indices.
  std::vector<words> run(std::uint64_t first, std::size_t n, std::uint32_t stream, std::uint32_t point,
                         std::array<std::uint32_t, 2> key) {
    return start({{}, first, stream, point, key[0], key[1], {}}, n);
  }

 private:
  std::vector<words> start(wb::philox_test_args args, std::size_t n) {
    auto to = exec().make<std::int32_t>(n, 4);
    args.out = to;
    exec().run(wb::philox_test_kernels(), &args, n);
    const auto bits = exec().to_host(to);
    std::vector<words> result(n);
    for (std::size_t i = 0; i < bits.size(); i++) result[i / 4][i % 4] = static_cast<std::uint32_t>(bits[i]);
    return result;
  }
};
WB_ON_ALL_BACKENDS(philox);

TEST_P(philox, gives_the_published_vectors) {
  // Known-answer tests that D. E. Shaw Research publishes with Random123 (philox4x32, 10 rounds).
  constexpr std::uint32_t ones = 0xffffffff;
  const auto expect = [&](const words& counter, std::array<std::uint32_t, 2> key, const words& expected) {
    for (const words& got : run(std::vector<words>(21, counter), key)) EXPECT_EQ(got, expected);
  };
  expect({0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect({ones, ones, ones, ones}, {ones, ones}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_P(philox, equals_oracle_for_random_counters_and_keys) {
  std::mt19937 random(9);
  for (int k = 0; k < 20; k++) {
    const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(random()),
                                           static_cast<std::uint32_t>(random())};
    std::vector<words> counters(501);
    for (words& c : counters)
      for (std::uint32_t& w : c) w = static_cast<std::uint32_t>(random());
    const auto got = run(counters, key);
    for (std::size_t i = 0; i < counters.size(); i++)
      ASSERT_EQ(got[i], oracle::philox4x32_10(counters[i], key)) << i;
  }
}

TEST_P(philox, consecutive_indices_carry_into_the_high_word) {
  // 2^32 lies inside a vector of any width at every lane; so does 2^64, where the index wraps.
  const std::array<std::uint32_t, 2> key{7, 0xdeadbeef};
  std::vector<std::uint64_t> starts{0, 1, 0x123456789abcdef0u};
  for (std::uint64_t back = 0; back <= 17; back++) {
    starts.push_back((std::uint64_t{1} << 32) - back);
    starts.push_back((std::uint64_t{5} << 32) - back);
    starts.push_back(0 - back);
  }
  for (const std::uint64_t first : starts) {
    const auto got = run(first, 37, 0x03000001, 99, key);
    for (std::size_t i = 0; i < got.size(); i++) {
      const std::uint64_t index = first + i;
      const words counter{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                          0x03000001, 99};
      ASSERT_EQ(got[i], oracle::philox4x32_10(counter, key)) << "index " << first << " + " << i;
    }
  }
}

}  // namespace core_test
