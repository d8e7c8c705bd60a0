// The decoder of duo-binary turbo codes with its windows on the threads of a CUDA warp, on the host: the same
// bits as a CPU, in any order in which threads run.
#include <gtest/gtest.h>

#include <vector>

#include <tests/ctc.hpp>
#include <warpband/exec/cpu.hpp>

#define WB_ISA emulated_ctc
#define WB_WIDTH 1
// clang-format off
#include <tests/emulation/block_group.hpp>
#include <tests/emulation/cuda_words.hpp>
// clang-format on

#include <warpband/fec/ctc/ctc_op.hpp>
#include <warpband/fec/trellis/max_star_table.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

constexpr std::size_t items = 3;

template <class M>
void expect_same(const ctc_config& code, const ctc_decoder_config& config, float factor) {
  const ctc_decoder decoder(code, config);
  const std::size_t k = decoder.k(), n = decoder.n();
  std::vector<float> llr = testing::make_ctc_words(code, items, -2, 3).llr;
  for (std::size_t i = 0; i < n; i++) llr[i] *= factor;  // one word alone
  std::vector<float> memory(emulation::shared_bytes / sizeof(float)), soft(k * items), got_soft,
      coded(n * items), got_coded;
  std::vector<std::uint8_t> bits(k * items), got;
  std::vector<std::int32_t> iterations(items), got_iterations;
  for (unsigned seed = 0; seed < 3; seed++) {  // orders in which threads run
    got.assign(k * items, 9);
    got_soft.assign(k * items, 9.f);
    got_coded.assign(n * items, 9.f);
    got_iterations.assign(items, 99);
    cpu base({.threads = 1, .instructions = isa::scalar});
    emulation::watched_cpu<ctc_decode_args> exec(base, [&](const ctc_decode_args& of_cpu) {
      ctc_decode_op<M, true> op{{of_cpu}};
      op.a.bits = make_view(got.data(), items, k);
      op.a.soft = make_view(got_soft.data(), items, k);
      op.a.coded = make_view(got_coded.data(), items, n);
      op.a.iterations_used = make_view(got_iterations.data(), items, std::size_t{1});
      emulation::run(1, 32, seed, memory.data(), [&] {
        const tile<32> g;
        for (std::size_t i = 0; i < items; i++) {
          op(item<float>{i, 1}, g, memory.data());
          g.sync();
        }
      });
    });
    decoder.run(exec, make_view<const float>(llr.data(), items, n),
                {.bits = make_view(bits.data(), items, k),
                 .soft = make_view(soft.data(), items, k),
                 .coded_extrinsic = make_view(coded.data(), items, n),
                 .iterations = make_view(iterations.data(), items, std::size_t{1})});
    EXPECT_EQ(got, bits) << "k=" << k << " seed=" << seed;
    EXPECT_EQ(got_soft, soft) << "k=" << k << " seed=" << seed;
    EXPECT_EQ(got_coded, coded) << "k=" << k << " seed=" << seed;
    EXPECT_EQ(got_iterations, iterations) << "k=" << k << " seed=" << seed;
  }
}

TEST(ctc_tile, threads_with_windows_give_the_bits_of_a_cpu) {
  const ctc_config wimax{.k = 96, .rate = ctc_rate::r1_2}, rcs{.standard = ctc_standard::dvb_rcs, .k = 440};
  for (ctc_decoder_config config :
       {ctc_decoder_config{.iterations = 3, .windows = 1},
        {.iterations = 3, .windows = 6, .overlap = 5},
        {.iterations = 6, .windows = 5, .overlap = 0, .early_stop = ctc_early_stop::sign_agreement}}) {
    expect_same<log_map>(wimax, config, 1);
    expect_same<log_map>(rcs, config, 30);
    config.algorithm = map_algorithm::log_map_table;
    expect_same<max_star_table>(rcs, config, 1);
    config.algorithm = map_algorithm::max_log_map;
    config.extrinsic_scale = 0.75f;
    expect_same<max_log>(wimax, config, 1e10f);
  }
  expect_same<log_map>(rcs, {.iterations = 2, .windows = 27}, 1);
}

}  // namespace
}  // namespace WB_ISA
}  // namespace wb
