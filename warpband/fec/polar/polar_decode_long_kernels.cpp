#include <warpband/fec/polar/polar_decode_variants.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_polar_decode_long(const polar_decode_args& a, F f) {
  return with_long_list<false>(a, f);
}
WB_EXPORT_KERNEL(polar_decode_long, polar_decode_args, with_polar_decode_long)
}  // namespace WB_ISA
}  // namespace wb
