#include <warpband/c/operations.hpp>

#include <cstring>
#include <string>

#include <warpband/c/errors.hpp>

namespace wb::c {
namespace {

static_assert(WB_DONE_REFUSED == block_refused && WB_DONE_SYNDROME == block_syndrome &&
              WB_DONE_CRC == block_crc);

std::optional<crc_polynomial> crc_of(std::uint32_t crc) {
  switch (crc) {
    case WB_CRC_NONE:
      return std::nullopt;
    case WB_CRC_24A:
      return crc24a;
    case WB_CRC_24B:
      return crc24b;
    case WB_CRC_16:
      return crc16;
    default:
      throw argument_error("crc", std::to_string(crc), "WB_CRC_NONE, WB_CRC_24A, WB_CRC_24B or WB_CRC_16");
  }
}

block_llrs llrs_of(const void* data, std::size_t count, std::uint32_t format, std::uint32_t decimals,
                   bool negative) {
  if (format > WB_LLR_FLOAT32)
    throw argument_error("llr_format", std::to_string(format), "WB_LLR_INT8, WB_LLR_INT16 or WB_LLR_FLOAT32");
  return {data, count, static_cast<llr_format>(format), as_int("llr_decimals", decimals), negative};
}
static_assert(static_cast<int>(llr_format::int8) == WB_LLR_INT8 &&
              static_cast<int>(llr_format::int16) == WB_LLR_INT16 &&
              static_cast<int>(llr_format::float32) == WB_LLR_FLOAT32);

template <class Op>
ldpc_block_shape shape_of(const Op& op) {
  return {.base_graph = op.base_graph,
          .lifting_size = op.lifting_size,
          .fillers = as_int("fillers", op.fillers),
          .buffer = as_int("buffer", op.buffer),
          .first = as_int("first", op.first),
          .sent_bits = as_int("sent_bits", op.sent_bits),
          .modulation_order = op.modulation_order};
}

}  // namespace

ldpc_decode_block ldpc_decode_operation::convert(const wb_ldpc_decode& op) {
  check_flags(op.flags, WB_EARLY_STOP | WB_DROP_CRC | WB_NEGATIVE_LLR);
  return {
      .shape = shape_of(op),
      .llr = llrs_of(op.llr, op.sent_bits, op.llr_format, op.llr_decimals, (op.flags & WB_NEGATIVE_LLR) != 0),
      .iterations = op.iterations,
      .early_stop = (op.flags & WB_EARLY_STOP) != 0,
      .crc = crc_of(op.crc),
      .drop_crc = (op.flags & WB_DROP_CRC) != 0,
      .harq = static_cast<harq_format>(op.harq_format),
      .harq_in = op.harq_in,
      .harq_in_length = op.harq_in_length,
      .harq_out = op.harq_out,
      .harq_out_length = op.harq_out_length,
      .bits = {op.bits, op.bits_bytes}};
}
ldpc_decode_block ldpc_decode_operation::refused() {
  ldpc_decode_block block;
  block.shape.base_graph = 0;
  return block;
}

ldpc_encode_block ldpc_encode_operation::convert(const wb_ldpc_encode& op) {
  check_flags(op.flags, 0);
  check_reserved("reserved", op.reserved);
  check_reserved("reserved1", op.reserved1);
  return {.shape = shape_of(op),
          .bits = {op.bits, op.bits_bytes},
          .crc = crc_of(op.crc),
          .out = {op.out, op.out_bytes}};
}
ldpc_encode_block ldpc_encode_operation::refused() {
  ldpc_encode_block block;
  block.shape.base_graph = 0;
  return block;
}

turbo_decode_block turbo_decode_operation::convert(const wb_turbo_decode& op) {
  check_flags(op.flags, WB_EARLY_STOP | WB_DROP_CRC | WB_NEGATIVE_LLR | WB_STREAMS | WB_NEGATIVE_SOFT);
  check_reserved("reserved", op.reserved);
  return {
      .k = as_int("k", op.k),
      .llr = llrs_of(op.llr, op.llr_count, op.llr_format, op.llr_decimals, (op.flags & WB_NEGATIVE_LLR) != 0),
      .order = (op.flags & WB_STREAMS) != 0 ? turbo_order::streams : turbo_order::circular_buffer,
      .least_iterations = op.least_iterations,
      .iterations = op.iterations,
      .early_stop = (op.flags & WB_EARLY_STOP) != 0,
      .crc = crc_of(op.crc),
      .drop_crc = (op.flags & WB_DROP_CRC) != 0,
      .bits = {op.bits, op.bits_bytes},
      .soft = op.soft,
      .soft_length = op.soft_length,
      .negative_soft = (op.flags & WB_NEGATIVE_SOFT) != 0};
}
turbo_decode_block turbo_decode_operation::refused() {
  turbo_decode_block block;
  block.k = 0;
  return block;
}

turbo_encode_block turbo_encode_operation::convert(const wb_turbo_encode& op) {
  check_flags(op.flags, 0);
  check_reserved("reserved", op.reserved);
  return {.k = as_int("k", op.k),
          .bits = {op.bits, op.bits_bytes},
          .crc = crc_of(op.crc),
          .sent_bits = as_int("sent_bits", op.sent_bits),
          .buffer = as_int("buffer", op.buffer),
          .first = as_int("first", op.first),
          .out = {op.out, op.out_bytes}};
}
turbo_encode_block turbo_encode_operation::refused() {
  turbo_encode_block block;
  block.k = 0;
  return block;
}

caller_structures::caller_structures(const char* argument, const void* first, std::size_t n)
    : first_(static_cast<const unsigned char*>(first)) {
  check_given(argument, first);
  std::uint32_t size = 0;
  std::memcpy(&size, first, sizeof size);
  if (size < least_bytes || size > most_bytes)
    throw argument_error("size", std::to_string(size), "what the structure's INIT macro sets");
  if (n > SIZE_MAX / size) throw shape_error("n", std::to_string(n), "what fits into memory");
  size_ = size;
}

void caller_structures::read(std::size_t i, void* to, std::size_t bytes) const {
  const unsigned char* const from = first_ + i * size_;
  std::uint32_t size = 0;
  std::memcpy(&size, from, sizeof size);
  if (size != size_)
    throw argument_error("size", std::to_string(size), "that of the first, " + std::to_string(size_));
  if (size_ >= bytes) {
    std::memcpy(to, from, bytes);
    for (std::size_t b = bytes; b < size_; b++)
      if (from[b] != 0)
        throw argument_error("byte " + std::to_string(b), std::to_string(from[b]),
                             "0, as this version has no field there");
  } else {
    std::memcpy(to, from, size_);
    std::memset(static_cast<unsigned char*>(to) + size_, 0, bytes - size_);
  }
}

std::uint64_t caller_structures::tag(std::size_t i) const noexcept {
  std::uint64_t tag = 0;
  std::memcpy(&tag, first_ + i * size_ + 8, sizeof tag);
  return tag;
}
static_assert(offsetof(wb_ldpc_decode, tag) == 8 && offsetof(wb_ldpc_encode, tag) == 8 &&
              offsetof(wb_turbo_decode, tag) == 8 && offsetof(wb_turbo_encode, tag) == 8);

void check_flags(std::uint32_t flags, std::uint32_t known) {
  if ((flags & ~known) != 0)
    throw argument_error("flags", std::to_string(flags), "bits of " + std::to_string(known) + " alone");
}
void check_reserved(const char* name, std::uint32_t value) {
  if (value != 0) throw argument_error(name, std::to_string(value), "0");
}

wb_done done_of(std::uint64_t tag, const block_result& result) noexcept {
  return {tag, result.status, result.iterations, result.bytes, result.harq_length, 0, 0};
}
wb_done failed(std::uint64_t tag) noexcept { return {tag, WB_DONE_FAILED, 0, 0, 0, 0, 0}; }

}  // namespace wb::c
