#pragma once
// Settings of links that scenarios of `warpband sim` and `warpband stream` have in common: [modem] and
// [mimo].
#include <string>

#include <warpband/core/setting.hpp>
#include <warpband/detect/detector.hpp>

namespace wb {

/// Of `least` points or more.
template <class C>
setting_of<C> modulation_setting(int C::*qam, int least, std::string text) {
  std::vector<std::pair<std::string, int>> names{
      {"bpsk", 2}, {"qpsk", 4}, {"16qam", 16}, {"64qam", 64}, {"256qam", 256}};
  std::erase_if(names, [=](const auto& n) { return n.second < least; });
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
