#include <warpband/exec/launch.hpp>
#include <warpband/modem/demap/demap_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_demap(const demap_args& a, F f) {
  return with_number<0, 6>(a.bits_per_symbol / 2, [&]<int B>() {
    if constexpr (B > 1)  // with one hypothesis each max-log is exact
      if (a.exact) return f(demap_op<B, true>{a});
    return f(demap_op<B, false>{a});
  });
}
WB_EXPORT_KERNEL(demap, demap_args, with_demap)
}  // namespace WB_ISA
}  // namespace wb
