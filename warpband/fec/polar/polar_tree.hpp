#pragma once
// Stage LLRs and partial sums of a list of L paths: polar_tree<T, G, L, Exact>.
//
// A node at stage s of the decoding tree has 2^s LLRs and 2^s coded bits, its partial sums. LLRs of the
// children:
//   left   f(a, b)                  a, b: first and second half of the node's LLRs
//   right  g(a, b) = b + (1 - 2 u) a   u: partial sums of the left child
// Partial sums of the node: (left + right, right).
//
// Memory (polar_layout), per path: LLRs and left partial sums of each stage, and the partial sums of the
// current node, which was decided last. A copied path does not copy arrays: reads go through pointers
// (polar_pointers.hpp).
//
// Contract: every function is a collective of all threads of the list, with equal arguments. `channel_llrs`
// and `scratch` may be in shared or device memory. A function that writes scratch memory ends with g.sync().
// Cost: 2^(s - 1) operations per path for f or g at stage s; 2^s / word_bits for partial sums.
#include <warpband/fec/polar/polar_args.hpp>
#include <warpband/fec/polar/polar_body.hpp>
#include <warpband/fec/polar/polar_paths.hpp>
#include <warpband/fec/polar/polar_pointers.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T, class G, int L, bool Exact>
struct polar_tree {
  using P = polar_paths<T, G, L>;
  using I = typename P::I;
  using V = typename P::value;
  using E = typename P::E;
  using N = typename P::integer;
  using rules = polar_rules<T, Exact, L>;
  static constexpr int word_bits = polar_word_bits<T>;
  static_assert(P::replicas <= word_bits);
  static constexpr bool top_stage_stored = !P::over_threads || !polar_recomputes_top_stage<T, L>;
  using layout_type = polar_layout<word_bits, top_stage_stored>;
  static constexpr int log2_word = layout_type::log2_word;

  P p;
  layout_type layout;
  const E* channel;  // LLRs of the coded bits, shared by all paths
  E* memory;
  int max_llr;  // limit of integer LLRs
  polar_pointers<P> pointers;
  int buffer = 0;               // of partial sums of the current node
  bool in_right_child = false;  // the current node is below the root's right child

  WB_HD polar_tree(G g, int n, const E* channel_llrs, E* scratch, int llr_limit)
      : p{g}, layout{n}, channel(channel_llrs), memory(scratch), max_llr(llr_limit), pointers(n) {}

  WB_HD static int words_of(int stage) { return stage < log2_word ? 1 : 1 << (stage - log2_word); }
  WB_HD static I low_bits(int stage) { return stage < log2_word ? I((1 << (1 << stage)) - 1) : I(-1); }
  /// Partial sums of the current node, and the other buffer.
  WB_HD E* sums() const { return array(layout.sums(buffer)); }
  WB_HD E* other_sums() const { return array(layout.sums(1 - buffer)); }
  WB_HD E* stage_llrs(int stage) const { return array(layout.llrs(stage)); }
  WB_HD E* left_sums(int stage) const { return array(layout.left_sums(stage)); }
  /// Shift from a thread's bit of a word to its next one; 0 if it has at most one.
  static constexpr int next_bit = P::replicas % word_bits;
  WB_HD static N shifted(N word, int shift) {
    return map([=](I x) WB_INLINE_LAMBDA { return x << shift; }, word);
  }

  WB_HD bool is_root(int stage) const { return 1 << stage == layout.n; }
  WB_HD bool is_recomputed(int stage) const { return !top_stage_stored && 2 << stage == layout.n; }
  WB_HD static V f_of(V a, V b) {
    return map([](T x, T y) WB_INLINE_LAMBDA { return rules::f(x, y); }, a, b);
  }
  /// g(a, b), with u the word's highest bit.
  WB_HD V g_of(V a, V b, N word) const {
    const int limit = max_llr;
    return map([=](T x, T y, I u)
                   WB_INLINE_LAMBDA { return rules::saturated(y + rules::negated_if(x, u), limit); },
               a, b, word);
  }
  /// The k-th striped LLR of the root's child, from channel LLRs. `source`: paths whose left partial sums are
  /// read.
  WB_HD V recomputed_llr(int stage, int k, N source) const {
    const int i = p.replica() + P::replicas * k;
    const V a = p.load(channel, i, true), b = p.load(channel, i + (1 << stage), true);
    if (!in_right_child) return f_of(a, b);
    const N word = p.load_word_from(left_sums(stage), i / word_bits, source);
    return g_of(a, b, shifted(word, word_bits - 1 - i % word_bits));
  }

  WB_HD_CALL void compute_left_llrs(int stage) {
    const int half = 1 << (stage - 1);
    pointers.point_to_self(p, stage);
    if (is_recomputed(stage - 1)) {
      in_right_child = false;
      return;
    }
    with_llr_halves<false>(stage, p.paths(), [&](auto llr) WB_INLINE_LAMBDA {
      E* const to = stage_llrs(stage - 1);
      const int count = p.striped_count(half);
      WB_POLAR_ELEMENT_LOOP for (int k = 0; k < count; k++)
          p.store_striped(to, k, f_of(llr(k, false), llr(k, true)));
    });
    p.g.sync();
  }
  /// Also stores the current partial sums as those of the left child.
  WB_HD_CALL void compute_right_llrs(int stage) {
    const int half = 1 << (stage - 1);
    const bool is_stored = !is_recomputed(stage - 1);
    with_llr_halves<true>(stage, pointers.source(stage), [&](auto llr) WB_INLINE_LAMBDA {
      E *to = stage_llrs(stage - 1), *left = left_sums(stage - 1);
      const E* current = sums();
      const int count = p.striped_count(half < word_bits ? half : word_bits);  // LLRs per word
      WB_POLAR_WORD_LOOP for (int w = 0; w < words_of(stage - 1); w++) {
        N word = p.load_word(current, w);
        if (w % P::replicas == p.replica()) p.store_word(left, w, word);
        if (!is_stored || count == 0) continue;
        // From the last LLR to the first: shifts keep its bit u the word's highest.
        word = shifted(word, word_bits - 1 - (p.replica() + P::replicas * (count - 1)));
        WB_POLAR_ELEMENT_LOOP for (int k = word_bits / P::replicas * w + count - 1, c = count; c > 0;
                                   k--, c--) {
          p.store_striped(to, k, g_of(llr(k, false), llr(k, true), word));
          word = shifted(word, next_bit);
        }
      }
    });
    if (!is_stored) in_right_child = true;
    pointers.point_to_self(p, stage);
    p.g.sync();
  }
  WB_HD void combine_partial_sums(int stage) {
    const E* left = left_sums(stage - 1);
    E* current = sums();
    const N source = pointers.source(stage);
    const int half = 1 << (stage - 1);
    WB_POLAR_ELEMENT_LOOP for (int w = p.replica(); w < words_of(stage - 1); w += P::replicas) {
      const N a = p.load_word_from(left, w, source), b = p.load_word(current, w);
      const N sum = a ^ b;
      if (half >= word_bits) {
        p.store_word(current, w, sum);
        p.store_word(current, w + half / word_bits, b);
      } else {
        p.store_word(current, w, map([=](I x, I y) WB_INLINE_LAMBDA { return x | (y << half); }, sum, b));
      }
    }
    p.g.sync();
  }

  WB_HD static V sum_of_penalties(V a, V b) {
    return map([](T x, T y) WB_INLINE_LAMBDA { return rules::sum_of_penalties(x, y); }, a, b);
  }
  template <int Count>
  WB_HD static V pairwise_sum(const V* terms) {
    if constexpr (Count == 1)
      return terms[0];
    else
      return sum_of_penalties(pairwise_sum<Count / 2>(terms), pairwise_sum<Count / 2>(terms + Count / 2));
  }
  /// The sum of penalty(LLR) over a node. Accumulator r sums elements r, r + accumulators, ...; the
  /// accumulators are summed pairwise. All builds share this order.
  template <class Penalty>
  WB_HD V sum_over_llrs(int stage, Penalty penalty) const {
    const bool root = is_root(stage);
    const E* llrs = root ? channel : stage_llrs(stage);
    const int size = 1 << stage;
    if constexpr (P::over_threads) {
      V sum = P::broadcast(T(0));
      WB_POLAR_ELEMENT_LOOP for (int k = 0; k < p.striped_count(size); k++) sum =
          sum_of_penalties(sum, map(penalty, is_recomputed(stage) ? recomputed_llr(stage, k, p.paths())
                                                                  : p.load_striped(llrs, k, root)));
      return p.reduced_over_replicas(sum,
                                     [](T a, T b) WB_INLINE_LAMBDA { return rules::sum_of_penalties(a, b); });
    } else {
      constexpr int count = P::accumulators;
      V part[count];
      if (size < count) {
        for (int r = 0; r < size; r++) part[r] = map(penalty, p.load(llrs, r));
        for (int step = 1; step < size; step *= 2)
          for (int r = 0; r < size; r += 2 * step) part[r] = sum_of_penalties(part[r], part[r + step]);
        return part[0];
      }
      WB_POLAR_VECTOR_LOOP for (int r = 0; r < count; r++) part[r] = map(penalty, p.load(llrs, r));
      for (int i = count; i < size; i += count)
        WB_POLAR_VECTOR_LOOP for (int r = 0; r < count; r++) part[r] =
            sum_of_penalties(part[r], map(penalty, p.load(llrs, i + r)));
      return pairwise_sum<count>(part);
    }
  }
  /// All words of the node's partial sums become `word`.
  WB_HD void set_partial_sums(int stage, N word) {
    E* current = sums();
    WB_POLAR_ELEMENT_LOOP for (int w = p.replica(); w < words_of(stage); w += P::replicas)
        p.store_word(current, w, word);
    p.g.sync();
  }

  /// Hard decisions of a node's LLRs as its partial sums; returns their parity. If `forks` follow, the LLRs
  /// are replaced by their magnitudes. Not for the root.
  WB_HD_CALL N hard_decisions(int stage, bool forks) {
    E *llrs = stage_llrs(stage), *current = sums();
    const int count = p.striped_count(stage < log2_word ? 1 << stage : word_bits);  // LLRs per word
    N parity = P::broadcast(I(0));
    WB_POLAR_WORD_LOOP for (int w = 0; w < words_of(stage); w++) {
      N word = P::broadcast(I(0));
      I bit = I(1) << p.replica();
      WB_POLAR_ELEMENT_LOOP for (int k = word_bits / P::replicas * w, c = count; c > 0; k++, c--) {
        const V llr = is_recomputed(stage) ? recomputed_llr(stage, k, p.paths()) : p.load_striped(llrs, k);
        word = map([=](I x, T y) WB_INLINE_LAMBDA { return select(y < T(0), x | bit, x); }, word, llr);
        if (forks) p.store_striped(llrs, k, map([](T y) WB_INLINE_LAMBDA { return abs(y); }, llr));
        bit = bit << next_bit;
      }
      word = p.xor_over_replicas(word);
      parity = parity ^ word;
      if (w % P::replicas == p.replica()) p.store_word(current, w, word);
    }
    p.g.sync();
    return map([](I x) WB_INLINE_LAMBDA { return polar_parity(x); }, parity);
  }

 private:
  WB_HD E* array(int offset) const { return memory + offset * (P::over_threads ? L : P::C); }

  /// Calls f(llr), where llr(k, second) is the k-th striped LLR in the first or second half of a node.
  /// Inherited: path p reads the array of path source(p); else source(p) is p.
  template <bool Inherited, class F>
  WB_HD void with_llr_halves(int stage, N source, F f) const {
    const int half = 1 << (stage - 1);
    if (is_recomputed(stage)) {
      f([&](int k, bool second)
            WB_INLINE_LAMBDA { return recomputed_llr(stage, second ? k + half / P::replicas : k, source); });
    } else {
      const bool root = top_stage_stored && is_root(stage);
      const E* const first = root ? channel : stage_llrs(stage);
      f([&](int k, bool second) WB_INLINE_LAMBDA {
        const E* const from = second ? first + P::offset(half, root) : first;
        return Inherited ? p.load_striped_from(from, k, source, root) : p.load_striped(from, k, root);
      });
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
