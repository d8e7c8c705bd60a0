#include <warpband/exec/launch.hpp>
#include <warpband/linalg/qr/qr_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_KERNEL(qr, qr_args<cx_pair>, with_qr_op)
WB_EXPORT_KERNEL(real_qr, qr_args<float>, with_qr_op)
}  // namespace WB_ISA
}  // namespace wb
