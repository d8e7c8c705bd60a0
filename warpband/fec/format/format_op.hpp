#pragma once
// Integer LLRs to float32, and bits to packed bytes, as ops.
#include <warpband/core/group.hpp>
#include <warpband/core/lane.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/format/format_args.hpp>

namespace wb {
inline namespace WB_ISA {

struct llr_convert_op : parts_op<llr_convert_args> {
  int threads() const { return 128; }
  double flops() const { return 2.0 * a.length / a.pieces; }
  double bytes() const { return (a.format == llr_format::int8 ? 5.0 : 6.0) * a.length / a.pieces; }

  template <class G>
  WB_HD void operator()(std::size_t item, int, G g, void*) const {
    const std::size_t pieces = static_cast<std::size_t>(a.pieces), row = item / pieces;
    const int begin = static_cast<int>(item - row * pieces) * format_piece;
    const int n = a.length - begin < format_piece ? a.length - begin : format_piece;
    const std::size_t from = row * a.row_stride + static_cast<std::size_t>(begin) * a.stride;
    float* const to = a.to + row * static_cast<std::size_t>(a.length) + begin;
    if (a.format == llr_format::int8)
      convert(static_cast<const std::int8_t*>(a.from) + from, to, n, g);
    else
      convert(static_cast<const std::int16_t*>(a.from) + from, to, n, g);
  }

 private:
  template <class V, class G>
  WB_HD void convert(const V* from, float* to, int n, G g) const {
    int i = 0;
#if WB_WIDTH > 1
    if (a.stride == 1)
      for (; i + WB_WIDTH <= n; i += WB_WIDTH) {
        typedef V values __attribute__((vector_size(WB_WIDTH * sizeof(V))));
        values x;
        __builtin_memcpy(&x, from + i, sizeof x);
        const rebind<lane>::i32 whole = __builtin_convertvector(x, i32x::v);
        const lane llr = to_float(whole) * lane(a.scale) + lane(0.f);
        __builtin_memcpy(to + i, &llr, sizeof llr);
      }
#endif
    for (i += g.rank; i < n; i += g.size)
      to[i] = static_cast<float>(from[static_cast<std::size_t>(i) * a.stride]) * a.scale + 0.f;
  }
};

struct bit_pack_op : parts_op<bit_pack_args> {
  int threads() const { return 128; }
  double flops() const { return 0; }
  double bytes() const { return 9.0 * static_cast<double>(a.packed.elements) / a.pieces; }

  template <class G>
  WB_HD void operator()(std::size_t item, int, G g, void*) const {
    const std::size_t pieces = static_cast<std::size_t>(a.pieces), row = item / pieces;
    const int begin = static_cast<int>(item - row * pieces) * format_piece;
    const int k = static_cast<int>(a.bits.elements), bytes = static_cast<int>(a.packed.elements);
    const int end = bytes - begin < format_piece ? bytes : begin + format_piece;
    const std::uint8_t* const bits = a.bits.data + row * a.bits.item_stride;
    std::uint8_t* const packed = a.packed.data + row * a.packed.item_stride;
    for (int i = begin + g.rank; i < end; i += g.size)
      packed[static_cast<std::size_t>(i) * a.packed.element_stride] =
          byte_of(bits, 8 * i, k - 8 * i < 8 ? k - 8 * i : 8);
  }

 private:
  /// Of n bits from the first on; zeros fill the byte.
  WB_HD std::uint8_t byte_of(const std::uint8_t* bits, int first, int n) const {
#if !defined(__CUDACC__)
    if (n == 8 && a.bits.element_stride == 1) {
      // The factor brings bit j of the byte from byte 7 - j; no two terms of the product share a bit.
      std::uint64_t eight;
      __builtin_memcpy(&eight, bits + first, sizeof eight);
      return static_cast<std::uint8_t>((eight & 0x0101010101010101u) * 0x8040201008040201u >> 56);
    }
#endif
    unsigned byte = 0;
    for (int j = 0; j < n; j++)
      byte |= (bits[static_cast<std::size_t>(first + j) * a.bits.element_stride] & 1u) << (7 - j);
    return static_cast<std::uint8_t>(byte);
  }
};

}  // namespace WB_ISA
}  // namespace wb
