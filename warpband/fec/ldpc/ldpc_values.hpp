#pragma once
// Where the values of a codeword lie while it is decoded, and how they get there and out again.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/fec/ldpc/ldpc_args.hpp>
#include <warpband/fec/ldpc/ldpc_body.hpp>

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
/// `get` gives numbers of the type's own scale, `llr` makes them LLRs.
template <class T>
struct message_conversion;
template <>
struct message_conversion<lane> {
  WB_HD static void put(const ldpc_decode_args&, float* p, lane x) {
    store_message<lane>(p, clamped(x, min_sum<lane>::limit) + lane(0.f));
  }
  WB_HD static lane get(const float* p) { return load_message<lane>(p); }
  WB_HD static lane extrinsic(lane a, lane channel) { return a - channel; }
  WB_HD static lane llr(const ldpc_decode_args&, lane x) { return x + lane(0.f); }
};
#if !defined(__CUDACC__)
template <>
struct message_conversion<f16x> {
  WB_HD static void put(const ldpc_decode_args&, float* p, lane x) {
    store_message<lane>(p, to_half(clamped(x, min_sum<f16x>::limit)).x + lane(0.f));
  }
  WB_HD static lane get(const float* p) { return load_message<lane>(p); }
  WB_HD static lane extrinsic(lane a, lane channel) { return to_half(a - channel).x; }
  WB_HD static lane llr(const ldpc_decode_args&, lane x) { return x + lane(0.f); }
};
#endif
template <>
struct message_conversion<i8x> {
  WB_HD static void put(const ldpc_decode_args& a, signed char* p, lane x) {
    const auto y = nearest(clamped(x * lane(a.steps), min_sum<i8x>::limit));
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
  WB_HD ldpc_row row(int m) const { return a.row_table[m]; }
  WB_HD element* channel() const { return messages + a.blocks * a.row_stride; }

  /// Up to `count` neighbouring values of a view from `e` on, zeros behind.
  WB_HD static lane load_row(const view<const float>& v, std::size_t e, std::size_t item, int count) {
    const float* p = v.data + e * v.element_stride + item * v.item_stride;
#if WB_WIDTH == 1
    static_cast<void>(count);
    return *p;
#else
    lane x = lane(0.f);
    if (v.element_stride == 1 && count >= WB_WIDTH) {
      __builtin_memcpy(&x, p, sizeof x);
    } else {
      for (int i = 0; i < WB_WIDTH; i++)
        if (i < count) x.x[i] = p[static_cast<std::size_t>(i) * v.element_stride];
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
  WB_HD static bool all_finite(lane x) { return all(is_finite(x)); }

  /// Channel LLRs of column c in bit order to `to`, row_stride of them. Whether all are finite.
  WB_HD bool load_column(std::size_t item, int c, element* to) const {
    bool finite = true;
    for (int r = 0; r < a.z; r += WB_WIDTH) {
      const lane x = load_row(a.llr, static_cast<std::size_t>(c * a.z + r), item, a.z - r);
      finite = finite && all_finite(x);
      conversion::put(a, to + r, select(is_finite(x), x, lane(0.f)));
    }
    return finite;
  }
  /// Puts a column, twice, into rotation `by`: place p gets bit (p + by) mod z.
  WB_HD void place_column(const element* bits, int by, element* to) const {
    for (int copy = 0; copy < 2; copy++) {
      __builtin_memcpy(to + copy * a.z, bits + by, static_cast<std::size_t>(a.z - by) * sizeof(element));
      __builtin_memcpy(to + copy * a.z + a.z - by, bits, static_cast<std::size_t>(by) * sizeof(element));
    }
  }
  /// Returns a bit for each erased codeword.
  template <class G>
  WB_HD unsigned load_channel(std::size_t item, int, G) const {
    const int padding = a.column_stride - 2 * a.z;
    for (int b = 0; b < 2 * a.columns; b++)
      __builtin_memset(app + b * a.column_stride + 2 * a.z, 0,
                       static_cast<std::size_t>(padding) * sizeof(element));
    bool finite = true;
    for (int c = 0; c < a.columns; c++) {
      element* bits = a.flooding ? channel() + c * a.row_stride : messages;  // messages: as a buffer
      finite = load_column(item, c, bits) && finite;
      place_column(bits, a.flooding ? 0 : a.column_table[c].rotation,
                   app + (a.flooding ? c * a.column_stride : a.column_table[c].buffer));
    }
    if (!finite) {
      __builtin_memset(app, 0, static_cast<std::size_t>(2 * a.columns * a.column_stride) * sizeof(element));
      if (a.flooding)
        __builtin_memset(channel(), 0, static_cast<std::size_t>(a.columns * a.row_stride) * sizeof(element));
    }
    return finite ? 0u : 1u;
  }

  template <class G>
  WB_HD void clear_messages(G) const {
    __builtin_memset(messages, 0, static_cast<std::size_t>(a.blocks * a.row_stride) * sizeof(element));
  }

  template <class Rule, class Degree, class G>
  WB_HD void layer(const Rule& rule, Degree degree, ldpc_row row, int parity, G) const {
    // Addresses are kept in locals: stores of bytes may alias everything else.
    const int z = a.z, n = degree;
    const element* from[Degree::most];
    element *to[Degree::most], *message[Degree::most];
    for (int d = 0; d < n; d++) {
      const ldpc_edge& e = a.edges[row.first + d];
      from[d] = app + e.from[parity];
      to[d] = app + e.to[parity];
      message[d] = messages + (row.first + d) * a.row_stride;
    }
    // From the last vector down: what lies behind the z values of the first copy is overwritten by the
    // second.
    for (int r = (z - 1) / rows * rows; r >= 0; r -= rows) {
      T q[Degree::most], back[Degree::most];
      each_edge(degree, [&](int d) WB_INLINE_LAMBDA {
        q[d] = difference(load_message<T>(from[d] + r), load_message<T>(message[d] + r));
      });
      check_messages(rule, degree, q, back);
      each_edge(degree, [&](int d) WB_INLINE_LAMBDA {
        store_message<T>(message[d] + r, back[d]);
        const T value = sum(q[d], back[d]);
        store_message<T>(to[d] + r, value);
        store_message<T>(to[d] + z + r, value);
      });
    }
  }

  // Flooding: A of the last iteration in bit order, twice, and behind it the sums of new messages, apart for
  // rows before and after the end of the column.
  WB_HD element* sums() const { return app + a.columns * a.column_stride; }
  template <class G>
  WB_HD void begin_flooding(G) const {
    __builtin_memset(sums(), 0, static_cast<std::size_t>(a.columns * a.column_stride) * sizeof(element));
  }
  template <class Rule, class Degree, class G>
  WB_HD void flooding_layer(const Rule& rule, Degree degree, ldpc_row row, G) const {
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
  template <class G>
  WB_HD void end_flooding(G) const {
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

  /// A bit for each codeword with an unsatisfied check.
  template <class G>
  WB_HD unsigned violated(int parity, G) const {
    for (int r = 0; r < a.z; r += rows) {
      T bad = rows_of_zero();
      for (int m = 0; m < a.rows; m++) {
        const ldpc_row row = a.row_table[m];
        T odd = rows_of_zero();
        for (int d = row.first; d < row.first + row.degree; d++) {
          const int at =
              a.flooding ? a.edges[d].column * a.column_stride + a.edges[d].shift : a.edges[d].check[parity];
          odd = sign_product(odd, load_message<T>(app + at + r));
        }
        bad = sign_union(bad, odd);
      }
      element part[rows];
      store_message<T>(part, bad);
      const int count = a.z - r < rows ? a.z - r : rows;
      for (int i = 0; i < count; i++)
        if (sign_bit(part[i])) return 1;
    }
    return 0;
  }

  /// Whether the codewords of `leaving` leave after iteration `done` of parity `parity`.
  template <class G>
  WB_HD void store(std::size_t item, unsigned, unsigned erased, unsigned stopped, int iterations, int parity,
                   G) const {
    const bool gone = erased != 0;
    std::size_t most = a.bits.data ? a.bits.elements : 0;
    if (a.soft.data && a.soft.elements > most) most = a.soft.elements;
    if (a.extrinsic.data && a.extrinsic.elements > most) most = a.extrinsic.elements;
    for (int c = 0; static_cast<std::size_t>(c * a.z) < most; c++) {
      const element* from = app + (a.flooding ? c * a.column_stride : a.column_table[c].out[parity]);
      for (int r = 0; r < a.z; r += WB_WIDTH) {
        const std::size_t e = static_cast<std::size_t>(c * a.z + r);
        const lane x = conversion::get(from + r);
        if (e < a.bits.elements && a.bits.data)
          store_row(a.bits, e, item, select(x < lane(0.f), lane(1.f), lane(0.f)), a.z - r);
        if (e < a.soft.elements && a.soft.data) store_row(a.soft, e, item, conversion::llr(a, x), a.z - r);
        if (e < a.extrinsic.elements && a.extrinsic.data) {
          element channel[WB_WIDTH];
          const lane y = load_row(a.llr, e, item, a.z - r);
          conversion::put(a, channel, select(is_finite(y), y, lane(0.f)));
          const lane outer = conversion::llr(a, conversion::extrinsic(x, conversion::get(channel)));
          store_row(a.extrinsic, e, item, gone ? lane(0.f) : outer, a.z - r);
        }
      }
    }
    if (a.iterations_used.data)
      a.iterations_used.data[item * a.iterations_used.item_stride] = gone ? 0 : iterations;
    if (a.status.data)
      a.status.data[item * a.status.item_stride] = gone ? status_erased : stopped != 0 ? status_stopped : 0;
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

/// A-posteriori LLRs in bit order, in shared memory where they fit.
template <class T>
struct block_values {
  using element = typename message_memory<T>::element;
  using conversion = message_of<T>;
  static constexpr int codewords = message_memory<T>::codewords;
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
  /// Returns a bit for each erased codeword.
  template <class G>
  WB_HD unsigned load_channel(std::size_t item, int items, G g) const {
    unsigned bad = 0;
    constexpr int ahead = 8;  // loads in flight
    for (int e = g.rank; e < a.n; e += ahead * g.size) {
      float x[ahead][codewords];
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n)
          read(e + i * g.size, item, items, x[i]);
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < a.n)
          put_bit(e + i * g.size, channel(x[i], bad));
    }
    bad = any_of(bad, g);
    if (bad != 0) {
      for (int e = g.rank; e < a.n; e += g.size) {
        unsigned ignored = 0;
        put_bit(e, cleared(channel(e, item, items, ignored), bad));
      }
    }
    g.sync();
    return bad;
  }
  template <class G>
  WB_HD void clear_messages(G g) const {
    for (int i = g.rank; i < a.blocks * a.z; i += g.size) store_message<T>(messages + i, T{});
  }
  WB_HD void put_bit(int e, T x) const {
    store_message<T>(app + e, x);
    if (a.flooding) store_message<T>(app + a.n + e, x);
  }

  template <class Rule, class Degree, class G>
  WB_HD void layer(const Rule& rule, Degree degree, ldpc_row row, int, G g) const {
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
  WB_HD void begin_flooding(G g) const {
    for (int i = g.rank; i < 2 * a.n; i += g.size) store_message<T>(sums() + i, T{});
    g.sync();
  }
  template <class Rule, class Degree, class G>
  WB_HD void flooding_layer(const Rule& rule, Degree degree, ldpc_row row, G g) const {
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
  WB_HD void end_flooding(G g) const {
    for (int e = g.rank; e < a.n; e += g.size)
      store_message<T>(app + e, sum(sum(load_message<T>(app + a.n + e), load_message<T>(sums() + e)),
                                    load_message<T>(sums() + a.n + e)));
  }

  /// A bit for each codeword with an unsatisfied check.
  template <class G>
  WB_HD unsigned violated(int, G g) const {
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
      const bool gone = (erased >> w & 1u) != 0;
      auto value = [&](std::size_t e) { return conversion::get(load_message<T>(app + e), w); };
      const std::size_t first = static_cast<std::size_t>(g.rank), step = static_cast<std::size_t>(g.size);
      if (a.bits.data)
        for (std::size_t e = first; e < a.bits.elements; e += step)
          a.bits.data[e * a.bits.element_stride + i * a.bits.item_stride] = value(e) < 0.f;
      if (a.soft.data)
        for (std::size_t e = first; e < a.soft.elements; e += step)
          a.soft.data[e * a.soft.element_stride + i * a.soft.item_stride] = conversion::llr(a, value(e));
      if (a.extrinsic.data)
        for (std::size_t e = first; e < a.extrinsic.elements; e += step) {
          unsigned ignored = 0;  // both halves get this codeword's channel
          const T c = channel(static_cast<int>(e), i, 1, ignored);
          a.extrinsic.data[e * a.extrinsic.element_stride + i * a.extrinsic.item_stride] =
              gone ? 0.f : conversion::llr(a, conversion::extrinsic(load_message<T>(app + e), c, w));
        }
      if (g.rank == 0) {
        if (a.iterations_used.data)
          a.iterations_used.data[i * a.iterations_used.item_stride] = gone ? 0 : iterations;
        if (a.status.data)
          a.status.data[i * a.status.item_stride] = gone                       ? status_erased
                                                    : (stopped >> w & 1u) != 0 ? status_stopped
                                                                               : 0;
      }
    }
  }
};

/// The same with a thread for each row and its messages in registers. Rows block rows of degree Least..Most.
template <class T, int Rows, int Least, int Most>
struct register_values : block_values<T> {
  using base = block_values<T>;
  using element = typename base::element;
  static constexpr int chunks = (Most + 3) / 4;
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
  WB_HD unsigned violated(int, G g) const {
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
