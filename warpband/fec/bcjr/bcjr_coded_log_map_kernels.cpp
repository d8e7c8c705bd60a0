#include <warpband/fec/bcjr/bcjr_variants.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_bcjr_coded_log_map(const bcjr_args& a, F f) {
  return with_bcjr<log_map, true, bcjr_codes::feed_forward>(a, f);
}
WB_EXPORT_KERNEL(bcjr_coded_log_map, bcjr_args, with_bcjr_coded_log_map)
}  // namespace WB_ISA
}  // namespace wb
