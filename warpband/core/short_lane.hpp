#pragma once
// 16-bit integers under one set of names, `i16x`. On a CPU a value holds `i16x::lanes` numbers, in vectors
// twice as many as float32 lanes. On CUDA it holds one number of each of `i16x::items` = 2 items, packed in a
// register. Sums wrap: bodies keep their numbers in range. Every build gives the same bits.
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
struct i16x {
  static constexpr int lanes = 1, items = 2;
  std::uint32_t x;
};
WB_HD i16x to_short(int a) { return {static_cast<std::uint32_t>(a & 0xffff) * 0x10001u}; }
WB_HD i16x operator+(i16x a, i16x b) { return {__vadd2(a.x, b.x)}; }
WB_HD i16x operator-(i16x a, i16x b) {  // three instructions; __vsub2 takes eight
  return {__vadd2(__vadd2(a.x, ~b.x), 0x00010001u)};
}
WB_HD i16x operator&(i16x a, i16x b) { return {a.x & b.x}; }
WB_HD i16x operator|(i16x a, i16x b) { return {a.x | b.x}; }
WB_HD i16x operator^(i16x a, i16x b) { return {a.x ^ b.x}; }
WB_HD i16x max(i16x a, i16x b) { return {__vmaxs2(a.x, b.x)}; }
WB_HD i16x min(i16x a, i16x b) { return {__vmins2(a.x, b.x)}; }
/// max(a + b, c)
WB_HD i16x add_max(i16x a, i16x b, i16x c) { return {__viaddmax_s16x2(a.x, b.x, c.x)}; }
/// 1 where a < 0, else 0.
WB_HD i16x sign_bit(i16x a) { return {a.x >> 15 & 0x10001u}; }
/// All bits of a number become its lowest.
WB_HD i16x spread_low_bit(i16x a) { return {(a.x & 0x10001u) * 0xffffu}; }
/// (a eighths + 4) / 8, rounded down, of -1024 <= a < 1024 and eighths 0..8.
WB_HD i16x scaled(i16x a, int eighths) {
  const auto e = static_cast<std::uint32_t>(eighths);  // from 1024 up no half carries into the other
  const std::uint32_t y = __vadd2(a.x, 0x04000400u) * e + 0x00040004u;
  return i16x{y >> 3 & 0x1fff1fffu} - i16x{128u * 0x10001u * e};
}
/// x where a < b, else y. a - b does not overflow.
WB_HD i16x select_less(i16x a, i16x b, i16x x, i16x y) {
  std::uint32_t less;  // of each half its sign sixteen times
  asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(less) : "r"((a - b).x));
  return {(less & x.x) | (~less & y.x)};
}
/// a 2^n, of a from 0 on, where it is below 2^16.
WB_HD i16x shift_left(i16x a, int n) { return {a.x << n}; }
/// Four neighbouring values, on a multiple of four.
WB_HD void load_four_shorts(const std::uint32_t* p, i16x* to) {
  const uint4 v = *reinterpret_cast<const uint4*>(p);
  to[0] = {v.x}, to[1] = {v.y}, to[2] = {v.z}, to[3] = {v.w};
}
/// Of lanes, or items, with these numbers.
WB_HD i16x of_lanes(const std::int16_t* p) {
  return {static_cast<std::uint32_t>(static_cast<std::uint16_t>(p[0])) |
          static_cast<std::uint32_t>(static_cast<std::uint16_t>(p[1])) << 16};
}
/// How numbers lie in memory: 16 bits, or 8 where they fit.
using short_element = std::uint32_t;
using byte_element = std::uint16_t;
WB_HD i16x load_short(const short_element* p) { return {*p}; }
WB_HD void store_short(short_element* p, i16x a) { *p = a.x; }
WB_HD i16x load_byte(const byte_element* p) {
  std::uint32_t r;  // each byte, and above it its sign eight times
  asm("prmt.b32 %0, %1, 0, 0x9180;" : "=r"(r) : "r"(static_cast<std::uint32_t>(*p)));
  return {r};
}
/// A number of all items.
WB_HD i16x load_same(const std::int16_t* p) { return to_short(*p); }
/// Lane, or item, i of what lies at p.
WB_HD int lane_at(const short_element* p, int i) { return static_cast<std::int16_t>(*p >> 16 * i); }
/// Four signed bytes, each negated; -128 becomes 127.
WB_HD std::uint32_t negated_bytes(std::uint32_t x) { return __vnegss4(x); }
/// Byte i of either.
WB_HD byte_element byte_pair(std::uint32_t x, std::uint32_t y, int i) {
  return static_cast<byte_element>(__byte_perm(x, y, static_cast<unsigned>(0x40 + 0x11 * i)));
}
#elif WB_WIDTH == 1
struct i16x {
  static constexpr int lanes = 1, items = 1;
  std::int16_t x;
};
WB_HD i16x to_short(int a) { return {static_cast<std::int16_t>(a)}; }
WB_HD i16x operator+(i16x a, i16x b) { return to_short(a.x + b.x); }
WB_HD i16x operator-(i16x a, i16x b) { return to_short(a.x - b.x); }
WB_HD i16x operator&(i16x a, i16x b) { return to_short(a.x & b.x); }
WB_HD i16x operator|(i16x a, i16x b) { return to_short(a.x | b.x); }
WB_HD i16x operator^(i16x a, i16x b) { return to_short(a.x ^ b.x); }
WB_HD i16x max(i16x a, i16x b) { return a.x > b.x ? a : b; }
WB_HD i16x min(i16x a, i16x b) { return a.x < b.x ? a : b; }
WB_HD i16x add_max(i16x a, i16x b, i16x c) { return max(a + b, c); }
WB_HD i16x sign_bit(i16x a) { return to_short(a.x < 0); }
WB_HD i16x spread_low_bit(i16x a) { return to_short(-(a.x & 1)); }
WB_HD i16x scaled(i16x a, int eighths) { return to_short((a.x * eighths + 4) >> 3); }
WB_HD i16x select_less(i16x a, i16x b, i16x x, i16x y) { return a.x < b.x ? x : y; }
WB_HD i16x shift_left(i16x a, int n) { return to_short(a.x << n); }
using short_element = std::int16_t;
using byte_element = signed char;
WB_HD int lane_at(const short_element* p, int i) { return p[i]; }
WB_HD i16x of_lanes(const std::int16_t* p) { return {*p}; }
WB_HD i16x load_short(const short_element* p) { return {*p}; }
WB_HD void store_short(short_element* p, i16x a) { *p = a.x; }
WB_HD i16x load_byte(const byte_element* p) { return {*p}; }
WB_HD i16x load_same(const std::int16_t* p) { return {*p}; }
#else
struct i16x {
  static constexpr int lanes = 2 * WB_WIDTH, items = 1;
  typedef std::int16_t v __attribute__((vector_size(2 * lanes)));
  v x;
};
WB_HD i16x to_short(int a) { return {static_cast<std::int16_t>(a) - i16x::v{}}; }
WB_HD i16x operator+(i16x a, i16x b) { return {a.x + b.x}; }
WB_HD i16x operator-(i16x a, i16x b) { return {a.x - b.x}; }
WB_HD i16x operator&(i16x a, i16x b) { return {a.x & b.x}; }
WB_HD i16x operator|(i16x a, i16x b) { return {a.x | b.x}; }
WB_HD i16x operator^(i16x a, i16x b) { return {a.x ^ b.x}; }
WB_HD i16x max(i16x a, i16x b) { return {a.x > b.x ? a.x : b.x}; }
WB_HD i16x min(i16x a, i16x b) { return {a.x < b.x ? a.x : b.x}; }
WB_HD i16x add_max(i16x a, i16x b, i16x c) { return max(a + b, c); }
WB_HD i16x sign_bit(i16x a) {
  typedef std::uint16_t bits __attribute__((vector_size(sizeof(a.x))));
  return {(i16x::v)((bits)a.x >> 15)};
}
WB_HD i16x spread_low_bit(i16x a) { return {-(a.x & std::int16_t{1})}; }
WB_HD i16x scaled(i16x a, int eighths) {
  return {(a.x * static_cast<std::int16_t>(eighths) + std::int16_t{4}) >> 3};
}
WB_HD i16x select_less(i16x a, i16x b, i16x x, i16x y) { return {a.x < b.x ? x.x : y.x}; }
WB_HD i16x shift_left(i16x a, int n) { return {a.x << n}; }
using short_element = std::int16_t;
using byte_element = signed char;
WB_HD int lane_at(const short_element* p, int i) { return p[i]; }
/// A vector anywhere in memory. GCC would copy it in two halves, which a load of the whole then waits for.
typedef std::int16_t short_vector __attribute__((vector_size(2 * i16x::lanes), aligned(2), may_alias));
WB_HD i16x load_short(const short_element* p) { return {*reinterpret_cast<const short_vector*>(p)}; }
WB_HD void store_short(short_element* p, i16x a) { *reinterpret_cast<short_vector*>(p) = a.x; }
WB_HD i16x load_byte(const byte_element* p) {
#if defined(__AVX512BW__)  // GCC converts half a vector at a time
  return {(i16x::v)_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
#elif defined(__AVX2__)
  return {(i16x::v)_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
#else
  typedef signed char bytes __attribute__((vector_size(i16x::lanes)));
  bytes b;
  __builtin_memcpy(&b, p, sizeof b);
  return {__builtin_convertvector(b, i16x::v)};
#endif
}
WB_HD i32x load_byte_as_int(const byte_element* p) {
#if defined(__AVX512F__) && WB_WIDTH == 16  // GCC converts one byte at a time; the plain intrinsic warns
  return {(i32x::v)_mm512_maskz_cvtepi8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
#elif defined(__AVX2__) && WB_WIDTH == 8
  return {(i32x::v)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))};
#else
  typedef signed char bytes __attribute__((vector_size(WB_WIDTH)));
  bytes b;
  __builtin_memcpy(&b, p, sizeof b);
  return {__builtin_convertvector(b, i32x::v)};
#endif
}
WB_HD i16x load_same(const std::int16_t* p) { return load_short(p); }
WB_HD i16x of_lanes(const std::int16_t* p) { return load_short(p); }
/// Lane i of the result is lane source[i] of a.
WB_HD i16x permute(i16x a, i16x source) {
#if defined(__AVX512BW__)
  return {(i16x::v)_mm512_permutexvar_epi16((__m512i)source.x, (__m512i)a.x)};
#elif defined(__AVX2__)
  // Bytes are found within halves: in this one and in the other, of which the lane's number tells.
  const __m256i x = (__m256i)a.x, other = _mm256_permute4x64_epi64(x, 0x4e);
  const i16x::v pairs = (source.x & std::int16_t{7}) * std::int16_t{0x0202} + std::int16_t{0x0100};
  const i16x::v half{0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8};
  const i16x::v apart = ((source.x & std::int16_t{8}) != half);
  return {(i16x::v)_mm256_blendv_epi8(_mm256_shuffle_epi8(x, (__m256i)pairs),
                                      _mm256_shuffle_epi8(other, (__m256i)pairs), (__m256i)apart)};
#else
  return {WB_SHUFFLE(a.x, source.x)};
#endif
}
WB_HD i16x lane_numbers() {
  i16x r;
  for (int i = 0; i < i16x::lanes; i++) r.x[i] = static_cast<std::int16_t>(i);
  return r;
}
typedef signed char byte_row __attribute__((vector_size(16)));
/// Byte i of x[j] becomes byte j of x[i].
WB_HD void transpose_bytes(byte_row (&x)[16]) {
  constexpr byte_row low{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
  constexpr byte_row high{8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  for (int stage = 0; stage < 4; stage++) {
    byte_row y[16];
    WB_UNROLL for (int i = 0; i < 8; i++) {
      y[2 * i] = WB_SHUFFLE(x[i], x[i + 8], low);
      y[2 * i + 1] = WB_SHUFFLE(x[i], x[i + 8], high);
    }
    WB_UNROLL for (int i = 0; i < 16; i++) x[i] = y[i];
  }
}
/// Sixteen integers, -128..127, of neighbouring vectors.
WB_HD byte_row narrow_to_bytes(const i32x* x) {
#if defined(__AVX2__) && WB_WIDTH == 8  // GCC takes thrice as many instructions
  const __m256i shorts = _mm256_permute4x64_epi64(_mm256_packs_epi32((__m256i)x[0].x, (__m256i)x[1].x), 0xd8);
  return (byte_row)_mm_packs_epi16(_mm256_castsi256_si128(shorts), _mm256_extracti128_si256(shorts, 1));
#else
  typedef signed char bytes __attribute__((vector_size(WB_WIDTH)));
  byte_row r;
  WB_UNROLL for (int i = 0; i < 16 / WB_WIDTH; i++) {
    const bytes b = __builtin_convertvector(x[i].x, bytes);
    __builtin_memcpy(reinterpret_cast<char*>(&r) + i * WB_WIDTH, &b, sizeof b);
  }
  return r;
#endif
}
/// a in the lanes where `test` is 0, else b.
WB_HD i16x select_if_zero(i16x test, i16x a, i16x b) { return {test.x == i16x::v{} ? a.x : b.x}; }
#endif
#if !defined(__CUDACC__)
WB_HD void load_four_shorts(const short_element* p, i16x* to) {
  WB_UNROLL for (int i = 0; i < 4; i++) to[i] = load_short(p + i * i16x::lanes);
}
#endif

}  // namespace WB_ISA
}  // namespace wb
