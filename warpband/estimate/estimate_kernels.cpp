#include <warpband/estimate/estimate_op.hpp>
#include <warpband/exec/launch.hpp>

#define WB_EXPORT_ESTIMATE_OP(name)                    \
  template <class F>                                   \
  static auto with_##name(const name##_args& a, F f) { \
    return f(name##_op(a));                            \
  }                                                    \
  WB_EXPORT_KERNEL(name, name##_args, with_##name)

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_ESTIMATE_OP(estimate_cells)
WB_EXPORT_ESTIMATE_OP(estimate_frequency)
WB_EXPORT_ESTIMATE_OP(estimate_time)
WB_EXPORT_ESTIMATE_OP(spread_part)
WB_EXPORT_ESTIMATE_OP(spread_total)
WB_EXPORT_ESTIMATE_OP(spread_terms)
WB_EXPORT_ESTIMATE_OP(noise_sample)
WB_EXPORT_ESTIMATE_OP(covariance_sum)
WB_EXPORT_ESTIMATE_OP(covariance)
WB_EXPORT_ESTIMATE_OP(whitener)
WB_EXPORT_ESTIMATE_OP(whiten)
}  // namespace WB_ISA
}  // namespace wb
