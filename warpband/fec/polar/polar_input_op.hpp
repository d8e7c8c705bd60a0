#pragma once
// What the list decoder receives: LLRs of sent bits to those of coded bits, in the lanes of the paths.
#include <warpband/core/memory.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/polar/polar_args.hpp>
#include <warpband/fec/polar/polar_paths.hpp>
#include <warpband/fec/quantise/quantise_body.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

struct polar_input {
  polar_decode_args a;

  /// What is known of the codewords of a call, of each in all lanes of its paths.
  template <class P>
  struct received {
    typename P::I usable;
    typename P::M finite;
  };

  /// Codeword i's value in the lanes of its paths.
  template <class P, class T, class Read>
  WB_HD static T of_codewords(int valid, Read read) {
    if constexpr (P::items == 1) {
      return T(read(0));
    } else if constexpr (is_whole<T>) {
      T r(read(0));
      for (int i = 1; i < P::items; i++)
        r = select((iota<T>() >> polar_log2(P::paths_of_list)) == T(i), T(read(i < valid ? i : valid - 1)),
                   r);
      return r;
    } else {
      T r;
      for (int i = 0; i < P::items; i++) {
        const auto x = read(i < valid ? i : valid - 1);
        for (int l = 0; l < P::paths_of_list; l++) r.x[i * P::paths_of_list + l] = x;
      }
      return r;
    }
  }
  template <class P>
  WB_HD static std::int32_t in_lane(typename P::I x, int codeword) {
    if constexpr (P::W == 1 || P::over_threads)
      return static_cast<std::int32_t>(x);
    else
      return x.x[codeword * (P::items > 1 ? P::paths_of_list : 0)];
  }

  template <class P, class G>
  WB_HD received<P> load_channel(std::size_t first, int valid, G g, typename P::E* channel) const {
    using T = typename P::lane_type;
    using I = typename P::I;
    using M = typename P::M;
    received<P> r{I(0), mask_from<M>(true)};
#if WB_WIDTH > 1
    if constexpr (is_whole<T>) {
      if (a.at.e <= a.at.n) {
        load_rows<P>(first, valid, channel, r);
        return r;
      }
    }
#endif
    for (int d = g.rank; d < a.at.n; d += g.size) {
      T sum;
      if constexpr (is_whole<T>) {
        sum = of_codewords<P, T>(valid, [&](int c) WB_INLINE_LAMBDA { return steps_of(first, c, d); });
        r.finite = r.finite & (sum != T(bad_llr));
        sum = select(sum == T(bad_llr), T(0), sum);
      } else {
        sum = llr_of<P, T>(first, valid, d, r.finite);
      }
      if (a.first[d] != a.first[d + 1]) r.usable = r.usable + select(sum == T(0), I(0), I(1));
      for (int c = 0; c < P::C; c++) put<T>(channel + d * P::C + c, sum);
    }
    g.sync();
    r.usable = sum_all<P>(r.usable, g);
    r.finite = !g.any(!r.finite);
    return r;
  }
  template <class P, class G>
  WB_HD static typename P::I sum_all(typename P::I x, G g) {
    if constexpr (P::W == 1)
      return typename P::I(static_cast<int>(g.sum_all(static_cast<std::int32_t>(x))));
    else
      return x;
  }
  /// LLR of coded bit d in steps, or that one of those it is the sum of is not finite.
  static constexpr int bad_llr = -32768;
  WB_HD int steps_of(std::size_t first, int codeword, int d) const {
    const view<const float>& v = a.llr;
    const std::int32_t begin = a.first[d], end = a.first[d + 1];
    if (begin == end) return a.missing > 0.f ? a.most_llr : 0;
    float sum = 0.f;
    for (std::int32_t i = begin; i < end; i++) {
      const float x = v.data[static_cast<std::size_t>(a.at.first_sent + a.received[i]) * v.element_stride +
                             (first + static_cast<std::size_t>(codeword)) * v.item_stride];
      if (!is_finite(x)) return bad_llr;
      sum = sum + min(max(x, -polar_most_llr), polar_most_llr);
    }
    return llr_quantiser(a.quanta, first + static_cast<std::size_t>(codeword))(
        sum, static_cast<float>(a.most_heard));
  }
#if WB_WIDTH > 1
  /// The same of coded bits that are sent once: rows of LLRs to integers, and these to lanes. The rows are
  /// kept where the list will be.
  template <class P>
  WB_HD void load_rows(std::size_t first, int valid, typename P::E* channel, received<P>& r) const {
    using T = typename P::lane_type;
    const std::size_t e = static_cast<std::size_t>(a.at.e);
    std::int16_t* const rows = reinterpret_cast<std::int16_t*>(channel + a.at.n * P::C);
    std::int16_t usable[P::items] = {};  // -1: an LLR is not finite
    for (int c = 0; c < valid; c++)
      usable[c] = row_in_steps(first + static_cast<std::size_t>(c), rows + static_cast<std::size_t>(c) * e);
    const T count = of_codewords<P, T>(valid, [&](int c) WB_INLINE_LAMBDA { return usable[c]; });
    r.usable = max(count, T(0));
    r.finite = !(count < T(0));
    const T missing(a.missing > 0.f ? a.most_llr : 0);
    for (int d = 0; d < a.at.n; d++) {
      const std::int32_t at = a.first[d];
      T x = missing;
      if (at != a.first[d + 1]) {
        const std::int16_t* row = rows + a.received[at];
        x = of_codewords<P, T>(valid,
                               [=](int c) WB_INLINE_LAMBDA { return row[static_cast<std::size_t>(c) * e]; });
      }
      WB_UNROLL for (int c = 0; c < P::C; c++) channel[d * P::C + c] = x;
    }
  }
  /// LLRs of a codeword in the order of sending. How many are not 0 in steps, or -1 where one is not finite.
  WB_HD std::int16_t row_in_steps(std::size_t codeword, std::int16_t* to) const {
    const std::size_t e = static_cast<std::size_t>(a.at.e), stride = a.llr.element_stride;
    const float* p =
        a.llr.data + static_cast<std::size_t>(a.at.first_sent) * stride + codeword * a.llr.item_stride;
    const llr_quantiser quantise(a.quanta, codeword);
    const float most = static_cast<float>(a.most_heard);
    auto fine = mask_from<typename rebind<lane>::mask>(true);
    typename rebind<lane>::i32 usable(0);
    for (std::size_t i = 0; i < e; i += WB_WIDTH) {
      lane x(0.f);
      const std::size_t count = e - i < WB_WIDTH ? e - i : WB_WIDTH;
      if (stride == 1 && count == WB_WIDTH)
        __builtin_memcpy(&x, p + i, sizeof x);
      else
        for (std::size_t l = 0; l < count; l++) x.x[l] = p[(i + l) * stride];
      const auto good = is_finite(x);
      fine = fine & good;
      typedef std::int16_t shorts __attribute__((vector_size(2 * WB_WIDTH)));
      const auto whole = quantise(select(good, x, lane(0.f)), most);
      usable = usable + select(whole == typename rebind<lane>::i32(0), typename rebind<lane>::i32(0),
                               typename rebind<lane>::i32(1));
      const shorts y = __builtin_convertvector(whole.x, shorts);
      __builtin_memcpy(to + i, &y, 2 * count);
    }
    return static_cast<std::int16_t>(all(fine) ? sum_of_lanes(usable) : -1);
  }
#endif
  template <class P, class T>
  WB_HD T llr_of(std::size_t first, int valid, int d, typename P::M& finite) const {
    using M = typename P::M;
    const view<const float>& v = a.llr;
    const std::int32_t begin = a.first[d], end = a.first[d + 1];
    if (begin == end) return T(a.missing);
    T sum(0.f);
    for (std::int32_t i = begin; i < end; i++) {
      const float* p = v.data + static_cast<std::size_t>(a.at.first_sent + a.received[i]) * v.element_stride +
                       first * v.item_stride;
      const T x = of_codewords<P, T>(
          valid, [=](int c) WB_INLINE_LAMBDA { return p[static_cast<std::size_t>(c) * v.item_stride]; });
      const M fine = is_finite(x);
      finite = finite & fine;
      sum = sum + select(fine, min(max(x, T(-polar_most_llr)), T(polar_most_llr)), T(0.f));
    }
    return sum;
  }

  /// Whether what was received supports an all-zero word (usable.hpp).
  template <class P, class G>
  WB_HD typename P::M received_zeros(G g, const typename P::E* channel) const {
    using T = typename P::lane_type;
    using I = typename P::I;
    T most(0);
    for (int d = g.rank; d < a.at.n; d += g.size)
      if (a.first[d] != a.first[d + 1]) most = max(most, abs(T(channel[d * P::C])));
    if constexpr (is_whole<T>)
      most = T(0);  // what is not 0 is larger than 1/4096 of the largest
    else
      most = g.max_all(most) * T(zeros_least);
    I strong(0);
    for (int d = g.rank; d < a.at.n; d += g.size)
      if (a.first[d] != a.first[d + 1])
        strong = strong + select(abs(T(channel[d * P::C])) > most, I(1), I(0));
    return !((sum_all<P>(strong, g) * I(zeros_whole)) < I(zeros_share * a.reached));
  }
};

}  // namespace WB_ISA
}  // namespace wb
