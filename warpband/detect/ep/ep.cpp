#include <warpband/detect/ep/ep.hpp>

#include <warpband/core/check.hpp>
#include <warpband/detect/detect_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(ep)

ep::ep(const ep_config& c)
    : detector(c.streams, c.rx_antennas, c.qam, {}, most_soft_streams),
      iterations_(c.iterations),
      damping_(c.damping),
      start_variance_(1),
      clip_(c.llr_clip),
      extrinsic_(c.extrinsic),
      exact_(c.demapper == demap_algorithm::exact) {
  completed({.type = detector_type::ep,
             .llr_clip = clip_,
             .demapper = c.demapper,
             .iterations = iterations_,
             .damping = damping_,
             .start_variance = c.start_variance});
  const float levels = c.qam == 4 ? 2 : c.qam == 16 ? 4 : c.qam == 64 ? 8 : 16;
  start_variance_ = c.start_variance.value_or(levels / (levels - 1));
}

void ep::start(executor& exec, std::size_t uses, detect_args& args) const {
  args.clip = clip_;
  args.extrinsic = extrinsic_;
  args.exact = exact_;
  args.iterations = iterations_;
  args.damping = damping_;
  args.start_variance = start_variance_;
  exec.run(ep_kernels(), &args, uses);
}

}  // namespace wb
