#include <warpband/detect/linear/linear_op.hpp>
#include <warpband/exec/launch.hpp>

namespace wb {
inline namespace WB_ISA {
/// mmse in fixed point.
template <class F>
static auto with_mmse_word(const mmse_word_args& a, F f) {
  return f(linear_op<any_sizes, linear_algorithm::mmse, mmse_word_args>{a});
}
WB_EXPORT_KERNEL(mmse_word, mmse_word_args, with_mmse_word)
}  // namespace WB_ISA
}  // namespace wb
