// K-best by a CUDA warp or half of one, on the host: the same bits as one thread alone.
#define WB_ISA emulated_tiles
#define WB_WIDTH 1
#include <functional>

#include <tests/emulation/kbest_batch.hpp>
#include <warpband/detect/kbest/kbest_warp_op.hpp>

namespace wb {
inline namespace WB_ISA {
namespace {

/// What core/warp_part.hpp has.
template <int S>
struct emulated_part {
  static constexpr int size = S, parts = 32 / S;
  int rank = static_cast<int>(emulation::thread_index.x) % S;
  int part = static_cast<int>(emulation::thread_index.x) % 32 / S;

  /// f over x of the part's threads from `from` on, `count` of them.
  template <class X, class F>
  X over(X x, int from, int count, X start, F f) const {
    const std::uint64_t* const words = emulation::exchange(~0u, std::bit_cast<std::uint32_t>(x));
    for (int i = from; i < from + count; i++)
      start = f(start, std::bit_cast<X>(static_cast<std::uint32_t>(words[i])));
    return start;
  }
  void sync() const { (void)emulation::exchange(~0u, 0); }
  float exchange(float x, int step) const {
    return over(x, static_cast<int>(emulation::thread_index.x) % 32 ^ step, 1, x,
                [](float, float b) { return b; });
  }
  bool any(bool m) const {
    return over(m ? 1 : 0, 0, 32, 0, [](int a, int b) { return a | b; }) != 0;
  }
  std::int32_t sum(std::int32_t x) const { return over(x, part * S, S, 0, std::plus<std::int32_t>()); }
  std::int32_t sum_before(std::int32_t x) const {
    return over(x, part * S, rank, 0, std::plus<std::int32_t>());
  }
  float min_all(float x) const {
    return over(x, part * S, S, x, [](float a, float b) { return std::min(a, b); });
  }
  float max_all(float x) const {
    return over(x, part * S, S, x, [](float a, float b) { return std::max(a, b); });
  }
};
/// What core/group.hpp has for a thread block.
struct emulated_threads {
  int rank = static_cast<int>(emulation::thread_index.x);
  void sync() const { emulation::meet(0, 128); }
};

/// `uses` is odd: a part of a warp is left without one.
template <int B, int Threads, int P>
void expect_same_of_warp(int survivors, std::size_t uses = 43) {
  batch b(4, B, survivors, uses);
  for (const int uses_of_warp : {2, 16}) {
    b.a.tile = uses_of_warp;
    const kbest_warp_op<emulated_part<Threads>, B, P> op(b.a);
    std::fill(b.got.begin(), b.got.end(), 1e9f);
    const auto at_once = static_cast<std::size_t>(op.at_once);
    const auto blocks = static_cast<unsigned>((uses + at_once - 1) / at_once);
    emulation::run(blocks, static_cast<unsigned>(op.threads()), 1, b.memory.data(), [&] {
      const std::size_t first = emulation::block_index.x * at_once;
      op(first, static_cast<int>(std::min(uses - first, at_once)), emulated_threads{}, b.memory.data());
    });
    b.expect_same(std::to_string(Threads) +
                  " threads of a warp, uses of a warp: " + std::to_string(uses_of_warp));
  }
}

TEST(kbest_warp, of_half_a_warp) {
  for (const int survivors : {1, 2, 5, 15, 16}) expect_same_of_warp<2, 16, 1>(survivors);
  for (const int survivors : {1, 7, 16}) expect_same_of_warp<3, 16, 1>(survivors);
}
TEST(kbest_warp, of_a_warp) {
  for (const int survivors : {17, 32, 33, 63, 64}) expect_same_of_warp<2, 32, 2>(survivors);
  for (const int survivors : {17, 32, 50, 64}) expect_same_of_warp<3, 32, 2>(survivors);
}
TEST(kbest_warp, of_a_warp_and_many_survivors) {
  for (const int survivors : {65, 100, 200, 256}) expect_same_of_warp<3, 32, 8>(survivors, 9);
}

}  // namespace
}  // namespace WB_ISA
}  // namespace wb
