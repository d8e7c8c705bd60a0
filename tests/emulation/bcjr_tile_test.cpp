// The BCJR decoder in 16 bits as threads of a CUDA warp share it, on the host: the same bits as one thread
// alone.
#define WB_ISA emulated_bcjr
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <tests/conv.hpp>
#include <tests/emulation/conv_tiles.hpp>
#include <tests/emulation/emulated_tiles.hpp>
#include <warpband/fec/bcjr/bcjr_short_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

/// Code: conv_any_code, or `code` as one that is known when a kernel is compiled.
template <int Memory, int Steps, bool Paired, class Code = conv_any_code>
void expect_same(const conv_code& code, int k, int windows, int overlap) {
  using op = bcjr_short_op<Memory, Paired, i16x, Steps>;
  using shared_op = bcjr_short_op<Memory, Paired, i16x, Steps, Code>;
  conv_tile_call<bcjr_short_args> call(code, k, windows, overlap);
  ASSERT_EQ(call.a.code.memory, Memory);
  ASSERT_TRUE(call.paired() || !Paired);
  call.template expect_same<op, shared_op>(&bcjr_short_args::soft, testing::name_of(code));
}

TEST(bcjr_tile, of_64_states) {
  expect_same<6, 3, true>({}, 150, 1, 0);
  expect_same<6, 3, true>({}, 201, 4, 48);
  expect_same<6, 3, true>(conv_lte(), 97, 2, 40);
  expect_same<6, 3, false>(conv_lte(), 97, 1, 48);
}
TEST(bcjr_tile, of_known_codes) {
  using half = conv_known_code<0133, 0171>;
  using third = conv_known_code<0133, 0171, 0165>;
  expect_same<6, 4, true, half>({}, 150, 1, 0);
  expect_same<6, 4, true, half>(conv_80211(conv_rate::r3_4), 201, 4, 48);
  expect_same<6, 4, true, third>(conv_lte(), 97, 2, 40);
}
TEST(bcjr_tile, of_other_states) {
  expect_same<2, 2, false>({.constraint_length = 3, .generators = {07, 05}}, 100, 2, 20);
  expect_same<4, 3, false>({.constraint_length = 5, .generators = {020, 033}}, 100, 1, 0);
  expect_same<8, 3, false>({.constraint_length = 9, .generators = {0561, 0753}}, 90, 1, 0);
}

}  // namespace
}  // namespace WB_ISA
}  // namespace wb
