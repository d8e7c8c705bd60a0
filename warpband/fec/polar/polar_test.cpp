// The polar list decoder: against the textbook recursion in double precision, on every backend, limits,
// erasures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <random>

#include <tests/polar.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/polar/polar.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace wb {
namespace polar_test {

using testing::bits_of;
using testing::blamed;
using testing::decode;
using testing::decoded_messages;
using testing::list_sizes;
using testing::make_messages;
using testing::messages;
using testing::oracle_message;
using testing::polar_codes;
using testing::precisions;
using testing::row_of;
using testing::small_scale;
using enum polar_kind;

class polar : public testing::on_backend {};
WB_ON_ALL_BACKENDS(polar);

TEST_P(polar, without_noise_gives_what_was_sent) {
  for (const polar_config& c : polar_codes())
    for (const int list_size : list_sizes)
      for (const polar_precision precision : precisions) {
        const std::size_t count = 9;
        const messages m = make_messages(c, count, 30, 1);
        const decoded_messages got =
            decode(exec(), c, {.list_size = list_size, .precision = precision}, m.llr);
        EXPECT_EQ(got.bits, m.sent) << c.k << ", " << c.coded_bits << ", L = " << list_size;
        const std::uint8_t fine = polar_code(c).blocks()[0].crc_bits > 0 ? status_stopped : 0;
        EXPECT_EQ(got.status, bits_of(count, fine));
      }
}

TEST_P(polar, equals_the_textbook_list) {
  for (const polar_config& c : polar_codes()) {
    const polar_code code(c);
    if (code.blocks()[0].n > 256 && (small_scale() || c.k > 400)) continue;
    for (const int list_size : list_sizes) {
      // The oracle takes each path's LLRs anew for each bit: few frames, and fewer of long ones.
      const std::size_t n = code.coded_bits(), k = code.k(),
                        count = std::max<std::size_t>(1, 4000 / (n * static_cast<std::size_t>(list_size)));
      const double rate = static_cast<double>(k) / static_cast<double>(n);
      const messages m = make_messages(c, count, 10 * std::log10(rate) + 1.5, 3);
      const decoded_messages got = decode(exec(), c, list_size, m.llr);
      for (std::size_t b = 0; b < count; b++)
        EXPECT_EQ(row_of(got.bits, b, k), oracle_message(code, row_of(m.llr, b, n), list_size))
            << c.k << ", " << n << ", L = " << list_size << ", " << b;
    }
  }
}

/// Where nothing is limited, integers decide as float32 does, ties too: LLRs of a few steps.
TEST_P(polar, integers_decide_whole_llrs_as_float32_does) {
  std::mt19937_64 rng(21);
  for (const polar_config& c : polar_codes())
    for (const int list_size : list_sizes) {
      const polar_code code(c);
      const std::size_t items = 19, n = code.coded_bits();
      const double rate = static_cast<double>(code.k()) / static_cast<double>(n);
      messages m = make_messages(c, items, 10 * std::log10(rate) + 1, 15);
      for (float& l : m.llr) l = std::nearbyint(std::clamp(l, -2.f, 2.f));
      const decoded_messages want = decode(exec(), c, list_size, m.llr);
      for (const polar_precision precision : {polar_precision::int16, polar_precision::int8}) {
        if (precision == polar_precision::int8 && code.blocks()[0].n > 32) continue;  // 127 are not enough
        if (code.blocks()[0].n > (list_size < 16 ? 512 : 128)) continue;  // nor metrics of 32767 / (2 L)
        EXPECT_EQ(decode(exec(), c, {.list_size = list_size, .precision = precision, .llr_steps = 1}, m.llr),
                  want)
            << c.k << ", " << n << ", L = " << list_size;
      }
    }
}

TEST_P(polar, sum_product_equals_every_backend_and_nearly_the_textbook) {
  const auto reference = testing::open_reference();
  int differ = 0, messages_seen = 0;
  for (const polar_config& c : {polar_codes()[0], polar_codes()[2], polar_codes()[5], polar_codes()[8]})
    for (const int list_size : list_sizes) {
      const polar_decoder_config config{.algorithm = polar_algorithm::sum_product, .list_size = list_size};
      const polar_code code(c);
      const std::size_t k = code.k(), n = code.coded_bits(), items = 11,
                        judged = small_scale()
                                     ? 1
                                     : std::max<std::size_t>(1, 8 / static_cast<std::size_t>(list_size));
      const double rate = static_cast<double>(k) / static_cast<double>(n);
      const messages m = make_messages(c, items, 10 * std::log10(rate) + 2, 6);
      const decoded_messages got = decode(exec(), c, config, m.llr);
      EXPECT_EQ(got, decode(*reference, c, config, m.llr)) << c.k << ", " << n << ", L = " << list_size;
      for (std::size_t b = 0; b < judged;
           b++, messages_seen++)  // logarithms within 0.013: decisions may differ
        differ += row_of(got.bits, b, k) != oracle_message(code, row_of(m.llr, b, n), list_size, true);
    }
  EXPECT_LE(differ, messages_seen / 10) << messages_seen;
}

TEST_P(polar, any_scale_of_llrs_decides_alike) {
  const polar_config c{.kind = uci, .k = 40, .coded_bits = 100};
  const messages m = make_messages(c, 30, -1.5, 7);
  const decoded_messages want = decode(exec(), c, 8, m.llr);
  for (const float scale : {0x1p-60f, 0.25f, 1024.f, 0x1p60f}) {
    auto llr = m.llr;
    for (float& l : llr) l *= scale;
    EXPECT_EQ(decode(exec(), c, 8, llr), want) << scale;
  }
}

TEST_P(polar, longer_lists_find_more) {
  const polar_config c{.kind = uci, .k = 64, .coded_bits = 128};
  const std::size_t count = 400;
  const messages m = make_messages(c, count, -1, 9);  // QPSK at 2 dB more
  int wrong[6];
  for (int i = 0; i < 6; i++) {
    const decoded_messages got = decode(exec(), c, list_sizes[i], m.llr);
    wrong[i] = 0;
    for (std::size_t b = 0; b < count; b++) wrong[i] += row_of(got.bits, b, 64) != row_of(m.sent, b, 64);
  }
  EXPECT_LT(wrong[3], wrong[0] / 2);
  EXPECT_LE(wrong[5], wrong[3] + 2);
}

TEST_P(polar, equal_llrs_and_zeros_are_decided_alike_everywhere) {
  const auto reference = testing::open_reference();
  for (const polar_config& c : polar_codes()) {
    const std::size_t n = polar_code(c).coded_bits();
    std::mt19937_64 rng(4);
    std::vector<float> llr(n * 9);
    for (float& l : llr) l = static_cast<float>(static_cast<int>(rng() % 3) - 1);
    for (std::size_t i = 0; i < n; i++) llr[i] = 1;
    for (std::size_t i = 0; i < n; i++) llr[n + i] = -0.f;
    for (const int list_size : list_sizes)
      EXPECT_EQ(decode(exec(), c, list_size, llr), decode(*reference, c, list_size, llr)) << c.k;
  }
}

TEST_P(polar, zeros_count_where_nearly_all_llrs_tell_them) {
  const polar_config c{.kind = uci, .k = 40, .coded_bits = 128};
  std::vector<float> llr(2 * 128, 2.f);
  for (std::size_t i = 0; i < 20; i++) llr[128 + i] = 0;  // more than an eighth
  for (const polar_precision precision : precisions)
    EXPECT_EQ(decode(exec(), c, {.list_size = 4, .precision = precision}, llr).status,
              (bits_of{status_stopped, status_erased | status_insufficient}));
}

TEST_P(polar, noise_alone_is_seldom_a_message) {
  const polar_config c{.kind = dci, .k = 40, .coded_bits = 216, .rnti = 77};
  const std::size_t count = 300;
  std::mt19937_64 rng(3);
  std::normal_distribution<float> noise(0, 2);
  std::vector<float> llr(216 * count);
  for (float& l : llr) l = noise(rng);
  for (const std::uint8_t s : decode(exec(), c, 8, llr).status) EXPECT_EQ(s, 0);
  // Nor is the message of another terminal.
  const messages m = make_messages({.kind = dci, .k = 40, .coded_bits = 216, .rnti = 78}, 20, 10, 2);
  for (const std::uint8_t s : decode(exec(), c, 8, m.llr).status) EXPECT_EQ(s, 0);
}

/// Error rates of another program, whose rule is the exact one, at a frame error rate of about 0.1.
class polar_curves : public ::testing::TestWithParam<const char*> {};
struct curve_point {
  double ebn0_db, esn0_db, bler;
};
TEST_P(polar_curves, are_met) {
  const std::string name = GetParam();
  std::ifstream file(std::string(WARPBAND_REFDATA) + "/error_rates/nr_polar/" + name + ".csv");
  if (!file) GTEST_SKIP() << "no refdata: cannot open the curve '" << name << "'";
  std::vector<curve_point> points;
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    curve_point p{};
    double frames, frame_errors, bit_errors;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf,%lf", &p.ebn0_db, &p.esn0_db, &frames,
                          &frame_errors, &bit_errors, &p.bler),
              6);
    points.push_back(p);
  }
  polar_config c;
  char direction[3];
  ASSERT_EQ(std::sscanf(name.c_str(), "nr_polar_%2[a-z]_k%d_n%d", direction, &c.k, &c.coded_bits), 3);
  c.kind = direction[0] == 'u' ? uci : pbch;
  const auto reference = std::min_element(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return std::abs(std::log(a.bler / 0.1)) < std::abs(std::log(b.bler / 0.1));
  });
  const auto exec = std::make_unique<cpu>(cpu_options{.threads = 1, .instructions = available_isas().back()});
  const bool list = name.find("scl8") != std::string::npos;
  const std::size_t k = static_cast<std::size_t>(c.k), batch = 500;
  const int wanted = small_scale() ? 100 : 1200;
  using enum polar_algorithm;
  using enum polar_precision;
  for (const auto& [algorithm, precision, max_loss_db] : {std::tuple{sum_product, float32, 0.05},
                                                          {min_sum, float32, 0.12},
                                                          {min_sum, int16, 0.12},
                                                          {min_sum, int8, 0.12}}) {
    int wrong = 0;
    std::size_t frames = 0;
    for (std::uint64_t seed = 1; wrong < wanted; seed++, frames += batch) {
      const messages m = make_messages(c, batch, reference->esn0_db - 10 * std::log10(2), seed);  // QPSK
      const decoded_messages got = decode(
          *exec, c, {.algorithm = algorithm, .list_size = list ? 8 : 1, .precision = precision}, m.llr);
      for (std::size_t b = 0; b < batch; b++) wrong += row_of(got.bits, b, k) != row_of(m.sent, b, k);
    }
    // How far from here the reference has our error rate, by the slope of its curve.
    const double bler = wrong / static_cast<double>(frames),
                 slope = std::log((reference + 1)->bler / (reference - 1)->bler) /
                         ((reference + 1)->ebn0_db - (reference - 1)->ebn0_db),
                 loss_db = std::log(reference->bler / bler) / slope;
    RecordProperty(algorithm == sum_product ? "sum_product_loss_db"
                   : precision == float32   ? "min_sum_loss_db"
                   : precision == int16     ? "int16_loss_db"
                                            : "int8_loss_db",
                   std::to_string(loss_db));
    EXPECT_LT(std::abs(loss_db), max_loss_db + (small_scale() ? 0.1 : 0))
        << "BLER " << bler << ", reference " << reference->bler << " at " << reference->ebn0_db << " dB";
  }
}
INSTANTIATE_TEST_SUITE_P(nr, polar_curves,
                         ::testing::Values("nr_polar_ul_k64_n128_sc", "nr_polar_ul_k64_n128_scl8_exact",
                                           "nr_polar_dl_k32_n108_scl8_exact", "nr_polar_dl_k140_n432_sc"),
                         [](const auto& which) { return std::string(which.param); });

/// One path where its CRC holds, of both code blocks where there are two, else the list: message by message.
TEST_P(polar, adaptive_lists_are_what_they_say) {
  for (const polar_config& c : polar_codes()) {
    if (!polar_crc_of(c)) continue;
    const std::size_t k = static_cast<std::size_t>(c.k), items = 37;
    messages m = make_messages(c, items, c.kind == plain && c.k == 900 ? 7 : 0.5, 11);
    const std::size_t n = m.llr.size() / items;
    m.llr[5 * n + 3] = NAN;
    for (const layout order : {layout::row_major, layout::batch_fastest})
      for (const int size : list_sizes) {
        std::vector<float> llr = m.llr;
        if (order == layout::batch_fastest)
          for (std::size_t i = 0; i < items; i++)
            for (std::size_t e = 0; e < n; e++) llr[e * items + i] = m.llr[i * n + e];
        const decoded_messages one = decode(exec(), c, 1, m.llr), list = decode(exec(), c, size, m.llr);
        const decoded_messages got =
            decode(exec(), c, polar_decoder_config{.list_size = size, .adaptive = true}, llr, order);
        for (std::size_t i = 0; i < items; i++) {
          const decoded_messages& wanted = (one.status[i] & status_stopped) != 0 ? one : list;
          EXPECT_EQ(got.status[i], wanted.status[i]) << i;
          for (std::size_t b = 0; b < k; b++)
            ASSERT_EQ(got.bits[order == layout::row_major ? i * k + b : b * items + i],
                      wanted.bits[i * k + b]);
        }
        EXPECT_EQ(got.status[5] & status_erased, status_erased);
      }
  }
}

TEST_P(polar, names_what_is_not_allowed) {
  const polar_config c{.kind = uci, .k = 64, .coded_bits = 128};
  for (const int size : {0, 3, 64, -1})
    EXPECT_EQ(blamed([&] { polar_decoder d(c, {.list_size = size}); }), "list_size");
  EXPECT_EQ(blamed([&] { polar_decoder d({.kind = uci, .k = 64, .coded_bits = 20}, {}); }), "coded_bits");
  EXPECT_EQ(blamed([&] {
              polar_decoder d({.kind = plain, .k = 64, .coded_bits = 128, .crc_bits = 0}, {.adaptive = true});
            }),
            "adaptive");
  for (const polar_precision precision : {polar_precision::int16, polar_precision::int8})
    EXPECT_EQ(blamed([&] {
                polar_decoder d(c, {.algorithm = polar_algorithm::sum_product, .precision = precision});
              }),
              "precision");
  for (const float steps : {0.f, 65.f, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(blamed([&] { polar_decoder d(c, {.precision = polar_precision::int8, .llr_steps = steps}); }),
              "llr_steps");
    EXPECT_EQ(blamed([&] { polar_decoder d(c, {.llr_steps = steps}); }), "");  // not used
  }
}

}  // namespace polar_test
}  // namespace wb
