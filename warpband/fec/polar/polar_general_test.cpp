// General polar codes of up to 2^15 bits: construction, encoder, list decoder and adaptive lists, against the
// oracle and against what must hold for every polar code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include <tests/polar.hpp>
#include <tests/scratch.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/polar/polar_gaussian.hpp>
#include <warpband/fec/polar/polar_order.hpp>

namespace wb {
namespace polar_general_test {

using namespace testing;
using enum polar_kind;

class polar_general : public on_backend {};
WB_ON_ALL_BACKENDS(polar_general);

polar_config code_of(int k, int coded_bits, int crc_bits = 0) {
  return {.kind = general, .k = k, .coded_bits = coded_bits, .crc_bits = crc_bits};
}
double rate_db(const polar_config& c) { return 10 * std::log10(static_cast<double>(c.k) / c.coded_bits); }
int wrong_messages(const decoded_messages& got, const messages& m, std::size_t k) {
  int wrong = 0;
  for (std::size_t b = 0; b < m.sent.size() / k; b++) wrong += row_of(got.bits, b, k) != row_of(m.sent, b, k);
  return wrong;
}

// ---- construction

TEST(polar_gaussian, phi_is_the_integral) {
  for (const double m : {0.01, 0.1, 0.3, 0.6, 0.7, 1., 2., 4., 5.7, 5.9, 8., 12., 20., 40., 80., 200.}) {
    const double log_phi = polar_log_phi(m);
    EXPECT_NEAR(log_phi, std::log(oracle::polar_phi(m)), m < 0.3 ? 0.02 * m : 0.007) << m;
    EXPECT_NEAR(polar_inverse_log_phi(log_phi) / m, 1, 1e-3) << m;
  }
  for (double m = 0.001; m < 4000; m *= 1.01) EXPECT_GT(polar_log_phi(m), polar_log_phi(1.01 * m)) << m;
  EXPECT_EQ(polar_log_phi(0), 0);
  EXPECT_EQ(polar_inverse_log_phi(0), 0);
  EXPECT_GT(polar_inverse_log_phi(-1e5), 3.9e5);
}

/// Means of the bits of u with the exact phi and its inverse by bisection.
std::vector<double> textbook_means(double mean, int stage) {
  if (stage == 0) return {mean};
  const double phi = oracle::polar_phi(mean), wanted = 1 - (1 - phi) * (1 - phi);
  double low = 0, high = mean;
  for (int i = 0; i < 40; i++) (oracle::polar_phi((low + high) / 2) > wanted ? low : high) = (low + high) / 2;
  std::vector<double> means = textbook_means(low, stage - 1);
  for (const double m : textbook_means(2 * mean, stage - 1)) means.push_back(m);
  return means;
}
TEST(polar_gaussian, means_are_the_textbooks) {
  const std::vector<double> want = textbook_means(4 * std::pow(10, -0.2), 5);
  const polar_gaussian got(std::vector<bool>(32), 0, -2);
  for (std::size_t u = 0; u < want.size(); u++)
    if (want[u] > 0.01) {
      EXPECT_NEAR(std::log(got.means()[u] / want[u]), 0, 0.05) << u;
    }
  const std::vector<int> order = got.order();
  for (std::size_t i = 1; i < order.size(); i++)
    EXPECT_LE(want[static_cast<std::size_t>(order[i - 1])],
              want[static_cast<std::size_t>(order[i])] * 1.02 + 1e-3);
}

/// C. Schuerch, "A partial order for the synthesized channels of a polar code", ISIT 2016. In every channel a
/// bit is more reliable if a zero of its index becomes a one. So it is if a one moves to the next higher
/// zero.
void expect_partial_order(const polar_config& c) {
  const polar_block b = polar_code(c).blocks().front();
  std::vector<bool> used(static_cast<std::size_t>(b.n));
  for (const int u : b.place) used[static_cast<std::size_t>(u)] = true;
  ASSERT_EQ(std::count(used.begin(), used.end(), true), b.k);
  int wrong = 0;
  for (const int u : b.place)
    for (int bit = 1; bit < b.n; bit *= 2) {
      if ((u & bit) == 0) wrong += !used[static_cast<std::size_t>(u | bit)];
      if ((u & bit) != 0 && 2 * bit < b.n && (u & 2 * bit) == 0)
        wrong += !used[static_cast<std::size_t>(u ^ bit ^ 2 * bit)];
    }
  EXPECT_EQ(wrong, 0) << c.k << ", " << c.coded_bits;
}
TEST(polar_general_code, information_sets_keep_the_partial_order) {
  for (const int n : {32, 64, 1024, 2048, 8192, 32768})
    for (const int k : {1, n / 10 + 1, n / 2, n * 84 / 100, n - 1}) expect_partial_order(code_of(k, n));
  for (const double esn0_db : {-15., 0., 20.}) {
    polar_config c = code_of(700, 2048);
    c.design_esn0_db = esn0_db;
    expect_partial_order(c);
  }
}

/// Bits that shortening makes known have infinite means, in nodes of any size.
TEST(polar_general_code, means_of_shortened_codes_are_numbers_in_order) {
  for (const auto& [k, e] : {std::pair{29, 33}, {88, 89}, {700, 1500}, {5000, 7000}}) {
    const polar_block b = polar_code(code_of(k, e)).blocks().front();
    ASSERT_TRUE(b.shortened) << k;
    std::vector<bool> unsent(static_cast<std::size_t>(b.n), true);
    for (const int d : b.sent) unsent[static_cast<std::size_t>(d)] = false;
    const polar_gaussian g(unsent, std::numeric_limits<double>::infinity(), 2);
    const std::vector<int> order = g.order();
    for (std::size_t i = 0; i < order.size(); i++) {
      const double mean = g.means()[static_cast<std::size_t>(order[i])];
      ASSERT_GE(mean, i == 0 ? 0 : g.means()[static_cast<std::size_t>(order[i - 1])]) << k << ", " << i;
    }
  }
}

TEST(polar_general_code, sizes_follow_from_the_sent_bits) {
  for (const int e : {20, 32, 33, 100, 1000, 1024, 1025, 5000, 32768})
    for (const int k : {1, e / 3, e / 2, e - 5}) {
      const polar_block b = polar_code(code_of(k, e)).blocks().front();
      EXPECT_GE(b.n, std::max(e, 32));
      EXPECT_LT(b.n, std::max(2 * e, 33));
      EXPECT_EQ(b.sent.size(), static_cast<std::size_t>(e));
      EXPECT_TRUE(std::is_sorted(b.sent.begin(), b.sent.end()));
      const std::set<int> sent(b.sent.begin(), b.sent.end());
      EXPECT_EQ(sent.size(), b.sent.size());
      for (const int u : b.place)
        EXPECT_TRUE(!b.shortened || sent.contains(u)) << "information on the shortened bit " << u;
    }
}

TEST(polar_general_code, the_sequence_of_5g_gives_the_codes_of_5g) {
  for (const int n : {64, 512, 1024})
    for (const int k : {n / 3, n / 2, n - 20}) {
      polar_config c = code_of(k, n, 11);
      if (k + 11 > n) continue;
      c.construction = polar_construction::nr;
      const polar_block got = polar_code(c).blocks().front(),
                        want = polar_code({.kind = plain, .k = k, .coded_bits = n}).blocks().front();
      ASSERT_EQ(want.n, n);
      EXPECT_EQ(got.place, want.place) << n;
    }
}

TEST(polar_general_code, orders_and_frozen_bits_come_from_files) {
  const scratch_folder folder;
  polar_config c = code_of(40, 128, 6);
  const polar_block gaussian = polar_code(c).blocks().front();
  const std::vector<bool> sent(128);
  std::vector<int> frozen;
  std::ofstream order(folder.path("order.txt")), set(folder.path("frozen.txt"));
  order << "# from the least reliable\n";
  for (const int u : polar_gaussian(sent, 0, 0).order()) order << u << ",\n";
  for (int u = 127; u >= 0; u--)
    if (!std::count(gaussian.place.begin(), gaussian.place.end(), u)) {
      set << u << ' ';
      frozen.push_back(u);
    }
  order.close();
  set.close();
  c.construction = polar_construction::custom;
  c.reliability_file = folder.path("frozen.txt");
  EXPECT_EQ(polar_code(c).blocks().front().place, gaussian.place);
  c.reliability_file = folder.path("order.txt");
  polar_config at_0_db = code_of(40, 128, 6);
  at_0_db.design_esn0_db = 0;
  EXPECT_EQ(polar_code(c).blocks().front().place, polar_code(at_0_db).blocks().front().place);
  c.reliability = frozen;  // which replaces the file
  c.reliability_file = "/nowhere";
  EXPECT_EQ(polar_code(c).blocks().front().place, gaussian.place);
}

TEST(polar_general_code, names_what_is_not_allowed) {
  const auto blame = [](const polar_config& c) { return blamed([&] { polar_code code(c); }); };
  EXPECT_EQ(blame(code_of(0, 64)), "k");
  EXPECT_EQ(blame(code_of(32768, 32768)), "k");
  EXPECT_EQ(blame(code_of(32767, 32768)), "");
  EXPECT_EQ(blame(code_of(65, 64)), "coded_bits");
  EXPECT_EQ(blame(code_of(60, 64, 6)), "coded_bits");
  EXPECT_EQ(blame(code_of(60, 32769)), "coded_bits");
  EXPECT_EQ(blame(code_of(20, 64, 7)), "crc_bits");
  EXPECT_EQ(blame({.kind = uci, .k = 64, .coded_bits = 20000}), "coded_bits");
  polar_config c = code_of(20, 2048);
  c.construction = polar_construction::nr;
  EXPECT_EQ(blame(c), "construction");
  c.construction = static_cast<polar_construction>(7);
  EXPECT_EQ(blame(c), "construction");
  c = code_of(20, 64);
  for (const double esn0_db : {-21., 41., std::nan("")}) {
    c.design_esn0_db = esn0_db;
    EXPECT_EQ(blame(c), "design_esn0_db");
  }
  c.construction = polar_construction::custom;
  EXPECT_EQ(blame(c), "reliability_file");  // none
  c.reliability.resize(63);
  EXPECT_EQ(blame(c), "reliability");  // neither 64 nor 44
  c.reliability.resize(64);
  EXPECT_EQ(blame(c), "reliability");  // index 0 twice
  std::iota(c.reliability.begin(), c.reliability.end(), 0);
  EXPECT_EQ(blame(c), "");
  c.reliability[5] = 64;
  EXPECT_EQ(blame(c), "reliability");
  c.reliability[5] = -1;
  EXPECT_EQ(blame(c), "reliability");
  c.coded_bits = 60;
  c.k = 50;  // shortened: the frozen set must have what is not sent
  c.reliability.resize(14);
  std::iota(c.reliability.begin(), c.reliability.end(), 0);
  EXPECT_EQ(blame(c), "reliability");
}

TEST(polar_general_code, files_that_are_none_are_named_by_their_line) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_polar_order(text, "f");
    } catch (const file_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message("0 1\n2, 3 # 4\n"), "");
  EXPECT_EQ(parse_polar_order("0 1\n2;3 # 4\n", "f"), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(message("0\n1\nx\n"), "f: line 3: expected an index from 0 to 32767, got \"x\"");
  EXPECT_EQ(message("0\n-1"), "f: line 2: expected an index from 0 to 32767, got \"-1\"");
  EXPECT_EQ(message("1.5"), "f: line 1: expected an index from 0 to 32767, got \"1.5\"");
  EXPECT_EQ(message("32768"), "f: line 1: expected an index from 0 to 32767, got \"32768\"");
  EXPECT_EQ(message("99999999999"), "f: line 1: expected an index from 0 to 32767, got \"99999999999\"");
  EXPECT_EQ(message("3 4\n# 5\n3"), "f: line 3: index 3 is there twice");
  EXPECT_EQ(message("# nothing"), "f: expected indices of u, got none");
  EXPECT_THROW(read_polar_order("/nowhere/order.txt"), file_error);
}

// ---- decoder

/// Also sizes whose information bits are far more or fewer than half, and codes that are not sent whole.
TEST_P(polar_general, without_noise_gives_what_was_sent) {
  for (polar_config c : {code_of(16000, 32768, 24), code_of(32767, 32768), code_of(1, 16384),
                         code_of(5000, 7000, 16), code_of(1500, 5000, 8)}) {
    c.design_esn0_db = 2;
    for (const int list_size : {1, 4, 32}) {
      if (list_size > (c.coded_bits > 10000 ? 4 : small_scale() ? 1 : 32)) continue;
      for (const polar_precision precision : {polar_precision::float32, polar_precision::int16}) {
        const messages m = make_messages(c, 2, 20, 1);
        const decoded_messages got =
            decode(exec(), c, {.list_size = list_size, .precision = precision}, m.llr);
        EXPECT_EQ(got.bits, m.sent) << c.k << ", " << c.coded_bits << ", L = " << list_size;
        EXPECT_EQ(got.status, bits_of(2, c.crc_bits > 0 ? status_stopped : 0));
      }
    }
  }
}

TEST_P(polar_general, equals_the_textbook_list) {
  for (const polar_config& c : {code_of(1000, 2048, 16), code_of(1723, 2048), code_of(700, 1500, 8),
                                code_of(1000, 3000), code_of(2048, 4096, 24)})
    for (const int list_size : {1, 2, 8}) {
      if (small_scale() && c.coded_bits > 2048) continue;
      const polar_code code(c);
      const std::size_t count = list_size == 8 ? 2 : 6, k = code.k(), n = code.coded_bits();
      const messages m = make_messages(c, count, rate_db(c) + (c.k == 1723 ? 4 : 1.8), 3);
      const decoded_messages got = decode(exec(), c, list_size, m.llr);
      for (std::size_t b = 0; b < count; b++)
        EXPECT_EQ(row_of(got.bits, b, k), oracle_message(code, row_of(m.llr, b, n), list_size))
            << c.k << ", " << n << ", L = " << list_size << ", " << b;
    }
}

/// In noise, of which a part of the messages is wrong: every backend, order and batch has the same bits.
TEST_P(polar_general, equals_every_backend_in_any_batch) {
  const auto reference = open_reference();
  for (const polar_config& c : {code_of(1699, 2048, 24), code_of(1000, 4096, 11), code_of(3000, 6000, 16)})
    for (const int list_size : {1, 4, 32})
      for (const polar_precision precision : precisions) {
        if ((c.coded_bits > 2048 || small_scale()) && list_size > 4) continue;
        const std::size_t items = list_size == 1   ? 35
                                  : list_size == 4 ? 11
                                                   : 3,
                          k = static_cast<std::size_t>(c.k), n = static_cast<std::size_t>(c.coded_bits);
        const polar_decoder_config config{.list_size = list_size, .precision = precision};
        const messages m = make_messages(c, items, rate_db(c) + (c.k == 1699 ? 3.6 : 1.2), 8);
        const decoded_messages got = decode(exec(), c, config, m.llr);
        EXPECT_EQ(got, decode(*reference, c, config, m.llr))
            << c.k << ", " << n << ", L = " << list_size << ", " << static_cast<int>(precision);
        const decoded_messages alone = decode(exec(), c, config, row_of(m.llr, items - 1, n));
        EXPECT_EQ(alone.bits, row_of(got.bits, items - 1, k));
        EXPECT_EQ(alone.status[0], got.status[items - 1]);
      }
}

/// Sums of many small LLRs stay within 16 bits.
TEST_P(polar_general, integers_decode_long_codes_of_low_rate) {
  const polar_config c = code_of(500, 32768);
  const messages m = make_messages(c, small_scale() ? 4 : 12, rate_db(c) + 2.3, 12);
  for (const int list_size : {1, 4}) {
    if (list_size > 1 && small_scale()) continue;
    for (const polar_precision precision : {polar_precision::float32, polar_precision::int16})
      EXPECT_EQ(decode(exec(), c, {.list_size = list_size, .precision = precision}, m.llr).bits, m.sent)
          << list_size << ", " << static_cast<int>(precision);
  }
}

/// Integers of 16 bits count 2^15 coded bits.
TEST_P(polar_general, erasures_of_long_codes) {
  const polar_config c = code_of(20000, 32768, 24);
  const std::size_t n = 32768;
  std::vector<float> llr(4 * n, 3.f);                                        // zeros, all bits tell them
  std::fill_n(llr.begin() + static_cast<std::ptrdiff_t>(n), 4095, 0.f);      // fewer than an eighth do not
  std::fill_n(llr.begin() + static_cast<std::ptrdiff_t>(2 * n), 4097, 0.f);  // more do not
  std::fill_n(llr.begin() + static_cast<std::ptrdiff_t>(3 * n), n - 19999, 0.f);  // less than the message
  for (const polar_precision precision : precisions) {
    const decoded_messages got = decode(exec(), c, {.list_size = 1, .precision = precision}, llr);
    EXPECT_EQ(got.status, (bits_of{status_stopped, status_stopped, status_erased | status_insufficient,
                                   status_erased | status_insufficient}))
        << static_cast<int>(precision);
    EXPECT_EQ(got.bits, bits_of(4 * 20000));
  }
}

/// One path, then 2, 4, ..., each where no CRC has held so far.
TEST_P(polar_general, growing_lists_are_what_they_say) {
  const polar_config c = code_of(100, 256, 11);
  const std::size_t k = 100, items = 150;
  messages m = make_messages(c, items, rate_db(c) + 1.2, 11);
  m.llr[5 * 256 + 3] = NAN;
  std::vector<decoded_messages> lists;
  for (const int size : {1, 2, 4, 8}) lists.push_back(decode(exec(), c, size, m.llr));
  const decoded_messages got = decode(exec(), c, {.list_size = 8, .adaptive = true, .growing = true}, m.llr);
  std::set<std::size_t> sizes;
  for (std::size_t i = 0; i < items; i++) {
    std::size_t first = 0;
    while (first < 3 && (lists[first].status[i] & status_stopped) == 0) first++;
    sizes.insert(first);
    EXPECT_EQ(got.status[i], lists[first].status[i]) << i;
    EXPECT_EQ(row_of(got.bits, i, k), row_of(lists[first].bits, i, k)) << i;
  }
  EXPECT_EQ(sizes.size(), 4u);  // each decided some of the messages
}

/// Frame error rates with the widest vectors, (1024, 512) and (2048, 1723).
TEST(polar_general_rates, are_those_of_the_approximation_and_fall_with_the_list) {
  const auto exec = std::make_unique<cpu>(cpu_options{.threads = 1, .instructions = available_isas().back()});
  for (const auto& [c, ebn0_db] : {std::pair{code_of(512, 1024), 2.2}, {code_of(1723, 2048), 4.2}}) {
    const std::size_t count = small_scale() ? 2000 : 12000, k = static_cast<std::size_t>(c.k);
    const messages m = make_messages(c, count, rate_db(c) + ebn0_db, 5);
    const int one = wrong_messages(
        decode(*exec, c, {.algorithm = polar_algorithm::sum_product, .list_size = 1}, m.llr), m, k);
    const polar_block b = polar_code(c).blocks().front();
    const double bound =
        polar_gaussian(std::vector<bool>(static_cast<std::size_t>(b.n)), 0, rate_db(c) + ebn0_db)
            .frame_error_rate({b.place.begin(), b.place.end()});
    const double rate = one / static_cast<double>(count);
    RecordProperty("frame_error_rate_" + std::to_string(c.coded_bits), std::to_string(rate));
    RecordProperty("approximation_" + std::to_string(c.coded_bits), std::to_string(bound));
    EXPECT_NEAR(std::log(rate / bound), 0, small_scale() ? 0.7 : 0.5) << rate << ", " << bound;
  }
  // With a CRC of 16 bits: longer lists fail less often.
  const polar_config c = code_of(496, 1024, 16);
  const std::size_t count = small_scale() ? 200 : 800;
  const messages m = make_messages(c, count, rate_db(c) + 1.5, 6);
  std::vector<int> wrong;
  for (const int list_size : list_sizes)
    wrong.push_back(wrong_messages(
        decode(*exec, c, {.list_size = list_size, .precision = polar_precision::int16}, m.llr), m, 496));
  for (std::size_t i = 1; i < wrong.size(); i++) EXPECT_LE(wrong[i], wrong[i - 1] + 2) << i;
  EXPECT_LT(wrong[3], wrong[0] / 3);
  EXPECT_LT(wrong[5], wrong[2]);
}

}  // namespace polar_general_test
}  // namespace wb
