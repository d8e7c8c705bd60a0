#include <warpband/exec/launch.hpp>
#include <warpband/fec/nr/nr_op.hpp>

// Code blocks share no vector: a thread may get any number of them.
#define WB_EXPORT_NR_BLOCK_OP(name)                    \
  template <class F>                                   \
  static auto with_##name(const name##_args& a, F f) { \
    return f(name##_op(a));                            \
  }                                                    \
  WB_EXPORT_KERNEL_OF(name, name##_args, with_##name, 1)

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_NR_BLOCK_OP(nr_crc)
WB_EXPORT_NR_BLOCK_OP(nr_segment)
WB_EXPORT_NR_BLOCK_OP(nr_match)
WB_EXPORT_NR_BLOCK_OP(nr_combine)
WB_EXPORT_NR_BLOCK_OP(nr_assemble)
WB_EXPORT_NR_BLOCK_OP(nr_feedback)
WB_EXPORT_NR_BLOCK_OP(nr_front)
}  // namespace WB_ISA
}  // namespace wb
