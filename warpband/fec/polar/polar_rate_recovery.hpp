#pragma once
// Rate recovery: LLRs of the E sent bits to LLRs of the N coded bits, in the lanes of the list's paths.
//
//   LLR of coded bit d = sum of the LLRs of its transmissions; 0 if punctured; certain if shortened.
//
// Sums add transmissions in the order of sending. 16-bit integers: the sum is quantised. LLRs that are not
// finite count as 0 and are reported. Cost: one pass over E LLRs.
//
// load_channel and supports_all_zeros are collectives of all threads of the list. `channel` is in scratch
// memory: N values of T, times C on a CPU. load_channel ends with g.sync().
#include <warpband/core/memory.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/polar/polar_args.hpp>
#include <warpband/fec/polar/polar_paths.hpp>
#include <warpband/fec/quantise/quantise_body.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

struct polar_rate_recovery {
  polar_decode_args a;

  /// Properties of each codeword's LLRs, in all lanes of its paths.
  template <class P>
  struct channel_info {
    typename P::I usable;  // coded bits whose LLR is not 0
    typename P::M finite;  // all LLRs are finite
  };

  /// read(i) of codeword i in the lanes of its paths.
  template <class P, class T, class Read>
  WB_HD static T to_lanes(int valid, Read read) {
    if constexpr (P::codewords == 1) {
      return T(read(0));
    } else if constexpr (is_whole<T>) {
      T r(read(0));
      for (int i = 1; i < P::codewords; i++)
        r = select((iota<T>() >> polar_log2(P::paths_of_list)) == T(i), T(read(i < valid ? i : valid - 1)),
                   r);
      return r;
    } else {
      T r;
      for (int i = 0; i < P::codewords; i++) {
        const auto x = read(i < valid ? i : valid - 1);
        for (int l = 0; l < P::paths_of_list; l++) r.x[i * P::paths_of_list + l] = x;
      }
      return r;
    }
  }
  template <class P>
  WB_HD static std::int32_t from_lane(typename P::I x, int codeword) {
    if constexpr (P::W == 1 || P::over_threads)
      return static_cast<std::int32_t>(x);
    else
      return x.x[codeword * (P::codewords > 1 ? P::paths_of_list : 0)];
  }

  template <class P, class G>
  WB_HD channel_info<P> load_channel(std::size_t first, int valid, G g, typename P::E* channel) const {
    using T = typename P::lane_type;
    using I = typename P::I;
    using M = typename P::M;
    channel_info<P> r{I(0), mask_from<M>(true)};
#if WB_WIDTH > 1
    if constexpr (is_whole<T>) {
      if (a.block.e <= a.block.n) {
        load_rows<P>(first, valid, channel, r);
        return r;
      }
    }
#endif
    for (int d = g.rank; d < a.block.n; d += g.size) {
      T sum;
      if constexpr (is_whole<T>) {
        sum = to_lanes<P, T>(valid, [&](int c) WB_INLINE_LAMBDA { return quantised_llr(first, c, d); });
        r.finite = r.finite & (sum != T(not_finite));
        sum = select(sum == T(not_finite), T(0), sum);
      } else {
        sum = summed_llr<P, T>(first, valid, d, r.finite);
      }
      if (is_sent(d)) r.usable = r.usable + select(sum == T(0), I(0), I(1));
      for (int c = 0; c < P::C; c++) put<T>(channel + d * P::C + c, sum);
    }
    g.sync();
    r.usable = sum_over_threads<P>(r.usable, g);
    r.finite = !g.any(!r.finite);
    return r;
  }

  /// Whether the channel LLRs support an all-zero word (usable.hpp).
  template <class P, class G>
  WB_HD typename P::M supports_all_zeros(G g, const typename P::E* channel) const {
    using T = typename P::lane_type;
    using I = typename P::I;
    T threshold(0);
    for (int d = g.rank; d < a.block.n; d += g.size)
      if (is_sent(d)) threshold = max(threshold, abs(T(channel[d * P::C])));
    if constexpr (is_whole<T>)
      threshold = T(0);  // one quantum is more than 1/4096 of the largest LLR
    else
      threshold = g.max_all(threshold) * T(zeros_least);
    I strong(0);
    for (int d = g.rank; d < a.block.n; d += g.size)
      if (is_sent(d)) strong = strong + select(abs(T(channel[d * P::C])) > threshold, I(1), I(0));
    return !((sum_over_threads<P>(strong, g) * I(zeros_whole)) < I(zeros_share * a.distinct_sent));
  }

 private:
  WB_HD bool is_sent(int d) const { return a.received_begin[d] != a.received_begin[d + 1]; }
  template <class P, class G>
  WB_HD static typename P::I sum_over_threads(typename P::I x, G g) {
    if constexpr (P::W == 1)
      return typename P::I(static_cast<int>(g.sum_all(static_cast<std::int32_t>(x))));
    else
      return x;
  }
  /// In place of a quantised LLR: an LLR of the coded bit is not finite.
  static constexpr int not_finite = -32768;
  /// LLR of coded bit d in quanta.
  WB_HD int quantised_llr(std::size_t first, int codeword, int d) const {
    const view<const float>& v = a.llr;
    const std::int32_t begin = a.received_begin[d], end = a.received_begin[d + 1];
    if (begin == end) return a.unsent_llr > 0.f ? a.max_llr : 0;
    float sum = 0.f;
    for (std::int32_t i = begin; i < end; i++) {
      const float x =
          v.data[static_cast<std::size_t>(a.block.first_sent + a.received_index[i]) * v.element_stride +
                 (first + static_cast<std::size_t>(codeword)) * v.item_stride];
      if (!is_finite(x)) return not_finite;
      sum = sum + min(max(x, -polar_max_channel_llr), polar_max_channel_llr);
    }
    return llr_quantiser(a.quanta, first + static_cast<std::size_t>(codeword))(
        sum, static_cast<float>(a.max_channel_llr));
  }
#if WB_WIDTH > 1
  /// load_channel for bits that are sent at most once: quantises rows of LLRs, then gathers them into lanes.
  /// The rows use the memory of the list, which does not exist yet.
  template <class P>
  WB_HD void load_rows(std::size_t first, int valid, typename P::E* channel, channel_info<P>& r) const {
    using T = typename P::lane_type;
    const std::size_t e = static_cast<std::size_t>(a.block.e);
    std::int16_t* const rows = reinterpret_cast<std::int16_t*>(channel + a.block.n * P::C);
    std::int16_t usable[P::codewords] = {};  // -1: an LLR is not finite
    for (int c = 0; c < valid; c++)
      usable[c] = quantise_row(first + static_cast<std::size_t>(c), rows + static_cast<std::size_t>(c) * e);
    const T count = to_lanes<P, T>(valid, [&](int c) WB_INLINE_LAMBDA { return usable[c]; });
    r.usable = max(count, T(0));
    r.finite = !(count < T(0));
    const T unsent(a.unsent_llr > 0.f ? a.max_llr : 0);
    for (int d = 0; d < a.block.n; d++) {
      const std::int32_t begin = a.received_begin[d];
      T x = unsent;
      if (begin != a.received_begin[d + 1]) {
        const std::int16_t* row = rows + a.received_index[begin];
        x = to_lanes<P, T>(valid,
                           [=](int c) WB_INLINE_LAMBDA { return row[static_cast<std::size_t>(c) * e]; });
      }
      WB_UNROLL for (int c = 0; c < P::C; c++) channel[d * P::C + c] = x;
    }
  }
  /// Quantises a codeword's LLRs in the order of sending. Returns how many are not 0, or -1 if one is not
  /// finite.
  WB_HD std::int16_t quantise_row(std::size_t codeword, std::int16_t* to) const {
    const std::size_t e = static_cast<std::size_t>(a.block.e), stride = a.llr.element_stride;
    const float* p =
        a.llr.data + static_cast<std::size_t>(a.block.first_sent) * stride + codeword * a.llr.item_stride;
    const llr_quantiser quantise(a.quanta, codeword);
    const float limit = static_cast<float>(a.max_channel_llr);
    auto finite = mask_from<typename rebind<lane>::mask>(true);
    typename rebind<lane>::i32 usable(0);
    for (std::size_t i = 0; i < e; i += WB_WIDTH) {
      lane x(0.f);
      const std::size_t count = e - i < WB_WIDTH ? e - i : WB_WIDTH;
      if (stride == 1 && count == WB_WIDTH)
        __builtin_memcpy(&x, p + i, sizeof x);
      else
        for (std::size_t l = 0; l < count; l++) x.x[l] = p[(i + l) * stride];
      const auto is_fine = is_finite(x);
      finite = finite & is_fine;
      typedef std::int16_t shorts __attribute__((vector_size(2 * WB_WIDTH)));
      const auto quantised = quantise(select(is_fine, x, lane(0.f)), limit);
      usable = usable + select(quantised == typename rebind<lane>::i32(0), typename rebind<lane>::i32(0),
                               typename rebind<lane>::i32(1));
      const shorts y = __builtin_convertvector(quantised.x, shorts);
      __builtin_memcpy(to + i, &y, 2 * count);
    }
    return static_cast<std::int16_t>(all(finite) ? sum_of_lanes(usable) : -1);
  }
#endif
  /// LLR of coded bit d in float32. Clears `finite` where an LLR is not.
  template <class P, class T>
  WB_HD T summed_llr(std::size_t first, int valid, int d, typename P::M& finite) const {
    using M = typename P::M;
    const view<const float>& v = a.llr;
    const std::int32_t begin = a.received_begin[d], end = a.received_begin[d + 1];
    if (begin == end) return T(a.unsent_llr);
    T sum(0.f);
    for (std::int32_t i = begin; i < end; i++) {
      const float* p = v.data +
                       static_cast<std::size_t>(a.block.first_sent + a.received_index[i]) * v.element_stride +
                       first * v.item_stride;
      const T x = to_lanes<P, T>(
          valid, [=](int c) WB_INLINE_LAMBDA { return p[static_cast<std::size_t>(c) * v.item_stride]; });
      const M is_fine = is_finite(x);
      finite = finite & is_fine;
      sum = sum + select(is_fine, min(max(x, T(-polar_max_channel_llr)), T(polar_max_channel_llr)), T(0.f));
    }
    return sum;
  }
};

}  // namespace WB_ISA
}  // namespace wb
