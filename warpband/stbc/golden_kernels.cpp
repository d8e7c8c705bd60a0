#include <warpband/stbc/golden_variants.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_golden(const stbc_decode_args& a, F f) {
  return with_golden_variants<enumerated>(a, f);
}
WB_EXPORT_KERNEL(golden, stbc_decode_args, with_golden)
}  // namespace WB_ISA
}  // namespace wb
