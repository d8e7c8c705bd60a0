#pragma once
// The kinds of detectors of the library, and their settings, for tests that change them.
#include <string>
#include <vector>

#include <warpband/detect/detector.hpp>
#include <warpband/detect/ep/ep.hpp>
#include <warpband/detect/kbest/kbest.hpp>
#include <warpband/detect/nway/nway.hpp>
#include <warpband/detect/pic/pic.hpp>
#include <warpband/detect/sphere/sphere.hpp>
#include <warpband/detect/trellis/trellis.hpp>

namespace wb::testing {

/// The kinds of the library.
inline namespace detector_names {
inline const std::string ml = "ml", mf = "mf", zf = "zf", mmse = "mmse", ot = "ot", mtt = "mtt",
                         kbest = "kbest", nway = "nway", sphere = "sphere", pic = "pic", ep = "ep";
}

// ---- settings of a kind, to be changed

inline kbest_settings& kbest_in(detector_config& c) { return c.edit<kbest_settings>(); }
inline nway_settings& nway_in(detector_config& c) { return c.edit<nway_settings>(); }
inline sphere_settings& sphere_in(detector_config& c) { return c.edit<sphere_settings>(); }
inline ep_settings& ep_in(detector_config& c) { return c.edit<ep_settings>(); }
/// Of ot, mtt, kbest, nway or sphere.
inline search_order& search_in(detector_config& c) {
  if (c.type == kbest) return kbest_in(c).search;
  if (c.type == nway) return nway_in(c).search;
  if (c.type == sphere) return sphere_in(c).search;
  return c.edit<trellis_settings>().search;
}
inline bool has_order(const detector_config& c) {
  return find_setting(c.kind().settings, "order") != nullptr;
}
inline search_order search_of(detector_config c) { return has_order(c) ? search_in(c) : search_order{}; }
/// What a detector with an order can sort by.
inline std::vector<stream_sort> sorts_of(const detector_config& c) {
  std::vector<stream_sort> sorts{stream_sort::norm, stream_sort::norm_ascending, stream_sort::sqrd};
  if (c.type == nway) sorts.push_back(stream_sort::fsd);
  return sorts;
}
inline bool is_exact(const detector_config& c) { return plain(c.value_of("demapper")) == "exact"; }

}  // namespace wb::testing
