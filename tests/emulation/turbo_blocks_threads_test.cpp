// What surrounds the turbo code of single blocks, as threads of a CUDA block share it, on the host: the same
// bytes as one thread alone.
#define WB_ISA emulated_turbo_blocks
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <tests/emulation/block_group.hpp>
#include <warpband/fec/blocks/turbo_blocks_op.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/lte/qpp.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

/// The op for one item by so many threads.
template <class Op>
void by_threads(const Op& op, int threads, unsigned seed) {
  std::vector<float> memory(emulation::shared_bytes / sizeof(float));
  ASSERT_LE(op.scratch_bytes(threads), emulation::shared_bytes);
  std::int32_t word = 0;
  emulation::run(1, static_cast<unsigned>(threads), seed, memory.data(),
                 [&] { op(0, 1, emulation::block_group{.size = threads, .word = &word}, memory.data()); });
}
template <class Op>
void alone(const Op& op) {
  std::vector<float> memory(op.scratch_bytes(1) / sizeof(float) + 1);
  op(0, 1, solo{}, memory.data());
}

TEST(turbo_blocks_by_threads, encode_as_one_thread) {
  std::mt19937_64 rng(1);
  // The encoders' table, bit by bit.
  std::vector<std::uint16_t> table;
  for (unsigned i = 0; i < 2048; i++) {
    unsigned r1 = i >> 8 & 1, r2 = i >> 9 & 1, r3 = i >> 10, parity = 0;
    for (int j = 7; j >= 0; j--) {
      const unsigned in = (i >> j & 1) ^ r2 ^ r3;
      parity = 2 * parity + (in ^ r1 ^ r3);
      r3 = r2, r2 = r1, r1 = in;
    }
    table.push_back(static_cast<std::uint16_t>(parity | (r1 | r2 << 1 | r3 << 2) << 8));
  }
  for (const int k : {40, 512, 1056, 6144})
    for (const int degree : {0, 3, 24})
      for (const bool rate_matched : {false, true}) {
        const auto weights = crc_remainders(k, degree == 3 ? crc_polynomial{0xB, 3} : crc24a);
        const auto permutation = qpp_permutation(qpp_for(k));
        std::vector<std::uint8_t> bits(static_cast<std::size_t>(k) / 8);
        for (auto& x : bits) x = static_cast<std::uint8_t>(rng());
        turbo_encode_item block;
        block.bits = bits.data();
        block.length = rate_matched ? 2 * k + 7 : 3 * (k + 4);
        block.first = rate_matched ? k + 3 : 0;
        block.sent = rate_matched ? 4 * k + 5 : 3 * (k + 4);
        block.rate_matched = rate_matched;
        const turbo_block_encode_op op{{{.k = k,
                                         .crc_degree = degree,
                                         .items = &block,
                                         .weights = weights.data(),
                                         .permutation = permutation.data(),
                                         .table = table.data()}}};
        std::vector<std::uint8_t> want(static_cast<std::size_t>(block.sent + 7) / 8, 9), got = want;
        block.out = want.data();
        alone(op);
        block.out = got.data();
        for (const int threads : {32, 128}) {
          std::fill(got.begin(), got.end(), std::uint8_t{9});
          by_threads(op, threads, 5);
          EXPECT_EQ(got, want) << k << " " << degree << " " << rate_matched << " " << threads;
        }
      }
}

TEST(turbo_blocks_by_threads, decoder_gets_and_gives_the_same) {
  std::mt19937_64 rng(2);
  for (const int k : {40, 512, 6144})
    for (const bool streams : {false, true}) {
      const std::size_t n = 3 * (static_cast<std::size_t>(k) + 4);
      std::vector<std::int8_t> llr(n + 3 * 32);
      for (auto& x : llr) x = static_cast<std::int8_t>(rng());
      turbo_decode_item block;
      block.llr = llr.data();
      block.step = 4.f;
      block.kept = k - 3;
      block.streams = streams;
      block.negative = streams;
      std::vector<std::int8_t> want(n, 99), got = want;
      std::vector<float> want_float(n), got_float(n), extrinsic(n);
      turbo_block_input_op input{{{.k = k, .items = &block, .steps = {}, .llr = {}}}};
      input.a.steps = make_view(want.data(), 1, n);
      alone(input);
      input.a.steps = make_view(got.data(), 1, n);
      by_threads(input, 64, 3);
      EXPECT_EQ(got, want);
      input.a.steps = {};
      input.a.llr = make_view(want_float.data(), 1, n);
      alone(input);
      input.a.llr = make_view(got_float.data(), 1, n);
      by_threads(input, 64, 4);
      EXPECT_EQ(got_float, want_float);

      std::vector<std::uint8_t> decided(static_cast<std::size_t>(k)), coded(n), status{0};
      const std::vector<std::int32_t> iterations{5};
      for (auto* v : {&decided, &coded})
        for (auto& x : *v) x = rng() & 1;
      for (float& x : extrinsic) x = static_cast<float>(static_cast<int>(rng() % 128)) - 64.f;
      struct outputs {
        std::vector<std::uint8_t> bits;
        std::vector<std::int8_t> soft;
        turbo_block_record record;
      };
      const auto output = [&](auto run) {
        outputs o{std::vector<std::uint8_t>(static_cast<std::size_t>(k) / 8, 9),
                  std::vector<std::int8_t>(n, 9),
                  {}};
        block.bits = o.bits.data();
        block.soft = o.soft.data();
        run(turbo_block_output_op{{{.k = k,
                                    .items = &block,
                                    .bits = make_view<const std::uint8_t>(decided.data(), 1, decided.size()),
                                    .iterations = make_view(iterations.data(), 1),
                                    .status = make_view<const std::uint8_t>(status.data(), 1),
                                    .llr = make_view<const float>(want_float.data(), 1, n),
                                    .extrinsic = make_view<const float>(extrinsic.data(), 1, n),
                                    .coded = make_view<const std::uint8_t>(coded.data(), 1, n),
                                    .records = &o.record}}});
        return o;
      };
      const outputs one = output([](const auto& op) { alone(op); });
      const outputs shared = output([](const auto& op) { by_threads(op, 64, 5); });
      EXPECT_EQ(shared.bits, one.bits);
      EXPECT_EQ(shared.soft, one.soft);
      EXPECT_EQ(shared.record.iterations, 5);
      EXPECT_EQ(shared.record.status, 0);
    }
}

}  // namespace
}  // namespace WB_ISA
}  // namespace wb
