#pragma once
// Received LLRs as 8-bit values, and which windows of which codewords the lanes of a value decode.
#include <warpband/core/memory.hpp>
#include <warpband/core/short_lane.hpp>
#include <warpband/fec/conv/conv_short_args.hpp>
#include <warpband/fec/quantise/quantise_body.hpp>

namespace wb {
inline namespace WB_ISA {

#if WB_WIDTH > 1
WB_HD byte_row limited(byte_row x) {
  return x < static_cast<signed char>(-127) ? static_cast<signed char>(-127) - byte_row{} : x;
}
#endif

/// LLRs of codewords as integers, -127..127.
struct conv_short_llrs {
  const conv_short_args& a;

  /// `bad` is set where the LLR is not finite; it is 0 then.
  WB_HD int one(std::size_t element, std::size_t item, bool& bad) const {
    if (a.llr8.data != nullptr) {
      const int x = a.llr8.data[element * a.llr8.element_stride + item * a.llr8.item_stride];
      return x < -127 ? -127 : x;
    }
    const float x = a.llr.data[element * a.llr.element_stride + item * a.llr.item_stride];
    const bool finite = is_finite(x);
    bad = bad || !finite;
    return llr_quantiser(a.quanta, item)(finite ? x : 0.f, 127.f);
  }
#if WB_WIDTH > 1
  /// `count` neighbouring ones.
  WB_HD void row(std::size_t element, int count, std::size_t item, signed char* to, bool& bad) const {
    int i = 0;
    if (a.llr.data != nullptr && a.llr.element_stride == 1) {
      const float* p = a.llr.data + element + item * a.llr.item_stride;
      const llr_quantiser quantise(a.quanta, item);
      auto finite = mask_from<m32x>(true);
      for (; i + 16 <= count; i += 16) {
        i32x x[16 / WB_WIDTH];
        WB_UNROLL for (int v = 0; v < 16 / WB_WIDTH; v++) {
          lane y;
          __builtin_memcpy(&y, p + i + v * WB_WIDTH, sizeof y);
          const auto ok = is_finite(y);
          finite = finite & ok;
          x[v] = quantise(select(ok, y, lane(0.f)), 127.f);
        }
        const byte_row bytes = narrow_to_bytes(x);
        __builtin_memcpy(to + i, &bytes, sizeof bytes);
      }
      bad = bad || !all(finite);
    }
    if (a.llr8.data != nullptr && a.llr8.element_stride == 1) {
      const std::int8_t* p = a.llr8.data + element + item * a.llr8.item_stride;
      for (; i + 16 <= count; i += 16) {
        byte_row x;
        __builtin_memcpy(&x, p + i, sizeof x);
        x = limited(x);
        __builtin_memcpy(to + i, &x, sizeof x);
      }
    }
    for (; i < count; i++)
      to[i] = static_cast<signed char>(one(element + static_cast<std::size_t>(i), item, bad));
  }
#endif
};

/// The windows that the lanes of a value decode.
struct conv_short_lanes {
  static constexpr int count = i16x::lanes * i16x::items;
  std::size_t item[count];  // the codeword in the batch
  int codeword[count];      // in this call
  int window[count];
  bool stores[count];

  /// x[l]. A thread of a GPU keeps its few numbers in registers, where nothing finds them by number.
  template <class X>
  WB_HD static X at(const X (&x)[count], int l) {
    if constexpr (count <= 2)
      return l == 0 ? x[0] : x[count - 1];
    else
      return x[l];
  }
};

}  // namespace WB_ISA
}  // namespace wb
