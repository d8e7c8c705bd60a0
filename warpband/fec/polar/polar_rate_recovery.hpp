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
      if (is_sent(d)) r.usable = counted(r.usable, sum != T(0));
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
      if (is_sent(d)) strong = counted(strong, abs(T(channel[d * P::C])) > threshold);
    return !(sum_over_threads<P>(strong, g) <
             I((zeros_share * a.distinct_sent + zeros_whole - 1) / zeros_whole));
  }

 private:
  /// A count and one more where m holds. Integers of 16 bits stop at 32767, more than each count is compared
  /// with.
  template <class I, class M>
  WB_HD static I counted(I count, M m) {
    if constexpr (is_whole<I>)
      return select(m, min(count, I(32766)) + I(1), count);
    else
      return count + select(m, I(1), I(0));
  }
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
  /// load_channel for bits that are sent at most once: quantises LLRs in the order of sending, then moves
  /// them to their coded bits, unless this is their order. In between they use the memory of the list, which
  /// does not exist yet.
  template <class P>
  WB_HD void load_rows(std::size_t first, int valid, typename P::E* channel, channel_info<P>& r) const {
    using T = typename P::lane_type;
    T* const behind = channel + a.block.n * P::C;
    if constexpr (P::codewords == 1) {
      std::int16_t* const row = reinterpret_cast<std::int16_t*>(behind);
      row_quantiser quantiser(a, first);
      T zeros(0);
      for (int i = 0; i < a.block.e; i += WB_WIDTH) {
        typedef std::int16_t shorts __attribute__((vector_size(2 * WB_WIDTH)));
        typename rebind<lane>::i32 x[1];
        quantiser.read(i, x);
        const shorts y = __builtin_convertvector(x[0].x, shorts);
        __builtin_memcpy(row + i, &y, sizeof y);
      }
      place_llrs<P>(channel, [&](int f) WB_INLINE_LAMBDA {
        zeros = zeros + T(row[f] == 0 ? 1 : 0);
        return T(row[f]);
      });
      r.usable = sent_without(zeros);
      r.finite = mask_from<typename P::M>(quantiser.is_finite());
    } else {
      T* const sent = a.in_order ? channel : behind;
      quantise_square<P>(first, valid, sent, r);
      if (!a.in_order) place_llrs<P>(channel, [=](int f) WB_INLINE_LAMBDA { return sent[f]; });
    }
  }
  /// Stores the LLR of each coded bit, which read(f) gives for sent bit f.
  template <class P, class Read>
  WB_HD void place_llrs(typename P::E* channel, Read read) const {
    using T = typename P::lane_type;
    const T unsent(a.unsent_llr > 0.f ? a.max_llr : 0);
    std::int32_t begin = a.received_begin[0];
    for (int d = 0; d < a.block.n; d++) {
      const std::int32_t end = a.received_begin[d + 1];
      const T x = begin == end ? unsent : read(a.received_index[begin]);
      WB_UNROLL for (int c = 0; c < P::C; c++) channel[d * P::C + c] = x;
      begin = end;
    }
  }
  /// E less a count of 0 to 32768, in 16 bits: 32768 becomes 32767.
  template <class T>
  WB_HD T sent_without(T count) const {
    const T rest = T(a.block.e) - count;
    return select(rest < T(0), T(32767), rest);
  }
  /// Quantised LLRs of each sent bit in the lanes of the codewords. A row of a square has those of two lanes
  /// as one integer of 32 bits, and the square is transposed. Rows are read a few vectors at a time.
  template <class P>
  WB_HD void quantise_square(std::size_t first, int valid, typename P::lane_type* sent,
                             channel_info<P>& r) const {
    using T = typename P::lane_type;
    using I = typename rebind<lane>::i32;
    static_assert(sizeof(lane) == sizeof(T));
    constexpr int columns = 4, copies = P::paths_of_list / 2,
                  pairs = copies > 0 ? P::codewords : P::codewords / 2, repeats = copies > 0 ? copies : 1;
    row_quantiser rows[P::codewords];
    for (int c = 0; c < P::codewords; c++)
      rows[c] = row_quantiser(a, first + static_cast<std::size_t>(c < valid ? c : valid - 1));
    T zeros(0);
    for (int i = 0; i < a.block.e; i += columns * WB_WIDTH) {
      lane square[columns][WB_WIDTH];
      for (int j = 0; j < pairs; j++) {
        I x[columns], y[columns];
        rows[copies > 0 ? j : 2 * j].read(i, x);
        if constexpr (copies == 0) rows[2 * j + 1].read(i, y);
        WB_UNROLL for (int v = 0; v < columns; v++) {
          const lane both = as_float((x[v] & I(0xffff)) | ((copies > 0 ? x[v] : y[v]) << 16));
          WB_UNROLL for (int copy = 0; copy < repeats; copy++) square[v][j * repeats + copy] = both;
        }
      }
      for (int v = 0; v < columns; v++) {
        const int rest = a.block.e - i - v * WB_WIDTH, count = rest < WB_WIDTH ? rest : WB_WIDTH;
        if (count > 0) transpose(square[v]);
        for (int l = 0; l < count; l++) {
          T x;
          __builtin_memcpy(static_cast<void*>(&x), &square[v][l], sizeof x);
          zeros = select(x == T(0), zeros + T(1), zeros);
          sent[i + v * WB_WIDTH + l] = x;
        }
      }
    }
    r.usable = sent_without(zeros);
    r.finite = to_lanes<P, T>(P::codewords,
                              [&](int c) WB_INLINE_LAMBDA { return rows[c].is_finite() ? 1 : 0; }) == T(1);
  }
  /// Quantises a codeword's LLRs in the order of sending.
  struct row_quantiser {
    using I = typename rebind<lane>::i32;
    const float* p;
    std::size_t stride;
    int e;
    float limit;
    llr_quantiser quantise;
    lane not_finite;  // the sum of 0 times each LLR

    row_quantiser() = default;
    WB_HD row_quantiser(const polar_decode_args& args, std::size_t codeword)
        : p(args.llr.data + static_cast<std::size_t>(args.block.first_sent) * args.llr.element_stride +
            codeword * args.llr.item_stride),
          stride(args.llr.element_stride),
          e(args.block.e),
          limit(static_cast<float>(args.max_channel_llr)),
          quantise(args.quanta, codeword),
          not_finite(0.f) {}
    /// Vectors of LLRs from sent bit i on; 0 behind the last one. One that is not finite is any number.
    template <int Count>
    WB_HD void read(int i, I (&y)[Count]) {
      const bool is_fixed = quantise.least == 0.f;
      if (stride == 1 && e - i >= Count * WB_WIDTH) {
        WB_UNROLL for (int v = 0; v < Count; v++) {
          lane x;
          __builtin_memcpy(&x, p + i + v * WB_WIDTH, sizeof x);
          y[v] = quantised(x, is_fixed);
        }
      } else {
        for (int v = 0; v < Count; v++) {
          lane x(0.f);
          for (int l = 0; l < WB_WIDTH && i + v * WB_WIDTH + l < e; l++)
            x.x[l] = p[static_cast<std::size_t>(i + v * WB_WIDTH + l) * stride];
          y[v] = quantised(x, is_fixed);
        }
      }
    }
    WB_HD I quantised(lane x, bool is_fixed) {
      not_finite = fma(x, lane(0.f), not_finite);
      if (!is_fixed) return quantise(x, limit);
      return nearest_integer(max(min(x * lane(quantise.quanta), lane(limit)), lane(-limit)));
    }
    WB_HD bool is_finite() const { return all(not_finite == lane(0.f)); }
  };
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
