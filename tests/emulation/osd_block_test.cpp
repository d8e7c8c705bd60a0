// Ordered-statistics decoding as threads of a CUDA block share a word, on the host: the same bits as a CPU,
// in any order in which threads run.
#define WB_ISA emulated_osd
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <tests/emulation/block_group.hpp>
#include <tests/sparse_ldpc.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/fec/osd/osd.hpp>
#include <warpband/fec/osd/osd_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

void expect_same_osd(const parity_check_matrix& h, const bp_osd_config& config, bool words, int threads) {
  const bp_osd d(h, config);
  constexpr std::size_t items = 5;
  const auto n = static_cast<std::size_t>(h.n()), checks = static_cast<std::size_t>(h.checks());
  std::mt19937_64 random(3);
  std::normal_distribution<float> noise(1.f, 1.5f);
  std::vector<float> llr(items * n), memory(emulation::shared_bytes / sizeof(float));
  for (float& x : llr) x = std::nearbyint(4 * noise(random)) / 4;  // ties
  std::vector<std::uint8_t> syndrome;
  for (std::size_t i = 0; i < items; i++) {
    std::vector<std::uint8_t> error(n);
    for (auto& e : error) e = random() % 8 == 0;
    const auto s = oracle::syndrome(testing::as_oracle(h), error);
    syndrome.insert(syndrome.end(), s.begin(), s.end());
  }
  syndrome[5] ^= 1;                            // of an empty row
  for (unsigned seed = 0; seed < 3; seed++) {  // orders in which threads run
    std::vector<std::uint8_t> bits(items * n), status(items), want_bits(items * n), want_status(items);
    cpu base({.threads = 1, .instructions = isa::scalar});
    emulation::watched_cpu<osd_args> exec(
        base,
        [&](const osd_args& of_cpu) {
          osd_op op{{of_cpu}};
          for (std::size_t i = 0; i < items; i++) {  // what belief propagation left
            status[i] = of_cpu.status.data[i];
            for (std::size_t c = 0; c < n; c++) bits[i * n + c] = of_cpu.bits.data[i * n + c];
          }
          op.a.bits = make_view(bits.data(), items, n);
          op.a.status = make_view(status.data(), items);
          ASSERT_LE(op.scratch_bytes(threads), memory.size() * sizeof(float));
          ASSERT_EQ(op.scratch_bytes(threads) % 16, 0u);
          emulation::run(1, static_cast<unsigned>(threads), seed, memory.data(), [&] {
            const emulation::block_group g{threads};
            for (std::size_t i = 0; i < items; i++) {
              op(i, 1, g, emulation::shared);
              g.sync();
            }
          });
        },
        {.number = 1});
    d.run(exec, make_view<const float>(llr.data(), items, n),
          {.bits = make_view(want_bits.data(), items, n), .status = make_view(want_status.data(), items)},
          words ? view<const std::uint8_t>{} : make_view<const std::uint8_t>(syndrome.data(), items, checks));
    exec.sync();
    EXPECT_EQ(bits, want_bits);
    EXPECT_EQ(status, want_status);
    EXPECT_GT(std::count(status.begin(), status.end(), status_osd), 0);
    if (!words) {
      EXPECT_EQ(want_status[0], status_erased | status_inconsistent);
    }
  }
}

TEST(emulated_osd_block, gives_what_a_cpu_gives) {
  const parity_check_matrix matrices[] = {testing::random_matrix(90, 45, 6, 1),
                                          testing::random_matrix(70, 80, 5, 2)};
  for (const parity_check_matrix& h : matrices)
    for (const auto method : {osd_method::osd_0, osd_method::osd_e, osd_method::osd_cs})
      for (const bool words : {false, true})
        expect_same_osd(h, {.max_iter = 1, .osd_method = method, .osd_order = 6}, words, words ? 32 : 64);
}

}  // namespace

}  // namespace WB_ISA
}  // namespace wb
