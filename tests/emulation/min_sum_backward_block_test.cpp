// Gradients of min-sum as threads of a CUDA block share a codeword, on the host: the same bits as a CPU, in
// any order in which threads run.
#define WB_ISA emulated_min_sum_backward
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <tests/emulation/block_group.hpp>
#include <tests/sparse_ldpc.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward.hpp>
#include <warpband/fec/sparse_ldpc/min_sum_backward_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

TEST(emulated_min_sum_backward_block, gives_what_a_cpu_gives) {
  const min_sum_backward layers[] = {
      {testing::random_code(4, 9, 5, 4, 2), {.iterations = 3, .factors = {0.5, 0.75}}},
      {testing::random_matrix(40, 20, 5, 3, {.punctured = {0}, .shortened = {5}}),
       {.algorithm = ldpc_algorithm::offset_min_sum, .iterations = 5}}};
  for (const min_sum_backward& d : layers) {
    constexpr std::size_t items = 4;
    constexpr int threads = 32;
    const auto n = static_cast<std::size_t>(d.n()), sent = static_cast<std::size_t>(d.sent()),
               iterations = static_cast<std::size_t>(d.iterations());
    std::mt19937_64 random(3);
    std::normal_distribution<float> noise(1.5f, 2.f);
    std::vector<float> llr(items * sent), given(items * n), memory(emulation::shared_bytes / sizeof(float));
    for (float& x : llr) x = noise(random);
    for (float& x : given) x = noise(random);
    llr[sent] = std::numeric_limits<float>::quiet_NaN();
    given[2 * n + 1] = std::numeric_limits<float>::infinity();
    for (unsigned seed = 0; seed < 3; seed++) {  // orders in which threads run
      std::vector<float> of_llr(sent * items, 9.f), of_correction(iterations * items, 9.f), want_llr(of_llr),
          want_correction(of_correction);
      std::vector<std::uint8_t> status(items, 9), want_status(items, 8);
      cpu base({.threads = 1, .instructions = isa::scalar});
      emulation::watched_cpu<min_sum_backward_args> exec(base, [&](const min_sum_backward_args& of_cpu) {
        min_sum_backward_op op{{of_cpu}};
        op.a.llr_gradient = make_view(of_llr.data(), items, sent);
        op.a.correction_gradient = make_view(of_correction.data(), items, iterations);
        op.a.status = make_view(status.data(), items);
        ASSERT_LE(op.scratch(threads), memory.size());
        std::int32_t word = 0;
        emulation::run(1, static_cast<unsigned>(threads), seed, memory.data(), [&] {
          const emulation::block_group g{threads, &word};
          for (std::size_t i = 0; i < items; i++) {
            op(item<float>{i, 1}, g, emulation::shared);
            g.sync();
          }
        });
      });
      d.run(exec, make_view<const float>(llr.data(), items, sent),
            make_view<const float>(given.data(), items, n),
            {make_view(want_llr.data(), items, sent), make_view(want_correction.data(), items, iterations),
             make_view(want_status.data(), items)});
      EXPECT_EQ(of_llr, want_llr);
      EXPECT_EQ(of_correction, want_correction);
      EXPECT_EQ(status, want_status);
    }
  }
}

}  // namespace

}  // namespace WB_ISA
}  // namespace wb
