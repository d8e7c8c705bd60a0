#pragma once
// BBDEV operations as descriptions of code blocks. Every size, offset and length is checked here, before
// anything is read or written.
#include <rte_bbdev.h>
#include <rte_bbdev_op.h>

#include <cstddef>
#include <cstdint>

#include <warpband/c/warpband.h>

#include "harq_memory.hpp"

namespace wb_bbdev {

/// LLRs are read as value / 2: steps of 1/2 as ACC100 has them.
inline constexpr std::uint32_t llr_decimals = 1;
/// Code blocks of one operation.
inline constexpr unsigned most_blocks = RTE_BBDEV_LDPC_MAX_CODE_BLOCKS;

/// What an operation will write once its code blocks are done.
struct plan {
  unsigned blocks = 0;  // 0: none, `error` or `loopback` says why
  bool error = false;   // contradicts itself or its buffers
  bool loopback = false;
  bool ignore_crc = false;       // the CRC was only asked for to drop it
  std::uint32_t bytes = 0;       // of all code blocks
  std::uint32_t soft_bytes = 0;  // soft output
  bool harq_out = false;         // to an mbuf or to device memory
  std::uint32_t loopback_length = 0;
};

/// Writes the code blocks of an operation to `out`, which has room for most_blocks. `memory` is null if HARQ
/// buffers are mbufs. Copies the input of a loopback into `memory` at once.
plan describe(const rte_bbdev_op_ldpc_dec& op, harq_memory* memory, wb_ldpc_decode* out);
plan describe(const rte_bbdev_op_ldpc_enc& op, harq_memory* memory, wb_ldpc_encode* out);
plan describe(const rte_bbdev_op_turbo_dec& op, harq_memory* memory, wb_turbo_decode* out);
plan describe(const rte_bbdev_op_turbo_enc& op, harq_memory* memory, wb_turbo_encode* out);

/// Flags that an operation may have. `memory`: the device keeps HARQ buffers.
std::uint32_t ldpc_dec_flags(bool memory);
inline constexpr std::uint32_t ldpc_enc_flags = RTE_BBDEV_LDPC_INTERLEAVER_BYPASS |
                                                RTE_BBDEV_LDPC_RATE_MATCH | RTE_BBDEV_LDPC_CRC_24A_ATTACH |
                                                RTE_BBDEV_LDPC_CRC_24B_ATTACH | RTE_BBDEV_LDPC_CRC_16_ATTACH;
inline constexpr std::uint32_t turbo_dec_flags =
    RTE_BBDEV_TURBO_SUBBLOCK_DEINTERLEAVE | RTE_BBDEV_TURBO_CRC_TYPE_24B | RTE_BBDEV_TURBO_SOFT_OUTPUT |
    RTE_BBDEV_TURBO_EARLY_TERMINATION | RTE_BBDEV_TURBO_POS_LLR_1_BIT_IN | RTE_BBDEV_TURBO_NEG_LLR_1_BIT_IN |
    RTE_BBDEV_TURBO_POS_LLR_1_BIT_SOFT_OUT | RTE_BBDEV_TURBO_NEG_LLR_1_BIT_SOFT_OUT |
    RTE_BBDEV_TURBO_DEC_TB_CRC_24B_KEEP | RTE_BBDEV_TURBO_DEC_CRC_24B_DROP;
inline constexpr std::uint32_t turbo_enc_flags = RTE_BBDEV_TURBO_RV_INDEX_BYPASS |
                                                 RTE_BBDEV_TURBO_RATE_MATCH | RTE_BBDEV_TURBO_CRC_24B_ATTACH |
                                                 RTE_BBDEV_TURBO_CRC_24A_ATTACH;

/// Copies a slot of the device's memory into the mbuf of a loopback. Returns the status bits.
int finish_loopback(rte_bbdev_op_ldpc_dec& op, const plan& planned, harq_memory& memory);
/// The output begins at `offset` and has so many bytes now.
void set_output(rte_bbdev_op_data& output, std::uint32_t bytes);

}  // namespace wb_bbdev
