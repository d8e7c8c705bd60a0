// The search for symbols and streams under a latency: with made-up times, and once with a pipeline.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include <tests/on_backends.hpp>
#include <warpband/receive/chains.hpp>
#include <warpband/stream/batching.hpp>

namespace wb {
namespace batching_test {

using testing::blamed;

/// A device that needs 100 us for a frame and 10 us more for each of its symbols, one frame after the other.
batching_rate slow_start(int symbols, int streams) {
  const double us = 100 + 10 * symbols;
  return {1e6 / us, us * streams};
}

TEST(batching, finds_the_most_symbols_a_second_within_the_latency) {
  const std::vector<batching_entry> entries =
      search_batching({.latency_us = 400, .symbols = {1, 4, 8, 16, 32}, .streams = {1, 2, 4}}, slow_start);
  const auto best = best_batching(entries);
  ASSERT_TRUE(best);
  EXPECT_EQ(entries[*best].symbols, 16);  // 260 us
  EXPECT_EQ(entries[*best].streams, 1);   // two have the same rate and twice the latency
  for (const batching_entry& e : entries) {
    EXPECT_EQ(e.within, e.rate.latency_us <= 400);
    if (e.within) {
      EXPECT_LE(e.symbols_per_second(), entries[*best].symbols_per_second());
    }
  }
}

TEST(batching, skips_what_a_smaller_pair_shows_to_be_too_slow) {
  std::vector<std::pair<int, int>> measured;
  const std::vector<batching_entry> entries = search_batching(
      {.latency_us = 300, .symbols = {1, 8, 32}, .streams = {1, 2, 4, 8}}, [&](int symbols, int streams) {
        measured.emplace_back(symbols, streams);
        return slow_start(symbols, streams);
      });
  // One symbol: 110, 220, 440 us; eight: 180, 360 us; 32: 420 us.
  EXPECT_EQ(measured, (std::vector<std::pair<int, int>>{{1, 1}, {1, 2}, {1, 4}, {8, 1}, {8, 2}, {32, 1}}));
  EXPECT_EQ(entries.size(), measured.size());
}

TEST(batching, finds_none_where_every_pair_is_too_slow) {
  const auto entries = search_batching({.latency_us = 50, .symbols = {1, 2}, .streams = {1, 2}}, slow_start);
  EXPECT_EQ(entries.size(), 1U);
  EXPECT_FALSE(best_batching(entries));
  EXPECT_FALSE(best_batching({}));
}

TEST(batching, ends_where_it_is_told_to) {
  int asked = 0;
  const auto entries = search_batching({.latency_us = 1e6}, slow_start, [&] { return ++asked < 4; });
  EXPECT_EQ(entries.size(), 3U);
}

TEST(batching, tries_powers_of_two_and_the_most) {
  EXPECT_EQ(symbols_to_try(1), (std::vector<int>{1}));
  EXPECT_EQ(symbols_to_try(8), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(symbols_to_try(14), (std::vector<int>{1, 2, 4, 8, 14}));
  EXPECT_EQ(blamed([] { (void)symbols_to_try(65); }), "symbols");
}

TEST(batching, refuses_what_means_nothing) {
  const auto with = [](batching_config c) { return blamed([&] { search_batching(c, slow_start); }); };
  EXPECT_EQ(with({.latency_us = 0}), "latency_us");
  EXPECT_EQ(with({.latency_us = 2e9}), "latency_us");
  EXPECT_EQ(with({.symbols = {}}), "symbols");
  EXPECT_EQ(with({.symbols = {2, 2}}), "symbols");
  EXPECT_EQ(with({.streams = {0}}), "streams");
  EXPECT_EQ(with({.streams = {1, 65}}), "streams");
}

std::shared_ptr<const frame_receiver> small_uplink() {
  return make_uplink_chain({.detector = {.antennas = 8, .users = 2, .qam = 4}, .symbols = 2});
}

TEST(batching, measures_a_pipeline) {
  const batching_rate rate = measure_batching(small_uplink(), 24, 2, {.seconds = 0.001});
  EXPECT_GT(rate.frames_per_second, 0);
  EXPECT_GT(rate.latency_us, 0);
  EXPECT_EQ(blamed([] { measure_batching(small_uplink(), 23, 2, {}); }), "items");
  EXPECT_EQ(blamed([] { measure_batching(small_uplink(), 24, 65, {}); }), "streams");
  EXPECT_EQ(blamed([] { measure_batching(small_uplink(), 24, 2, {.seconds = 0}); }), "seconds");
  EXPECT_EQ(blamed([] { measure_batching(small_uplink(), 24, 2, {.device = "tpu"}); }), "devices");
}

}  // namespace batching_test
}  // namespace wb
