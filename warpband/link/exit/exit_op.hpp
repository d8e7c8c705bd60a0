#pragma once
#include <warpband/core/group.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/math.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/philox.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/link/exit/exit_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// 1 for a bit of 0, -1 for a bit of 1.
template <class T>
WB_HD T sign_of_bit(const view<const std::uint8_t>& bits, std::size_t e, item<T> item) {
  if (bits.data == nullptr) return T(1.f);
  const auto bit = load_int<T>(bits, e, item);
  return select(bit == decltype(bit)(0), T(1.f), T(-1.f));
}

/// A block of random numbers gives the LLRs of four bits.
struct exit_llrs_op : block_op<exit_llrs_args> {
  int threads() const { return a.llr.elements < 256 ? 32 : 128; }
  double flops() const { return 25.0 * static_cast<double>(a.llr.elements); }
  double bytes() const { return (a.bits.data ? 5.0 : 4.0) * static_cast<double>(a.llr.elements); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const int n = static_cast<int>(a.llr.elements);
    for (int word = g.rank; word * 4 < n; word += g.size) {
      const auto c = counter<T>(a.range.first + item.first, stream_exit + static_cast<std::uint32_t>(word),
                                a.range.point);
      const auto r =
          philox(c, static_cast<std::uint32_t>(a.range.seed), static_cast<std::uint32_t>(a.range.seed >> 32));
      const T half = T(a.deviation * 1.41421356f);  // a real part has variance 1/2
      const cx<T> first = half * complex_normal<T>(r.w[0], r.w[1]),
                  second = half * complex_normal<T>(r.w[2], r.w[3]);
      const T noise[4] = {first.re, first.im, second.re, second.im};
      WB_UNROLL for (int i = 0; i < 4; i++) {
        const int e = 4 * word + i;
        if (e >= n) break;
        const std::size_t index = static_cast<std::size_t>(e);
        store(a.llr, index, item,
              saturate(fma(T(a.mean), sign_of_bit<T>(a.bits, index, item), noise[i]), a.limit));
      }
    }
  }
};

/// A thread has an item alone, so that sums have one order: of 32 bits, then of these.
struct exit_loss_op : thread_op<exit_loss_args> {
  double flops() const { return 30.0 * static_cast<double>(a.llr.elements); }
  double bytes() const { return (a.bits.data ? 5.0 : 4.0) * static_cast<double>(a.llr.elements) + 4; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    T sum = T(0.f), part = T(0.f);
    for (std::size_t e = 0; e < a.llr.elements; e++) {
      const T toward =
          sign_of_bit<T>(a.bits, e, item) * saturate(T(a.factor) * load(a.llr, e, item), a.limit);
      part = part + (max(T(0.f) - toward, T(0.f)) + log(T(1.f) + exp(T(0.f) - abs(toward))));
      if (e % 32 == 31) {
        sum = sum + part;
        part = T(0.f);
      }
    }
    store(a.loss, 0, item, (sum + part) * T(1.44269504f));
  }
};

}  // namespace WB_ISA
}  // namespace wb
