#pragma once
// Messages kept between calls (ldpc_kept.hpp) where rows are in the lanes of vectors.
#include <warpband/fec/ldpc/cpu/vector_codewords.hpp>
#include <warpband/fec/ldpc/ldpc_kept.hpp>

namespace wb {
inline namespace WB_ISA {

/// The kept values of one codeword.
template <class T>
struct kept_vectors {
  using values = vector_values<T>;
  using element = typename values::element;
  using conversion = typename values::conversion;
  using format = kept_format<T>;
  using mask = typename rebind<lane>::mask;
  const values& v;
  const ldpc_decode_args& a;
  std::size_t item;
  llr_quantiser by;

  WB_HD kept_vectors(const values& codeword, std::size_t number)
      : v(codeword), a(codeword.a), item(number), by(a.quanta, number) {}

  WB_HD lane read(int e, int count) const {
    if constexpr (std::is_same_v<T, f16x>)
      if (a.kept_halves) return load_halves(kept_halves_at(a, item, e), count);
    return values::load_row(a.messages, static_cast<std::size_t>(e), item, count);
  }
  WB_HD void write(int e, lane x, int count) const {
    if constexpr (std::is_same_v<T, f16x>)
      if (a.kept_halves) return store_halves(kept_halves_at(a, item, e), x, count);
    values::store_row(a.messages, static_cast<std::size_t>(e), item, x, count);
  }
  /// f(place in scratch, place in the view, rows) of all messages, as many as a lane of floats at a time.
  template <class F>
  WB_HD void each_message(F f) const {
    for (int m = 0; m < a.rows; m++) {
      const ldpc_row row = a.row_table[m];
      for (int d = 0; d < row.degree; d++)
        for (int r = 0; r < a.z; r += WB_WIDTH) {
          const int offset =
              a.flooding ? (row.first + d) * a.row_stride + r
                         : (row.first * a.vectors + r / values::rows * row.degree + d) * values::rows +
                               r % values::rows;
          f(v.messages + offset, (row.first + d) * a.z + r, a.z - r);
        }
    }
  }
  /// Rows r, r + 1, ... of an edge around the end of the column, up to `count`.
  WB_HD lane read_around(int edge, int r, int count) const {
    const int rows = count < WB_WIDTH ? count : WB_WIDTH;
    if (r + rows <= a.z) return read(edge * a.z + r, rows);
    lane x(0.f);
    for (int i = 0; i < rows; i++) {
      const int row = r + i < a.z ? r + i : r + i - a.z;
      const lane value = read(edge * a.z + row, 1);
      __builtin_memcpy(reinterpret_cast<char*>(&x) + sizeof(float) * static_cast<std::size_t>(i), &value,
                       sizeof(float));
    }
    return x;
  }
  /// A of the bits r, r + 1, ... of a column in layered order, from the channel and the messages.
  WB_HD lane summed(lane channel, int column, int r) const {
    for (int i = a.column_firsts[column]; i < a.column_firsts[column + 1]; i++) {
      const int edge = a.column_edges[i], shift = a.edges[edge].shift;
      channel =
          channel + format::message(by, read_around(edge, r < shift ? r - shift + a.z : r - shift, a.z - r));
    }
    return format::rounded(channel);
  }

  /// 0, or the status of a codeword whose kept values are not finite.
  WB_HD unsigned load() const {
    const float done = iterations_kept(a, item);
    bool good = done - done == 0.f;
    if (good && !(done > 0.f)) return 0;
    auto finite = mask_from<mask>(good);
    for (int c = 0; good && c < a.columns; c++) {
      element* bits = v.messages;  // as a buffer
      typename rebind<lane>::i32 ignored(0);
      v.load_column(item, c, bits, ignored);
      for (int r = 0; r < a.z; r += WB_WIDTH) {
        const int bit = c * a.z + r;
        const lane was = read(kept_channel(a) + bit, a.z - r);
        lane x = read(kept_app(a) + bit, a.z - r);
        finite = finite & is_finite(was) & is_finite(x);
        x = format::number(by, x);
        if (!a.flooding) {
          const lane channel = conversion::get(bits + r);
          if constexpr (std::is_same_v<T, f16x>)
            x = format::moved({x}, {format::message(by, was)}, {channel}).x;
          else
            x = select(format::number(by, was) == channel, x, summed(channel, c, r));
        }
        conversion::put_number(bits + r, x);
      }
      v.place_bits(c, bits);
    }
    each_message([&](element* to, int e, int count) {
      const lane x = read(e, count);
      finite = finite & is_finite(x);
      conversion::put_number(to, format::message(by, x));
    });
    good = all(finite);
    if (good) return 0;
    v.clear();
    v.clear_messages();
    return status_erased;
  }
  /// `count` bits from place `from` on to the view.
  WB_HD void write_run(const element* from, int e, int count, bool gone) const {
    for (int r = 0; r < count; r += WB_WIDTH) {
      const lane x = conversion::llr(by, conversion::get(from + r));
      write(e + r, gone ? lane(0.f) : x, count - r);
    }
  }
  /// Before vector_values::store, which uses the messages as a buffer.
  WB_HD void store(bool gone, int iterations, int odd) const {
    each_message([&](const element* from, int e, int count) {
      write(e, gone ? lane(0.f) : conversion::llr(by, conversion::get(from)), count);
    });
    for (int c = 0; c < a.columns; c++) {
      const int e = kept_app(a) + c * a.z;
      if (a.flooding) {
        write_run(v.app + c * a.column_stride, e, a.z, gone);
      } else {
        const int left = a.column_table[c].rotation;
        const element* last = v.app + a.column_table[c].last[odd];
        write_run(last, e + left, a.z - left, gone);
        write_run(last + (a.z - left), e, left, gone);
      }
      typename rebind<lane>::i32 ignored(0);
      v.load_column(item, c, v.messages, ignored);
      write_run(v.messages, kept_channel(a) + c * a.z, a.z, gone);
    }
    count_kept_iterations(a, item, gone, iterations);
  }
};

/// The codewords begin with what they kept. Returns a byte for each: 0, or the status of one whose kept
/// values are not finite. `erased`: those of the channel.
template <class T, class G>
WB_HD_CALL unsigned load_kept(const vector_codewords<T>& values, std::size_t first, int items,
                              unsigned erased, G) {
  unsigned status = 0;
  values.each((1u << items) - 1u, [&](const auto& c, int w) {
    if ((erased >> 8 * w & 0xffu) == 0)
      status |= kept_vectors<T>(c, first + static_cast<std::size_t>(w)).load() << 8 * w;
  });
  return status;
}
/// Those that leave keep their messages.
template <class T, class G>
WB_HD_CALL void store_kept(const vector_codewords<T>& values, std::size_t first, unsigned leaving,
                           unsigned erased, int iterations, int odd, G) {
  values.each(leaving, [&](const auto& c, int w) {
    kept_vectors<T>(c, first + static_cast<std::size_t>(w))
        .store((erased >> 8 * w & 0xffu) != 0, iterations, odd);
  });
}

}  // namespace WB_ISA
}  // namespace wb
