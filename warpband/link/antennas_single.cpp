// One antenna to one antenna, with a demapper.
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/receive/open_loop.hpp>

namespace wb {
namespace {

const single_antenna& settings_of(const link_config& c) { return c.antennas.get<single_antenna>(); }

/// Two demappers differ from 16-QAM on.
std::vector<link_antennas> single_candidates(const link_config& c) {
  std::vector<link_antennas> candidates{c.antennas};
  if (c.qam > 4)
    for (const demap_algorithm a : {demap_algorithm::max_log, demap_algorithm::exact})
      if (settings_of(c).demapper != a) candidates.emplace_back(single_antenna{a});
  return candidates;
}

}  // namespace

antenna_kind single_antenna_kind() {
  return {
      .name = "single",
      .complete = complete_uses,
      .check_loop =
          [](const link_config& c) {
            refuse_loop(c, "unset without a detector of streams, a space-time code or massive MIMO");
          },
      .erases_uses = false,
      .results =
          [](const link_config& c) {
            named_values values;
            add_values(values, "modem", config::demapper_settings(), settings_of(c));
            return values;
          },
      .make = [](const link_config& c) { return make_symbols_in_uses(c, true); },
      .make_detector =
          [](const link_config& c) {
            return make_open_detector(demapper_config{c.qam, settings_of(c).demapper});
          },
      .candidates = single_candidates,
      .receiver_name =
          [](const link_antennas& a) {
            return std::string("demapper ") + name_of(a.get<single_antenna>().demapper);
          },
  };
}

}  // namespace wb
