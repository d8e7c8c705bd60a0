#pragma once
// Successive cancellation of a list of L paths (polar.hpp has formulas and papers).
//
// The nodes of the code's tree are visited by a program. LLRs of the nodes that are under way are kept by
// stage, alpha of 2^s bits; bits of the node that was left last in `now`, those of left children by stage.
// Paths are never copied: where path p goes on as the heir of path q, the fields of p say so, for each stage
// that holds numbers from before. Reading them goes through the fields.
#include <warpband/fec/polar/polar_args.hpp>
#include <warpband/fec/polar/polar_body.hpp>
#include <warpband/fec/polar/polar_paths.hpp>
#include <warpband/fec/polar/polar_weak.hpp>
#include <warpband/fec/polar/polar_writers.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T, class G, int L, bool Exact>
struct polar_list {
  using P = polar_paths<T, G, L>;
  using I = typename P::I;
  using V = typename P::value;
  using E = typename P::E;
  using N = typename P::number;
  using F = typename P::flag;
  using rules = polar_rules<T, Exact, L>;
  static constexpr int word_bits = polar_word_bits<T>, log2_word = polar_layout<word_bits>::log2_word;

  P p;
  polar_layout<word_bits> at;
  const E* channel;  // LLRs of the coded bits, shared by all paths
  E* memory;
  int limit;  // of integer LLRs
  V metric;
  polar_writers<P> written;
  N sums;  // of information bits by their index modulo 5, for parity checks
  int buffer = 0;

  WB_HD polar_list(G g, int n, const E* channel_llrs, E* scratch, int most_llr)
      : p{g}, at{n}, channel(channel_llrs), memory(scratch), limit(most_llr), written(p) {
    const N path = p.paths();
    metric = each([](I i) WB_INLINE_LAMBDA { return select(i == I(0), T(0), rules::no_path()); }, path);
    sums = P::all(I(0));
  }

  WB_HD static int words_of(int stage) { return stage < log2_word ? 1 : 1 << (stage - log2_word); }
  WB_HD static I low_bits(int stage) { return stage < log2_word ? I((1 << (1 << stage)) - 1) : I(-1); }
  WB_HD E* now() const { return stored(at.now(buffer)); }
  WB_HD E* other() const { return stored(at.now(1 - buffer)); }
  /// Bits from one that a thread has to its next one; 0 where it has one of a word at most.
  static constexpr int next_bit = P::replicas % word_bits;
  WB_HD static N shifted(N word, int by) {
    return each([=](I x) WB_INLINE_LAMBDA { return x << by; }, word);
  }
  /// Beginning of an array of the layout.
  WB_HD E* stored(int first) const { return memory + first * (P::over_threads ? L : P::C); }

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

  /// LLRs of the left child.
  WB_HD_CALL void left(int stage) {
    const int half = 1 << (stage - 1);
    const bool root = 1 << stage == at.n;
    const E* from = root ? channel : stored(at.alpha(stage));
    E* to = stored(at.alpha(stage - 1));
    for (int i = p.replica(); i < half; i += P::replicas)
      p.store(to, i,
              each([](T a, T b) WB_INLINE_LAMBDA { return rules::combined(a, b); }, p.load(from, i, root),
                   p.load(from, i + half, root)));
    written.note(p, stage);
    p.g.sync();
  }
  /// LLRs of the right child: g(a, b) = b + a or b - a by the left child's bit, which is kept.
  WB_HD_CALL void right(int stage) {
    const int half = 1 << (stage - 1);
    const bool root = 1 << stage == at.n;
    const E* from = root ? channel : stored(at.alpha(stage));
    E *to = stored(at.alpha(stage - 1)), *kept = stored(at.left(stage - 1));
    const E* bits = now();
    const N writer = written.by(stage);
    const int most = limit, last = (half < word_bits ? half : word_bits) - 1 - p.replica();
    for (int w = 0; w < words_of(stage - 1); w++) {
      N word = P::as_numbers(p.load(bits, w));
      if (w % P::replicas == p.replica()) p.store(kept, w, P::as_values(word));
      // From the last bit down: the one in turn is the word's highest.
      if (last >= 0) word = shifted(word, word_bits - 1 - last);
      for (int i = word_bits * w + last; i >= word_bits * w; i -= P::replicas) {
        p.store(to, i,
                each([=](T x, T y, I b)
                         WB_INLINE_LAMBDA { return rules::limited(y + rules::turned(x, b), most); },
                     p.load_of(from, i, writer, root), p.load_of(from, i + half, writer, root), word));
        word = shifted(word, next_bit);
      }
    }
    written.note(p, stage);
    p.g.sync();
  }
  WB_HD void combine(int stage) {
    const E* kept = stored(at.left(stage - 1));
    E* bits = now();
    const N writer = written.by(stage);
    const int half = 1 << (stage - 1);
    for (int w = p.replica(); w < words_of(stage - 1); w += P::replicas) {
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
    const E* alpha = 1 << stage == at.n ? channel : stored(at.alpha(stage));
    const bool root = 1 << stage == at.n;
    const int size = 1 << stage;
    if constexpr (P::over_threads) {
      V sum = P::all(T(0));
      for (int i = p.replica(); i < size; i += P::replicas)
        sum = both(sum, each(term, p.load(alpha, i, root)));
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
    for (int w = p.replica(); w < words_of(stage); w += P::replicas) p.store(bits, w, P::as_values(word));
    p.g.sync();
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

  /// Hard decisions of a node into `now`; returns the sum of its bits. Of its LLRs, which are not needed any
  /// more, the magnitudes stay. Not for the root.
  WB_HD_CALL N decide(int stage) {
    E *alpha = stored(at.alpha(stage)), *bits = now();
    const int end = stage < log2_word ? 1 << stage : word_bits;
    N parity = P::all(I(0));
    for (int w = 0; w < words_of(stage); w++) {
      N word = P::all(I(0));
      I bit = I(1) << p.replica();
      for (int b = p.replica(); b < end; b += P::replicas) {
        const V a = p.load(alpha, word_bits * w + b);
        word = each([=](I x, T y) WB_INLINE_LAMBDA { return select(y < T(0), x | bit, x); }, word, a);
        p.store(alpha, word_bits * w + b, each([](T y) WB_INLINE_LAMBDA { return abs(y); }, a));
        bit = bit << next_bit;
      }
      word = p.xor_of_replicas(word);
      parity = each([](I x, I y) WB_INLINE_LAMBDA { return x ^ y; }, parity, word);
      if (w % P::replicas == p.replica()) p.store(bits, w, P::as_values(word));
    }
    p.g.sync();
    return each([](I x) WB_INLINE_LAMBDA { return polar_parity(x); }, parity);
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
    for (int w = p.replica(); w < words_of(stage); w += P::replicas) {
      N bits = bit_at(stage, place, w);
      if (two) bits = each([](I a, I b) WB_INLINE_LAMBDA { return a ^ b; }, bits, bit_at(stage, second, w));
      p.store(to, w, P::as_values(flipped(P::as_numbers(p.load_of(from, w, f.from)), f.other, bits)));
    }
    buffer = 1 - buffer;
    p.g.sync();
  }

  /// Any bits. The L best of all choices differ from the decisions in the L - 1 weakest bits only, and are
  /// found by one split after another (S. A. Hashemi, C. Condo, W. J. Gross, "Fast and flexible
  /// successive-cancellation list decoders for polar codes", IEEE Trans. Signal Process., 2017).
  WB_HD void rate_one(int stage) {
    decide(stage);
    follow(stage);
    if constexpr (L > 1) {
      const int splits = (1 << stage) < L - 1 ? 1 << stage : L - 1;
      N writer = p.paths();
      weak last{{}, weak::none()};
      for (int k = 0; k < splits; k++) {
        last = next_weak(stage, last.place);
        const fork f = split(p.permuted(last.size, writer));
        if (!f.any) break;
        writer = p.permuted(writer, f.from);
        const N place = p.permuted(last.place, writer);
        inherit(stage, f, place, place, false);
      }
    }
  }
  /// Bits of even parity: the weakest bit makes up for the others.
  WB_HD void single_parity(int stage) {
    N odd = decide(stage);
    follow(stage);
    weak last = next_weak(stage, weak::none());
    const weak first = last;
    {
      const F where = each([](I x) WB_INLINE_LAMBDA { return x != I(0); }, odd);
      add(each([](F_of o, T x) WB_INLINE_LAMBDA { return select(o, x, T(0)); }, where, first.size));
      inherit(stage, {true, p.paths(), where}, first.place, first.place, false);
    }
    if constexpr (L > 1) {
      const int splits = (1 << stage) < L ? (1 << stage) - 1 : L - 1;
      N writer = p.paths();
      for (int k = 0; k < splits; k++) {
        last = next_weak(stage, last.place);
        const V more = p.permuted(last.size, writer), own = p.permuted(first.size, writer);
        const fork f = split(
            each([](T x, T y, I o) WB_INLINE_LAMBDA { return select(o != I(0), x - y, rules::grown(x, y)); },
                 more, own, odd));
        if (!f.any) break;
        writer = p.permuted(writer, f.from);
        odd = flipped(p.permuted(odd, f.from), f.other, P::all(I(1)));
        inherit(stage, f, p.permuted(last.place, writer), p.permuted(first.place, writer), true);
      }
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
