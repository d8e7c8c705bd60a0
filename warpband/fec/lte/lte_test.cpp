// The LTE turbo code's parameters against TS 36.212, the definition in place of the implementation wherever
// possible.
#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <warpband/core/error.hpp>
#include <warpband/fec/lte/qpp.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace lte_test {

TEST(qpp, table_follows_the_rule_of_block_sizes) {
  std::vector<int> sizes;
  for (int k = 40; k <= 6144; k += k < 512 ? 8 : k < 1024 ? 16 : k < 2048 ? 32 : 64) sizes.push_back(k);
  ASSERT_EQ(sizes.size(), 188U);
  ASSERT_EQ(wb::qpp_table().size(), 188U);
  for (std::size_t row = 0; row < sizes.size(); ++row) EXPECT_EQ(wb::qpp_table()[row].k, sizes[row]);

  const std::set<int> allowed(sizes.begin(), sizes.end());
  for (int k = -10; k <= 7000; ++k) EXPECT_EQ(wb::is_qpp_size(k), allowed.count(k) == 1) << "k = " << k;
  EXPECT_FALSE(wb::is_qpp_size(INT_MAX));
  EXPECT_FALSE(wb::is_qpp_size(INT_MIN));
}

TEST(qpp, every_row_equals_the_reference_table) {
  std::ifstream file(WARPBAND_REFDATA "/lte_qpp.csv");
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << WARPBAND_REFDATA << "/lte_qpp.csv'";
  std::string header;
  ASSERT_TRUE(std::getline(file, header));
  ASSERT_EQ(header.substr(0, 9), "i,K,f1,f2");
  int rows = 0;
  int index = 0, k = 0, f1 = 0, f2 = 0;
  char comma = 0;
  while (file >> index >> comma >> k >> comma >> f1 >> comma >> f2) {
    ++rows;
    EXPECT_EQ(index, rows);
    const wb::qpp_parameters found = wb::qpp_for(k);
    EXPECT_EQ(found.k, k);
    EXPECT_EQ(found.f1, f1) << "k = " << k;
    EXPECT_EQ(found.f2, f2) << "k = " << k;
  }
  EXPECT_TRUE(file.eof());
  EXPECT_EQ(rows, 188);
}

TEST(qpp, every_row_is_the_permutation_of_the_definition) {
  for (const wb::qpp_parameters& row : wb::qpp_table()) {
    const std::vector<std::int32_t> permutation = wb::qpp_permutation(row);
    ASSERT_EQ(permutation.size(), static_cast<std::size_t>(row.k));
    const std::set<std::int32_t> values(permutation.begin(), permutation.end());
    EXPECT_EQ(values.size(), permutation.size()) << "k = " << row.k;
    EXPECT_EQ(*values.begin(), 0);
    EXPECT_EQ(*values.rbegin(), row.k - 1);
    for (std::int64_t i = 0; i < row.k; ++i) {
      ASSERT_EQ(permutation[static_cast<std::size_t>(i)], (row.f1 * i + row.f2 * i * i) % row.k)
          << "k = " << row.k;
    }
  }
}

TEST(qpp, only_residues_of_the_coefficients_count) {
  const auto expected = wb::qpp_permutation({40, 3, 10});
  EXPECT_EQ(wb::qpp_permutation({40, 43, 50}), expected);
  EXPECT_EQ(wb::qpp_permutation({40, -37, -30}), expected);
  EXPECT_EQ(wb::qpp_permutation({1, 0, 0}), std::vector<std::int32_t>{0});
}

TEST(qpp, large_coefficients_do_not_overflow) {
  // 2^20 points: f2 i^2 passes 2^63 unless it is reduced on the way. An odd f1 with an even f2 permutes any
  // 2^n.
  const int k = 1 << 20;
  const int f1 = INT_MAX, f2 = INT_MAX - 1;
  const auto permutation = wb::qpp_permutation({k, f1, f2});
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(k); ++i) {
    // Unsigned arithmetic wraps modulo 2^64, of which 2^20 is a divisor: exact for this k only.
    const std::uint64_t target =
        (std::uint64_t{INT_MAX} * i + (std::uint64_t{INT_MAX} - 1) * i * i) % (1U << 20);
    ASSERT_EQ(static_cast<std::uint64_t>(permutation[i]), target) << "i = " << i;
  }
}

TEST(qpp, refuses_a_block_size_outside_the_table) {
  for (int k : {INT_MIN, -40, 0, 39, 41, 520, 1040, 2080, 6143, 6145, 6208, INT_MAX}) {
    try {
      wb::qpp_for(k);
      ADD_FAILURE() << "k = " << k << " was accepted";
    } catch (const wb::argument_error& e) {
      EXPECT_EQ(e.argument(), "k");
      EXPECT_EQ(e.value(), std::to_string(k));
      EXPECT_NE(e.allowed().find("40..512 step 8"), std::string::npos) << e.what();
    }
  }
}

TEST(qpp, refuses_what_is_not_a_permutation) {
  // Even f1 with even k; f2 without k's factor 5; all to 0; odd f2 with k a multiple of 4.
  for (const wb::qpp_parameters& bad :
       {wb::qpp_parameters{40, 2, 10}, {40, 3, 8}, {40, 0, 0}, {64, 1, 1}, {6144, INT_MIN, INT_MAX}}) {
    try {
      wb::qpp_permutation(bad);
      ADD_FAILURE() << bad.k << ", " << bad.f1 << ", " << bad.f2 << " was accepted";
    } catch (const wb::argument_error& e) {
      EXPECT_EQ(e.argument(), "f1, f2");
      EXPECT_NE(e.value().find(std::to_string(bad.f1)), std::string::npos) << e.what();
    }
  }
  for (int k : {0, -1, INT_MIN}) {
    try {
      wb::qpp_permutation({k, 1, 0});
      ADD_FAILURE() << "k = " << k << " was accepted";
    } catch (const wb::argument_error& e) {
      EXPECT_EQ(e.argument(), "k");
    }
  }
}

}  // namespace lte_test
