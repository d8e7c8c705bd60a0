#pragma once
// The LDPC decoder and encoder as ops.
//
// Decoder. The z rows of a block row touch different bits, so they are computed at once: by the threads of a
// block, or by the lanes of a vector. Only how a-posteriori LLRs A move differs:
//
//   blocks    A is one array in bit order. A row reads its place of each column, (row + shift) mod z, and
//             writes back to it: one barrier for each block row.
//   vectors   A column lies in the rotation that its last reader left, its first vector again behind its end,
//             so that each vector of the rotation its next reader wants is one contiguous load. The new
//             values go to a second buffer, in this reader's rotation: other rows still read the old ones.
//             Where each vector is read is a table, one for even and one for odd iterations.
#include <type_traits>

#include <warpband/fec/ldpc/ldpc_kept.hpp>
#include <warpband/fec/ldpc/ldpc_kept_rows.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
template <class T>
using ldpc_values = block_values<T>;
#else
template <class T>
using ldpc_values = vector_codewords<T>;
#endif

template <class T>
WB_HD min_sum<T> rule_of(const ldpc_decode_args& a, const min_sum<T>*) {
  if constexpr (requires(min_sum<T> r) { r.eighths; })
    return {a.eighths, static_cast<int>(a.offset)};
  else if constexpr (std::is_same_v<T, f16x>)
    return {to_half(a.scale), to_half(a.offset)};
  else
    return {T(a.scale), T(a.offset)};
}
template <class T>
WB_HD sum_product<T> rule_of(const ldpc_decode_args&, const sum_product<T>*) {
  return {};
}

/// What an edge and a row cost in an iteration. bench/flops_*_test.cpp counts them.
template <class Rule>
struct check_operations {
  static constexpr double edge = 5, row = 6;  // two minima and a maximum, A - R, q + R; two corrections
};
template <class T>
struct check_operations<sum_product<T>> {
  static constexpr double edge = 37, row = 0;
};

/// Iterations until all codewords have left.
template <class Values, class G, class Iterate>
WB_HD void decode_until_done(const ldpc_decode_args& a, const Values& values, std::size_t first, int items,
                             unsigned erased, G g, Iterate iterate) {
  const unsigned everyone = (1u << items) - 1u;
  unsigned done = 0;
  for (int it = 0; done != everyone; it++) {
    iterate(it & 1, everyone & ~done);
    const bool asks = a.early_stop || (it + 1 == a.iterations && a.status.data);
    unsigned satisfied = asks ? ~values.violated(it & 1, everyone & ~done, g) & everyone : 0u;
    if constexpr (Values::knows_crc) {
      const unsigned asked = everyone & ~done & ~satisfied;
      if (a.crc_weights && asked != 0) satisfied |= values.crc_holds(it & 1, asked, g);
    }
    const unsigned leaving = (it + 1 == a.iterations ? everyone : satisfied) & ~done;
    if constexpr (Values::keeps_messages) {
      if (leaving != 0 && a.messages.data && a.writes_messages)
        store_kept(values, first, leaving, erased, it + 1, it & 1, g);
    }
    if (leaving != 0) values.store(first, leaving, erased, satisfied, it + 1, it & 1, g);
    done |= leaving;
    if (leaving != 0 && done != everyone) g.sync();  // others still read what the next iteration writes
  }
}

/// Most: a bound of the degrees of rows, 8, 24 or 64.
template <class T, class Rule, int Most>
struct ldpc_decode_op {
  ldpc_decode_args a;
  static constexpr bool by_block = true;
  static constexpr int at_once = ldpc_values<T>::codewords;

  /// Numbers that share a float32 lane.
  static constexpr double packed =
      static_cast<double>(message_memory<T>::rows * message_memory<T>::codewords) / WB_WIDTH;

  int threads() const { return a.z; }
  std::size_t scratch_bytes(int) const { return ldpc_values<T>::bytes(a); }
  /// Of a codeword that does all its iterations; with early stop of one that leaves after the first.
  double flops() const {
    const double edges = static_cast<double>(a.blocks) * a.z, rows = static_cast<double>(a.rows) * a.z;
    return (a.early_stop || a.crc_weights ? 1 : a.iterations) *
           (check_operations<Rule>::edge * edges + check_operations<Rule>::row * rows) / packed;
  }
  double bytes() const {
    return 4.0 * a.n + (a.bits.data ? 1.0 : 0.0) * static_cast<double>(a.bits.elements) +
           (a.soft.data ? 4.0 : 0.0) * static_cast<double>(a.soft.elements) +
           (a.extrinsic.data ? 4.0 : 0.0) * static_cast<double>(a.extrinsic.elements) +
           (a.messages.data ? 4.0 : 0.0) * ((a.reads_messages ? 1 : 0) + (a.writes_messages ? 1 : 0)) *
               static_cast<double>(a.messages.elements) +
           (a.iterations_used.data ? 4 : 0) + (a.status.data ? 1 : 0);
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    const ldpc_values<T> values(a, scratch);
    const Rule rule = rule_of(a, static_cast<const Rule*>(nullptr));
    unsigned erased = values.load_channel(first, items, g);
    values.clear_messages(g);
    g.sync();
    [[maybe_unused]] bool large = false;
    if constexpr (std::is_same_v<Rule, sum_product<T>>)
      large = are_large(values.large(Rule::large_llr, Rule::far_llr, g), a.n);
    if (a.messages.data) {
      erased |= load_kept(values, first, items, erased, g);
      g.sync();
    }
    if constexpr (std::is_same_v<Rule, sum_product<T>>) {
      if (large) return iterate(sum_product_of_large_llrs<T>{}, values, first, items, erased, g);
    }
    iterate(rule, values, first, items, erased, g);
  }

 private:
  template <class AnyRule, class G>
  WB_HD_CALL void iterate(const AnyRule& rule, const ldpc_values<T>& values, std::size_t first, int items,
                          unsigned erased, G g) const {
    decode_until_done(a, values, first, items, erased, g, [&](int parity, unsigned active) WB_INLINE_LAMBDA {
      if (a.flooding) values.begin_flooding(active, g);
      for (int m = 0; m < a.rows; m++) {
        const ldpc_row row = values.row(m);
        if (a.flooding)
          values.flooding_layer(rule, upto<Most>{row.degree}, row, active, g);
        else
          with_degree<Most>(row.degree, rule, [&](auto degree) WB_INLINE_LAMBDA {
            values.layer(rule, degree, row, parity, active, g);
          });
        g.sync();
      }
      if (a.flooding) {
        values.end_flooding(active, g);
        g.sync();
      }
    });
  }
};

#if defined(__CUDACC__)
/// The same for codes of Rows block rows with degrees Least..Most and addresses: messages in registers.
/// Blocks of a multiprocessor, which bounds registers.
template <class T, class Rule, int Rows, int Least, int Most, int Blocks>
struct ldpc_decode_registers_op : ldpc_decode_op<T, Rule, Most> {
  using values_type = register_values<T, Rows, Least, Most>;
  static constexpr bool always_in_shared = true;  // addresses_of: up to 32 KiB
  static constexpr int most_threads = ldpc_row_threads, resident = Blocks;

  std::size_t scratch_bytes(int) const { return values_type::bytes(this->a); }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    values_type values(this->a, scratch);
    const unsigned erased = values.load_channel(first, items, g);
    values.clear_messages(g);
    g.sync();
    const auto decode = [&](const auto& rule) WB_INLINE_LAMBDA {
      decode_until_done(this->a, values, first, items, erased, g,
                        [&](int, unsigned) { values.iterate(rule, g); });
    };
    if constexpr (std::is_same_v<Rule, sum_product<T>>) {
      if (are_large(values.large(Rule::large_llr, Rule::far_llr, g), this->a.n))
        return decode(sum_product_of_large_llrs<T>{});
    }
    decode(rule_of(this->a, static_cast<const Rule*>(nullptr)));
  }
};
/// The same with kept messages as halves, or with extrinsic LLRs.
template <class Rule, int Rows, int Least, int Most, int Blocks>
struct ldpc_decode_kept_rows_op : ldpc_decode_registers_op<f16x, Rule, Rows, Least, Most, Blocks> {
  using values_type = kept_register_values<Rows, Least, Most>;

  std::size_t scratch_bytes(int) const { return values_type::bytes(this->a); }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    values_type values(this->a, scratch);
    const Rule rule = rule_of(this->a, static_cast<const Rule*>(nullptr));
    unsigned erased = values.load_channel(first, items, g);
    values.clear_messages(g);
    erased |= values.load_kept(first, items, erased, g);
    g.sync();
    decode_until_done(this->a, values, first, items, erased, g,
                      [&](int, unsigned) { values.iterate(rule, g); });
  }
};
#endif

/// The parity bits are sums of rotated blocks, in phases that build on each other (ldpc_encode.cpp).
struct ldpc_encode_op {
  ldpc_encode_args a;
  static constexpr bool by_block = true;

  int threads() const { return a.z; }
  std::size_t scratch(int) const { return static_cast<std::size_t>(a.blocks * a.z); }
  double flops() const { return 0; }
  double bytes() const { return a.k + static_cast<double>(a.coded.elements); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    for (int i = g.rank; i < a.k; i += g.size) {
      const I bit = load_int<T>(a.bits, static_cast<std::size_t>(i), item) & I(1);
      scratch[i] = as_float(bit);
      store_int<T>(a.coded, static_cast<std::size_t>(i), item, bit);
    }
    g.sync();
    for (int s = 0; s < a.sums; s++) {
      const ldpc_sum sum = a.sum_table[s];
      for (int r = g.rank; r < a.z; r += g.size) {
        I bit = I(0);
        for (int t = sum.first; t < sum.first + sum.terms; t++) {
          const ldpc_term term = a.term_table[t];
          const int at = r + term.shift < a.z ? r + term.shift : r + term.shift - a.z;
          bit = bit ^ as_int(scratch[term.block * a.z + at]);
        }
        scratch[sum.target * a.z + r] = as_float(bit);
      }
      if (sum.last_of_phase) g.sync();
    }
    for (int i = a.k + g.rank; i < a.n; i += g.size)
      store_int<T>(a.coded, static_cast<std::size_t>(i), item, as_int(scratch[i]));
    for (std::size_t e = static_cast<std::size_t>(a.n + g.rank); e < a.coded.elements;
         e += static_cast<std::size_t>(g.size))
      store_int<T>(a.coded, e, item, I(0));
  }
};

}  // namespace WB_ISA
}  // namespace wb
