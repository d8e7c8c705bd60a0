#include <tests/json.hpp>

namespace wb::testing {

nlohmann::json parse_json(const std::string& text) { return nlohmann::json::parse(text); }
nlohmann::json parse_json(std::istream& file) { return nlohmann::json::parse(file); }
nlohmann::json parse_json(std::istream&& file) { return parse_json(file); }

}  // namespace wb::testing
