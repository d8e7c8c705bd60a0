// Halves: every one of them to a float and back, and floats to the nearest half.
#include <gtest/gtest.h>

#include <cmath>

#include <warpband/core/half.hpp>

namespace half_test {

double value_of(unsigned half) {
  const double magnitude = (half >> 10 & 31) == 0 ? std::ldexp(half & 1023, -24)
                                                  : std::ldexp(1024 + (half & 1023), (half >> 10 & 31) - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

TEST(half, every_one_is_a_float_and_comes_back) {
  for (unsigned h = 0; h < 65536; h++) {
    const float x = wb::from_half_bits(static_cast<std::uint16_t>(h));
    if ((h & 0x7c00) != 0x7c00) {
      ASSERT_EQ(x, value_of(h)) << h;
      ASSERT_EQ(std::signbit(x), (h & 0x8000) != 0) << h;
      ASSERT_EQ(wb::to_half_bits(x), h);
    } else if ((h & 1023) == 0) {
      ASSERT_TRUE(std::isinf(x) && std::signbit(x) == ((h & 0x8000) != 0)) << h;
      ASSERT_EQ(wb::to_half_bits(x), h);
    } else {
      ASSERT_TRUE(std::isnan(x)) << h;
      ASSERT_TRUE(std::isnan(wb::from_half_bits(wb::to_half_bits(x)))) << h;
    }
  }
}

TEST(half, floats_go_to_the_nearest_one_ties_to_even) {
  for (unsigned h = 0; h < 0x7bff; h++) {
    const float low = static_cast<float>(value_of(h)), high = static_cast<float>(value_of(h + 1)),
                middle = static_cast<float>((value_of(h) + value_of(h + 1)) / 2);
    const unsigned even = h % 2 == 0 ? h : h + 1;
    ASSERT_EQ(wb::to_half_bits(middle), even) << h;
    ASSERT_EQ(wb::to_half_bits(-middle), even | 0x8000) << h;
    ASSERT_EQ(wb::to_half_bits(std::nextafter(middle, low)), h);
    ASSERT_EQ(wb::to_half_bits(std::nextafter(middle, high)), h + 1);
  }
  EXPECT_EQ(wb::to_half_bits(std::nextafter(65520.f, 0.f)), 0x7bff);
  EXPECT_EQ(wb::to_half_bits(65520.f), 0x7c00);
  EXPECT_EQ(wb::to_half_bits(3e38f), 0x7c00);
  EXPECT_EQ(wb::to_half_bits(1e-30f), 0);
  EXPECT_EQ(wb::to_half({-1.f, 0.5f}), (wb::half_complex{0xbc00, 0x3800}));
  EXPECT_EQ(wb::from_half({0xbc00, 0x3800}), (std::complex<float>{-1.f, 0.5f}));
}

}  // namespace half_test
