#include <warpband/exec/launch.hpp>
#include <warpband/nr/prach/prach_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_prach_place(const prach_place_args& a, F f) {
  return f(prach_place_op{a});
}
template <class F>
static auto with_prach_repeat(const prach_repeat_args& a, F f) {
  return f(prach_repeat_op{a});
}
template <class F>
static auto with_prach_take(const prach_take_args& a, F f) {
  return f(prach_take_op{a});
}
template <class F>
static auto with_prach_combine(const prach_combine_args& a, F f) {
  return f(prach_combine_op{a});
}
template <class F>
static auto with_prach_multiply(const prach_multiply_args& a, F f) {
  return f(prach_multiply_op{a});
}
template <class F>
static auto with_prach_peaks(const prach_peaks_args& a, F f) {
  return f(prach_peaks_op{a});
}
WB_EXPORT_KERNEL_OF(prach_place, prach_place_args, with_prach_place, 1)
WB_EXPORT_KERNEL_OF(prach_repeat, prach_repeat_args, with_prach_repeat, 1)
WB_EXPORT_KERNEL_OF(prach_take, prach_take_args, with_prach_take, 1)
WB_EXPORT_KERNEL_OF(prach_combine, prach_combine_args, with_prach_combine, 1)
WB_EXPORT_KERNEL_OF(prach_multiply, prach_multiply_args, with_prach_multiply, 1)
WB_EXPORT_KERNEL_OF(prach_peaks, prach_peaks_args, with_prach_peaks, 1)
WB_EXPORT_OP(prach_decide, prach_decide_args, prach_decide_op)
}  // namespace WB_ISA
}  // namespace wb
