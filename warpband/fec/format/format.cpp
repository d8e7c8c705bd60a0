#include <warpband/fec/format/format.hpp>

#include <cmath>
#include <string>

#include <warpband/exec/kernel.hpp>

namespace wb {

WB_DECLARE_KERNEL(llr_convert)
WB_DECLARE_KERNEL(bit_pack)

void check_shape(const char* argument, const llr_batch& llr, std::size_t items, std::size_t elements) {
  if (llr.elements != elements || llr.items != items)
    throw shape_error(argument, shape_text(llr.items, llr.elements), "shape " + shape_text(items, elements));
  if (llr.data == nullptr && items * elements != 0) throw shape_error(argument, "null", "data");
  if (llr.format != llr_format::float32 && (!std::isfinite(llr.scale) || llr.scale == 0))
    throw argument_error("llr_scale", std::to_string(llr.scale), "a finite number other than 0");
}

view<const float> float_llrs::of(executor& exec, const llr_batch& llr) const {
  if (llr.format == llr_format::float32)
    return {static_cast<const float*>(llr.data), llr.elements, llr.items, llr.element_stride,
            llr.item_stride};
  const std::size_t count = llr.elements * llr.items;
  if (count == 0) return {nullptr, llr.elements, llr.items, 1, llr.elements};
  // Rows are what lies side by side, and the floats keep that order.
  const bool by_element = llr.item_stride == 1 && llr.element_stride != 1;
  const std::size_t length = by_element ? llr.items : llr.elements;
  llr_convert_args a;
  a.format = llr.format;
  a.from = llr.data;
  a.row_stride = by_element ? llr.element_stride : llr.item_stride;
  a.stride = by_element ? llr.item_stride : llr.element_stride;
  a.to = reinterpret_cast<float*>(memory_.on(exec, count * sizeof(float)));
  a.scale = llr.scale;
  a.length = static_cast<std::int32_t>(length);
  a.pieces = format_pieces(length);
  exec.run(llr_convert_kernels(), &a, count / length * static_cast<std::size_t>(a.pieces));
  return make_view(static_cast<const float*>(a.to), llr.items, llr.elements,
                   by_element ? layout::batch_fastest : layout::row_major);
}

void pack_bits(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> packed) {
  check_shape("bits", bits, bits.items, bits.elements);
  check_shape("packed", packed, bits.items, packed_bytes(bits.elements));
  check_apart({{"packed", packed}, {"bits", bits}});
  if (bits.items * bits.elements == 0) return;
  const bit_pack_args a{bits, packed, format_pieces(packed.elements)};
  exec.run(bit_pack_kernels(), &a, bits.items * static_cast<std::size_t>(a.pieces));
}

}  // namespace wb
