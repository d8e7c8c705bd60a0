#pragma once
// Messages kept between calls (ldpc_decoder_output::messages and ::state): what a codeword keeps, how it lies
// in memory, and what the next call makes of it.
//
// The messages of the checks by block and row, the a-posteriori LLRs, the channel's LLRs of the last call,
// and at the end of the row the iterations done, a float. In an array of the caller's
// (ldpc_decoder_output::messages) the others are floats too. In the state of a float16 decoder
// (ldpc_decoder_output::state) they are halves side by side.
//
// In flooding order the first checks take what the bits had then, q = A - R, and the new channel LLRs enter
// where A is next summed up. In layered order two calls are one with the iterations of both, where the
// channel's LLRs stay: A of such a bit is the kept one. Of other bits
//
//   float16         A is the kept one plus the difference of the channel's LLRs, each rounded, as in an
//                   iteration;
//   float32, int8   A is the new channel LLR plus the messages, in order of the block rows and rounded once,
//                   so that what int8 lost by saturation does not stay lost.
#include <warpband/fec/ldpc/ldpc_messages.hpp>

namespace wb {
inline namespace WB_ISA {

/// `number` makes a kept LLR a value of the format of T (0 of one that is not finite), `message` one of a
/// check, `rounded` a sum of such values. A lane on a CPU, a float on a GPU.
template <class T>
struct kept_format;
template <>
struct kept_format<lane> {
  static constexpr float app_limit = 2e6f;  // of a channel LLR and 128 messages
  WB_HD static lane number(const llr_quantiser&, lane llr) {
    return clamped(select(is_finite(llr), llr, lane(0.f)), app_limit) + lane(0.f);
  }
  WB_HD static lane message(const llr_quantiser& by, lane llr) { return number(by, llr); }
  WB_HD static lane rounded(lane x) { return x + lane(0.f); }
};
template <>
struct kept_format<f16x> {
  /// Of A. 16 checks that change all of their messages add 32000: below 65504, so that no kept values,
  /// whatever they are, lead to infinities there.
  static constexpr float app_limit = 32e3f;
  WB_HD static lane rounded(lane x) {
    const f16x half = to_half(clamped(x, app_limit));
#if defined(__CUDACC__)
    return __low2float(halves(half)) + 0.f;
#else
    return half.x + lane(0.f);
#endif
  }
  WB_HD static lane number(const llr_quantiser&, lane llr) {
    return rounded(select(is_finite(llr), llr, lane(0.f)));
  }
  WB_HD static lane message(const llr_quantiser& by, lane llr) {
    return clamped(number(by, llr), min_sum<f16x>::limit);
  }
  /// A of a bit when its channel LLR becomes `channel`; it `was` within the limit of LLRs, and A within
  /// app_limit.
  WB_HD static f16x moved(f16x app, f16x was, f16x channel) {
    return max(min(sum(app, difference(channel, was)), to_half(app_limit)), to_half(-app_limit));
  }
};
template <>
struct kept_format<i8x> {
  WB_HD static lane rounded(lane x) { return max(min(x, lane(127.f)), lane(-128.f)); }
  WB_HD static lane number(const llr_quantiser& by, lane llr) {
    return rounded(
        to_float(nearest_integer(clamped(select(is_finite(llr), llr, lane(0.f)) * lane(by.quanta), 128.f))));
  }
  WB_HD static lane message(const llr_quantiser& by, lane llr) {
    return clamped(number(by, llr), static_cast<float>(min_sum<i8x>::message_limit));
  }
};

/// Where the parts of a codeword's kept values begin.
WB_HD int kept_app(const ldpc_decode_args& a) { return a.blocks * a.z; }
WB_HD int kept_channel(const ldpc_decode_args& a) { return kept_app(a) + a.n; }
WB_HD float& kept_iterations(const ldpc_decode_args& a, std::size_t item) {
  return a.messages
      .data[(a.messages.elements - 1) * a.messages.element_stride + item * a.messages.item_stride];
}
/// Iterations done before this call.
WB_HD float iterations_kept(const ldpc_decode_args& a, std::size_t item) {
  return a.reads_messages ? kept_iterations(a, item) : 0.f;
}
WB_HD void count_kept_iterations(const ldpc_decode_args& a, std::size_t item, bool gone, int iterations) {
  const float done = iterations_kept(a, item);
  kept_iterations(a, item) = gone ? 0.f : (done > 0.f ? done : 0.f) + static_cast<float>(iterations);
}
/// Value e of a codeword's halves.
WB_HD std::uint16_t* kept_halves_at(const ldpc_decode_args& a, std::size_t item, int e) {
  return reinterpret_cast<std::uint16_t*>(a.messages.data + item * a.messages.item_stride) + e;
}

#if defined(__CUDACC__)
template <class T>
WB_HD float load_kept_number(const ldpc_decode_args& a, std::size_t item, int e) {
  if constexpr (std::is_same_v<T, f16x>)
    if (a.kept_halves) return __half2float(__ushort_as_half(*kept_halves_at(a, item, e)));
  return a.messages
      .data[static_cast<std::size_t>(e) * a.messages.element_stride + item * a.messages.item_stride];
}
/// With halves x is one that a half holds.
template <class T>
WB_HD void store_kept_number(const ldpc_decode_args& a, std::size_t item, int e, float x) {
  if constexpr (std::is_same_v<T, f16x>)
    if (a.kept_halves) {
      *kept_halves_at(a, item, e) = __half_as_ushort(__float2half_rn(x));
      return;
    }
  a.messages.data[static_cast<std::size_t>(e) * a.messages.element_stride + item * a.messages.item_stride] =
      x;
}
#else
/// Up to `count` halves as floats; infinite ones and those that are no numbers are infinite.
WB_HD lane load_halves(const std::uint16_t* from, int count) {
  using I = typename rebind<lane>::i32;
  std::int32_t part[WB_WIDTH] = {};
  for (int i = 0; i < WB_WIDTH && i < count; i++) {
    std::uint16_t half = 0;
    __builtin_memcpy(&half, from + i, sizeof half);
    part[i] = half;
  }
  I bits;
  __builtin_memcpy(&bits, part, sizeof bits);
  const lane x = as_float((bits & I(0x7fff)) << 13) * lane(0x1p112f);  // the biases are 112 apart
  const lane magnitude = select(x < lane(65536.f), x, as_float(I(0x7f800000)));
  return as_float(as_int(magnitude) | ((bits & I(0x8000)) << 16));
}
/// Up to `count` numbers that halves hold.
WB_HD void store_halves(std::uint16_t* to, lane x, int count) {
  using I = typename rebind<lane>::i32;
  // Halves below 2^-14 lie 2^-24 apart, as floats do around 0.5.
  const I small = as_int(abs(x) + lane(0.5f)) - I(0x3f000000),
          normal = (as_int(abs(x)) - I(0x38000000)) >> 13,
          bits = select(abs(x) < lane(6.103515625e-5f), small, normal) | ((as_int(x) >> 16) & I(0x8000));
  std::int32_t part[WB_WIDTH];
  __builtin_memcpy(part, &bits, sizeof bits);
  for (int i = 0; i < WB_WIDTH && i < count; i++) {
    const auto half = static_cast<std::uint16_t>(part[i]);
    __builtin_memcpy(to + i, &half, sizeof half);
  }
}
#endif

}  // namespace WB_ISA
}  // namespace wb
