// Decoders of the base graphs: every backend and every place of the messages gives the same bits.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <utility>

#include <tests/ldpc.hpp>
#include <warpband/fec/ldpc/ldpc_nr.hpp>

namespace wb {
namespace nr_decoders_test {

using namespace testing;

class nr_decoders : public on_backend {};
WB_ON_ALL_BACKENDS(nr_decoders);

/// Noisy words of zeros. Of five the second has a value that is not a number, and the fourth nothing but
/// zeros.
std::vector<float> words_of(const ldpc_code& code, float noise, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(2.f, noise);
  const auto n = static_cast<std::size_t>(code.n());
  std::vector<float> llr(5 * n);
  for (float& x : llr) x = 2.f * normal(random);
  llr[n + n / 2] = std::numeric_limits<float>::quiet_NaN();
  std::fill_n(llr.begin() + static_cast<std::ptrdiff_t>(3 * n), n, 0.f);
  return llr;
}

TEST_P(nr_decoders, give_the_same_bits_for_any_rows) {
  const auto reference = open_reference();
  struct size {
    int graph, z;
    std::vector<int> rows;
  };
  // 1, 384 has messages in registers up to 8 rows, in shared memory up to 22, and behind that in device
  // memory too on an H100; 1, 320 from 27 rows on.
  for (const size& s : {size{1, 384, {4, 7, 9, 23, 46}}, size{1, 320, {5, 46}}, size{1, 22, {4, 21, 46}},
                        size{2, 384, {4, 18, 42}}, size{2, 15, {4, 16, 42}}})
    for (const int rows : s.rows) {
      if (small_scale() && s.z > 30) continue;
      const ldpc_code code = nr_ldpc(s.graph, s.z, rows);
      for (const auto precision : {ldpc_precision::float16, ldpc_precision::int8})
        for (const auto early_stop : {ldpc_early_stop::none, ldpc_early_stop::syndrome}) {
          const ldpc_decoder d(code, {.iterations = 4, .precision = precision, .early_stop = early_stop});
          const auto llr = words_of(code, rows > 10 ? 1.6f : 1.f, static_cast<std::uint64_t>(rows + s.z));
          const auto got = decode_words(exec(), d, llr), want = decode_words(*reference, d, llr);
          ASSERT_TRUE(got == want) << "graph " << s.graph << ", z " << s.z << ", rows " << rows << ", int8 "
                                   << (precision == ldpc_precision::int8) << ", early stop "
                                   << (early_stop != ldpc_early_stop::none);
          ASSERT_EQ(got.status[1], status_erased);
          ASSERT_EQ(got.status[3], status_erased | status_insufficient);
        }
    }
}

/// More words than blocks that work at once. Blocks fetch the LLRs of their next words where there is room;
/// with 12 rows some messages lie behind them, with 46 rows in device memory.
TEST_P(nr_decoders, take_any_number_of_words) {
  for (const auto& [z, rows] : {std::pair{384, 8}, std::pair{384, 12}, std::pair{384, 46}, std::pair{208, 5}})
    for (const auto precision : {ldpc_precision::float16, ldpc_precision::int8}) {
      const ldpc_code code = nr_ldpc(1, z, rows);
      const std::size_t words = small_scale() ? 3 : 401, n = static_cast<std::size_t>(code.n());
      const auto five = words_of(code, 1.8f, 9);
      std::vector<float> llr;
      for (std::size_t i = 0; i < words; i++)
        llr.insert(llr.end(), five.begin() + static_cast<std::ptrdiff_t>(i % 5 * n),
                   five.begin() + static_cast<std::ptrdiff_t>((i % 5 + 1) * n));
      const ldpc_decoder d(code,
                           {.iterations = 2, .precision = precision, .early_stop = ldpc_early_stop::none});
      const auto got = decode_words(exec(), d, llr), few = decode_words(exec(), d, five);
      for (std::size_t i = 0; i < words; i++)
        ASSERT_TRUE(got.rows(i, 1) == few.rows(i % 5, 1)) << "z " << z << ", rows " << rows << ", word " << i;
    }
}

}  // namespace nr_decoders_test
}  // namespace wb
