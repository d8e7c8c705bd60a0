#include <warpband/fec/sparse_ldpc/standard_matrix.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <warpband/core/setting.hpp>
#include <warpband/fec/sparse_ldpc/standards/standards.hpp>

namespace wb {
namespace {

constexpr std::string_view ccsds_prefix = "ccsds/", dvb_s2_prefix = "dvb-s2/";

/// Whether a path may be meant as a name.
bool has_prefix(std::string_view name) {
  return name.starts_with(ccsds_prefix) || name.starts_with(dvb_s2_prefix);
}
bool is_name(std::string_view name) {
  const auto& names = standard_matrix_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}
std::string similar_names(std::string_view name) {
  const std::size_t family = name.find('-', std::min(name.find('/'), name.size()));
  std::vector<std::string> similar;
  if (family != std::string_view::npos)
    for (const std::string& n : standard_matrix_names())
      if (n.starts_with(name.substr(0, family + 1))) similar.push_back(n);
  if (similar.empty()) return "a name such as ccsds/tc-128, ccsds/ar4ja-1024-1/2 or dvb-s2/normal-1/2";
  return among(similar);
}

}  // namespace

const std::vector<std::string>& standard_matrix_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const std::string& name : ccsds_names()) list.push_back(std::string(ccsds_prefix) + name);
    for (const dvb_s2_code& code : dvb_s2_codes()) list.push_back(std::string(dvb_s2_prefix) + code.name);
    return list;
  }();
  return names;
}

parity_check_matrix standard_parity_check_matrix(std::string_view name, const unsent_columns& unsent) {
  if (!is_name(name)) throw argument_error("matrix", "\"" + std::string(name) + "\"", similar_names(name));
  if (name.starts_with(ccsds_prefix)) return ccsds_matrix(name.substr(ccsds_prefix.size()), unsent);
  return dvb_s2_matrix(name.substr(dvb_s2_prefix.size()), unsent);
}

parity_check_matrix parity_check_matrix_of(const std::string& name_or_path, const std::string& folder,
                                           const unsent_columns& unsent) {
  const std::filesystem::path path = std::filesystem::path(folder) / name_or_path;
  std::error_code unreadable;
  if (is_name(name_or_path) || (has_prefix(name_or_path) && !std::filesystem::exists(path, unreadable)))
    return standard_parity_check_matrix(name_or_path, unsent);
  return read_parity_check_matrix(path.string(), unsent);
}

}  // namespace wb
