#include <warpband/detect/trellis/trellis.hpp>

#include <warpband/core/check.hpp>
#include <warpband/detect/detect_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(ot)
WB_DECLARE_KERNEL(mtt)

trellis_detector::trellis_detector(const trellis_config& c)
    : detector(c.streams, c.rx_antennas, c.qam, c.order, 8, c.sort),
      algorithm_(c.algorithm),
      extrinsic_(c.extrinsic) {
  if (algorithm_ != trellis_algorithm::one_pass && algorithm_ != trellis_algorithm::multi_pass)
    throw argument_error("algorithm", std::to_string(static_cast<int>(algorithm_)), "one_pass or multi_pass");
  const bool once = algorithm_ == trellis_algorithm::one_pass;
  clip_ =
      *completed({.type = once ? detector_type::ot : detector_type::mtt, .llr_clip = c.llr_clip}).llr_clip;
}

void trellis_detector::start(executor& exec, std::size_t uses, detect_args& args) const {
  args.clip = clip_;
  args.extrinsic = extrinsic_;
  exec.run(algorithm_ == trellis_algorithm::one_pass ? ot_kernels() : mtt_kernels(), &args, uses);
}

}  // namespace wb
