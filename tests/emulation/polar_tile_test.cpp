// The list decoder of polar codes as a CUDA warp runs it, on the host: the same bits as a CPU.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include <warpband/exec/cpu.hpp>
#include <warpband/fec/polar/polar.hpp>

#define WB_ISA emulated_polar
#define WB_WIDTH 1
// clang-format off
#include <tests/emulation/block_group.hpp>
#include <tests/emulation/cuda_words.hpp>
// clang-format on

// What core/short_lane.hpp names and polar codes do not use.
unsigned __vadd2(unsigned, unsigned);
unsigned __vmaxs2(unsigned, unsigned);
unsigned __vmins2(unsigned, unsigned);
unsigned __viaddmax_s16x2(unsigned, unsigned, unsigned);
unsigned __vnegss4(unsigned);
unsigned __byte_perm(unsigned, unsigned, unsigned);

#include <warpband/fec/polar/polar_decode_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

constexpr std::size_t items = 3;

/// Decodes LLRs of noise, half of them with whole numbers, of which many are equal.
template <int L, bool Exact, class T>
void expect_same(const polar_config& code, polar_precision precision, unsigned orders = 3) {
  const polar_decoder decoder(code,
                              {.algorithm = Exact ? polar_algorithm::sum_product : polar_algorithm::min_sum,
                               .list_size = L,
                               .precision = precision,
                               .llr_steps = 4});  // automatic ones are a kernel before
  const std::size_t k = decoder.code().k(), n = decoder.code().coded_bits();
  std::mt19937_64 rng(7);
  std::normal_distribution<float> normal;
  // A long code has its scratch in device memory.
  const std::size_t values = n > 1024 ? std::size_t{1} << 22 : emulation::shared_bytes / sizeof(float);
  std::vector<float> llr(n * items), memory(values);
  for (std::size_t i = 0; i < llr.size(); i++)
    llr[i] = i % 2 == 0 ? 1.5f + 2 * normal(rng) : static_cast<float>(static_cast<int>(rng() % 5) - 1);
  std::vector<std::uint8_t> bits(k * items), status(items), got, got_status;
  for (unsigned seed = 0; seed < orders; seed++) {  // orders in which threads run
    got.assign(k * items, 9);
    got_status.assign(items, 9);
    cpu base({.threads = 1, .instructions = isa::scalar});
    emulation::watched_cpu<polar_decode_args> exec(base, [&](const polar_decode_args& of_cpu) {
      polar_decoding<L, Exact> op{{of_cpu}};
      op.a.bits = make_view(got.data(), items, k);
      op.a.status = make_view(got_status.data(), items, std::size_t{1});
      constexpr int threads = polar_tile<T, L>, tiles = 32 / threads;
      emulation::run(1, 32, seed, memory.data(), [&] {
        const std::size_t tile_index = threadIdx.x / threads;
        for (std::size_t i = tile_index; i < items; i += tiles) {
          const tile<threads> g;
          float* const scratch = memory.data() + tile_index * memory.size() / tiles;
          op.template decode_all<T>(i, 1, g, reinterpret_cast<polar_element<T>*>(scratch));
          g.sync();
        }
      });
    });
    decoder.run(exec, make_view<const float>(llr.data(), items, n),
                {.bits = make_view(bits.data(), items, k),
                 .status = make_view(status.data(), items, std::size_t{1})});
    EXPECT_EQ(got, bits) << "list of " << L << " n=" << n << " seed=" << seed;
    EXPECT_EQ(got_status, status) << "list of " << L << " n=" << n << " seed=" << seed;
  }
}
template <int L>
void expect_same_of_all() {
  for (const polar_config& code : {polar_config{.kind = polar_kind::plain, .k = 53, .coded_bits = 128},
                                   polar_config{.kind = polar_kind::plain, .k = 100, .coded_bits = 250},
                                   // Halves that are decided at once: all frozen, any bits, even parity.
                                   polar_config{.kind = polar_kind::plain, .k = 4, .coded_bits = 64},
                                   polar_config{.kind = polar_kind::plain, .k = 51, .coded_bits = 64},
                                   polar_config{.kind = polar_kind::plain, .k = 41, .coded_bits = 64},
                                   polar_config{.kind = polar_kind::uci, .k = 15, .coded_bits = 40}}) {
    expect_same<L, false, float>(code, polar_precision::float32);
    expect_same<L, true, float>(code, polar_precision::float32);
    expect_same<L, false, whole16>(code, polar_precision::int16);
  }
  // Pointers of more than ten stages.
  const polar_config longer{.kind = polar_kind::general, .k = 1100, .coded_bits = 2048};
  expect_same<L, false, float>(longer, polar_precision::float32, 1);
  expect_same<L, false, whole16>(longer, polar_precision::int16, 1);
}

TEST(polar_tile, a_warp_gives_the_bits_of_a_cpu) {
  expect_same_of_all<1>();
  expect_same_of_all<2>();
  expect_same_of_all<4>();
  expect_same_of_all<8>();
  expect_same_of_all<16>();
  expect_same_of_all<32>();
}

}  // namespace
}  // namespace WB_ISA
}  // namespace wb
