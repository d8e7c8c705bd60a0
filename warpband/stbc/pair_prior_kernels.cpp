// Alamouti and pair codes with a-priori LLRs. The tiles are those of mapping.hpp.
#include <warpband/exec/launch.hpp>
#include <warpband/stbc/prior_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_alamouti_prior(const stbc_decode_args& a, F f) {
  switch (a.pam_bits) {
    case 1:
      return f(alamouti_prior_op<1>{a});
    case 2:
      return f(alamouti_prior_op<2>{a});
    default:
      return f(alamouti_prior_op<3>{a});
  }
}
template <class F>
static auto with_pair_prior(const stbc_decode_args& a, F f) {
  switch (a.pam_bits) {
    case 1:
      return f(pair_prior_op<1, 1>{a});
    case 2:
      return f(pair_prior_op<2, tile_16>{a});
    default:
      return f(pair_prior_op<3, tile_64>{a});
  }
}
WB_EXPORT_KERNEL(alamouti_prior, stbc_decode_args, with_alamouti_prior)
WB_EXPORT_KERNEL(stbc_pair_prior, stbc_decode_args, with_pair_prior)
}  // namespace WB_ISA
}  // namespace wb
