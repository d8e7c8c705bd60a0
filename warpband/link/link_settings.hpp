#pragma once
// Settings of links that scenarios of `warpband sim` and `warpband stream` have in common: [modem] and
// [mimo].
#include <string>

#include <warpband/core/setting.hpp>

namespace wb {

template <class C>
setting_of<C> modulation_setting(int C::*qam, std::string text) {
  return words("modulation", qam, {{"bpsk", 2}, {"qpsk", 4}, {"16qam", 16}, {"64qam", 64}, {"256qam", 256}},
               std::move(text));
}
template <class C>
setting_of<C> streams_setting(int C::*streams, std::string text) {
  return integer("streams", streams, 1, 8, std::move(text));
}
template <class C>
setting_of<C> rx_antennas_setting(int C::*antennas, std::string text) {
  return integer("rx_antennas", antennas, 1, 16, std::move(text),
                 "an integer from mimo.streams to 16, with a space-time code from 1 to 4");
}

}  // namespace wb
