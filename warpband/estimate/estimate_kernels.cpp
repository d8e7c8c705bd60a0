#include <warpband/estimate/estimate_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(estimate_cells, estimate_cells_args, estimate_cells_op)
WB_EXPORT_OP(estimate_frequency, estimate_frequency_args, estimate_frequency_op)
WB_EXPORT_OP(estimate_time, estimate_time_args, estimate_time_op)
WB_EXPORT_OP(spread_part, spread_part_args, spread_part_op)
WB_EXPORT_OP(spread_total, spread_total_args, spread_total_op)
WB_EXPORT_OP(spread_terms, spread_terms_args, spread_terms_op)
WB_EXPORT_OP(noise_sample, noise_sample_args, noise_sample_op)
WB_EXPORT_OP(covariance_sum, covariance_sum_args, covariance_sum_op)
WB_EXPORT_OP(covariance, covariance_args, covariance_op)
WB_EXPORT_OP(whitener, whitener_args, whitener_op)
WB_EXPORT_OP(whiten, whiten_args, whiten_op)
}  // namespace WB_ISA
}  // namespace wb
