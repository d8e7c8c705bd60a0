#pragma once
// Path metrics and forks of a list of L paths: polar_list<T, G, L, Exact> (polar.hpp has formulas and
// papers).
//
// A fork gives each path a copy with another decision and a penalty. The L candidates of the smallest metrics
// are the new list. Path metrics, pointers and parity sums are in registers; polar_tree.hpp has the memory.
//
// Contract: every function is a collective of all threads of the list, with equal arguments. Those that
// change partial sums end with g.sync(); the others need no barrier. Cost of a fork: two reductions, two
// bitonic sorts of L keys, and gathers of metrics, pointers and sums.
#include <warpband/fec/polar/polar_least_reliable.hpp>
#include <warpband/fec/polar/polar_tree.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T, class G, int L, bool Exact>
struct polar_list : polar_tree<T, G, L, Exact> {
  using tree = polar_tree<T, G, L, Exact>;
  using typename tree::P, typename tree::I, typename tree::V, typename tree::E, typename tree::N,
      typename tree::rules;
  using M = typename P::M;
  using F = typename P::mask;
  using tree::word_bits, tree::log2_word, tree::p, tree::pointers, tree::buffer, tree::stage_llrs, tree::sums,
      tree::other_sums, tree::words_of, tree::low_bits, tree::sum_over_llrs, tree::set_partial_sums,
      tree::hard_decisions;

  V metric;
  N parity_sums;  // bit i: sum of the information bits of parity class i

  WB_HD polar_list(G g, int n, const E* channel_llrs, E* scratch, int llr_limit)
      : tree(g, n, channel_llrs, scratch, llr_limit) {
    const N path = p.paths();
    metric = map([](I i) WB_INLINE_LAMBDA { return select(i == I(0), T(0), rules::no_path()); }, path);
    parity_sums = P::broadcast(I(0));
  }

  WB_HD void add_penalties(V penalties) {
    metric = map([](T m, T x) WB_INLINE_LAMBDA { return rules::with_penalty(m, x); }, metric, penalties);
  }
  /// Integers: subtracts the smallest metric from all metrics.
  WB_HD void normalise_metrics() {
    if constexpr (is_whole<T> && L > 1) {
      const V smallest = p.smallest(metric);
      metric = map([](T m, T x) WB_INLINE_LAMBDA { return rules::normalised(m, x); }, metric, smallest);
    }
  }

  /// Penalties ln(1 + e^-|LLR|) of the hard decisions of a node. They are 0 in max-log form.
  WB_HD void add_penalties_of_hard_decisions(int stage) {
    if constexpr (Exact && L > 1)
      add_penalties(sum_over_llrs(stage, [](T a) WB_INLINE_LAMBDA { return log_sum_correction(abs(a)); }));
  }

  WB_HD void decode_rate_0(int stage) {
    if constexpr (L > 1) {
      add_penalties(sum_over_llrs(stage, [](T a) WB_INLINE_LAMBDA { return rules::penalty(T(0) - a); }));
      normalise_metrics();
    }
    set_partial_sums(stage, P::broadcast(I(0)));
  }

  /// List entry p becomes a copy of path parent(p), with the other decision where `flipped`.
  struct fork {
    bool is_changed;  // false: all paths stay, `flipped` is not set
    N parent;
    F flipped;
  };
  /// Candidates: each path as it is, and with the other decision at a penalty. The L smallest metrics stay;
  /// of equal metrics those without penalty, then those of the lower index. Keys omit the last bits of
  /// metrics.
  WB_HD_CALL fork fork_paths(V penalty) {
    fork r;
    r.is_changed = false;
    r.parent = p.paths();
    if constexpr (L > 1) {
      normalise_metrics();
      const V flipped_metric =
          map([](T m, T x) WB_INLINE_LAMBDA { return rules::with_penalty(m, x); }, metric, penalty);
      const auto sort_key = [](T m, I candidate) WB_INLINE_LAMBDA { return rules::sort_key(m, candidate); };
      const V kept_key = map(sort_key, metric, r.parent);
      const V flipped_key =
          map(sort_key, flipped_metric, map([](I path) WB_INLINE_LAMBDA { return path | I(L); }, r.parent));
      const V largest_kept = p.largest(kept_key), smallest_flipped = p.smallest(flipped_key);
      const F unchanged =
          map([](T a, T b) WB_INLINE_LAMBDA { return a < b; }, largest_kept, smallest_flipped);
      if (p.is_true_for_all(unchanged)) return r;
      // One descending, the other ascending: the elementwise minimum has the L smallest keys of both.
      const N best = P::as_integers(min(p.sorted(kept_key, true), p.sorted(flipped_key, false)));
      r.is_changed = true;
      // Codewords that share vectors do not affect each other: an unchanged list keeps its order.
      const N candidate = select(unchanged, r.parent, best);
      r.parent = map([](I k) WB_INLINE_LAMBDA { return k & I(L - 1); }, candidate);
      r.flipped = map([](I k) WB_INLINE_LAMBDA { return (k & I(L)) != I(0); }, candidate);
      const V parent_metric = p.gathered(metric, r.parent);
      metric = select(r.flipped, p.gathered(flipped_metric, r.parent), parent_metric);
      pointers.copy(p, r.parent);
      parity_sums = p.gathered(parity_sums, r.parent);
    }
    return r;
  }

  WB_HD void decode_repetition(int stage) {
    const V zeros = sum_over_llrs(stage, [](T a) WB_INLINE_LAMBDA { return rules::penalty(T(0) - a); });
    const V ones = sum_over_llrs(stage, [](T a) WB_INLINE_LAMBDA { return rules::penalty(a); });
    N word = map([](T a, T b) WB_INLINE_LAMBDA { return select(b < a, I(-1), I(0)); }, zeros, ones);
    add_penalties(min(zeros, ones));
    const fork f =
        fork_paths(map([](T a, T b) WB_INLINE_LAMBDA { return max(a, b) - min(a, b); }, zeros, ones));
    if (f.is_changed) word = with_flips(p.gathered(word, f.parent), f.flipped, P::broadcast(I(-1)));
    set_partial_sums(stage, map([=](I x) WB_INLINE_LAMBDA { return x & low_bits(stage); }, word));
  }
  /// `word` with `bits` flipped in the paths of `flipped`.
  WB_HD static N with_flips(N word, F flipped, N bits) {
    return map([](I x, M m, I b) WB_INLINE_LAMBDA { return select(m, x ^ b, x); }, word, flipped, bits);
  }

  using least_reliable = polar_least_reliable<P>;
  /// The next least reliable bit of each path. Requires hard_decisions(stage).
  WB_HD least_reliable next_least_reliable(int stage, N previous) {
    return polar_next_least_reliable<rules>(p, stage_llrs(stage), 1 << stage, previous);
  }

  /// Mask of bit `index` of a node in one of its words.
  WB_HD static N bit_mask(int stage, N index, int word) {
    if (stage <= log2_word) return map([](I i) WB_INLINE_LAMBDA { return rules::bit_mask(i); }, index);
    return map(
        [=](I i) WB_INLINE_LAMBDA {
          return select((i >> log2_word) == I(word), rules::bit_mask(i & I(word_bits - 1)), I(0));
        },
        index);
  }

  /// Copies partial sums from the parents. Flips bit `index`, and bit `second` if `two`, where `f.flipped`.
  WB_HD_CALL void copy_partial_sums(int stage, const fork& f, N index, N second, bool two) {
    const E* from = sums();
    E* to = other_sums();
    WB_POLAR_ELEMENT_LOOP for (int w = p.replica(); w < words_of(stage); w += P::replicas) {
      N bits = bit_mask(stage, index, w);
      if (two) bits = bits ^ bit_mask(stage, second, w);
      p.store_word(to, w, with_flips(p.load_word_from(from, w, f.parent), f.flipped, bits));
    }
    buffer = 1 - buffer;
    p.g.sync();
  }

  /// Rate-1 node, or SPC node if `even_parity`. Hard decisions come first; in an SPC node the least reliable
  /// bit is flipped where their parity is odd. Then the list is forked at the least reliable bits, one by
  /// one. A flip in an SPC node also flips its least reliable bit. L - 1 bits suffice for the L best
  /// candidates (S. A. Hashemi, C. Condo, W. J. Gross, 2017).
  WB_HD void decode_rate_1_or_spc(int stage, bool even_parity) {
    N odd = hard_decisions(stage, L > 1 || even_parity);
    add_penalties_of_hard_decisions(stage);
    const int size = 1 << stage, limit = even_parity ? L : L - 1, steps = size < limit ? size : limit;
    least_reliable first{{}, least_reliable::none()}, current = first;
    N source = p.paths();  // path whose LLRs a path has
    WB_ROLL for (int k = 0; k < steps; k++) {
      current = next_least_reliable(stage, current.index);
      fork f{true, source, map([](I x) WB_INLINE_LAMBDA { return x != I(0); }, odd)};
      if (even_parity && k == 0) {
        first = current;
        add_penalties(
            map([](M o, T x) WB_INLINE_LAMBDA { return select(o, x, T(0)); }, f.flipped, first.magnitude));
      } else {
        V penalty = p.gathered(current.magnitude, source);
        if (even_parity)
          penalty = map([](T x, T y, I o)
                            WB_INLINE_LAMBDA { return select(o != I(0), x - y, rules::with_penalty(x, y)); },
                        penalty, p.gathered(first.magnitude, source), odd);
        f = fork_paths(penalty);
        if (!f.is_changed) break;
        source = p.gathered(source, f.parent);
        if (even_parity) odd = with_flips(p.gathered(odd, f.parent), f.flipped, P::broadcast(I(1)));
      }
      copy_partial_sums(stage, f, p.gathered(current.index, source), p.gathered(first.index, source),
                        even_parity && k > 0);
    }
  }

  /// A parity-check bit: the sum of the information bits of its class.
  WB_HD void decode_parity_check(int parity_class) {
    const N bit = map([=](I s) WB_INLINE_LAMBDA { return (s >> parity_class) & I(1); }, parity_sums);
    add_penalties(map([](T a, I b)
                          WB_INLINE_LAMBDA { return rules::penalty(select(b != I(0), a, T(0) - a)); },
                      p.load(stage_llrs(0), 0), bit));
    set_partial_sums(0, bit);
  }
  /// Adds the current information bit to its parity class.
  WB_HD void add_to_parity_class(int parity_class) {
    parity_sums = map([=](I s, I b) WB_INLINE_LAMBDA { return s ^ (b << parity_class); }, parity_sums,
                      p.load_word(sums(), 0));
    p.g.sync();  // the next step may overwrite the partial sums
  }
};

}  // namespace WB_ISA
}  // namespace wb

#undef WB_POLAR_VECTOR_LOOP
#undef WB_POLAR_ELEMENT_LOOP
#undef WB_POLAR_WORD_LOOP
