// The tiles are those of mapping.hpp.
#include <warpband/exec/launch.hpp>
#include <warpband/stbc/golden_op.hpp>

namespace wb {
inline namespace WB_ISA {
#if defined(__CUDACC__)
static constexpr int tile_16 = 4, tile_64 = 16;
#else
static constexpr int tile_16 = 1, tile_64 = 1;
#endif
template <bool Soft, class F>
static auto with_points(const stbc_decode_args& a, F f) {
  switch (a.pam_bits) {
    case 1:
      return f(golden_op<enumerated, 1, Soft, 1>{a});
    case 2:
      return f(golden_op<enumerated, 2, Soft, tile_16>{a});
    default:
      return f(golden_op<enumerated, 3, Soft, tile_64>{a});
  }
}
template <class F>
static auto with_golden(const stbc_decode_args& a, F f) {
  return a.llr.data != nullptr ? with_points<true>(a, f) : with_points<false>(a, f);
}
WB_EXPORT_KERNEL(golden, stbc_decode_args, with_golden)
}  // namespace WB_ISA
}  // namespace wb
