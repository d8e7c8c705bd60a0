#pragma once
// Operations on code blocks: from the descriptions of warpband.h to those of fec/blocks, and what became of
// them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>

#include <warpband/c/warpband.h>
#include <warpband/fec/blocks/ldpc_blocks.hpp>
#include <warpband/fec/blocks/turbo_blocks.hpp>

namespace wb::c {

/// An operation: the structure that describes it, what fec/blocks takes instead, and which class runs it.
/// `convert` throws argument_error for what the other description cannot say. `refused` is one that the
/// runner refuses.
struct ldpc_decode_operation {
  using description = wb_ldpc_decode;
  using block = ldpc_decode_block;
  using runner = ldpc_block_decoder;
  static constexpr wb_operation id = WB_LDPC_DECODE;
  static block convert(const description& op);
  static block refused();
};
struct ldpc_encode_operation {
  using description = wb_ldpc_encode;
  using block = ldpc_encode_block;
  using runner = ldpc_block_encoder;
  static constexpr wb_operation id = WB_LDPC_ENCODE;
  static block convert(const description& op);
  static block refused();
};
struct turbo_decode_operation {
  using description = wb_turbo_decode;
  using block = turbo_decode_block;
  using runner = turbo_block_decoder;
  static constexpr wb_operation id = WB_TURBO_DECODE;
  static block convert(const description& op);
  static block refused();
};
struct turbo_encode_operation {
  using description = wb_turbo_encode;
  using block = turbo_encode_block;
  using runner = turbo_block_encoder;
  static constexpr wb_operation id = WB_TURBO_ENCODE;
  static block convert(const description& op);
  static block refused();
};

/// A caller's array of structures that begin with their size, which may be that of another version.
/// Threads: any number may read one object at once.
class caller_structures {
 public:
  static constexpr std::size_t least_bytes = 16, most_bytes = 4096;
  /// Throws argument_error for a null pointer and for a size outside 16..4096. n > 0.
  caller_structures(const char* argument, const void* first, std::size_t n);
  /// Copies structure i: zeros stand for what it lacks. Throws argument_error where its size is another than
  /// the first one's, or what `bytes` do not hold is not 0.
  void read(std::size_t i, void* to, std::size_t bytes) const;
  /// The tag of an operation, which follows size and flags.
  std::uint64_t tag(std::size_t i) const noexcept;

 private:
  const unsigned char* first_;
  std::size_t size_;
};

/// Operation i of an array. One that cannot be converted becomes Op::refused().
template <class Op>
typename Op::block block_of(const caller_structures& ops, std::size_t i) {
  try {
    typename Op::description op;
    ops.read(i, &op, sizeof op);
    return Op::convert(op);
  } catch (const argument_error&) {
    return Op::refused();
  }
}

/// Throw argument_error for what this version does not know.
void check_flags(std::uint32_t flags, std::uint32_t known);
void check_reserved(const char* name, std::uint32_t value);

wb_done done_of(std::uint64_t tag, const block_result& result) noexcept;
wb_done failed(std::uint64_t tag) noexcept;

}  // namespace wb::c
