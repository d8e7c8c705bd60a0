#pragma once
// How the windows of codewords get their channel LLRs and give their decisions: one template for all numbers.
//
// Weights W, a turbo_windows_setup, converts between what callers have and what lies in the arrays:
//   seen                       what is noted of a codeword's LLRs as they come: `finite`, and what W needs
//   note(w, q, seen)           after the last one of codeword q
//   weight(e, item, seen)      of one LLR; packed(weights) of one codeword after the other for an element
//   on a CPU, squares of side x side:
//   weights(e, item, seen)     of `side` neighbouring LLRs, and put_weights(to, row)
//   decisions(from, kept)      of `side` neighbouring numbers, and put_decisions(to, row, kept) of bits
//   transpose_rows(rows)
//   on CUDA:
//   four_weights(e, item, seen)  of neighbours that lie in a word; packed_of(fours, i) of the i-th of them
//   fours                        how many of them are loaded at once
#include <warpband/fec/turbo/turbo_windows_op.hpp>

namespace wb {
inline namespace WB_ISA {

template <class W>
struct turbo_windows_io : W {
  using typename W::values;
  using V = typename W::numbers;
  using channel_element = typename V::channel_element;
  using W::a;
  using W::L;
  using W::plan;
  using W::W;

#if defined(__CUDACC__)
  /// Whether four neighbouring values of a column lie in a word, wherever it begins.
  template <class E>
  WB_HD bool in_words(const view<E>& v) const {
    return plan.steps % 4 == 0 && v.element_stride == 1 && v.item_stride % 4 == 0 &&
           reinterpret_cast<std::uintptr_t>(v.data) % (4 * sizeof(E)) == 0;
  }
  /// A thread loads its own columns: what neighbours read lies far apart, but is read once, and they write
  /// to neighbouring places.
  template <class G>
  WB_HD void load_stream(const values& w, int stream, std::size_t first, int items, std::int32_t* erased,
                         G g) const {
    const bool words = a.llr8.data != nullptr ? in_words(a.llr8) : in_words(a.llr);
    for (int u = g.rank; u < plan.columns; u += g.size) {
      const int group = u / w.layout.vectors, v = u % w.layout.vectors, q = V::items * group;
      channel_element* to = (stream == 0 ? w.systematic(group) : w.parity(group, stream - 1)) + v;
      const std::size_t begin = static_cast<std::size_t>(stream * (a.k + 4) + v * plan.steps);
      std::size_t item[V::items];
      typename W::seen s[V::items];
      WB_UNROLL for (int i = 0; i < V::items; i++) item[i] =
          first + static_cast<std::size_t>(q + i < items ? q + i : 0);
      if (words) {
        _Pragma("unroll W::fours") for (int j = 0; j < plan.steps; j += 4) {
          typename W::four x[V::items];
          WB_UNROLL for (int i = 0; i < V::items; i++) x[i] =
              this->four_weights(begin + static_cast<std::size_t>(j), item[i], s[i]);
          WB_UNROLL for (int i = 0; i < 4; i++) to[(j + i) * w.layout.stride] = W::packed_of(x, i);
        }
      } else {
        for (int j = 0; j < plan.steps; j++) {
          typename W::single x[V::items];
          WB_UNROLL for (int i = 0; i < V::items; i++) x[i] =
              this->weight(begin + static_cast<std::size_t>(j), item[i], s[i]);
          to[j * w.layout.stride] = W::packed(x);
        }
      }
      WB_UNROLL for (int i = 0; i < V::items; i++) {
        if (!s[i].finite) set_flag(erased + q + i);
        this->note(w, q + i, s[i]);
      }
    }
  }
  template <class G>
  WB_HD void store_bits(const values& w, std::size_t first, int items, const std::int32_t* erased,
                        const std::int32_t* leaving, G g) const {
    const bool words = in_words(a.bits);
    for (int u = g.rank; u < plan.columns; u += g.size) {
      const int group = u / w.layout.vectors, v = u % w.layout.vectors;
      const auto* from = w.prior(group) + v;
      for (int i = 0; i < V::items; i++) {
        const int q = V::items * group + i;
        if (q >= items || leaving[q] == 0) continue;
        const std::uint32_t kept = erased[q] != 0 ? 0u : 1u;
        const auto bit = [&](int j) { return V::stored_bits(from + j * w.layout.stride, i) & kept; };
        std::uint8_t* to = a.bits.data + (first + static_cast<std::size_t>(q)) * a.bits.item_stride +
                           static_cast<std::size_t>(v * plan.steps) * a.bits.element_stride;
        if (words) {
          _Pragma("unroll 4") for (int j = 0; j < plan.steps; j += 4) {
            std::uint32_t word = 0;
            WB_UNROLL for (int n = 0; n < 4; n++) word |= bit(j + n) << 8 * n;
            *reinterpret_cast<std::uint32_t*>(to + j) = word;
          }
        } else {
          for (int j = 0; j < plan.steps; j++)
            to[static_cast<std::size_t>(j) * a.bits.element_stride] = static_cast<std::uint8_t>(bit(j));
        }
      }
    }
  }
#else
  /// Whether squares cover the windows of a codeword whose neighbouring steps lie `apart`.
  WB_HD bool in_squares(int share, std::size_t apart) const {
    return W::side > 1 && share >= W::side && plan.steps >= W::side && apart == 1;
  }
  /// f(vector, lane, step) of the first corners of squares that cover them. The last ones overlap.
  template <class F>
  WB_HD void each_square(int vectors, int share, F f) const {
    for (int v = 0; v < vectors; v++)
      for (int l = 0; l < share; l += W::side)
        for (int j = 0; j < plan.steps; j += W::side)
          f(v, l, j + W::side <= plan.steps ? j : plan.steps - W::side);
  }
  template <class G>
  WB_HD void load_stream(const values& w, int stream, std::size_t first, int items, std::int32_t* erased,
                         G) const {
    channel_element* to = stream == 0 ? w.systematic(0) : w.parity(0, stream - 1);
    const int vectors = w.layout.vectors, steps = plan.steps, share = L / w.layout.codewords,
              stride = w.layout.stride;
    const std::size_t begin = static_cast<std::size_t>(stream * (a.k + 4));
    const std::size_t apart = a.llr8.data != nullptr ? a.llr8.element_stride : a.llr.element_stride;
    for (int q = 0; q < plan.codewords; q++) {
      const std::size_t item = first + static_cast<std::size_t>(q < items ? q : 0);
      typename W::seen s;
      if (in_squares(share, apart)) {
        if constexpr (W::side > 1)
          each_square(vectors, share, [&](int v, int l, int j) WB_INLINE_LAMBDA {
            typename W::row x[W::side];
            WB_UNROLL for (int i = 0; i < W::side; i++) x[i] =
                this->weights(begin + static_cast<std::size_t>((v + vectors * (l + i)) * steps + j), item, s);
            W::transpose_rows(x);
            WB_UNROLL for (int i = 0; i < W::side; i++)
                W::put_weights(to + (j + i) * stride + v * L + q * share + l, x[i]);
          });
      } else {
        for (int n = 0; n < a.windows; n++)
          for (int j = 0; j < steps; j++)
            to[j * stride + n % vectors * L + q * share + n / vectors] =
                this->weight(begin + static_cast<std::size_t>(n * steps + j), item, s);
      }
      if (!s.finite) erased[q] = 1;
      this->note(w, q, s);
    }
  }
  template <class G>
  WB_HD void store_bits(const values& w, std::size_t first, int items, const std::int32_t* erased,
                        const std::int32_t* leaving, G) const {
    const int vectors = w.layout.vectors, steps = plan.steps, share = L / w.layout.codewords,
              stride = w.layout.stride;
    for (int q = 0; q < items; q++) {
      if (leaving[q] == 0) continue;
      const auto* from = w.prior(0) + q * share;
      std::uint8_t* to = a.bits.data + (first + static_cast<std::size_t>(q)) * a.bits.item_stride;
      const std::uint32_t kept = erased[q] != 0 ? 0 : 1;
      if (in_squares(share, a.bits.element_stride)) {
        if constexpr (W::side > 1)
          each_square(vectors, share, [&](int v, int l, int j) WB_INLINE_LAMBDA {
            typename W::row x[W::side];
            WB_UNROLL for (int i = 0; i < W::side; i++) x[i] =
                W::decisions(from + (j + i) * stride + v * L + l, kept);
            W::transpose_rows(x);
            WB_UNROLL for (int i = 0; i < W::side; i++)
                W::put_decisions(to + (v + vectors * (l + i)) * steps + j, x[i], kept);
          });
      } else {
        for (int n = 0; n < a.windows; n++)
          for (int j = 0; j < steps; j++)
            to[static_cast<std::size_t>(n * steps + j) * a.bits.element_stride] = static_cast<std::uint8_t>(
                V::stored_bits(from + j * stride + n % vectors * L + n / vectors, 0) & kept);
      }
    }
  }
#endif
};

}  // namespace WB_ISA
}  // namespace wb
