#pragma once
#include <warpband/detect/kbest/kbest_op.hpp>
#include <warpband/detect/kbest/kbest_warp_body.hpp>
#include <warpband/detect/kbest/kbest_warps.hpp>

namespace wb {
inline namespace WB_ISA {

/// A warp decomposes the channels of up to 32 uses, one a thread, and then searches them, a part of the warp
/// a use. W: warp_part; P: parents a thread of it has at most.
template <class W, int B, int P>
struct kbest_warp_op {
  using search = kbest_warp_search<W, B, P>;
  using sizes = exact_sizes<4, B>;
  static constexpr bool by_block = true, always_in_shared = true;
  static constexpr int most_threads = 128, warps = most_threads / 32;
  static constexpr int resident = kbest_resident_blocks(P * W::size);
  static constexpr std::size_t warp_bytes =
      kbest_use::size * kbest_use::stride * sizeof(float) + W::parts * sizeof(typename search::storage);
  detect_args a;
  int at_once;

  /// `a.tile`: uses of a warp.
  explicit kbest_warp_op(const detect_args& args) : a(args), at_once(args.tile * warps) {}
  int threads() const { return most_threads; }
  std::size_t scratch_bytes(int group) const { return static_cast<std::size_t>(group / 32) * warp_bytes; }
  double flops() const { return kbest_op<sizes, 1>{a}.flops(); }
  double bytes() const { return detect_bytes(a); }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    const int warp = g.rank / 32, begin = warp * a.tile;
    const int end = items - begin < a.tile ? items : begin + a.tile;
    auto* const memory = static_cast<char*>(scratch) + static_cast<std::size_t>(warp) * warp_bytes;
    WB_ROLL for (int i = begin; i < end; i += 32)
        search_all(first + static_cast<std::size_t>(i), end - i < 32 ? end - i : 32, g.rank % 32, memory);
  }

 private:
  WB_HD void search_all(std::size_t first, int uses, int lane, char* memory) const {
    const kbest_use records{reinterpret_cast<float*>(memory)};
    auto* const searches =
        reinterpret_cast<typename search::storage*>(records.first + kbest_use::size * kbest_use::stride);
    if (lane < uses) decompose({first + static_cast<std::size_t>(lane), 1}, kbest_use{records.first + lane});
    const W w;
    w.sync();
    WB_ROLL for (int u = 0; u < uses; u += W::parts) {
      // A part without a use repeats the last one and stores nothing.
      const int mine = u + w.part < uses ? u + w.part : uses - 1;
      const kbest_use use{records.first + mine};
      search s(w, use, searches + w.part, a.survivors);
      s.run();
      if (u + w.part < uses) store_use({first + static_cast<std::size_t>(mine), 1}, w.rank, use, s);
      w.sync();
    }
  }
  WB_HD void decompose(item<float> item, kbest_use use) const {
    const sizes s(a);
    const order_of_use<sizes, float> order(a, s, item, 0);
    lattice<fixed<4>, float> m;
    float n0;
    const bool good = load_lattice(a, s, item, order, m, n0);
    use.set(m);
    use.scale() = llr_scale(n0);
    use.good() = as_float(good ? 1 : 0);
    use.order() = as_float(as_int(order.order));
  }
  WB_HD void store_use(item<float> item, int rank, kbest_use use, const search& s) const {
    constexpr fixed<B> pam{};
    constexpr int bits = 2 * B, sharers = W::size == 8 * bits ? 2 : 1, threads = W::size / sharers;
    const float limit = a.clip < 3e38f ? a.clip : 3e38f, scale = use.scale();
    const bool good = as_int(use.good()) != 0;
    const std::uint32_t order = as_uint(as_int(use.order()));
    for (int l = rank % threads; l < 4 * bits; l += threads) {
      const int k = l / bits, i = l % bits, stream = static_cast<int>(order >> 4 * k & 7);
      const auto place = static_cast<std::size_t>(stream * bits + i);
      const float apart = s.template difference<sharers>(k * bits + bit_of(pam, i), threads);
      const float llr = select(good, saturate(saturate(apart * scale, 3e38f), limit), 0.f);
      if (rank >= threads) continue;
      if (a.llr.data) store(a.llr, place, item, llr);
      if (a.bits.data) store_int<float>(a.bits, place, item, decide(llr));
    }
    if (a.status.data && rank == 0) store_int<float>(a.status, 0, item, good ? 0 : status_erased);
  }
};

}  // namespace WB_ISA
}  // namespace wb
