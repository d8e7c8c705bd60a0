// Extrinsic LLRs of the coded bits of a convolutional code: against enumeration of codewords, against the
// oracle, and on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <tests/conv.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/bcjr/bcjr.hpp>

namespace wb {
namespace bcjr_coded_test {

using testing::bit_vector;
using testing::conv_codewords_with_priors;
using testing::name_of;
using testing::on_device;
using testing::oracle_of;
using testing::row_of;
using testing::small_scale;

class bcjr_coded : public testing::on_backend {};
WB_ON_ALL_BACKENDS(bcjr_coded);

constexpr map_algorithm both[] = {map_algorithm::max_log_map, map_algorithm::log_map};
oracle::algorithm by_oracle(map_algorithm a) {
  return a == map_algorithm::log_map ? oracle::algorithm::log_map : oracle::algorithm::max_log;
}
std::vector<double> doubles(const std::vector<float>& x) { return {x.begin(), x.end()}; }

struct outputs {
  std::vector<float> coded, soft, extrinsic;
  bit_vector bits, status;
};
outputs decode(executor& e, const bcjr_decoder& d, const std::vector<float>& llr,
               const std::vector<float>& prior = {}) {
  const std::size_t k = static_cast<std::size_t>(d.config().k), n = d.frame().n(), items = llr.size() / n;
  auto in = on_device(e, llr, items, n);
  auto coded = on_device(e, std::vector<float>(n * items, 1e33f), items, n);
  auto soft = e.make<float>(items, k), extrinsic = e.make<float>(items, k);
  auto bits = e.make<std::uint8_t>(items, k), status = e.make<std::uint8_t>(items, 1);
  const bcjr_output out{
      .bits = bits, .soft = soft, .extrinsic = extrinsic, .coded_extrinsic = coded, .status = status};
  if (prior.empty())
    d.run(e, in, out);
  else
    d.run(e, in, on_device(e, prior, items, k), out);
  return {e.to_host(coded), e.to_host(soft), e.to_host(extrinsic), e.to_host(bits), e.to_host(status)};
}

// ---------------------------------------------------------------- enumeration

TEST_P(bcjr_coded, log_map_gives_the_marginals_of_all_codewords) {
  std::mt19937_64 rng(1);
  std::normal_distribution<float> normal(0.f, 1.5f);
  for (const conv_code& code : testing::many_codes()) {
    if (code.ending == conv_ending::tail_biting) continue;
    const std::size_t k = 9;
    const bcjr_decoder d({.code = code, .k = static_cast<int>(k)});
    const std::size_t n = d.frame().n();
    std::vector<float> llr, prior;
    for (std::size_t i = 0; i < n; i++) llr.push_back(normal(rng));
    for (std::size_t i = 0; i < k; i++) prior.push_back(normal(rng));
    std::vector<double> sums[2]{std::vector<double>(n), std::vector<double>(n)};
    for (unsigned value = 0; value < 1u << k; value++) {
      bit_vector u;
      for (std::size_t i = 0; i < k; i++) u.push_back(value >> i & 1);
      const auto word = testing::ordered(code, oracle::conv_encode(oracle_of(code), u));
      double log_weight = 0;
      for (std::size_t i = 0; i < k; i++) log_weight -= u[i] ? static_cast<double>(prior[i]) : 0.0;
      for (std::size_t i = 0; i < n; i++) log_weight -= word[i] ? static_cast<double>(llr[i]) : 0.0;
      for (std::size_t i = 0; i < n; i++)
        sums[word[i]][i] += std::exp(log_weight + (word[i] ? static_cast<double>(llr[i]) : 0.0));
    }
    const auto got = decode(exec(), d, llr, prior).coded;
    for (std::size_t i = 0; i < n; i++) {
      if (sums[0][i] == 0 || sums[1][i] == 0)
        EXPECT_GT(got[i] * (sums[1][i] == 0 ? 1.f : -1.f), 10.f) << name_of(code) << ", bit " << i;
      else
        EXPECT_NEAR(static_cast<double>(got[i]), std::log(sums[0][i] / sums[1][i]), 1e-4)
            << name_of(code) << ", bit " << i;
    }
  }
}

// ---------------------------------------------------------------- the oracle

TEST_P(bcjr_coded, equals_the_oracle) {
  for (const conv_code& code : testing::many_codes()) {
    if (code.ending == conv_ending::tail_biting) continue;
    const std::size_t k = 70, count = small_scale() ? 1 : 3;
    const auto w = conv_codewords_with_priors(code, k, count, -3, 2);
    const std::size_t n = w.llr.size() / count;
    for (const auto algorithm : both)
      for (const bool with_prior : {false, true}) {
        const bcjr_decoder d({.code = code, .k = static_cast<int>(k), .algorithm = algorithm});
        const auto got = decode(exec(), d, w.llr, with_prior ? w.prior : std::vector<float>{}).coded;
        for (std::size_t b = 0; b < count; b++) {
          const auto want =
              oracle::conv_bcjr(oracle_of(code), doubles(row_of(w.llr, b, n)),
                                with_prior ? doubles(row_of(w.prior, b, k)) : std::vector<double>(k, 0.0),
                                static_cast<int>(k), by_oracle(algorithm));
          for (std::size_t i = 0; i < n; i++) {
            const double L = want.coded[i], channel = static_cast<double>(w.llr[b * n + i]);
            // In log-MAP weights are at least 2^-60 = e^-41.6 of the largest, metrics 2^-63 = e^-43.7, also
            // those of states that cannot be near the ends: several of them have part in a sum.
            if (!(std::abs(L) < 36)) {
              ASSERT_GT((static_cast<double>(got[b * n + i]) + channel) * (L > 0 ? 1 : -1), 30.0)
                  << name_of(code) << ", bit " << i;
              continue;
            }
            const double floor = algorithm == map_algorithm::log_map ? 32 * std::exp(std::abs(L) - 41.6) : 0;
            ASSERT_NEAR(static_cast<double>(got[b * n + i]), L - channel,
                        3e-4 + 3e-5 * (std::abs(L) + std::abs(channel)) + floor)
                << name_of(code) << ", bit " << i << ", prior " << with_prior << ", log "
                << (algorithm == map_algorithm::log_map);
          }
        }
      }
  }
}

TEST_P(bcjr_coded, tail_biting_is_close_to_the_sum_over_all_start_states) {
  for (const auto& code :
       {conv_lte(), conv_80216(conv_rate::r1_2, conv_ending::tail_biting),
        conv_code{.constraint_length = 3, .generators = {07, 05}, .ending = conv_ending::tail_biting}}) {
    conv_code serial = code;
    serial.order = conv_order::serial;
    const std::size_t k = 100, count = 2;
    const auto w = conv_codewords_with_priors(serial, k, count, 1, 3);
    const std::size_t n = w.llr.size() / count;
    for (const auto algorithm : both) {
      const auto got = decode(
          exec(), bcjr_decoder({.code = serial, .k = static_cast<int>(k), .algorithm = algorithm}), w.llr);
      for (std::size_t b = 0; b < count; b++) {
        const auto llr = row_of(w.llr, b, n);
        const auto want =
            oracle::conv_bcjr(oracle_of(serial), doubles(llr), {}, static_cast<int>(k), by_oracle(algorithm));
        for (std::size_t i = 0; i < n; i++) {
          // Paths that do not close count too: large LLRs come out smaller.
          const double L = static_cast<double>(got.coded[b * n + i] + llr[i]);
          ASSERT_NEAR(std::clamp(L, -15., 15.), std::clamp(want.coded[i], -15., 15.), 0.05)
              << name_of(code) << ", bit " << i;
        }
      }
    }
  }
}

TEST_P(bcjr_coded, large_and_small_llrs_are_the_oracles) {
  for (const float scale : {20.f, 0.05f})
    for (const conv_code& code : {conv_80211(conv_rate::r1_2), conv_80211(conv_rate::r3_4),
                                  conv_recursive(5, 023, {033}), conv_80211(conv_rate::r5_6)}) {
      const std::size_t k = 40;
      auto w = conv_codewords_with_priors(code, k, 1, 0, 4);
      for (float& x : w.llr) x *= scale;
      const auto got = decode(exec(), bcjr_decoder({.code = code, .k = static_cast<int>(k)}), w.llr).coded;
      const auto want = oracle::conv_bcjr(oracle_of(code), doubles(w.llr), std::vector<double>(k, 0.0),
                                          static_cast<int>(k), oracle::algorithm::log_map)
                            .coded;
      for (std::size_t i = 0; i < got.size(); i++) {
        const double channel = static_cast<double>(w.llr[i]);
        if (!(std::abs(want[i]) < (scale < 1 ? 14. : 1e5)))
          ASSERT_GT((static_cast<double>(got[i]) + channel) * (want[i] > 0 ? 1 : -1), 10.0) << name_of(code);
        else
          ASSERT_NEAR(static_cast<double>(got[i]), want[i] - channel,
                      scale < 1 ? 1e-4 : 1.0 + 1e-3 * std::abs(want[i]))
              << name_of(code) << ", scale " << scale << ", bit " << i;
      }
    }
}

// ---------------------------------------------------------------- limit cases

TEST_P(bcjr_coded, a_systematic_bit_has_what_its_information_bit_has) {
  const conv_code code = conv_recursive(4, 013, {015, 017});
  const std::size_t k = 60, outputs_of_step = 3;
  const auto w = conv_codewords_with_priors(code, k, 4, -2, 6);
  for (const auto algorithm : both) {
    const bcjr_decoder d({.code = code, .k = static_cast<int>(k), .algorithm = algorithm});
    const auto got = decode(exec(), d, w.llr);
    const std::size_t n = d.frame().n();
    for (std::size_t b = 0; b < 4; b++)
      for (std::size_t t = 0; t < k; t++)
        ASSERT_NEAR(got.coded[b * n + outputs_of_step * t], got.extrinsic[b * k + t], 1e-4f) << "step " << t;
  }
}

}  // namespace bcjr_coded_test
}  // namespace wb
