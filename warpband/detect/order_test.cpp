// The caller's order of the streams: what it means, and that it means the same everywhere.
#include <numeric>

#include <tests/mimo.hpp>

namespace order_test {

using wb::detector_config;
using wb::layout;
using namespace wb::testing;

/// Entry i of the result is entry from(i) of the given.
template <class T, class From>
std::vector<T> gathered(const std::vector<T>& given, From from) {
  std::vector<T> out(given.size());
  for (std::size_t i = 0; i < out.size(); i++) out[i] = given[from(i)];
  return out;
}
/// Of a bit of a batch in which stream k stands where the given one has stream order[k].
auto bit_in_order(const mimo_batch& b, const std::vector<int>& order) {
  const std::size_t n = order.size(), m = b.bits() / n;
  return [=](std::size_t i) {
    return i / (n * m) * (n * m) + static_cast<std::size_t>(order[i / m % n]) * m + i % m;
  };
}
mimo_batch reordered(const mimo_batch& b, const std::vector<int>& order) {
  const std::size_t n = order.size();
  mimo_batch out = b;
  out.h = gathered(b.h, [&](std::size_t i) { return i / n * n + static_cast<std::size_t>(order[i % n]); });
  out.prior = gathered(b.prior, bit_in_order(b, order));
  return out;
}

/// Detectors that take an order, of one size.
std::vector<detector_config> all_with_order(int streams, int rx, int qam) {
  std::vector<detector_config> configs{
      setting(ot, streams, rx, qam),
      setting(mtt, streams, rx, qam),
      kbest_setting(streams, rx, qam, 5),
      kbest_setting(streams, rx, qam, 9, true),
      nway_setting(streams, rx, qam, streams),
      sphere_setting(streams, rx, qam, {.node_limit = 60}),
      sphere_setting(streams, rx, qam, {.hard_output = true, .node_limit = 90})};
  for (const int ways : {1, streams / 2})
    if (ways > 0 && ways < streams) configs.push_back(nway_setting(streams, rx, qam, ways));
  std::vector<int> spread(static_cast<std::size_t>(streams), 1);
  spread.front() = 2;
  spread.back() = std::min(qam, 7);
  configs.push_back(nway_setting(streams, rx, qam, 1, spread));
  return configs;
}

class detect_order_on : public on_backend {
 protected:
  /// An order gives, bit for bit, what the detector without one makes of the columns in that order.
  void expect_same(detector_config c, const std::vector<int>& order, const mimo_batch& batch,
                   layout arrangement = layout::row_major) {
    const auto from = bit_in_order(batch, order);
    const mimo_result expected = detect(exec(), c, reordered(batch, order), arrangement);
    search_in(c).order = order;
    mimo_result got = detect(exec(), c, batch, arrangement);
    got.llr = gathered(got.llr, from);
    got.bits = gathered(got.bits, from);
    EXPECT_TRUE(same_bits(got, expected)) << text_of(c) << (batch.prior.empty() ? "" : ", with a prior");
  }
  /// A sort gives, bit for bit, what the detector without one makes of columns that lie in that order.
  void expect_sorted(const detector_config& c, const mimo_batch& batch) {
    detector_config plain = c;
    search_in(plain).sort = wb::stream_sort::none;
    mimo_batch lies_sorted = batch;
    const std::size_t gains = batch.gains(), m = batch.bits();
    std::vector<std::vector<int>> orders;
    for (std::size_t i = 0; i < batch.uses(); i++) {
      orders.push_back(oracle_order(c, oracle_use(batch, i)));
      const mimo_batch one = reordered(part_of(batch, i, 1), orders[i]);
      std::copy_n(one.h.begin(), gains, &lies_sorted.h[i * gains]);
      std::copy(one.prior.begin(), one.prior.end(),
                lies_sorted.prior.begin() + static_cast<std::ptrdiff_t>(batch.prior.empty() ? 0 : i * m));
    }
    const mimo_result expected = detect(exec(), plain, lies_sorted);
    mimo_result got = detect(exec(), c, batch);
    const auto from = [&](std::size_t e) {
      return e / m * m + bit_in_order(part_of(batch, e / m, 1), orders[e / m])(e % m);
    };
    got.llr = gathered(got.llr, from);
    got.bits = gathered(got.bits, from);
    EXPECT_TRUE(same_bits(got, expected)) << text_of(c) << (batch.prior.empty() ? "" : ", with a prior");
  }
};
WB_ON_ALL_BACKENDS(detect_order_on);

TEST_P(detect_order_on, is_that_of_the_columns) {
  std::mt19937_64 random(1);
  for (int streams = 2; streams <= 8; streams++)
    for (const int more : {0, 1})
      for (const int qam : {4, 16, 64, 256}) {
        // 2x2 and 4x4 have kernels of their own for each number of points.
        const bool known_size = more == 0 && (streams == 2 || streams == 4);
        if (qam > (known_size ? 256 : streams > 6 ? 4 : 16)) continue;
        std::vector<int> order(static_cast<std::size_t>(streams));
        std::iota(order.begin(), order.end(), 0);
        for (detector_config c : all_with_order(streams, streams + more, qam)) {
          std::shuffle(order.begin(), order.end(), random);
          const std::size_t uses = qam > 16 ? 5 : 19;
          expect_same(c, order, draw_mimo(c, uses, {}, random));
          if (!takes_prior(c)) continue;
          c.extrinsic = more != 0;
          expect_same(c, order, draw_mimo(c, uses, {.prior = 3}, random));
        }
      }
}

TEST_P(detect_order_on, is_sorted_for_each_use) {
  std::mt19937_64 random(7);
  for (int streams = 1; streams <= 8; streams++)
    for (const auto& [more, qam] : {std::pair{0, 4}, {0, 16}, {1, 4}}) {
      if (qam > 4 && streams > 4) continue;
      for (const detector_config& c : all_with_order(streams, streams + more, qam))
        for (const double prior : {0., 3.}) {
          const mimo_batch batch = draw_mimo(c, 19, {.prior = prior}, random);
          for (const wb::stream_sort sort : sorts_of(c)) expect_sorted(sorted(c, sort), batch);
        }
    }
}

TEST_P(detect_order_on, among_equals_begins_with_the_lower_number) {
  std::mt19937_64 random(8);
  for (const detector_config& c : all_with_order(4, 4, 16)) {
    mimo_batch batch = draw_mimo(c, 20, {}, random);
    for (std::size_t i = 0; i < batch.h.size(); i++)  // Hadamard matrices
      batch.h[i] = std::popcount(i / 4 % 4 & i % 4) % 2 == 0 ? 0.5f : -0.5f;
    const mimo_result expected = detect(exec(), c, batch);
    for (const wb::stream_sort sort : sorts_of(c))
      EXPECT_TRUE(same_bits(detect(exec(), sorted(c, sort), batch), expected)) << text_of(sorted(c, sort));
  }
}

TEST_P(detect_order_on, is_sorted_in_either_layout_with_shared_channels) {
  std::mt19937_64 random(9);
  for (const auto& [streams, rx] : {std::pair{2, 2}, {3, 3}, {4, 4}, {8, 8}})
    for (const detector_config& c : all_with_order(streams, rx, 4)) {
      const mimo_batch batch = draw_mimo(c, 23, {.uses_per_channel = 3}, random);
      const detector_config by_channel = sorted(c, sorts_of(c).back());
      mimo_batch unshared = batch;  // the same with a channel for each use
      unshared.uses_per_channel = 1;
      unshared.h.clear();
      for (std::size_t i = 0; i < batch.uses(); i++)
        unshared.h.insert(unshared.h.end(), batch.channel_of(i), batch.channel_of(i) + batch.gains());
      const mimo_result expected = detect(exec(), by_channel, unshared);
      EXPECT_TRUE(same_bits(detect(exec(), by_channel, batch), expected)) << text_of(by_channel);
      EXPECT_TRUE(same_bits(detect(exec(), by_channel, batch, layout::batch_fastest), expected))
          << text_of(by_channel);
    }
}

TEST_P(detect_order_on, may_be_any) {
  std::mt19937_64 random(2);
  for (const int streams : {1, 2, 3, 4})
    for (const detector_config& c : all_with_order(streams, streams, 4)) {
      const mimo_batch batch = draw_mimo(c, 17, {}, random);
      std::vector<int> order(static_cast<std::size_t>(streams));
      std::iota(order.begin(), order.end(), 0);
      do expect_same(c, order, batch);
      while (std::next_permutation(order.begin(), order.end()));
    }
}

TEST_P(detect_order_on, holds_in_either_layout_with_shared_channels_and_for_many_uses) {
  std::mt19937_64 random(3);
  for (const auto& [order, rx] : std::vector<std::pair<std::vector<int>, int>>{
           {{1, 0}, 2}, {{2, 0, 1}, 3}, {{2, 0, 3, 1}, 4}, {{4, 1, 7, 0, 2, 6, 3, 5}, 8}})
    for (const detector_config& c : all_with_order(static_cast<int>(order.size()), rx, 4)) {
      const mimo_batch batch = draw_mimo(c, 23, {.uses_per_channel = 3}, random);
      expect_same(c, order, batch);
      expect_same(c, order, batch, layout::batch_fastest);
    }
  // Of N-way other kernels take batches that fill a device.
  const std::size_t many = exec().is_device() ? exec().preferred_items() : 1000;
  for (const int qam : {4, 16}) {
    const detector_config c = nway_setting(4, 4, qam, 3);
    expect_same(c, {3, 1, 0, 2}, draw_mimo(c, small_scale() ? 20 : many, {}, random));
  }
}

TEST_P(detect_order_on, of_columns_as_they_come_changes_nothing) {
  std::mt19937_64 random(4);
  for (detector_config c : all_with_order(4, 4, 16)) {
    const mimo_batch batch = draw_mimo(c, 20, {}, random);
    const mimo_result expected = detect(exec(), c, batch);
    search_in(c).order = {0, 1, 2, 3};
    EXPECT_TRUE(same_bits(detect(exec(), c, batch), expected)) << text_of(c);
    EXPECT_TRUE(search_of(completed(c)).order.empty());
  }
}

TEST_P(detect_order_on, does_not_matter_to_an_exhaustive_search) {
  std::mt19937_64 random(5);
  for (const auto& [streams, qam] : {std::array{2, 4}, {2, 16}, {2, 64}, {3, 4}, {3, 16}, {4, 4}})
    for (const double prior : {0., 3.}) {
      int survivors = 1;
      for (int k = 0; k < streams; k++) survivors *= qam;
      detector_config exact = setting(ml, streams, streams, qam),
                      unpruned = kbest_setting(streams, streams, qam, survivors),
                      tree = setting(sphere, streams, streams, qam);
      exact.llr_clip = unpruned.llr_clip = tree.llr_clip = 1e6f;
      const mimo_batch batch = draw_mimo(exact, survivors > 256 ? 20 : 100, {.prior = prior}, random);
      const mimo_result expected = detect(exec(), exact, batch);
      const auto expect_exact = [&](const detector_config& c) {
        EXPECT_EQ(count_different(batch, detect(exec(), c, batch).llr, expected.llr), 0U)
            << text_of(c) << ", priors of " << prior;
      };
      std::vector<int> order(static_cast<std::size_t>(streams));
      std::iota(order.begin(), order.end(), 0);
      do {
        if (survivors > 256 && random() % 3 != 0) continue;
        search_in(unpruned).order = order;
        kbest_in(unpruned).real_valued = !kbest_in(unpruned).real_valued;
        expect_exact(unpruned);
        search_in(tree).order = order;
        expect_exact(tree);
        if (streams > 2) continue;
        for (detector_config c : {setting(mtt, 2, 2, qam), nway_setting(2, 2, qam, 2)}) {
          if (prior > 0 && !takes_prior(c)) continue;
          search_in(c).order = order;
          c.llr_clip = 1e6f;
          expect_exact(c);
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
}

TEST_P(detect_order_on, puts_its_first_stream_on_top_of_the_one_way) {
  std::mt19937_64 random(6);
  detector_config exact = setting(ml, 2, 2, 16), one = nway_setting(2, 2, 16, 1);
  exact.llr_clip = one.llr_clip = 8;
  for (const std::size_t top : {0, 1}) {
    search_in(one).order = {static_cast<int>(top), static_cast<int>(1 - top)};
    const mimo_batch batch = draw_mimo(one, 100, {}, random);
    const mimo_result got = detect(exec(), one, batch), expected = detect(exec(), exact, batch);
    std::size_t others = 0;
    for (std::size_t i = 0; i < batch.uses(); i++)
      for (std::size_t e = i * 8; e < (i + 1) * 8; e++) {
        const bool same = std::fabs(got.llr[e] - expected.llr[e]) <= llr_tolerance(batch, i);
        if (e / 4 % 2 == top)
          ASSERT_TRUE(same) << "stream " << top << " on top, use " << i;
        else
          others += !same;
      }
    EXPECT_GT(others, 0U);  // are not all reached
  }
}

}  // namespace order_test
