// K-best as threads of a CUDA warp share it, on the host: the same bits as one thread alone.
#define WB_ISA emulated_tiles
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <tests/emulation/emulated_block.hpp>
#include <warpband/detect/kbest/kbest_warp_op.hpp>

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

/// What core/warp_part.hpp has.
template <int S>
struct emulated_part {
  static constexpr int size = S, parts = 32 / S;
  int rank = static_cast<int>(emulation::thread_index.x) % S;
  int part = static_cast<int>(emulation::thread_index.x) % 32 / S;

  /// f over x of the part's threads from `from` on, `count` of them.
  template <class X, class F>
  X over(X x, int from, int count, X start, F f) const {
    const std::uint64_t* const all = emulation::exchange(~0u, std::bit_cast<std::uint32_t>(x));
    for (int i = from; i < from + count; i++)
      start = f(start, std::bit_cast<X>(static_cast<std::uint32_t>(all[i])));
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

/// A call of any of the searches, and what one thread alone finds.
struct batch {
  detect_args a;
  std::size_t uses, bits;
  sent s;
  std::vector<float> expected;

  batch(int streams, int pam_bits, int survivors, std::size_t uses_, bool real_valued = false,
        bool informed = false)
      : uses(uses_) {
    a.streams = a.rx_antennas = streams;
    a.pam_bits = pam_bits;
    a.survivors = survivors;
    a.algorithm = real_valued ? 1 : 0;
    a.clip = 100;
    s = draw(a, uses, informed);
    const auto n = static_cast<std::size_t>(streams);
    bits = 2 * n * static_cast<std::size_t>(pam_bits);
    a.received = make_view<const cx_pair>(s.y.data(), n, uses);
    a.channel = make_view<const cx_pair>(s.h.data(), n * n, uses);
    a.noise_var = {s.n0.data(), 1, uses, 1, 0};
    if (informed) a.prior = make_view<const float>(s.prior.data(), bits, uses);
  }
  void search_alone() {
    expected.assign(bits * uses, 0);
    a.llr = make_view(expected.data(), bits, uses);
    const kbest_op<any_sizes, 1> alone{a};
    std::vector<float> scratch(alone.scratch(1));
    for (std::size_t i = 0; i < uses; i++) alone(item<float>{i, 1}, solo{}, scratch.data());
  }
  void expect(const std::vector<float>& got, const std::string& threads) const {
    for (std::size_t e = 0; e < got.size(); e++)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got[e]), std::bit_cast<std::uint32_t>(expected[e]))
          << a.streams << "x" << a.streams << ", " << a.pam_bits << ", K = " << a.survivors << ", " << threads
          << ", use " << e / bits << ", bit " << e % bits << ": " << got[e] << ", alone " << expected[e];
  }
};

template <class S, int Tile>
void expect_same(int streams, int pam_bits, int survivors, bool real_valued = false, bool informed = false) {
  batch b(streams, pam_bits, survivors, 6, real_valued, informed);
  b.search_alone();
  std::vector<float> got(b.expected.size());
  b.a.llr = make_view(got.data(), b.bits, b.uses);
  const kbest_op<S, Tile> shared{b.a};
  const std::size_t each = shared.scratch(Tile);
  std::vector<float> memory(emulation::shared_bytes / sizeof(float));
  for (unsigned seed = 0; seed < 2; seed++) {
    std::fill(got.begin(), got.end(), 1e9f);
    emulation::run(1, 32, seed, memory.data(), [&] {
      const emulated_tile<Tile> g;
      const std::size_t tiles = 32 / Tile, mine = emulation::thread_index.x / Tile;
      for (std::size_t i = mine; i < b.uses; i += tiles) {
        shared(item<float>{i, 1}, g, memory.data() + mine * each);
        g.sync();
      }
    });
    b.expect(got, "tile of " + std::to_string(Tile));
  }
}

/// `uses` is odd: a part of a warp is left without one.
template <int B, int Threads, int P>
void expect_same_of_warp(int survivors, std::size_t uses = 43) {
  batch b(4, B, survivors, uses);
  b.search_alone();
  std::vector<float> got(b.expected.size());
  b.a.llr = make_view(got.data(), b.bits, b.uses);
  std::vector<float> memory(emulation::shared_bytes / sizeof(float));
  for (const int uses_of_warp : {2, 16}) {
    b.a.tile = uses_of_warp;
    const kbest_warp_op<emulated_part<Threads>, B, P> op(b.a);
    std::fill(got.begin(), got.end(), 1e9f);
    const auto at_once = static_cast<std::size_t>(op.at_once);
    const auto blocks = static_cast<unsigned>((uses + at_once - 1) / at_once);
    emulation::run(blocks, static_cast<unsigned>(op.threads()), 1, memory.data(), [&] {
      const std::size_t first = emulation::block_index.x * at_once;
      op(first, static_cast<int>(std::min(uses - first, at_once)), emulated_threads{}, memory.data());
    });
    b.expect(got,
             std::to_string(Threads) + " threads of a warp, uses of a warp: " + std::to_string(uses_of_warp));
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
TEST(kbest_tile, of_half_a_warp) {
  for (const int survivors : {1, 2, 5, 15, 16}) expect_same_of_warp<2, 16, 1>(survivors);
  for (const int survivors : {1, 7, 16}) expect_same_of_warp<3, 16, 1>(survivors);
}
TEST(kbest_tile, of_a_warp) {
  for (const int survivors : {17, 32, 33, 63, 64}) expect_same_of_warp<2, 32, 2>(survivors);
  for (const int survivors : {17, 32, 50, 64}) expect_same_of_warp<3, 32, 2>(survivors);
}
TEST(kbest_tile, of_a_warp_and_many_survivors) {
  for (const int survivors : {65, 100, 200, 256}) expect_same_of_warp<3, 32, 8>(survivors, 9);
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
