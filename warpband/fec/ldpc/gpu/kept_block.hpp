#pragma once
// Messages kept between calls (ldpc_kept.hpp) where each thread of a block has a row.
#include <warpband/fec/ldpc/gpu/block_values.hpp>
#include <warpband/fec/ldpc/ldpc_kept.hpp>

namespace wb {
inline namespace WB_ISA {

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
  WB_HD float changed(float app, float was, float channel, int e, int w) const {
    const llr_quantiser by = scale(w);
    if constexpr (std::is_same_v<T, f16x>) {
      if (!a.flooding)
        return conversion::get(format::moved(to_half(format::number(by, app)),
                                             to_half(format::message(by, was)), to_half(channel)),
                               w);
      return format::number(by, app);
    } else {
      return a.flooding || format::number(by, was) == channel ? format::number(by, app)
                                                              : summed(channel, e, w);
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

}  // namespace WB_ISA
}  // namespace wb
