#include <warpband/exec/launch.hpp>
#include <warpband/link/count/count_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_count(const count_args& a, F f) {
  return a.received.data != nullptr ? f(count_op<false>{a}) : f(count_op<true>{a});
}
WB_EXPORT_KERNEL(count, count_args, with_count)

template <class F>
static auto with_count_erased(const count_erased_args& a, F f) {
  return f(count_erased_op{a});
}
WB_EXPORT_KERNEL(count_erased, count_erased_args, with_count_erased)

template <class F>
static auto with_sum_up(const sum_up_args& a, F f) {
  return f(sum_up_op{a});
}
WB_EXPORT_KERNEL(sum_up, sum_up_args, with_sum_up)
}  // namespace WB_ISA
}  // namespace wb
