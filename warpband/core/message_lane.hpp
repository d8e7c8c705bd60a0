#pragma once
// Number types of message passing: float32, half precision and saturating 8-bit integers under one set of
// names.
//
// A value holds `rows` neighbouring numbers of one codeword (a CPU), or one number of each of `codewords`
// codewords (CUDA: two halves in a register). Every build gives the same bits: half precision rounds each
// operation to nearest even, the 8-bit type saturates at -128 and 127.
#include <type_traits>

#include <warpband/core/lane.hpp>
#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

namespace wb {
inline namespace WB_ISA {

/// How values of type T lie in memory.
template <class T>
struct message_memory;

// ---------------------------------------------------------------- float32

template <>
struct message_memory<lane> {
  using element = float;
  static constexpr int rows = WB_WIDTH, codewords = 1;
};
WB_HD lane difference(lane a, lane b) { return a - b; }
WB_HD lane sum(lane a, lane b) { return a + b; }
WB_HD lane product(lane a, lane b) { return a * b; }
WB_HD lane magnitude(lane a) { return abs(a); }
/// x where a == b, else y.
WB_HD lane where_equal(lane a, lane b, lane x, lane y) { return select(a == b, x, y); }
/// A number whose sign bit is the exclusive-or of the two.
WB_HD lane sign_product(lane a, lane b) { return as_float(as_int(a) ^ as_int(b)); }
/// A number whose sign bit is set where that of either is.
WB_HD lane sign_union(lane a, lane b) { return as_float(as_int(a) | as_int(b)); }
/// m >= 0 with the sign of s.
WB_HD lane with_sign(lane m, lane s) {
  using I = typename rebind<lane>::i32;
  return as_float(as_int(m) ^ (as_int(s) & I(static_cast<std::int32_t>(0x80000000u))));
}

// ---------------------------------------------------------------- half precision

#if defined(__CUDACC__)
/// The bits of two halves: __half2 itself is not trivially copyable.
struct f16x {
  std::uint32_t x;
};
template <>
struct message_memory<f16x> {
  using element = std::uint32_t;
  static constexpr int rows = 1, codewords = 2;
};
WB_HD __half2 halves(f16x a) { return *reinterpret_cast<const __half2*>(&a.x); }
WB_HD f16x to_half(__half2 a) { return {*reinterpret_cast<const std::uint32_t*>(&a)}; }
WB_HD f16x to_half(float a) { return to_half(__float2half2_rn(a)); }
WB_HD f16x to_half(float a, float b) { return to_half(__floats2half2_rn(a, b)); }
// The _rn forms are never contracted to an fma.
WB_HD f16x difference(f16x a, f16x b) { return to_half(__hsub2_rn(halves(a), halves(b))); }
WB_HD f16x sum(f16x a, f16x b) { return to_half(__hadd2_rn(halves(a), halves(b))); }
WB_HD f16x product(f16x a, f16x b) { return to_half(__hmul2_rn(halves(a), halves(b))); }
WB_HD f16x magnitude(f16x a) { return to_half(__habs2(halves(a))); }
WB_HD f16x min(f16x a, f16x b) { return to_half(__hmin2(halves(a), halves(b))); }
WB_HD f16x max(f16x a, f16x b) { return to_half(__hmax2(halves(a), halves(b))); }
WB_HD f16x where_equal(f16x a, f16x b, f16x x, f16x y) {
  const std::uint32_t m = __heq2_mask(halves(a), halves(b));
  return {(x.x & m) | (y.x & ~m)};
}
WB_HD f16x sign_product(f16x a, f16x b) { return {a.x ^ b.x}; }
WB_HD f16x sign_union(f16x a, f16x b) { return {a.x | b.x}; }
WB_HD f16x with_sign(f16x m, f16x s) { return {m.x ^ (s.x & 0x80008000u)}; }
#else
/// A float that a half can hold.
struct f16x {
  lane x;
};
template <>
struct message_memory<f16x> {
  using element = float;
  static constexpr int rows = WB_WIDTH, codewords = 1;
};
/// The nearest half, ties to even. |a| < 65520. The sum of two halves rounds correctly by way of a float, and
/// so does a product: 24 bits hold twice the 11 of a half and two more.
WB_HD f16x to_half(lane a) {
  using I = typename rebind<lane>::i32;
  const I bits = as_int(a);
  const lane normal = as_float((bits + I(0xfff) + ((bits >> 13) & I(1))) & I(~0x1fff));
  // Below 2^-14 halves lie 2^-24 apart, as floats do around 0.75.
  const lane small = as_float((as_int((abs(a) + lane(0.75f)) - lane(0.75f))) |
                              (bits & I(static_cast<std::int32_t>(0x80000000u))));
  return {select(abs(a) < lane(6.103515625e-5f), small, normal)};
}
WB_HD f16x difference(f16x a, f16x b) { return to_half(a.x - b.x); }
WB_HD f16x sum(f16x a, f16x b) { return to_half(a.x + b.x); }
WB_HD f16x product(f16x a, f16x b) { return to_half(a.x * b.x); }
WB_HD f16x magnitude(f16x a) { return {abs(a.x)}; }
WB_HD f16x min(f16x a, f16x b) { return {min(a.x, b.x)}; }
WB_HD f16x max(f16x a, f16x b) { return {max(a.x, b.x)}; }
WB_HD f16x where_equal(f16x a, f16x b, f16x x, f16x y) { return {where_equal(a.x, b.x, x.x, y.x)}; }
WB_HD f16x sign_product(f16x a, f16x b) { return {sign_product(a.x, b.x)}; }
WB_HD f16x sign_union(f16x a, f16x b) { return {sign_union(a.x, b.x)}; }
WB_HD f16x with_sign(f16x m, f16x s) { return {with_sign(m.x, s.x)}; }
#endif

// ---------------------------------------------------------------- saturating 8-bit integers

#if WB_WIDTH == 1
struct i8x {
  std::int32_t x;  // -128..127; a magnitude is up to 128
};
template <>
struct message_memory<i8x> {
  using element = signed char;
  static constexpr int rows = 1, codewords = 1;
};
WB_HD i8x to_int8(std::int32_t a) { return {a}; }
WB_HD std::int32_t saturate_int8(std::int32_t a) { return a < -128 ? -128 : a > 127 ? 127 : a; }
WB_HD i8x difference(i8x a, i8x b) { return {saturate_int8(a.x - b.x)}; }
WB_HD i8x sum(i8x a, i8x b) { return {saturate_int8(a.x + b.x)}; }
WB_HD i8x magnitude(i8x a) { return {a.x < 0 ? -a.x : a.x}; }
WB_HD i8x min(i8x a, i8x b) { return {a.x < b.x ? a.x : b.x}; }
WB_HD i8x max(i8x a, i8x b) { return {a.x > b.x ? a.x : b.x}; }
WB_HD i8x where_equal(i8x a, i8x b, i8x x, i8x y) { return {a.x == b.x ? x.x : y.x}; }
WB_HD i8x sign_product(i8x a, i8x b) { return {a.x ^ b.x}; }
WB_HD i8x sign_union(i8x a, i8x b) { return {a.x | b.x}; }
WB_HD i8x with_sign(i8x m, i8x s) { return {s.x < 0 ? -m.x : m.x}; }
/// max((m eighths + 4) / 8 - offset, 0), the division rounding down, of a magnitude up to 127.
WB_HD i8x scaled(i8x m, int eighths, int offset) {
  const std::int32_t y = ((m.x * eighths + 4) >> 3) - offset;
  return {y > 0 ? y : 0};
}
#else
#if defined(__AVX2__)
inline constexpr int int8_rows = 32;  // with AVX-512 too: 512-bit operations gain nothing on z = 96 rows
#else
inline constexpr int int8_rows = 16;
#endif
struct i8x {
  typedef signed char v __attribute__((vector_size(int8_rows)));
  v x;
};
template <>
struct message_memory<i8x> {
  using element = signed char;
  static constexpr int rows = int8_rows, codewords = 1;
};
WB_HD i8x to_int8(int a) { return {static_cast<signed char>(a) - i8x::v{}}; }
WB_HD i8x sign_product(i8x a, i8x b) { return {a.x ^ b.x}; }
WB_HD i8x sign_union(i8x a, i8x b) { return {a.x | b.x}; }
WB_HD i8x where_equal(i8x a, i8x b, i8x x, i8x y) { return {a.x == b.x ? x.x : y.x}; }
// Magnitudes are unsigned: that of -128 is 128.
#if defined(__AVX2__)
WB_HD i8x difference(i8x a, i8x b) { return {(i8x::v)_mm256_subs_epi8((__m256i)a.x, (__m256i)b.x)}; }
WB_HD i8x sum(i8x a, i8x b) { return {(i8x::v)_mm256_adds_epi8((__m256i)a.x, (__m256i)b.x)}; }
WB_HD i8x magnitude(i8x a) { return {(i8x::v)_mm256_abs_epi8((__m256i)a.x)}; }
WB_HD i8x min(i8x a, i8x b) { return {(i8x::v)_mm256_min_epu8((__m256i)a.x, (__m256i)b.x)}; }
WB_HD i8x max(i8x a, i8x b) { return {(i8x::v)_mm256_max_epu8((__m256i)a.x, (__m256i)b.x)}; }
WB_HD i8x less_saturated(i8x a, i8x b) { return {(i8x::v)_mm256_subs_epu8((__m256i)a.x, (__m256i)b.x)}; }
#if defined(__AVX512BW__)
WB_HD i8x with_sign(i8x m, i8x s) {
  return {(i8x::v)_mm256_mask_sub_epi8((__m256i)m.x, _mm256_movepi8_mask((__m256i)s.x), (__m256i)i8x::v{},
                                       (__m256i)m.x)};
}
#else
WB_HD i8x with_sign(i8x m, i8x s) {
  return {(i8x::v)_mm256_sign_epi8((__m256i)m.x, (__m256i)(s.x | to_int8(1).x))};
}
#endif
#elif defined(__SSE2__)
WB_HD i8x difference(i8x a, i8x b) { return {(i8x::v)_mm_subs_epi8((__m128i)a.x, (__m128i)b.x)}; }
WB_HD i8x sum(i8x a, i8x b) { return {(i8x::v)_mm_adds_epi8((__m128i)a.x, (__m128i)b.x)}; }
WB_HD i8x min(i8x a, i8x b) { return {(i8x::v)_mm_min_epu8((__m128i)a.x, (__m128i)b.x)}; }
WB_HD i8x max(i8x a, i8x b) { return {(i8x::v)_mm_max_epu8((__m128i)a.x, (__m128i)b.x)}; }
WB_HD i8x less_saturated(i8x a, i8x b) { return {(i8x::v)_mm_subs_epu8((__m128i)a.x, (__m128i)b.x)}; }
WB_HD i8x with_sign(i8x m, i8x s) {
  const i8x::v negative = (i8x::v)(s.x < i8x::v{});
  return {(m.x ^ negative) - negative};
}
WB_HD i8x magnitude(i8x a) { return with_sign(a, a); }
#elif defined(__aarch64__)
WB_HD i8x difference(i8x a, i8x b) { return {(i8x::v)vqsubq_s8((int8x16_t)a.x, (int8x16_t)b.x)}; }
WB_HD i8x sum(i8x a, i8x b) { return {(i8x::v)vqaddq_s8((int8x16_t)a.x, (int8x16_t)b.x)}; }
WB_HD i8x min(i8x a, i8x b) { return {(i8x::v)vminq_u8((uint8x16_t)a.x, (uint8x16_t)b.x)}; }
WB_HD i8x max(i8x a, i8x b) { return {(i8x::v)vmaxq_u8((uint8x16_t)a.x, (uint8x16_t)b.x)}; }
WB_HD i8x less_saturated(i8x a, i8x b) { return {(i8x::v)vqsubq_u8((uint8x16_t)a.x, (uint8x16_t)b.x)}; }
WB_HD i8x with_sign(i8x m, i8x s) {
  const i8x::v negative = (i8x::v)(s.x < i8x::v{});
  return {(m.x ^ negative) - negative};
}
WB_HD i8x magnitude(i8x a) { return with_sign(a, a); }
#endif
/// 1 where a < 0, else 0.
WB_HD i8x negative_bits(i8x a) { return {(i8x::v)(a.x < i8x::v{}) & to_int8(1).x}; }
WB_HD i8x scaled(i8x m, int eighths, int offset) {
  typedef unsigned short pairs __attribute__((vector_size(int8_rows)));
  pairs y = (pairs)m.x;
  if (eighths == 6) {  // 3/4, the usual factor: m - (m + 1) / 4
    y = (((pairs)(m.x + to_int8(1).x)) >> 2) & (unsigned short)0x3f3f;
    m.x = m.x - (i8x::v)y;
  } else if (eighths != 8) {
    const unsigned short e = static_cast<unsigned short>(eighths);
    const pairs low = (((y & (unsigned short)0xff) * e + (unsigned short)4) >> 3);
    const pairs high = (((y >> 8) * e + (unsigned short)4) >> 3) << 8;
    m.x = (i8x::v)(low | high);
  }
  return offset == 0 ? m : less_saturated(m, to_int8(offset));
}
#endif

// ---------------------------------------------------------------- values in memory

#if WB_WIDTH > 1
/// Vectors anywhere in memory. GCC would copy them in two halves, which a load of the whole then waits for.
typedef signed char bytes_anywhere __attribute__((vector_size(int8_rows), aligned(1), may_alias));
typedef float floats_anywhere __attribute__((vector_size(4 * WB_WIDTH), aligned(4), may_alias));
#endif
template <class T>
WB_HD T load_message(const typename message_memory<T>::element* p) {
  T r;
#if defined(__CUDACC__)
  if constexpr (sizeof(T) == sizeof *p)
    r = *reinterpret_cast<const T*>(p);
  else
    r = {*p};
#elif WB_WIDTH == 1
  if constexpr (sizeof(T) == sizeof *p)
    __builtin_memcpy(&r, p, sizeof r);
  else
    r = T{*p};
#else
  if constexpr (std::is_same_v<T, i8x>)
    r.x = *reinterpret_cast<const bytes_anywhere*>(p);
  else if constexpr (std::is_same_v<T, f16x>)
    r.x.x = *reinterpret_cast<const floats_anywhere*>(p);
  else
    r.x = *reinterpret_cast<const floats_anywhere*>(p);
#endif
  return r;
}
template <class T>
WB_HD void store_message(typename message_memory<T>::element* p, T x) {
  if constexpr (sizeof(T) == sizeof *p) {
#if defined(__CUDACC__)
    *reinterpret_cast<T*>(p) = x;
#else
    __builtin_memcpy(p, &x, sizeof x);
#endif
  } else if constexpr (message_memory<T>::rows == 1) {
    *p = static_cast<typename message_memory<T>::element>(x.x);
  } else {
#if WB_WIDTH > 1
    if constexpr (std::is_same_v<T, i8x>)
      *reinterpret_cast<bytes_anywhere*>(p) = x.x;
    else if constexpr (std::is_same_v<T, f16x>)
      *reinterpret_cast<floats_anywhere*>(p) = x.x.x;
    else
      *reinterpret_cast<floats_anywhere*>(p) = x.x;
#endif
  }
}

}  // namespace WB_ISA
}  // namespace wb
