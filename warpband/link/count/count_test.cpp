// Counted bit errors against a plain loop.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include <tests/on_backends.hpp>
#include <warpband/link/count/count.hpp>

namespace count_test {

using wb::layout;
using wb::testing::blamed;
using wb::testing::on_device;
using bits = std::vector<std::uint8_t>;

class count : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(count);

TEST_P(count, equals_a_plain_loop) {
  std::mt19937 random(1);
  for (const std::size_t n : {1, 2, 31, 32, 100, 1023, 1024, 6144})
    for (const std::size_t frames : {1, 4, 16, 35})
      for (const layout order : {layout::row_major, layout::batch_fastest}) {
        if (n > 1024 && wb::testing::small_scale()) continue;
        bits sent(n * frames), received(n * frames);
        std::vector<float> llr(n * frames);
        const auto index = [&](std::size_t f, std::size_t i) {
          return order == layout::row_major ? f * n + i : i * frames + f;
        };
        std::vector<std::int32_t> expected(frames), soft_expected(frames);
        for (std::size_t f = 0; f < frames; f++) {
          const unsigned one_in = f % 4 == 0 ? 1 : f % 4 == 1 ? 2 : f % 4 == 2 ? 100 : 1u << 31;
          for (std::size_t i = 0; i < n; i++) {
            const std::size_t k = index(f, i);
            sent[k] = static_cast<std::uint8_t>(random() & 1);
            received[k] = static_cast<std::uint8_t>(sent[k] ^ (random() % one_in == 0 ? 1 : 0));
            const float values[]{0.f,
                                 -0.f,
                                 3.5f,
                                 -3.5f,
                                 1e-45f,
                                 -1e-45f,
                                 std::numeric_limits<float>::infinity(),
                                 -std::numeric_limits<float>::infinity()};
            llr[k] = values[random() % 8];
            expected[f] += sent[k] != received[k];
            soft_expected[f] += sent[k] != (llr[k] < 0.f ? 1 : 0);  // an erasure decides 0
          }
        }
        const auto s = on_device(exec(), sent, frames, n, order),
                   r = on_device(exec(), received, frames, n, order);
        const auto l = on_device(exec(), llr, frames, n, order);
        auto errors = on_device(exec(), std::vector<std::int32_t>(frames, -1), frames, 1);
        wb::count_errors(exec(), s, r, errors);
        ASSERT_EQ(exec().to_host(errors), expected) << n << " bits, " << frames << " frames";
        wb::count_errors(exec(), s, l, errors);
        ASSERT_EQ(exec().to_host(errors), soft_expected) << n << " bits, " << frames << " frames";
      }
}

TEST_P(count, a_call_equals_its_pieces_with_any_number_of_threads) {
  std::mt19937 random(2);
  const std::size_t n = 50, frames = 1003;
  bits sent(n * frames), received(n * frames);
  for (auto& b : sent) b = static_cast<std::uint8_t>(random() & 1);
  for (auto& b : received) b = static_cast<std::uint8_t>(random() & 1);
  const auto run = [&](wb::executor& e, std::size_t first, std::size_t last) {
    const auto s = on_device(e, sent, frames, n), r = on_device(e, received, frames, n);
    auto errors = e.make<std::int32_t>(last - first, 1);
    const std::size_t items = last - first;
    wb::count_errors(e, wb::view<const std::uint8_t>{s.data() + first * n, n, items, 1, n},
                     wb::view<const std::uint8_t>{r.data() + first * n, n, items, 1, n}, errors);
    return e.to_host(errors);
  };
  const auto whole = run(exec(), 0, frames);
  EXPECT_EQ(run(*GetParam().open(3), 0, frames), whole);
  std::vector<std::int32_t> joined;
  for (std::size_t from = 0; from < frames; from += 101)
    for (const auto e : run(exec(), from, std::min(from + 101, frames))) joined.push_back(e);
  EXPECT_EQ(joined, whole);
}

TEST_P(count, one_row_of_sent_bits_serves_all_frames) {
  const auto s = on_device(exec(), bits{0, 1, 1}, 1, 3);
  const auto r = on_device(exec(), bits{0, 1, 1, 1, 0, 0, 0, 0, 1}, 3, 3);
  auto errors = exec().make<std::int32_t>(3, 1);
  wb::count_errors(exec(), wb::view<const std::uint8_t>{s.data(), 3, 3, 1, 0}, r, errors);
  EXPECT_EQ(exec().to_host(errors), (std::vector<std::int32_t>{0, 3, 1}));
}

TEST_P(count, erased_items_have_the_lowest_bit_of_their_status) {
  std::mt19937 random(3);
  for (const std::size_t n : {1, 3, 32, 1000, 1025})
    for (const std::size_t frames : {1, 5, 33}) {
      bits status(n * frames);
      std::vector<std::int32_t> expected(frames);
      for (std::size_t i = 0; i < status.size(); i++) {
        status[i] = static_cast<std::uint8_t>(random());
        expected[i / n] += status[i] % 2;
      }
      const auto s = on_device(exec(), status, frames, n);
      auto erased = on_device(exec(), std::vector<std::int32_t>(frames, -1), frames, 1);
      wb::count_erased(exec(), s, 1, erased);
      ASSERT_EQ(exec().to_host(erased), expected) << n << " items, " << frames << " frames";
      for (std::int32_t& e : expected) e *= 3;
      wb::count_erased(exec(), s, 3, erased);
      ASSERT_EQ(exec().to_host(erased), expected) << n << " items, " << frames << " frames, three times";
    }
}

TEST(count_arguments, bad_ones_are_named) {
  const auto exec = wb::testing::open_scalar();
  const auto s = on_device(*exec, bits(20), 2, 10), few = on_device(*exec, bits(10), 1, 10),
             narrow = on_device(*exec, bits(18), 2, 9);
  const auto l = on_device(*exec, std::vector<float>(18), 2, 9);
  auto errors = exec->make<std::int32_t>(2, 1), too_few = exec->make<std::int32_t>(1, 1);
  EXPECT_NO_THROW(wb::count_errors(*exec, s, s, errors));
  EXPECT_EQ(blamed([&] { wb::count_errors(*exec, s, few, errors); }), "received");
  EXPECT_EQ(blamed([&] { wb::count_errors(*exec, s, narrow, errors); }), "received");
  EXPECT_EQ(blamed([&] { wb::count_errors(*exec, s, l, errors); }), "llr");
  EXPECT_EQ(blamed([&] { wb::count_errors(*exec, s, s, too_few); }), "errors");
  const wb::view<const std::uint8_t> nothing{nullptr, 10, 2, 1, 10};
  EXPECT_EQ(blamed([&] { wb::count_errors(*exec, s, nothing, errors); }), "received");
  EXPECT_EQ(blamed([&] { wb::count_errors(*exec, nothing, s, errors); }), "sent");
  EXPECT_NO_THROW(wb::count_erased(*exec, s, 1, errors));
  EXPECT_EQ(blamed([&] { wb::count_erased(*exec, nothing, 1, errors); }), "status");
  EXPECT_EQ(blamed([&] { wb::count_erased(*exec, s, 0, errors); }), "weight");
  EXPECT_EQ(blamed([&] { wb::count_erased(*exec, s, 1, too_few); }), "erased");
}

}  // namespace count_test
