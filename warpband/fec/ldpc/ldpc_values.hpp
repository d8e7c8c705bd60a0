#pragma once
// Where the values of a codeword lie while it is decoded, and how they get there and out again.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/fec/ldpc/ldpc_args.hpp>
#include <warpband/fec/ldpc/ldpc_body.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

// ---------------------------------------------------------------- channel LLRs to messages, and back

/// Nearest integer, ties to even, of |x| < 2^22.
template <class T>
WB_HD typename rebind<T>::i32 nearest(T x) {
  return as_int(x + T(12582912.f)) - typename rebind<T>::i32(0x4B400000);
}
template <class T>
WB_HD T clamped(T x, float limit) {
  return max(min(x, T(limit)), T(-limit));
}

/// Conversion of as many elements as a float32 lane holds. No message is -0, so a sign bit is a decision.
/// `get` and `put_number` are of numbers of the type's own scale, `llr` makes them LLRs.
template <class T>
struct message_conversion;
template <>
struct message_conversion<lane> {
  WB_HD static void put(const ldpc_decode_args&, float* p, lane x) {
    put_number(p, clamped(x, min_sum<lane>::limit) + lane(0.f));
  }
  WB_HD static void put_number(float* p, lane x) { store_message<lane>(p, x); }
  WB_HD static lane get(const float* p) { return load_message<lane>(p); }
  WB_HD static lane extrinsic(lane a, lane channel) { return a - channel; }
  WB_HD static lane llr(const ldpc_decode_args&, lane x) { return x + lane(0.f); }
};
#if !defined(__CUDACC__)
template <>
struct message_conversion<f16x> {
  WB_HD static void put(const ldpc_decode_args&, float* p, lane x) {
    put_number(p, to_half(clamped(x, min_sum<f16x>::limit)).x + lane(0.f));
  }
  WB_HD static void put_number(float* p, lane x) { store_message<lane>(p, x); }
  WB_HD static lane get(const float* p) { return load_message<lane>(p); }
  WB_HD static lane extrinsic(lane a, lane channel) { return to_half(a - channel).x; }
  WB_HD static lane llr(const ldpc_decode_args&, lane x) { return x + lane(0.f); }
};
#endif
template <>
struct message_conversion<i8x> {
  WB_HD static void put(const ldpc_decode_args& a, signed char* p, lane x) {
    put_number(p, nearest(clamped(x * lane(a.steps), min_sum<i8x>::limit)));
  }
  WB_HD static void put_number(signed char* p, lane x) { put_number(p, nearest(x)); }
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
    typedef signed char bytes __attribute__((vector_size(WB_WIDTH)));
    bytes b;
    __builtin_memcpy(&b, p, sizeof b);
    return lane(__builtin_convertvector(b, f32x::v));
#endif
  }
  WB_HD static lane extrinsic(lane a, lane channel) { return a - channel; }
  WB_HD static lane llr(const ldpc_decode_args& a, lane x) { return x / lane(a.steps) + lane(0.f); }
};

/// 0, or the status of a codeword that is erased: not all LLRs are finite, or fewer are usable than it has
/// information bits.
WB_HD unsigned ldpc_erasure(const ldpc_decode_args& a, bool finite, int usable) {
  if (!finite) return status_erased;
  return usable < a.n - a.rows * a.z ? status_erased | status_insufficient : 0;
}

// ---------------------------------------------------------------- rows in the lanes of vectors

/// A-posteriori LLRs in rotation, see ldpc_op.hpp. One thread, one codeword.
template <class T>
struct vector_values {
  using element = typename message_memory<T>::element;
  using conversion = message_conversion<T>;
  static constexpr int rows = message_memory<T>::rows;
  const ldpc_decode_args& a;
  element *app, *messages;

  WB_HD vector_values(const ldpc_decode_args& args, void* scratch)
      : a(args), app(static_cast<element*>(scratch)), messages(app + 2 * a.columns * a.column_stride) {}
  static std::size_t bytes(const ldpc_decode_args& a) {
    return sizeof(element) *
           static_cast<std::size_t>(2 * a.columns * a.column_stride +
                                    (a.blocks + (a.flooding ? a.columns : 0)) * a.row_stride);
  }
  WB_HD element* channel() const { return messages + a.blocks * a.row_stride; }

  /// Up to `count` neighbouring values of a view from `e` on, zeros behind.
  WB_HD static lane load_row(const view<const float>& v, std::size_t e, std::size_t item, int count) {
    const float* p = v.data + e * v.element_stride + item * v.item_stride;
#if WB_WIDTH == 1
    static_cast<void>(count);
    return *p;
#else
    lane x;
    if (v.element_stride == 1 && count >= WB_WIDTH) {
      __builtin_memcpy(&x, p, sizeof x);
    } else {  // by way of an array: the usual case stays in registers
      float part[WB_WIDTH] = {};
      for (int i = 0; i < WB_WIDTH; i++)
        if (i < count) part[i] = p[static_cast<std::size_t>(i) * v.element_stride];
      __builtin_memcpy(&x, part, sizeof x);
    }
    return x;
#endif
  }
  template <class V>
  WB_HD static void store_row(const view<V>& v, std::size_t e, std::size_t item, lane x, int count) {
    V* p = v.data + e * v.element_stride + item * v.item_stride;
#if WB_WIDTH == 1
    static_cast<void>(count);
    *p = static_cast<V>(x);
#else
    if (v.element_stride == 1 && count >= WB_WIDTH) {
      typedef V vector __attribute__((vector_size(WB_WIDTH * sizeof(V))));
      vector y;
      if constexpr (sizeof(V) == 1)
        y = __builtin_convertvector(__builtin_convertvector(x.x, i32x::v), vector);
      else
        y = __builtin_convertvector(x.x, vector);
      __builtin_memcpy(p, &y, sizeof y);
    } else {
      for (int i = 0; i < WB_WIDTH; i++)
        if (i < count) p[static_cast<std::size_t>(i) * v.element_stride] = static_cast<V>(x.x[i]);
    }
#endif
  }

  /// Channel LLRs of column c in bit order to `to`, row_stride of them. Whether all are finite. `usable`
  /// counts those that the decoder's numbers tell from 0.
  WB_HD bool load_column(std::size_t item, int c, element* to, typename rebind<lane>::i32& usable) const {
    using I = typename rebind<lane>::i32;
    auto finite = mask_from<typename rebind<lane>::mask>(true);
    for (int r = 0; r < a.z; r += WB_WIDTH) {
      const lane x = load_row(a.llr, static_cast<std::size_t>(c * a.z + r), item, a.z - r);
      const auto good = is_finite(x);
      finite = finite & good;
      conversion::put(a, to + r, select(good, x, lane(0.f)));
      usable = usable + select(conversion::get(to + r) == lane(0.f), I(0), I(1));  // behind the column: 0
    }
    return all(finite);
  }
  /// Puts a column into rotation `by`: place p gets bit (p + by) mod z.
  WB_HD void place_column(const element* bits, int by, element* to) const {
    __builtin_memcpy(to, bits + by, static_cast<std::size_t>(a.z - by) * sizeof(element));
    __builtin_memcpy(to + a.z - by, bits, static_cast<std::size_t>(by) * sizeof(element));
  }
  /// 0, or the status of an erased codeword.
  WB_HD unsigned load_channel(std::size_t item) const {
    clear();  // what lies behind a column is read, too
    bool finite = true;
    typename rebind<lane>::i32 usable(0);
    for (int c = 0; c < a.columns; c++) {
      element* bits = a.flooding ? channel() + c * a.row_stride : messages;  // messages: as a buffer
      finite = load_column(item, c, bits, usable) && finite;
      place_bits(c, bits);
    }
    const unsigned status = ldpc_erasure(a, finite, sum_of_lanes(usable));
    if (status != 0) clear();
    return status;
  }
  /// Column c from bit order to where the first iteration reads it.
  WB_HD void place_bits(int c, const element* bits) const {
    if (a.flooding) {
      place_column(bits, 0, app + c * a.column_stride);
      place_column(bits, 0, app + c * a.column_stride + a.z);
    } else {
      element* to = app + a.column_table[c].first;
      place_column(bits, a.column_table[c].rotation, to);
      repeat_first(to);
    }
  }
  /// All but the messages becomes 0.
  WB_HD void clear() const {
    __builtin_memset(app, 0, static_cast<std::size_t>(2 * a.columns * a.column_stride) * sizeof(element));
    if (a.flooding)
      __builtin_memset(channel(), 0, static_cast<std::size_t>(a.columns * a.row_stride) * sizeof(element));
  }
  /// How many of the channel's LLRs are beyond +-limit. Before the first iteration.
  WB_HD std::int32_t large(float limit) const {
    typename rebind<lane>::i32 in_lanes(0);
    std::int32_t count = 0;
    for (int c = 0; c < a.columns; c++) {
      const element* x = app + (a.flooding ? c * a.column_stride : a.column_table[c].first);
      int r = 0;
      for (; r + rows <= a.z; r += rows) in_lanes = in_lanes + is_large(load_message<T>(x + r), limit);
      for (; r < a.z; r++) count += is_large(x[r], limit);
    }
    return count + sum_of_lanes(in_lanes);
  }
  /// The first vector again behind the z values of a column.
  WB_HD void repeat_first(element* column) const { store_message<T>(column + a.z, load_message<T>(column)); }

  WB_HD void clear_messages() const {
    __builtin_memset(messages, 0, static_cast<std::size_t>(a.blocks * a.row_stride) * sizeof(element));
  }

  template <class Rule, class Degree>
  WB_HD void layer(const Rule& rule, Degree degree, ldpc_row row, int parity) const {
    // Addresses are kept in locals: stores of bytes may alias everything else.
    const int n = degree, z = a.z, vectors = a.vectors;
    element* const values = app;
    element* to[Degree::most];
    for (int d = 0; d < n; d++) to[d] = values + a.edges[row.first + d].to[parity];
    const int before = (row.first + n) * vectors;
    const std::int32_t* from = a.reads + parity * a.blocks * vectors + before;
    element* message = messages + before * rows;
    // From the last vector down: what lies behind the z values of a column is overwritten by the first ones.
    for (int r = (vectors - 1) * rows; r >= 0; r -= rows) {
      from -= n, message -= n * rows;
      T q[Degree::most], back[Degree::most];
      each_edge(degree, [&](int d) WB_INLINE_LAMBDA {
        q[d] = difference(load_message<T>(values + static_cast<std::uint32_t>(from[d])),
                          load_message<T>(message + d * rows));
      });
      check_messages(rule, degree, q, back);
      each_edge(degree, [&](int d) WB_INLINE_LAMBDA {
        store_message<T>(message + d * rows, back[d]);
        store_message<T>(to[d] + r, sum(q[d], back[d]));
      });
    }
    each_edge(degree, [&](int d) WB_INLINE_LAMBDA { store_message<T>(to[d] + z, load_message<T>(to[d])); });
  }

  // Flooding: A of the last iteration in bit order, twice, and behind it the sums of new messages, apart for
  // rows before and after the end of the column.
  WB_HD element* sums() const { return app + a.columns * a.column_stride; }
  WB_HD void begin_flooding() const {
    __builtin_memset(sums(), 0, static_cast<std::size_t>(a.columns * a.column_stride) * sizeof(element));
  }
  template <class Rule, class Degree>
  WB_HD void flooding_layer(const Rule& rule, Degree degree, ldpc_row row) const {
    const ldpc_edge* edges = a.edges + row.first;
    element* message = messages + row.first * a.row_stride;
    for (int r = 0; r < a.z; r += rows) {
      T q[Degree::most], back[Degree::most];
      each_edge(degree, [&](int d) WB_INLINE_LAMBDA {
        q[d] = difference(load_message<T>(app + edges[d].column * a.column_stride + edges[d].shift + r),
                          load_message<T>(message + d * a.row_stride + r));
      });
      check_messages(rule, degree, q, back);
      each_edge(degree, [&](int d) WB_INLINE_LAMBDA {
        store_message<T>(message + d * a.row_stride + r, back[d]);
        element* to = sums() + edges[d].column * a.column_stride + edges[d].shift + r;
        const T value = sum(load_message<T>(to), back[d]);
        if (r + rows <= a.z) {
          store_message<T>(to, value);
        } else {
          element part[rows];
          store_message<T>(part, value);
          for (int i = 0; i < a.z - r; i++) to[i] = part[i];
        }
      });
    }
  }
  WB_HD void end_flooding() const {
    for (int c = 0; c < a.columns; c++) {
      const element* from = sums() + c * a.column_stride;
      element* to = app + c * a.column_stride;
      for (int r = (a.z - 1) / rows * rows; r >= 0; r -= rows) {
        const T value = sum(sum(load_message<T>(channel() + c * a.row_stride + r), load_message<T>(from + r)),
                            load_message<T>(from + a.z + r));
        store_message<T>(to + r, value);
        store_message<T>(to + a.z + r, value);
      }
    }
  }

  /// Whether a check is not satisfied.
  WB_HD bool violated(int parity) const {
    const std::int32_t* at = a.reads + (2 + parity) * a.blocks * a.vectors;
    for (int r = 0; r < a.z; r += rows, at += a.blocks) {
      T bad = rows_of_zero();
      for (int m = 0; m < a.rows; m++) {
        const ldpc_row row = a.row_table[m];
        T odd = rows_of_zero();
        for (int d = row.first; d < row.first + row.degree; d++)
          odd = sign_product(odd, load_message<T>(app + (a.flooding ? a.edges[d].column * a.column_stride +
                                                                          a.edges[d].shift + r
                                                                    : at[d])));
        bad = sign_union(bad, odd);
      }
      element part[rows];
      store_message<T>(part, bad);
      const int count = a.z - r < rows ? a.z - r : rows;
      for (int i = 0; i < count; i++)
        if (sign_bit(part[i])) return true;
    }
    return false;
  }

  /// The decisions of column c, from values in bit order.
  WB_HD void store_bits(std::size_t item, int c, const element* from) const {
    const std::size_t e = static_cast<std::size_t>(c * a.z);
    const int count = e < a.bits.elements ? a.z : 0;
    if constexpr (std::is_same_v<T, i8x> && rows > 1) {
      if (a.bits.element_stride == 1) {
        std::uint8_t* to = a.bits.data + e + item * a.bits.item_stride;
        for (int r = 0; r < count; r += rows) {
          const T bit = negative_bits(load_message<T>(from + r));
          if (r + rows <= count)
            __builtin_memcpy(to + r, &bit, sizeof bit);
          else
            __builtin_memcpy(to + r, &bit, static_cast<std::size_t>(count - r));
        }
        return;
      }
    }
    for (int r = 0; r < count; r += WB_WIDTH)
      store_row(a.bits, e + static_cast<std::size_t>(r), item,
                select(conversion::get(from + r) < lane(0.f), lane(1.f), lane(0.f)), count - r);
  }
  /// The results of a codeword that leaves after `iterations`, the last of parity `parity`.
  WB_HD void store(std::size_t item, unsigned gone, bool stopped, int iterations, int parity) const {
    std::size_t most = a.bits.data ? a.bits.elements : 0;
    if (a.soft.data && a.soft.elements > most) most = a.soft.elements;
    if (a.extrinsic.data && a.extrinsic.elements > most) most = a.extrinsic.elements;
    for (int c = 0; static_cast<std::size_t>(c * a.z) < most; c++) {
      const element* from = app + c * a.column_stride;
      if (!a.flooding) {
        const int left = a.column_table[c].rotation;  // messages are no longer needed
        place_column(app + a.column_table[c].last[parity], left == 0 ? 0 : a.z - left, messages);
        from = messages;
      }
      if (a.bits.data) store_bits(item, c, from);
      if (!a.soft.data && !a.extrinsic.data) continue;
      for (int r = 0; r < a.z; r += WB_WIDTH) {
        const std::size_t e = static_cast<std::size_t>(c * a.z + r);
        const lane x = conversion::get(from + r);
        if (e < a.soft.elements && a.soft.data) store_row(a.soft, e, item, conversion::llr(a, x), a.z - r);
        if (e < a.extrinsic.elements && a.extrinsic.data) {
          element channel[WB_WIDTH];
          const lane y = load_row(a.llr, e, item, a.z - r);
          conversion::put(a, channel, select(is_finite(y), y, lane(0.f)));
          const lane outer = conversion::llr(a, conversion::extrinsic(x, conversion::get(channel)));
          store_row(a.extrinsic, e, item, gone != 0 ? lane(0.f) : outer, a.z - r);
        }
      }
    }
    if (a.iterations_used.data)
      a.iterations_used.data[item * a.iterations_used.item_stride] = gone != 0 ? 0 : iterations;
    if (a.status.data)
      a.status.data[item * a.status.item_stride] = static_cast<std::uint8_t>(gone != 0 ? gone
                                                                             : stopped ? status_stopped
                                                                                       : 0);
  }

 private:
  WB_HD static T rows_of_zero() {
    T x;
    __builtin_memset(&x, 0, sizeof x);
    return x;
  }
  WB_HD static bool sign_bit(float x) { return as_int(x) < 0; }
  WB_HD static bool sign_bit(signed char x) { return x < 0; }
};

/// The codewords that a thread decodes side by side, a block row of each in turn: what one has just written
/// takes its time to where other rotations can read it.
template <class T>
struct vector_codewords {
  static constexpr int codewords = std::is_same_v<T, i8x> && message_memory<T>::rows > 1 ? 2 : 1;
  static constexpr bool keeps_messages = true;  // ldpc_kept.hpp
  const ldpc_decode_args& a;
  char* scratch;

  WB_HD vector_codewords(const ldpc_decode_args& args, void* memory)
      : a(args), scratch(static_cast<char*>(memory)) {}
  static std::size_t of_one(const ldpc_decode_args& a) { return (vector_values<T>::bytes(a) + 63) / 64 * 64; }
  static std::size_t bytes(const ldpc_decode_args& a) { return codewords * of_one(a); }
  WB_HD vector_values<T> codeword(int w) const {
    return {a, scratch + static_cast<std::size_t>(w) * of_one(a)};
  }
  /// f(codeword, its number) of those whose bit is set.
  template <class F>
  WB_HD void each(unsigned which, F f) const {
    for (int w = 0; w < codewords; w++)
      if ((which >> w & 1u) != 0) f(codeword(w), w);
  }
  WB_HD ldpc_row row(int m) const { return a.row_table[m]; }

  /// Returns a byte for each codeword: 0, or the status of an erased one.
  template <class G>
  WB_HD unsigned load_channel(std::size_t item, int items, G) const {
    unsigned erased = 0;
    each((1u << items) - 1u, [&](const auto& c, int w) {
      erased |= c.load_channel(item + static_cast<std::size_t>(w)) << 8 * w;
      c.clear_messages();
    });
    return erased;
  }
  template <class G>
  WB_HD void clear_messages(G) const {}
  /// Of the only codeword.
  template <class G>
  WB_HD std::int32_t large(float limit, G) const {
    return codeword(0).large(limit);
  }
  template <class Rule, class Degree, class G>
  WB_HD void layer(const Rule& rule, Degree degree, ldpc_row row, int parity, unsigned active, G) const {
    each(active, [&](const auto& c, int) WB_INLINE_LAMBDA { c.layer(rule, degree, row, parity); });
  }
  template <class G>
  WB_HD void begin_flooding(unsigned active, G) const {
    each(active, [](const auto& c, int) { c.begin_flooding(); });
  }
  template <class Rule, class Degree, class G>
  WB_HD void flooding_layer(const Rule& rule, Degree degree, ldpc_row row, unsigned active, G) const {
    each(active, [&](const auto& c, int) { c.flooding_layer(rule, degree, row); });
  }
  template <class G>
  WB_HD void end_flooding(unsigned active, G) const {
    each(active, [](const auto& c, int) { c.end_flooding(); });
  }
  template <class G>
  WB_HD unsigned violated(int parity, unsigned active, G) const {
    unsigned violated = 0;
    each(active, [&](const auto& c, int w) {
      if (c.violated(parity)) violated |= 1u << w;
    });
    return violated;
  }
  template <class G>
  WB_HD void store(std::size_t item, unsigned leaving, unsigned erased, unsigned stopped, int iterations,
                   int parity, G) const {
    each(leaving, [&](const auto& c, int w) {
      c.store(item + static_cast<std::size_t>(w), erased >> 8 * w & 0xffu, (stopped >> w & 1u) != 0,
              iterations, parity);
    });
  }
};

// ---------------------------------------------------------------- a row for each thread of a block

#if defined(__CUDACC__)
/// What a thread of a CUDA block does with one element.
template <class T>
struct message_of;
template <>
struct message_of<float> {
  WB_HD static float from(const ldpc_decode_args&, const float (&x)[1]) {
    return clamped(x[0], min_sum<float>::limit) + 0.f;
  }
  WB_HD static float get(float a, int) { return a; }
  WB_HD static float extrinsic(float a, float channel, int) { return a - channel; }
  WB_HD static std::uint32_t sign_bits(float a) { return as_uint(as_int(a)) >> 31; }
  WB_HD static float llr(const ldpc_decode_args&, float x) { return x + 0.f; }
};
template <>
struct message_of<f16x> {
  WB_HD static f16x from(const ldpc_decode_args&, const float (&x)[2]) {
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
  WB_HD static float llr(const ldpc_decode_args&, float x) { return x + 0.f; }
};
template <>
struct message_of<i8x> {
  WB_HD static i8x from(const ldpc_decode_args& a, const float (&x)[1]) {
    return to_int8(nearest(clamped(x[0] * a.steps, min_sum<i8x>::limit)));
  }
  WB_HD static float get(i8x a, int) { return to_float(a.x); }
  WB_HD static float extrinsic(i8x a, i8x channel, int) { return to_float(a.x - channel.x); }
  WB_HD static std::uint32_t sign_bits(i8x a) { return as_uint(a.x) >> 31; }
  WB_HD static float llr(const ldpc_decode_args& a, float x) { return x / a.steps + 0.f; }
};

/// A-posteriori LLRs in bit order, in shared memory where they fit. Ahead: loads in flight when results are
/// written.
template <class T, int Ahead = 8>
struct block_values {
  using element = typename message_memory<T>::element;
  using conversion = message_of<T>;
  static constexpr int codewords = message_memory<T>::codewords;
  static constexpr bool keeps_messages = true;  // ldpc_kept.hpp
  const ldpc_decode_args& a;
  element *app, *messages;

  WB_HD block_values(const ldpc_decode_args& args, void* scratch)
      : a(args), app(static_cast<element*>(scratch)), messages(app + (a.flooding ? 4 : 1) * a.n) {}
  static std::size_t bytes(const ldpc_decode_args& a) {
    return sizeof(element) * static_cast<std::size_t>((a.flooding ? 4 : 1) * a.n + a.blocks * a.z);
  }

  WB_HD ldpc_row row(int m) const { return {a.firsts[m], a.firsts[m + 1] - a.firsts[m]}; }
  /// Where row r of a block row finds its bit of an edge's column.
  WB_HD int place(int edge, int r) const {
    const ldpc_place p = a.places[edge];
    const unsigned at = static_cast<unsigned>(r + p.shift);
    return p.first + static_cast<int>(::min(at, at - static_cast<unsigned>(a.z)));
  }

  WB_HD void read(int e, std::size_t item, int items, float (&x)[codewords]) const {
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      const std::size_t i = item + static_cast<std::size_t>(w < items ? w : 0);
      x[w] = a.llr.data[static_cast<std::size_t>(e) * a.llr.element_stride + i * a.llr.item_stride];
    }
  }
  WB_HD T channel(float (&x)[codewords], unsigned& bad) const {
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if (!is_finite(x[w])) bad |= 1u << w;
      x[w] = is_finite(x[w]) ? x[w] : 0.f;
    }
    return conversion::from(a, x);
  }
  WB_HD T channel(int e, std::size_t item, int items, unsigned& bad) const {
    float x[codewords];
    read(e, item, items, x);
    return channel(x, bad);
  }
  /// f(e, channel) for this thread's share of the bits e < count of one codeword, which both halves get.
  template <class G, class F>
  WB_HD void each_channel(int count, std::size_t item, G g, F f) const {
    for (int e = g.rank; e < count; e += Ahead * g.size) {
      float x[Ahead][codewords];
      WB_UNROLL for (int i = 0; i < Ahead; i++) if (e + i * g.size < count)
          read(e + i * g.size, item, 1, x[i]);
      WB_UNROLL for (int i = 0; i < Ahead; i++) if (e + i * g.size < count) {
        unsigned ignored = 0;
        f(e + i * g.size, channel(x[i], ignored));
      }
    }
  }
  /// A codeword's part of a value replaced by 0.
  WB_HD T cleared(T x, unsigned erased) const {
    if constexpr (codewords == 2)
      return {x.x & ~((erased & 1 ? 0xffffu : 0u) | (erased & 2 ? 0xffff0000u : 0u))};
    else
      return erased ? T{} : x;
  }
  template <class G>
  WB_HD unsigned any_of(unsigned flags, G g) const {
    unsigned r = 0;
    WB_UNROLL for (int w = 0; w < codewords; w++) r |= g.any((flags >> w & 1u) != 0) ? 1u << w : 0u;
    return r;
  }
  /// Returns a byte for each codeword: 0, or the status of an erased one.
  template <class G>
  WB_HD unsigned load_channel(std::size_t item, int items, G g) const {
    unsigned bad = 0;
    int usable[codewords] = {};
    constexpr int ahead = 8;  // loads in flight
    for (int e = g.rank; e < a.n; e += ahead * g.size) {
      float x[ahead][codewords];
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n)
          read(e + i * g.size, item, items, x[i]);
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n) {
        const T value = channel(x[i], bad);
        WB_UNROLL for (int w = 0; w < codewords; w++) usable[w] += conversion::get(value, w) == 0.f ? 0 : 1;
        put_bit(e + i * g.size, value);
      }
    }
    bad = any_of(bad, g);
    unsigned status = 0;
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      status |= ldpc_erasure(a, (bad >> w & 1u) == 0, g.sum_all(usable[w])) << 8 * w;
      bad |= (status >> 8 * w & 1u) << w;
    }
    if (bad != 0) {
      for (int e = g.rank; e < a.n; e += g.size) {
        unsigned ignored = 0;
        put_bit(e, cleared(channel(e, item, items, ignored), bad));
      }
    }
    g.sync();
    return status;
  }
  template <class G>
  WB_HD void clear_messages(G g) const {
    for (int i = g.rank; i < a.blocks * a.z; i += g.size) store_message<T>(messages + i, T{});
  }
  /// What kept messages made of the codewords in `bad` becomes 0.
  template <class G>
  WB_HD void clear(unsigned bad, G g) const {
    for (int e = g.rank; e < a.n; e += g.size) put_bit(e, cleared(load_message<T>(app + e), bad));
    for (int e = g.rank; e < a.blocks * a.z; e += g.size)
      store_message<T>(messages + e, cleared(load_message<T>(messages + e), bad));
  }
  /// How many of the channel's LLRs are beyond +-limit. Before the first iteration.
  template <class G>
  WB_HD std::int32_t large(float limit, G g) const {
    std::int32_t count = 0;
    for (int e = g.rank; e < a.n; e += g.size) count += is_large(app[e], limit);
    return g.sum_all(count);
  }
  WB_HD void put_bit(int e, T x) const {
    store_message<T>(app + e, x);
    if (a.flooding) store_message<T>(app + a.n + e, x);
  }

  template <class Rule, class Degree, class G>
  WB_HD void layer(const Rule& rule, Degree degree, ldpc_row row, int, unsigned, G g) const {
    for (int r = g.rank; r < a.z; r += g.size) {
      element* message = messages + row.first * a.z + r;
      int at[Degree::most];
      T q[Degree::most], back[Degree::most];
      each_edge(degree, [&](int d) {
        at[d] = place(row.first + d, r);
        q[d] = difference(load_message<T>(app + at[d]), load_message<T>(message + d * a.z));
      });
      check_messages(rule, degree, q, back);
      each_edge(degree, [&](int d) {
        store_message<T>(message + d * a.z, back[d]);
        store_message<T>(app + at[d], sum(q[d], back[d]));
      });
    }
  }

  // Flooding: A of the last iteration, the channel's LLRs, and the sums of new messages, apart for rows
  // before and after the end of the column; each in bit order.
  WB_HD element* sums() const { return app + 2 * a.n; }
  template <class G>
  WB_HD void begin_flooding(unsigned, G g) const {
    for (int i = g.rank; i < 2 * a.n; i += g.size) store_message<T>(sums() + i, T{});
    g.sync();
  }
  template <class Rule, class Degree, class G>
  WB_HD void flooding_layer(const Rule& rule, Degree degree, ldpc_row row, unsigned, G g) const {
    for (int r = g.rank; r < a.z; r += g.size) {
      element* message = messages + row.first * a.z + r;
      T q[Degree::most], back[Degree::most];
      each_edge(degree, [&](int d) {
        q[d] = difference(load_message<T>(app + place(row.first + d, r)), load_message<T>(message + d * a.z));
      });
      check_messages(rule, degree, q, back);
      each_edge(degree, [&](int d) {
        store_message<T>(message + d * a.z, back[d]);
        element* to = sums() + (r + a.places[row.first + d].shift < a.z ? 0 : a.n) + place(row.first + d, r);
        store_message<T>(to, sum(load_message<T>(to), back[d]));
      });
    }
  }
  template <class G>
  WB_HD void end_flooding(unsigned, G g) const {
    for (int e = g.rank; e < a.n; e += g.size)
      store_message<T>(app + e, sum(sum(load_message<T>(app + a.n + e), load_message<T>(sums() + e)),
                                    load_message<T>(sums() + a.n + e)));
  }

  /// A bit for each codeword with an unsatisfied check.
  template <class G>
  WB_HD unsigned violated(int, unsigned, G g) const {
    unsigned bad = 0;
    for (int m = 0; m < a.rows; m++) {
      const ldpc_row row = this->row(m);
      for (int r = g.rank; r < a.z; r += g.size) {
        T odd = T{};
        for (int d = row.first; d < row.first + row.degree; d++)
          odd = sign_product(odd, load_message<T>(app + place(d, r)));
        bad |= conversion::sign_bits(odd);
      }
    }
    return any_of(bad, g);
  }

  template <class G>
  WB_HD void store(std::size_t item, unsigned leaving, unsigned erased, unsigned stopped, int iterations, int,
                   G g) const {
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if ((leaving >> w & 1u) == 0) continue;
      const std::size_t i = item + static_cast<std::size_t>(w);
      const unsigned gone = erased >> 8 * w & 0xffu;
      auto value = [&](std::size_t e) { return conversion::get(load_message<T>(app + e), w); };
      const std::size_t first = static_cast<std::size_t>(g.rank), step = static_cast<std::size_t>(g.size);
      if (a.bits.data)
        for (std::size_t e = first; e < a.bits.elements; e += step)
          a.bits.data[e * a.bits.element_stride + i * a.bits.item_stride] = value(e) < 0.f;
      if (a.soft.data)
        for (std::size_t e = first; e < a.soft.elements; e += step)
          a.soft.data[e * a.soft.element_stride + i * a.soft.item_stride] = conversion::llr(a, value(e));
      if (a.extrinsic.data)
        each_channel(static_cast<int>(a.extrinsic.elements), i, g, [&](int e, T c) {
          a.extrinsic
              .data[static_cast<std::size_t>(e) * a.extrinsic.element_stride + i * a.extrinsic.item_stride] =
              gone != 0 ? 0.f : conversion::llr(a, conversion::extrinsic(load_message<T>(app + e), c, w));
        });
      if (g.rank == 0) {
        if (a.iterations_used.data)
          a.iterations_used.data[i * a.iterations_used.item_stride] = gone != 0 ? 0 : iterations;
        if (a.status.data)
          a.status.data[i * a.status.item_stride] =
              static_cast<std::uint8_t>(gone != 0                  ? gone
                                        : (stopped >> w & 1u) != 0 ? status_stopped
                                                                   : 0);
      }
    }
  }
};

/// The same with a thread for each row and its messages in registers. Rows block rows of degree Least..Most.
template <class T, int Rows, int Least, int Most>
struct register_values : block_values<T, 1> {  // the messages leave few registers
  using base = block_values<T, 1>;
  using element = typename base::element;
  static constexpr int chunks = (Most + 3) / 4;
  static constexpr bool keeps_messages = false;
  T message[Rows][Most];

  WB_HD register_values(const ldpc_decode_args& args, void* scratch) : base(args, scratch) {
    WB_UNROLL for (int m = 0; m < Rows; m++) { WB_UNROLL for (int d = 0; d < Most; d++) message[m][d] = T{}; }
  }
  static std::size_t bytes(const ldpc_decode_args& a) {
    return sizeof(element) * static_cast<std::size_t>(a.n + ldpc_row_threads);
  }
  /// The threads that have no row work on places of their own, so that nobody branches.
  template <class G>
  WB_HD void clear_messages(G g) const {
    for (int i = g.rank; i < ldpc_row_threads; i += g.size) store_message<T>(this->app + this->a.n + i, T{});
  }

  /// Byte addresses of A for thread r in block row m.
  WB_HD void fetch(int m, int r, std::uint32_t (&at)[4 * chunks]) const {
    const uint4* table = reinterpret_cast<const uint4*>(this->a.addresses) + r;
    WB_UNROLL for (int c = 0; c < chunks; c++) {
      const uint4 v = __ldg(table + (m * chunks + c) * ldpc_row_threads);
      at[4 * c] = v.x, at[4 * c + 1] = v.y, at[4 * c + 2] = v.z, at[4 * c + 3] = v.w;
    }
  }
  template <class Rule, class G>
  WB_HD void iterate(const Rule& rule, G g) {
    char* const app = reinterpret_cast<char*>(this->app);
    std::uint32_t place[4 * chunks];
    fetch(0, g.rank, place);
    WB_UNROLL for (int m = 0; m < Rows; m++) {
      const between<Least, Most> degree{this->row(m).degree};
      auto at = [&](int d) { return reinterpret_cast<element*>(app + place[d]); };
      T q[Most], back[Most];
      each_edge(degree, [&](int d) { q[d] = difference(load_message<T>(at(d)), message[m][d]); });
      check_messages(rule, degree, q, back);
      each_edge(degree, [&](int d) {
        message[m][d] = back[d];
        store_message<T>(at(d), sum(q[d], back[d]));
      });
      if (m + 1 < Rows) fetch(m + 1, g.rank, place);  // does not wait for the others
      g.sync();
    }
  }

  template <class G>
  WB_HD unsigned violated(int, unsigned, G g) const {
    T bad = T{};
    _Pragma("unroll 1") for (int m = 0; m < Rows; m++) {  // the messages leave few registers
      std::uint32_t place[4 * chunks];
      fetch(m, g.rank, place);
      T odd = T{};
      each_edge(between<Least, Most>{this->row(m).degree}, [&](int d) {
        odd = sign_product(
            odd, load_message<T>(reinterpret_cast<element*>(reinterpret_cast<char*>(this->app) + place[d])));
      });
      bad = sign_union(bad, odd);
    }
    return this->any_of(base::conversion::sign_bits(bad), g);
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
