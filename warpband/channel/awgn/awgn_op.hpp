#pragma once
#include <warpband/channel/awgn/awgn_args.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/philox.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Each: every symbol has an N0.
template <bool Each>
struct awgn_op : thread_op<awgn_args> {
  // complex_normal; its scaling, the sum, the store
  double flops() const { return 41 + 6 + (Each ? square_root_flops : 0); }
  double bytes() const { return 16 + (Each ? 4 : 0); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const auto c = counter<T>(a.first + item.first, stream_noise, a.point);
    const auto r = philox(c, static_cast<std::uint32_t>(a.seed), static_cast<std::uint32_t>(a.seed >> 32));
    T deviation(a.deviation);
    if constexpr (Each) {
      const T n0 = load(a.noise_var, 0, item);
      deviation = sqrt(select(is_finite(n0) & (n0 >= T(0.f)), n0, T(0.f)));
    }
    const cx<T> n = deviation * complex_normal<T>(r.w[0], r.w[1]);
    const cx<T> y = load_cx(a.in, 0, item) + n;
    store_cx(a.out, 0, item, y);
  }
};

}  // namespace WB_ISA
}  // namespace wb
