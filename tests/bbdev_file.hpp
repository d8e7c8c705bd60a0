#pragma once
// Test vectors of dpdk-test-bbdev: "key =" and values, separated by commas, on the lines behind it.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace wb::testing {

struct bbdev_file {
  std::map<std::string, std::vector<std::string>> values;

  bool has(const std::string& key) const { return values.contains(key); }
  bool flag(const std::string& flag) const {
    const auto it = values.find("op_flags");
    return it != values.end() &&
           std::find(it->second.begin(), it->second.end(), "RTE_BBDEV_" + flag) != it->second.end();
  }
  std::string text(const std::string& key) const { return has(key) ? values.at(key).at(0) : ""; }
  int number(const std::string& key, int otherwise = 0) const {
    return has(key) ? std::stoi(text(key), nullptr, 0) : otherwise;
  }
  /// Of all buffers of a kind, as "input0", "input1": a word has its first byte last.
  std::vector<std::uint8_t> bytes(const std::string& kind) const {
    std::vector<std::uint8_t> buffer;
    for (int i = 0; has(kind + std::to_string(i)); i++)
      for (const std::string& word : values.at(kind + std::to_string(i)))
        for (std::size_t end = word.size(); end > 2; end -= 2)
          buffer.push_back(static_cast<std::uint8_t>(std::stoi(word.substr(end - 2, 2), nullptr, 16)));
    return buffer;
  }
};

/// Of WARPBAND_REFDATA/bbdev; nothing where it cannot be read.
inline std::optional<bbdev_file> read_bbdev(const std::string& name) {
  std::ifstream in(std::string(WARPBAND_REFDATA) + "/bbdev/" + name);
  if (!in) return {};
  bbdev_file file;
  std::string line, key;
  while (std::getline(in, line)) {
    std::erase_if(line, [](unsigned char c) { return std::isspace(c) != 0; });
    if (line.empty() || line[0] == '#') continue;
    if (const auto equals = line.find('='); equals != std::string::npos) {
      key = line.substr(0, equals);
      line.erase(0, equals + 1);
    }
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, ',');) file.values[key].push_back(word);
  }
  return file;
}

}  // namespace wb::testing
