// K-best as threads of a CUDA warp share it, on the host: the same bits as one thread alone.
#define WB_ISA emulated_tiles
#define WB_WIDTH 1
#include <tests/emulation/kbest_batch.hpp>

namespace wb {
inline namespace WB_ISA {
namespace {

/// What core/group.hpp has for a CUDA device.
template <int S>
struct emulated_tile {
  static constexpr int size = S;
  int rank = static_cast<int>(emulation::thread_index.x) % S;
  unsigned members = (S == 32 ? 0xffffffffu : (1u << S % 32) - 1) << emulation::thread_index.x % 32 / S * S;

  template <class X>
  X of_thread(X x, int other) const {
    static_assert(sizeof(X) == 4);
    const std::uint64_t* const words = emulation::exchange(members, std::bit_cast<std::uint32_t>(x));
    const auto base = static_cast<int>(emulation::thread_index.x) % 32 / S * S;
    return std::bit_cast<X>(static_cast<std::uint32_t>(words[base + other]));
  }
  void sync() const { (void)of_thread(0, 0); }
  template <class X>
  X exchange(X x, int step) const {
    return of_thread(x, rank ^ step);
  }
  std::int32_t sum_all(std::int32_t x) const {
    for (int step = 1; step < S; step *= 2) x += exchange(x, step);
    return x;
  }
  std::int32_t sum_before(std::int32_t x) const {
    std::int32_t sum = x;
    for (int step = 1; step < S; step *= 2) {
      const std::int32_t below = of_thread(sum, std::max(rank - step, 0));
      if (rank >= step) sum += below;
    }
    return sum - x;
  }
};

template <class S, int Tile>
void expect_same(int streams, int pam_bits, int survivors, bool real_valued = false, bool informed = false) {
  batch b(streams, pam_bits, survivors, 6, real_valued, informed);
  const kbest_op<S, Tile> shared{b.a};
  const std::size_t stride = shared.scratch(Tile);
  for (unsigned seed = 0; seed < 2; seed++) {
    std::fill(b.got.begin(), b.got.end(), 1e9f);
    emulation::run(1, 32, seed, b.memory.data(), [&] {
      const emulated_tile<Tile> g;
      const std::size_t tiles = 32 / Tile, tile = emulation::thread_index.x / Tile;
      for (std::size_t i = tile; i < b.uses; i += tiles) {
        shared(item<float>{i, 1}, g, b.memory.data() + tile * stride);
        g.sync();
      }
    });
    b.expect_same("tile of " + std::to_string(Tile));
  }
}

TEST(kbest_tile, of_16qam_and_few_survivors) {
  for (const int survivors : {1, 2, 5, 15, 16}) expect_same<exact_sizes<4, 2>, 8>(4, 2, survivors);
}
TEST(kbest_tile, of_64qam_and_few_survivors) {
  for (const int survivors : {1, 7, 16}) expect_same<exact_sizes<4, 3>, 8>(4, 3, survivors);
}
TEST(kbest_tile, of_many_survivors) {
  for (const int survivors : {17, 64, 300}) expect_same<exact_sizes<4, 2>, 32>(4, 2, survivors);
  for (const int survivors : {64, 256}) expect_same<exact_sizes<4, 3>, 32>(4, 3, survivors);
}
TEST(kbest_tile, of_any_sizes) {
  for (const bool real_valued : {false, true})
    for (const bool informed : {false, true}) {
      expect_same<any_sizes, 32>(1, 2, 3, real_valued, informed);
      expect_same<any_sizes, 32>(3, 2, 10, real_valued, informed);
      expect_same<any_sizes, 32>(5, 1, 40, real_valued, informed);
      expect_same<any_sizes, 32>(2, 4, 9, real_valued, informed);
    }
}

}  // namespace
}  // namespace WB_ISA
}  // namespace wb
