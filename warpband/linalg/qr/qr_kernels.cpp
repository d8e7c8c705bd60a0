#include <warpband/exec/launch.hpp>
#include <warpband/linalg/qr/qr_op.hpp>

namespace wb {
inline namespace WB_ISA {
template <class F>
static auto with_qr(const qr_args<cx_pair>& a, F f) {
  return with_qr_op<16, 8>(a, f);
}
template <class F>
static auto with_real_qr(const qr_args<float>& a, F f) {
  return with_qr_op<16, 16>(a, f);
}
WB_EXPORT_KERNEL(qr, qr_args<cx_pair>, with_qr)
WB_EXPORT_KERNEL(real_qr, qr_args<float>, with_real_qr)
}  // namespace WB_ISA
}  // namespace wb
