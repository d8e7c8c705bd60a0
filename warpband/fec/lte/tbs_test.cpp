// Transport block sizes of LTE: rules that the standard's table follows.
#include <gtest/gtest.h>

#include <tests/on_backends.hpp>
#include <warpband/fec/lte/segmentation.hpp>
#include <warpband/fec/lte/tbs.hpp>

namespace wb {
namespace lte_tbs_test {

using testing::blamed;

TEST(lte_tbs, sizes_rise_and_need_no_filler_bits) {
  int before = 0;
  for (const int blocks : lte_resource_blocks()) {
    int last = 0;
    for (int index = 0; index < 27; index++) {
      const int size = lte_transport_block_size(index, blocks);
      EXPECT_GT(size, last) << index << ", " << blocks;
      last = size;
      EXPECT_EQ(segment_transport_block(size).filler_bits, 0) << index << ", " << blocks;
      if (before != 0) {
        EXPECT_GT(size, lte_transport_block_size(index, before)) << index;
        // In proportion to the resource blocks, but for rounding to sizes of the turbo code.
        EXPECT_NEAR(size / static_cast<double>(lte_transport_block_size(index, before)),
                    blocks / static_cast<double>(before), 0.07 * blocks / before)
            << index << ", " << blocks;
      }
    }
    before = blocks;
  }
  EXPECT_EQ(lte_transport_block_size(26, 100), 75376);
  EXPECT_EQ(lte_transport_block_size(0, 6), 152);
}

TEST(lte_tbs, schemes_share_sizes_where_the_modulation_changes) {
  for (const bool uplink : {false, true}) {
    int order = 2, index = -1;
    for (int i = 0; i < 29; i++) {
      const lte_mcs mcs = lte_mcs_of(uplink, i);
      EXPECT_EQ(mcs.tbs_index, mcs.modulation_order == order ? index + 1 : index) << i;
      EXPECT_GE(mcs.modulation_order, order);
      order = mcs.modulation_order, index = mcs.tbs_index;
    }
    EXPECT_EQ(order, 6);
    EXPECT_EQ(index, 26);
    for (const int i : {29, 30, 31}) EXPECT_EQ(lte_mcs_of(uplink, i).modulation_order, 0);
  }
  EXPECT_EQ(lte_mcs_of(false, 10).modulation_order, 4);
  EXPECT_EQ(lte_mcs_of(true, 10).modulation_order, 2);
  EXPECT_EQ(lte_mcs_of(false, 17).modulation_order, 6);
  EXPECT_EQ(lte_mcs_of(true, 20).modulation_order, 4);
}

TEST(lte_tbs, bad_arguments_are_named) {
  for (const int index : {-1, 32}) EXPECT_EQ(blamed([&] { lte_mcs_of(false, index); }), "index");
  for (const int index : {-1, 27})
    EXPECT_EQ(blamed([&] { lte_transport_block_size(index, 6); }), "tbs_index");
  for (const int blocks : {0, 7, 110})
    EXPECT_EQ(blamed([&] { lte_transport_block_size(0, blocks); }), "resource_blocks");
}

}  // namespace lte_tbs_test
}  // namespace wb
