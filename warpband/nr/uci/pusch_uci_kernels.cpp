#include <warpband/exec/launch.hpp>
#include <warpband/nr/uci/pusch_uci_op.hpp>

namespace wb {
inline namespace WB_ISA {
WB_EXPORT_OP(pusch_uci_multiplex, pusch_uci_multiplex_args, pusch_uci_multiplex_op)
WB_EXPORT_OP(pusch_uci_demultiplex, pusch_uci_demultiplex_args, pusch_uci_demultiplex_op)
}  // namespace WB_ISA
}  // namespace wb
