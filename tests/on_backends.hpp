#pragma once
// Tests that run once per backend:
//
//   class demap : public wb::testing::on_backend {};
//   WB_ON_ALL_BACKENDS(demap);
//   TEST_P(demap, equals_oracle) { ... exec() ... }
//
// gives backends/demap.equals_oracle/avx512 and so on; without a device the CUDA one is skipped in sight.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <tests/executors.hpp>

namespace wb::testing {

class on_backend : public ::testing::TestWithParam<backend> {
 protected:
  void SetUp() override {
    WB_SKIP_WITHOUT_DEVICE(GetParam());
    exec_ = GetParam().open();
  }
  executor& exec() { return *exec_; }

 private:
  std::unique_ptr<executor> exec_;
};

inline std::string backend_test_name(const ::testing::TestParamInfo<backend>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

/// What every backend is held against.
inline std::unique_ptr<executor> open_scalar() {
  return std::make_unique<cpu>(cpu_options{.threads = 1, .instructions = isa::scalar});
}

/// The same where it takes most of a test's time: with WARPBAND_TEST_REFERENCE=vectors the widest build.
/// Under a sanitizer scalar code is slow, and held against the others where it is the backend under test.
inline std::unique_ptr<executor> open_reference() {
  const char* s = std::getenv("WARPBAND_TEST_REFERENCE");
  if (s == nullptr || std::string(s) != "vectors") return open_scalar();
  return std::make_unique<cpu>(cpu_options{.threads = 1, .instructions = available_isas().back()});
}

/// A batch on an executor, filled with `values` in memory order.
template <class T>
array<T> on_device(executor& exec, const std::vector<T>& values, std::size_t items, std::size_t elements,
                   layout order = layout::row_major) {
  auto a = exec.make<T>(items, elements, order);
  EXPECT_EQ(a.size(), values.size());
  exec.upload(a.data(), values.data(), std::min(a.size(), values.size()) * sizeof(T));
  exec.sync();
  return a;
}
/// Row i of rows of n values.
template <class T>
std::vector<T> row_of(const std::vector<T>& rows, std::size_t i, std::size_t n) {
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(i * n);
  return std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(n));
}

/// Runs `call` and gives the name of the argument that an argument_error blames; "" where none is thrown.
template <class Call>
std::string blamed(Call&& call) {
  try {
    call();
  } catch (const argument_error& e) {
    return e.argument();
  }
  return "";
}

/// Of two calls that must blame the same: a check and a constructor.
template <class Check, class Make>
std::string blamed(Check&& check, Make&& make) {
  const std::string a = blamed(check), b = blamed(make);
  return a == b ? a : a + " or " + b;
}

}  // namespace wb::testing

#define WB_ON_ALL_BACKENDS(suite)                                                               \
  INSTANTIATE_TEST_SUITE_P(backends, suite, ::testing::ValuesIn(::wb::testing::all_backends()), \
                           ::wb::testing::backend_test_name)
