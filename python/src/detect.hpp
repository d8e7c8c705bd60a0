#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpband/detect/detector.hpp>

namespace wb::python {

/// What Python's detectors hold: the settings in force, and the detector made of them.
struct detector_ref {
  detector_config config;
  std::unique_ptr<detector> made;
  /// Throws argument_error.
  detector_ref(const std::string& type, int streams, int rx_antennas, int qam, std::optional<float> llr_clip,
               int ways, int survivors, bool real_valued, bool extrinsic, std::vector<int> order);
};

}  // namespace wb::python
