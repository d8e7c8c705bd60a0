#include <warpband/fec/bcjr/bcjr_variants.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_bcjr_coded_max_log(const bcjr_args& a, F f) {
  return with_bcjr<max_log, true>(a, f);
}
WB_EXPORT_KERNEL(bcjr_coded_max_log, bcjr_args, with_bcjr_coded_max_log)
}  // namespace WB_ISA
}  // namespace wb
