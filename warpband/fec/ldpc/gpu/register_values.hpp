#pragma once
// block_values whose messages are in registers, for the codes of WiMAX and WiFi.
#include <warpband/fec/ldpc/gpu/block_values.hpp>

namespace wb {
inline namespace WB_ISA {

/// A thread for each row, with its messages in registers. Rows block rows of degree Least..Most.
template <class T, int Rows, int Least, int Most>
struct register_values : block_values<T, 1> {  // the messages leave few registers
  using base = block_values<T, 1>;
  using element = typename base::element;
  static constexpr int chunks = (Most + 3) / 4;
  static constexpr bool keeps_messages = false, knows_crc = false;
  T message[Rows][Most];

  WB_HD register_values(const ldpc_decode_args& args, void* scratch) : base(args, scratch) {
    WB_UNROLL for (int m = 0; m < Rows; m++) { WB_UNROLL for (int d = 0; d < Most; d++) message[m][d] = T{}; }
  }
  static std::size_t bytes(const ldpc_decode_args& a) {
    return sizeof(element) * static_cast<std::size_t>(a.n + ldpc_row_threads);
  }
  /// The threads that have no row work on places of their own, so that nobody branches.
  template <class G>
  WB_HD void clear_messages(G g) const {
    for (int i = g.rank; i < ldpc_row_threads; i += g.size) store_message<T>(this->app + this->a.n + i, T{});
  }

  /// Byte addresses of A for thread r in block row m.
  WB_HD void fetch(int m, int r, std::uint32_t (&addresses)[4 * chunks]) const {
    const uint4* table = reinterpret_cast<const uint4*>(this->a.addresses) + r;
    WB_UNROLL for (int c = 0; c < chunks; c++) {
      const uint4 v = __ldg(table + (m * chunks + c) * ldpc_row_threads);
      addresses[4 * c] = v.x, addresses[4 * c + 1] = v.y, addresses[4 * c + 2] = v.z,
                    addresses[4 * c + 3] = v.w;
    }
  }
  template <class Rule, class G>
  WB_HD void iterate(const Rule& rule, G g) {
    char* const app = reinterpret_cast<char*>(this->app);
    std::uint32_t place[4 * chunks];
    fetch(0, g.rank, place);
    WB_UNROLL for (int m = 0; m < Rows; m++) {
      const between<Least, Most> degree{this->row(m).degree};
      auto app_value = [&](int d) { return reinterpret_cast<element*>(app + place[d]); };
      T q[Most], back[Most];
      const auto last_app = [&](int d) { return load_message<T>(app_value(d)); };
      const auto last = [&](int d) { return message[m][d]; };
      const auto keep = [&](int d, T value) { message[m][d] = value; };
      const auto store_app = [&](int d, T value) { store_message<T>(app_value(d), value); };
      variable_to_check(degree, q, last_app, last);
      check_to_variable(rule, degree, q, back);
      posteriors(degree, q, back, keep, store_app);
      if (m + 1 < Rows) fetch(m + 1, g.rank, place);  // does not wait for the others
      g.sync();
    }
  }

  template <class G>
  WB_HD unsigned violated(int, unsigned, G g) const {
    T bad = T{};
    _Pragma("unroll 1") for (int m = 0; m < Rows; m++) {  // the messages leave few registers
      std::uint32_t place[4 * chunks];
      fetch(m, g.rank, place);
      T odd = T{};
      each_edge(between<Least, Most>{this->row(m).degree}, [&](int d) {
        odd = sign_product(
            odd, load_message<T>(reinterpret_cast<element*>(reinterpret_cast<char*>(this->app) + place[d])));
      });
      bad = sign_union(bad, odd);
    }
    return this->any_of(base::conversion::sign_bits(bad), g);
  }
};

}  // namespace WB_ISA
}  // namespace wb
