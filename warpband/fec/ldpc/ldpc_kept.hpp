#pragma once
// Messages kept between calls (ldpc_decoder_output::messages and ::state): how a codeword gets them and
// leaves them.
//
// In flooding order the first checks take what the bits had then, q = A - R, and the new channel LLRs enter
// where A is next summed up. In layered order two calls are one with the iterations of both, where the
// channel's LLRs stay: A of such a bit is the kept one. Of other bits
//
//   float16         A is the kept one plus the difference of the channel's LLRs, each rounded, as in an
//                   iteration;
//   float32, int8   A is the new channel LLR plus the messages, in order of the block rows and rounded once,
//                   so that what int8 lost by saturation does not stay lost.
#include <warpband/fec/ldpc/ldpc_block_values.hpp>
#include <warpband/fec/ldpc/ldpc_kept_values.hpp>
#include <warpband/fec/ldpc/ldpc_vector_codewords.hpp>

namespace wb {
inline namespace WB_ISA {

// ---------------------------------------------------------------- rows in the lanes of vectors

#if !defined(__CUDACC__)
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

  WB_HD kept_vectors(const values& of, std::size_t number)
      : v(of), a(of.a), item(number), by(a.quanta, number) {}

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
          const int at = a.flooding
                             ? (row.first + d) * a.row_stride + r
                             : (row.first * a.vectors + r / values::rows * row.degree + d) * values::rows +
                                   r % values::rows;
          f(v.messages + at, (row.first + d) * a.z + r, a.z - r);
        }
    }
  }
  /// Rows r, r + 1, ... of an edge around the end of the column, up to `count`.
  WB_HD lane read_around(int edge, int r, int count) const {
    const int rows = count < WB_WIDTH ? count : WB_WIDTH;
    if (r + rows <= a.z) return read(edge * a.z + r, rows);
    lane x(0.f);
    for (int i = 0; i < rows; i++) {
      const int at = r + i < a.z ? r + i : r + i - a.z;
      const lane value = read(edge * a.z + at, 1);
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
  WB_HD void store(bool gone, int iterations, int parity) const {
    each_message([&](const element* from, int e, int count) {
      write(e, gone ? lane(0.f) : conversion::llr(by, conversion::get(from)), count);
    });
    for (int c = 0; c < a.columns; c++) {
      const int e = kept_app(a) + c * a.z;
      if (a.flooding) {
        write_run(v.app + c * a.column_stride, e, a.z, gone);
      } else {
        const int left = a.column_table[c].rotation;
        const element* last = v.app + a.column_table[c].last[parity];
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
                           unsigned erased, int iterations, int parity, G) {
  values.each(leaving, [&](const auto& c, int w) {
    kept_vectors<T>(c, first + static_cast<std::size_t>(w))
        .store((erased >> 8 * w & 0xffu) != 0, iterations, parity);
  });
}

// ---------------------------------------------------------------- a row for each thread of a block

#else
template <class T>
WB_HD T message_of_numbers(const float* x) {
  if constexpr (message_memory<T>::codewords == 2)
    return to_half(x[0], x[1]);
  else if constexpr (std::is_same_v<T, i8x>)
    return to_int8(nearest_integer(x[0]));
  else
    return x[0];
}
template <class T>
struct kept_block {
  using values = block_values<T>;
  using conversion = typename values::conversion;
  using format = kept_format<T>;
  static constexpr int codewords = values::codewords;
  const values& v;
  const ldpc_decode_args& a;
  std::size_t first;

  WB_HD std::size_t codeword(int w) const { return first + static_cast<std::size_t>(w); }
  WB_HD llr_quantiser scale(int w) const { return {a.quanta, codeword(w)}; }
  /// f(e, x) for this thread's share of the places e < count: x[p][w] is what codeword w, one of `which`, has
  /// at place from[p] + e of the view. Several loads are in flight.
  template <int Parts, class G, class F>
  WB_HD void each_kept(const int (&from)[Parts], int count, unsigned which, G g, F f) const {
    constexpr int ahead = 8 / Parts;
    WB_ROLL for (int e = g.rank; e < count; e += ahead * g.size) {
      float x[ahead][Parts][codewords] = {};
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < count) {
        WB_UNROLL for (int p = 0; p < Parts; p++) {
          WB_UNROLL for (int w = 0; w < codewords; w++) if ((which >> w & 1u) != 0) x[i][p][w] =
              load_kept_number<T>(a, codeword(w), from[p] + e + i * g.size);
        }
      }
      WB_UNROLL for (int i = 0; i < ahead; i++) if (e + i * g.size < count) f(e + i * g.size, x[i]);
    }
  }
  /// A of bit e of codeword w in layered order, from the channel and the messages in scratch.
  WB_HD float summed(float channel, int e, int w) const {
    const int c = e / a.z, r = e - c * a.z;
    WB_ROLL for (int i = a.column_firsts[c]; i < a.column_firsts[c + 1]; i++) {
      const int edge = a.column_edges[i], shift = a.places[edge].shift;
      const int row = r < shift ? r - shift + a.z : r - shift;
      channel = channel + conversion::get(load_message<T>(v.messages + edge * a.z + row), w);
    }
    return format::rounded(channel);
  }
  /// A of bit e of codeword w from what was kept and its channel LLR now.
  WB_HD float changed(float app, float was, float now, int e, int w) const {
    const llr_quantiser by = scale(w);
    if constexpr (std::is_same_v<T, f16x>) {
      if (!a.flooding)
        return conversion::get(
            format::moved(to_half(format::number(by, app)), to_half(format::message(by, was)), to_half(now)),
            w);
      return format::number(by, app);
    } else {
      return a.flooding || format::number(by, was) == now ? format::number(by, app) : summed(now, e, w);
    }
  }
  template <class G>
  WB_HD unsigned load(int items, unsigned erased, G g) const {
    unsigned going = 0, bad = 0;
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if (w >= items || (erased >> 8 * w & 0xffu) != 0) continue;
      const float done = iterations_kept(a, codeword(w));
      if (!is_finite(done))
        bad |= 1u << w;
      else if (done > 0.f)
        going |= 1u << w;
    }
    if ((going | bad) == 0) return 0;
    each_kept<1>({0}, a.blocks * a.z, going, g, [&](int e, const float(&kept)[1][codewords]) {
      float x[codewords];
      WB_UNROLL for (int w = 0; w < codewords; w++) {
        if (!is_finite(kept[0][w])) bad |= 1u << w;
        x[w] = format::message(scale(w), kept[0][w]);
      }
      store_message<T>(v.messages + e, message_of_numbers<T>(x));
    });
    g.sync();
    // A is the kept one where the channel's LLR is the old one.
    each_kept<2>({kept_app(a), kept_channel(a)}, a.n, going, g, [&](int e, const float(&kept)[2][codewords]) {
      const T channel = load_message<T>(v.app + e);
      float x[codewords];
      WB_UNROLL for (int w = 0; w < codewords; w++) {
        x[w] = conversion::get(channel, w);
        if ((going >> w & 1u) == 0) continue;
        if (!is_finite(kept[0][w]) || !is_finite(kept[1][w])) bad |= 1u << w;
        x[w] = changed(kept[0][w], kept[1][w], x[w], e, w);
      }
      store_message<T>(v.app + e, message_of_numbers<T>(x));
    });
    bad = v.any_of(bad, g);
    if (bad != 0) v.clear(bad, g);
    unsigned status = 0;
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if ((bad >> w & 1u) != 0) status |= static_cast<unsigned>(status_erased) << 8 * w;
    }
    return status;
  }
  template <class G>
  WB_HD void store(unsigned leaving, unsigned erased, int iterations, G g) const {
    WB_UNROLL for (int w = 0; w < codewords; w++) {
      if ((leaving >> w & 1u) == 0) continue;
      const bool gone = (erased >> 8 * w & 0xffu) != 0;
      const std::size_t item = first + static_cast<std::size_t>(w);
      auto put = [&](int e, T x) {
        store_kept_number<T>(a, item, e, gone ? 0.f : conversion::llr(scale(w), conversion::get(x, w)));
      };
      WB_ROLL for (int e = g.rank; e < a.blocks * a.z; e += g.size) put(e, load_message<T>(v.messages + e));
      WB_ROLL for (int e = g.rank; e < a.n; e += g.size) put(kept_app(a) + e, load_message<T>(v.app + e));
      v.each_channel(a.n, item, g, [&](int e, T channel) { put(kept_channel(a) + e, channel); });
      if (g.rank == 0) count_kept_iterations(a, item, gone, iterations);
    }
  }
};
template <class T, class G>
WB_HD_CALL unsigned load_kept(const block_values<T>& values, std::size_t first, int items, unsigned erased,
                              G g) {
  return kept_block<T>{values, values.a, first}.load(items, erased, g);
}
template <class T, class G>
WB_HD_CALL void store_kept(const block_values<T>& values, std::size_t first, unsigned leaving,
                           unsigned erased, int iterations, int, G g) {
  kept_block<T>{values, values.a, first}.store(leaving, erased, iterations, g);
}
#endif

}  // namespace WB_ISA
}  // namespace wb
