#pragma once
// Values of settings as JSON. For files that write JSON: it needs nlohmann's.
#include <complex>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>
#include <vector>

#include <warpband/core/setting.hpp>

namespace wb {

/// null for nothing; complex numbers as pairs.
inline nlohmann::ordered_json json_of(const setting_value& value) {
  using json = nlohmann::ordered_json;
  return std::visit(
      []<class T>(const T& v) -> json {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, std::vector<std::complex<double>>>) {
          json pairs = json::array();
          for (const std::complex<double>& z : v) pairs.push_back(json::array({z.real(), z.imag()}));
          return pairs;
        } else {
          return v;
        }
      },
      value);
}

}  // namespace wb
