#include <warpband/exec/launch.hpp>
#include <warpband/link/source/source_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_source(const source_args& a, F f) {
  return f(source_op{a});
}
WB_EXPORT_KERNEL(source, source_args, with_source)
}  // namespace WB_ISA
}  // namespace wb
