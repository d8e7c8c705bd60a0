// The list of the frames that are not finished.
#include <algorithm>
#include <random>

#include <tests/on_backends.hpp>
#include <warpband/receive/frames.hpp>

namespace frames_test {

using numbers = std::vector<std::int32_t>;
using bytes = std::vector<std::uint8_t>;

class receive_list : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(receive_list);

struct listed {
  bytes done;
  numbers list, from, place;
  std::int32_t left = 0;
};
/// One call. `before`: empty for 0, 1, 2, ...; `done`: empty for the first one. `place` is as long as there
/// are frames.
listed list_of(wb::executor& exec, const bytes& finished, std::int32_t enough, const bytes& done,
               const numbers& before, const numbers& place) {
  const std::size_t count = finished.size();
  const auto ended = exec.make_from(finished);
  const auto listed_before = exec.make_from(before.empty() ? numbers{0} : before);
  auto all_done = exec.make_from(done.empty() ? bytes(count, 7) : done);
  auto list = exec.make_from(numbers(count, -9)), from = exec.make_from(numbers(count, -9)),
       places = exec.make_from(place), left = exec.make_from(numbers{-9});
  wb::frames_list_args a;
  a.listed = static_cast<std::int32_t>(count);
  a.enough = enough;
  a.finished = ended.data();
  a.first = done.empty();
  a.done = all_done.data();
  a.before = before.empty() ? nullptr : listed_before.data();
  a.list = list.data();
  a.from = from.data();
  a.place = places.data();
  a.count = left.data();
  wb::run_frames_list(exec, a);
  return {exec.to_host(all_done), exec.to_host(list), exec.to_host(from), exec.to_host(places),
          exec.to_host(left)[0]};
}

TEST_P(receive_list, is_kept_where_enough_frames_are_left_and_else_made_anew) {
  const listed first = list_of(exec(), {0, 1, 0, 0, 0}, 4, {}, {}, numbers(5, 77));
  EXPECT_EQ(first.left, 4);
  EXPECT_EQ(first.done, (bytes{0, 1, 0, 0, 0}));
  EXPECT_EQ(first.place, (numbers{0, -1, 2, 3, 4}));
  // A frame that is done stays so, whatever its checks say now.
  const listed second = list_of(exec(), {0, 0, 0, 1, 0}, 4, first.done, {}, first.place);
  EXPECT_EQ(second.left, 3);
  EXPECT_EQ(second.done, bytes(5, 0));
  EXPECT_EQ(numbers(second.list.begin(), second.list.begin() + 3), (numbers{0, 2, 4}));
  EXPECT_EQ(numbers(second.from.begin(), second.from.begin() + 3), (numbers{0, 2, 4}));
  EXPECT_EQ(second.place, (numbers{0, -1, 1, -1, 2}));
  const listed third = list_of(exec(), {1, 0, 0}, 3, bytes(3, 0), {0, 2, 4}, second.place);
  EXPECT_EQ(third.left, 2);
  EXPECT_EQ(numbers(third.list.begin(), third.list.begin() + 2), (numbers{2, 4}));
  EXPECT_EQ(numbers(third.from.begin(), third.from.begin() + 2), (numbers{1, 2}));
  EXPECT_EQ(third.place, (numbers{-1, -1, 0, -1, 1}));
  EXPECT_EQ(list_of(exec(), {1, 1, 1}, 1, {}, {}, numbers(3, 77)).left, 0);
}

TEST_P(receive_list, of_many_frames_is_in_their_order) {
  std::mt19937 random(3);
  bytes finished(1000);
  for (auto& f : finished) f = random() % 3 == 0 ? 1 : 0;
  const auto left = static_cast<std::int32_t>(std::count(finished.begin(), finished.end(), 0));
  const listed kept = list_of(exec(), finished, left, {}, {}, numbers(1000)),
               anew = list_of(exec(), finished, left + 1, {}, {}, numbers(1000));
  EXPECT_EQ(kept.left, left);
  EXPECT_EQ(anew.left, left);
  EXPECT_EQ(kept.done, finished);
  std::int32_t position = 0;
  for (std::int32_t i = 0; i < 1000; i++) {
    const auto f = static_cast<std::size_t>(i);
    ASSERT_EQ(kept.place[f], finished[f] ? -1 : i);
    ASSERT_EQ(anew.place[f], finished[f] ? -1 : position);
    if (finished[f]) continue;
    ASSERT_EQ(anew.list[static_cast<std::size_t>(position)], i);
    ASSERT_EQ(anew.from[static_cast<std::size_t>(position)], i);
    position++;
  }
}

class receive_gather : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(receive_gather);

TEST_P(receive_gather, takes_what_belongs_to_each_frame) {
  std::vector<float> in(8000);
  for (std::size_t i = 0; i < in.size(); i++) in[i] = static_cast<float>(i);
  const auto source = exec().make_from(in);
  const numbers frames{4, 0, 3};
  const auto list = exec().make_from(frames);
  const auto gather = [&](std::size_t elements, std::size_t rows, std::size_t of_frame, std::size_t step,
                          std::size_t shared, int width, std::size_t row_stride, std::size_t element_stride,
                          std::size_t offset) {
    const auto numbers_of_value = static_cast<std::size_t>(width);
    const std::size_t of_row = elements * numbers_of_value, values = rows * of_row;
    auto out = exec().make_from(std::vector<float>(3 * values + 1, -1.f));
    wb::frames_gather_args a;
    a.frame = list.data();
    a.elements = elements, a.rows = rows, a.of_frame = of_frame, a.step = step, a.shared = shared;
    a.width = width;
    a.in = source.data() + offset;
    a.row_stride = row_stride, a.element_stride = element_stride;
    a.out = out.data();
    wb::run_frames_gather(exec(), a, 3);
    std::vector<float> want;
    for (const std::int32_t f : frames)
      for (std::size_t r = 0; r < rows; r++)
        for (std::size_t i = 0; i < of_row; i++)
          want.push_back(
              in[offset + (static_cast<std::size_t>(f) * of_frame + r * step) / shared * row_stride +
                 i / numbers_of_value * element_stride + i % numbers_of_value]);
    want.push_back(-1.f);
    EXPECT_EQ(exec().to_host(out), want) << elements << ", " << rows << ", " << shared << ", " << offset;
  };
  for (const std::size_t offset : {0, 4, 1}) {
    gather(1500, 1, 1, 1, 1, 1, 1500, 1, offset);  // one row, as of a decoder's state
    gather(13, 1, 1, 1, 1, 1, 20, 1, offset);      // rows apart
    gather(4, 70, 70, 1, 1, 2, 8, 2, offset);      // many rows side by side
    gather(3, 5, 5, 1, 1, 2, 6, 2, offset);        // a length that is no multiple of four
    gather(4, 6, 12, 2, 2, 2, 8, 2, offset);       // rows that uses of a frame share
    gather(4, 5, 5, 1, 2, 2, 8, 2, offset);        // or uses of two frames
    gather(4, 1, 5, 5, 10, 2, 8, 2, offset);       // a row that frames share
    gather(4, 6, 6, 1, 1, 2, 2, 80, offset);       // the fastest axis is that of the items
  }
}

}  // namespace frames_test
