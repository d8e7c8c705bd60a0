#include <warpband/detect/detector.hpp>
#include <warpband/detect/ep/ep.hpp>
#include <warpband/detect/kbest/kbest.hpp>
#include <warpband/detect/linear/linear.hpp>
#include <warpband/detect/ml/ml.hpp>
#include <warpband/detect/nway/nway.hpp>
#include <warpband/detect/pic/pic.hpp>
#include <warpband/detect/trellis/trellis.hpp>

namespace wb {

std::unique_ptr<detector> make_detector(const detector_config& config) {
  const detector_config c = completed(config);
  switch (c.type) {
    case detector_type::ml:
      return std::make_unique<ml>(ml_config{c.streams, c.rx_antennas, c.qam, *c.llr_clip, c.extrinsic});
    case detector_type::mf:
    case detector_type::zf:
    case detector_type::mmse: {
      const auto algorithm = c.type == detector_type::mf   ? linear_algorithm::mf
                             : c.type == detector_type::zf ? linear_algorithm::zf
                                                           : linear_algorithm::mmse;
      return std::make_unique<linear>(linear_config{c.streams, c.rx_antennas, c.qam, algorithm, *c.llr_clip});
    }
    case detector_type::ot:
    case detector_type::mtt:
      return std::make_unique<trellis_detector>(trellis_config{
          c.streams, c.rx_antennas, c.qam,
          c.type == detector_type::ot ? trellis_algorithm::one_pass : trellis_algorithm::multi_pass,
          c.llr_clip, c.order, c.extrinsic, c.sort});
    case detector_type::kbest:
      return std::make_unique<kbest>(kbest_config{c.streams, c.rx_antennas, c.qam, c.survivors, c.real_valued,
                                                  *c.llr_clip, c.extrinsic, c.order, c.sort});
    case detector_type::nway:
      return std::make_unique<nway>(
          nway_config{c.streams, c.rx_antennas, c.qam, c.ways, c.llr_clip, c.extrinsic, c.order, c.sort});
    case detector_type::pic:
      return std::make_unique<pic>(
          pic_config{c.streams, c.rx_antennas, c.qam, *c.llr_clip, c.extrinsic, c.demapper});
    case detector_type::ep:
      return std::make_unique<ep>(ep_config{c.streams, c.rx_antennas, c.qam, c.iterations, c.damping,
                                            c.start_variance, *c.llr_clip, c.extrinsic, c.demapper});
  }
  return nullptr;  // there is no other type
}

}  // namespace wb
