#pragma once
// The turbo decoder in 16-bit integers: max-log-MAP on 8-bit channel values.
//
// Values are multiples of 1 / steps: channel LLRs in 8 bits, extrinsics in 16. A step changes a metric by at
// most 127 + 127 + 1024, and there are eight between normalisations. The states differ by three steps, and by
// 5000 in addition near a known state: sums of two metrics stay below 20000, and nothing wraps.
#include <warpband/core/short_lane.hpp>
#include <warpband/fec/quantise/quantise_body.hpp>
#include <warpband/fec/turbo/turbo_windows_io.hpp>

namespace wb {
inline namespace WB_ISA {

/// The semiring (max, +) on 16-bit metrics; a weight is -L.
struct max_log_short {
  static constexpr int chains = 1, interval = 8;
  static constexpr int most_extrinsic = 1023, impossible = -5000;
  // What flops() counts of packed numbers: additions, products, maxima; add_max is two.
  static constexpr double forward_flops = 21, backward_flops = 24, output_flops = 31, normalise_flops = 8,
                          passed_on_flops = 4, decision_flops = 1;
  template <class T>
  WB_HD static T times(T a, T b) {
    return a + b;
  }
  template <class T>
  WB_HD static T plus(T a, T b) {
    return max(a, b);
  }
  template <class T>
  WB_HD static T accumulate(T sum, T a, T w) {
    return add_max(a, w, sum);
  }
  template <class T>
  WB_HD static T ratio(T one, T zero) {
    return one - zero;
  }
  template <class T>
  WB_HD static T one() {
    return to_short(0);
  }
  template <class T>
  WB_HD static T zero() {
    return to_short(impossible);
  }
  template <int S, class T>
  WB_HD static void normalise_step(T (&)[S]) {}
  template <int S, class T>
  WB_HD static void normalise_segment(T (&a)[S]) {
    const T z = a[0];
    WB_UNROLL for (int s = 0; s < S; s++) a[s] = a[s] - z;
  }
};

/// T: what it computes with.
template <class T = i16x>
struct short_numbers {
  using semiring = max_log_short;
  using number = T;
  using prior_element = short_element;
  using metric_element = short_element;
  using channel_element = byte_element;
  static constexpr int lanes = i16x::lanes, items = i16x::items;
  static constexpr bool on_cuda = items == 2;
  static constexpr int resident = 2;                        // blocks of a multiprocessor of a GPU
  static constexpr double float_flops = 4, step_flops = 0;  // to load an LLR, float or in steps

  WB_HD static T load(const short_element* p) { return load_short(p); }
  WB_HD static T load(const byte_element* p) { return load_byte(p); }
  WB_HD static void store(short_element* p, T x) { store_short(p, x); }
  WB_HD static void store_decision(short_element* p, T x) { store_short(p, x); }
  /// Alpha at the beginning of a segment: values of so many states, `stride` apart.
  using checkpoint = T;
  static constexpr int together = 1;  // states
  template <int S>
  WB_HD static void save(T* to, int stride, const T (&a)[S]) {
    WB_UNROLL for (int s = 0; s < S; s++) to[s * stride] = a[s];
  }
  template <int S>
  WB_HD static void restore(const T* from, int stride, T (&a)[S]) {
    WB_UNROLL for (int s = 0; s < S; s++) a[s] = from[s * stride];
  }
  /// The weight of no knowledge.
  template <class Element>
  WB_HD static Element alone() {
    return 0;
  }
  /// Extrinsic e as the other decoder takes it.
  WB_HD static T passed_on(T e, const turbo_windows_args& a, bool last) {
    e = max(min(e, to_short(max_log_short::most_extrinsic)), to_short(-max_log_short::most_extrinsic));
    return scaled(e, last ? 8 : a.eighths);
  }
  /// e with the decision of the bit, by all that is known of it, as its lowest bit.
  WB_HD static T with_decision(T e, T posterior) {
    return (e & to_short(~1)) | sign_bit(to_short(0) - posterior);  // a weight above 0: bit 1
  }
#if WB_WIDTH > 1
  WB_HD static i16x permuted(i16x x, const std::int16_t* order) { return permute(x, load_short(order)); }
  /// `value` in the lanes with this number modulo `share`, x in the others.
  WB_HD static i16x in_lanes(int which, int share, i16x value, i16x x) {
    return select_if_zero((lane_numbers() & to_short(share - 1)) - to_short(which), value, x);
  }
#endif

  WB_HD static i16x no_bits() { return to_short(0); }
  /// 1 where a channel's weight says anything, else 0.
  WB_HD static i16x tells(const byte_element* p) {
    const i16x x = load_byte(p);
    return sign_bit(min(x, to_short(0) - x));
  }
  /// All bits of a number as its decision is.
  WB_HD static i16x decided(const short_element* p) { return spread_low_bit(load_short(p)); }
  WB_HD static i16x table_row(const std::int16_t* p) { return load_same(p); }
  WB_HD static void store_bits(short_element* p, i16x x) { store_short(p, x); }
  WB_HD static std::uint32_t stored_bits(const short_element* p, int which) {
#if defined(__CUDACC__)
    return *p >> 16 * which & 0xffffu;
#else
    return static_cast<std::uint16_t>(p[which]);
#endif
  }
};

/// How LLRs become 8-bit weights, and numbers bits.
template <class C, class T = i16x>
struct turbo_short_weights : turbo_windows_setup<C, short_numbers<T>> {
  using base = turbo_windows_setup<C, short_numbers<T>>;
  using base::a;
  using base::base;
  using base::L;
  using base::S;
  using typename base::values;
  using single = signed char;
  struct seen {
    bool finite = true;
  };
  WB_HD void note(const values&, int, const seen&) const {}

  /// A weight in steps, -127..127.
  WB_HD signed char weight(std::size_t element, std::size_t item, seen& s) const {
    if (a.llr8.data != nullptr) {
      const int x = a.llr8.data[element * a.llr8.element_stride + item * a.llr8.item_stride];
      return static_cast<signed char>(x == -128 ? 127 : -x);
    }
    return rounded(a.llr.data[element * a.llr.element_stride + item * a.llr.item_stride],
                   llr_quantiser(a.quanta, item), s);
  }
  WB_HD static signed char rounded(float llr, const llr_quantiser& quantise, seen& s) {
    const bool ok = is_finite(llr);
    if (!ok) s.finite = false;
    return static_cast<signed char>(quantise(ok ? -llr : 0.f, 127.f));
  }

  /// The tail of decoder d of codeword q: its bit j of stream n % 3 comes at place K + n / 3
  /// (TS 36.212 §5.1.3.2.2). Whether its LLRs are finite.
  WB_HD bool load_tail(const values& w, int d, int q, std::size_t item) const {
    int t[6];
    seen of_tail;
    for (int j = 0; j < 6; j++) {
      const int n = 6 * d + j;
      t[j] = weight(static_cast<std::size_t>(n % 3 * (a.k + 4) + a.k + n / 3), item, of_tail);
    }
    int b[S];
    for (int s = 0; s < S; s++) b[s] = s ? max_log_short::impossible : 0;
    for (int j = 2; j >= 0; j--) {
      int n[S];
      for (int s = 0; s < S; s++) {
        const int u = C::terminating_bit(s);
        n[s] = b[C::next(s, u)] + (u ? t[2 * j] : 0) + (C::parity(s, u) ? t[2 * j + 1] : 0);
      }
      for (int s = 0; s < S; s++) b[s] = n[s];
    }
    // All states reach state 0 in three steps, so none is impossible.
    const int together = w.layout.codewords * i16x::items;
    for (int s = 0; s < S; s++) put_tail(w.tail(q / together, d) + s * L, q % together, b[s] - b[0]);
    return of_tail.finite;
  }

#if defined(__CUDACC__)
  static constexpr int fours = 4;
  using four = std::uint32_t;  // weights as bytes
  WB_HD static void put_tail(short_element* to, int half, int x) {
    reinterpret_cast<std::int16_t*>(to)[half] = static_cast<std::int16_t>(x);
  }
  WB_HD four four_weights(std::size_t element, std::size_t item, seen& s) const {
    if (a.llr8.data != nullptr)
      return negated_bytes(
          *reinterpret_cast<const std::uint32_t*>(a.llr8.data + element + item * a.llr8.item_stride));
    const float4 v = *reinterpret_cast<const float4*>(a.llr.data + element + item * a.llr.item_stride);
    const float x[4] = {v.x, v.y, v.z, v.w};
    const llr_quantiser quantise(a.quanta, item);
    std::uint32_t r = 0;
    WB_UNROLL for (int i = 0; i < 4; i++) r |=
        static_cast<std::uint32_t>(static_cast<unsigned char>(rounded(x[i], quantise, s))) << 8 * i;
    return r;
  }
  WB_HD static byte_element packed_of(const four (&x)[2], int i) { return byte_pair(x[0], x[1], i); }
  WB_HD static byte_element packed(const signed char (&x)[2]) {
    return static_cast<byte_element>(static_cast<unsigned char>(x[0]) | static_cast<unsigned char>(x[1])
                                                                            << 8);
  }
#else
  WB_HD void put_tail(short_element* to, int codeword, int x) const {
    const int share = L / a.lanes.codewords;
    to[codeword * share + share - 1] = static_cast<std::int16_t>(x);
  }
#if WB_WIDTH == 1
  static constexpr int side = 1;
#else
  static constexpr int side = 16;
  using row = byte_row;
  WB_HD static void transpose_rows(row (&x)[16]) { transpose_bytes(x); }
  WB_HD row weights(std::size_t element, std::size_t item, seen& s) const {
    row r;
    if (a.llr8.data != nullptr) {
      __builtin_memcpy(&r, a.llr8.data + element + item * a.llr8.item_stride, sizeof r);
      return -(r < static_cast<signed char>(-127) ? static_cast<signed char>(-127) - row{} : r);
    }
    const float* p = a.llr.data + element + item * a.llr.item_stride;
    const llr_quantiser quantise(a.quanta, item);
    for (int i = 0; i < 16; i += WB_WIDTH) {
      lane x;
      __builtin_memcpy(&x, p + i, sizeof x);
      const auto ok = is_finite(x);
      s.finite = s.finite && all(ok);
      const auto y = quantise(select(ok, lane(0.f) - x, lane(0.f)), 127.f);
      typedef signed char bytes __attribute__((vector_size(WB_WIDTH)));
      const bytes b = __builtin_convertvector(y.x, bytes);
      __builtin_memcpy(reinterpret_cast<char*>(&r) + i, &b, sizeof b);
    }
    return r;
  }
  WB_HD static void put_weights(byte_element* to, row x) { __builtin_memcpy(to, &x, sizeof x); }
  WB_HD static row decisions(const short_element* from, std::uint32_t kept) {
    typedef std::int16_t shorts __attribute__((vector_size(32)));
    shorts x;
    __builtin_memcpy(&x, from, sizeof x);
    return __builtin_convertvector(x & static_cast<std::int16_t>(kept), row);
  }
  WB_HD static void put_decisions(std::uint8_t* to, row x, std::uint32_t) {
    __builtin_memcpy(to, &x, sizeof x);
  }
#endif
#endif
};

template <class C, class T = i16x>
using turbo_short_io = turbo_windows_io<turbo_short_weights<C, T>>;

}  // namespace WB_ISA
}  // namespace wb
