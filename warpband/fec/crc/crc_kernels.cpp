#include <warpband/exec/launch.hpp>
#include <warpband/fec/crc/crc_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_crc_attach(const crc_attach_args& a, F f) {
  return f(crc_attach_op{a});
}
WB_EXPORT_KERNEL(crc_attach, crc_attach_args, with_crc_attach)
}  // namespace WB_ISA
}  // namespace wb
