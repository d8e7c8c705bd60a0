#include <warpband/detect/ml/ml.hpp>

#include <warpband/core/check.hpp>
#include <warpband/detect/detect_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(ml)

ml::ml(const ml_config& c)
    : detector(c.streams, c.rx_antennas, c.qam), clip_(c.llr_clip), extrinsic_(c.extrinsic) {
  completed({.type = detector_type::ml, .llr_clip = clip_});
  if (bits_per_use() > 24)
    throw argument_error("qam^streams", "2^" + std::to_string(bits_per_use()), "at most 2^24 hypotheses");
}

void ml::start(executor& exec, std::size_t uses, detect_args& args) const {
  args.clip = clip_;
  args.extrinsic = extrinsic_;
  const bool many = static_cast<int>(bits_per_use()) - 4 * args.pam_bits >= 6;  // 64 points to share, or more
  args.tile = exec.name() != "cpu" && many ? 32 : 1;
  exec.run(ml_kernels(), &args, uses);
}

}  // namespace wb
