#include <warpband/exec/launch.hpp>
#include <warpband/nr/sync/cell_search_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_search_filter(const search_filter_args& a, F f) {
  return f(search_filter_op{a});
}
WB_EXPORT_KERNEL_OF(search_filter, search_filter_args, with_search_filter, 1)
WB_EXPORT_OP(search_correlate, search_correlate_args, search_correlate_op)
WB_EXPORT_OP(search_identify, search_identify_args, search_identify_op)
}  // namespace WB_ISA
}  // namespace wb
