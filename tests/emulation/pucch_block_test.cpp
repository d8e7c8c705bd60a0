// PUCCH of formats 2 to 4 as threads of a CUDA block share an occasion, on the host: the same bits as a CPU,
// in any order in which threads run.
#define WB_ISA emulated_pucch
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

#include <tests/emulation/block_group.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/nr/pucch/pucch.hpp>
#include <warpband/nr/pucch/pucch_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

void expect_same_pucch(const pucch_config& config, int threads) {
  const pucch_detector d(config);
  constexpr std::size_t items = 3;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<std::complex<float>> values(items * d.values());
  for (auto& z : values) z = {normal(random), normal(random)};
  values[d.values() + 1] = {1e20f, 0};
  std::vector<float> memory(emulation::shared_bytes / sizeof(float));
  cpu base({.threads = 1, .instructions = isa::scalar});
  emulation::watched_cpu<pucch_equalise_args> exec(
      base,
      [&](const pucch_equalise_args& of_cpu) {
        for (unsigned seed = 0; seed < 3; seed++) {  // orders in which threads run
          pucch_equalise_op op{{of_cpu}};
          std::vector<float> llr(items * of_cpu.llr.elements), numbers(items * pucch_numbers);
          op.a.llr = make_view(llr.data(), items, of_cpu.llr.elements);
          op.a.numbers = make_view(numbers.data(), items, pucch_numbers);
          ASSERT_LE(op.scratch(threads), memory.size());
          emulation::run(1, static_cast<unsigned>(threads), seed, memory.data(), [&] {
            const emulation::block_group g{threads};
            for (std::size_t i = 0; i < items; i++) {
              op(item<float>{i, 1}, g, emulation::shared);
              g.sync();
            }
          });
          for (std::size_t i = 0; i < items; i++) {
            for (std::size_t e = 0; e < of_cpu.llr.elements; e++)
              ASSERT_EQ(llr[i * of_cpu.llr.elements + e],
                        of_cpu.llr.data[i * of_cpu.llr.item_stride + e * of_cpu.llr.element_stride])
                  << i << " " << e;
            for (std::size_t n = 0; n < pucch_numbers; n++)
              ASSERT_EQ(
                  numbers[i * pucch_numbers + n],
                  of_cpu.numbers.data[i * of_cpu.numbers.item_stride + n * of_cpu.numbers.element_stride]);
          }
        }
      },
      {.number = 0, .after = true});
  d.run(exec, make_view<const std::complex<float>>(values.data(), items, d.values()), {3, 1, 2}, {});
}

TEST(emulated_pucch_block, gives_what_a_cpu_gives) {
  for (const int threads : {32, 128}) {
    expect_same_pucch({.format = 2, .symbols = 2, .prbs = 3, .hopping = true, .bits = 11, .antennas = 2},
                      threads);
    expect_same_pucch(
        {.format = 3, .symbols = 12, .prbs = 2, .additional_dmrs = true, .bits = 12, .antennas = 3}, threads);
    expect_same_pucch(
        {.format = 4, .symbols = 5, .hopping = true, .occ = 1, .spreading = 4, .pi2_bpsk = true, .bits = 4},
        threads);
    expect_same_pucch({.format = 3, .symbols = 8, .bits = 5, .csi2_bits = 6, .max_code_rate = 0.15}, threads);
    expect_same_pucch({.format = 4, .symbols = 8, .bits = 5, .csi2_bits = 4, .max_code_rate = 0.35}, threads);
  }
}

}  // namespace

}  // namespace WB_ISA
}  // namespace wb
