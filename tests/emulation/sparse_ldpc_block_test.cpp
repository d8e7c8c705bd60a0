// The decoder for parity-check matrices without structure as threads of a CUDA block share a codeword, on the
// host: the same bits as a CPU, in any order in which threads run.
#define WB_ISA emulated_sparse_ldpc
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <tests/emulation/block_group.hpp>
#include <tests/sparse_ldpc.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

template <template <class> class Rule>
void expect_same(const parity_check_matrix& h, const sparse_ldpc_config& config, int threads) {
  const sparse_ldpc_decoder d(h, config);
  constexpr std::size_t items = 4;
  const auto n = static_cast<std::size_t>(h.n()), sent = static_cast<std::size_t>(h.sent()),
             checks = static_cast<std::size_t>(h.checks());
  std::mt19937_64 random(3);
  std::normal_distribution<float> noise(1.5f, 2.f);
  std::vector<float> llr(items * sent), memory(emulation::shared_bytes / sizeof(float));
  for (float& x : llr) x = noise(random);
  llr[sent] = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::uint8_t> syndrome(items * checks);
  for (auto& s : syndrome) s = random() % 8 == 0;
  for (unsigned seed = 0; seed < 3; seed++) {  // orders in which threads run
    std::vector<float> got(n * items, 9.f);
    std::vector<std::uint8_t> bits(n * items, 9), status(items, 9);
    std::vector<std::int32_t> iterations(items, 99);
    cpu base({.threads = 1, .instructions = isa::scalar});
    emulation::watched_cpu<sparse_ldpc_args> exec(base, [&](const sparse_ldpc_args& of_cpu) {
      sparse_ldpc_decode_op<Rule> op{{of_cpu}};
      op.a.soft = make_view(got.data(), items, n);
      op.a.bits = make_view(bits.data(), items, n);
      op.a.iterations_used = make_view(iterations.data(), items);
      op.a.status = make_view(status.data(), items);
      op.a.extrinsic = {};
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
    const testing::sparse_decoded want = testing::decode_sparse(exec, d, llr, syndrome);
    EXPECT_EQ(got, want.soft);
    EXPECT_EQ(bits, want.bits);
    EXPECT_EQ(iterations, want.iterations);
    EXPECT_EQ(status, want.status);
  }
}

TEST(emulated_sparse_ldpc_block, gives_what_a_cpu_gives) {
  const parity_check_matrix matrices[] = {
      testing::random_matrix(90, 45, 6, 1), testing::random_matrix(150, 12, 80, 2),
      testing::random_matrix(70, 60, 5, 3, {.punctured = {0}, .shortened = {5, 69}})};
  for (const parity_check_matrix& h : matrices)
    for (const auto schedule : {ldpc_schedule::layered, ldpc_schedule::flooding}) {
      expect_same<wb::WB_ISA::min_sum>(
          h, {.algorithm = ldpc_algorithm::normalised_min_sum, .iterations = 6, .schedule = schedule}, 32);
      expect_same<sparse_sum_product>(
          h, {.algorithm = ldpc_algorithm::sum_product, .iterations = 6, .schedule = schedule}, 64);
    }
}

TEST(emulated_sparse_ldpc_block, encodes_as_a_cpu_does) {
  // Dense sums alone, with sums of rows, and a chain of sums, an accumulator.
  std::vector<std::vector<int>> chain;
  for (int i = 0; i < 40; i++) {
    chain.push_back({i % 10, (3 * i + 1) % 10, 10 + i});
    if (chain.back()[0] == chain.back()[1]) chain.back().erase(chain.back().begin());
    if (i > 0) chain.back().push_back(9 + i);
  }
  // Two chains side by side, a bit that needs both, and a chain behind it.
  std::vector<std::vector<int>> joined;
  for (int i = 0; i < 40; i++) {
    joined.push_back({i % 10, 10 + i});
    if (i > 1) joined.back().push_back(8 + i);
  }
  joined.push_back({48, 49, 50});
  for (int i = 0; i < 45; i++) joined.push_back({(7 * i) % 10, 50 + i, 51 + i});
  const parity_check_matrix matrices[] = {
      testing::random_matrix(90, 45, 6, 1),
      testing::random_matrix(70, 60, 5, 3, {.punctured = {0}, .shortened = {5, 69}}),
      {50, chain},
      {96, joined}};
  for (const parity_check_matrix& h : matrices) {
    constexpr std::size_t items = 3;
    const auto k = static_cast<std::size_t>(h.k()), sent = static_cast<std::size_t>(h.sent());
    std::mt19937_64 random(4);
    std::vector<std::uint8_t> bits(items * k);
    for (auto& b : bits) b = static_cast<std::uint8_t>(random());
    std::vector<float> memory(emulation::shared_bytes / sizeof(float));
    for (unsigned seed = 0; seed < 3; seed++) {
      std::vector<std::uint8_t> got(items * (sent + 1), 9), want(items * (sent + 1), 7);
      cpu base({.threads = 1, .instructions = isa::scalar});
      emulation::watched_cpu<sparse_ldpc_encode_args> exec(base, [&](const sparse_ldpc_encode_args& of_cpu) {
        sparse_ldpc_encode_op op{{of_cpu}};
        op.a.coded = make_view(got.data(), items, sent + 1);
        ASSERT_LE(op.scratch(32), memory.size());
        std::int32_t word = 0;
        emulation::run(1, 32, seed, memory.data(), [&] {
          const emulation::block_group g{32, &word};
          for (std::size_t i = 0; i < items; i++) {
            op(item<float>{i, 1}, g, emulation::shared);
            g.sync();
          }
        });
      });
      sparse_ldpc_encoder(h).run(exec, make_view<const std::uint8_t>(bits.data(), items, k),
                                 make_view(want.data(), items, sent + 1));
      EXPECT_EQ(got, want);
      for (std::size_t i = 0; i < items && sent == static_cast<std::size_t>(h.n()); i++) {
        const auto from = got.begin() + static_cast<std::ptrdiff_t>(i * (sent + 1));
        const std::vector<std::uint8_t> word(from, from + h.n());
        EXPECT_EQ(oracle::syndrome(testing::as_oracle(h), word),
                  std::vector<std::uint8_t>(static_cast<std::size_t>(h.checks())));
      }
    }
  }
}

}  // namespace

}  // namespace WB_ISA
}  // namespace wb
