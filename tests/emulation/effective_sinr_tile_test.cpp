// Effective SINRs as eight threads of a CUDA warp share an item, on the host: the same bits as one thread
// alone.
#define WB_ISA emulated_effective_sinr
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <tests/emulation/emulated_tiles.hpp>
#include <warpband/modem/effective_sinr/effective_sinr_op.hpp>
#include <warpband/modem/effective_sinr/mutual_information.hpp>

namespace wb {
inline namespace WB_ISA {
namespace {

template <bool Exponential>
void expect_same_effective(std::size_t elements, bool mixed, bool decibel) {
  constexpr std::size_t items = 11;
  std::mt19937 random(static_cast<unsigned>(elements));
  std::uniform_real_distribution<float> level(-60, 90), share(0, 2);
  std::vector<float> sinr(items * elements), weight(items * elements), table;
  for (float& g : sinr) g = decibel ? level(random) : std::pow(10.f, level(random) / 10);
  for (float& w : weight) w = share(random);
  sinr[3 * elements] = std::numeric_limits<float>::quiet_NaN();
  weight[4 * elements + elements / 2] = -1;
  for (const int qam : {16, 4})
    for (const double c : information_table(qam, information_kind::symbol))
      table.push_back(static_cast<float>(c));
  std::vector<std::int32_t> offset;
  std::vector<float> bits;
  for (std::size_t e = 0; e < elements; e++) {
    offset.push_back(e % 3 == 0 ? information_grid::intervals * information_grid::values : 0);
    bits.push_back(e % 3 == 0 ? 0.5f : 1.f);
  }
  std::vector<float> got(items, 1), expected(items, 2);
  std::vector<std::uint8_t> got_status(items, 9), expected_status(items, 8);
  effective_sinr_args a;
  a.decibel = decibel;
  a.beta = 2;
  a.beta_db = 3.01029996f;
  a.log_half_bits = std::log(2.f);
  a.table = table.data();
  if (mixed) {
    a.offset = offset.data();
    a.bits = bits.data();
  }
  a.sinr = make_view<const float>(sinr.data(), items, elements);
  a.weight = make_view<const float>(weight.data(), items, elements);
  a.effective = make_view(expected.data(), items, 1);
  a.status = make_view(expected_status.data(), items, 1);
  const effective_sinr_op<Exponential> alone{a};
  for (std::size_t i = 0; i < items; i++) alone(item<float>{i, 1}, solo{}, static_cast<float*>(nullptr));
  a.effective = make_view(got.data(), items, 1);
  a.status = make_view(got_status.data(), items, 1);
  const effective_sinr_op<Exponential> shared{a};
  constexpr int size = effective_sinr_op<Exponential>::tile;
  std::vector<float> memory(emulation::shared_bytes / sizeof(float));
  for (unsigned seed = 0; seed < 2; seed++)
    emulation::run(1, 32, seed, memory.data(), [&] {
      const emulated_tile<size> g;
      for (std::size_t i = emulation::thread_index.x / size; i < items; i += 32 / size) {
        shared(item<float>{i, 1}, g, static_cast<float*>(nullptr));
        g.sync();
      }
    });
  EXPECT_EQ(got_status, expected_status);
  EXPECT_EQ(expected_status[3], 1);
  EXPECT_EQ(expected_status[5], 0);
  EXPECT_EQ(std::memcmp(got.data(), expected.data(), items * sizeof(float)), 0)
      << elements << " elements, mixed " << mixed;
}

TEST(effective_sinr_tile, has_the_bits_of_one_thread) {
  for (const std::size_t elements : {1, 7, 8, 9, 64, 101})
    for (const bool decibel : {false, true}) {
      expect_same_effective<true>(elements, false, decibel);
      expect_same_effective<false>(elements, false, decibel);
      expect_same_effective<false>(elements, true, decibel);
    }
}

}  // namespace
}  // namespace WB_ISA
}  // namespace wb
