#include <warpband/channel/cdl/cdl_op.hpp>
#include <warpband/channel/cdl/cdl_power_op.hpp>
#include <warpband/channel/cdl/cdl_rays_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_cdl_rays(const cdl_args& a, F f) {
  return f(cdl_rays_op{a});
}
template <class F>
static auto with_cdl_power(const cdl_args& a, F f) {
  return f(cdl_power_op{a});
}
template <class F>
static auto with_cdl(const cdl_args& a, F f) {
  return f(cdl_op{a});
}
WB_EXPORT_KERNEL_OF(cdl_rays, cdl_args, with_cdl_rays, 1)
WB_EXPORT_KERNEL_OF(cdl_power, cdl_args, with_cdl_power, 1)
WB_EXPORT_KERNEL_OF(cdl, cdl_args, with_cdl, 1)
}  // namespace WB_ISA
}  // namespace wb
