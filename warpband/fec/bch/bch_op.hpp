#pragma once
#include <warpband/exec/op.hpp>
#include <warpband/fec/bch/bch_body.hpp>

namespace wb {
inline namespace WB_ISA {

struct bch_encode_op : block_op<bch_encode_args> {
  int threads() const { return a.n >= 1024 ? 128 : 32; }
  double flops() const { return 0; }
  double bytes() const { return a.k + static_cast<double>(a.coded.elements); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using I = typename rebind<T>::i32;
    I parity[bch_words];
    sum_of_remainders<T>(item, g, a.bits, a.k, a.remainders, parity);
    for (int i = g.rank; i < a.k; i += g.size)
      store_int<T>(a.coded, static_cast<std::size_t>(i), item,
                   load_int<T>(a.bits, static_cast<std::size_t>(i), item) & I(1));
    WB_UNROLL for (int w = 0; w < bch_words; w++) {
      for (int j = 32 * w + g.rank; j < 32 * w + 32 && j < a.n - a.k; j += g.size)
        store_int<T>(a.coded, static_cast<std::size_t>(a.n - 1 - j), item,
                     (parity[w] >> (j - 32 * w)) & I(1));
    }
    for (std::size_t e = static_cast<std::size_t>(a.n + g.rank); e < a.coded.elements;
         e += static_cast<std::size_t>(g.size))
      store_int<T>(a.coded, e, item, I(0));
  }
};

struct bch_decode_op : block_op<bch_decode_args> {
  int threads() const { return a.n >= 4096 ? 256 : 32; }
  double flops() const { return 0; }
  double bytes() const {
    return a.n + (a.bits.data ? a.k : 0) + (a.corrected.data ? 4 : 0) + (a.status.data ? 1 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using I = typename rebind<T>::i32;
    using mask = typename rebind<T>::mask;
    I remainder[bch_words];
    sum_of_remainders<T>(item, g, a.received, a.n, a.remainders, remainder);
    I given = I(0);
    if (a.erased.data) given = load_int<T>(a.erased, 0, item);
    const mask erased = (given & I(status_erased)) != I(0);
    I different = I(0);
    WB_UNROLL for (int w = 0; w < bch_words; w++) different = different | remainder[w];
    mask doubtful = mask_from<mask>(false);
    if (a.undecided.data) doubtful = I(a.corrects) < load_int<T>(a.undecided, 0, item);
    const mask wrong = (different != I(0)) & (!erased) & (!doubtful);
    I locator[bch_most_errors + 1], errors = I(0);
    WB_UNROLL for (int j = 0; j <= bch_most_errors; j++) locator[j] = I(0);
    const auto put = [&](int i, mask flips) WB_INLINE_LAMBDA {
      const I bit = load_int<T>(a.received, static_cast<std::size_t>(i), item) & I(1);
      store_int<T>(a.bits, static_cast<std::size_t>(i), item,
                   select(erased, I(0), bit ^ select(flips, I(1), I(0))));
    };
    mask corrects = wrong;
    bool stored = false;  // whether the bits are
    int degree = 0;       // the largest of the lanes
    if (any(wrong)) {
      errors = locate(remainder, locator);
      corrects = wrong & (!(I(a.corrects) < errors));
      for (int j = 0; j <= a.corrects; j++) {
        locator[j] = select(corrects, locator[j], I(0));
        if (any(locator[j] != I(0))) degree = j;
      }
      if (any(corrects)) {
        I roots = I(0);
        // Bits are stored as if all roots were there, and once more in the rare case that some are not.
        stored = a.bits.data != nullptr;
        search(g, locator, degree, [&](int i, mask root) WB_INLINE_LAMBDA {
          roots = roots + select(root & corrects, I(1), I(0));
          if (stored && i < a.k) put(i, root & corrects);
        });
        const mask lacks_roots = corrects & (g.sum_all(roots) != errors);
        corrects = corrects & (!lacks_roots);
        if (stored && any(lacks_roots))
          search(g, locator, degree, [&](int i, mask root) WB_INLINE_LAMBDA {
            if (i < a.k) put(i, root & corrects);
          });
      }
    }
    if (a.bits.data && !stored)
      for (int i = g.rank; i < a.k; i += g.size) put(i, mask_from<mask>(false));
    if (g.rank == 0) {
      if (a.corrected.data) store_int<T>(a.corrected, 0, item, select(corrects, errors, I(0)));
      if (a.status.data) {
        const I found = select(doubtful | (wrong & (!corrects)), I(0), I(status_stopped));
        store_int<T>(a.status, 0, item, select(erased, given, found));
      }
    }
  }

 private:
  WB_HD binary_field field() const { return {a.field_degree, a.polynomial}; }

  /// The error locator of a remainder, up to a factor, and its degree.
  template <class I>
  WB_HD I locate(const I (&remainder)[bch_words], I* locator) const {
    I s[2 * bch_most_errors + 1];
    const int parity = a.n - a.k;
    for (int j = 1; j <= 2 * a.corrects; j++) {
      s[j] = I(0);
      if (j % 2 == 0) {
        s[j] = field().product(s[j / 2], s[j / 2]);
        continue;
      }
      const std::int32_t* powers =
          a.powers + static_cast<std::size_t>(j / 2) * static_cast<std::size_t>(parity);
      WB_UNROLL for (int w = 0; w < bch_words; w++) {
        for (int b = 32 * w; b < 32 * w + 32 && b < parity; b++)
          s[j] = s[j] ^ ((I(0) - ((remainder[w] >> (b - 32 * w)) & I(1))) & I(powers[b]));
      }
    }
    using mask = decltype(s[1] == s[1]);
    return error_locator(field(), a.corrects, s, locator, static_cast<const mask*>(nullptr));
  }

  /// Calls f(i, whether the locator is 0 for bit i) for the bits of this thread, which are neighbours.
  template <class G, class I, class F>
  WB_HD void search(G g, const I (&locator)[bch_most_errors + 1], int degree, F f) const {
    const int per_thread = (a.n + g.size - 1) / g.size, first = g.rank * per_thread,
              end = first + per_thread < a.n ? first + per_thread : a.n;
    if (first >= end) return;
    const int order = (1 << a.field_degree) - 1, exponent = (first + order - (a.n - 1)) % order;
    const std::int32_t base = field().power(exponent);
    I term[bch_most_errors + 1];
    std::int32_t power = 1;
    for (int j = 0; j <= degree; j++) {
      term[j] = field().product(locator[j], I(power));
      power = field().product(power, base);
    }
    for (int i = first; i < end; i++) {
      I value = term[0];
      for (int j = 1; j <= degree; j++) {
        value = value ^ term[j];
        I x = term[j];
        for (int step = 0; step < j; step++) x = field().next(x);
        term[j] = x;
      }
      f(i, value == I(0));
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
