// The BCJR decoder of known codes in float32 as threads of a CUDA warp share it, on the host: the same bits
// as one thread alone.
#define WB_ISA emulated_bcjr_known
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <tests/conv.hpp>
#include <tests/emulation/conv_tiles.hpp>
#include <tests/emulation/emulated_tiles.hpp>
#include <warpband/fec/bcjr/bcjr_known_team.hpp>
#include <warpband/fec/bcjr/bcjr_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

/// A known code in float32: two warps' codewords, of which some are erased and one has large LLRs.
template <class M, class Code, bool Prior>
void expect_known(const conv_code& code, int k, int overlap) {
  constexpr std::size_t items = 11;
  const conv_frame frame(code, k);
  const std::size_t n = frame.n(), bits = static_cast<std::size_t>(k);
  std::mt19937_64 rng(2);
  std::normal_distribution<float> noise(2.f, 3.f);
  std::vector<float> llr(n * items), prior(bits * items);
  for (auto* v : {&llr, &prior})
    for (float& x : *v) x = rng() % 2 == 0 ? noise(rng) : -noise(rng);
  const auto row = [&](std::size_t i) { return llr.begin() + static_cast<std::ptrdiff_t>(i * n); };
  std::fill(row(3), row(4), 0.f);
  *(row(5) + static_cast<std::ptrdiff_t>(n / 2)) = std::numeric_limits<float>::quiet_NaN();
  std::transform(row(9), row(10), row(9), [](float x) { return 100 * x; });

  bcjr_args a;
  a.code = frame.on_host();
  a.overlap = overlap;
  a.punctured = n != static_cast<std::size_t>(a.code.steps) * static_cast<std::size_t>(a.code.outputs);
  a.llr = make_view<const float>(llr.data(), items, n);
  if (Prior) a.prior = make_view<const float>(prior.data(), items, bits);
  struct outputs {
    std::vector<float> soft, extrinsic;
    std::vector<std::uint8_t> bits, status;
    bool operator==(const outputs&) const = default;
  };
  const auto cleared = [&] {
    return outputs{std::vector<float>(bits * items, 9.f), std::vector<float>(bits * items, 9.f),
                   std::vector<std::uint8_t>(bits * items, 9), std::vector<std::uint8_t>(items, 9)};
  };
  const auto give = [&](outputs& o) {
    a.soft = make_view(o.soft.data(), items, bits);
    a.extrinsic = make_view(o.extrinsic.data(), items, bits);
    a.bits = make_view(o.bits.data(), items, bits);
    a.status = make_view(o.status.data(), items, std::size_t{1});
  };
  outputs want = cleared();
  give(want);
  const bcjr_op<6, M, false, 1> alone{a};
  std::vector<float> scratch(alone.scratch(1));
  std::vector<std::uint8_t> kinds(items, 9);
  for (std::size_t i = 0; i < items; i++) {
    const auto kind = bcjr_kinds(a, item<float>{i, 1}, solo{}, scratch.data());
    if (!std::is_same_v<M, max_log> && kind != of_usual_llrs) continue;
    kinds[i] = of_usual_llrs;
    alone.decode(item<float>{i, 1}, solo{}, scratch.data());
  }
  if (kinds[3] == of_usual_llrs) {
    EXPECT_EQ(want.status[3], Prior ? 0 : status_erased | status_insufficient);
  }
  EXPECT_EQ(want.status[5], status_erased);

  std::vector<float> memory(emulation::shared_bytes / sizeof(float)),
      device(bcjr_known_memory::device(a.code.steps));
  ASSERT_LE(bcjr_known_memory::shared(a.code.outputs + Prior), static_cast<int>(memory.size()));
  for (unsigned seed = 0; seed < 2; seed++) {
    outputs got = cleared();
    std::vector<std::uint8_t> got_kinds(items, 9);
    give(got);
    a.kinds = got_kinds.data();
    emulation::run(1, 32, seed, memory.data(), [&] {
      const int codeword = static_cast<int>(emulation::thread_index.x) / 4;
      for (std::size_t first = 0; first < items; first += bcjr_known_memory::codewords) {
        const std::size_t index = first + static_cast<std::size_t>(codeword);
        bcjr_known<M, Code, Prior, emulated_tile<4>> decoder(a, {}, codeword, {std::min(index, items - 1), 1},
                                                             index < items, memory.data(), device.data());
        decoder.run();
        emulated_warp{}.sync();
      }
    });
    EXPECT_TRUE(got == want) << testing::name_of(code) << " k=" << k;
    if (!std::is_same_v<M, max_log>) {
      for (std::size_t i = 0; i < items; i++)
        EXPECT_EQ(got_kinds[i] == of_usual_llrs, kinds[i] == of_usual_llrs) << i;
    }
  }
}
template <class M>
void expect_known_codes() {
  using half = conv_known_code<0133, 0171>;
  using third = conv_known_code<0133, 0171, 0165>;
  conv_code truncated, biting;
  truncated.ending = conv_ending::truncated;
  biting.ending = conv_ending::tail_biting;
  expect_known<M, half, false>({}, 150, 0);
  expect_known<M, half, false>({}, 9, 0);  // 15 steps: three stages of four, three of one
  expect_known<M, half, false>({}, 2, 0);
  expect_known<M, half, true>({}, 75, 0);
  expect_known<M, half, false>(truncated, 48, 0);
  expect_known<M, half, false>(biting, 50, 40);
  expect_known<M, half, false>(conv_80211(conv_rate::r3_4), 97, 0);
  expect_known<M, half, true>(conv_80211(conv_rate::r5_6), 64, 0);
  expect_known<M, third, false>(conv_lte(), 97, 48);
  expect_known<M, third, true>(conv_lte(), 33, 200);
}
TEST(bcjr_tile, of_known_codes_in_float) {
  expect_known_codes<log_map>();
  expect_known_codes<max_log>();
}

}  // namespace
}  // namespace WB_ISA
}  // namespace wb
