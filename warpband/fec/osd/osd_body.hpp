#pragma once
// Ordered-statistics decoding of one word by a group of threads. Words of 32 bits hold 32 rows of H.
//
// `transform` is the product E of all row operations so far, of `checks` rows and columns. It is stored by
// words of rows: the column of row r of H begins with transform[r], and the next word is `stride` values
// further on. So a column of E H is the sum of the columns of E at the ones of a sparse column of H. A pivot
// changes all columns of E alike, which is one vector operation for each word and lane.
#include <type_traits>

#include <warpband/core/group.hpp>
#include <warpband/core/lowest_bit.hpp>
#include <warpband/core/math.hpp>
#include <warpband/fec/osd/osd_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Costs are integers of 2^-32. Their sums are exact, so that no order of sums changes a comparison.
struct osd_cost_format {
  static constexpr float one = 4294967296.f;
  static constexpr float limit = 1024.f;  // of one bit; 2^20 bits stay below 2^62
};

/// What a one costs where the channel's LLR is `llr`.
WB_HD std::int64_t osd_cost_of(float llr, bool ratio) {
  const float size = abs(llr);
  const float cost = ratio ? llr : max(llr, 0.f) + log(1.f + exp(0.f - min(size, 80.f)));
  const float limited = max(min(cost, osd_cost_format::limit), 0.f - osd_cost_format::limit);
  return static_cast<std::int64_t>(limited * osd_cost_format::one);
}

/// Floats that are not NaN, in order as unsigned integers. Both zeros are equal.
WB_HD std::uint32_t osd_key(float x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(as_int(x + 0.f));
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

/// Memory of a word. Pointers into scratch.
struct osd_memory {
  std::int32_t* transform;                      // [words][stride]
  std::int64_t *cost, *row_cost, *least;        // n; checks: of the pivot's column; a candidate's, by thread
  std::uint32_t *keys, *other_keys;             // of all columns, filled up to a power of two
  std::int32_t *order, *other_order;            // columns, likeliest ones first
  std::uint32_t *column, *used, *sums, *trial;  // words of rows; `trial`: of each thread
  std::uint32_t* first_columns;                 // [order][words]: the first free columns of E H
  std::int32_t *pivots, *free, *chosen;         // the column of each pivot row; the other columns; by thread
  std::int32_t* counts;                         // 256
};

/// The columns in order of their keys; equal keys in order of columns.
template <class G>
WB_HD void osd_sort(G g, const osd_memory& m, int n, int padded) {
  if constexpr (std::is_same_v<G, solo>) {  // by digits of 8 bits
    std::uint32_t *from_keys = m.keys, *to_keys = m.other_keys;
    std::int32_t *from = m.order, *to = m.other_order;
    for (int shift = 0; shift < 32; shift += 8) {
      for (int d = 0; d < 256; d++) m.counts[d] = 0;
      for (int i = 0; i < n; i++) m.counts[from_keys[i] >> shift & 255u]++;
      std::int32_t before = 0;
      for (int d = 0; d < 256; d++) {
        const std::int32_t count = m.counts[d];
        m.counts[d] = before;
        before += count;
      }
      for (int i = 0; i < n; i++) {
        const std::int32_t place = m.counts[from_keys[i] >> shift & 255u]++;
        to_keys[place] = from_keys[i];
        to[place] = from[i];
      }
      std::uint32_t* const keys = from_keys;
      from_keys = to_keys;
      to_keys = keys;
      std::int32_t* const columns = from;
      from = to;
      to = columns;
    }
  } else {  // bitonic
    for (int run = 2; run <= padded; run *= 2)
      for (int step = run / 2; step > 0; step /= 2) {
        for (int i = g.rank; i < padded / 2; i += g.size) {
          const int low = 2 * i - (i & (step - 1)), high = low + step;
          const bool above =
              m.keys[low] > m.keys[high] || (m.keys[low] == m.keys[high] && m.order[low] > m.order[high]);
          if (above == ((low & run) == 0)) {
            const std::uint32_t key = m.keys[low];
            m.keys[low] = m.keys[high];
            m.keys[high] = key;
            const std::int32_t column = m.order[low];
            m.order[low] = m.order[high];
            m.order[high] = column;
          }
        }
        g.sync();
      }
  }
}

/// One word's elimination and search.
template <class G>
struct osd_word {
  using I = rebind<lane>::i32;
  static constexpr int width = width_of<lane>;

  const osd_args& a;
  const osd_memory& m;
  G g;
  int words, stride;

  /// Word w of all columns of E.
  WB_HD std::int32_t* row_at(int w) const {
    return m.transform + static_cast<std::size_t>(w) * static_cast<std::size_t>(stride);
  }

  /// Word w of column c of E H.
  WB_HD std::uint32_t reduced(int c, int w) const {
    std::uint32_t x = 0;
    const std::int32_t* const rows = row_at(w);
    for (int i = a.column_firsts[c]; i < a.column_firsts[c + 1]; i++)
      x ^= static_cast<std::uint32_t>(rows[a.column_rows[i]]);
    return x;
  }

  /// No row without a pivot has a sum of 1 left.
  WB_HD bool solved() const {
    std::uint32_t left = 0;
    for (int w = 0; w < words; w++) left |= m.sums[w] & ~m.used[w];
    return left == 0;
  }

  /// Pivots from the likeliest ones on. Returns whether H has a word of this syndrome.
  ///
  /// A pivot that is found once the sums are solved is 0 and changes none of them. So OSD-0 ends there.
  WB_HD bool eliminate() const {
    int rank = 0, free = 0, next = 0;
    for (; next < a.n && rank < a.rank; next++) {
      if (a.order == 0 && solved()) return true;
      const int c = m.order[next];
      for (int w = g.rank; w < words; w += g.size) m.column[w] = reduced(c, w);
      g.sync();
      int word = 0;
      while (word < words && (m.column[word] & ~m.used[word]) == 0) word++;
      if (word == words) {
        if (g.rank == 0) m.free[free] = c;
        free++;
        g.sync();
        continue;
      }
      const int bit = lowest_bit(m.column[word] & ~m.used[word]), row = 32 * word + bit;
      const bool odd = (m.sums[word] >> bit & 1u) != 0;
      g.sync();
      add_pivot_row(word, bit);
      for (int w = g.rank; w < words; w += g.size) {
        if (odd) m.sums[w] ^= others(w, word, bit);
        if (w == word) m.used[w] |= 1u << bit;
      }
      if (g.rank == 0) {
        m.pivots[row] = c;
        m.row_cost[row] = m.cost[c];
      }
      rank++;
      g.sync();
    }
    for (int i = next + g.rank; a.order > 0 && i < a.n; i += g.size) m.free[free + i - next] = m.order[i];
    g.sync();
    return solved();
  }

  /// The free columns whose sum with OSD-0 costs least, as a number of `columns_of`.
  WB_HD int search() const {
    bool negative = false;
    for (int c = g.rank; c < a.n; c += g.size) negative |= m.cost[c] < 0;
    const bool bounded = !g.any(negative);
    for (int i = g.rank; i < a.order * words; i += g.size)
      m.first_columns[i] = reduced(m.free[i / words], i % words);
    g.sync();
    std::int64_t least = most_cost;
    int chosen = 0;
    const auto offer = [&](int number, std::int64_t cost) WB_INLINE_LAMBDA {
      if (cost < least || (cost == least && number < chosen)) {
        least = cost;
        chosen = number;
      }
    };
    if (a.exhaustive)
      search_patterns(bounded, offer, least);
    else
      search_sweep(bounded, offer, least);
    m.least[g.rank] = least;
    m.chosen[g.rank] = chosen;
    g.sync();
    least = most_cost;
    for (int i = 0; i < g.size; i++) offer(m.chosen[i], m.least[i]);
    return chosen;
  }

  /// Calls f with the place in `free` of each column of candidate `number`.
  ///
  /// Exhaustive: the bits of the number. Else 0 is none, then come single columns, then pairs (0, 1), (0,
  /// 2)...
  template <class F>
  WB_HD void columns_of(int number, F f) const {
    if (a.exhaustive) {
      for (int i = 0; i < a.order; i++)
        if ((number >> i & 1) != 0) f(i);
      return;
    }
    const int singles = a.order == 0 ? 0 : a.n - a.rank;
    if (number == 0) return;
    if (number <= singles) return f(number - 1);
    int i = 0, j = number - singles;  // pair (i, i + j)
    while (j > a.order - 1 - i) j -= a.order - 1 - i++;
    f(i);
    f(i + j);
  }

  /// Writes the word: the pivots' sums with a candidate, its free columns, all else as the channel decides.
  WB_HD void write(std::size_t item, int number) const {
    std::uint8_t* const bits = a.bits.data + item * a.bits.item_stride;
    const auto bit = [&](int c) WB_INLINE_LAMBDA -> std::uint8_t& {
      return bits[static_cast<std::size_t>(c) * a.bits.element_stride];
    };
    for (int c = g.rank; c < a.n; c += g.size) bit(c) = a.word_form && decided(item, c) ? 1 : 0;
    for (int w = g.rank; w < words; w += g.size) {
      std::uint32_t x = m.sums[w];
      columns_of(number, [&](int i) WB_INLINE_LAMBDA { x ^= reduced(m.free[i], w); });
      m.column[w] = x & m.used[w];
    }
    g.sync();
    for (int r = g.rank; r < a.checks; r += g.size)
      if ((m.column[r / 32] >> r % 32 & 1u) != 0) bit(m.pivots[r]) ^= 1;
    if (g.rank == 0) columns_of(number, [&](int i) WB_INLINE_LAMBDA { bit(m.free[i]) ^= 1; });
  }

  /// Whether the channel decides 1, in the form of words.
  WB_HD bool decided(std::size_t item, int c) const {
    return a.llr.data[static_cast<std::size_t>(c) * a.llr.element_stride + item * a.llr.item_stride] < 0.f;
  }

 private:
  static constexpr std::int64_t most_cost = 0x7fffffffffffffff;

  /// The rows to which a pivot's row is added, of word w.
  WB_HD std::uint32_t others(int w, int word, int bit) const {
    return w == word ? m.column[w] & ~(1u << bit) : m.column[w];
  }

  WB_HD void add_pivot_row(int word, int bit) const {
    for (int i = g.rank * width; i < stride; i += g.size * width) {
      I pivot;
      __builtin_memcpy(&pivot, row_at(word) + i, sizeof pivot);
      const I ones = I(0) - ((pivot >> bit) & I(1));
      for (int w = 0; w < words; w++) {
        const std::uint32_t rows = others(w, word, bit);
        if (rows == 0) continue;
        I x;
        __builtin_memcpy(&x, row_at(w) + i, sizeof x);
        x = x ^ (ones & I(static_cast<std::int32_t>(rows)));
        __builtin_memcpy(row_at(w) + i, &x, sizeof x);
      }
    }
  }

  /// `cost` and what the pivots cost whose words `word_of` gives. Above `limit` any number above it, if no
  /// cost is negative.
  template <class F>
  WB_HD std::int64_t cost_with(std::int64_t cost, bool bounded, std::int64_t limit, F word_of) const {
    for (int w = 0; w < words; w++) {
      if (bounded && cost > limit) return cost;
      std::uint32_t x = word_of(w);
      while (x != 0) {
        cost += m.row_cost[32 * w + lowest_bit(x)];
        x &= x - 1;
      }
    }
    return cost;
  }

  template <class F>
  WB_HD void search_sweep(bool bounded, F offer, const std::int64_t& least) const {
    const int singles = a.n - a.rank;
    for (int t = g.rank; t <= singles; t += g.size) {
      const int c = t == 0 ? 0 : m.free[t - 1];
      offer(t, cost_with(t == 0 ? 0 : m.cost[c], bounded, least, [&](int w) WB_INLINE_LAMBDA {
              return t == 0 ? m.sums[w] : m.sums[w] ^ reduced(c, w);
            }));
    }
    int i = 0, j = 1 + g.rank;
    for (int t = singles + 1 + g.rank;; t += g.size, j += g.size) {
      while (i < a.order && j >= a.order) {
        j -= a.order - 2 - i;
        i++;
      }
      if (i >= a.order - 1) break;
      const std::uint32_t *one = m.first_columns + i * words, *two = m.first_columns + j * words;
      offer(t, cost_with(m.cost[m.free[i]] + m.cost[m.free[j]], bounded, least,
                         [&](int w) WB_INLINE_LAMBDA { return m.sums[w] ^ one[w] ^ two[w]; }));
    }
  }

  /// Each thread takes a range of Gray numbers, of which neighbours differ by one column.
  template <class F>
  WB_HD void search_patterns(bool bounded, F offer, const std::int64_t& least) const {
    const std::int64_t patterns = std::int64_t{1} << a.order;
    const int first = static_cast<int>(patterns * g.rank / g.size),
              last = static_cast<int>(patterns * (g.rank + 1) / g.size);
    std::uint32_t* const sums = m.trial + g.rank * words;
    std::int64_t cost = 0;
    for (int w = 0; w < words; w++) sums[w] = m.sums[w];
    int pattern = 0;
    const auto flip = [&](int i) WB_INLINE_LAMBDA {
      const std::int64_t of_column = m.cost[m.free[i]];
      pattern ^= 1 << i;
      cost += (pattern >> i & 1) != 0 ? of_column : -of_column;
      for (int w = 0; w < words; w++) sums[w] ^= m.first_columns[i * words + w];
    };
    for (int i = 0; i < a.order; i++)
      if (((first ^ first >> 1) >> i & 1) != 0) flip(i);
    for (int t = first; t < last; t++) {
      offer(pattern, cost_with(cost, bounded, least, [&](int w) WB_INLINE_LAMBDA { return sums[w]; }));
      if (t + 1 < last) flip(lowest_bit(static_cast<std::uint32_t>(t + 1)));
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
