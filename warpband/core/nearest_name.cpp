// The nearest name to a misspelt one.
#include <algorithm>
#include <numeric>

#include <warpband/core/nearest_name.hpp>

namespace wb {
namespace {

/// Edit distance in which two neighbouring letters that changed places count once.
std::size_t distance(const std::string& a, const std::string& b) {
  const std::size_t n = b.size() + 1;
  std::vector<std::size_t> before(n), last(n), current(n);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); i++) {
    current[0] = i;
    for (std::size_t j = 1; j < n; j++) {
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(current);
  }
  return last.back();
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates) {
  std::string nearest;
  if (word.size() > 100) return nearest;  // nobody's slip: a file can hold a key of 1 MB
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& c : candidates)
    if (const std::size_t d = distance(word, c); d < least) {
      least = d;
      nearest = c;
    }
  if (!nearest.empty()) return nearest;
  // In the wrong table, or without one: by the last part alone.
  const std::string part = last_part(word);
  least = std::max<std::size_t>(1, part.size() / 3) + 1;
  for (const std::string& c : candidates)
    if (const std::size_t d = distance(part, last_part(c)); d < least) {
      least = d;
      nearest = c;
    }
  if (!nearest.empty() || word.size() < 3) return nearest;
  // A longer or a shorter form of the same word: "simulate" for "sim".
  for (const std::string& c : candidates)
    if (c.size() >= 3 && (word.starts_with(c) || c.starts_with(word))) return c;
  return nearest;
}

}  // namespace wb
