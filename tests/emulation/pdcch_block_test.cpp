// Candidates of PDCCH as threads of a CUDA block share them, on the host: the same bits as a CPU, in any
// order in which threads run.
#define WB_ISA emulated_pdcch
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <random>
#include <vector>

#include <tests/emulation/block_group.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/nr/pdcch/pdcch.hpp>
#include <warpband/nr/pdcch/pdcch_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

void expect_same_candidates(const pdcch_config& c, unsigned seed, int threads) {
  constexpr std::size_t items = 3;
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  std::vector<std::complex<float>> grids(items * c.elements());
  for (auto& x : grids) x = {normal(random), normal(random)};
  grids[c.elements() + 3] = {std::numeric_limits<float>::quiet_NaN(), 0};  // erases a candidate
  std::vector<float> memory(emulation::shared_bytes / sizeof(float));
  cpu base({.threads = 1, .instructions = isa::scalar});
  int judged = 0;
  emulation::watched_cpu<pdcch_equalise_args> exec(
      base,
      [&](const pdcch_equalise_args& of_cpu) {
        std::vector<float> llr(items * static_cast<std::size_t>(c.coded_bits())),
            numbers(items * pdcch_numbers);
        pdcch_equalise_op op{{of_cpu}};
        op.a.llr = llr.data(), op.a.numbers = numbers.data();
        ASSERT_LE(op.scratch(threads), memory.size());
        emulation::run(1, static_cast<unsigned>(threads), seed, memory.data(), [&] {
          const emulation::block_group g{threads};
          for (std::size_t i = 0; i < items; i++) {
            op(item<float>{i, 1}, g, emulation::shared);
            g.sync();
          }
        });
        EXPECT_EQ(llr, std::vector<float>(of_cpu.llr, of_cpu.llr + llr.size()));
        EXPECT_EQ(numbers, std::vector<float>(of_cpu.numbers, of_cpu.numbers + numbers.size()));
        judged++;
      },
      {.number = 0, .after = true});
  pdcch_decoder({.channel = c, .list_size = 1})
      .run(exec, make_view<const std::complex<float>>(grids.data(), items, c.elements()),
           {{0, 3, 0}, {1, 4, 0}, {2, 5, c.cces() < 2 * c.level ? 0 : c.level}});
  EXPECT_EQ(judged, 1);
}

TEST(emulated_pdcch_block, gives_what_a_cpu_gives) {
  for (unsigned seed = 0; seed < 3; seed++) {  // orders in which threads run
    expect_same_candidates({.blocks = 48, .symbols = 1, .level = 4}, seed, 64);
    expect_same_candidates({.blocks = 96, .symbols = 1, .level = 16}, seed, 64);
    expect_same_candidates({.blocks = 24, .symbols = 3, .reg_bundle = 3, .level = 2}, seed, 128);
    expect_same_candidates({.blocks = 36, .symbols = 2, .interleaved = false, .level = 1}, seed, 32);
  }
}

}  // namespace

}  // namespace WB_ISA
}  // namespace wb
