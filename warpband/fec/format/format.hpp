#pragma once
// LLRs and bits as radios exchange them: integer LLRs with a scale, and eight bits in a byte.
//
// An integer v is the LLR L = v * scale, rounded once to float32. -128 and -32768 are values like any other.
// Decoders that compute on float32 take integers by one conversion, so their results are those for these
// float32 LLRs.
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <warpband/core/check.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/format/format_args.hpp>

namespace wb {

/// LLRs [batch, n] that a call takes: float32, or integers with their scale.
///
///   decoder.run(exec, llr, out);                        // float32: a view, or an array of the executor
///   decoder.run(exec, llr_batch(steps, 0.25f), out);    // view<const std::int8_t>: L = step / 4
struct llr_batch {
  llr_format format = llr_format::float32;
  const void* data = nullptr;
  std::size_t elements = 0, items = 0;
  std::size_t element_stride = 1, item_stride = 0;
  /// What an integer of 1 is. A negative scale: the integers are ln P(1)/P(0). Not looked at with float32.
  float scale = 1.f;

  llr_batch() = default;
  template <class V>
    requires std::convertible_to<const V&, view<const float>>
  llr_batch(const V& llr) : llr_batch(llr_format::float32, static_cast<view<const float>>(llr), 1.f) {}
  llr_batch(view<const std::int8_t> llr, float scale_of_one)
      : llr_batch(llr_format::int8, llr, scale_of_one) {}
  llr_batch(view<const std::int16_t> llr, float scale_of_one)
      : llr_batch(llr_format::int16, llr, scale_of_one) {}

 private:
  template <class T>
  llr_batch(llr_format f, const view<T>& v, float scale_of_one)
      : format(f),
        data(v.data),
        elements(v.elements),
        items(v.items),
        element_stride(v.element_stride),
        item_stride(v.item_stride),
        scale(scale_of_one) {}
};

/// Throws shape_error, and argument_error ("llr_scale") for integers with a scale that is 0 or no finite
/// number.
void check_shape(const char* argument, const llr_batch& llr, std::size_t items, std::size_t elements);

/// The conversion, in memory that is kept on each executor.
/// Threads: any number may call one object at once, each with an executor of its own.
class float_llrs {
 public:
  /// Queues the conversion of LLRs that check_shape allows; float32 stays where it is. The result is valid
  /// until the next call with this executor.
  view<const float> of(executor& exec, const llr_batch& llr) const;

 private:
  kept_workspace memory_;
};

/// Bytes of k packed bits.
constexpr std::size_t packed_bytes(std::size_t k) { return (k + 7) / 8; }
/// Queues packing of bits [batch, k], the lowest bit of each byte, to [batch, packed_bytes(k)]: the first bit
/// in the most significant place, zeros behind the last, as NumPy's packbits. Throws shape_error.
///
///   decoder.decode(exec, {.bits = bits});
///   wb::pack_bits(exec, bits, packed);
///
/// CPU and CUDA give the same bytes. Threads: any number, each with an executor of its own.
void pack_bits(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> packed);

}  // namespace wb
