// Puncturing against plain loops, and the pattern of the turbo code at rate 1/2.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <tests/on_backends.hpp>
#include <warpband/fec/puncture/puncture.hpp>
#include <warpband/fec/turbo/turbo.hpp>

namespace puncture_test {

using wb::layout;
using wb::testing::blamed;
using wb::testing::on_device;
using bits = std::vector<std::uint8_t>;
using places = std::vector<std::int32_t>;

class puncture : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(puncture);

TEST_P(puncture, equals_a_plain_loop_and_comes_back) {
  std::mt19937 random(1);
  for (const std::size_t n : {1, 7, 132, 500})
    for (const std::size_t batch : {1, 5, 16, 35})
      for (const layout order : {layout::row_major, layout::batch_fastest}) {
        places positions(n);
        std::iota(positions.begin(), positions.end(), 0);
        std::shuffle(positions.begin(), positions.end(), random);
        positions.resize(std::max<std::size_t>(1, 2 * n / 3));
        const wb::puncturer p(n, positions);
        EXPECT_EQ(p.n(), n);
        EXPECT_EQ(p.sent(), positions.size());
        const std::size_t wide = positions.size() + 3;  // zeros behind
        const auto index = [&](std::size_t b, std::size_t e, std::size_t elements) {
          return order == layout::row_major ? b * elements + e : e * batch + b;
        };
        bits coded(n * batch), expected(wide * batch);
        std::vector<float> llr(positions.size() * batch), expected_llr(n * batch);
        for (auto& b : coded) b = static_cast<std::uint8_t>(random() & 1);
        for (auto& x : llr) x = static_cast<float>(random() % 100) - 50.f;
        for (std::size_t b = 0; b < batch; b++)
          for (std::size_t i = 0; i < positions.size(); i++) {
            const auto from = static_cast<std::size_t>(positions[i]);
            expected[index(b, i, wide)] = coded[index(b, from, n)];
            expected_llr[index(b, from, n)] = llr[index(b, i, positions.size())];
          }
        auto out = on_device(exec(), bits(wide * batch, 7), batch, wide, order);
        p.puncture(exec(), on_device(exec(), coded, batch, n, order), out);
        ASSERT_EQ(exec().to_host(out), expected) << n << ", " << batch;
        auto back = on_device(exec(), std::vector<float>(n * batch, 7.f), batch, n, order);
        p.restore(exec(), on_device(exec(), llr, batch, positions.size(), order), back);
        ASSERT_EQ(exec().to_host(back), expected_llr) << n << ", " << batch;
      }
}

TEST(puncture_pattern, of_the_turbo_code_at_rate_one_half) {
  // k = 4 stands for any even k: d0 is 0..7, d1 8..15, d2 16..23, the last four of each its tail.
  EXPECT_EQ(wb::turbo_half_rate_places(4),
            (places{0, 1, 2, 3, 4, 5, 6, 7, 8, 17, 10, 19, 12, 13, 14, 15, 20, 21, 22, 23}));
  for (const std::size_t k : {40u, 1024u, 6144u}) EXPECT_EQ(wb::turbo_half_rate_places(k).size(), 2 * k + 12);
}

TEST_P(puncture, a_turbo_code_at_rate_one_half_decodes) {
  const int k = 512, batch = 20;
  const wb::turbo_encoder encoder(k);
  const wb::turbo_decoder decoder({.k = k, .iterations = 6});
  const wb::puncturer p(3 * (k + 4), wb::turbo_half_rate_places(k));
  std::mt19937 random(2);
  std::normal_distribution<float> noise(0.f, std::sqrt(0.5f * 0.5f));  // Es/N0 = 3 dB
  bits sent(k * batch);
  for (auto& b : sent) b = static_cast<std::uint8_t>(random() & 1);
  auto coded = exec().make<std::uint8_t>(batch, p.n()), out = exec().make<std::uint8_t>(batch, p.sent()),
       decided = exec().make<std::uint8_t>(batch, k);
  encoder.run(exec(), on_device(exec(), sent, batch, k), coded);
  p.puncture(exec(), coded, out);
  std::vector<float> llr;
  for (const std::uint8_t b : exec().to_host(out)) llr.push_back(8 * ((b == 0 ? 1.f : -1.f) + noise(random)));
  auto restored = exec().make<float>(batch, p.n());
  p.restore(exec(), on_device(exec(), llr, batch, p.sent()), restored);
  decoder.run(exec(), restored, {.bits = decided});
  EXPECT_EQ(exec().to_host(decided), sent);
}

TEST(puncture_arguments, bad_ones_are_named) {
  EXPECT_EQ(blamed([] { wb::puncturer(0, {}); }), "n");
  EXPECT_EQ(blamed([] { wb::puncturer(4, {0, 4}); }), "sent");
  EXPECT_EQ(blamed([] { wb::puncturer(4, {-1}); }), "sent");
  EXPECT_EQ(blamed([] { wb::puncturer(4, {1, 2, 1}); }), "sent");
}

}  // namespace puncture_test
