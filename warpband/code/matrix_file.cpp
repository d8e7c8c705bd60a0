#include <warpband/code/matrix_file.hpp>

namespace wb {

named_values described_matrix(std::string_view kind, const box& content, const code_sizes& sizes,
                              const std::optional<crc_polynomial>& crc,
                              const std::vector<std::int32_t>& numbers) {
  named_values values{{"k", static_cast<std::int64_t>(sizes.k)},
                      {"crc", crc_name(crc)},
                      {"n", static_cast<std::int64_t>(sizes.n)}};
  const code_kind& described = codes().get(kind);
  for (auto& [name, value] : values_in_results(described.settings, described.initial, content, "code"))
    if (name != "k" && name != "crc") values.emplace_back(std::move(name), std::move(value));
  values.emplace_back("matrix_id", content_id(numbers));
  return values;
}

std::optional<std::size_t> k_of_matrix(const code_sizes& sizes, std::size_t n) {
  return n == sizes.n ? std::optional(sizes.k) : std::nullopt;
}

box fit_matrix(const box& content, const code_sizes& sizes, const code_rows& rows, const std::string& n_name,
               const std::string& k_name) {
  const std::size_t expected = rows.decodes ? sizes.n : sizes.k;
  if (rows.values != expected)
    rows.refuse("[batch, " + std::to_string(expected) + "], the " + (rows.decodes ? n_name : k_name));
  return content;
}

}  // namespace wb
