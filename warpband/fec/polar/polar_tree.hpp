#pragma once
// The tree of a polar code as a list of L paths goes through it: LLRs and bits of the nodes under way.
//
// alpha(s) has the LLRs of the current node of 2^s bits, left(s) the bits of a left child, `now` the bits of
// the node that was decided last. Paths are never copied. If path p continues path q, p notes for each stage
// that q wrote its numbers (polar_writers.hpp), and reads go through that note.
#include <warpband/fec/polar/polar_args.hpp>
#include <warpband/fec/polar/polar_body.hpp>
#include <warpband/fec/polar/polar_paths.hpp>
#include <warpband/fec/polar/polar_writers.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T, class G, int L, bool Exact>
struct polar_tree {
  using P = polar_paths<T, G, L>;
  using I = typename P::I;
  using V = typename P::value;
  using E = typename P::E;
  using N = typename P::number;
  using rules = polar_rules<T, Exact, L>;
  static constexpr int word_bits = polar_word_bits<T>;
  static_assert(P::replicas <= word_bits);
  static constexpr bool halves_stored = !P::over_threads || !polar_makes_halves<T, L>;
  using layout = polar_layout<word_bits, halves_stored>;
  static constexpr int log2_word = layout::log2_word;

  P p;
  layout at;
  const E* channel;  // LLRs of the coded bits, shared by all paths
  E* memory;
  int limit;  // of integer LLRs
  polar_writers<P> written;
  int buffer = 0;
  bool in_right_half = false;  // the root's right child is under way

  WB_HD polar_tree(G g, int n, const E* channel_llrs, E* scratch, int most_llr)
      : p{g}, at{n}, channel(channel_llrs), memory(scratch), limit(most_llr), written(p) {}

  WB_HD static int words_of(int stage) { return stage < log2_word ? 1 : 1 << (stage - log2_word); }
  WB_HD static I low_bits(int stage) { return stage < log2_word ? I((1 << (1 << stage)) - 1) : I(-1); }
  WB_HD E* now() const { return stored(at.now(buffer)); }
  WB_HD E* other() const { return stored(at.now(1 - buffer)); }
  /// Shift from a thread's bit of a word to its next one; 0 if it has at most one.
  static constexpr int next_bit = P::replicas % word_bits;
  WB_HD static N shifted(N word, int by) {
    return each([=](I x) WB_INLINE_LAMBDA { return x << by; }, word);
  }
  /// Beginning of an array of the layout.
  WB_HD E* stored(int first) const { return memory + first * (P::over_threads ? L : P::C); }

  WB_HD bool is_root(int stage) const { return 1 << stage == at.n; }
  /// Are the node's LLRs made where they are read?
  WB_HD bool is_made(int stage) const { return !halves_stored && 2 << stage == at.n; }
  WB_HD static V combined(V a, V b) {
    return each([](T x, T y) WB_INLINE_LAMBDA { return rules::combined(x, y); }, a, b);
  }
  /// g(a, b) = b + a, or b - a where the word's highest bit is set.
  WB_HD V added(V a, V b, N word) const {
    const int most = limit;
    return each([=](T x, T y, I u) WB_INLINE_LAMBDA { return rules::limited(y + rules::turned(x, u), most); },
                a, b, word);
  }
  /// LLR k of this thread of the root's child at `stage`, with the bits of its left sibling that path by(p)
  /// has.
  WB_HD V made(int stage, int k, N by) const {
    const int i = p.replica() + P::replicas * k;
    const V a = p.load(channel, i, true), b = p.load(channel, i + (1 << stage), true);
    if (!in_right_half) return combined(a, b);
    const N word = P::as_numbers(p.load_of(stored(at.left(stage)), i / word_bits, by));
    return added(a, b, shifted(word, word_bits - 1 - i % word_bits));
  }

  /// LLRs of the left child.
  WB_HD_CALL void left(int stage) {
    const int half = 1 << (stage - 1);
    written.note(p, stage);
    if (is_made(stage - 1)) {
      in_right_half = false;
      return;
    }
    each_own_pair<false>(stage, p.paths(), [&](auto llr) WB_INLINE_LAMBDA {
      E* const to = stored(at.alpha(stage - 1));
      const int count = p.own(half);
      WB_LIST_LOOP for (int k = 0; k < count; k++) p.store_own(to, k, combined(llr(k, false), llr(k, true)));
    });
    p.g.sync();
  }
  /// LLRs of the right child: g(a, b) = b + a or b - a by the left child's bit, which is kept.
  WB_HD_CALL void right(int stage) {
    const int half = 1 << (stage - 1);
    const bool stores = !is_made(stage - 1);
    each_own_pair<true>(stage, written.by(stage), [&](auto llr) WB_INLINE_LAMBDA {
      E *to = stored(at.alpha(stage - 1)), *kept = stored(at.left(stage - 1));
      const E* bits = now();
      const int count = p.own(half < word_bits ? half : word_bits);  // of a word's bits
      WB_WORD_LOOP for (int w = 0; w < words_of(stage - 1); w++) {
        N word = P::as_numbers(p.load(bits, w));
        if (w % P::replicas == p.replica()) p.store(kept, w, P::as_values(word));
        if (!stores || count == 0) continue;
        // From the last bit down: the one in turn is the word's highest.
        word = shifted(word, word_bits - 1 - (p.replica() + P::replicas * (count - 1)));
        WB_LIST_LOOP for (int k = word_bits / P::replicas * w + count - 1, c = count; c > 0; k--, c--) {
          p.store_own(to, k, added(llr(k, false), llr(k, true), word));
          word = shifted(word, next_bit);
        }
      }
    });
    if (!stores) in_right_half = true;
    written.note(p, stage);
    p.g.sync();
  }
  WB_HD void combine(int stage) {
    const E* kept = stored(at.left(stage - 1));
    E* bits = now();
    const N writer = written.by(stage);
    const int half = 1 << (stage - 1);
    WB_LIST_LOOP for (int w = p.replica(); w < words_of(stage - 1); w += P::replicas) {
      const N a = P::as_numbers(p.load_of(kept, w, writer)), b = P::as_numbers(p.load(bits, w));
      const N sum = each([](I x, I y) WB_INLINE_LAMBDA { return x ^ y; }, a, b);
      if (half >= word_bits) {
        p.store(bits, w, P::as_values(sum));
        p.store(bits, w + half / word_bits, P::as_values(b));
      } else {
        p.store(bits, w,
                P::as_values(each([=](I x, I y) WB_INLINE_LAMBDA { return x | (y << half); }, sum, b)));
      }
    }
    p.g.sync();
  }

  WB_HD static V both(V a, V b) {
    return each([](T x, T y) WB_INLINE_LAMBDA { return rules::sum(x, y); }, a, b);
  }
  template <int Count>
  WB_HD static V in_pairs(const V* part) {
    if constexpr (Count == 1)
      return part[0];
    else
      return both(in_pairs<Count / 2>(part), in_pairs<Count / 2>(part + Count / 2));
  }
  /// The sum of f over a node's LLRs, in an order that all builds share.
  template <class Term>
  WB_HD V sum_of(int stage, Term term) const {
    const bool root = is_root(stage);
    const E* alpha = root ? channel : stored(at.alpha(stage));
    const int size = 1 << stage;
    if constexpr (P::over_threads) {
      V sum = P::all(T(0));
      WB_LIST_LOOP for (int k = 0; k < p.own(size); k++) sum =
          both(sum, each(term, is_made(stage) ? made(stage, k, p.paths()) : p.load_own(alpha, k, root)));
      return p.over_replicas(sum, [](T a, T b) WB_INLINE_LAMBDA { return rules::sum(a, b); });
    } else {
      constexpr int most = P::partial_sums;
      V part[most];
      if (size < most) {
        for (int r = 0; r < size; r++) part[r] = each(term, p.load(alpha, r));
        for (int step = 1; step < size; step *= 2)
          for (int r = 0; r < size; r += 2 * step) part[r] = both(part[r], part[r + step]);
        return part[0];
      }
      WB_UNROLL_VECTORS for (int r = 0; r < most; r++) part[r] = each(term, p.load(alpha, r));
      for (int i = most; i < size; i += most)
        WB_UNROLL_VECTORS for (int r = 0; r < most; r++) part[r] =
            both(part[r], each(term, p.load(alpha, i + r)));
      return in_pairs<most>(part);
    }
  }
  WB_HD void fill(int stage, N word) {
    E* bits = now();
    WB_LIST_LOOP for (int w = p.replica(); w < words_of(stage); w += P::replicas)
        p.store(bits, w, P::as_values(word));
    p.g.sync();
  }

  /// Hard decisions of a node into `now`; returns the sum of its bits. Of its LLRs, which are not needed any
  /// more, the magnitudes stay. Not for the root.
  WB_HD_CALL N decide(int stage) {
    E *alpha = stored(at.alpha(stage)), *bits = now();
    const int count = p.own(stage < log2_word ? 1 << stage : word_bits);  // of a word's bits
    N parity = P::all(I(0));
    WB_WORD_LOOP for (int w = 0; w < words_of(stage); w++) {
      N word = P::all(I(0));
      I bit = I(1) << p.replica();
      WB_LIST_LOOP for (int k = word_bits / P::replicas * w, c = count; c > 0; k++, c--) {
        const V a = is_made(stage) ? made(stage, k, p.paths()) : p.load_own(alpha, k);
        word = each([=](I x, T y) WB_INLINE_LAMBDA { return select(y < T(0), x | bit, x); }, word, a);
        p.store_own(alpha, k, each([](T y) WB_INLINE_LAMBDA { return abs(y); }, a));
        bit = bit << next_bit;
      }
      word = p.xor_of_replicas(word);
      parity = each([](I x, I y) WB_INLINE_LAMBDA { return x ^ y; }, parity, word);
      if (w % P::replicas == p.replica()) p.store(bits, w, P::as_values(word));
    }
    p.g.sync();
    return each([](I x) WB_INLINE_LAMBDA { return polar_parity(x); }, parity);
  }

 private:
  /// Calls f(llr): llr(k, second) is LLR k of this thread in the first or second half of a node. Inherited:
  /// path p reads what path by(p) wrote; else by(p) is p.
  template <bool Inherited, class F>
  WB_HD void each_own_pair(int stage, N by, F f) const {
    const int half = 1 << (stage - 1);
    if (is_made(stage)) {
      f([&](int k, bool second)
            WB_INLINE_LAMBDA { return made(stage, second ? k + half / P::replicas : k, by); });
    } else {
      const bool root = halves_stored && is_root(stage);
      const E* const first = root ? channel : stored(at.alpha(stage));
      f([&](int k, bool second) WB_INLINE_LAMBDA {
        const E* const from = second ? first + P::distance(half, root) : first;
        return Inherited ? p.load_own_of(from, k, by, root) : p.load_own(from, k, root);
      });
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
