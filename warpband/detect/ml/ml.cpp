#include <warpband/detect/ml/ml.hpp>

#include <warpband/detect/detect_args.hpp>
#include <warpband/detect/mapping.hpp>

namespace wb {

WB_DECLARE_KERNEL(ml)

ml::ml(const ml_config& c)
    : detector(c.streams, c.rx_antennas, c.qam), clip_(c.llr_clip), extrinsic_(c.extrinsic) {
  completed({.type = detector_type::ml,
             .streams = c.streams,
             .rx_antennas = c.rx_antennas,
             .qam = c.qam,
             .llr_clip = clip_});
}

void ml::start(executor& exec, std::size_t uses, detect_args& args) const {
  args.clip = clip_;
  args.extrinsic = extrinsic_;
  args.tile = ml_tile(exec, args.streams, args.pam_bits);
  exec.run(ml_kernels(), &args, uses);
}

}  // namespace wb
