#pragma once
// What the tree and trellis searches share: the triangular system in steps of the constellation, slicing, and
// the minima that LLRs come from.
//
// A symbol of B bits per dimension is scale * (L - 1 - 2 j) with j = 0 .. L - 1 counted from the top, L =
// 2^B, in each dimension. |z - R s| is |w - g j| with g = 2 scale R: j is found by rounding, and its Gray
// label follows from j alone.
#include <warpband/core/cx.hpp>
#include <warpband/core/rounding.hpp>
#include <warpband/core/size.hpp>
#include <warpband/linalg/qr/qr_body.hpp>
#include <warpband/modem/qam/qam_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// 1 / sqrt(mean energy) for a number of bits that is known or not.
template <class B>
WB_HD float scale_of(B pam) {
  if constexpr (B::known)
    return qam_scale<B::capacity>();
  else
    return pam == 1 ? qam_scale<1>() : pam == 2 ? qam_scale<2>() : pam == 3 ? qam_scale<3>() : qam_scale<4>();
}

/// Amplitudes of a dimension.
template <class B>
WB_HD auto levels_of(B pam) {
  if constexpr (B::known)
    return fixed<(1 << B::capacity)>{};
  else
    return upto<(1 << B::capacity)>{1 << pam};
}

template <class N, class T>
struct lattice {
  T g[N::capacity], slope[N::capacity];  // diagonal of 2 scale R, and 1 / (g (L - 1))
  cx<T> above[N::capacity][N::capacity];
  cx<T> w[N::capacity];
};

/// From R and z = Q^H y, of symbols scale * (L - 1 - 2 j).
template <class B, class N, class T>
WB_HD void to_lattice(N n, B pam, float scale, const triangle<N, cx<T>>& t, lattice<N, T>& m) {
  const float top = static_cast<float>((1 << pam) - 1), corner = scale * top;
  loop(n, [&](int i) WB_INLINE_LAMBDA {
    cx<T> sum = {t.diagonal[i], t.diagonal[i]};  // (1 + i) times the row of R
    loop(n, [&](int j) WB_INLINE_LAMBDA {
      if (j <= i) return;
      sum.re = sum.re + (t.above[i][j].re - t.above[i][j].im);
      sum.im = sum.im + (t.above[i][j].re + t.above[i][j].im);
      m.above[i][j] = T(2.f * scale) * t.above[i][j];
    });
    m.g[i] = T(2.f * scale) * t.diagonal[i];
    m.slope[i] = T(1.f / (2.f * scale * top)) * t.inverse[i];
    m.w[i] = {fma(T(corner), sum.re, -t.z[i].re), fma(T(corner), sum.im, -t.z[i].im)};
  });
}

/// The step nearest to w / g in one dimension: as a float, and as `rounder` plus it.
template <class T>
struct step {
  T j, rounded;
};
template <class B, class T>
WB_HD step<T> slice(B pam, T w, T slope) {
  const T rounded = fma(unit_clamp(w * slope), T(static_cast<float>((1 << pam) - 1)), T(rounder));
  return {rounded - T(rounder), rounded};
}
/// The step with the least |w - g j|^2 + cost[j], and that.
template <class T>
struct nearest {
  T j, metric;
};
template <class B, class T>
WB_HD nearest<T> cheapest(B pam, T w, T g, const T (&cost)[1 << B::capacity]) {
  T least = T(0.f), best = T(0.f);
  loop(levels_of(pam), [&](int j) WB_INLINE_LAMBDA {
    const T d = fnma(g, T(static_cast<float>(j)), w), metric = fma(d, d, cost[j]);
    const auto closer = j == 0 ? mask_from<typename rebind<T>::mask>(true) : metric < least;
    least = select(closer, metric, least);
    best = select(closer, T(static_cast<float>(j)), best);
  });
  return {best, least};
}
template <class B, class T>
WB_HD step<T> slice(B pam, T w, T g, const T (&cost)[1 << B::capacity]) {
  const T best = cheapest(pam, w, g, cost).j;
  return {best, best + T(rounder)};
}
/// Entry j of the costs. With a known size they are chosen from registers.
template <class B, class T>
WB_HD T cost_of(B pam, const T (&cost)[1 << B::capacity], typename rebind<T>::i32 j) {
  if constexpr (B::known) {
    T found = cost[0];
    loop(levels_of(pam), [&](int i) WB_INLINE_LAMBDA {
      if (i > 0) found = select(j == typename rebind<T>::i32(i), cost[i], found);
    });
    return found;
  } else {
    return load_at(cost, j);
  }
}

/// The Gray label of a symbol from its two steps, but for bits that all symbols have flipped: bit B - 1 - i
/// of the upper half is b_2i, of the lower half b_2i+1.
template <class B, class I>
WB_HD I label_of(B pam, I re, I im) {
  const int low = (1 << pam) - 1;
  const I word = ((re & I(low)) << pam) | (im & I(low));
  return word ^ ((word >> 1) & I((low >> 1) << pam | low >> 1));
}
/// The same from two slices, but for higher bits, which are the same in all such labels.
template <class B, class T>
WB_HD auto label_of(B pam, step<T> re, step<T> im) {
  using I = typename rebind<T>::i32;
  const int low = (1 << pam) - 1;
  const I word = as_int(fma(re.j, T(static_cast<float>(1 << pam)), im.rounded));
  return word ^ ((word >> 1) & I((low >> 1) << pam | low >> 1));
}
/// Bits that labels have flipped.
template <class B>
WB_HD int flipped(B pam) {
  const int half = (1 << pam) / 2 - 1;
  return half << pam | half;
}
/// The place of a label's bit in a symbol's LLRs, and of an LLR in the label.
template <class B>
WB_HD int bit_of(B pam, int llr) {
  return (llr % 2 ? 0 : static_cast<int>(pam)) + pam - 1 - llr / 2;
}

inline constexpr float unreached = 1e38f;

/// The best candidate so far, and for each of its bits the best one that has the other value. A new candidate
/// of distance d changes only bits in which it differs from the best: their other value is reached at the
/// larger of the two distances.
template <class N, class B, class T>
struct hypotheses {
  using I = typename rebind<T>::i32;
  T least;
  I best[N::capacity];
  T other[N::capacity][2 * B::capacity];  // by the bit's place in the label

  WB_HD void clear(N n, B pam) {
    least = T(unreached);
    loop(n, [&](int k) WB_INLINE_LAMBDA {
      best[k] = I(0);
      loop(pam, [&](int b) WB_INLINE_LAMBDA { other[k][2 * b] = other[k][2 * b + 1] = T(unreached); });
    });
  }
  /// A candidate, whose labels of the positions below `end` are its bits. Other positions keep what they
  /// have, but for `best`.
  WB_HD void add(N n, B pam, int end, T distance, const I (&label)[N::capacity]) {
    const T larger = max(distance, least);
    const auto closer = distance < least;
    loop(n, [&](int k) WB_INLINE_LAMBDA {
      if (k < end) {
        const I differs = label[k] ^ best[k];
        loop(pam, [&](int b) WB_INLINE_LAMBDA {
          WB_UNROLL for (int i = 2 * b; i < 2 * b + 2; i++) other[k][i] =
              min_where(differs, I(1 << i), other[k][i], larger);
        });
      }
      best[k] = select(closer, label[k], best[k]);
    });
    least = min(least, distance);
  }
  WB_HD void add(N n, B pam, T distance, const I (&label)[N::capacity]) { add(n, pam, n, distance, label); }
  /// Catches up for position k on candidates that were added without it: `those` are their minima, `before`
  /// and `best_before` what was the least and its label.
  template <class Minima>
  WB_HD void catch_up(B pam, int k, const Minima& those, T before, I best_before) {
    const I changed = best[k] ^ best_before;
    loop(pam, [&](int b) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 2 * b; i < 2 * b + 2; i++) {
        const T kept = select((changed & I(1 << i)) != I(0), before, other[k][i]);
        other[k][i] =
            min(kept, select((best[k] & I(1 << i)) != I(0), those.least[0][0][i], those.least[1][0][i]));
      }
    });
  }
  /// Turns the positions by one: what was of k + 1 is of k.
  WB_HD void turn(N n, B pam) {
    const I first = best[0];
    loop(n, [&](int k)
                WB_INLINE_LAMBDA { best[k] = k + 1 < n ? best[k + 1 < N::capacity ? k + 1 : k] : first; });
    loop(pam, [&](int b) WB_INLINE_LAMBDA {
      WB_UNROLL for (int i = 2 * b; i < 2 * b + 2; i++) {
        const T kept = other[0][i];
        loop(n, [&](int k) WB_INLINE_LAMBDA {
          other[k][i] = k + 1 < n ? other[k + 1 < N::capacity ? k + 1 : k][i] : kept;
        });
      }
    });
  }
  /// All threads of the group get what they reached together.
  template <class G>
  WB_HD void merge(G g, N n, B pam) {
    for (int s = 1; s < g.size; s *= 2) {
      const T theirs = g.exchange(least, s);
      const auto closer = theirs < least;
      const T larger = max(theirs, least);
      loop(n, [&](int k) WB_INLINE_LAMBDA {
        const I their_best = g.exchange(best[k], s), differs = their_best ^ best[k];
        loop(pam, [&](int b) WB_INLINE_LAMBDA {
          WB_UNROLL for (int i = 2 * b; i < 2 * b + 2; i++) {
            const T their_other = g.exchange(other[k][i], s);
            const T least_other = min(other[k][i], their_other);
            // Where the best differ, the winner's other value: his own, or the loser's distance.
            const T winners = select(closer, their_other, other[k][i]);
            other[k][i] = select((differs & I(1 << i)) != I(0), min(winners, larger), least_other);
          }
        });
        best[k] = select(closer, their_best, best[k]);
      });
      least = min(least, theirs);
    }
  }
  /// Difference of the two distances of bit i of the label, with the sign of an LLR.
  WB_HD T difference(B pam, int k, int i) const {
    const auto one = ((best[k] ^ I(flipped(pam))) & I(1 << i)) != I(0);
    const T apart = other[k][i] - least;
    return select(one, -apart, apart);
  }
};

/// For each value of each bit the least distance of a candidate that has it.
template <class N, class B, class T>
struct minima {
  T least[2][N::capacity][2 * B::capacity];  // by value and place in the label, as labels count them

  WB_HD void clear(N n, B pam) {
    loop(n, [&](int k) WB_INLINE_LAMBDA { clear(pam, k); });
  }
  WB_HD void clear(B pam, int k) {
    loop(pam, [&](int b) WB_INLINE_LAMBDA {
      least[0][k][2 * b] = least[0][k][2 * b + 1] = T(unreached);
      least[1][k][2 * b] = least[1][k][2 * b + 1] = T(unreached);
    });
  }
  /// A candidate for the bits first .. first + B - 1 of antenna k; the same label in all lanes.
  WB_HD void add(B pam, int k, int first, int label, T distance) {
    loop(pam, [&](int b) WB_INLINE_LAMBDA {
      const int i = first + b;
      const bool one = (label >> b & 1) != 0;
      least[0][k][i] = one ? least[0][k][i] : min(least[0][k][i], distance);
      least[1][k][i] = one ? min(least[1][k][i], distance) : least[1][k][i];
    });
  }
  template <class G>
  WB_HD void merge(G g, B pam, int k) {
    for (int s = 1; s < g.size; s *= 2)
      loop(pam, [&](int b) WB_INLINE_LAMBDA {
        WB_UNROLL for (int i = 2 * b; i < 2 * b + 2; i++) {
          least[0][k][i] = min(least[0][k][i], g.exchange(least[0][k][i], s));
          least[1][k][i] = min(least[1][k][i], g.exchange(least[1][k][i], s));
        }
      });
  }
  WB_HD T difference(B pam, int k, int i) const {
    const T apart = least[1][k][i] - least[0][k][i];
    return (flipped(pam) >> i & 1) != 0 ? -apart : apart;
  }
};

}  // namespace WB_ISA
}  // namespace wb
