#pragma once
// Contracts of algorithms over a batch, tested once for all of a list: contract_*_test.cpp has the lists,
// contract_test.cpp the tests. An algorithm joins by one entry:
//
//   algorithm a{.text = "k = 40", .outputs = {output<std::uint8_t>("bits", 40), status_output()}};
//   a.draw = [](std::size_t items) { return operands{input("llr", 120, llrs(items))}; };
//   a.run = [d](executor& e, const call& c) { d.run(e, c["llr"], {.bits = c["bits"], .status = c["status"]});
//   };
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <tests/on_backends.hpp>
#include <warpband/core/half.hpp>
#include <warpband/core/status.hpp>

namespace wb::testing {

enum class value_kind { integer, floating, half };

/// An argument of a call: rows of `width` values, `rows_per_item` of them for each item of the batch.
struct operand {
  std::string name;  // as errors name it
  std::size_t width = 1, size = 1, rows_per_item = 1;
  value_kind kind = value_kind::integer;
  std::vector<std::byte> values = {};  // of an input, row by row

  std::size_t row_bytes() const { return width * size; }
  std::size_t item_bytes() const { return rows_per_item * row_bytes(); }
};
using operands = std::vector<operand>;

template <class T>
operand output(const std::string& name, std::size_t width, std::size_t rows_per_item = 1) {
  constexpr bool integer = std::is_integral_v<T>, half = std::is_same_v<T, half_complex>;
  return {name, width, sizeof(T), rows_per_item,
          integer ? value_kind::integer
          : half  ? value_kind::half
                  : value_kind::floating};
}
inline operand status_output(std::size_t rows_per_item = 1) {
  return output<std::uint8_t>("status", 1, rows_per_item);
}
template <class T>
operand input(const std::string& name, std::size_t width, const std::vector<T>& values,
              std::size_t rows_per_item = 1) {
  operand o = output<T>(name, width, rows_per_item);
  o.values.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(o.values.data(), values.data(), o.values.size());
  return o;
}

/// The views of a call, by the names of its arguments. An output that was not asked for has no data.
struct call {
  struct argument {
    std::string name;
    std::byte* data = nullptr;
    std::size_t size = 0, width = 0, rows = 0, value_stride = 1, row_stride = 0;  // strides in values

    template <class T>
    operator view<T>() const {
      EXPECT_TRUE(data == nullptr || size == sizeof(T)) << name;
      return {reinterpret_cast<T*>(data), width, rows, value_stride, row_stride};
    }
  };
  std::vector<argument> in, out;
  std::size_t first = 0;  // the first item's number in the whole batch

  argument operator[](const std::string& name) const {
    for (const auto* list : {&in, &out})
      for (const argument& a : *list)
        if (a.name == name) return a;
    return {};
  }
  template <class T>
  view<T> get(const std::string& name) const {
    return (*this)[name];
  }
};

/// An input that makes its item an erasure: `spoil` gets a row of `input`, complex values as two floats.
struct fault {
  std::string text, input;
  std::function<void(std::span<float>)> spoil;
  std::uint8_t status = status_erased;
};

/// An algorithm with its settings.
struct algorithm {
  std::string text;
  std::size_t items = 35;  // of the batch that is cut into parts and turned
  operands outputs = {};
  std::function<operands(std::size_t items)> draw = {};
  std::function<void(executor&, const call&)> run = {};
  std::vector<fault> faults = {};        // beside NaN and infinity in each floating-point input
  std::vector<std::string> finite = {};  // inputs of which NaN and infinity are no fault
  bool alone = true;                     // each output may be the only one
  bool side_by_side = false;             // rows must lie side by side
  // Arguments whose width or number of rows is the caller's, beside the rows of the first input.
  std::vector<std::string> free_widths = {}, free_rows = {};
};

/// An entry of a list: one algorithm in settings that reach all of its code.
struct contract_case {
  std::string name;
  std::vector<algorithm> (*make)();
};

class contract : public ::testing::TestWithParam<std::tuple<contract_case, backend>> {
 protected:
  void SetUp() override;
  executor& exec() { return *exec_; }
  const backend& device() const { return std::get<1>(GetParam()); }
  std::vector<algorithm> algorithms() const { return std::get<0>(GetParam()).make(); }

 private:
  std::unique_ptr<executor> exec_;
};
/// Of algorithms that erase bad items.
class erasure_contract : public contract {};
/// What a call checks before any work.
class argument_contract : public ::testing::TestWithParam<contract_case> {};

inline std::vector<contract_case> joined(std::vector<contract_case> a, const std::vector<contract_case>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline void PrintTo(const contract_case& c, std::ostream* out) { *out << c.name; }

struct contract_test_name {
  std::string operator()(const ::testing::TestParamInfo<contract_case>& info) const {
    return info.param.name;
  }
  std::string operator()(const ::testing::TestParamInfo<contract::ParamType>& info) const {
    return std::get<0>(info.param).name + "_" + backend_test_name({std::get<1>(info.param), info.index});
  }
};

}  // namespace wb::testing

/// The contracts of all algorithms of a list.
#define WB_CONTRACTS_WITHOUT_ERASURES(room, list)                                                        \
  using ::wb::testing::argument_contract, ::wb::testing::contract;                                       \
  INSTANTIATE_TEST_SUITE_P(                                                                              \
      room, contract,                                                                                    \
      ::testing::Combine(::testing::ValuesIn(list), ::testing::ValuesIn(::wb::testing::all_backends())), \
      ::wb::testing::contract_test_name());                                                              \
  INSTANTIATE_TEST_SUITE_P(room, argument_contract, ::testing::ValuesIn(list),                           \
                           ::wb::testing::contract_test_name())

/// The same where the algorithms of `erasing` make erasures of bad items, and those of `others` do not.
#define WB_CONTRACTS(room, erasing, others)                                                                 \
  using ::wb::testing::erasure_contract;                                                                    \
  WB_CONTRACTS_WITHOUT_ERASURES(room, ::wb::testing::joined(erasing, others));                              \
  INSTANTIATE_TEST_SUITE_P(                                                                                 \
      room, erasure_contract,                                                                               \
      ::testing::Combine(::testing::ValuesIn(erasing), ::testing::ValuesIn(::wb::testing::all_backends())), \
      ::wb::testing::contract_test_name())
