#pragma once
// Channel LLRs to messages, and back.
#include <warpband/core/group.hpp>
#include <warpband/core/large_llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/short_lane.hpp>
#include <warpband/fec/ldpc/ldpc_args.hpp>
#include <warpband/fec/ldpc/ldpc_body.hpp>
#include <warpband/fec/quantise/quantise_body.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T>
WB_HD T clamped(T x, float limit) {
  return max(min(x, T(limit)), T(-limit));
}

/// Conversion of as many elements as a float32 lane holds. No message is -0, so a sign bit is a decision.
/// `get` and `put_number` are of numbers of the type's own scale, `llr` makes them LLRs. `sign_mask`: all
/// bits where the number is negative.
template <class T>
struct message_conversion;
template <>
struct message_conversion<lane> {
  WB_HD static void put(const llr_quantiser&, float* p, lane x) {
    put_number(p, clamped(x, min_sum<lane>::limit) + lane(0.f));
  }
  WB_HD static void put_number(float* p, lane x) { store_message<lane>(p, x); }
  WB_HD static lane get(const float* p) { return load_message<lane>(p); }
  WB_HD static typename rebind<lane>::i32 sign_mask(const float* p) { return as_int(get(p)) >> 31; }
  WB_HD static lane extrinsic(lane a, lane channel) { return a - channel; }
  WB_HD static lane llr(const llr_quantiser&, lane x) { return x + lane(0.f); }
};
#if !defined(__CUDACC__)
template <>
struct message_conversion<f16x> {
  WB_HD static void put(const llr_quantiser&, float* p, lane x) {
    put_number(p, to_half(clamped(x, min_sum<f16x>::limit)).x + lane(0.f));
  }
  WB_HD static void put_number(float* p, lane x) { store_message<lane>(p, x); }
  WB_HD static lane get(const float* p) { return load_message<lane>(p); }
  WB_HD static typename rebind<lane>::i32 sign_mask(const float* p) { return as_int(get(p)) >> 31; }
  WB_HD static lane extrinsic(lane a, lane channel) { return to_half(a - channel).x; }
  WB_HD static lane llr(const llr_quantiser&, lane x) { return x + lane(0.f); }
};
#endif
template <>
struct message_conversion<i8x> {
  WB_HD static typename rebind<lane>::i32 whole(const llr_quantiser& quantise, lane x) {
    return quantise(x, min_sum<i8x>::limit);
  }
  WB_HD static void put(const llr_quantiser& quantise, signed char* p, lane x) {
    put_number(p, whole(quantise, x));
  }
  WB_HD static void put_number(signed char* p, lane x) { put_number(p, nearest_integer(x)); }
  WB_HD static void put_number(signed char* p, typename rebind<lane>::i32 y) {
#if WB_WIDTH == 1
    *p = static_cast<signed char>(y);
#else
    typedef signed char bytes __attribute__((vector_size(WB_WIDTH)));
    const bytes b = __builtin_convertvector(y.x, bytes);
    __builtin_memcpy(p, &b, sizeof b);
#endif
  }
  WB_HD static lane get(const signed char* p) {
#if WB_WIDTH == 1
    return to_float(std::int32_t{*p});
#else
    return to_float(load_byte_as_int(p));
#endif
  }
  WB_HD static typename rebind<lane>::i32 sign_mask(const signed char* p) {
#if WB_WIDTH == 1
    return std::int32_t{*p} >> 31;
#else
    return load_byte_as_int(p) >> 31;
#endif
  }
  WB_HD static lane extrinsic(lane a, lane channel) { return a - channel; }
  WB_HD static lane llr(const llr_quantiser& by, lane x) { return x / lane(by.quanta) + lane(0.f); }
};

#if defined(__CUDACC__)
/// What a thread of a CUDA block does with one element.
template <class T>
struct message_of;
template <>
struct message_of<float> {
  WB_HD static float from(const llr_quantiser (&)[1], const float (&x)[1]) {
    return clamped(x[0], min_sum<float>::limit) + 0.f;
  }
  WB_HD static float get(float a, int) { return a; }
  WB_HD static float extrinsic(float a, float channel, int) { return a - channel; }
  WB_HD static std::uint32_t sign_bits(float a) { return as_uint(as_int(a)) >> 31; }
  WB_HD static float llr(const llr_quantiser&, float x) { return x + 0.f; }
};
template <>
struct message_of<f16x> {
  WB_HD static f16x from(const llr_quantiser (&)[2], const float (&x)[2]) {
    constexpr float limit = min_sum<f16x>::limit;
    return sum(to_half(clamped(x[0], limit), clamped(x[1], limit)), to_half(0.f));
  }
  WB_HD static float get(f16x a, int codeword) {
    return codeword == 0 ? __low2float(halves(a)) : __high2float(halves(a));
  }
  WB_HD static float extrinsic(f16x a, f16x channel, int codeword) {
    return get(difference(a, channel), codeword);
  }
  WB_HD static std::uint32_t sign_bits(f16x a) { return (a.x >> 15 & 1u) | (a.x >> 30 & 2u); }
  WB_HD static float llr(const llr_quantiser&, float x) { return x + 0.f; }
};
template <>
struct message_of<i8x> {
  WB_HD static i8x from(const llr_quantiser (&quantise)[1], const float (&x)[1]) {
    return to_int8(quantise[0](x[0], min_sum<i8x>::limit));
  }
  WB_HD static float get(i8x a, int) { return to_float(a.x); }
  WB_HD static float extrinsic(i8x a, i8x channel, int) { return to_float(a.x - channel.x); }
  WB_HD static std::uint32_t sign_bits(i8x a) { return as_uint(a.x) >> 31; }
  WB_HD static float llr(const llr_quantiser& by, float x) { return x / by.quanta + 0.f; }
};
#endif

/// 0, or the status of a codeword that is erased: not all LLRs are finite, or fewer are usable than it has
/// information bits, where the call asks for that.
WB_HD unsigned ldpc_erasure(const ldpc_decode_args& a, bool finite, int usable) {
  if (!finite) return status_erased;
  return !a.takes_any_word && usable < a.n - a.rows * a.z ? status_erased | status_insufficient : 0;
}

}  // namespace WB_ISA
}  // namespace wb
