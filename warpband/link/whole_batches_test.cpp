#include <warpband/link/whole_batches.hpp>

#include <gtest/gtest.h>

#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/point.hpp>

namespace wb {
namespace whole_batches_test {

link_config uncoded() {
  link_config c;
  c.code = code_config("none", {{"k", 20}});
  return completed(c);
}

/// Frames whose errors depend on the batch: of its first frame and its size.
class uneven final : public frame_runner {
 public:
  explicit uneven(std::size_t max_frames) : most_(max_frames) {}
  const frame_counts& run(std::uint64_t first, std::size_t frames, double point_db) override {
    check_run(frames, point_db);
    runs.emplace_back(first, frames);
    counts_ = {.bit_errors = {}, .iterations = {}, .erased = {}};
    for (std::size_t i = 0; i < frames; i++)
      counts_.bit_errors.push_back((first + i) % 7 == first % 5 + frames % 3 ? 2 : 0);
    return counts_;
  }
  const link_config& config() const noexcept override { return config_; }
  std::size_t max_batch() const noexcept override { return most_; }
  std::size_t preferred_frames() const override { return 1; }
  std::vector<std::pair<std::uint64_t, std::size_t>> runs;

 private:
  std::size_t most_;
  link_config config_ = uncoded();
  frame_counts counts_;
};

struct runner {
  explicit runner(std::size_t batch) {
    auto made = std::make_unique<uneven>(64);
    inner = made.get();
    whole = std::make_unique<whole_batches>(std::move(made), batch);
  }
  uneven* inner = nullptr;
  std::unique_ptr<whole_batches> whole;
};

TEST(whole_batches, run_whole_and_from_multiples_of_their_size_alone) {
  runner r(10);
  EXPECT_EQ(r.whole->run(3, 4, 0).bit_errors.size(), 4u);
  EXPECT_EQ(r.whole->run(7, 10, 0).bit_errors.size(), 10u);
  EXPECT_EQ(r.whole->run(17, 3, 0).bit_errors.size(), 3u);
  r.whole->run(17, 3, 1);
  using run = std::pair<std::uint64_t, std::size_t>;
  EXPECT_EQ(r.inner->runs, (std::vector<run>{{0, 10}, {10, 10}, {10, 10}}));
  EXPECT_TRUE(r.whole->run(5, 0, 0).bit_errors.empty());
  EXPECT_THROW(r.whole->run(0, 11, 0), argument_error);
  EXPECT_THROW(whole_batches(std::make_unique<uneven>(8), 0), argument_error);
  EXPECT_THROW(whole_batches(std::make_unique<uneven>(8), 9), argument_error);
}

TEST(whole_batches, a_point_has_the_same_counts_however_it_is_run) {
  for (const std::size_t batch : {1, 7, 64}) {
    runner at_once(batch);
    const point_counts expected = run_point(*at_once.whole, 0, {.frame_errors = 0, .max_frames = 500}).counts;
    ASSERT_GT(expected.frame_errors, 0u);
    runner in_parts(batch);
    point_counts parts;
    for (const std::uint64_t frames : {1, 60, 64, 65, 333, 500})
      parts = run_point(*in_parts.whole, 0, {.frame_errors = 0, .max_frames = frames}, {}, parts).counts;
    EXPECT_EQ(parts.frames, expected.frames);
    EXPECT_EQ(parts.bit_errors, expected.bit_errors);
    EXPECT_EQ(parts.frame_errors, expected.frame_errors);
    runner other(batch);  // which begins in the middle of a batch, without the batches before
    point_counts half;
    half.frames = 250;
    const point_counts end =
        run_point(*other.whole, 0, {.frame_errors = 0, .max_frames = 500}, {}, half).counts;
    runner first(batch);
    const point_counts begin = run_point(*first.whole, 0, {.frame_errors = 0, .max_frames = 250}).counts;
    EXPECT_EQ(begin.bit_errors + end.bit_errors, expected.bit_errors);
    for (const auto& [start, frames] : other.inner->runs) {
      EXPECT_EQ(frames, batch);
      EXPECT_EQ(start % batch, 0u);
    }
  }
  runner one(7), another(10);  // errors depend on the batch, or this would test nothing
  EXPECT_NE(run_point(*one.whole, 0, {.frame_errors = 0, .max_frames = 500}).counts.bit_errors,
            run_point(*another.whole, 0, {.frame_errors = 0, .max_frames = 500}).counts.bit_errors);
}

class whole_batches_of_links : public testing::on_backend {};
WB_ON_ALL_BACKENDS(whole_batches_of_links);

TEST_P(whole_batches_of_links, count_what_the_link_counts) {
  link_config c = uncoded();
  c.antennas = detector_config{};
  c.qam = 4;
  c.channel = rayleigh_config{};
  const stop_rule stop{.frame_errors = 30, .max_frames = 1000};
  link_chain chain(c, exec());
  whole_batches whole(std::make_unique<link_chain>(c, exec(), 37, nullptr, true), 37);
  const point_counts expected = run_point(chain, 5, stop).counts, found = run_point(whole, 5, stop).counts;
  EXPECT_EQ(found.frames, expected.frames);
  EXPECT_EQ(found.bit_errors, expected.bit_errors);
  EXPECT_EQ(found.erased_uses, expected.erased_uses);
  EXPECT_EQ(found.frame_errors, 30u);
  if (!exec().is_device()) {
    EXPECT_THROW(link_chain(c, exec(), std::size_t{1} << 40, nullptr, true), argument_error);
  }
}

}  // namespace whole_batches_test
}  // namespace wb
