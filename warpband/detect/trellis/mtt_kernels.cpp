#include <warpband/detect/trellis/trellis_variants.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_mtt(const search_args& a, F f) {
  return with_trellis_variants<trellis_algorithm::multi_pass>(a, f);
}
WB_EXPORT_KERNEL(mtt, search_args, with_mtt)
}  // namespace WB_ISA
}  // namespace wb
