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
        if constexpr (std::is_same_v<T, no_value>) {
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

/// The value that `json_of` wrote. Throws an exception of nlohmann's for other JSON.
inline setting_value setting_of_json(const nlohmann::ordered_json& j) {
  if (j.is_null()) return {};
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_number()) return j.get<double>();
  if (j.is_string()) return j.get<std::string>();
  const nlohmann::ordered_json& first = j.at(0);
  if (first.is_number_integer()) return j.get<std::vector<std::int64_t>>();
  if (first.is_number()) return j.get<std::vector<double>>();
  if (first.is_string()) return j.get<std::vector<std::string>>();
  std::vector<std::complex<double>> pairs;
  for (const nlohmann::ordered_json& z : j) pairs.emplace_back(z.at(0).get<double>(), z.at(1).get<double>());
  return pairs;
}

}  // namespace wb
