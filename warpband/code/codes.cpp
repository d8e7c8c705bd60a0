// The list of codes: a line for each.
#include <warpband/code/conv.hpp>
#include <warpband/code/ctc.hpp>
#include <warpband/code/ctc_harq.hpp>
#include <warpband/code/dvb_s2.hpp>
#include <warpband/code/ldpc.hpp>
#include <warpband/code/lte_transport.hpp>
#include <warpband/code/nr.hpp>
#include <warpband/code/nr_transport.hpp>
#include <warpband/code/polar.hpp>
#include <warpband/code/sparse_ldpc.hpp>
#include <warpband/code/turbo.hpp>
#include <warpband/code/uncoded.hpp>

namespace wb {

kind_list<code_kind>& codes() {
  static kind_list<code_kind> kinds(
      "code.type",
      {lte_turbo_kind(), lte_transport_kind(), wimax_ldpc_kind(), wifi_ldpc_kind(), nr_ldpc_kind(),
       nr_dlsch_kind(), nr_ulsch_kind(), qc_ldpc_kind(), sparse_ldpc_kind(), dvb_s2_kind(), conv_kind(),
       polar_code_kind(), ctc_code_kind(), ctc_harq_kind(), uncoded_kind()});
  return kinds;
}

kind_list<decoder_kind>& decoders() {
  static kind_list<decoder_kind> kinds("decoder.type", {});
  return kinds;
}

}  // namespace wb
