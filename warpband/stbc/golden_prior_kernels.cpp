// The Golden code with a-priori LLRs. The tiles are those of mapping.hpp.
#include <warpband/exec/launch.hpp>
#include <warpband/stbc/prior_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_golden_prior(const stbc_decode_args& a, F f) {
  switch (a.pam_bits) {
    case 1:
      return f(golden_prior_op<1, 1>{a});
    case 2:
      return f(golden_prior_op<2, tile_16>{a});
    default:
      return f(golden_prior_op<3, tile_64>{a});
  }
}
WB_EXPORT_KERNEL(golden_prior, stbc_decode_args, with_golden_prior)
}  // namespace WB_ISA
}  // namespace wb
