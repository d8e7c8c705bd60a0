#pragma once
#include <warpband/channel/random.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/philox.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/link/source/source_args.hpp>

namespace wb {
inline namespace WB_ISA {

struct source_op : block_op<source_args> {
  int threads() const { return a.n < 256 * 128 ? (a.n + 127) / 128 : 256; }
  double flops() const { return 0; }
  double bytes() const { return a.n; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using I = typename rebind<T>::i32;
    for (int word = g.rank; word * 128 < a.n; word += g.size) {
      const auto c =
          counter<T>(a.first + item.first, stream_bits + static_cast<std::uint32_t>(word), a.point);
      const auto r = philox(c, static_cast<std::uint32_t>(a.seed), static_cast<std::uint32_t>(a.seed >> 32));
      WB_UNROLL for (int part = 0; part < 4; part++) {
        const int first = word * 128 + part * 32;
        for (int i = 0; i < 32 && first + i < a.n; i++)
          store_int<T>(a.bits, static_cast<std::size_t>(first + i), item, as_int(r.w[part] >> i) & I(1));
      }
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
