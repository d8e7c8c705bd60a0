#pragma once
// What the list decoder does with a codeword: rate recovery, the list, the choice of a path, store.
#include <warpband/fec/polar/polar_input_op.hpp>
#include <warpband/fec/polar/polar_walk.hpp>

namespace wb {
inline namespace WB_ISA {

template <int L, bool Exact>
struct polar_decoding : polar_input {
  int threads() const { return 1; }
  double flops() const { return a.operations * L; }
  double bytes() const { return 4.0 * a.at.e + a.at.payload; }
  /// Values of T of a codeword, of several where these share vectors.
  template <class T>
  std::size_t values(int group) const {
    const std::size_t n = static_cast<std::size_t>(a.at.n),
                      list = static_cast<std::size_t>(polar_list_values(
                          a.at.n, polar_word_bits<T>, group == 1 || !polar_makes_halves<T, L>)),
                      each = group > 1         ? L
                             : L > width_of<T> ? L / width_of<T>
                                               : 1;
    return (group > 1 ? n : n * each) + list * each;
  }
  template <class T, class G>
  WB_HD void decode_all(std::size_t first, int valid, G g, polar_element<T>* scratch) const {
    using P = polar_paths<T, G, L>;
    for (int b = 0; b < valid; b += P::items) {
      const int count = valid - b < P::items ? valid - b : P::items;
      const std::size_t from = first + static_cast<std::size_t>(b);
      if (!keep(from, count, g)) decode<T>(from, count, g, scratch);
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

  /// The sum of the remainders of a path's bits; of 16-bit numbers in two parts.
  template <class Y>
  struct remainder {
    static constexpr int parts = is_whole<typename Y::P::I> ? 2 : 1, part_bits = 12;
    typename Y::N part[parts];
    WB_HD static std::int32_t of(std::int32_t weight, int p) {
      return parts == 1 ? weight : p == 0 ? weight & ((1 << part_bits) - 1) : weight >> part_bits;
    }
  };
  /// The bits of c of every path, from `now` into `other`, the first one highest; behind the fillers.
  template <class Y>
  WB_HD remainder<Y> collect(Y& list) const {
    using P = typename Y::P;
    using I = typename P::I;
    constexpr int bits = Y::word_bits;
    remainder<Y> sum;
    for (auto& part : sum.part) part = P::all(I(0));
    const int before = a.at.fillers_before, count = a.at.k - before;
    const auto* from = list.now();
    auto* to = list.other();
    const bool one_part = remainder<Y>::parts == 1 || a.at.crc_bits <= remainder<Y>::part_bits;
    const auto bit_of = [&](int i) WB_INLINE_LAMBDA {
      const unsigned u = static_cast<unsigned>(a.at.place[i]);
      const int shift = static_cast<int>(u % bits);
      return each([=](I x) WB_INLINE_LAMBDA { return (x >> shift) & I(1); },
                  P::as_numbers(list.p.load(from, static_cast<int>(u / bits))));
    };
    const auto add = [&](int i, typename Y::N bit) WB_INLINE_LAMBDA {
      const auto mask = each([](I b) WB_INLINE_LAMBDA { return I(0) - b; }, bit);
      WB_UNROLL for (int p = 0; p < remainder<Y>::parts; p++) {
        if (p > 0 && one_part) break;
        const std::int32_t weight = remainder<Y>::of(a.at.crc_weights[i], p);
        sum.part[p] = each([=](I s, I m) WB_INLINE_LAMBDA { return s ^ (m & I(weight)); }, sum.part[p], mask);
      }
    };
    for (int w = list.p.replica(); w < (count + bits - 1) / bits; w += P::replicas) {
      typename Y::N word = P::all(I(0));
      const int filled = count - bits * w < bits ? count - bits * w : bits;
      for (int b = 0; b < filled; b++) {
        const typename Y::N bit = bit_of(before + bits * w + b);
        add(before + bits * w + b, bit);
        word = each([](I x, I y) WB_INLINE_LAMBDA { return (x << 1) | y; }, word, bit);
      }
      list.p.store(to, w, P::as_values(Y::shifted(word, bits - filled)));
    }
    if (list.p.replica() == 0)
      for (int i = 0; i < before; i++) add(i, bit_of(i));
    list.p.g.sync();
    for (auto& part : sum.part) part = list.p.xor_of_replicas(part);
    return sum;
  }
  template <class Y>
  WB_HD typename Y::F crc_holds(const remainder<Y>& sum) const {
    using I = typename Y::P::I;
    using M = typename Y::P::M;
    typename Y::F all;
    for (int p = 0; p < remainder<Y>::parts; p++) {
      const std::int32_t target = remainder<Y>::of(a.at.crc_target, p);
      const auto same = each([=](I s) WB_INLINE_LAMBDA { return s == I(target); }, sum.part[p]);
      all = p == 0 ? same : each([](M x, M y) WB_INLINE_LAMBDA -> M { return x & y; }, all, same);
    }
    return all;
  }

  template <class T, class G>
  WB_HD void decode(std::size_t first, int valid, G g, polar_element<T>* scratch) const {
    using Y = polar_list<T, G, L, Exact>;
    using P = typename Y::P;
    using I = typename P::I;
    using M = typename P::M;
    typename P::E* channel = scratch;
    const received<P> heard = load_channel<P>(first, valid, g, channel);
    using R = typename Y::rules;
    Y list(g, a.at.n, channel, scratch + a.at.n * P::C, a.most_llr);
    polar_walk(list, a.program, a.steps);
    polar_transform(list);
    const auto sum = collect(list);

    // The likeliest path whose CRC holds; where there is none the likeliest of all. Of equal ones the first.
    const auto holds =
        each([](M h, T m) WB_INLINE_LAMBDA -> M { return h & R::exists(m); }, crc_holds<Y>(sum), list.metric);
    const auto least = [](T x, T y) WB_INLINE_LAMBDA { return min(x, y); };
    const auto held =
        each([](auto h, T m) WB_INLINE_LAMBDA { return select(h, m, R::no_path()); }, holds, list.metric);
    const auto best_held = list.p.reduced(held, least), best = list.p.reduced(list.metric, least);
    const auto chosen = each(
        [](T h, T b, T m, T x, I path) WB_INLINE_LAMBDA {
          const M is = select(R::exists(h), m, x) == select(R::exists(h), h, b);
          return to_float(select(is, path, I(L)));
        },
        best_held, best, held, list.metric, list.p.paths());
    const auto path = each([](T x) WB_INLINE_LAMBDA { return to_int_of(x); }, list.p.reduced(chosen, least));
    finish<Y>(list, heard, R::exists(best_held.x[0]), path, first, valid, channel);
  }
  /// A small whole number.
  template <class T>
  WB_HD static auto to_int_of(T x) {
    if constexpr (is_whole<T>)
      return x;
    else
      return as_int(x + T(8388608.f)) & typename rebind<T>::i32(63);  // 2^23: its last bits are the number's
  }

  template <class Y>
  WB_HD void finish(Y& list, received<typename Y::P> heard, typename Y::P::M holds, typename Y::N path,
                    std::size_t first, int valid, const typename Y::P::E* channel) const {
    using P = typename Y::P;
    using I = typename P::I;
    using M = typename P::M;
    const auto g = list.p.g;
    const int words = (a.at.k - a.at.fillers_before + Y::word_bits - 1) / Y::word_bits;
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
    constexpr int bits = Y::word_bits;
    for (int w = 0; bits * w < a.at.payload; w++) {
      const auto words = P::as_numbers(list.p.load_of(list.other(), w, path));
      const std::uint32_t word = erased ? 0u : as_uint(in_lane<P>(words.x[0], codeword)) << (32 - bits);
      const int rest = a.at.payload - bits * w, count = rest < bits ? rest : bits;
      const std::size_t to = begin + static_cast<std::size_t>(bits * w);
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
