#pragma once
// What the decoders of convolutional codes share: received LLRs become tables of branch weights, a run of
// steps at a time, and the register's trellis.
//
// A state is the K - 1 older bits of the register, the newest on top. Butterfly j joins the states 2 j and
// 2 j + 1 before a step to j (new bit 0) and j + states / 2 (new bit 1) after it.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/fec/conv/conv_args.hpp>
#include <warpband/fec/trellis/semiring.hpp>

namespace wb {
inline namespace WB_ISA {

/// 1 where x has an odd number of ones among its lowest 16 bits.
template <class I>
WB_HD I parity_of(I x) {
  x = x ^ (x >> 8);
  x = x ^ (x >> 4);
  x = x ^ (x >> 2);
  return (x ^ (x >> 1)) & I(1);
}

/// The trellis of a register with `Memory` older bits.
template <int Memory>
struct conv_states {
  static constexpr int states = 1 << Memory, butterflies = states / 2;
  /// Butterflies of a round: one bit of a word each.
  static constexpr int round = butterflies < 32 ? butterflies : 32;
};

/// Runs through steps [from, to) of a codeword in runs that do not wrap around. A negative step, or one from
/// `steps` on, is taken modulo `steps`. f(v, t, count): steps v, ... are those t, ... of the code.
template <class F>
WB_HD void conv_forward(int from, int to, int steps, F f) {
  for (int v = from; v < to;) {
    int t = v % steps;
    if (t < 0) t += steps;
    int count = steps - t < to - v ? steps - t : to - v;
    if (count > conv_run) count = conv_run;
    f(v, t, count);
    v += count;
  }
}

/// Runs back through steps [0, to), aligned in the codeword to multiples of conv_run; those from `steps` on
/// are again 0, 1, ...
template <class F>
WB_HD void conv_backward(int to, int steps, F f) {
  for (int v = to; v > 0;) {
    const int t = (v - 1) % steps;
    int count = t % conv_run + 1;
    if (v > steps && count > v - steps) count = v - steps;
    v -= count;
    f(v, t + 1 - count, count);
  }
}

/// Neighbouring elements, `count` of them from `element` on, to x; f makes of each what is stored.
/// x has room for width_of<T> - 1 more.
template <class T, class G, class F>
WB_HD void load_run(G g, const view<const float>& v, int element, int count, item<T> item, T* x, F f) {
  constexpr int W = width_of<T>;
  if constexpr (W == 1) {
    for (int i = g.rank; i < count; i += g.size)
      x[i] = f(load(v, static_cast<std::size_t>(element + i), item));
  } else {
    const int rest = static_cast<int>(v.elements) - element;
    for (int i = 0; i < count; i += W) {
      if (i + W <= rest)
        load_square(v, static_cast<std::size_t>(element + i), item, x + i);
      else
        for (int e = i; e < count; e++) x[e] = load(v, static_cast<std::size_t>(element + e), item);
    }
    for (int i = 0; i < count; i++) x[i] = f(x[i]);
  }
}

/// Stores f(0), ... f(count - 1) from `element` on.
template <class T, class G, class F>
WB_HD void store_run(G g, const view<float>& v, int element, int count, item<T> item, F f) {
  constexpr int W = width_of<T>;
  if constexpr (W == 1) {
    for (int i = g.rank; i < count; i += g.size) store(v, static_cast<std::size_t>(element + i), item, f(i));
  } else {
    int i = 0;
    for (; i + W <= count; i += W) {
      T x[W];
      for (int e = 0; e < W; e++) x[e] = f(i + e);
      store_square(v, static_cast<std::size_t>(element + i), item, x);
    }
    for (; i < count; i++) store(v, static_cast<std::size_t>(element + i), item, f(i));
  }
}

/// Makes branch weights of received LLRs, in a part of scratch.
template <class M, class T, class G>
struct conv_branches {
  using I = typename rebind<T>::i32;
  using mask = typename rebind<T>::mask;
  /// Values of scratch: the weights of a run's steps, 2^bits each.
  WB_HD static constexpr int table_size(int bits) { return conv_run << bits; }

  G g;
  const conv_trellis& c;
  const view<const float>& llr;
  const view<const float>* prior;  // null: none
  item<T> batch_item;
  T *table, *staged;
  int bits;  // coded bits that a branch is told by
  mask bad;  // items with a value that is not finite
  I usable;  // values that were counted and tell something: of this thread

  WB_HD conv_branches(G group, const conv_trellis& code, const view<const float>& l,
                      const view<const float>* p, item<T> i, T* scratch)
      : g(group),
        c(code),
        llr(l),
        prior(p),
        batch_item(i),
        table(scratch),
        bits(code.outputs + (p != nullptr && code.systematic < 0 ? 1 : 0)),
        bad(mask_from<mask>(false)),
        usable(0) {
    staged = table + table_size(bits);
  }

  /// The weights of `count` steps from `t` on. The first step's get the factor `first`, if there is one.
  /// `counts`: their values count as usable where their weights are not those of 0, as each must once.
  WB_HD_CALL void make(int t, int count, const T* first, bool counts) {
    const I one_more(counts ? 1 : 0);
    const auto checked = [&](T x) WB_INLINE_LAMBDA {
      const mask finite = is_finite(x);
      bad = bad | !finite;
      usable = usable + select(abs(x) > T(M::least_llr), one_more, I(0));
      return saturate(select(finite, x, T(0.f)), M::llr_limit);
    };
    const int outputs = c.outputs, steps = c.steps, end = t + count < c.k ? t + count : c.k;
    for (int r = 0; r < c.ranges; r++) {
      const std::int32_t* begin = c.firsts + r * (steps + 1) + t;
      load_run(g, llr, begin[0], begin[count] - begin[0], batch_item, staged + r * conv_run, checked);
    }
    T* believed = staged + outputs * conv_run;
    if (prior != nullptr && t < end) load_run(g, *prior, t, end - t, batch_item, believed, checked);
    g.sync();
    for (int s = g.rank; s < count; s += g.size) {
      T* row = table + (s << bits);
      for (int i = 0; i < bits; i++) {
        T zero = M::template one<T>(), one = M::template one<T>();
        if (i < outputs) {
          const std::int32_t place = c.places[(t + s) * outputs + i];
          const int r = c.ranges == 1 ? 0 : i;
          if (place >= 0) {
            const std::int32_t begin = c.firsts[r * (steps + 1) + t];
            M::weights(staged[r * conv_run + place - begin], zero, one);
          }
        }
        if (prior != nullptr && t + s < end && i == (c.systematic < 0 ? outputs : c.systematic)) {
          T p0, p1;
          M::weights(believed[s], p0, p1);
          if constexpr (!M::zero_is_one) zero = M::product(zero, p0);
          one = M::product(one, p1);
        }
        if (i == 0) {
          row[0] = zero;
          row[1] = one;
        } else {
          for (int e = 0; e < 1 << i; e++) {
            row[e + (1 << i)] = M::product(row[e], one);
            if constexpr (!M::zero_is_one) row[e] = M::product(row[e], zero);
          }
        }
      }
      if (s == 0 && first != nullptr)
        for (int e = 0; e < 1 << bits; e++) row[e] = M::times(row[e], *first);
    }
    g.sync();
  }

  /// After all values: 0, or the status of an item that is erased, see status.hpp. For all threads.
  WB_HD I erasure() const {
    const int n = static_cast<int>(llr.elements);  // fewer than k of a truncated code of rate 1
    const mask few = g.sum_all(usable) < I(c.k < n ? c.k : n);
    return select(g.any(bad), I(status_erased), select(few, I(status_erased | status_insufficient), I(0)));
  }
};

}  // namespace WB_ISA
}  // namespace wb
