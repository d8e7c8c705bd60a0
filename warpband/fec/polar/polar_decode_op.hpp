#pragma once
// The list decoder as an op: rate recovery, the list, the choice of a path, store.
#include <warpband/core/memory.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/polar/polar_walk.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

template <int L, bool Exact, int Tile>
struct polar_decode_op {
  polar_decode_args a;
  static constexpr bool by_block = false;
  static constexpr int tile = Tile;

  int threads() const { return 1; }
  std::size_t scratch(int group) const {
    const std::size_t n = static_cast<std::size_t>(a.at.n),
                      list = static_cast<std::size_t>(polar_list_values(a.at.n)),
                      values = group > 1            ? L
                               : L > width_of<lane> ? L / width_of<lane>
                                                    : 1;
    return (group > 1 ? n : n * values) + list * values;
  }
  double flops() const { return a.operations * L; }
  double bytes() const { return 4.0 * a.at.e + a.at.payload; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using P = polar_paths<T, G, L>;
    for (int b = 0; b < item.valid; b += P::items) {
      const int rest = item.valid - b, count = rest < P::items ? rest : P::items;
      const std::size_t first = item.first + static_cast<std::size_t>(b);
      if (!keep(first, count, g)) decode(first, count, g, scratch);
    }
  }

 private:
  WB_HD bool settled(std::size_t codeword) const {
    return a.settled.data != nullptr &&
           (load_int<float>(a.settled, 0, item<float>{codeword, 1}) & status_stopped) != 0;
  }
  /// Those that are settled keep their status. Whether all are.
  template <class G>
  WB_HD bool keep(std::size_t first, int count, G g) const {
    bool all = true;
    for (int i = 0; i < count; i++) {
      const item<float> at{first + static_cast<std::size_t>(i), 1};
      if (!settled(at.first)) {
        all = false;
      } else if (g.rank == 0 && a.status.data != nullptr) {
        store_int<float>(a.status, 0, at, load_int<float>(a.settled, 0, at));
      }
    }
    return all;
  }

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
    } else {
      T r;
      for (int i = 0; i < P::items; i++) {
        const auto x = read(i < valid ? i : valid - 1);
        for (int l = 0; l < L; l++) r.x[i * L + l] = x;
      }
      return r;
    }
  }
  template <class P>
  WB_HD static auto in_lane(typename P::I x, int codeword) {
    if constexpr (width_of<lane> == 1 || P::over_threads)
      return x;
    else
      return x.x[codeword * (P::items > 1 ? L : 0)];
  }

  template <class P, class T, class G>
  WB_HD received<P> load_channel(std::size_t first, int valid, G g, T* channel) const {
    using I = typename P::I;
    using M = typename P::M;
    received<P> r{I(0), mask_from<M>(true)};
    const view<const float>& v = a.llr;
    for (int d = g.rank; d < a.at.n; d += g.size) {
      T sum(0.f);
      const std::int32_t end = a.first[d + 1];
      for (std::int32_t i = a.first[d]; i < end; i++) {
        const float* p = v.data +
                         static_cast<std::size_t>(a.at.first_sent + a.received[i]) * v.element_stride +
                         first * v.item_stride;
        const T x = of_codewords<P, T>(
            valid, [=](int c) WB_INLINE_LAMBDA { return p[static_cast<std::size_t>(c) * v.item_stride]; });
        const M fine = is_finite(x);
        r.finite = r.finite & fine;
        sum = sum + select(fine, min(max(x, T(-polar_most_llr)), T(polar_most_llr)), T(0.f));
      }
      if (a.first[d] == end)
        sum = T(a.missing);
      else
        r.usable = r.usable + select(sum == T(0.f), I(0), I(1));
      for (int c = 0; c < P::C; c++) channel[d * P::C + c] = sum;
    }
    g.sync();
    r.usable = g.sum_all(r.usable);
    r.finite = !g.any(!r.finite);
    return r;
  }

  /// Whether what was received supports an all-zero word (usable.hpp).
  template <class P, class T, class G>
  WB_HD typename P::M received_zeros(G g, const T* channel) const {
    using I = typename P::I;
    T most(0.f);
    for (int d = g.rank; d < a.at.n; d += g.size)
      if (a.first[d] != a.first[d + 1]) most = max(most, abs(channel[d * P::C]));
    most = g.max_all(most) * T(zeros_least);
    I strong(0);
    for (int d = g.rank; d < a.at.n; d += g.size)
      if (a.first[d] != a.first[d + 1]) strong = strong + select(abs(channel[d * P::C]) > most, I(1), I(0));
    return !((g.sum_all(strong) * I(zeros_whole)) < I(zeros_share * a.reached));
  }

  /// The bits of c of every path, from `now` into `other`, the first one highest; behind the fillers. Returns
  /// the sum of the remainders of all.
  template <class Y>
  WB_HD typename Y::N collect(Y& list) const {
    using P = typename Y::P;
    using I = typename P::I;
    typename Y::N sum = P::all(I(0));
    const int before = a.at.fillers_before, count = a.at.k - before;
    const auto bit_of = [&](int i) WB_INLINE_LAMBDA {
      const int u = a.at.place[i];
      return each([=](I x) WB_INLINE_LAMBDA { return (x >> (u % 32)) & I(1); },
                  P::as_numbers(list.p.load(list.now(), u / 32)));
    };
    const auto add = [&](int i, typename Y::N bit) WB_INLINE_LAMBDA {
      const std::int32_t weight = a.at.crc_weights[i];
      sum = each([=](I s, I b) WB_INLINE_LAMBDA { return s ^ ((I(0) - b) & I(weight)); }, sum, bit);
    };
    for (int w = list.p.replica(); w < (count + 31) / 32; w += P::replicas) {
      typename Y::N word = P::all(I(0));
      for (int b = 0; b < 32 && 32 * w + b < count; b++) {
        const typename Y::N bit = bit_of(before + 32 * w + b);
        add(before + 32 * w + b, bit);
        const int shift = 31 - b;
        word = each([=](I x, I y) WB_INLINE_LAMBDA { return x | (y << shift); }, word, bit);
      }
      list.p.store(list.other(), w, P::as_values(word));
    }
    if (list.p.replica() == 0)
      for (int i = 0; i < before; i++) add(i, bit_of(i));
    list.p.g.sync();
    return list.p.xor_of_replicas(sum);
  }

  template <class T, class G>
  WB_HD void decode(std::size_t first, int valid, G g, T* scratch) const {
    using Y = polar_list<T, G, L, Exact>;
    using P = typename Y::P;
    using I = typename P::I;
    using M = typename P::M;
    T* channel = scratch;
    const received<P> heard = load_channel<P>(first, valid, g, channel);
    Y list(g, a.at.n, channel, scratch + a.at.n * P::C);
    polar_walk(list, a.program, a.steps);
    polar_transform(list);
    const typename Y::N sum = collect(list);

    // The likeliest path whose CRC holds; where there is none the likeliest of all. Of equal ones the first.
    const std::int32_t target = a.at.crc_target;
    const auto holds =
        each([=](I s, T m) WB_INLINE_LAMBDA { return (s == I(target)) & (m < T(polar_a_path)); }, sum,
             list.metric);
    const auto least = [](T x, T y) WB_INLINE_LAMBDA { return min(x, y); };
    const auto held =
        each([](auto h, T m) WB_INLINE_LAMBDA { return select(h, m, T(polar_no_path)); }, holds, list.metric);
    const auto best_held = list.p.reduced(held, least), best = list.p.reduced(list.metric, least);
    const auto chosen = each(
        [](T h, T b, T m, T x, I path) WB_INLINE_LAMBDA {
          const M is = select(h < T(polar_a_path), m, x) == select(h < T(polar_a_path), h, b);
          return to_float(select(is, path, I(L)));
        },
        best_held, best, held, list.metric, list.p.paths());
    const auto path = each([](T x) WB_INLINE_LAMBDA { return to_int_of(x); }, list.p.reduced(chosen, least));
    finish<Y>(list, heard, best_held.x[0] < T(polar_a_path), path, first, valid, channel);
  }
  /// A small whole number.
  template <class T>
  WB_HD static auto to_int_of(T x) {
    return as_int(x + T(8388608.f)) & typename rebind<T>::i32(63);  // 2^23: its last bits are the number's
  }

  template <class Y, class T>
  WB_HD void finish(Y& list, received<typename Y::P> heard, typename Y::P::M holds, typename Y::N path,
                    std::size_t first, int valid, const T* channel) const {
    using P = typename Y::P;
    using I = typename P::I;
    using M = typename P::M;
    const auto g = list.p.g;
    const int words = (a.at.k - a.at.fillers_before + 31) / 32;
    I ones(0);
    for (int w = 0; w < words; w++) ones = ones | P::as_numbers(list.p.load_of(list.other(), w, path)).x[0];
    M poor = heard.usable < I(a.at.payload);
    if (a.at.crc_bits > 0 && a.at.crc_target == 0) {
      const M zeros = holds & (ones == I(0));
      if (any(zeros)) poor = poor | (zeros & !received_zeros<P>(g, channel));
    }
    const M erased = poor | !heard.finite;
    const I status = select(erased, I(status_erased) | select(heard.finite, I(status_insufficient), I(0)),
                            select(a.at.crc_bits > 0 ? holds : mask_from<M>(false), I(status_stopped), I(0)));
    for (int i = 0; i < valid; i++) {
      const item<float> at{first + static_cast<std::size_t>(i), 1};
      if (settled(at.first)) continue;
      const int own = in_lane<P>(status, i);
      const int earlier = a.goes_on ? static_cast<int>(load_int<float>(a.status, 0, at)) : own;
      const int both = (own | earlier) & (status_erased | status_insufficient);
      g.sync();
      if (g.rank == 0 && a.status.data != nullptr)
        store_int<float>(a.status, 0, at, both != 0 ? both : own & earlier);
      if (a.bits.data != nullptr) store_message(list, path, i, at, both != 0);
    }
  }
  template <class Y>
  WB_HD void store_message(Y& list, typename Y::N path, int codeword, item<float> at, bool erased) const {
    using P = typename Y::P;
    const auto g = list.p.g;
    const std::size_t begin = static_cast<std::size_t>(a.at.first_bit);
    if (erased)
      for (int i = g.rank; i < a.at.first_bit; i += g.size)
        store_int<float>(a.bits, static_cast<std::size_t>(i), at, 0);
    for (int w = 0; 32 * w < a.at.payload; w++) {
      const auto words = P::as_numbers(list.p.load_of(list.other(), w, path));
      const std::uint32_t word = erased ? 0u : as_uint(in_lane<P>(words.x[0], codeword));
      const int rest = a.at.payload - 32 * w, count = rest < 32 ? rest : 32;
      const std::size_t to = begin + static_cast<std::size_t>(32 * w);
      if constexpr (P::over_threads) {
        for (int i = g.rank; i < count; i += g.size)
          store_int<float>(a.bits, to + static_cast<std::size_t>(i), at, as_int(word >> (31 - i)) & 1);
      } else {
        store_bits<float>(a.bits, to, count, at, word);
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
