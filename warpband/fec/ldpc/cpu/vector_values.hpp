#pragma once
// The values of a codeword that one thread decodes: rows in the lanes of vectors.
#include <warpband/fec/ldpc/ldpc_messages.hpp>

namespace wb {
inline namespace WB_ISA {

/// A column of a-posteriori LLRs has the rotation of its last reader. Its first vector is repeated behind its
/// end, so that each vector in the rotation of the next reader is one contiguous load. The new values
/// go to a second buffer, in this reader's rotation: other rows still read the old ones. Where each vector is
/// read is a table, one for even and one for odd iterations. One thread, one codeword.
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
    const llr_quantiser quantise(a.quanta, item);
    int r = 0;
#if WB_WIDTH > 1
    if constexpr (std::is_same_v<T, i8x>) {
      for (; r + 16 <= a.z && a.llr.element_stride == 1; r += 16) {  // the usual case: 16 bytes at once
        I whole[16 / WB_WIDTH];
        WB_UNROLL for (int v = 0; v < 16 / WB_WIDTH; v++) {
          const int row = r + v * WB_WIDTH;
          const lane x = load_row(a.llr, static_cast<std::size_t>(c * a.z + row), item, WB_WIDTH);
          const auto good = is_finite(x);
          finite = finite & good;
          whole[v] = conversion::whole(quantise, select(good, x, lane(0.f)));
          usable = usable + select(whole[v] == I(0), I(0), I(1));
        }
        const byte_row bytes = narrow_to_bytes(whole);
        __builtin_memcpy(to + r, &bytes, sizeof bytes);
      }
    }
#endif
    for (; r < a.z; r += WB_WIDTH) {
      const lane x = load_row(a.llr, static_cast<std::size_t>(c * a.z + r), item, a.z - r);
      const auto good = is_finite(x);
      finite = finite & good;
      conversion::put(quantise, to + r, select(good, x, lane(0.f)));
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
  /// count_large of the channel's LLRs. Before the first iteration.
  WB_HD std::int32_t large(float limit, float overflow) const {
    typename rebind<lane>::i32 in_lanes(0);
    std::int32_t count = 0;
    for (int c = 0; c < a.columns; c++) {
      const element* x = app + (a.flooding ? c * a.column_stride : a.column_table[c].first);
      int r = 0;
      for (; r + rows <= a.z; r += rows) count_large(in_lanes, load_message<T>(x + r), limit, overflow);
      for (; r < a.z; r++) count_large(count, x[r], limit, overflow);
    }
    return count + sum_of_lanes(in_lanes);
  }
  /// The first vector again behind the z values of a column.
  WB_HD void repeat_first(element* column) const { store_message<T>(column + a.z, load_message<T>(column)); }

  WB_HD void clear_messages() const {
    __builtin_memset(messages, 0, static_cast<std::size_t>(a.blocks * a.row_stride) * sizeof(element));
  }

  template <class Rule, class Degree>
  WB_HD void layer(const Rule& rule, Degree degree, ldpc_row row, int odd) const {
    // Addresses are kept in locals: stores of bytes may alias everything else.
    const int n = degree, z = a.z, vectors = a.vectors;
    element* const values = app;
    element* to[Degree::capacity];
    const ldpc_edge* const edges = a.edges + row.first;
    each_edge(degree, [&](int d) WB_INLINE_LAMBDA { to[d] = values + edges[d].to[odd]; });
    const int before = (row.first + n) * vectors;
    const std::int32_t* from = a.reads + odd * a.blocks * vectors + before;
    element* message = messages + before * rows;
    // From the last vector down: what lies behind the z values of a column is overwritten by the first ones.
    for (int r = (vectors - 1) * rows; r >= 0; r -= rows) {
      from -= n, message -= n * rows;
      T q[Degree::capacity], back[Degree::capacity];
      const auto last_app = [&](int d) WB_INLINE_LAMBDA {
        return load_message<T>(values + static_cast<std::uint32_t>(from[d]));
      };
      const auto last = [&](int d) WB_INLINE_LAMBDA { return load_message<T>(message + d * rows); };
      const auto keep = [&](int d, T value) WB_INLINE_LAMBDA { store_message<T>(message + d * rows, value); };
      const auto store_app = [&](int d, T value) WB_INLINE_LAMBDA { store_message<T>(to[d] + r, value); };
      variable_to_check(degree, q, last_app, last);
      check_to_variable(rule, degree, q, back);
      posteriors(degree, q, back, keep, store_app);
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
      T q[Degree::capacity], back[Degree::capacity];
      const auto last_app = [&](int d) WB_INLINE_LAMBDA {
        return load_message<T>(app + edges[d].column * a.column_stride + edges[d].shift + r);
      };
      auto last = [&](int d) WB_INLINE_LAMBDA { return load_message<T>(message + d * a.row_stride + r); };
      variable_to_check(degree, q, last_app, last);
      check_to_variable(rule, degree, q, back);
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
  WB_HD bool violated(int odd) const {
    const std::int32_t* reads = a.reads + (2 + odd) * a.blocks * a.vectors;
    for (int r = 0; r < a.z; r += rows, reads += a.blocks) {
      T bad = rows_of_zero();
      for (int m = 0; m < a.rows; m++) {
        const ldpc_row row = a.row_table[m];
        T unsatisfied = rows_of_zero();
        for (int d = row.first; d < row.first + row.degree; d++)
          unsatisfied = sign_product(
              unsatisfied,
              load_message<T>(app + (a.flooding ? a.edges[d].column * a.column_stride + a.edges[d].shift + r
                                                : reads[d])));
        bad = sign_union(bad, unsatisfied);
      }
      element part[rows];
      store_message<T>(part, bad);
      const int count = a.z - r < rows ? a.z - r : rows;
      for (int i = 0; i < count; i++)
        if (sign_bit(part[i])) return true;
    }
    return false;
  }

  /// Whether the CRC holds, of bits that are not all zeros or of any word.
  WB_HD bool crc_holds(int odd) const {
    using I = typename rebind<lane>::i32;
    I sums(0), ones(0);
    // Bits `bit` and on, `count` of them, at places `from` and on. No weight is 0.
    const auto add = [&](int bit, int count, const element* from) WB_INLINE_LAMBDA {
      if (count > a.crc_bits - bit) count = a.crc_bits - bit;
      for (int i = 0; i < count; i += WB_WIDTH) {
        I weight;
        if (i + WB_WIDTH <= count) {
          __builtin_memcpy(&weight, a.crc_weights + bit + i, sizeof weight);
        } else {
          std::int32_t part[WB_WIDTH] = {};
          for (int j = 0; j < count - i; j++) part[j] = a.crc_weights[bit + i + j];
          __builtin_memcpy(&weight, part, sizeof weight);
        }
        weight = weight & conversion::sign_mask(from + i);
        sums = sums ^ weight;
        ones = ones | weight;
      }
    };
    for (int c = 0; c * a.z < a.crc_bits; c++) {
      const element* from = app + (a.flooding ? c * a.column_stride : a.column_table[c].last[odd]);
      const int turned = a.flooding ? 0 : a.column_table[c].rotation;  // place p has bit (p + turned) mod z
      add(c * a.z + turned, a.z - turned, from);
      add(c * a.z, turned, from + a.z - turned);
    }
    std::int32_t parts[WB_WIDTH], sum = 0;
    __builtin_memcpy(parts, &sums, sizeof sums);
    for (int i = 0; i < WB_WIDTH; i++) sum ^= parts[i];
    return sum == 0 && (a.takes_any_word || any(!(ones == I(0))));
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
  /// The results of a codeword that leaves after `iterations`, the last of them even (0) or odd (1).
  WB_HD void store(std::size_t item, unsigned gone, bool stopped, int iterations, int odd) const {
    const llr_quantiser quantise(a.quanta, item);
    std::size_t elements = a.bits.data ? a.bits.elements : 0;
    if (a.soft.data && a.soft.elements > elements) elements = a.soft.elements;
    if (a.extrinsic.data && a.extrinsic.elements > elements) elements = a.extrinsic.elements;
    for (int c = 0; static_cast<std::size_t>(c * a.z) < elements; c++) {
      const element* from = app + c * a.column_stride;
      if (!a.flooding) {
        const int left = a.column_table[c].rotation;  // messages are no longer needed
        place_column(app + a.column_table[c].last[odd], left == 0 ? 0 : a.z - left, messages);
        from = messages;
      }
      if (a.bits.data) store_bits(item, c, from);
      if (!a.soft.data && !a.extrinsic.data) continue;
      for (int r = 0; r < a.z; r += WB_WIDTH) {
        const std::size_t e = static_cast<std::size_t>(c * a.z + r);
        const lane x = conversion::get(from + r);
        if (e < a.soft.elements && a.soft.data)
          store_row(a.soft, e, item, conversion::llr(quantise, x), a.z - r);
        if (e < a.extrinsic.elements && a.extrinsic.data) {
          element channel[WB_WIDTH];
          const lane y = load_row(a.llr, e, item, a.z - r);
          conversion::put(quantise, channel, select(is_finite(y), y, lane(0.f)));
          const lane outer = conversion::llr(quantise, conversion::extrinsic(x, conversion::get(channel)));
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

}  // namespace WB_ISA
}  // namespace wb
