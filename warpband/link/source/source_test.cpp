// Random bits: which, how many, how balanced.
#include <gtest/gtest.h>

#include <cmath>

#include <oracle/philox.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/source/source.hpp>

namespace source_test {

using wb::layout;
using wb::testing::blamed;
using wb::testing::on_device;
using bits = std::vector<std::uint8_t>;

bits random_bits(wb::executor& exec, std::size_t n, std::size_t frames, wb::random_range range,
                 layout order = layout::row_major) {
  auto b = exec.make<std::uint8_t>(frames, n, order);
  wb::random_bits(exec, b, static_cast<int>(n), range);
  return exec.to_host(b);
}
/// Bit i of frame f is bit i % 32 of word i / 32 % 4 of the block with counter (f, stream 1, block i / 128).
std::uint8_t expected_bit(wb::random_range r, std::size_t frame, std::size_t i) {
  const std::uint64_t f = r.first + frame;
  const auto words =
      oracle::philox4x32_10({static_cast<std::uint32_t>(f), static_cast<std::uint32_t>(f >> 32),
                             (1U << 24) + static_cast<std::uint32_t>(i / 128), r.point},
                            {static_cast<std::uint32_t>(r.seed), static_cast<std::uint32_t>(r.seed >> 32)});
  return static_cast<std::uint8_t>(words[i / 32 % 4] >> i % 32 & 1);
}

class source : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(source);

TEST_P(source, gives_the_bits_of_philox_and_touches_no_others) {
  const wb::random_range range{.seed = 0xfedcba9876543210, .first = (std::uint64_t{1} << 32) - 5, .point = 4};
  for (const std::size_t n : {1, 31, 32, 33, 127, 128, 129, 1000, 40000})
    for (const std::size_t frames : {1, 3, 18})
      for (const layout order : {layout::row_major, layout::batch_fastest}) {
        if (n > 1000 && (frames > 3 || wb::testing::small_scale())) continue;
        const std::size_t width = n + 5;  // places for a CRC, say
        auto b = on_device(exec(), bits(width * frames, 77), frames, width, order);
        wb::random_bits(exec(), b, static_cast<int>(n), range);
        const bits got = exec().to_host(b);
        const wb::view<std::uint8_t> v = b;
        for (std::size_t f = 0; f < frames; f++)
          for (std::size_t i = 0; i < width; i++)
            ASSERT_EQ(got[i * v.element_stride + f * v.item_stride], i < n ? expected_bit(range, f, i) : 77)
                << "bit " << i << " of " << n << ", frame " << f;
      }
}

TEST_P(source, equals_scalar_and_its_own_pieces_with_any_number_of_threads) {
  const auto scalar = wb::testing::open_scalar();
  const std::size_t n = 200, frames = 301;
  const wb::random_range range{.seed = 2, .first = 1000, .point = 3};
  const bits whole = random_bits(exec(), n, frames, range);
  EXPECT_EQ(whole, random_bits(*scalar, n, frames, range));
  EXPECT_EQ(whole, random_bits(*GetParam().open(3), n, frames, range));
  for (const std::size_t piece : {1, 7, 64}) {
    bits joined;
    for (std::size_t first = 0; first < frames; first += piece) {
      const bits part = random_bits(exec(), n, std::min(piece, frames - first),
                                    {range.seed, range.first + first, range.point});
      joined.insert(joined.end(), part.begin(), part.end());
    }
    EXPECT_EQ(joined, whole) << piece;
  }
  // A longer frame begins with the same bits.
  const bits longer = random_bits(exec(), n + 300, 2, range);
  EXPECT_TRUE(std::equal(longer.begin(), longer.begin() + static_cast<std::ptrdiff_t>(n), whole.begin()));
}

TEST_P(source, bits_are_balanced_and_unrelated) {
  const std::size_t n = 1024, frames = wb::testing::small_scale() ? 100 : 2000;
  const bits b = random_bits(exec(), n, frames, {.seed = 1});
  const auto far = [](double ones, double count) {
    return std::fabs(ones - count / 2) / std::sqrt(count / 4);
  };
  double ones = 0, equal_neighbours = 0, equal_frames = 0, equal_words = 0;
  std::vector<double> by_place(n);
  for (std::size_t f = 0; f < frames; f++)
    for (std::size_t i = 0; i < n; i++) {
      const std::uint8_t x = b[f * n + i];
      ASSERT_LE(x, 1);
      ones += x;
      by_place[i] += x;
      if (i > 0) equal_neighbours += x == b[f * n + i - 1];
      if (i >= 32) equal_words += x == b[f * n + i - 32];
      if (f > 0) equal_frames += x == b[(f - 1) * n + i];
    }
  const double total = static_cast<double>(n * frames), rows = static_cast<double>(frames);
  EXPECT_LT(far(ones, total), 5);
  EXPECT_LT(far(equal_neighbours, total - rows), 5);
  EXPECT_LT(far(equal_words, total - 32 * rows), 5);
  EXPECT_LT(far(equal_frames, total - static_cast<double>(n)), 5);
  for (std::size_t i = 0; i < n; i++) ASSERT_LT(far(by_place[i], rows), 6) << "place " << i;
}

TEST_P(source, seeds_and_points_give_other_bits) {
  const wb::random_range ranges[]{
      {1, 0, 0}, {2, 0, 0}, {std::uint64_t{1} << 32 | 1, 0, 0}, {1, 0, 1}, {1, 1, 0}};
  std::vector<bits> drawn;
  for (const auto& r : ranges) drawn.push_back(random_bits(exec(), 256, 1, r));
  for (std::size_t a = 0; a < drawn.size(); a++)
    for (std::size_t b = 0; b < a; b++) {
      int equal = 0;
      for (std::size_t i = 0; i < 256; i++) equal += drawn[a][i] == drawn[b][i];
      EXPECT_NEAR(equal, 128, 48) << a << " and " << b;  // 6 standard deviations
    }
}

TEST(source_arguments, bad_ones_are_named) {
  const auto exec = wb::testing::open_scalar();
  auto b = exec->make<std::uint8_t>(2, 10);
  EXPECT_NO_THROW(wb::random_bits(*exec, b, 10, {}));
  EXPECT_EQ(blamed([&] { wb::random_bits(*exec, b, 0, {}); }), "n");
  EXPECT_EQ(blamed([&] { wb::random_bits(*exec, b, -1, {}); }), "n");
  EXPECT_EQ(blamed([&] { wb::random_bits(*exec, b, 2147483647, {}); }), "n");
  EXPECT_EQ(blamed([&] { wb::random_bits(*exec, b, 11, {}); }), "bits");
  EXPECT_EQ(blamed([&] { wb::random_bits(*exec, {nullptr, 10, 2, 1, 10}, 10, {}); }), "bits");
}

}  // namespace source_test
