#include <warpband/detect/trellis/trellis_variants.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_ot(const search_args& a, F f) {
  return with_trellis_variants<trellis_algorithm::one_pass>(a, f);
}
WB_EXPORT_KERNEL(ot, search_args, with_ot)
}  // namespace WB_ISA
}  // namespace wb
