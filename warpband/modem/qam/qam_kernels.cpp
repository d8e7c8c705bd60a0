#include <warpband/exec/launch.hpp>
#include <warpband/modem/qam/qam_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_qam_map(const qam_map_args& a, F f) {
  switch (a.bits_per_symbol) {
    case 1:
      return f(qam_map_op<0>{a});
    case 2:
      return f(qam_map_op<1>{a});
    case 4:
      return f(qam_map_op<2>{a});
    case 6:
      return f(qam_map_op<3>{a});
    default:
      return f(qam_map_op<4>{a});
  }
}
WB_EXPORT_KERNEL(qam_map, qam_map_args, with_qam_map)
}  // namespace WB_ISA
}  // namespace wb
