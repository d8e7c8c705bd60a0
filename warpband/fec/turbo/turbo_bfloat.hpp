#pragma once
// The turbo decoder that computes in float32 and keeps what it stores in bfloat16: log-MAP and max-log-MAP.
//
// A bfloat16 is the upper half of a float32: 8 bits of a weight, or of an LLR in max-log-MAP. That halves the
// memory of what a codeword has on chip, and is far finer than channel estimates are.
#include <warpband/fec/turbo/turbo_bfloat_semirings.hpp>
#include <warpband/fec/turbo/turbo_windows_io.hpp>

namespace wb {
inline namespace WB_ISA {

/// M: max_log_bfloat or log_map_bfloat; T: what it computes with.
template <class M, class T = lane>
struct bfloat_numbers {
  using semiring = M;
  using number = T;
  using word = typename rebind<T>::i32;
#if defined(__CUDACC__)
  using element = std::uint16_t;
#else
  using element = float;  // a bfloat16 all the same: memory is there, and conversions take time
#endif
  using prior_element = element;
  using channel_element = element;
  using metric_element = element;
  static constexpr int lanes = WB_WIDTH, items = 1;
  static constexpr double float_flops = M::channel_flops, step_flops = M::channel_flops + 1;
  // Alpha at the beginning of a segment, cut to bfloat16: by up to 2^-7 of a probability, 0.008 of an LLR; in
  // max-log-MAP of the metric itself.
#if defined(__CUDACC__)
  static constexpr bool on_cuda = true;
  using checkpoint = std::uint32_t;  // two states
  static constexpr int together = 2;
  template <int S>
  WB_HD static void save(checkpoint* to, int stride, const T (&a)[S]) {
    WB_UNROLL for (int s = 0; s < S; s += 2) to[s / 2 * stride] =
        __byte_perm(as_uint(as_int(a[s])), as_uint(as_int(a[s + 1])), 0x7632);
  }
  template <int S>
  WB_HD static void restore(const checkpoint* from, int stride, T (&a)[S]) {
    WB_UNROLL for (int s = 0; s < S; s += 2) {
      const std::uint32_t both = from[s / 2 * stride];
      a[s] = as_float(as_int(both << 16));
      a[s + 1] = as_float(as_int(both & 0xffff0000u));
    }
  }
#else
  static constexpr bool on_cuda = false;
  using checkpoint = T;
  static constexpr int together = 1;
  template <int S>
  WB_HD static void save(checkpoint* to, int stride, const T (&a)[S]) {
    for (int s = 0; s < S; s++) to[s * stride] = as_float(as_int(a[s]) & word(~0xffff));
  }
  template <int S>
  WB_HD static void restore(const checkpoint* from, int stride, T (&a)[S]) {
    for (int s = 0; s < S; s++) a[s] = from[s * stride];
  }
#endif
  static constexpr int resident = 3;  // blocks of a multiprocessor of a GPU

#if defined(__CUDACC__)
  WB_HD static T load(const element* p) { return as_float(static_cast<std::int32_t>(*p) << 16); }
  WB_HD static void store(element* p, T x) {
    *p = static_cast<element>((as_uint(as_int(x)) + 0x8000u) >> 16);
  }
#elif WB_WIDTH == 1
  WB_HD static T load(const element* p) { return *p; }
  WB_HD static void store(element* p, T x) {
    *p = as_float(as_int((as_uint(as_int(x)) + 0x8000u) & 0xffff0000u));
  }
#else
  WB_HD static lane load(const element* p) {
    lane x;
    __builtin_memcpy(&x, p, sizeof x);
    return x;
  }
  WB_HD static void store(element* p, lane x) {
    const lane y = as_float((as_int(x) + word(0x8000)) & word(~0xffff));
    __builtin_memcpy(p, &y, sizeof y);
  }
#endif
  /// What with_decision() gave.
  WB_HD static void store_decision(element* p, T x) {
#if WB_WIDTH > 1
    __builtin_memcpy(p, &x, sizeof x);  // nothing to round
#else
    store(p, x);
#endif
  }
#if WB_WIDTH == 1
  WB_HD static word table_row(const std::int16_t* p) { return *p; }
#else
  typedef std::int16_t shorts __attribute__((vector_size(2 * WB_WIDTH)));
  WB_HD static word table_row(const std::int16_t* p) {
    shorts h;
    __builtin_memcpy(&h, p, sizeof h);
    return word(__builtin_convertvector(h, i32x::v));
  }
  WB_HD static lane permuted(lane x, const std::int16_t* order) {
    return lane(WB_SHUFFLE(x.x, table_row(order).x));
  }
  /// `value` in the lanes with this number modulo `share`, x in the others.
  WB_HD static lane in_lanes(int which, int share, lane value, lane x) {
    const word number = as_int(iota<typename rebind<lane>::u32>()) & word(share - 1);
    return select(number == word(which), value, x);
  }
#endif
  /// The upper half of x, as it lies in memory.
  WB_HD static element upper_half(float x) {
#if defined(__CUDACC__)
    return static_cast<element>(as_uint(as_int(x)) >> 16);
#else
    return as_float(as_int(x) & ~0xffff);
#endif
  }
  /// The 16 bits of an element.
  WB_HD static std::uint32_t bits_of(element x) {
#if defined(__CUDACC__)
    return x;
#else
    return as_uint(as_int(x)) >> 16;
#endif
  }
  /// The weight of no knowledge, as it lies in memory.
  template <class Element>
  WB_HD static Element alone() {
    return upper_half(M::known);
  }
  /// Extrinsic e as the other decoder takes it.
  WB_HD static T passed_on(T e, const turbo_windows_args& a, bool last) {
    return M::passed_on(e, last ? 1.f : a.scale);
  }
  /// e in bfloat16 with the decision of the bit, by all that is known of it, as its lowest bit.
  WB_HD static T with_decision(T e, T posterior) {
    return as_float((as_int(e) & word(~0x1ffff)) | select(M::is_one(posterior), word(0x10000), word(0)));
  }

  WB_HD static word no_bits() { return word(0); }
  /// 1 where a channel's weight says anything, else 0.
  WB_HD static word tells(const element* p) { return select(load(p) == T(M::known), word(0), word(1)); }
  /// All bits as the decision is.
  WB_HD static word decided(const element* p) { return word(0) - ((as_int(load(p)) >> 16) & word(1)); }
  /// The lower 16 bits.
  WB_HD static void store_bits(element* p, word x) { store(p, as_float(x << 16)); }
  WB_HD static std::uint32_t stored_bits(const element* p, int which) { return bits_of(p[which]); }
};

template <class C, class M, class T>
struct turbo_bfloat_weights;
/// M: max_log_bfloat or log_map_bfloat; T: what it computes with.
template <class C, class M, class T = lane>
using turbo_bfloat_io = turbo_windows_io<turbo_bfloat_weights<C, M, T>>;

/// How LLRs become weights in bfloat16, and numbers bits.
template <class C, class M, class T>
struct turbo_bfloat_weights : turbo_windows_setup<C, bfloat_numbers<M, T>> {
  template <class Other>
  using with_semiring = turbo_bfloat_io<C, Other, T>;
  using base = turbo_windows_setup<C, bfloat_numbers<M, T>>;
  using typename base::values;
  using V = bfloat_numbers<M, T>;
  using single = typename V::element;
  using number = std::conditional_t<width_of<T> == 1, T, float>;  // of one codeword
  using base::a;
  using base::base;
  using base::L;
  using base::S;

  struct seen {
    bool finite = true;
    std::int32_t large = 0;
#if WB_WIDTH > 1
    typename V::word large_in_lanes{0};
#endif
  };
  WB_HD void note(const values& w, int q, const seen& s) const {
    if constexpr (base::has_large) {
      std::int32_t large = s.large;
#if WB_WIDTH > 1
      for (int l = 0; l < L; l++) large += s.large_in_lanes.x[l];
#endif
      add_to(w.large(q), large);
    }
  }
  /// A channel LLR.
  WB_HD number llr(std::size_t element, std::size_t item, seen& s) const {
    number x;
    if (a.llr8.data != nullptr) {
      x = to_float(a.llr8.data[element * a.llr8.element_stride + item * a.llr8.item_stride]);
      x = x * number(a.step);
    } else {
      x = finite(a.llr.data[element * a.llr.element_stride + item * a.llr.item_stride], s);
    }
    if constexpr (base::has_large) count_large(s.large, x, M::large_llr, turbo_far_llr);
    return x;
  }
  /// x, or 0 where it is not finite.
  WB_HD static float finite(float x, seen& s) {
    if (is_finite(x)) return x;
    s.finite = false;
    return 0.f;
  }
  WB_HD static single stored(number weight) {
    return V::upper_half(as_float(as_int(as_uint(as_int(weight)) + 0x8000u)));
  }
  WB_HD single weight(std::size_t element, std::size_t item, seen& s) const {
    return stored(M::channel(llr(element, item, s)));
  }

  /// The tail of decoder d of codeword q: its bit j of stream n % 3 comes at place K + n / 3
  /// (TS 36.212 §5.1.3.2.2). Whether its LLRs are finite.
  WB_HD bool load_tail(const values& w, int d, int q, std::size_t item) const {
    number t[6], b[S];
    seen s;
    for (int j = 0; j < 6; j++) {
      const int n = 6 * d + j;
      t[j] = M::channel(llr(static_cast<std::size_t>(n % 3 * (a.k + 4) + a.k + n / 3), item, s));
    }
    beta_of_tail<C, M>(t, b);
    const int share = L / w.layout.codewords;
    single* to = w.tail(q / w.layout.codewords, d) + q % w.layout.codewords * share + share - 1;
    for (int i = 0; i < S; i++) to[i * L] = stored(as_float(as_int(b[i])));
    note(w, q, s);
    return s.finite;
  }

#if defined(__CUDACC__)
  static constexpr int fours = 2;
  struct four {
    float x[4];
  };
  WB_HD four four_weights(std::size_t element, std::size_t item, seen& s) const {
    four r;
    if (a.llr8.data != nullptr) {
      const char4 v = *reinterpret_cast<const char4*>(a.llr8.data + element + item * a.llr8.item_stride);
      r.x[0] = to_float(v.x) * a.step, r.x[1] = to_float(v.y) * a.step;
      r.x[2] = to_float(v.z) * a.step, r.x[3] = to_float(v.w) * a.step;
    } else {
      const float4 v = *reinterpret_cast<const float4*>(a.llr.data + element + item * a.llr.item_stride);
      r.x[0] = finite(v.x, s), r.x[1] = finite(v.y, s), r.x[2] = finite(v.z, s), r.x[3] = finite(v.w, s);
    }
    if constexpr (base::has_large) {
      WB_UNROLL for (int i = 0; i < 4; i++) count_large(s.large, r.x[i], M::large_llr, turbo_far_llr);
    }
    return r;
  }
  WB_HD static single packed_of(const four (&x)[1], int i) { return stored(M::channel(x[0].x[i])); }
  WB_HD static single packed(const single (&x)[1]) { return x[0]; }
#elif WB_WIDTH == 1
  static constexpr int side = 1;
#else
  static constexpr int side = L;
  using row = lane;
  typedef signed char bytes __attribute__((vector_size(WB_WIDTH)));
  WB_HD static void transpose_rows(lane (&x)[L]) { transpose(x); }
  WB_HD lane weights(std::size_t element, std::size_t item, seen& s) const {
    lane x;
    if (a.llr8.data != nullptr) {
      const signed char* p = a.llr8.data + element + item * a.llr8.item_stride;
#if defined(__AVX512F__)  // GCC converts a few at a time
      const i32x::v n =
          (i32x::v)_mm512_maskz_cvtepi8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#else
      bytes b;
      __builtin_memcpy(&b, p, sizeof b);
      const i32x::v n = __builtin_convertvector(b, i32x::v);
#endif
      x = to_float(typename V::word(n)) * lane(a.step);
    } else {
      __builtin_memcpy(&x, a.llr.data + element + item * a.llr.item_stride, sizeof x);
      const auto ok = is_finite(x);
      s.finite = s.finite && all(ok);
      x = select(ok, x, lane(0.f));
    }
    if constexpr (base::has_large) count_large(s.large_in_lanes, x, M::large_llr, turbo_far_llr);
    return M::channel(x);
  }
  WB_HD static void put_weights(single* to, lane x) { V::store(to, x); }
  WB_HD static lane decisions(const single* from, std::uint32_t) { return V::load(from); }
  WB_HD static void put_decisions(std::uint8_t* to, lane x, std::uint32_t kept) {
    const auto bits = as_int(x) >> 16 & typename V::word(as_int(kept));
    const bytes b = __builtin_convertvector(bits.x, bytes);
    __builtin_memcpy(to, &b, sizeof b);
  }
#endif
};

}  // namespace WB_ISA
}  // namespace wb
