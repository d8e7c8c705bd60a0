#include <warpband/fec/polar/polar_decode_variants.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_polar_decode_whole_long(const polar_decode_args& a, F f) {
  return with_long_whole_list(a, f);
}
WB_EXPORT_KERNEL(polar_decode_whole_long, polar_decode_args, with_polar_decode_whole_long)
}  // namespace WB_ISA
}  // namespace wb
