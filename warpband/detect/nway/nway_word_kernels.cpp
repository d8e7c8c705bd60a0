#include <warpband/detect/nway/nway_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
/// In fixed point.
template <class F>
static auto with_nway_word(const nway_word_args& a, F f) {
  return f(nway_op<any_sizes, 1, nway_word_args>{a});
}
WB_EXPORT_KERNEL(nway_word, nway_word_args, with_nway_word)
}  // namespace WB_ISA
}  // namespace wb
