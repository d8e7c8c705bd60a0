#pragma once
// JSON that tests read. The parser is compiled once, in json.cpp: in each file that parses it takes 2.5 s.
#include <istream>
#include <string>

#include <nlohmann/json.hpp>

namespace wb::testing {

/// Throws nlohmann::json::parse_error where the text is not JSON.
nlohmann::json parse_json(const std::string& text);
nlohmann::json parse_json(std::istream& file);
nlohmann::json parse_json(std::istream&& file);

}  // namespace wb::testing
