// The Viterbi decoders as threads of a CUDA warp share them, on the host: the same bits as one thread
// alone.
#define WB_ISA emulated_viterbi
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <tests/conv.hpp>
#include <tests/emulation/conv_tiles.hpp>
#include <tests/emulation/emulated_tiles.hpp>
#include <warpband/fec/viterbi/viterbi_known_op.hpp>
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

/// The float32 decoder of a known code: bits, metrics and status of any code's. `kept`: as in viterbi_args.
template <class Code>
void expect_same_float(const conv_code& code, int k, int overlap, int kept = 0) {
  using op = viterbi_known_op<Code>;
  constexpr std::size_t items = 11;  // in the second warp five teams repeat the last codeword
  const conv_frame frame(code, k);
  viterbi_args a;
  a.code = frame.on_host();
  a.code.older &= (1 << a.code.outputs) - 1;
  a.code.newer &= (1 << a.code.outputs) - 1;
  a.punctured =
      frame.n() != static_cast<std::size_t>(a.code.steps) * static_cast<std::size_t>(a.code.outputs);
  a.overlap = overlap;
  a.kept = kept;
  a.depth = kept / 4;
  std::mt19937_64 rng(1);
  std::vector<float> llr(frame.n() * items);
  for (std::size_t i = 0; i < llr.size(); i++) {
    const float x = static_cast<float>(static_cast<int>(rng() % 2001) - 1000);
    // Of every other codeword few values, which tie often.
    llr[i] = i / frame.n() % 2 == 0 ? x / 100.f : x > 300.f ? 1.f : x < -300.f ? -1.f : 0.f;
  }
  const auto of_item = [&](std::size_t i) {
    return llr.begin() + static_cast<std::ptrdiff_t>(i * frame.n());
  };
  std::fill_n(of_item(3), frame.n(), 0.f);
  *(of_item(5) - 1) = std::numeric_limits<float>::quiet_NaN();
  *of_item(5) = -std::numeric_limits<float>::infinity();
  std::transform(of_item(6), of_item(7), of_item(6), [](float x) { return x * 1e30f; });
  a.llr = make_view<const float>(llr.data(), items, frame.n());
  const auto n = static_cast<std::size_t>(k);
  struct output {
    std::vector<std::uint8_t> bits, status;
    std::vector<float> metric;
  };
  const auto prepare = [&](output& o) {
    o = {std::vector<std::uint8_t>(n * items, 9), std::vector<std::uint8_t>(items, 9),
         std::vector<float>(items, -1.f)};
    a.bits = make_view(o.bits.data(), items, n);
    a.status = make_view(o.status.data(), items, std::size_t{1});
    a.metric = make_view(o.metric.data(), items, std::size_t{1});
  };
  output want, got;
  prepare(want);
  const viterbi_op<6, true, 1> alone{a};
  std::vector<float> scratch(alone.scratch(1));
  for (std::size_t i = 0; i < items; i++) alone(item<float>{i, 1}, solo{}, scratch.data());
  EXPECT_EQ(want.status[3], status_erased | status_insufficient);
  EXPECT_EQ(want.status[4], status_erased);
  EXPECT_EQ(want.status[6], 0);

  std::vector<float> memory(emulation::shared_bytes / sizeof(float));
  for (unsigned seed = 0; seed < 2; seed++) {
    prepare(got);
    const op shared(a);
    ASSERT_TRUE(op::takes(a));
    ASSERT_LE(shared.scratch_bytes(32), emulation::shared_bytes);
    std::vector<std::uint64_t> workspace(shared.kept_bytes() / sizeof(std::uint64_t), ~0ull);
    emulation::run(1, 32, seed, memory.data(), [&] {
      for (std::size_t i = 0; i < items; i += op::at_once) {
        const emulated_tile<op::sizes::team> g;
        const int team = static_cast<int>(emulation::thread_index.x) / g.size;
        shared(i, static_cast<int>(std::min<std::size_t>(items - i, op::at_once)), g, team, memory.data(),
               workspace.data());
        emulation::meet(0, 32);
      }
    });
    EXPECT_EQ(got.bits, want.bits) << testing::name_of(code) << " k=" << k << " overlap=" << overlap;
    EXPECT_EQ(got.status, want.status) << testing::name_of(code);
    EXPECT_EQ(got.metric, want.metric) << testing::name_of(code);
  }
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
TEST(viterbi_tile, in_float32_of_known_codes) {
  using half = conv_known_code<0133, 0171>;
  using third = conv_known_code<0133, 0171, 0165>;
  for (const int k : {1, 2, 9, 10, 26, 122, 300}) {  // all phases at the end, and runs of all lengths
    expect_same_float<half>({}, k, 0);
    expect_same_float<half>({.ending = conv_ending::truncated}, k, 0);
    expect_same_float<half>(conv_80211(conv_rate::r3_4), k, 0);
  }
  conv_code punctured = conv_80211(conv_rate::r5_6);
  punctured.ending = conv_ending::tail_biting;
  for (const int k : {8, 40, 97}) {
    expect_same_float<third>(conv_lte(), k, 48);
    expect_same_float<half>({.ending = conv_ending::tail_biting}, k, 47);
    expect_same_float<half>(punctured, k, 13);
  }
}
TEST(viterbi_tile, in_float32_decides_early) {
  using half = conv_known_code<0133, 0171>;
  using third = conv_known_code<0133, 0171, 0165>;
  expect_same_float<half>({}, 1001, 0, 256);
  expect_same_float<half>(conv_80211(conv_rate::r3_4), 700, 0, 128);
  expect_same_float<third>(conv_lte(), 600, 48, 256);
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
