// Shapes and strides of the batches that calls are given.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include <warpband/core/check.hpp>

namespace wb {
namespace check_test {

TEST(check_shape, outputs_have_a_place_for_every_value) {
  std::vector<float> memory(12);
  const auto check = [&](std::size_t elements, std::size_t items, std::size_t element_stride,
                         std::size_t item_stride) {
    check_shape("out", view<float>{memory.data(), elements, items, element_stride, item_stride}, items,
                elements);
  };
  EXPECT_NO_THROW(check(4, 3, 1, 4));
  EXPECT_NO_THROW(check(4, 1, 1, 0));
  EXPECT_NO_THROW(check(1, 3, 0, 1));
  EXPECT_THROW(check(4, 3, 1, 0), shape_error);
  EXPECT_THROW(check(4, 3, 0, 4), shape_error);
  EXPECT_THROW(check(4, 1, 0, 4), shape_error);
  EXPECT_NO_THROW(check_shape("in", view<const float>{memory.data(), 4, 3, 1, 0}, 3, 4));
}

TEST(check_shape, strides_of_no_value_do_not_matter) {
  for (const layout order : {layout::row_major, layout::batch_fastest})
    for (const auto& [elements, items] : {std::pair<std::size_t, std::size_t>{4, 0}, {0, 3}, {0, 0}})
      EXPECT_NO_THROW(check_shape("out", make_view<float>(nullptr, items, elements, order), items, elements))
          << elements << ' ' << items;
  EXPECT_NO_THROW(check_shape("out", view<float>{nullptr, 4, 0, 0, 0}, 0, 4));
  EXPECT_THROW(check_shape("out", make_view<float>(nullptr, 0, 4), 0, 5), shape_error);
  EXPECT_THROW(check_shape("out", make_view<float>(nullptr, 1, 4), 1, 4), shape_error);
}

}  // namespace check_test
}  // namespace wb
