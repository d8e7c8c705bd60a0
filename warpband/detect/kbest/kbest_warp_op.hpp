#pragma once
#include <warpband/detect/kbest/kbest_op.hpp>
#include <warpband/detect/kbest/kbest_warp_args.hpp>
#include <warpband/detect/kbest/kbest_warp_body.hpp>

namespace wb {
inline namespace WB_ISA {

/// A block of four warps decomposes the channels of its uses, one a thread. Then each warp searches its part
/// of them, and a part of the warp a use. W: warp_part; P: parents a thread of it has at most.
template <class W, int B, int P>
struct kbest_warp_op {
  using search = kbest_warp_search<W, B, P>;
  using use = kbest_use<4 * kbest_most_uses>;
  using sizes = exact_sizes<4, B>;
  static constexpr bool by_block = true, always_in_shared = true;
  static constexpr int most_threads = 128, warps = most_threads / 32;
  static constexpr int resident = kbest_resident_blocks(P * W::size);
  static constexpr std::size_t use_bytes = use::size * use::stride * sizeof(float),
                               warp_bytes = W::parts * sizeof(typename search::storage);
  kbest_args a;
  int at_once;

  /// `a.tile`: uses of a warp, up to kbest_most_uses.
  explicit kbest_warp_op(const kbest_args& args) : a(args), at_once(args.tile * warps) {}
  int threads() const { return most_threads; }
  std::size_t scratch_bytes(int) const { return use_bytes + warps * warp_bytes; }
  double flops() const { return kbest_op<sizes, 1>{a}.flops(); }
  double bytes() const { return detect_bytes(a); }

  template <class G>
  WB_HD void operator()(std::size_t first, int items, G g, void* scratch) const {
    auto* const uses = static_cast<float*>(scratch);
    if (g.rank < items) decompose({first + static_cast<std::size_t>(g.rank), 1}, use{uses + g.rank});
    g.sync();
    const int warp = g.rank / 32, begin = warp * a.tile;
    const int end = items - begin < a.tile ? items : begin + a.tile;
    auto* const storage =
        reinterpret_cast<typename search::storage*>(static_cast<char*>(scratch) + use_bytes) +
        warp * W::parts;
    const W w;
    WB_ROLL for (int i = begin; i < end; i += W::parts) {
      // A part without a use repeats the last one and stores nothing.
      const int position = i + w.part < end ? i + w.part : end - 1;
      const use u{uses + position};
      search s(w, u, storage + w.part, a.survivors);
      s.run();
      if (i + w.part < end) store_use({first + static_cast<std::size_t>(position), 1}, w.rank, u, s);
      w.sync();
    }
  }

 private:
  WB_HD void decompose(item<float> item, use u) const {
    const sizes s(a);
    const order_of_use<sizes, float> order(a, s, item, 0);
    lattice<fixed<4>, float> m;
    float n0;
    const bool good = load_lattice(a, s, item, order, m, n0);
    u.set(m);
    u.scale() = llr_scale(n0);
    u.good() = as_float(good ? 1 : 0);
    u.order() = as_float(as_int(order.order));
  }
  WB_HD void store_use(item<float> item, int rank, use u, const search& s) const {
    constexpr fixed<B> pam{};
    constexpr int bits = 2 * B, sharers = W::size == 8 * bits ? 2 : 1, threads = W::size / sharers;
    const float limit = a.clip < 3e38f ? a.clip : 3e38f, scale = u.scale();
    const bool good = as_int(u.good()) != 0;
    const std::uint32_t order = as_uint(as_int(u.order()));
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
