// The sum over an OFDM symbol of transform precoding's equaliser, as threads of a CUDA block share it, on the
// host: the same bits as one thread, in any order in which threads run.
#define WB_ISA emulated_nr_rest
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <tests/emulation/block_group.hpp>
#include <warpband/nr/shared_channel_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

/// What core/group.hpp has for a CUDA device.
TEST(emulated_nr_rest_block, gives_what_one_thread_gives) {
  constexpr std::size_t symbols = 3;
  std::vector<float> memory(emulation::shared_bytes / sizeof(float));
  for (const int subcarriers : {12, 36, 300}) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> share;
    std::vector<float> in(symbols * static_cast<std::size_t>(subcarriers)), alone(symbols), found(symbols);
    for (auto& x : in) x = share(random);
    const nr_rest_op one{{{subcarriers, in.data(), alone.data()}}};
    float sums[nr_rest_op::sums];
    for (std::size_t l = 0; l < symbols; l++) one(item<float>{l, 1}, solo{}, sums);
    for (const int threads : {32, 64})
      for (unsigned seed = 0; seed < 3; seed++) {  // orders in which threads run
        const nr_rest_op op{{{subcarriers, in.data(), found.data()}}};
        found.assign(symbols, -1);
        emulation::run(1, static_cast<unsigned>(threads), seed, memory.data(), [&] {
          const emulation::block_group g{threads};
          for (std::size_t l = 0; l < symbols; l++) {
            op(item<float>{l, 1}, g, emulation::shared);
            g.sync();
          }
        });
        EXPECT_EQ(found, alone) << subcarriers << ", " << threads;
      }
  }
}

}  // namespace

}  // namespace WB_ISA
}  // namespace wb
