#pragma once
// 16-bit integers as a lane type, for bodies over T: numbers and words of 16 bits. On a CPU a vector has
// twice as many of them as of float32; on CUDA they take half the shared memory.
#include <type_traits>

#include <warpband/core/short_lane.hpp>

namespace wb {
inline namespace WB_ISA {

#if WB_WIDTH == 1
/// In a register of 32 bits, in memory of 16.
struct whole16 {
  int x;  // -32768..32767: no sum or product leaves that
  whole16() = default;
  WB_HD whole16(int a) : x(a) {}
  WB_HD explicit operator int() const { return x; }
  friend WB_HD whole16 operator+(whole16 a, whole16 b) { return a.x + b.x; }
  friend WB_HD whole16 operator-(whole16 a, whole16 b) { return a.x - b.x; }
  friend WB_HD whole16 operator*(whole16 a, whole16 b) { return a.x * b.x; }
  friend WB_HD whole16 operator&(whole16 a, whole16 b) { return a.x & b.x; }
  friend WB_HD whole16 operator|(whole16 a, whole16 b) { return a.x | b.x; }
  friend WB_HD whole16 operator^(whole16 a, whole16 b) { return a.x ^ b.x; }
  friend WB_HD whole16 operator<<(whole16 a, int n) { return static_cast<std::int16_t>(a.x << n); }
  friend WB_HD whole16 operator>>(whole16 a, int n) { return a.x >> n; }
  friend WB_HD bool operator==(whole16 a, whole16 b) { return a.x == b.x; }
  friend WB_HD bool operator!=(whole16 a, whole16 b) { return a.x != b.x; }
  friend WB_HD bool operator<(whole16 a, whole16 b) { return a.x < b.x; }
  friend WB_HD bool operator>(whole16 a, whole16 b) { return a.x > b.x; }
};
using mask16 = bool;
WB_HD whole16 select(bool m, whole16 a, whole16 b) { return m ? a : b; }
WB_HD whole16 min(whole16 a, whole16 b) { return a.x < b.x ? a : b; }
WB_HD whole16 max(whole16 a, whole16 b) { return a.x > b.x ? a : b; }
/// 1 << n.
WB_HD whole16 one_at(whole16 n) { return static_cast<std::int16_t>(1 << n.x); }
#else
struct mask16 {
  i16x::v x;  // all ones where true
  friend WB_HD mask16 operator&(mask16 a, mask16 b) { return {a.x & b.x}; }
  friend WB_HD mask16 operator|(mask16 a, mask16 b) { return {a.x | b.x}; }
  friend WB_HD mask16 operator!(mask16 a) { return {~a.x}; }
};
struct whole16 {
  using v = i16x::v;
  v x;
  whole16() = default;
  WB_HD whole16(v a) : x(a) {}
  WB_HD whole16(int a) : x(static_cast<std::int16_t>(a) - v{}) {}
  friend WB_HD whole16 operator+(whole16 a, whole16 b) { return a.x + b.x; }
  friend WB_HD whole16 operator-(whole16 a, whole16 b) { return a.x - b.x; }
  friend WB_HD whole16 operator*(whole16 a, whole16 b) { return a.x * b.x; }
  friend WB_HD whole16 operator&(whole16 a, whole16 b) { return a.x & b.x; }
  friend WB_HD whole16 operator|(whole16 a, whole16 b) { return a.x | b.x; }
  friend WB_HD whole16 operator^(whole16 a, whole16 b) { return a.x ^ b.x; }
  friend WB_HD whole16 operator<<(whole16 a, int n) { return a.x << n; }
  friend WB_HD whole16 operator>>(whole16 a, int n) { return a.x >> n; }
  friend WB_HD mask16 operator==(whole16 a, whole16 b) { return {a.x == b.x}; }
  friend WB_HD mask16 operator!=(whole16 a, whole16 b) { return {a.x != b.x}; }
  friend WB_HD mask16 operator<(whole16 a, whole16 b) { return {a.x < b.x}; }
  friend WB_HD mask16 operator>(whole16 a, whole16 b) { return {a.x > b.x}; }
};
WB_HD whole16 select(mask16 m, whole16 a, whole16 b) { return i16x::v(m.x ? a.x : b.x); }
WB_HD whole16 min(whole16 a, whole16 b) { return i16x::v(a.x < b.x ? a.x : b.x); }
WB_HD whole16 max(whole16 a, whole16 b) { return i16x::v(a.x > b.x ? a.x : b.x); }
/// 1 << n, of n from 0 to 15.
WB_HD whole16 one_at(whole16 n) {
#if defined(__AVX2__) && !defined(__AVX512BW__)
  // AVX2 shifts all 16-bit lanes by the same number. The lower byte is 1 << n where n < 8, the upper one
  // 1 << (n - 8) where n >= 8: both are looked up, at n and at n with its bit 3 changed.
  const __m256i powers = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201u));
  const __m256i table = _mm256_unpacklo_epi64(powers, _mm256_setzero_si256());
  return (i16x::v)_mm256_shuffle_epi8(table, (__m256i)((n * 0x0101) ^ 0x0800).x);
#else
  return whole16(1).x << n.x;
#endif
}
WB_HD bool any(mask16 m) { return any(m32x{(m32x::v)m.x != 0}); }
WB_HD bool all(mask16 m) { return !any(!m); }
template <>
WB_HD mask16 mask_from<mask16>(bool b) {
  return {whole16(b ? -1 : 0).x};
}
#endif

#if WB_WIDTH > 1
template <int... Lane>
struct lane_sequence {};
template <int Count, int... Lane>
struct lanes_up_to : lanes_up_to<Count - 1, Count - 1, Lane...> {};
template <int... Lane>
struct lanes_up_to<0, Lane...> {
  using type = lane_sequence<Lane...>;
};
using every_lane_of = lanes_up_to<i16x::lanes>::type;
/// The number of each lane with the bits of Step changed, as a constant.
template <int Step, int... Lane>
WB_HD whole16 every_lane(lane_sequence<Lane...>) {
  constexpr i16x::v numbers{static_cast<std::int16_t>(Lane ^ Step)...};
  return numbers;
}
/// Lane i of the result is lane source[i] % 8 of its own group of eight. source[i] is 0 to 63.
WB_HD whole16 permute_in_eights(whole16 a, whole16 source) {
#if defined(__AVX512BW__)
  return (i16x::v)_mm512_shuffle_epi8((__m512i)a.x, (__m512i)(source * 0x0202 + 0x0100).x);
#elif defined(__AVX2__)
  return (i16x::v)_mm256_shuffle_epi8((__m256i)a.x, (__m256i)(source * 0x0202 + 0x0100).x);
#else
  return i16x::v(WB_SHUFFLE(a.x, source.x & std::int16_t{7}));  // vectors of eight
#endif
}
/// The lane whose number differs in the bits of `step`: by constants, of which a compiler knows a shuffle.
template <int Step = 1>
WB_HD whole16 other_lane(whole16 a, int step) {
  if constexpr (2 * Step < i16x::lanes)
    if (step != Step) return other_lane<2 * Step>(a, step);
#if defined(__AVX2__) && !defined(__AVX512BW__)  // GCC 12 takes one that crosses halves, which is slower
  if constexpr (Step == 4) return (i16x::v)_mm256_shuffle_epi32((__m256i)a.x, 0x4e);
#endif
  return i16x::v(WB_SHUFFLE(a.x, every_lane<Step>(every_lane_of()).x));
}
#endif

template <>
struct rebind<whole16> {
  using i32 = whole16;
  using u32 = whole16;
  using mask = mask16;
  static constexpr int width = WB_WIDTH == 1 ? 1 : 2 * WB_WIDTH;
};
template <>
WB_HD whole16 iota<whole16>() {
#if WB_WIDTH == 1
  return 0;
#else
  return every_lane<0>(every_lane_of());
#endif
}
// The same number as what a float's bits are.
WB_HD whole16 as_int(whole16 a) { return a; }
WB_HD whole16 as_float(whole16 a) { return a; }
WB_HD whole16 to_float(whole16 a) { return a; }
WB_HD whole16 abs(whole16 a) {
#if defined(__AVX2__) && !defined(__AVX512BW__)
  return (i16x::v)_mm256_abs_epi16((__m256i)a.x);
#else
  return max(a, whole16(0) - a);
#endif
}

/// Stores the lowest `count` bits of a word, 1 to 64, the lowest first, as neighbouring bytes of 0 or 1.
WB_HD void spread_bits(std::uint64_t word, int count, std::uint8_t* to) {
#if WB_WIDTH > 1 && defined(__AVX512BW__)
  _mm512_mask_storeu_epi8(to, ~std::uint64_t{0} >> (64 - count), _mm512_maskz_set1_epi8(word, 1));
#else
  int n = 0;
  for (; n + 8 <= count; n += 8, word >>= 8) {
    // Byte i of the product has bit i in its place; the sum carries it to the byte's highest bit.
    const std::uint64_t placed = (word & 0xff) * 0x0101010101010101u & 0x8040201008040201u,
                        bytes = ((placed + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
    __builtin_memcpy(to + n, &bytes, 8);
  }
  for (; n < count; n++, word >>= 1) to[n] = static_cast<std::uint8_t>(word & 1);
#endif
}

/// Is a lane type one of integers?
template <class T>
inline constexpr bool is_whole = std::is_same_v<T, whole16>;

}  // namespace WB_ISA
}  // namespace wb
