#pragma once
// The decoder with messages in registers as ops.
#include <warpband/fec/ldpc/gpu/kept_register_values.hpp>
#include <warpband/fec/ldpc/ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// For codes of Rows block rows with degrees Least..Most and addresses. Blocks of a multiprocessor, which
/// bounds registers.
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
    const auto decode = [&](const auto* type) WB_INLINE_LAMBDA {
      decode_until_done(this->a, values, first, items, erased, g,
                        [&](int it, unsigned) { values.iterate(rule_in(this->a, it, type), g); });
    };
    if constexpr (std::is_same_v<Rule, sum_product<T>>) {
      if (are_large(values.large(Rule::large_llr, Rule::far_llr, g), this->a.n))
        return decode(static_cast<const sum_product_of_large_llrs<T>*>(nullptr));
    }
    decode(static_cast<const Rule*>(nullptr));
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
    unsigned erased = values.load_channel(first, items, g);
    values.clear_messages(g);
    erased |= values.load_kept(first, items, erased, g);
    g.sync();
    decode_until_done(this->a, values, first, items, erased, g, [&](int it, unsigned) {
      values.iterate(rule_in(this->a, it, static_cast<const Rule*>(nullptr)), g);
    });
  }
};

}  // namespace WB_ISA
}  // namespace wb
