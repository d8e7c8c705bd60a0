#include <warpband/detect/ml/ml.hpp>

#include <warpband/core/check.hpp>
#include <warpband/detect/detect_args.hpp>
#include <warpband/detect/mapping.hpp>

namespace wb {

WB_DECLARE_KERNEL(ml)

ml::ml(const ml_config& c)
    : detector(c.streams, c.rx_antennas, c.qam), clip_(c.llr_clip), extrinsic_(c.extrinsic) {
  completed({.type = detector_type::ml, .llr_clip = clip_});
  if (bits_per_use() > 24) {
    const int most = 24 / c.streams / 2;  // bits of a symbol in one dimension
    throw argument_error("qam", std::to_string(c.qam),
                         std::to_string(1 << 2 * most) + (most > 1 ? " or less" : "") + " with " +
                             std::to_string(c.streams) + " streams (at most 2^24 hypotheses)");
  }
}

void ml::start(executor& exec, std::size_t uses, detect_args& args) const {
  args.clip = clip_;
  args.extrinsic = extrinsic_;
  args.tile = ml_tile(exec, args.streams, args.pam_bits);
  exec.run(ml_kernels(), &args, uses);
}

}  // namespace wb
