#pragma once
// The turbo decoder that computes in float32 and keeps what it stores in bfloat16: log-MAP and max-log-MAP.
//
// A bfloat16 is the upper half of a float32: 8 bits of a weight, or of an LLR in max-log-MAP. That halves the
// memory of what a codeword has on chip, and is far finer than channel estimates are.
#include <warpband/core/math.hpp>
#include <warpband/fec/turbo/turbo_body.hpp>
#include <warpband/fec/turbo/turbo_windows_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// The semiring (max, +), and what of it is the windows' own.
struct max_log_bfloat : max_log {
  static constexpr int interval = 8;
  static constexpr double forward_flops = 21, backward_flops = 24, output_flops = 31, normalise_flops = 8,
                          passed_on_flops = 1, decision_flops = 0, channel_flops = 3;
  static constexpr float known = 0.f;  // a weight that says nothing
#if defined(__FMA__) && WB_WIDTH > 1
  // Maxima and additions share units of some processors (AMD Zen), which multiply and add in others: of the
  // sums about half are products with one, of the same bits.
  template <class T>
  WB_HD static T times(T a, T b) {
    if constexpr (width_of<T> == 1) {
      return a + b;
    } else {
      T one(1.f);
      asm("" : "+v"(one.x));  // a compiler that knows it adds
      return fma(a, one, b);
    }
  }
  template <class T>
  WB_HD static T times_parity(T a, T w) {
    return a + w;
  }
  template <class T>
  WB_HD static T accumulate(T sum, T a, T w) {
    return max(sum, times(a, w));
  }
#endif
  template <class T>
  WB_HD static T channel(T llr) {
    return weight(llr);
  }
  template <class T>
  WB_HD static T passed_on(T e, float scale) {
    return e * T(scale);
  }
  template <class T>
  WB_HD static typename rebind<T>::mask is_one(T all) {
    return all > T(0.f);
  }
};

/// The semiring (+, *) on probabilities, without a floor: metrics are scaled every second step, by the
/// exponent of their sum. Channel weights up to e^11, extrinsics up to e^18: in two steps a metric grows by
/// less than 2^118, and the product of alpha, which has gone as many steps since as beta has not, and beta by
/// less than 2^80. What underflows is of a path that no decision needs.
struct log_map_bfloat : log_map {
  using of_large_llrs = max_star_of<max_log_bfloat>;
  static constexpr int interval = 2;
  static constexpr double forward_flops = 15, backward_flops = 16, output_flops = 23, normalise_flops = 15,
                          passed_on_flops = 2, decision_flops = 0, channel_flops = 17;
  static constexpr float known = 1.f;
  static constexpr float channel_limit = 11.f;
  static constexpr float most_extrinsic = 65659969.1f, least_extrinsic = 1.52299797e-8f;  // e^18, e^-18
  static constexpr float tiny = 8.07793567e-28f;                                          // 2^-90
  template <class T>
  WB_HD static T zero() {
    return T(0.f);
  }
  template <class T>
  WB_HD static T channel(T llr) {
    return exp(saturate(T(0.f) - llr, channel_limit));
  }
  /// Never 0 / 0. The reciprocal by two Newton steps is good to 2^-12, a bfloat16 to 2^-9.
  template <class T>
  WB_HD static T ratio(T one, T zero) {
    using I = typename rebind<T>::i32;
    const T z = zero + T(tiny);
    T r = as_float(I(0x7ef311c7) - as_int(z));
    r = fma(r, fnma(z, r, T(1.f)), r);
    r = fma(r, fnma(z, r, T(1.f)), r);
    return (one + T(tiny)) * r;
  }
  template <class T>
  WB_HD static T passed_on(T e, float) {
    return max(min(e, T(most_extrinsic)), T(least_extrinsic));
  }
  template <class T>
  WB_HD static typename rebind<T>::mask is_one(T all) {
    return all > T(1.f);
  }
  template <int S, class T>
  WB_HD static void normalise_step(T (&)[S]) {}
  template <int S, class T>
  WB_HD static void normalise_segment(T (&a)[S]) {
    using I = typename rebind<T>::i32;
    T sum[S];
    WB_UNROLL for (int s = 0; s < S; s++) sum[s] = a[s];
    WB_UNROLL for (int n = S / 2; n > 0; n /= 2) {
      WB_UNROLL for (int s = 0; s < n; s++) sum[s] = sum[s] + sum[s + n];
    }
    const T r = as_float(I(0x7f000000) - (as_int(sum[0]) & I(0x7f800000)));  // 2^-exponent(sum)
    WB_UNROLL for (int s = 0; s < S; s++) a[s] = a[s] * r;
  }
};

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
  WB_HD static lane permuted(lane x, const std::int16_t* at) {
    return lane(__builtin_shuffle(x.x, table_row(at).x));
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
  WB_HD static T with_decision(T e, T all) {
    return as_float((as_int(e) & word(~0x1ffff)) | select(M::is_one(all), word(0x10000), word(0)));
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

/// How channel LLRs come in, and decisions out.
template <class C, class M, class T = lane>
struct turbo_bfloat_io : turbo_windows_setup<C, bfloat_numbers<M, T>> {
  template <class Other>
  using with_semiring = turbo_bfloat_io<C, Other, T>;
  using base = turbo_windows_setup<C, bfloat_numbers<M, T>>;
  using typename base::values;
  using V = bfloat_numbers<M, T>;
  using element_type = typename V::element;
  using single = std::conditional_t<width_of<T> == 1, T, float>;  // of one codeword
  using base::a;
  using base::L;
  using base::plan;
  using base::S;
  using base::turbo_windows_setup;

  /// Of a part of a codeword's LLRs: whether all are finite, and how many are large.
  struct seen {
    bool finite = true;
    std::int32_t large = 0;
  };
  /// A channel LLR.
  WB_HD single llr(std::size_t element, std::size_t item, seen& s) const {
    single x;
    if (a.llr8.data != nullptr) {
      x = to_float(a.llr8.data[element * a.llr8.element_stride + item * a.llr8.item_stride]);
      x = x * single(a.step);
    } else {
      x = finite(a.llr.data[element * a.llr.element_stride + item * a.llr.item_stride], s);
    }
    if constexpr (base::has_large) s.large += is_large(x, M::large_llr);
    return x;
  }
  /// x, or 0 where it is not finite.
  WB_HD static float finite(float x, seen& s) {
    if (is_finite(x)) return x;
    s.finite = false;
    return 0.f;
  }
  WB_HD void add_large(const values& w, int q, std::int32_t large) const {
    if constexpr (base::has_large) add_to(w.large(q), large);
  }
  WB_HD static element_type stored(single weight) {
    return V::upper_half(as_float(as_int(as_uint(as_int(weight)) + 0x8000u)));
  }

  /// The tail of decoder d of codeword q: its bit j of stream n % 3 comes at place K + n / 3
  /// (TS 36.212 §5.1.3.2.2). Whether its LLRs are finite.
  WB_HD bool load_tail(const values& w, int d, int q, std::size_t item) const {
    single t[6], b[S];
    seen s;
    for (int j = 0; j < 6; j++) {
      const int n = 6 * d + j;
      t[j] = M::channel(llr(static_cast<std::size_t>(n % 3 * (a.k + 4) + a.k + n / 3), item, s));
    }
    beta_of_tail<C, M>(t, b);
    const int share = L / w.at.codewords;
    element_type* to = w.tail(q / w.at.codewords, d) + q % w.at.codewords * share + share - 1;
    for (int i = 0; i < S; i++) to[i * L] = stored(as_float(as_int(b[i])));
    add_large(w, q, s.large);
    return s.finite;
  }

#if defined(__CUDACC__)
  /// Whether four neighbouring values of a column lie in a word, wherever it begins.
  template <class E>
  WB_HD bool in_words(const view<E>& v) const {
    return plan.steps % 4 == 0 && v.element_stride == 1 && v.item_stride % 4 == 0 &&
           reinterpret_cast<std::uintptr_t>(v.data) % (4 * sizeof(E)) == 0;
  }
  WB_HD void four_llrs(std::size_t element, std::size_t item, seen& s, float (&x)[4]) const {
    if (a.llr8.data != nullptr) {
      const char4 v = *reinterpret_cast<const char4*>(a.llr8.data + element + item * a.llr8.item_stride);
      x[0] = to_float(v.x) * a.step, x[1] = to_float(v.y) * a.step;
      x[2] = to_float(v.z) * a.step, x[3] = to_float(v.w) * a.step;
    } else {
      const float4 v = *reinterpret_cast<const float4*>(a.llr.data + element + item * a.llr.item_stride);
      x[0] = finite(v.x, s), x[1] = finite(v.y, s), x[2] = finite(v.z, s), x[3] = finite(v.w, s);
    }
    if constexpr (base::has_large) {
      WB_UNROLL for (int i = 0; i < 4; i++) s.large += is_large(x[i], M::large_llr);
    }
  }
  /// A thread loads and stores its own columns.
  template <class G>
  WB_HD void load_stream(const values& w, int stream, std::size_t first, int items, std::int32_t* erased,
                         G g) const {
    const bool words = a.llr8.data != nullptr ? in_words(a.llr8) : in_words(a.llr);
    for (int u = g.rank; u < plan.columns; u += g.size) {
      const int q = u / w.at.vectors, v = u % w.at.vectors;
      element_type* to = (stream == 0 ? w.systematic(q) : w.parity(q, stream - 1)) + v;
      const std::size_t item = first + static_cast<std::size_t>(q < items ? q : 0);
      const std::size_t begin = static_cast<std::size_t>(stream * (a.k + 4) + v * plan.steps);
      seen s;
      if (words) {
        _Pragma("unroll 2") for (int j = 0; j < plan.steps; j += 4) {
          float x[4];
          four_llrs(begin + static_cast<std::size_t>(j), item, s, x);
          WB_UNROLL for (int i = 0; i < 4; i++) to[(j + i) * w.at.stride] = stored(M::channel(x[i]));
        }
      } else {
        for (int j = 0; j < plan.steps; j++)
          to[j * w.at.stride] = stored(M::channel(llr(begin + static_cast<std::size_t>(j), item, s)));
      }
      if (!s.finite) set_flag(erased + q);
      add_large(w, q, s.large);
    }
  }
  template <class G>
  WB_HD void store_bits(const values& w, std::size_t first, int items, const std::int32_t* erased,
                        const std::int32_t* leaving, G g) const {
    const bool words = in_words(a.bits);
    for (int u = g.rank; u < plan.columns; u += g.size) {
      const int q = u / w.at.vectors, v = u % w.at.vectors;
      if (q >= items || leaving[q] == 0) continue;
      const element_type* from = w.prior(q) + v;
      const std::uint32_t kept = erased[q] != 0 ? 0u : 1u;
      std::uint8_t* to = a.bits.data + (first + static_cast<std::size_t>(q)) * a.bits.item_stride +
                         static_cast<std::size_t>(v * plan.steps) * a.bits.element_stride;
      if (words) {
        _Pragma("unroll 4") for (int j = 0; j < plan.steps; j += 4) {
          std::uint32_t word = 0;
          WB_UNROLL for (int i = 0; i < 4; i++) word |= (from[(j + i) * w.at.stride] & kept) << 8 * i;
          *reinterpret_cast<std::uint32_t*>(to + j) = word;
        }
      } else {
        for (int j = 0; j < plan.steps; j++)
          to[static_cast<std::size_t>(j) * a.bits.element_stride] =
              static_cast<std::uint8_t>(from[j * w.at.stride] & kept);
      }
    }
  }
#else
#if WB_WIDTH > 1
  typedef signed char bytes __attribute__((vector_size(WB_WIDTH)));
  /// The channel weights of WB_WIDTH neighbouring LLRs; `large` counts in its lanes.
  WB_HD lane neighbours(std::size_t element, std::size_t item, bool& finite, typename V::word& large) const {
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
      finite = finite && all(ok);
      x = select(ok, x, lane(0.f));
    }
    if constexpr (base::has_large) large = large + is_large(x, M::large_llr);
    return M::channel(x);
  }
#endif
  template <class G>
  WB_HD void load_stream(const values& w, int stream, std::size_t first, int items, std::int32_t* erased,
                         G) const {
    element_type* to = stream == 0 ? w.systematic(0) : w.parity(0, stream - 1);
    const int vectors = w.at.vectors, W = plan.steps, share = L / w.at.codewords, stride = w.at.stride;
    for (int q = 0; q < plan.codewords; q++) {
      const std::size_t item = first + static_cast<std::size_t>(q < items ? q : 0);
      seen s;
      const std::size_t begin = static_cast<std::size_t>(stream * (a.k + 4));
#if WB_WIDTH > 1
      const std::size_t apart = a.llr8.data != nullptr ? a.llr8.element_stride : a.llr.element_stride;
      if (share == L && W >= L && apart == 1) {
        typename V::word large(0);
        for (int v = 0; v < vectors; v++)
          for (int j = 0; j < W; j += L) {
            const int from = j + L <= W ? j : W - L;
            lane x[L];
            WB_UNROLL for (int l = 0; l < L; l++) x[l] = neighbours(
                begin + static_cast<std::size_t>((v + vectors * l) * W + from), item, s.finite, large);
            transpose(x);
            WB_UNROLL for (int i = 0; i < L; i++) V::store(to + (from + i) * stride + v * L, x[i]);
          }
        for (int l = 0; l < L; l++) s.large += large.x[l];
        if (!s.finite) erased[q] = 1;
        add_large(w, q, s.large);
        continue;
      }
#endif
      for (int n = 0; n < a.windows; n++)
        for (int j = 0; j < W; j++)
          to[j * stride + n % vectors * L + q * share + n / vectors] =
              stored(M::channel(llr(begin + static_cast<std::size_t>(n * W + j), item, s)));
      if (!s.finite) erased[q] = 1;
      add_large(w, q, s.large);
    }
  }
  template <class G>
  WB_HD void store_bits(const values& w, std::size_t first, int items, const std::int32_t* erased,
                        const std::int32_t* leaving, G) const {
    const int vectors = w.at.vectors, W = plan.steps, share = L / w.at.codewords, stride = w.at.stride;
    for (int q = 0; q < items; q++) {
      if (leaving[q] == 0) continue;
      const std::uint32_t kept = erased[q] != 0 ? 0 : 1;
      std::uint8_t* to = a.bits.data + (first + static_cast<std::size_t>(q)) * a.bits.item_stride;
#if WB_WIDTH > 1
      if (share == L && W >= L && a.bits.element_stride == 1) {
        for (int v = 0; v < vectors; v++)
          for (int j = 0; j < W; j += L) {
            const int from = j + L <= W ? j : W - L;
            lane x[L];
            WB_UNROLL for (int i = 0; i < L; i++) x[i] = V::load(w.prior(0) + (from + i) * stride + v * L);
            transpose(x);
            WB_UNROLL for (int l = 0; l < L; l++) {
              const auto bits = as_int(x[l]) >> 16 & typename V::word(as_int(kept));
              const bytes b = __builtin_convertvector(bits.x, bytes);
              __builtin_memcpy(to + (v + vectors * l) * W + from, &b, sizeof b);
            }
          }
        continue;
      }
#endif
      const element_type* from = w.prior(0) + q * share;
      for (int n = 0; n < a.windows; n++)
        for (int j = 0; j < W; j++)
          to[static_cast<std::size_t>(n * W + j) * a.bits.element_stride] =
              static_cast<std::uint8_t>(V::bits_of(from[j * stride + n % vectors * L + n / vectors]) & kept);
    }
  }
#endif
};

}  // namespace WB_ISA
}  // namespace wb
