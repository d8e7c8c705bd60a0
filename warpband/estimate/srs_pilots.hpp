#pragma once
// SRS of 5G NR as pilots, from which channel_estimator estimates a terminal's channels.
#include <warpband/estimate/pilots.hpp>
#include <warpband/nr/srs/srs.hpp>

namespace wb {

/// SRS of a band (nr_srs::bands), a row for each of its OFDM symbols. A cell has as many neighbours of the
/// comb as `shifts`: equally spaced cyclic shifts that are told apart, of the ports and of other terminals.
/// 1, 2 or 4; 0 takes the smallest number that separates the ports. Throws argument_error ("band", "shifts").
pilot_pattern pilots_of(const nr_srs& srs, int band = 0, int shifts = 0);

}  // namespace wb
