#pragma once
// Settings of links that scenarios of `warpband sim` and `warpband stream` have in common: [modem] and
// [mimo].
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/modem/demap/demap.hpp>

namespace wb {

inline const char* name_of(demap_algorithm a) noexcept {
  return a == demap_algorithm::max_log ? "max-log" : "exact";
}

inline const std::vector<std::pair<std::string, int>>& modulation_names() {
  static const std::vector<std::pair<std::string, int>> names{
      {"bpsk", 2},     {"qpsk", 4},       {"16qam", 16},    {"64qam", 64},
      {"256qam", 256}, {"1024qam", 1024}, {"4096qam", 4096}};
  return names;
}
/// "?" for another number of points.
inline std::string name_of_modulation(int points) {
  for (const auto& [name, n] : modulation_names())
    if (n == points) return name;
  return "?";
}

/// Throws argument_error where a link has another constellation than those of several antennas; `with` says
/// what it has.
inline void check_modulation(int qam, const std::string& with) {
  if (qam < 4 || qam > 256)
    throw argument_error("modulation", '"' + name_of_modulation(qam) + '"',
                         "\"qpsk\" to \"256qam\" with " + with);
}

/// Of constellations of these sizes.
template <class C>
setting_of<C> modulation_setting(int C::*qam, int fewest_points, int most_points, std::string text) {
  std::vector<std::pair<std::string, int>> names = modulation_names();
  std::erase_if(names, [=](const auto& n) { return n.second < fewest_points || n.second > most_points; });
  return words("modulation", qam, names, std::move(text));
}
template <class C>
setting_of<C> streams_setting(int C::*streams, std::string text) {
  return integer("streams", streams, 1, most_soft_streams, std::move(text),
                 "an integer from 1 to 8, with pic and ep to 16");
}
template <class C>
setting_of<C> rx_antennas_setting(int C::*antennas, std::string text) {
  return integer("rx_antennas", antennas, 1, 16, std::move(text),
                 "an integer from mimo.streams to 16, with a space-time code from 1 to 4");
}

}  // namespace wb
