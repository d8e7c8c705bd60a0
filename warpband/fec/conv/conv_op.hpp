#pragma once
// The convolutional encoder as an op.
#include <warpband/exec/op.hpp>
#include <warpband/fec/conv/conv_body.hpp>

namespace wb {
inline namespace WB_ISA {

struct conv_encode_op : block_op<conv_encode_args> {
  int threads() const { return a.code.steps < 128 ? a.code.steps : 128; }
  std::size_t scratch(int) const { return static_cast<std::size_t>(a.code.steps + a.code.memory); }
  double flops() const { return 0; }
  double bytes() const { return a.code.k + static_cast<double>(a.n); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T* scratch) const {
    using I = typename rebind<T>::i32;
    const conv_trellis& c = a.code;
    const int m = c.memory;
    // The bits that enter the register, behind the m that it starts with.
    T* entering = scratch + m;
    for (int t = g.rank - m; t < c.steps; t += g.size) {
      const int from = t < 0 && c.ending == conv_ending::tail_biting ? t + c.k : t;
      entering[t] = as_float(
          from >= 0 && from < c.k ? load_int<T>(a.bits, static_cast<std::size_t>(from), item) & I(1) : I(0));
    }
    g.sync();
    const auto entering_bit = [&](int t) WB_INLINE_LAMBDA { return as_int(entering[t]); };
    if (c.feedback != 1 << m) {
      // The register itself is not parallel: one thread runs it, the tail with zeros.
      if (g.rank == 0) {
        I state(0);
        for (int t = 0; t < c.k; t++) {
          const I bit = entering_bit(t) ^ parity_of(state & I(c.feedback));
          entering[t] = as_float(bit);
          state = (state | (bit << m)) >> 1;
        }
      }
      g.sync();
    }
    for (int t = g.rank; t < c.steps; t += g.size) {
      I bits(0);
      for (int i = 0; i <= m; i++) bits = bits | (entering_bit(t - i) << (m - i));
      for (int i = 0; i < c.outputs; i++) {
        const std::int32_t to = c.places[t * c.outputs + i];
        if (to >= 0)
          store_int<T>(a.coded, static_cast<std::size_t>(to), item, parity_of(bits & I(a.generators[i])));
      }
    }
    for (std::size_t e = static_cast<std::size_t>(a.n + g.rank); e < a.coded.elements;
         e += static_cast<std::size_t>(g.size))
      store_int<T>(a.coded, e, item, I(0));
  }
};

}  // namespace WB_ISA
}  // namespace wb
