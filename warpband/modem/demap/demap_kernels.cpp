#include <warpband/exec/launch.hpp>
#include <warpband/modem/demap/demap_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_demap(const demap_args& a, F f) {
  switch (a.bits_per_symbol * 2 + (a.exact ? 1 : 0)) {
    case 2:
    case 3:
      return f(demap_op<0, false>{a});  // one hypothesis each: max-log is exact
    case 4:
    case 5:
      return f(demap_op<1, false>{a});
    case 8:
      return f(demap_op<2, false>{a});
    case 9:
      return f(demap_op<2, true>{a});
    case 12:
      return f(demap_op<3, false>{a});
    case 13:
      return f(demap_op<3, true>{a});
    case 16:
      return f(demap_op<4, false>{a});
    default:
      return f(demap_op<4, true>{a});
  }
}
WB_EXPORT_KERNEL(demap, demap_args, with_demap)
}  // namespace WB_ISA
}  // namespace wb
