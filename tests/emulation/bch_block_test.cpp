// BCH codes as threads of a CUDA block share a word, on the host: the same bits as a CPU, in any order in
// which threads run.
#define WB_ISA emulated_bch
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <tests/emulation/block_group.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/fec/bch/bch.hpp>
#include <warpband/fec/bch/bch_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

template <class Op>
void run_block(Op op, std::size_t items, unsigned seed) {
  constexpr unsigned threads = 32;
  std::vector<float> memory(emulation::shared_bytes / sizeof(float));
  std::int32_t word = 0;
  emulation::run(1, threads, seed, memory.data(), [&] {
    const emulation::block_group g{static_cast<int>(threads), &word};
    for (std::size_t i = 0; i < items; i++) {
      op(item<float>{i, 1}, g, emulation::shared);
      g.sync();
    }
  });
}

TEST(emulated_bch_block, gives_what_a_cpu_gives) {
  using bytes = std::vector<std::uint8_t>;
  for (const bch_config& config : {bch_config{.field_degree = 6, .corrects = 4, .n = 61},
                                   bch_config{.field_degree = 8, .corrects = 12, .n = 255}}) {
    const bch_code code(config);
    constexpr std::size_t items = 18;
    const auto n = static_cast<std::size_t>(code.n()), k = static_cast<std::size_t>(code.k());
    std::mt19937_64 random(1);
    bytes bits(items * k);
    for (auto& b : bits) b = static_cast<std::uint8_t>(random());
    for (unsigned seed = 0; seed < 2; seed++) {  // orders in which threads run
      cpu base({.threads = 1, .instructions = isa::scalar});
      bytes words(items * n), blocks_words(items * n, 9);
      emulation::watched_cpu<bch_encode_args> encoding(base, [&](const bch_encode_args& of_cpu) {
        bch_encode_op op{{of_cpu}};
        op.a.coded = make_view(blocks_words.data(), items, n);
        run_block(op, items, seed);
      });
      bch_encoder(code).run(encoding, make_view<const std::uint8_t>(bits.data(), items, k),
                            make_view(words.data(), items, n));
      EXPECT_EQ(words, blocks_words);
      for (std::size_t i = 0; i < items; i++)
        for (std::size_t e = 0; e < i; e++) words[i * n + (13 * i + 7 * e) % n] ^= 1;
      bytes decided(items * k), status(items), block_bits(items * k, 9), block_status(items, 9);
      std::vector<std::int32_t> corrected(items), block_corrected(items, 99);
      emulation::watched_cpu<bch_decode_args> decoding(base, [&](const bch_decode_args& of_cpu) {
        bch_decode_op op{{of_cpu}};
        op.a.bits = make_view(block_bits.data(), items, k);
        op.a.status = make_view(block_status.data(), items);
        op.a.corrected = make_view(block_corrected.data(), items);
        run_block(op, items, seed);
      });
      bch_decoder(code).run(decoding, make_view<const std::uint8_t>(words.data(), items, n),
                            {.bits = make_view(decided.data(), items, k),
                             .corrected = make_view(corrected.data(), items),
                             .status = make_view(status.data(), items)});
      EXPECT_EQ(decided, block_bits);
      EXPECT_EQ(status, block_status);
      EXPECT_EQ(corrected, block_corrected);
    }
  }
}

}  // namespace

}  // namespace WB_ISA
}  // namespace wb
