#include <warpband/detect/nway/nway.hpp>

#include <warpband/core/check.hpp>
#include <warpband/detect/detect_args.hpp>
#include <warpband/detect/mapping.hpp>

namespace wb {

WB_DECLARE_KERNEL(nway)
WB_DECLARE_KERNEL(nway_prior)

nway::nway(const nway_config& c)
    : detector(c.streams, c.rx_antennas, c.qam, c.order, 8, c.sort), extrinsic_(c.extrinsic) {
  const detector_config all = completed({.type = detector_type::nway,
                                         .streams = c.streams,
                                         .rx_antennas = c.rx_antennas,
                                         .qam = c.qam,
                                         .llr_clip = c.llr_clip,
                                         .ways = c.ways});
  ways_ = all.ways;
  clip_ = *all.llr_clip;
}

void nway::start(executor& exec, std::size_t uses, detect_args& args) const {
  args.ways = ways_;
  args.clip = clip_;
  args.extrinsic = extrinsic_;
  args.tile = nway_tile(exec, uses, args.prior.data != nullptr);
  exec.run(args.prior.data != nullptr ? nway_prior_kernels() : nway_kernels(), &args, uses);
}

}  // namespace wb
