#pragma once
// Successive cancellation of a list of L paths (polar.hpp has formulas and papers): metrics, decisions, and
// which paths go on. polar_tree.hpp has LLRs and bits; a program visits the tree's nodes.
#include <warpband/fec/polar/polar_tree.hpp>
#include <warpband/fec/polar/polar_weak.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T, class G, int L, bool Exact>
struct polar_list : polar_tree<T, G, L, Exact> {
  using tree = polar_tree<T, G, L, Exact>;
  using typename tree::P, typename tree::I, typename tree::V, typename tree::E, typename tree::N,
      typename tree::rules;
  using F = typename P::flag;
  using tree::word_bits, tree::log2_word, tree::p, tree::at, tree::written, tree::buffer, tree::stored,
      tree::now, tree::other, tree::words_of, tree::low_bits, tree::sum_of, tree::fill, tree::decide;

  V metric;
  N sums;  // of information bits by their index modulo 5, for parity checks

  WB_HD polar_list(G g, int n, const E* channel_llrs, E* scratch, int most_llr)
      : tree(g, n, channel_llrs, scratch, most_llr) {
    const N path = p.paths();
    metric = each([](I i) WB_INLINE_LAMBDA { return select(i == I(0), T(0), rules::no_path()); }, path);
    sums = P::all(I(0));
  }

  /// Adds penalties to metrics; of integers what all have alike is taken off.
  WB_HD void add(V penalties) {
    metric = each([](T m, T x) WB_INLINE_LAMBDA { return rules::grown(m, x); }, metric, penalties);
  }
  WB_HD void level() {
    if constexpr (is_whole<T> && L > 1) {
      const V least = p.reduced(metric, [](T a, T b) WB_INLINE_LAMBDA { return min(a, b); });
      metric = each([](T m, T x) WB_INLINE_LAMBDA { return rules::less(m, x); }, metric, least);
    }
  }

  /// What decisions with their LLRs cost: nothing in max-log forms.
  WB_HD void follow(int stage) {
    if constexpr (Exact && L > 1)
      add(sum_of(stage, [](T a) WB_INLINE_LAMBDA { return log_sum_correction(abs(a)); }));
  }

  WB_HD void frozen(int stage) {
    if constexpr (L > 1) {
      add(sum_of(stage, [](T a) WB_INLINE_LAMBDA { return rules::penalty(T(0) - a); }));
      level();
    }
    fill(stage, P::all(I(0)));
  }

  /// Heirs of the paths: path p goes on as path from(p), with the other choice where `other`.
  struct fork {
    bool any;
    N from;
    F other;
  };
  /// Each path may go on as it is, or with another choice at a penalty: the L best of both go on. Of equal
  /// ones those without penalty do, then those of lower index. Metrics are compared without their last bits.
  WB_HD_CALL fork split(V against) {
    fork r;
    r.any = false;
    r.from = p.paths();
    if constexpr (L > 1) {
      level();
      const V worse = each([](T m, T x) WB_INLINE_LAMBDA { return rules::grown(m, x); }, metric, against);
      const auto keyed = [](T m, I path) WB_INLINE_LAMBDA { return rules::key(m, path); };
      const V stay = each(keyed, metric, r.from);
      const V leave = each(keyed, worse, each([](I path) WB_INLINE_LAMBDA { return path | I(L); }, r.from));
      const V most = p.reduced(stay, [](T a, T b) WB_INLINE_LAMBDA { return max(a, b); });
      const V least = p.reduced(leave, [](T a, T b) WB_INLINE_LAMBDA { return min(a, b); });
      const F settled = each([](T a, T b) WB_INLINE_LAMBDA { return a < b; }, most, least);
      if (p.always(settled)) return r;
      const N best = P::as_numbers(each([](T a, T b) WB_INLINE_LAMBDA { return min(a, b); },
                                        p.sorted(stay, true), p.sorted(leave, false)));
      r.any = true;
      // A codeword whose paths all stay as they are keeps their order, whatever its neighbours do.
      const N heirs = each([](F_of s, I path, I k) WB_INLINE_LAMBDA { return select(s, path, k); }, settled,
                           r.from, best);
      r.from = each([](I k) WB_INLINE_LAMBDA { return k & I(L - 1); }, heirs);
      r.other = each([](I k) WB_INLINE_LAMBDA { return (k & I(L)) != I(0); }, heirs);
      metric = each([](F_of m, T a, T b) WB_INLINE_LAMBDA { return select(m, b, a); }, r.other,
                    p.permuted(metric, r.from), p.permuted(worse, r.from));
      written.inherit(p, r.from);
      sums = p.permuted(sums, r.from);
    }
    return r;
  }
  using F_of = typename P::M;

  WB_HD void repetition(int stage) {
    const V zero = sum_of(stage, [](T a) WB_INLINE_LAMBDA { return rules::penalty(T(0) - a); });
    const V one = sum_of(stage, [](T a) WB_INLINE_LAMBDA { return rules::penalty(a); });
    N bit = each([](T a, T b) WB_INLINE_LAMBDA { return select(b < a, I(-1), I(0)); }, zero, one);
    add(each([](T a, T b) WB_INLINE_LAMBDA { return min(a, b); }, zero, one));
    const fork f = split(each([](T a, T b) WB_INLINE_LAMBDA { return max(a, b) - min(a, b); }, zero, one));
    if (f.any) bit = flipped(p.permuted(bit, f.from), f.other, P::all(I(-1)));
    fill(stage, each([=](I x) WB_INLINE_LAMBDA { return x & low_bits(stage); }, bit));
  }
  WB_HD static N flipped(N word, F where, N bits) {
    return each([](I x, F_of m, I b) WB_INLINE_LAMBDA { return select(m, x ^ b, x); }, word, where, bits);
  }

  using weak = polar_weak<P>;
  /// The weakest of each path's bits that was not found before. Behind `decide`.
  WB_HD weak next_weak(int stage, N taken) {
    return polar_weakest<rules>(p, stored(at.alpha(stage)), 1 << stage, taken);
  }

  /// The bit at a place of a node, in one of its words.
  WB_HD static N bit_at(int stage, N place, int word) {
    if (stage <= log2_word) return each([](I i) WB_INLINE_LAMBDA { return rules::one_at(i); }, place);
    return each(
        [=](I i) WB_INLINE_LAMBDA {
          return select((i >> log2_word) == I(word), rules::one_at(i & I(word_bits - 1)), I(0));
        },
        place);
  }

  /// `now` as the heirs have it, with a bit flipped, and a second one, where `where` holds.
  WB_HD_CALL void inherit(int stage, const fork& f, N place, N second, bool two) {
    const E* from = now();
    E* to = other();
    WB_LIST_LOOP for (int w = p.replica(); w < words_of(stage); w += P::replicas) {
      N bits = bit_at(stage, place, w);
      if (two) bits = each([](I a, I b) WB_INLINE_LAMBDA { return a ^ b; }, bits, bit_at(stage, second, w));
      p.store(to, w, P::as_values(flipped(P::as_numbers(p.load_of(from, w, f.from)), f.other, bits)));
    }
    buffer = 1 - buffer;
    p.g.sync();
  }

  /// A node of any bits, or of even parity: then the weakest bit makes up for the others. The L best of all
  /// choices differ from the decisions in the L - 1 next weak bits only, and are found by one split after
  /// another (S. A. Hashemi, C. Condo, W. J. Gross, "Fast and flexible successive-cancellation list decoders
  /// for polar codes", IEEE Trans. Signal Process., 2017).
  WB_HD void decided(int stage, bool even) {
    N odd = decide(stage);
    follow(stage);
    const int size = 1 << stage, most = even ? L : L - 1, steps = size < most ? size : most;
    weak first{{}, weak::none()}, last = first;
    N writer = p.paths();  // which path found the weak bits of each path
    WB_ROLL for (int k = 0; k < steps; k++) {
      last = next_weak(stage, last.place);
      fork f{true, writer, each([](I x) WB_INLINE_LAMBDA { return x != I(0); }, odd)};
      if (even && k == 0) {  // flips the weakest bit where the parity is odd
        first = last;
        add(each([](F_of o, T x) WB_INLINE_LAMBDA { return select(o, x, T(0)); }, f.other, first.size));
      } else {
        V against = p.permuted(last.size, writer);
        if (even)
          against = each([](T x, T y, I o)
                             WB_INLINE_LAMBDA { return select(o != I(0), x - y, rules::grown(x, y)); },
                         against, p.permuted(first.size, writer), odd);
        f = split(against);
        if (!f.any) break;
        writer = p.permuted(writer, f.from);
        if (even) odd = flipped(p.permuted(odd, f.from), f.other, P::all(I(1)));
      }
      inherit(stage, f, p.permuted(last.place, writer), p.permuted(first.place, writer), even && k > 0);
    }
  }

  /// A bit that is the sum of others.
  WB_HD void check(int place) {
    const N bit = each([=](I s) WB_INLINE_LAMBDA { return (s >> place) & I(1); }, sums);
    add(each([](T a, I b) WB_INLINE_LAMBDA { return rules::penalty(select(b != I(0), a, T(0) - a)); },
             p.load(stored(at.alpha(0)), 0), bit));
    fill(0, bit);
  }
  WB_HD void track(int place) {
    sums = each([=](I s, I b) WB_INLINE_LAMBDA { return s ^ (b << place); }, sums,
                P::as_numbers(p.load(now(), 0)));
    p.g.sync();  // the next step may overwrite `now`
  }
};

}  // namespace WB_ISA
}  // namespace wb
