// Factors and offsets for each iteration: against the oracle bit by bit, against one factor for all, in every
// number format, and their files.
#include <gtest/gtest.h>

#include <fstream>

#include <tests/ldpc.hpp>
#include <tests/scratch.hpp>
#include <tests/sparse_ldpc.hpp>
#include <warpband/fec/ldpc/ldpc_factors.hpp>
#include <warpband/fec/ldpc/ldpc_nr.hpp>

namespace wb {
namespace ldpc_factors_test {

using testing::blamed;
using testing::decode_words;
using testing::row_of;
using enum ldpc_algorithm;

class ldpc_factors_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(ldpc_factors_on);

constexpr ldpc_precision all_precisions[] = {ldpc_precision::float32, ldpc_precision::float16,
                                             ldpc_precision::int8};
constexpr ldpc_schedule both_schedules[] = {ldpc_schedule::layered, ldpc_schedule::flooding};

std::vector<float> words_for(const ldpc_code& code, std::size_t count, double esn0_db, unsigned seed) {
  std::mt19937_64 random(seed);
  return testing::noisy(testing::bytes(count * static_cast<std::size_t>(code.n())), esn0_db, random);
}
std::vector<float> as_floats(const std::vector<double>& x) { return {x.begin(), x.end()}; }

TEST_P(ldpc_factors_on, are_the_oracles_bit_by_bit) {
  const ldpc_decoder_config lists[] = {
      {.iterations = 5, .llr_steps = 3, .factors = {0.5, 1, 0.75}},
      {.algorithm = offset_min_sum, .iterations = 4, .llr_steps = 3, .offsets = {0, 0.4, 1.2, 0.3, 7}}};
  const std::pair<ldpc_code, double> codes[] = {{wifi_ldpc(648, wifi_rate::r1_2), -1.2},
                                                {testing::random_code(4, 9, 3, 4, 2), 2},
                                                {nr_ldpc(2, 7, 20), -2}};
  int stopped = 0, lasted = 0;
  for (const auto& [code, esn0_db] : codes)
    for (const auto precision : all_precisions)
      for (const auto schedule : both_schedules)
        for (ldpc_decoder_config c : lists) {
          c.precision = precision;
          c.schedule = schedule;
          oracle::rounded_options o{
              .format = precision == ldpc_precision::float32   ? oracle::number_format::single
                        : precision == ldpc_precision::float16 ? oracle::number_format::half
                                                               : oracle::number_format::int8,
              .order = schedule == ldpc_schedule::layered ? oracle::check_order::layered
                                                          : oracle::check_order::flooding,
              .scales = as_floats(c.factors),
              .offsets = as_floats(c.offsets),
              .iterations = c.iterations,
              .stop = true,
              .steps = 3};
          const auto n = static_cast<std::size_t>(code.n());
          const auto llr = words_for(code, 3, esn0_db, 5);
          const auto got = decode_words(exec(), ldpc_decoder(code, c), llr);
          for (std::size_t w = 0; w < 3; w++) {
            const auto want = oracle::ldpc_decode_rounded(testing::base_of(code), row_of(llr, w, n), o);
            EXPECT_EQ(row_of(got.soft, w, n), want.a_posteriori) << n << ", word " << w;
            EXPECT_EQ(got.iterations[w], want.iterations);
            (want.satisfied ? stopped : lasted)++;
          }
        }
  EXPECT_GT(stopped, 5);
  EXPECT_GT(lasted, 5);
}

TEST_P(ldpc_factors_on, a_constant_list_is_one_factor) {
  const ldpc_code codes[] = {wimax_ldpc(576, wimax_rate::r5_6), nr_ldpc(2, 8), nr_ldpc(1, 6, 12)};
  for (const ldpc_code& code : codes)
    for (const auto precision : all_precisions)
      for (const auto schedule : both_schedules) {
        const auto llr = words_for(code, 5, 0.5, 9);
        ldpc_decoder_config one{
            .scale = 0.625f, .iterations = 6, .schedule = schedule, .precision = precision},
            list = one;
        list.scale = ldpc_decoder_config{}.scale;
        list.factors = {0.625, 0.625, 0.625, 0.625};
        EXPECT_TRUE(decode_words(exec(), ldpc_decoder(code, one), llr) ==
                    decode_words(exec(), ldpc_decoder(code, list), llr));
        one.algorithm = list.algorithm = offset_min_sum;
        one.offset = 0.75f;
        list.offsets = {0.75, 0.75};
        EXPECT_TRUE(decode_words(exec(), ldpc_decoder(code, one), llr) ==
                    decode_words(exec(), ldpc_decoder(code, list), llr));
        list.offsets = {0.75, 0.25};
        EXPECT_FALSE(decode_words(exec(), ldpc_decoder(code, one), llr) ==
                     decode_words(exec(), ldpc_decoder(code, list), llr));
      }
}

TEST_P(ldpc_factors_on, of_sparse_matrices_are_the_oracles) {
  const parity_check_matrix h = testing::random_matrix(90, 45, 5, 4, {}, false);
  const sparse_ldpc_decoder flooding(
      h,
      {.iterations = 4, .schedule = ldpc_schedule::flooding, .early_stop = false, .factors = {0.5, 0.9, 1}});
  const auto n = static_cast<std::size_t>(h.n());
  std::mt19937_64 random(3);
  const auto llr = testing::noisy(testing::bytes(20 * n), -1, random);
  const auto got = testing::decode_sparse(exec(), flooding, llr);
  for (std::size_t w = 0; w < 20; w++) {
    const auto in = row_of(llr, w, n);
    const auto want = oracle::ldpc_decode(testing::as_oracle(h), {in.begin(), in.end()},
                                          {.rule = oracle::check_rule::min_sum,
                                           .order = oracle::check_order::flooding,
                                           .scales = {0.5, 0.9, 1},
                                           .iterations = 4});
    for (std::size_t v = 0; v < n; v++)
      EXPECT_NEAR(got.soft[w * n + v], want.a_posteriori[v], 1e-4 * (1 + std::fabs(want.a_posteriori[v])));
  }
  // One factor for all iterations, in layers.
  const sparse_ldpc_decoder one(h, {.scale = 0.5f, .iterations = 6}),
      list(h, {.iterations = 6, .factors = {0.5, 0.5}});
  EXPECT_TRUE(testing::decode_sparse(exec(), one, llr) == testing::decode_sparse(exec(), list, llr));
}

const std::string good =
    R"({"format": "warpband-ldpc-factors", "version": 1, "trained_for": "a test", "iterations": 3,
        "factors": [0.5, 0.75, 1]})";

TEST(ldpc_factors, a_file_is_its_list) {
  const testing::scratch_folder folder;
  std::ofstream(folder.path("f.json")) << good;
  const ldpc_factors read = read_ldpc_factors(folder.path("f.json"));
  EXPECT_EQ(read.trained_for, "a test");
  EXPECT_EQ(read.factors, (std::vector<double>{0.5, 0.75, 1}));
  EXPECT_TRUE(read.offsets.empty());
  const auto& s = *find_setting(ldpc_decoder_settings(), "factors");
  ldpc_decoder_config c;
  s.set(c, folder.path("f.json"));
  EXPECT_EQ(c.factors, read.factors);
  EXPECT_EQ(as_message(s.get(c)), "[0.5, 0.75, 1.0]");
  // The list of a file is that of the algorithm that takes it.
  EXPECT_EQ(blamed([&] { find_setting(ldpc_decoder_settings(), "offsets")->set(c, folder.path("f.json")); }),
            "offsets");
  EXPECT_THROW(s.set(c, folder.path("none.json")), file_error);
}

TEST(ldpc_factors, bad_files_are_named) {
  const auto message = [](std::string text, const std::string& from, const std::string& to) {
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    try {
      parse_ldpc_factors(text, "f.json");
    } catch (const file_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string start = "f.json: no factors: ";
  EXPECT_EQ(message(good, "", ""), "");
  EXPECT_EQ(message("[1]", "", ""), start + "expected an object of JSON");
  EXPECT_EQ(message("{", "", ""), start + "expected an object of JSON");
  EXPECT_EQ(message(good, "1, \"tr", "2, \"tr"), start + "version is 2: expected 1");
  EXPECT_EQ(message(good, "warpband-ldpc-factors", "x"),
            start + "format is \"x\": expected \"warpband-ldpc-factors\"");
  EXPECT_EQ(message(good, "\"a test\"", "\"\""),
            start + "trained_for is \"\": expected a text of 1 to 200 bytes");
  EXPECT_EQ(message(good, ": 3", ": 4"), start + "factors has 3 numbers: expected 4, as iterations says");
  EXPECT_EQ(message(good, ": 3", ": 0"), start + "iterations is 0: expected an integer from 1 to 1000");
  EXPECT_EQ(message(good, "0.75", "1.5"), start + "factors[1] is 1.5: expected a number from 0 to 1");
  EXPECT_EQ(message(good, "0.75", "\"x\""), start + "factors[1] is \"x\": expected a number from 0 to 1");
  EXPECT_EQ(message(good, "[0.5, 0.75, 1]", "1"), start + "factors is 1: expected a list of numbers");
  EXPECT_EQ(message(good, "\"factors\"", "\"offset\"").substr(0, 36), start + "offset is a list");
  EXPECT_EQ(message(good, "\"factors\"", "\"offsets\""), "");
  EXPECT_EQ(message(good, "1]", "1], \"offsets\": [1, 1, 1]"),
            start + "factors is a list: expected either factors or offsets");
  const std::string deep = std::string(400000, '[') + std::string(400000, ']');
  EXPECT_EQ(message(good, "\"a test\"", deep),
            start + "trained_for is a list: expected a text of 1 to 200 bytes");
}

TEST(ldpc_factors, bad_lists_are_refused) {
  const ldpc_code code = wimax_ldpc(576, wimax_rate::r1_2);
  const auto with = [&](const ldpc_decoder_config& c) { return blamed([&] { ldpc_decoder d(code, c); }); };
  EXPECT_EQ(with({.factors = {0, 1}}), "");
  EXPECT_EQ(with({.factors = {0.5, 1.01}}), "factors");
  EXPECT_EQ(with({.factors = {NAN}}), "factors");
  EXPECT_EQ(with({.factors = std::vector<double>(1001, 0.5)}), "factors");
  EXPECT_EQ(with({.scale = 0.5f, .factors = {0.5}}), "scale");
  EXPECT_EQ(with({.algorithm = offset_min_sum, .offset = 0.25f, .offsets = {0.5}}), "offset");
  EXPECT_EQ(with({.algorithm = offset_min_sum, .offsets = {0.5, 8.5}}), "offsets");
  EXPECT_EQ(with({.precision = ldpc_precision::int8, .factors = {0.5, 0.8}}), "factors[1]");
  EXPECT_EQ(with({.precision = ldpc_precision::int8, .factors = {0.5, 0.875}}), "");
  EXPECT_EQ(with({.algorithm = sum_product, .factors = {2}}), "");  // not used
  const parity_check_matrix h(6, {{0, 1, 2}, {2, 3, 4}});
  EXPECT_EQ(blamed([&] { sparse_ldpc_decoder d(h, {.factors = {-0.5}}); }), "factors");
  EXPECT_EQ(blamed([&] { sparse_ldpc_decoder d(h, {.scale = 1, .factors = {0.5}}); }), "scale");
}

}  // namespace ldpc_factors_test
}  // namespace wb
