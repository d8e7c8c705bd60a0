#pragma once
// Decoder and encoder for parity-check matrices without structure, as ops. A CPU thread decodes a codeword in
// each lane, a block of a CUDA device one codeword, a row of H by each thread.
//
// Scratch memory, in values: A of the n bits and R of the ones of H. Flooding: the channel's LLRs. Lanes:
// decisions of codewords that have left, while others go on. With syndromes: a sign for each row. Last, what
// update_check needs of each thread.
#include <type_traits>

#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_args.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_body.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_load.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

template <class T>
WB_HD min_sum<T> sparse_rule_of(const sparse_ldpc_args& a, int iteration, const min_sum<T>* type) {
  return rule_of(correction_in(a.corrections, iteration), type);
}
template <class T>
WB_HD sparse_sum_product<T> sparse_rule_of(const sparse_ldpc_args&, int, const sparse_sum_product<T>*) {
  return {};
}

/// What an edge and a row cost in an iteration. bench/flops_codes_test.cpp counts them.
template <class Rule>
struct sparse_operations {
  static constexpr double edge = 5, row = 6;
};
template <class T>
struct sparse_operations<sparse_sum_product<T>> {
  static constexpr double edge = 52, row = 0;
};

/// Rule: a template over T, min_sum or sparse_sum_product.
template <template <class> class Rule>
struct sparse_ldpc_decode_op : block_op<sparse_ldpc_args> {
  static constexpr int width = width_of<lane>;
  static constexpr bool keeps_q = width > 1;
  /// Values that a thread has for itself, for each bit of a check.
  static constexpr int thread_values = sparse_scratch<Rule<lane>> + (keeps_q ? 1 : 0);

  int threads() const { return a.widest; }
  std::size_t scratch(int group) const {
    const std::size_t n = static_cast<std::size_t>(a.n);
    return n * (1 + (a.flooding ? 1 : 0) + (width > 1 ? 1 : 0)) + static_cast<std::size_t>(a.places) +
           (a.syndrome.data ? static_cast<std::size_t>(a.rows) : 0) +
           static_cast<std::size_t>(group) * static_cast<std::size_t>(thread_values * a.most_degree);
  }
  /// Of a codeword that does all its iterations; with early stop of one that leaves after the first.
  double flops() const {
    using cost = sparse_operations<Rule<lane>>;
    return (a.early_stop ? 1 : a.iterations) * (cost::edge * a.ones + cost::row * a.rows);
  }
  double bytes() const {
    return 4.0 * a.sent + (a.syndrome.data ? 1.0 : 0.0) * a.rows +
           (a.bits.data ? 1.0 : 0.0) * static_cast<double>(a.bits.elements) +
           (a.soft.data ? 4.0 : 0.0) * static_cast<double>(a.soft.elements) +
           (a.extrinsic.data ? 4.0 : 0.0) * a.sent + (a.iterations_used.data ? 4 : 0) +
           (a.status.data ? 1 : 0) + (a.undecided.data ? 4 : 0);
  }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    using mask = typename rebind<T>::mask;
    T *app = scratch, *messages = app + a.n, *channel = messages + a.places;
    T* held = channel + (a.flooding ? a.n : 0);
    T* signs = held + (width > 1 ? a.n : 0);
    T* own_values = signs + (a.syndrome.data ? a.rows : 0) + g.rank * thread_values * a.most_degree;

    I usable = I(0);
    const mask good = load_sent_llrs(a, item, g, app, usable);
    for (int i = g.rank; i < a.places; i += g.size) messages[i] = T(0.f);
    if (a.syndrome.data)
      for (int i = g.rank; i < a.rows; i += g.size) {
        const I odd = load_int<T>(a.syndrome, static_cast<std::size_t>(a.row_table[i].number), item) & I(1);
        signs[i] = as_float(odd << 31);
      }
    const mask erased = (!good) | (usable < I(a.k));
    g.sync();
    if (any(erased)) {
      for (int i = g.rank; i < a.n; i += g.size) app[i] = select(erased, T(0.f), app[i]);
      g.sync();
    }
    if (a.flooding)
      for (int i = g.rank; i < a.n; i += g.size) channel[i] = app[i];

    mask done = erased, stopped = mask_from<mask>(false);
    I iterations = I(0);
    const T* decided = app;
    for (int it = 1; !all(done); it++) {
      iterate(it - 1, g, app, messages, channel, signs, own_values);
      const bool last = it == a.iterations;
      mask leaving = mask_from<mask>(false);
      if (a.early_stop || (last && a.status.data)) leaving = (!violated(g, app, signs)) & (!done);
      stopped = stopped | leaving;
      if (last) leaving = !done;
      iterations = select(leaving, I(it), iterations);
      if constexpr (width_of<T> > 1) {
        // A codeword that leaves keeps its values, and its lane goes on for nothing.
        if (any(leaving) && (any(done & (!erased)) || !all(done | leaving))) {
          for (int i = 0; i < a.n; i++) held[i] = select(leaving, app[i], held[i]);
          decided = held;
        }
      }
      done = done | leaving;
      if (last) break;
    }
    store_values(item, g, decided, erased);
    if (a.undecided.data) {
      I count = I(0);
      for (int i = g.rank; i < a.k; i += g.size) {
        const T x = select(erased, T(0.f), decided[a.information_columns[i]]);
        count = count + select(x == T(0.f), I(1), I(0));
      }
      count = g.sum_all(count);
      if (g.rank == 0) store_int<T>(a.undecided, 0, item, count);
    }
    if (g.rank == 0) {
      if (a.iterations_used.data) store_int<T>(a.iterations_used, 0, item, iterations);
      if (a.status.data) {
        const I gone = select(good, I(status_erased | status_insufficient), I(status_erased));
        store_int<T>(a.status, 0, item, select(erased, gone, select(stopped, I(status_stopped), I(0))));
      }
    }
  }

 private:
  template <class G, class T>
  WB_HD void iterate(int iteration, G g, T* app, T* messages, const T* channel, const T* signs,
                     T* own_values) const {
    const Rule<T> rule = sparse_rule_of(a, iteration, static_cast<const Rule<T>*>(nullptr));
    const auto rows = [&](auto layered, int first, int last) WB_INLINE_LAMBDA {
      for (int i = first + g.rank; i < last; i += g.size) {
        const sparse_ldpc_row row = a.row_table[i];
        const sparse_check<T, keeps_q> check{app, messages + row.first, a.place_columns + row.first,
                                             row.degree, own_values};
        update_check<decltype(layered)::value>(rule, check, a.syndrome.data ? signs[i] : T(0.f),
                                               own_values + (keeps_q ? a.most_degree : 0));
      }
    };
    if (!a.flooding) {
      for (int layer = 0; layer < a.layers; layer++) {
        rows(std::true_type{}, a.layer_firsts[layer], a.layer_firsts[layer + 1]);
        g.sync();
      }
      return;
    }
    rows(std::false_type{}, 0, a.rows);
    g.sync();
    for (int c = g.rank; c < a.n; c += g.size) {
      T sum = channel[c];
      for (int i = a.column_firsts[c]; i < a.column_firsts[c + 1]; i++)
        sum = sum + messages[a.column_places[i]];
      app[c] = sum;
    }
    g.sync();
  }

  /// Where a check does not hold, or has a bit of LLR 0, which is not decided.
  template <class G, class T>
  WB_HD typename rebind<T>::mask violated(G g, const T* app, const T* signs) const {
    using mask = typename rebind<T>::mask;
    mask bad = mask_from<mask>(false);
    for (int i = g.rank; i < a.rows; i += g.size) {
      const sparse_ldpc_row row = a.row_table[i];
      T odd = a.syndrome.data ? signs[i] : T(0.f), least = T(known_llr);
      for (int d = row.first; d < row.first + row.degree; d++) {
        const T x = app[a.place_columns[d]];
        odd = sign_product(odd, x);
        least = min(least, abs(x));
      }
      bad = bad | (as_int(odd) < typename rebind<T>::i32(0)) | (least == T(0.f));
      if (std::is_same_v<G, solo> && all(bad)) break;
    }
    return g.any(bad);
  }

  template <class T, class G>
  WB_HD void store_values(item<T> item, G g, const T* decided, typename rebind<T>::mask erased) const {
    const auto value = [&](int i) WB_INLINE_LAMBDA { return select(erased, T(0.f), decided[i]); };
    /// Where the outputs' element i is among the n bits.
    const auto place = [&](int i, std::size_t elements) WB_INLINE_LAMBDA {
      return elements == static_cast<std::size_t>(a.n) ? i : a.information_columns[i];
    };
    if (a.bits.data) {
      const int count = static_cast<int>(a.bits.elements);
      for (int i = g.rank; i < count; i += g.size)
        store_int<T>(a.bits, static_cast<std::size_t>(i), item, decide(value(place(i, a.bits.elements))));
    }
    if (a.soft.data) {
      const int count = static_cast<int>(a.soft.elements);
      for (int i = g.rank; i < count; i += g.size)
        store(a.soft, static_cast<std::size_t>(i), item, value(place(i, a.soft.elements)));
    }
    if (a.extrinsic.data)
      for (int i = g.rank; i < a.sent; i += g.size) {
        const T x = load(a.llr, static_cast<std::size_t>(i), item);
        const T difference = decided[a.sent_columns[i]] - saturate(select(erased, T(0.f), x), known_llr);
        store(a.extrinsic, static_cast<std::size_t>(i), item, select(erased, T(0.f), difference));
      }
  }
};

/// First the parity bits that are dense sums of information bits, 32 at a time. Then those that are sums of a
/// row's columns, step after step.
struct sparse_ldpc_encode_op : block_op<sparse_ldpc_encode_args> {
  int threads() const { return a.dense + a.sparse < 32 ? 32 : a.dense + a.sparse; }
  std::size_t scratch(int group) const { return static_cast<std::size_t>(a.n + a.words + group); }
  double flops() const { return 0; }
  double bytes() const { return a.k + static_cast<double>(a.coded.elements); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    T *word = scratch, *sums = word + a.words, *codeword = sums + g.size;
    for (int i = g.rank; i < a.n; i += g.size) codeword[i] = as_float(I(0));
    g.sync();
    for (int j = g.rank; j < a.k; j += g.size)
      codeword[a.information_columns[j]] =
          as_float(load_int<T>(a.bits, static_cast<std::size_t>(j), item) & I(1));
    g.sync();
    if (a.dense > 0) add_dense(g, word, codeword);
    add_sparse(g, sums, codeword);
    for (int i = g.rank; i < a.sent; i += g.size)
      store_int<T>(a.coded, static_cast<std::size_t>(i), item, as_int(codeword[a.sent_columns[i]]));
    for (std::size_t e = static_cast<std::size_t>(a.sent + g.rank); e < a.coded.elements;
         e += static_cast<std::size_t>(g.size))
      store_int<T>(a.coded, e, item, I(0));
  }

 private:
  template <class T, class G>
  WB_HD void add_dense(G g, T* word, T* codeword) const {
    using I = typename rebind<T>::i32;
    for (int w = g.rank; w < a.words; w += g.size) {
      I packed = I(0);
      for (int j = 32 * w; j < a.k && j < 32 * w + 32; j++)
        packed = packed | (as_int(codeword[a.information_columns[j]]) << (j - 32 * w));
      word[w] = as_float(packed);
    }
    g.sync();
    constexpr int at_once = std::is_same_v<G, solo> ? 8 : 1;  // sums that a CPU thread has in registers
    for (int p = g.rank * at_once; p < a.dense; p += g.size * at_once) {
      I sums[at_once];
      WB_UNROLL for (int s = 0; s < at_once; s++) sums[s] = I(0);
      for (int w = 0; w < a.words; w++) {
        const std::uint32_t* row = a.parity + static_cast<std::size_t>(w) * static_cast<std::size_t>(a.dense);
        WB_UNROLL for (int s = 0; s < at_once; s++) if (p + s < a.dense) sums[s] =
            sums[s] ^ (as_int(word[w]) & I(static_cast<std::int32_t>(row[p + s])));
      }
      WB_UNROLL for (int s = 0; s < at_once; s++) if (p + s < a.dense) {
        I x = sums[s];
        for (int step = 16; step > 0; step /= 2) x = x ^ (x >> step);
        codeword[a.parity_columns[p + s]] = as_float(x & I(1));
      }
    }
    g.sync();
  }

  template <class T, class G>
  WB_HD void add_sparse(G g, T* sums, T* codeword) const {
    using I = typename rebind<T>::i32;
    const std::int32_t* columns = a.parity_columns + a.dense;
    const auto sum = [&](int i, int half) WB_INLINE_LAMBDA {
      I x = as_int(codeword[columns[i]]);
      for (int j = a.first[2 * i + half]; j < a.first[2 * i + half + 1]; j++)
        x = x ^ as_int(codeword[a.summed_columns[j]]);
      codeword[columns[i]] = as_float(x);
    };
    for (int i = g.rank; i < a.sparse; i += g.size) sum(i, 0);
    g.sync();
    for (int s = 0; s < a.steps; s++) {
      const sparse_ldpc_step step = a.step_table[s];
      if (step.accumulates)
        accumulate(g, columns, step.first, step.end, sums, codeword);
      else
        for (int i = step.first + g.rank; i < step.end; i += g.size) sum(i, 1);
      g.sync();
    }
  }

  /// Each bit becomes the sum of itself and of all from the one before `first` on. A thread has a piece.
  template <class T, class G>
  WB_HD void accumulate(G g, const std::int32_t* columns, int first, int end, T* sums, T* codeword) const {
    using I = typename rebind<T>::i32;
    const int piece = (end - first + g.size - 1) / g.size, from = first + g.rank * piece,
              to = from + piece < end ? from + piece : end;
    I x = as_int(codeword[columns[first - 1]]);
    if (g.size > 1) {
      I sum = I(0);
      for (int i = from; i < to; i++) sum = sum ^ as_int(codeword[columns[i]]);
      sums[g.rank] = as_float(sum);
      g.sync();
      for (int r = 0; r < g.rank; r++) x = x ^ as_int(sums[r]);
    }
    for (int i = from; i < to; i++) {
      x = x ^ as_int(codeword[columns[i]]);
      codeword[columns[i]] = as_float(x);
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
