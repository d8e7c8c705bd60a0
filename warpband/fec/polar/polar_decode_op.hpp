#pragma once
// The list decoder of a code block: rate recovery, decoding program, CRC-aided selection, store.
//
// decode_all is a collective of all threads of a list; `scratch` has values<T>(threads) elements, in shared
// memory on CUDA. The caller needs g.sync() before it reuses the scratch memory. Cost: `operations` per path,
// and a fork per bit of the least reliable ones (polar_list.hpp).
#include <warpband/fec/polar/polar_program.hpp>
#include <warpband/fec/polar/polar_rate_recovery.hpp>

namespace wb {
inline namespace WB_ISA {

template <int L, bool Exact>
struct polar_decoding : polar_rate_recovery {
  int threads() const { return 1; }
  double flops() const { return a.operations * L; }
  double bytes() const { return 4.0 * a.block.e + a.block.payload; }
  /// Scratch elements for a codeword, or for the codewords that share vectors.
  template <class T>
  std::size_t values(int group) const {
    const std::size_t n = static_cast<std::size_t>(a.block.n),
                      path = static_cast<std::size_t>(polar_path_values(
                          a.block.n, polar_word_bits<T>, group == 1 || !polar_recomputes_top_stage<T, L>)),
                      elements = group > 1         ? L
                                 : L > width_of<T> ? L / width_of<T>
                                                   : 1;
    return (group > 1 ? n : n * elements) + path * elements;
  }
  template <class T, class G>
  WB_HD void decode_all(std::size_t first, int valid, G g, polar_element<T>* scratch) const {
    using P = polar_paths<T, G, L>;
    for (int b = 0; b < valid; b += P::codewords) {
      const int count = valid - b < P::codewords ? valid - b : P::codewords;
      const std::size_t from = first + static_cast<std::size_t>(b);
      if (!keep_decoded(from, count, g)) decode<T>(from, count, g, scratch);
    }
  }

 private:
  WB_HD bool is_decoded(std::size_t codeword) const {
    return a.prior_status.data != nullptr &&
           (load_int<float>(a.prior_status, 0, item<float>{codeword, 1}) & status_stopped) != 0;
  }
  /// Copies the prior status of codewords that are already decoded. Returns whether all are.
  template <class G>
  WB_HD bool keep_decoded(std::size_t first, int count, G g) const {
    bool every = true;
    for (int i = 0; i < count; i++) {
      const item<float> codeword{first + static_cast<std::size_t>(i), 1};
      if (!is_decoded(codeword.first)) {
        every = false;
      } else if (g.rank == 0 && a.status.data != nullptr) {
        store_int<float>(a.status, 0, codeword, load_int<float>(a.prior_status, 0, codeword));
      }
    }
    return every;
  }

  template <class T, class G>
  WB_HD void decode(std::size_t first, int valid, G g, polar_element<T>* scratch) const {
    using Y = polar_list<T, G, L, Exact>;
    using P = typename Y::P;
    typename P::E* channel = scratch;
    const channel_info<P> info = load_channel<P>(first, valid, g, channel);
    Y list(g, a.block.n, channel, scratch + a.block.n * P::C, a.max_llr);
    polar_run(list, a.program, a.program_length);
    polar_transform(list);
    const selection<Y> best = select_path(list, crc_holds<Y>(gather_bits(list)));
    store_result<Y>(list, info, best, first, valid, channel);
  }

  /// CRC remainder of each path; 16-bit integers hold it in two parts.
  template <class Y>
  struct remainder {
    static constexpr int parts = is_whole<typename Y::P::I> ? 2 : 1, part_bits = 12;
    typename Y::N part[parts];
    WB_HD static std::int32_t part_of(std::int32_t weight, int p) {
      return parts == 1 ? weight : p == 0 ? weight & ((1 << part_bits) - 1) : weight >> part_bits;
    }
  };
  /// Gathers c without leading fillers from u in list.sums() into list.other_sums(), the first bit lowest.
  /// Returns the sum of the CRC weights. Ends with g.sync().
  template <class Y>
  WB_HD remainder<Y> gather_bits(Y& list) const {
    using P = typename Y::P;
    using I = typename P::I;
    constexpr int word_bits = Y::word_bits;
    remainder<Y> sum;
    for (auto& part : sum.part) part = P::broadcast(I(0));
    const int fillers = a.block.fillers_before, count = a.block.k - fillers;
    const auto* from = list.sums();
    auto* to = list.other_sums();
    const bool one_part = remainder<Y>::parts == 1 || a.block.crc_bits <= remainder<Y>::part_bits;
    const auto bit_of = [&](int i) WB_INLINE_LAMBDA {
      const unsigned u = static_cast<unsigned>(a.block.information_set[i]);
      const int shift = static_cast<int>(u % word_bits);
      return map([=](I x) WB_INLINE_LAMBDA { return (x >> shift) & I(1); },
                 list.p.load_word(from, static_cast<int>(u / word_bits)));
    };
    const auto add_weight = [&](int i, typename Y::N bit) WB_INLINE_LAMBDA {
      if (a.block.crc_bits == 0) return;
      const auto mask = map([](I b) WB_INLINE_LAMBDA { return I(0) - b; }, bit);
      WB_UNROLL for (int p = 0; p < remainder<Y>::parts; p++) {
        if (p > 0 && one_part) break;
        const std::int32_t weight = remainder<Y>::part_of(a.block.crc_weights[i], p);
        sum.part[p] = map([=](I s, I m) WB_INLINE_LAMBDA { return s ^ (m & I(weight)); }, sum.part[p], mask);
      }
    };
    for (int w = list.p.replica(); w < (count + word_bits - 1) / word_bits; w += P::replicas) {
      typename Y::N word = P::broadcast(I(0));
      const int filled = count - word_bits * w < word_bits ? count - word_bits * w : word_bits;
      const int first_bit = fillers + word_bits * w;
      if constexpr (!P::over_threads)
        if (a.block.crc_bits == 0 && is_run(first_bit, filled)) {
          list.p.store_word(to, w, run_of_bits(list, from, a.block.information_set[first_bit]));
          continue;
        }
      for (int b = filled - 1; b >= 0; b--) {
        const typename Y::N bit = bit_of(first_bit + b);
        add_weight(first_bit + b, bit);
        word = map([](I x, I y) WB_INLINE_LAMBDA { return (x << 1) | y; }, word, bit);
      }
      list.p.store_word(to, w, word);
    }
    if (list.p.replica() == 0)
      for (int i = 0; i < fillers; i++) add_weight(i, bit_of(i));
    list.p.g.sync();
    for (auto& part : sum.part) part = list.p.xor_over_replicas(part);
    return sum;
  }
  /// Whether `count` bits of c from bit i on are neighbours in u.
  WB_HD bool is_run(int i, int count) const {
    return a.block.ascending && count > 1 &&
           a.block.information_set[i + count - 1] - a.block.information_set[i] == count - 1;
  }
  /// A word of bits of u from bit `first` on. Those behind the last bit of u are any bits.
  template <class Y>
  WB_HD static typename Y::N run_of_bits(const Y& list, const typename Y::P::E* u, int first) {
    using I = typename Y::P::I;
    const int w = first / Y::word_bits, shift = first % Y::word_bits;
    const typename Y::N low = list.p.load_word(u, w);
    if (shift == 0) return low;
    const I mask(Y::word_bits == 32 ? INT32_MAX >> (shift - 1) : 0x7fff >> (shift - 1));
    const typename Y::N high = list.p.load_word(u, w + 1 < list.layout.words() ? w + 1 : w);
    return map([=](I x, I y)
                   WB_INLINE_LAMBDA { return ((x >> shift) & mask) | (y << (Y::word_bits - shift)); },
               low, high);
  }
  template <class Y>
  WB_HD typename Y::F crc_holds(const remainder<Y>& sum) const {
    using I = typename Y::P::I;
    using M = typename Y::P::M;
    typename Y::F holds;
    for (int p = 0; p < remainder<Y>::parts; p++) {
      const std::int32_t target = remainder<Y>::part_of(a.block.crc_target, p);
      const auto same = map([=](I s) WB_INLINE_LAMBDA { return s == I(target); }, sum.part[p]);
      holds = p == 0 ? same : map([](M x, M y) WB_INLINE_LAMBDA -> M { return x & y; }, holds, same);
    }
    return holds;
  }

  template <class Y>
  struct selection {
    typename Y::N path;
    typename Y::P::M crc_holds;
  };
  /// CRC-aided selection: the path of the smallest metric whose CRC holds; if there is none, that of the
  /// smallest metric. Of equal metrics the lowest index.
  template <class Y>
  WB_HD static selection<Y> select_path(const Y& list, typename Y::F crc_holds) {
    using I = typename Y::P::I;
    using M = typename Y::P::M;
    using T = typename Y::P::lane_type;
    using R = typename Y::rules;
    const auto is_candidate =
        map([](M h, T m) WB_INLINE_LAMBDA -> M { return h & R::is_path(m); }, crc_holds, list.metric);
    const auto candidate = map([](auto h, T m) WB_INLINE_LAMBDA { return select(h, m, R::no_path()); },
                               is_candidate, list.metric);
    const auto best_candidate = list.p.smallest(candidate), best = list.p.smallest(list.metric);
    const auto index = map(
        [](T h, T b, T m, T x, I path) WB_INLINE_LAMBDA {
          const M is_best = select(R::is_path(h), m, x) == select(R::is_path(h), h, b);
          return to_float(select(is_best, path, I(L)));
        },
        best_candidate, best, candidate, list.metric, list.p.paths());
    return {map([](T x) WB_INLINE_LAMBDA { return to_integer(x); }, list.p.smallest(index)),
            R::is_path(best_candidate.x[0])};
  }
  /// An integer 0..63 from its float32.
  template <class T>
  WB_HD static auto to_integer(T x) {
    if constexpr (is_whole<T>)
      return x;
    else
      return as_int(x + T(8388608.f)) & typename rebind<T>::i32(63);  // 2^23: the mantissa ends with x
  }

  /// Status of each codeword: erasure, CRC.
  template <class Y>
  WB_HD typename Y::P::I status_of(Y& list, const channel_info<typename Y::P>& info, const selection<Y>& best,
                                   const typename Y::P::E* channel) const {
    using P = typename Y::P;
    using I = typename P::I;
    using M = typename P::M;
    const int words = (a.block.k - a.block.fillers_before + Y::word_bits - 1) / Y::word_bits;
    I ones(0);
    for (int w = 0; w < words; w++) ones = ones | list.p.load_word_from(list.other_sums(), w, best.path).x[0];
    M insufficient = info.usable < I(a.block.payload);
    if (a.block.crc_bits > 0 && a.block.crc_target == 0) {
      const M zeros = best.crc_holds & (ones == I(0));
      if (any(zeros))
        insufficient = insufficient | (zeros & !this->template supports_all_zeros<P>(list.p.g, channel));
    }
    const M erased = insufficient | !info.finite;
    return select(
        erased, I(status_erased) | select(info.finite, I(status_insufficient), I(0)),
        select(a.block.crc_bits > 0 ? best.crc_holds : mask_from<M>(false), I(status_stopped), I(0)));
  }

  /// Status of a message with two blocks: erased if one is, stopped if both are.
  template <class Y>
  WB_HD void store_result(Y& list, const channel_info<typename Y::P>& info, const selection<Y>& best,
                          std::size_t first, int valid, const typename Y::P::E* channel) const {
    using P = typename Y::P;
    const auto g = list.p.g;
    const auto status = status_of<Y>(list, info, best, channel);
    message_bits messages[P::codewords];
    for (int i = 0; i < valid; i++) {
      const item<float> codeword{first + static_cast<std::size_t>(i), 1};
      messages[i] = message_bits::kept;
      if (is_decoded(codeword.first)) continue;
      const int block = from_lane<P>(status, i);
      const int earlier = a.later_block ? static_cast<int>(load_int<float>(a.status, 0, codeword)) : block;
      const int erased = (block | earlier) & (status_erased | status_insufficient);
      g.sync();
      if (g.rank == 0 && a.status.data != nullptr)
        store_int<float>(a.status, 0, codeword, erased != 0 ? erased : block & earlier);
      messages[i] = erased != 0 ? message_bits::zeros : message_bits::decided;
    }
    if (a.bits.data != nullptr) store_messages(list, best.path, first, valid, messages);
  }
  /// What becomes of a message's bits: they stay as an earlier decoder has left them, are zeros, also in
  /// earlier blocks, or those of the best path.
  enum class message_bits : std::uint8_t { kept, zeros, decided };
  /// The lanes of a vector of words, or the word of a thread.
  template <class I>
  struct words_in_memory {
    using word = std::conditional_t<is_whole<I>, std::uint16_t, std::uint32_t>;
    word lanes[sizeof(I) / sizeof(word)];
    WB_HD void copy(I x) { __builtin_memcpy(lanes, &x, sizeof x); }
  };
  /// The bits of this block of each message.
  template <class Y>
  WB_HD void store_messages(Y& list, typename Y::N path, std::size_t first, int valid,
                            const message_bits* messages) const {
    using P = typename Y::P;
    const auto g = list.p.g;
    constexpr int word_bits = Y::word_bits;
    const std::size_t begin = static_cast<std::size_t>(a.block.first_bit);
    for (int i = 0; i < valid; i++)
      if (messages[i] == message_bits::zeros)
        for (int b = g.rank; b < a.block.first_bit; b += g.size)
          store_int<float>(a.bits, static_cast<std::size_t>(b), {first + static_cast<std::size_t>(i), 1}, 0);
    constexpr int words_at_once = 64 / word_bits;
    for (int from = 0; from < a.block.payload; from += 64) {
      const int rest = a.block.payload - from, count = rest < 64 ? rest : 64;
      words_in_memory<typename P::I> words[words_at_once] = {};
      WB_UNROLL for (int w = 0; w < words_at_once; w++) if (word_bits * w < count) words[w].copy(
          list.p.load_word_from(list.other_sums(), from / word_bits + w, path).x[0]);
      const std::size_t to = begin + static_cast<std::size_t>(from);
      for (int i = 0; i < valid; i++) {
        if (messages[i] == message_bits::kept) continue;
        std::uint64_t bits = 0;
        WB_UNROLL for (int w = 0; w < words_at_once; w++) bits |=
            static_cast<std::uint64_t>(words[w].lanes[P::codewords > 1 ? i * P::paths_of_list : 0])
            << (word_bits * w);
        if (messages[i] == message_bits::zeros) bits = 0;
        store_bits_of<P>(g, to, count, first + static_cast<std::size_t>(i), bits);
      }
    }
  }
  /// Bits of a word, the lowest first, as neighbouring elements of a message.
  template <class P, class G>
  WB_HD void store_bits_of(G g, std::size_t to, int count, std::size_t codeword, std::uint64_t bits) const {
    std::uint8_t* p = a.bits.data + to * a.bits.element_stride + codeword * a.bits.item_stride;
    if (!P::over_threads && a.bits.element_stride == 1) return spread_bits(bits, count, p);
    for (int b = g.rank; b < count; b += g.size)
      p[static_cast<std::size_t>(b) * a.bits.element_stride] = static_cast<std::uint8_t>(bits >> b & 1);
  }
};

}  // namespace WB_ISA
}  // namespace wb
