#include "operations.hpp"

#include <rte_mbuf.h>

#include <algorithm>
#include <cstring>

namespace wb_bbdev {
namespace {

constexpr plan refused() { return {.error = true}; }

bool has(std::uint32_t flags, std::uint32_t flag) { return (flags & flag) != 0; }
/// At most one of these.
bool contradict(std::uint32_t flags, std::uint32_t alternatives) {
  const std::uint32_t set = flags & alternatives;
  return (set & (set - 1)) != 0;
}
std::uint32_t bytes_of(std::uint32_t bits) { return (bits + 7) / 8; }

/// Bytes of an mbuf, from the operation's offset on.
struct buffer {
  std::uint8_t* data = nullptr;
  std::uint32_t length = 0;
};
/// The `length` bytes of an input; nothing where the mbuf is missing, chained or shorter.
buffer input_of(const rte_bbdev_op_data& given) {
  const rte_mbuf* m = given.data;
  if (m == nullptr || m->next != nullptr || m->buf_addr == nullptr) return {};
  if (std::uint32_t{m->data_off} + m->data_len > m->buf_len) return {};
  if (std::uint64_t{given.offset} + given.length > m->data_len) return {};
  return {rte_pktmbuf_mtod_offset(m, std::uint8_t*, given.offset), given.length};
}
/// All that fits into an output.
buffer output_of(const rte_bbdev_op_data& given) {
  const rte_mbuf* m = given.data;
  if (m == nullptr || m->next != nullptr || m->buf_addr == nullptr) return {};
  if (m->data_off > m->buf_len) return {};
  const std::uint32_t room = m->buf_len - m->data_off;
  if (given.offset >= room) return {};
  return {rte_pktmbuf_mtod_offset(m, std::uint8_t*, given.offset), room - given.offset};
}

/// Base graph, lifting size, fillers and circular buffer of an LDPC operation.
struct ldpc_sizes {
  std::uint32_t k_used = 0;  // K - F
  std::uint32_t buffer = 0, first = 0;
};
template <class Op>
std::uint32_t given_first(const Op& op) {
  if constexpr (requires { op.k0; }) return op.k0;  // since DPDK 24.11
  return 0;
}
/// False for sizes that are no code of TS 38.212.
template <class Op>
bool read_sizes(const Op& op, ldpc_sizes& sizes) {
  if (op.basegraph != 1 && op.basegraph != 2) return false;
  std::uint32_t odd = op.z_c;
  if (odd < 2 || odd > 384) return false;
  while (odd % 2 == 0) odd /= 2;
  if (odd > 15) return false;
  const std::uint32_t k = (op.basegraph == 1 ? 22u : 10u) * op.z_c,
                      n = (op.basegraph == 1 ? 66u : 50u) * op.z_c;
  if (op.n_filler >= k || op.n_cb == 0 || op.n_cb > n || op.rv_index > 3) return false;
  sizes = {.k_used = k - op.n_filler, .buffer = op.n_cb, .first = given_first(op)};
  if (sizes.first != 0) return sizes.first < sizes.buffer;
  return wb_nr_first_place(op.basegraph, op.z_c, sizes.buffer, op.rv_index, &sizes.first) == WB_OK;
}

bool turbo_size(std::uint32_t k) {
  if (k < 40 || k > 6144) return false;
  return k % (k <= 512 ? 8 : k <= 1024 ? 16 : k <= 2048 ? 32 : 64) == 0;
}
/// Places of the circular buffer of a turbo code block, NULLs included.
std::uint32_t turbo_buffer(std::uint32_t k) { return 3 * 32 * ((k + 4 + 31) / 32); }

/// E of code block r of a transport block.
template <class Params>
std::uint32_t sent_bits(const Params& tb, unsigned r) {
  return r < tb.cab ? tb.ea : tb.eb;
}

/// Checks the HARQ buffers of one code block and adds them to its description.
bool add_harq(const rte_bbdev_op_ldpc_dec& op, const ldpc_sizes& sizes, harq_memory* memory,
              wb_ldpc_decode& block) {
  if (sizes.k_used <= 2u * op.z_c) return false;
  const std::uint32_t before = sizes.k_used - 2 * op.z_c;  // places before the fillers
  const std::size_t places = sizes.buffer <= before                 ? sizes.buffer
                             : sizes.buffer - before <= op.n_filler ? before
                                                                    : sizes.buffer - op.n_filler;
  if (has(op.op_flags, RTE_BBDEV_LDPC_HQ_COMBINE_IN_ENABLE)) {
    if (memory != nullptr) {
      const std::uint32_t offset = op.harq_combined_input.offset;
      if (!memory->has(offset)) return false;
      std::size_t length = memory->length(offset);
      if (op.harq_combined_input.length != 0)
        length = std::min<std::size_t>(length, op.harq_combined_input.length);
      block.harq_in = memory->slot(offset);
      block.harq_in_length = std::min(length, places);
    } else {
      const buffer in = input_of(op.harq_combined_input);
      if (in.data == nullptr) return false;
      block.harq_in = reinterpret_cast<const std::int8_t*>(in.data);
      block.harq_in_length = std::min<std::size_t>(in.length, places);
    }
    if (block.harq_in_length == 0) block.harq_in = nullptr;
  }
  if (has(op.op_flags, RTE_BBDEV_LDPC_HQ_COMBINE_OUT_ENABLE)) {
    if (memory != nullptr) {
      if (!memory->has(op.harq_combined_output.offset)) return false;
      block.harq_out = memory->slot(op.harq_combined_output.offset);
      block.harq_out_length = places;
    } else {
      const buffer out = output_of(op.harq_combined_output);
      if (out.data == nullptr) return false;
      block.harq_out = reinterpret_cast<std::int8_t*>(out.data);
      block.harq_out_length = std::min<std::size_t>(out.length, places);
    }
  }
  return true;
}

/// Copies between an mbuf and the device's memory. A test tool fills and reads HARQ buffers so.
plan start_loopback(const rte_bbdev_op_ldpc_dec& op, harq_memory& memory) {
  const bool in = has(op.op_flags, RTE_BBDEV_LDPC_INTERNAL_HARQ_MEMORY_IN_ENABLE);
  const bool out = has(op.op_flags, RTE_BBDEV_LDPC_INTERNAL_HARQ_MEMORY_OUT_ENABLE);
  const std::uint32_t length = op.harq_combined_input.length;
  if (in == out || length == 0 || length > harq_memory::slot_bytes) return refused();
  if (out) {
    const buffer from = input_of(op.harq_combined_input);
    if (from.data == nullptr || !memory.has(op.harq_combined_output.offset)) return refused();
    std::memcpy(memory.slot(op.harq_combined_output.offset), from.data, length);
    memory.set_length(op.harq_combined_output.offset, length);
  } else {
    const buffer to = output_of(op.harq_combined_output);
    if (to.length < length || !memory.has(op.harq_combined_input.offset)) return refused();
  }
  return {.loopback = true, .loopback_length = length};
}

}  // namespace

std::uint32_t ldpc_dec_flags(bool memory) {
  std::uint32_t flags = RTE_BBDEV_LDPC_CRC_TYPE_24A_CHECK | RTE_BBDEV_LDPC_CRC_TYPE_24B_CHECK |
                        RTE_BBDEV_LDPC_CRC_TYPE_24B_DROP | RTE_BBDEV_LDPC_CRC_TYPE_16_CHECK |
                        RTE_BBDEV_LDPC_DEINTERLEAVER_BYPASS | RTE_BBDEV_LDPC_HQ_COMBINE_IN_ENABLE |
                        RTE_BBDEV_LDPC_HQ_COMBINE_OUT_ENABLE | RTE_BBDEV_LDPC_ITERATION_STOP_ENABLE;
  if (memory)
    flags |= RTE_BBDEV_LDPC_INTERNAL_HARQ_MEMORY_IN_ENABLE | RTE_BBDEV_LDPC_INTERNAL_HARQ_MEMORY_OUT_ENABLE |
             RTE_BBDEV_LDPC_INTERNAL_HARQ_MEMORY_LOOPBACK;
  return flags;
}

plan describe(const rte_bbdev_op_ldpc_dec& op, harq_memory* memory, wb_ldpc_decode* out) {
  const std::uint32_t flags = op.op_flags;
  if ((flags & ~ldpc_dec_flags(memory != nullptr)) != 0) return refused();
  if (has(flags, RTE_BBDEV_LDPC_INTERNAL_HARQ_MEMORY_LOOPBACK)) return start_loopback(op, *memory);
  ldpc_sizes sizes;
  if (!read_sizes(op, sizes) || op.iter_max == 0) return refused();
  constexpr std::uint32_t checks = RTE_BBDEV_LDPC_CRC_TYPE_24A_CHECK | RTE_BBDEV_LDPC_CRC_TYPE_24B_CHECK |
                                   RTE_BBDEV_LDPC_CRC_TYPE_16_CHECK;
  const bool drop = has(flags, RTE_BBDEV_LDPC_CRC_TYPE_24B_DROP);
  if (contradict(flags, checks) || (drop && has(flags, RTE_BBDEV_LDPC_CRC_TYPE_16_CHECK))) return refused();
  if (drop && sizes.k_used <= 24) return refused();

  wb_ldpc_decode block = WB_LDPC_DECODE_INIT;
  block.flags =
      (has(flags, RTE_BBDEV_LDPC_ITERATION_STOP_ENABLE) ? WB_EARLY_STOP : 0) | (drop ? WB_DROP_CRC : 0);
  block.base_graph = op.basegraph;
  block.lifting_size = op.z_c;
  block.fillers = op.n_filler;
  block.buffer = sizes.buffer;
  block.first = sizes.first;
  block.modulation_order = has(flags, RTE_BBDEV_LDPC_DEINTERLEAVER_BYPASS) ? 1 : op.q_m;
  block.iterations = op.iter_max;
  block.crc = has(flags, RTE_BBDEV_LDPC_CRC_TYPE_24A_CHECK)           ? WB_CRC_24A
              : has(flags, RTE_BBDEV_LDPC_CRC_TYPE_16_CHECK)          ? WB_CRC_16
              : drop || has(flags, RTE_BBDEV_LDPC_CRC_TYPE_24B_CHECK) ? WB_CRC_24B
                                                                      : WB_CRC_NONE;
  block.llr_format = WB_LLR_INT8;
  block.llr_decimals = llr_decimals;

  const bool whole = op.code_block_mode == RTE_BBDEV_TRANSPORT_BLOCK;
  const unsigned first = whole ? op.tb_params.r : 0, last = whole ? op.tb_params.c : 1;
  if (op.code_block_mode > RTE_BBDEV_CODE_BLOCK || first >= last) return refused();
  // HARQ buffers of several code blocks have no defined order.
  const bool harq = has(flags, RTE_BBDEV_LDPC_HQ_COMBINE_IN_ENABLE | RTE_BBDEV_LDPC_HQ_COMBINE_OUT_ENABLE);
  if (harq && last - first != 1) return refused();
  if (harq && !add_harq(op, sizes, memory, block)) return refused();

  buffer llrs = input_of(op.input), bits = output_of(op.hard_output);
  const std::uint32_t bytes = bytes_of(sizes.k_used - (drop ? 24 : 0));
  plan planned{.ignore_crc = drop && !has(flags, checks),
               .harq_out = has(flags, RTE_BBDEV_LDPC_HQ_COMBINE_OUT_ENABLE)};
  for (unsigned r = first; r < last; ++r) {
    const std::uint32_t e = whole ? sent_bits(op.tb_params, r) : op.cb_params.e;
    if (e == 0 || llrs.length < e || bits.length < bytes) return refused();
    block.sent_bits = e;
    block.llr = llrs.data;
    block.bits = bits.data;
    block.bits_bytes = bytes;
    out[planned.blocks++] = block;
    llrs = {llrs.data + e, llrs.length - e};
    bits = {bits.data + bytes, bits.length - bytes};
    planned.bytes += bytes;
  }
  return planned;
}

plan describe(const rte_bbdev_op_ldpc_enc& op, harq_memory*, wb_ldpc_encode* out) {
  const std::uint32_t flags = op.op_flags;
  ldpc_sizes sizes;
  if ((flags & ~ldpc_enc_flags) != 0 || !read_sizes(op, sizes)) return refused();
  if (contradict(flags, RTE_BBDEV_LDPC_CRC_24A_ATTACH | RTE_BBDEV_LDPC_CRC_24B_ATTACH |
                            RTE_BBDEV_LDPC_CRC_16_ATTACH))
    return refused();

  wb_ldpc_encode block = WB_LDPC_ENCODE_INIT;
  block.base_graph = op.basegraph;
  block.lifting_size = op.z_c;
  block.fillers = op.n_filler;
  block.buffer = sizes.buffer;
  block.first = sizes.first;
  block.modulation_order = has(flags, RTE_BBDEV_LDPC_INTERLEAVER_BYPASS) ? 1 : op.q_m;
  block.crc = has(flags, RTE_BBDEV_LDPC_CRC_24A_ATTACH)   ? WB_CRC_24A
              : has(flags, RTE_BBDEV_LDPC_CRC_24B_ATTACH) ? WB_CRC_24B
              : has(flags, RTE_BBDEV_LDPC_CRC_16_ATTACH)  ? WB_CRC_16
                                                          : WB_CRC_NONE;
  const std::uint32_t crc_bits = block.crc == WB_CRC_NONE ? 0 : block.crc == WB_CRC_16 ? 16 : 24;
  if (sizes.k_used <= crc_bits) return refused();

  const bool whole = op.code_block_mode == RTE_BBDEV_TRANSPORT_BLOCK;
  const unsigned first = whole ? op.tb_params.r : 0, last = whole ? op.tb_params.c : 1;
  if (op.code_block_mode > RTE_BBDEV_CODE_BLOCK || first >= last) return refused();

  buffer bits = input_of(op.input), sent = output_of(op.output);
  const std::uint32_t bytes = bytes_of(sizes.k_used - crc_bits);
  plan planned;
  for (unsigned r = first; r < last; ++r) {
    if (whole && planned.blocks != 0 && bits.length == 0) break;  // a part of a transport block
    const std::uint32_t e = whole ? sent_bits(op.tb_params, r) : op.cb_params.e,
                        e_bytes = e / 8 + (e % 8 != 0);
    if (e == 0 || bits.length < bytes || sent.length < e_bytes) return refused();
    block.sent_bits = e;
    block.bits = bits.data;
    block.bits_bytes = bytes;
    block.out = sent.data;
    block.out_bytes = e_bytes;
    out[planned.blocks++] = block;
    bits = {bits.data + bytes, bits.length - bytes};
    sent = {sent.data + e_bytes, sent.length - e_bytes};
    planned.bytes += e_bytes;
  }
  return planned;
}

plan describe(const rte_bbdev_op_turbo_dec& op, harq_memory*, wb_turbo_decode* out) {
  const std::uint32_t flags = op.op_flags;
  if ((flags & ~turbo_dec_flags) != 0) return refused();
  if (contradict(flags, RTE_BBDEV_TURBO_POS_LLR_1_BIT_IN | RTE_BBDEV_TURBO_NEG_LLR_1_BIT_IN) ||
      contradict(flags, RTE_BBDEV_TURBO_POS_LLR_1_BIT_SOFT_OUT | RTE_BBDEV_TURBO_NEG_LLR_1_BIT_SOFT_OUT) ||
      contradict(flags, RTE_BBDEV_TURBO_DEC_TB_CRC_24B_KEEP | RTE_BBDEV_TURBO_DEC_CRC_24B_DROP))
    return refused();
  if (op.iter_max == 0 || op.iter_min > op.iter_max) return refused();

  const bool whole = op.code_block_mode == RTE_BBDEV_TRANSPORT_BLOCK;
  const bool crc24b_given = has(flags, RTE_BBDEV_TURBO_CRC_TYPE_24B);
  const bool drop =
      has(flags, RTE_BBDEV_TURBO_DEC_CRC_24B_DROP) ||
      (whole && (crc24b_given || op.tb_params.c > 1) && !has(flags, RTE_BBDEV_TURBO_DEC_TB_CRC_24B_KEEP));
  const bool soft = has(flags, RTE_BBDEV_TURBO_SOFT_OUTPUT);
  wb_turbo_decode block = WB_TURBO_DECODE_INIT;
  block.flags = (has(flags, RTE_BBDEV_TURBO_EARLY_TERMINATION) ? WB_EARLY_STOP : 0) |
                (drop ? WB_DROP_CRC : 0) |
                (has(flags, RTE_BBDEV_TURBO_POS_LLR_1_BIT_IN) ? WB_NEGATIVE_LLR : 0) |
                (has(flags, RTE_BBDEV_TURBO_SUBBLOCK_DEINTERLEAVE) ? 0 : WB_STREAMS) |
                (has(flags, RTE_BBDEV_TURBO_POS_LLR_1_BIT_SOFT_OUT) ? WB_NEGATIVE_SOFT : 0);
  block.least_iterations = std::max<std::uint8_t>(op.iter_min, 1);
  block.iterations = op.iter_max;
  block.crc = crc24b_given ? WB_CRC_24B : WB_CRC_24A;
  block.llr_format = WB_LLR_INT8;
  block.llr_decimals = llr_decimals;

  const unsigned first = whole ? op.tb_params.r : 0, last = whole ? op.tb_params.c : 1;
  if (op.code_block_mode > RTE_BBDEV_CODE_BLOCK || first >= last || last > RTE_BBDEV_TURBO_MAX_CODE_BLOCKS)
    return refused();
  buffer llrs = input_of(op.input), bits = output_of(op.hard_output);
  buffer aposteriori = soft ? output_of(op.soft_output) : buffer{};
  plan planned;
  for (unsigned r = first; r < last; ++r) {
    if (whole && planned.blocks != 0 && llrs.length == 0) break;
    const std::uint32_t k = !whole                   ? op.cb_params.k
                            : r < op.tb_params.c_neg ? op.tb_params.k_neg
                                                     : op.tb_params.k_pos;
    if (!turbo_size(k)) return refused();
    const std::uint32_t places = turbo_buffer(k), bytes = (k - (drop ? 24 : 0)) / 8,
                        soft_bytes = soft ? 3 * (k + 4) : 0;
    if (llrs.length < places || bits.length < bytes || aposteriori.length < soft_bytes) return refused();
    block.k = k;
    block.llr = llrs.data;
    block.llr_count = places;
    block.bits = bits.data;
    block.bits_bytes = bytes;
    block.soft = soft ? reinterpret_cast<std::int8_t*>(aposteriori.data) : nullptr;
    block.soft_length = soft_bytes;
    out[planned.blocks++] = block;
    llrs = {llrs.data + places, llrs.length - places};
    bits = {bits.data + bytes, bits.length - bytes};
    if (soft) aposteriori = {aposteriori.data + soft_bytes, aposteriori.length - soft_bytes};
    planned.bytes += bytes;
    planned.soft_bytes += soft_bytes;
  }
  return planned;
}

plan describe(const rte_bbdev_op_turbo_enc& op, harq_memory*, wb_turbo_encode* out) {
  const std::uint32_t flags = op.op_flags;
  if ((flags & ~turbo_enc_flags) != 0) return refused();
  if (contradict(flags, RTE_BBDEV_TURBO_CRC_24A_ATTACH | RTE_BBDEV_TURBO_CRC_24B_ATTACH)) return refused();
  wb_turbo_encode block = WB_TURBO_ENCODE_INIT;
  block.crc = has(flags, RTE_BBDEV_TURBO_CRC_24A_ATTACH)   ? WB_CRC_24A
              : has(flags, RTE_BBDEV_TURBO_CRC_24B_ATTACH) ? WB_CRC_24B
                                                           : WB_CRC_NONE;
  const std::uint32_t crc_bits = block.crc == WB_CRC_NONE ? 0 : 24;
  const bool matched = has(flags, RTE_BBDEV_TURBO_RATE_MATCH),
             bypass = has(flags, RTE_BBDEV_TURBO_RV_INDEX_BYPASS);

  const bool whole = op.code_block_mode == RTE_BBDEV_TRANSPORT_BLOCK;
  const unsigned first = whole ? op.tb_params.r : 0, last = whole ? op.tb_params.c : 1;
  if (op.code_block_mode > RTE_BBDEV_CODE_BLOCK || first >= last || last > RTE_BBDEV_TURBO_MAX_CODE_BLOCKS)
    return refused();
  buffer bits = input_of(op.input), sent = output_of(op.output);
  plan planned;
  for (unsigned r = first; r < last; ++r) {
    if (whole && planned.blocks != 0 && bits.length == 0) break;
    const bool smaller = whole && r < op.tb_params.c_neg;
    block.k = !whole ? op.cb_params.k : smaller ? op.tb_params.k_neg : op.tb_params.k_pos;
    if (!turbo_size(block.k)) return refused();
    std::uint32_t e_bits = 3 * block.k + 12;
    if (matched) {
      e_bits = block.sent_bits = whole ? sent_bits(op.tb_params, r) : op.cb_params.e;
      block.buffer = !whole ? op.cb_params.ncb : smaller ? op.tb_params.ncb_neg : op.tb_params.ncb_pos;
      if (e_bits == 0 || block.buffer == 0 || block.buffer > turbo_buffer(block.k)) return refused();
      if (!bypass &&
          (op.rv_index > 3 || wb_lte_first_place(block.k, block.buffer, op.rv_index, &block.first) != WB_OK))
        return refused();
    }
    const std::uint32_t bytes = (block.k - crc_bits) / 8, e_bytes = e_bits / 8 + (e_bits % 8 != 0);
    if (bits.length < bytes || sent.length < e_bytes) return refused();
    block.bits = bits.data;
    block.bits_bytes = bytes;
    block.out = sent.data;
    block.out_bytes = e_bytes;
    out[planned.blocks++] = block;
    bits = {bits.data + bytes, bits.length - bytes};
    sent = {sent.data + e_bytes, sent.length - e_bytes};
    planned.bytes += e_bytes;
  }
  return planned;
}

int finish_loopback(rte_bbdev_op_ldpc_dec& op, const plan& planned, harq_memory& memory) {
  if (!has(op.op_flags, RTE_BBDEV_LDPC_INTERNAL_HARQ_MEMORY_IN_ENABLE)) {
    op.harq_combined_output.length = planned.loopback_length;
    return 0;
  }
  const buffer to = output_of(op.harq_combined_output);
  const std::uint32_t offset = op.harq_combined_input.offset;
  if (to.length < planned.loopback_length || !memory.has(offset)) return 1 << RTE_BBDEV_DATA_ERROR;
  const std::size_t stored = std::min<std::size_t>(memory.length(offset), planned.loopback_length);
  std::memcpy(to.data, memory.slot(offset), stored);
  std::memset(to.data + stored, 0, planned.loopback_length - stored);
  set_output(op.harq_combined_output, planned.loopback_length);
  return 0;
}

void set_output(rte_bbdev_op_data& output, std::uint32_t bytes) {
  output.length = bytes;
  rte_mbuf* m = output.data;
  const std::uint32_t end = output.offset + bytes;
  if (m->data_len >= end) return;
  m->pkt_len += end - m->data_len;
  m->data_len = static_cast<std::uint16_t>(end);
}

}  // namespace wb_bbdev
