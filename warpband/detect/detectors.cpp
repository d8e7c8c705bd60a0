// The kinds of detectors.
#include <warpband/detect/ep/ep.hpp>
#include <warpband/detect/kbest/kbest.hpp>
#include <warpband/detect/linear/linear.hpp>
#include <warpband/detect/ml/ml.hpp>
#include <warpband/detect/nway/nway.hpp>
#include <warpband/detect/pic/pic.hpp>
#include <warpband/detect/sphere/sphere.hpp>
#include <warpband/detect/trellis/trellis.hpp>

namespace wb {

kind_list<detector_kind>& detectors() {
  static kind_list<detector_kind> kinds{"type",
                                        {ml_kind(), mf_kind(), zf_kind(), mmse_kind(), ot_kind(), mtt_kind(),
                                         kbest_kind(), nway_kind(), sphere_kind(), pic_kind(), ep_kind()}};
  return kinds;
}

}  // namespace wb
