#pragma once
// Lane types: one value of type T holds one number of each of `width_of<T>` independent problems.
//
// Kernel sources are compiled once per instruction set. WB_ISA names the build (scalar, base, avx2, avx512,
// neon, cuda) and WB_WIDTH is the number of float lanes. Bodies are written over T and see `float` (scalar,
// or one CUDA thread) or `f32x`. Intrinsics live in this file and nowhere else in core.
//
// Equal bits on every build rest on the definitions here: fma is correctly rounded everywhere, max and min
// have one definition, and no approximate instruction is used.
#include <cstddef>
#include <cstdint>

#if !defined(WB_ISA) || !defined(WB_WIDTH)
#error "lane.hpp needs WB_ISA and WB_WIDTH: only *_kernels.cpp may include it"
#endif

#if defined(__CUDACC__)
#define WB_HD __device__ __forceinline__
#define WB_HD_CALL __device__ __forceinline__
#define WB_UNROLL _Pragma("unroll")
#define WB_UNROLL_ON_DEVICE _Pragma("unroll")
#define WB_ROLL _Pragma("unroll 1")
#define WB_INLINE_LAMBDA
#else
#define WB_HD inline __attribute__((always_inline))
#define WB_HD_CALL inline __attribute__((noinline))  // long pieces that several bodies or places share
#define WB_UNROLL _Pragma("GCC unroll 64")
#define WB_UNROLL_ON_DEVICE _Pragma("GCC unroll 1")  // long bodies: unrolled they take minutes to compile
#define WB_ROLL _Pragma("GCC unroll 1")
#define WB_INLINE_LAMBDA __attribute__((always_inline))
#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__x86_64__)
#include <emmintrin.h>  // all of them would take 0.7 s to read, in every kernel source
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#endif

namespace wb {
inline namespace WB_ISA {

// ---------------------------------------------------------------- one problem: float, int32, uint32, bool

WB_HD std::int32_t as_int(float x) { return __builtin_bit_cast(std::int32_t, x); }
WB_HD float as_float(std::int32_t x) { return __builtin_bit_cast(float, x); }
WB_HD std::uint32_t as_uint(std::int32_t x) { return static_cast<std::uint32_t>(x); }
WB_HD std::int32_t as_int(std::uint32_t x) { return static_cast<std::int32_t>(x); }
WB_HD float to_float(std::int32_t x) { return static_cast<float>(x); }

/// a * b + c, rounded once.
#if defined(__CUDACC__)
WB_HD float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
#elif defined(__FMA__) || defined(__aarch64__)
WB_HD float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
/// Without the instruction a call: bodies have hundreds of them, which in line take minutes to compile.
inline __attribute__((noinline)) float fma(float a, float b, float c) {
  // The product is exact in double; the sum is rounded to odd, after which rounding to float is exact
  // (S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
  const double p = static_cast<double>(a) * b, q = c, s = p + q, t = s - p;
  const double e = (p - (s - t)) + (q - t);
  std::int64_t bits = __builtin_bit_cast(std::int64_t, s);
  if ((e < 0 || e > 0) && (bits & 1) == 0) bits += ((e > 0) == (s > 0)) ? 1 : -1;
  return static_cast<float>(__builtin_bit_cast(double, bits));
}
#endif
/// c - a * b, rounded once.
WB_HD float fnma(float a, float b, float c) { return fma(-a, b, c); }
/// The larger of two numbers that are not NaN. Which of two zeros is open: stores add +0.
WB_HD float max(float a, float b) {
#if defined(__CUDACC__)
  return ::fmaxf(a, b);
#else
  return a > b ? a : b;
#endif
}
WB_HD float min(float a, float b) {
#if defined(__CUDACC__)
  return ::fminf(a, b);
#else
  return a < b ? a : b;
#endif
}
WB_HD float sqrt(float a) {
#if defined(__CUDACC__)
  return __fsqrt_rn(a);
#else
  return __builtin_sqrtf(a);
#endif
}
WB_HD float abs(float a) { return as_float(as_int(a) & 0x7fffffff); }
/// Limits to [0, 1].
WB_HD float unit_clamp(float a) {
#if defined(__CUDACC__)
  return __saturatef(a);
#else
  return min(max(a, 0.f), 1.f);
#endif
}
WB_HD float select(bool m, float a, float b) { return m ? a : b; }
WB_HD std::int32_t select(bool m, std::int32_t a, std::int32_t b) { return m ? a : b; }
WB_HD std::uint32_t select(bool m, std::uint32_t a, std::uint32_t b) { return m ? a : b; }
/// The smaller of a and b where a bit of `word` is set, else a.
WB_HD float min_where(std::int32_t word, std::int32_t bit, float a, float b) {
#if defined(__CUDACC__)
  asm("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p min.f32 %0, %0, %1; }" : "+f"(a) : "f"(b), "r"(word & bit));
  return a;
#else
  return (word & bit) != 0 ? min(a, b) : a;
#endif
}
WB_HD bool any(bool m) { return m; }
WB_HD bool all(bool m) { return m; }
/// x shifted right by n (0..31), lane by lane.
WB_HD std::uint32_t shift_right(std::uint32_t x, std::uint32_t n) { return x >> n; }
/// High 32 bits of the unsigned product.
WB_HD std::uint32_t mulhi(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDACC__)
  return __umulhi(a, b);
#else
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a) * b) >> 32);
#endif
}

/// Types that go with a lane type.
template <class T>
struct rebind {
  using i32 = std::int32_t;
  using u32 = std::uint32_t;
  using mask = bool;
  static constexpr int width = 1;
};
/// 0, 1, ... width - 1.
template <class U>
WB_HD U iota();
template <>
WB_HD std::uint32_t iota<std::uint32_t>() {
  return 0;
}

#if WB_WIDTH > 1
// ------------------------------------------------------------ WB_WIDTH problems in compiler vector types

struct m32x {
  typedef std::int32_t v __attribute__((vector_size(WB_WIDTH * 4)));
  v x;  // all ones where true
  friend WB_HD m32x operator&(m32x a, m32x b) { return {a.x & b.x}; }
  friend WB_HD m32x operator|(m32x a, m32x b) { return {a.x | b.x}; }
  friend WB_HD m32x operator!(m32x a) { return {~a.x}; }
};
struct i32x {
  typedef std::int32_t v __attribute__((vector_size(WB_WIDTH * 4)));
  v x;
  i32x() = default;
  WB_HD i32x(v a) : x(a) {}
  WB_HD i32x(std::int32_t a) : x(a - v{}) {}
  friend WB_HD i32x operator+(i32x a, i32x b) { return a.x + b.x; }
  friend WB_HD i32x operator-(i32x a, i32x b) { return a.x - b.x; }
  friend WB_HD i32x operator*(i32x a, i32x b) { return a.x * b.x; }
  friend WB_HD i32x operator&(i32x a, i32x b) { return a.x & b.x; }
  friend WB_HD i32x operator|(i32x a, i32x b) { return a.x | b.x; }
  friend WB_HD i32x operator^(i32x a, i32x b) { return a.x ^ b.x; }
  friend WB_HD i32x operator<<(i32x a, int n) { return a.x << n; }
  friend WB_HD i32x operator>>(i32x a, int n) { return a.x >> n; }
  friend WB_HD m32x operator==(i32x a, i32x b) { return {a.x == b.x}; }
  friend WB_HD m32x operator!=(i32x a, i32x b) { return {a.x != b.x}; }
  friend WB_HD m32x operator<(i32x a, i32x b) { return {a.x < b.x}; }
};
struct u32x {
  typedef std::uint32_t v __attribute__((vector_size(WB_WIDTH * 4)));
  v x;
  u32x() = default;
  WB_HD u32x(v a) : x(a) {}
  WB_HD u32x(std::uint32_t a) : x(a - v{}) {}
  friend WB_HD u32x operator+(u32x a, u32x b) { return a.x + b.x; }
  friend WB_HD u32x operator-(u32x a, u32x b) { return a.x - b.x; }
  friend WB_HD u32x operator*(u32x a, u32x b) { return a.x * b.x; }
  friend WB_HD u32x operator&(u32x a, u32x b) { return a.x & b.x; }
  friend WB_HD u32x operator^(u32x a, u32x b) { return a.x ^ b.x; }
  friend WB_HD u32x operator<<(u32x a, int n) { return a.x << n; }
  friend WB_HD u32x operator>>(u32x a, int n) { return a.x >> n; }
  friend WB_HD m32x operator<(u32x a, u32x b) { return {a.x < b.x}; }
};
struct f32x {
  typedef float v __attribute__((vector_size(WB_WIDTH * 4)));
  v x;
  f32x() = default;
  WB_HD f32x(v a) : x(a) {}
  WB_HD f32x(float a) : x(a - v{}) {}
  friend WB_HD f32x operator+(f32x a, f32x b) { return a.x + b.x; }
  friend WB_HD f32x operator-(f32x a, f32x b) { return a.x - b.x; }
  friend WB_HD f32x operator-(f32x a) { return -a.x; }
  friend WB_HD f32x operator*(f32x a, f32x b) { return a.x * b.x; }
  friend WB_HD f32x operator/(f32x a, f32x b) { return a.x / b.x; }
  friend WB_HD m32x operator<(f32x a, f32x b) { return {a.x < b.x}; }
  friend WB_HD m32x operator>(f32x a, f32x b) { return {a.x > b.x}; }
  friend WB_HD m32x operator<=(f32x a, f32x b) { return {a.x <= b.x}; }
  friend WB_HD m32x operator>=(f32x a, f32x b) { return {a.x >= b.x}; }
  friend WB_HD m32x operator==(f32x a, f32x b) { return {a.x == b.x}; }
  friend WB_HD m32x operator!=(f32x a, f32x b) { return {a.x != b.x}; }
};

WB_HD i32x as_int(f32x a) { return (i32x::v)a.x; }
WB_HD f32x as_float(i32x a) { return (f32x::v)a.x; }
WB_HD u32x as_uint(i32x a) { return (u32x::v)a.x; }
WB_HD i32x as_int(u32x a) { return (i32x::v)a.x; }
WB_HD u32x shift_right(u32x x, u32x n) { return x.x >> n.x; }
WB_HD f32x to_float(i32x a) { return __builtin_convertvector(a.x, f32x::v); }
WB_HD f32x abs(f32x a) { return as_float(as_int(a) & i32x(0x7fffffff)); }
WB_HD f32x select(m32x m, f32x a, f32x b) { return f32x::v(m.x ? a.x : b.x); }
WB_HD i32x select(m32x m, i32x a, i32x b) { return i32x::v(m.x ? a.x : b.x); }
WB_HD u32x select(m32x m, u32x a, u32x b) { return u32x::v(m.x ? a.x : b.x); }

/// WB_SHUFFLE(a, lanes), WB_SHUFFLE(a, b, lanes): lane i of the result is lane lanes[i] of a, or of a and b
/// side by side.
#if defined(__clang__)  // its built-in function takes constants only; it recognises them in these loops
#define WB_SHUFFLE shuffle_of_lanes
template <class V, class Lanes>
WB_HD V shuffle_of_lanes(V a, Lanes lanes) {
  constexpr int width = sizeof(lanes) / sizeof(lanes[0]);
  V r;
  WB_UNROLL for (int i = 0; i < width; i++) r[i] = a[lanes[i] & (width - 1)];
  return r;
}
template <class V, class Lanes>
WB_HD V shuffle_of_lanes(V a, V b, Lanes lanes) {
  constexpr int width = sizeof(lanes) / sizeof(lanes[0]);
  V r;
  WB_UNROLL for (int i = 0; i < width; i++) {
    const int from = lanes[i] & (width - 1);
    r[i] = (lanes[i] & width) != 0 ? b[from] : a[from];
  }
  return r;
}
#else
#define WB_SHUFFLE __builtin_shuffle  // through a function GCC schedules some kernels otherwise
#endif

#if defined(__AVX512F__) && WB_WIDTH == 16
// The masked forms: GCC 12 warns of an uninitialised source in the others.
WB_HD f32x max(f32x a, f32x b) {
  return (f32x::v)_mm512_mask_max_ps((__m512)a.x, __mmask16(-1), (__m512)a.x, (__m512)b.x);
}
WB_HD f32x min(f32x a, f32x b) {
  return (f32x::v)_mm512_mask_min_ps((__m512)a.x, __mmask16(-1), (__m512)a.x, (__m512)b.x);
}
WB_HD f32x sqrt(f32x a) { return (f32x::v)_mm512_mask_sqrt_ps((__m512)a.x, __mmask16(-1), (__m512)a.x); }
WB_HD f32x fma(f32x a, f32x b, f32x c) {
  return (f32x::v)_mm512_fmadd_ps((__m512)a.x, (__m512)b.x, (__m512)c.x);
}
WB_HD bool any(m32x m) { return _mm512_test_epi32_mask((__m512i)m.x, (__m512i)m.x) != 0; }
WB_HD u32x mulhi(u32x a, u32x b) {
  const __m512i x = (__m512i)a.x, y = (__m512i)b.x, z = _mm512_setzero_si512();
  const __m512i even = _mm512_maskz_mul_epu32(__mmask8(-1), x, y);
  const __m512i odd = _mm512_maskz_mul_epu32(__mmask8(-1), _mm512_mask_srli_epi64(z, __mmask8(-1), x, 32),
                                             _mm512_mask_srli_epi64(z, __mmask8(-1), y, 32));
  return (u32x::v)_mm512_mask_blend_epi32(0xaaaa, _mm512_mask_srli_epi64(z, __mmask8(-1), even, 32), odd);
}
#elif defined(__AVX2__) && WB_WIDTH == 8
WB_HD f32x max(f32x a, f32x b) { return (f32x::v)_mm256_max_ps((__m256)a.x, (__m256)b.x); }
WB_HD f32x min(f32x a, f32x b) { return (f32x::v)_mm256_min_ps((__m256)a.x, (__m256)b.x); }
WB_HD f32x sqrt(f32x a) { return (f32x::v)_mm256_sqrt_ps((__m256)a.x); }
WB_HD f32x fma(f32x a, f32x b, f32x c) {
  return (f32x::v)_mm256_fmadd_ps((__m256)a.x, (__m256)b.x, (__m256)c.x);
}
WB_HD bool any(m32x m) { return _mm256_movemask_ps((__m256)m.x) != 0; }
WB_HD u32x mulhi(u32x a, u32x b) {
  const __m256i even = _mm256_mul_epu32((__m256i)a.x, (__m256i)b.x);
  const __m256i odd =
      _mm256_mul_epu32(_mm256_srli_epi64((__m256i)a.x, 32), _mm256_srli_epi64((__m256i)b.x, 32));
  return (u32x::v)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}
#elif defined(__SSE2__) && WB_WIDTH == 4
WB_HD f32x max(f32x a, f32x b) { return (f32x::v)_mm_max_ps((__m128)a.x, (__m128)b.x); }
WB_HD f32x min(f32x a, f32x b) { return (f32x::v)_mm_min_ps((__m128)a.x, (__m128)b.x); }
WB_HD f32x sqrt(f32x a) { return (f32x::v)_mm_sqrt_ps((__m128)a.x); }
WB_HD bool any(m32x m) { return _mm_movemask_ps((__m128)m.x) != 0; }
WB_HD u32x mulhi(u32x a, u32x b) {
  const __m128i even = _mm_mul_epu32((__m128i)a.x, (__m128i)b.x);
  const __m128i odd = _mm_mul_epu32(_mm_srli_epi64((__m128i)a.x, 32), _mm_srli_epi64((__m128i)b.x, 32));
  const __m128i high = _mm_set_epi32(-1, 0, -1, 0);
  return (u32x::v)_mm_or_si128(_mm_srli_epi64(even, 32), _mm_and_si128(odd, high));
}
// Baseline x86-64 has no fused multiply-add: the scalar one above, two lanes at a time.
WB_HD __m128 fma_pair(__m128 a, __m128 b, __m128 c) {
  const __m128d q = _mm_cvtps_pd(c), p = _mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b));
  const __m128d s = _mm_add_pd(p, q), t = _mm_sub_pd(s, p), z = _mm_setzero_pd();
  const __m128d e = _mm_add_pd(_mm_sub_pd(p, _mm_sub_pd(s, t)), _mm_sub_pd(q, t));
  const __m128i bits = _mm_castpd_si128(s), one = _mm_set1_epi64x(1);
  const __m128i differ = _mm_srli_epi64(_mm_castpd_si128(_mm_xor_pd(e, s)), 63);  // 1: error points to zero
  const __m128i step = _mm_sub_epi64(one, _mm_slli_epi64(differ, 1));
  const __m128i even = _mm_sub_epi64(_mm_setzero_si128(), _mm_andnot_si128(bits, one));
  const __m128i inexact = _mm_castpd_si128(_mm_or_pd(_mm_cmplt_pd(e, z), _mm_cmpgt_pd(e, z)));
  const __m128i odd = _mm_add_epi64(bits, _mm_and_si128(step, _mm_and_si128(even, inexact)));
  return _mm_cvtpd_ps(_mm_castsi128_pd(odd));
}
inline __attribute__((noinline)) f32x fma(f32x a, f32x b, f32x c) {
  const __m128 x = (__m128)a.x, y = (__m128)b.x, w = (__m128)c.x;
  const __m128 high = fma_pair(_mm_movehl_ps(x, x), _mm_movehl_ps(y, y), _mm_movehl_ps(w, w));
  return (f32x::v)_mm_movelh_ps(fma_pair(x, y, w), high);
}
#elif defined(__aarch64__) && WB_WIDTH == 4
WB_HD f32x max(f32x a, f32x b) { return (f32x::v)vmaxq_f32((float32x4_t)a.x, (float32x4_t)b.x); }
WB_HD f32x min(f32x a, f32x b) { return (f32x::v)vminq_f32((float32x4_t)a.x, (float32x4_t)b.x); }
WB_HD f32x sqrt(f32x a) { return (f32x::v)vsqrtq_f32((float32x4_t)a.x); }
WB_HD f32x fma(f32x a, f32x b, f32x c) {
  return (f32x::v)vfmaq_f32((float32x4_t)c.x, (float32x4_t)a.x, (float32x4_t)b.x);
}
WB_HD bool any(m32x m) { return vmaxvq_u32((uint32x4_t)m.x) != 0; }
WB_HD u32x mulhi(u32x a, u32x b) {
  const uint32x4_t x = (uint32x4_t)a.x, y = (uint32x4_t)b.x;
  const uint32x2_t low = vshrn_n_u64(vmull_u32(vget_low_u32(x), vget_low_u32(y)), 32);
  const uint32x2_t high = vshrn_n_u64(vmull_high_u32(x, y), 32);
  return (u32x::v)vcombine_u32(low, high);
}
#else
#error "no lane type of this width for this instruction set"
#endif
#if defined(__AVX512F__) && WB_WIDTH == 16
WB_HD f32x fnma(f32x a, f32x b, f32x c) {
  return (f32x::v)_mm512_fnmadd_ps((__m512)a.x, (__m512)b.x, (__m512)c.x);
}
#elif defined(__AVX2__) && WB_WIDTH == 8
WB_HD f32x fnma(f32x a, f32x b, f32x c) {
  return (f32x::v)_mm256_fnmadd_ps((__m256)a.x, (__m256)b.x, (__m256)c.x);
}
#else
WB_HD f32x fnma(f32x a, f32x b, f32x c) { return fma(-a, b, c); }
#endif
WB_HD f32x unit_clamp(f32x a) { return min(max(a, f32x(0.f)), f32x(1.f)); }
WB_HD f32x min_where(i32x word, i32x bit, f32x a, f32x b) {
  return select((word & bit) != i32x(0), min(a, b), a);
}
/// Consecutive bytes, zero-extended.
WB_HD i32x load_bytes(const unsigned char* p) {
  typedef unsigned char bytes __attribute__((vector_size(WB_WIDTH)));
  bytes x;
  __builtin_memcpy(&x, p, sizeof x);
  return __builtin_convertvector(x, i32x::v);
}
WB_HD bool all(m32x m) { return !any(!m); }

template <>
struct rebind<f32x> {
  using i32 = i32x;
  using u32 = u32x;
  using mask = m32x;
  static constexpr int width = WB_WIDTH;
};
template <>
WB_HD u32x iota<u32x>() {
  u32x r;
  WB_UNROLL for (int i = 0; i < WB_WIDTH; i++) r.x[i] = static_cast<std::uint32_t>(i);
  return r;
}
using lane = f32x;
#else
using lane = float;
#endif

template <class T>
inline constexpr int width_of = rebind<T>::width;
inline constexpr int log2_width = WB_WIDTH == 16 ? 4 : WB_WIDTH == 8 ? 3 : WB_WIDTH == 4 ? 2 : 0;

/// Float nearest to an unsigned integer: both halves convert exactly, so the sum rounds once.
template <class T>
WB_HD T unsigned_to_float(typename rebind<T>::u32 x) {
  return to_float(as_int(x >> 16)) * T(65536.f) + to_float(as_int(x & typename rebind<T>::u32(0xffffu)));
}
/// Neither infinite nor NaN.
template <class T>
WB_HD typename rebind<T>::mask is_finite(T x) {
  using I = typename rebind<T>::i32;
  return (as_int(x) & I(0x7f800000)) != I(0x7f800000);
}
template <class M>
WB_HD M mask_from(bool b);
template <>
WB_HD bool mask_from<bool>(bool b) {
  return b;
}
#if WB_WIDTH > 1
template <>
WB_HD m32x mask_from<m32x>(bool b) {
  return {i32x(b ? -1 : 0).x};
}
#endif

}  // namespace WB_ISA
}  // namespace wb
