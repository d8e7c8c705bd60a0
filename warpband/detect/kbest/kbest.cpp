#include <warpband/detect/kbest/kbest.hpp>

#include <algorithm>

#include <warpband/detect/detect_args.hpp>
#include <warpband/detect/mapping.hpp>

namespace wb {

WB_DECLARE_KERNEL(kbest)

kbest::kbest(const kbest_config& c)
    : detector(c.streams, c.rx_antennas, c.qam, c.order, 8, c.sort),
      survivors_(c.survivors),
      real_valued_(c.real_valued),
      extrinsic_(c.extrinsic),
      clip_(c.llr_clip) {
  completed({.type = detector_type::kbest, .llr_clip = c.llr_clip, .survivors = c.survivors});
}

void kbest::start(executor& exec, std::size_t uses, detect_args& args) const {
  // There are never more survivors than leaves, and scratch need not be larger.
  const std::size_t bits = bits_per_use();
  args.survivors = bits < 12 ? std::min(survivors_, 1 << bits) : survivors_;
  args.algorithm = real_valued_ ? 1 : 0;
  args.tile = kbest_uses_of_warp(exec, uses, args.survivors);
  args.clip = clip_;
  args.extrinsic = extrinsic_;
  exec.run(kbest_kernels(), &args, uses);
}

}  // namespace wb
