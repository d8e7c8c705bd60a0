#include <warpband/detect/linear/linear.hpp>

#include <warpband/core/check.hpp>
#include <warpband/detect/detect_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(linear)

linear::linear(const linear_config& c)
    : detector(c.streams, c.rx_antennas, c.qam), algorithm_(c.algorithm), clip_(c.llr_clip) {
  if (algorithm_ != linear_algorithm::mf && algorithm_ != linear_algorithm::zf &&
      algorithm_ != linear_algorithm::mmse)
    throw argument_error("algorithm", std::to_string(static_cast<int>(algorithm_)), "mf, zf or mmse");
  completed({.type = detector_type::mmse, .llr_clip = clip_});
}

void linear::start(executor& exec, std::size_t uses, detect_args& args) const {
  args.algorithm = static_cast<int>(algorithm_);
  args.clip = clip_;
  exec.run(linear_kernels(), &args, uses);
}

}  // namespace wb
