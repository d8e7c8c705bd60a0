#pragma once
// The LDPC decoder. Which op decodes a call, and where it stores the values of a codeword. The last line that
// fits a call decides:
//
//   device, format     code and call                        op                        storage
//   CPU, any           any                                  ldpc_decode_op            vector_codewords
//   GPU, any           any                                  ldpc_decode_op            block_values
//   GPU, f16 and i8    5G NR [1]; i8 as pairs of codewords  ldpc_graph_op             graph_values
//   GPU, any           few rows, as WiMAX and WiFi [2]      ldpc_decode_registers_op  register_values
//   GPU, f16           the same with `state` or extrinsic   ldpc_decode_kept_rows_op  kept_register_values
//                      LLRs, n <= 4096 [3]
//
//   f32, f16, i8   a min-sum algorithm in float32, float16 or int8
//   product        sum-product in float32
//   [1] graph_plan_of (gpu/graph_call.hpp): layered, no `messages` or `state`, values that fit shared memory
//   [2] ldpc_has_known_rows (ldpc_args.hpp): numbers of block rows and degrees that are built, z <= 96 and
//       n <= 8192, layered, no CRC, no `messages`
//   [3] ldpc_keeps_rows (ldpc_args.hpp)
//
// The size of the batch chooses nothing. kernels_of in ldpc.cpp chooses the kernel. gpu/rows_kernels.cpp has
// those of the last two lines, and ldpc_<format>_kernels.cpp all others. The kernels of float16 and
// int8 start ldpc_graph_op, of gpu/graph_kernels.cpp, for calls that it serves.
//
// Storage. The z rows of a block row touch different bits, so they are computed at once: by the lanes of a
// vector or by the threads of a block. A: a-posteriori LLRs, R: messages of checks to bits.
//
//   cpu/vector_values.hpp         one codeword of one thread. A is in rotation, so that each vector is one
//                                 contiguous load
//   cpu/vector_codewords.hpp      the one or two of them that a thread decodes side by side, to hide latency
//   gpu/block_values.hpp          any code: A and R in shared memory, or in device memory if too large
//   gpu/register_values.hpp       R in registers: without loads and stores of R, and with more blocks on a
//                                 multiprocessor. For few rows, whose degrees the compiler knows
//   gpu/kept_register_values.hpp  the same with the channel's LLRs in shared memory, for iterative receivers
//   gpu/graph_values.hpp          5G NR has more edges than registers: R of the first rows in registers, of
//                                 the next in shared memory, of the others in device memory, packed
//   gpu/packed_messages.hpp       how: R of a check in three words
//   cpu/kept_vectors.hpp, gpu/kept_block.hpp
//                                 how vector_values and block_values load and store what a codeword keeps
//                                 between calls, in the format of ldpc_kept.hpp
//
// A storage has load_channel, clear_messages, violated and store, and for an iteration either iterate or a
// function of each block row: layer or flooding_layer. These update a check in the three steps of
// ldpc_body.hpp.
#include <type_traits>

#include <warpband/fec/ldpc/ldpc_kept.hpp>
#if defined(__CUDACC__)
#include <warpband/fec/ldpc/gpu/kept_block.hpp>
#else
#include <warpband/fec/ldpc/cpu/kept_vectors.hpp>
#endif

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
template <class T>
using ldpc_values = block_values<T>;
#else
template <class T>
using ldpc_values = vector_codewords<T>;
#endif

/// The rule of an iteration, counted from 0 in a call. Sum-product has one for all.
template <class T>
WB_HD min_sum<T> rule_in(const ldpc_decode_args& a, int iteration, const min_sum<T>* type) {
  return rule_of(correction_in(a.corrections, iteration), type);
}
template <class Rule>
WB_HD Rule rule_in(const ldpc_decode_args&, int, const Rule*) {
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

/// Iterations until all codewords have left: iterate(its number from 0, codewords that are there).
template <class Values, class G, class Iterate>
WB_HD void decode_until_done(const ldpc_decode_args& a, const Values& values, std::size_t first, int items,
                             unsigned erased, G g, Iterate iterate) {
  const unsigned everyone = (1u << items) - 1u;
  unsigned done = 0;
  for (int it = 0; done != everyone; it++) {
    iterate(it, everyone & ~done);
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
      if (large) return iterate<sum_product_of_large_llrs<T>>(values, first, items, erased, g);
    }
    iterate<Rule>(values, first, items, erased, g);
  }

 private:
  template <class AnyRule, class G>
  WB_HD_CALL void iterate(const ldpc_values<T>& values, std::size_t first, int items, unsigned erased,
                          G g) const {
    decode_until_done(a, values, first, items, erased, g, [&](int it, unsigned active) WB_INLINE_LAMBDA {
      const AnyRule rule = rule_in(a, it, static_cast<const AnyRule*>(nullptr));
      if (a.flooding) values.begin_flooding(active, g);
      for (int m = 0; m < a.rows; m++) {
        const ldpc_row row = values.row(m);
        if (a.flooding)
          values.flooding_layer(rule, upto<Most>{row.degree}, row, active, g);
        else
          with_degree<Most>(row.degree, rule, [&](auto degree) WB_INLINE_LAMBDA {
            values.layer(rule, degree, row, it & 1, active, g);
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

}  // namespace WB_ISA
}  // namespace wb
