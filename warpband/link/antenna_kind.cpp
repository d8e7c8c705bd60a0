#include <warpband/link/antenna_kind.hpp>

namespace wb {

kind_list<antenna_kind>& antenna_kinds() {
  static kind_list<antenna_kind> kinds("antennas", {single_antenna_kind(), streams_kind(), massive_kind(),
                                                    space_time_antennas_kind(), nr_kind(), wimax_kind()});
  return kinds;
}

link_antennas::link_antennas() : link_antennas(single_antenna{}) {}
const antenna_kind& link_antennas::kind_named(std::string_view name) { return antenna_kinds().get(name); }

named_values mimo_values(const link_config& c) {
  return {{"mimo.streams", std::int64_t{streams_of(c)}},
          {"mimo.rx_antennas", std::int64_t{rx_antennas_of(c)}}};
}

std::unique_ptr<antenna_system> make_antennas(const link_config& c) { return c.antennas.kind().make(c); }

}  // namespace wb
