#pragma once
// Settings that take a list of numbers or the name of a file that has them. A result has the numbers, so that
// it goes on only with the same ones.
#include <string>
#include <variant>
#include <vector>

#include <warpband/core/setting.hpp>

namespace wb {

inline constexpr const char* numbers_or_file_kind = "list of numbers or a file";

/// A value of such a setting with the file's relative name starting at a folder; any other value as it is.
setting_value from_folder(const std::string& kind, const setting_value& value, const std::string& folder);

/// 1 to `longest` numbers. `read` makes them of a file's name.
template <class C, class Read>
setting_of<C> numbers_or_file(std::string name, std::vector<double> C::*member, double least, double greatest,
                              std::size_t longest, std::string text, std::string allowed, Read read) {
  return list(name, member, numbers_or_file_kind, std::move(text), allowed, [=](const setting_value& v) {
    const auto* file = std::get_if<std::string>(&v);
    std::vector<double> numbers =
        file != nullptr ? read(*file) : settings_detail::reals(name, v, least, greatest, allowed);
    if (numbers.empty() || numbers.size() > longest) settings_detail::refuse(name, v, allowed);
    return numbers;
  });
}

}  // namespace wb
