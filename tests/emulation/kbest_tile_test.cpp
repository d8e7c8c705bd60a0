// K-best as threads of a CUDA warp share it, on the host: the same bits as one thread alone.
#define WB_ISA emulated_tiles
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include <tests/emulation/emulated_block.hpp>
#include <warpband/detect/kbest/kbest_op.hpp>

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
    const std::uint64_t* const all = emulation::exchange(members, std::bit_cast<std::uint32_t>(x));
    const auto base = static_cast<int>(emulation::thread_index.x) % 32 / S * S;
    return std::bit_cast<X>(static_cast<std::uint32_t>(all[base + other]));
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

struct sent {
  std::vector<cx_pair> h, y;
  std::vector<float> prior, n0;
};
/// Random uses. Every third has a unitary H and receives nothing: most distances equal others.
sent draw(const detect_args& a, std::size_t uses, bool informed) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto n = static_cast<std::size_t>(a.streams), rx = static_cast<std::size_t>(a.rx_antennas),
             bits = 2 * n * static_cast<std::size_t>(a.pam_bits);
  sent s;
  for (std::size_t i = 0; i < uses; i++) {
    for (std::size_t e = 0; e < rx * n; e++) {
      const float one = e / n == e % n ? 1.f : 0.f;
      s.h.push_back(i % 3 == 2 ? cx_pair{one, 0} : cx_pair{normal(random), normal(random)});
    }
    for (std::size_t r = 0; r < rx; r++)
      s.y.push_back(i % 3 == 2 ? cx_pair{0, 0} : cx_pair{normal(random), normal(random)});
    for (std::size_t b = 0; informed && b < bits; b++) s.prior.push_back(2 * normal(random));
  }
  s.n0.assign(1, 0.1f);
  return s;
}

template <class S, int Tile>
void expect_same(int streams, int pam_bits, int survivors, bool real_valued = false, bool informed = false) {
  constexpr std::size_t uses = 6;
  detect_args a;
  a.streams = a.rx_antennas = streams;
  a.pam_bits = pam_bits;
  a.survivors = survivors;
  a.algorithm = real_valued ? 1 : 0;
  a.clip = 100;
  const sent s = draw(a, uses, informed);
  const auto n = static_cast<std::size_t>(streams), bits = 2 * n * static_cast<std::size_t>(pam_bits);
  a.received = make_view<const cx_pair>(s.y.data(), n, uses);
  a.channel = make_view<const cx_pair>(s.h.data(), n * n, uses);
  a.noise_var = {s.n0.data(), 1, uses, 1, 0};
  if (informed) a.prior = make_view<const float>(s.prior.data(), bits, uses);
  std::vector<float> expected(bits * uses), got(bits * uses, 1e9f);

  const kbest_op<any_sizes, 1> alone{a};
  std::vector<float> scratch(alone.scratch(1));
  const auto of_one = [&](std::size_t i) {
    auto op = alone;
    op.a.llr = make_view(expected.data(), bits, uses);
    op(item<float>{i, 1}, solo{}, scratch.data());
  };
  for (std::size_t i = 0; i < uses; i++) of_one(i);

  const kbest_op<S, Tile> shared{a};
  const std::size_t each = shared.scratch(Tile);
  std::vector<float> memory(emulation::shared_bytes / sizeof(float));
  for (unsigned seed = 0; seed < 2; seed++) {
    std::fill(got.begin(), got.end(), 1e9f);
    emulation::run(1, 32, seed, memory.data(), [&] {
      auto op = shared;
      op.a.llr = make_view(got.data(), bits, uses);
      const emulated_tile<Tile> g;
      const std::size_t tiles = 32 / Tile, mine = emulation::thread_index.x / Tile;
      for (std::size_t i = mine; i < uses; i += tiles) {
        op(item<float>{i, 1}, g, memory.data() + mine * each);
        g.sync();
      }
    });
    for (std::size_t e = 0; e < got.size(); e++)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got[e]), std::bit_cast<std::uint32_t>(expected[e]))
          << streams << "x" << streams << ", " << pam_bits << ", K = " << survivors << ", tile of " << Tile
          << ", use " << e / bits << ", bit " << e % bits << ": " << got[e] << ", alone " << expected[e];
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
