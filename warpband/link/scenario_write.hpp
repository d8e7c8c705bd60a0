#pragma once
// Scenarios as text, for programs that write them.
#include <string>

#include <warpband/link/scenario.hpp>

namespace wb {

/// A scenario of one curve, in TOML: `curve` is curve `index` of `s`, except for its label, seed, stop rule
/// and sweep. What `warpband choose` chooses may differ too: the settings of its detector or demapper and of
/// its decoder, a space-time code's search and a massive uplink's solver. All keys that the curve and the
/// base around it give are kept, defaults are written out for detector and decoder. The text reads back as
/// `curve`: throws error where it does not, and argument_error for an index that is none.
std::string scenario_of_curve(const scenario& s, std::size_t index, const curve_config& curve);

}  // namespace wb
