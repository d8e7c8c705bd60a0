// The 16-bit Viterbi decoder as threads of a CUDA warp share it, on the host: the same bits as one thread
// alone.
#define WB_ISA emulated_viterbi
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <tests/conv.hpp>
#include <tests/emulation/conv_tiles.hpp>
#include <tests/emulation/emulated_tiles.hpp>
#include <warpband/fec/viterbi/viterbi_short_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

/// Code: conv_any_code, or `code` as one that is known when a kernel is compiled.
template <int Memory, int Steps, bool Paired, class Code = conv_any_code>
void expect_same(const conv_code& code, int k, int windows, int overlap) {
  using op = viterbi_short_op<Memory, Steps, Paired>;
  using shared_op = viterbi_short_op<Memory, Steps, Paired, i16x, Code>;
  conv_tile_call<viterbi_short_args> call(code, k, windows, overlap);
  ASSERT_EQ(call.a.code.memory, Memory);
  ASSERT_TRUE(call.paired() || !Paired);
  ASSERT_EQ(viterbi_stage_steps(Memory, call.a.code.outputs, call.paired()), Steps);
  call.a.depth = 40;
  call.a.kept = 30;
  call.template expect_same<op, shared_op>(&viterbi_short_args::bits, testing::name_of(code));
}

TEST(viterbi_tile, of_64_states) {
  expect_same<6, 4, true>({}, 300, 1, 0);
  expect_same<6, 4, true>({}, 301, 5, 48);
  expect_same<6, 4, true>(conv_lte(), 97, 2, 40);
}
TEST(viterbi_tile, of_known_codes) {
  using half = conv_known_code<0133, 0171>;
  using third = conv_known_code<0133, 0171, 0165>;
  expect_same<6, 4, true, half>({}, 300, 1, 0);
  expect_same<6, 4, true, half>(conv_80211(conv_rate::r3_4), 301, 5, 48);
  expect_same<6, 4, true, half>({.ending = conv_ending::tail_biting}, 96, 1, 48);
  expect_same<6, 4, true, third>(conv_lte(), 97, 2, 40);
}
TEST(viterbi_tile, of_other_states) {
  expect_same<5, 4, true>({.constraint_length = 6, .generators = {053, 075, 067}}, 150, 1, 0);
  expect_same<8, 4, true>({.constraint_length = 9, .generators = {0561, 0753}}, 150, 2, 64);
  expect_same<4, 4, false>({.constraint_length = 5, .generators = {020, 033}}, 200, 1, 0);
}
TEST(viterbi_tile, with_stages_of_two_steps) {
  expect_same<7, 2, false>({.constraint_length = 8, .generators = {0240, 0371}}, 90, 1, 0);
  expect_same<8, 2, false>({.constraint_length = 9, .generators = {0561, 0753, 0711}}, 90, 1, 0);
}

}  // namespace
}  // namespace WB_ISA
}  // namespace wb
