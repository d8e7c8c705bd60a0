#include <warpband/exec/launch.hpp>
#include <warpband/stbc/stbc_encode_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <int Kind, class F>
static auto with_mapper(const stbc_encode_args& a, F f) {
  switch (a.pam_bits) {
    case 0:
      return f(stbc_encode_op<Kind, 0>{a});
    case 1:
      return f(stbc_encode_op<Kind, 1>{a});
    case 2:
      return f(stbc_encode_op<Kind, 2>{a});
    default:
      return f(stbc_encode_op<Kind, 3>{a});
  }
}
template <class F>
static auto with_stbc_encode(const stbc_encode_args& a, F f) {
  switch (a.kind) {
    case 0:
      return with_mapper<0>(a, f);
    case 1:
      return with_mapper<1>(a, f);
    default:
      return with_mapper<2>(a, f);
  }
}
WB_EXPORT_KERNEL(stbc_encode, stbc_encode_args, with_stbc_encode)
}  // namespace WB_ISA
}  // namespace wb
