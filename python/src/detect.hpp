#pragma once
#include <memory>

#include <warpband/detect/detector.hpp>

namespace wb::python {

/// What Python's detectors hold: the settings in force, and the detector made of them.
struct detector_ref {
  detector_config config;
  std::unique_ptr<detector> made;
  /// Throws argument_error.
  explicit detector_ref(const detector_config& c) : config(completed(c)), made(make_detector(config)) {}
};

}  // namespace wb::python
