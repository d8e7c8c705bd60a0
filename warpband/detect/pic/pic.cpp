#include <warpband/detect/pic/pic.hpp>

#include <warpband/core/check.hpp>
#include <warpband/detect/detect_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(pic)

pic::pic(const pic_config& c)
    : detector(c.streams, c.rx_antennas, c.qam, {}, most_soft_streams),
      clip_(c.llr_clip),
      extrinsic_(c.extrinsic),
      exact_(c.demapper == demap_algorithm::exact) {
  completed({.type = detector_type::pic, .llr_clip = clip_, .demapper = c.demapper});
}

void pic::start(executor& exec, std::size_t uses, detect_args& args) const {
  args.clip = clip_;
  args.extrinsic = extrinsic_;
  args.exact = exact_;
  exec.run(pic_kernels(), &args, uses);
}

}  // namespace wb
