#pragma once
#include <warpband/channel/binary/binary_args.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/philox.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

/// An item is a bit. It changes where a random number of 64 bits is below the threshold.
struct binary_op : thread_op<binary_args> {
  double flops() const { return 0; }
  double bytes() const { return 2; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    using U = typename rebind<T>::u32;
    const auto c = counter<T>(a.first + item.first, stream_noise, a.point);
    const auto r = philox(c, static_cast<std::uint32_t>(a.seed), static_cast<std::uint32_t>(a.seed >> 32));
    const I sent = load_int<T>(a.bits, 0, item) & I(1);
    I received[2];
    WB_UNROLL for (int bit = 0; bit < 2; bit++) {
      const U high(static_cast<std::uint32_t>(a.threshold[bit] >> 32));
      const U low(static_cast<std::uint32_t>(a.threshold[bit]));
      const auto changes = (r.w[0] < high) | ((as_int(r.w[0]) == as_int(high)) & (r.w[1] < low));
      received[bit] = select(changes, I(a.changed[bit]), I(bit));
    }
    store_int<T>(a.received, 0, item, select(sent == I(0), received[0], received[1]));
  }
};

}  // namespace WB_ISA
}  // namespace wb
