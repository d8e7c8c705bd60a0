#include <warpband/stbc/golden_variants.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_golden_slicing(const stbc_decode_args& a, F f) {
  return with_golden_variants<sliced_twice>(a, f);
}
WB_EXPORT_KERNEL(golden_slicing, stbc_decode_args, with_golden_slicing)
}  // namespace WB_ISA
}  // namespace wb
