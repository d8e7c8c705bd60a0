// The golden set: configurations in force of all scenarios in the tree and of 300 others, messages of 300
// wrong ones, more of both that were written by hand, and counts of the first frames of every stored curve.
// CONTRIBUTING.md says how rows are changed.
#include <gtest/gtest.h>

#include <tests/golden.hpp>
#include <tests/on_backends.hpp>
#include <warpband/io/hdf5.hpp>

namespace wb {
namespace golden_test {

using nlohmann::json;
using testing::golden_answer;
using testing::golden_difference;
using testing::golden_rows;
using testing::unpatched;

std::string name_of(const json& row) {
  for (const char* key : {"name", "scenario", "result"})
    if (row.contains(key)) return row[key];
  return row.dump();
}

void hold(const std::string& file, std::size_t least) {
  const std::vector<json> rows = golden_rows(file);
  EXPECT_GE(rows.size(), least);
  for (const json& row : rows) {
    if (!WARPBAND_HDF5 && row.value("text", "").find("channel.file") != std::string::npos) continue;
    json expected = row["answer"], found = golden_answer(row);
    for (json* answer : {&expected, &found})
      if (answer->contains("curves")) (*answer)["curves"] = unpatched((*answer)["curves"]);
    const std::string difference = golden_difference(expected, found);
    EXPECT_EQ(difference, "") << file << ", \"" << name_of(row) << "\"\n" << row.value("text", "");
  }
}

TEST(golden, scenarios_of_the_tree) { hold("tree", 50); }
TEST(golden, right_scenarios) { hold("right", 300); }
TEST(golden, wrong_scenarios) { hold("wrong", 300); }
TEST(golden, scenarios_by_hand) { hold("by_hand", 300); }

TEST(golden, differences_are_found) {
  const json a = {{"x", {1, {{"y", 2}}}}, {"z", "w"}};
  EXPECT_EQ(golden_difference(a, a), "");
  json b = a;
  b["x"][1]["y"] = 3;
  EXPECT_EQ(golden_difference(a, b), "x[1].y: expected 2, is 3");
  EXPECT_EQ(golden_difference(a, {{"x", a["x"]}}), "z: expected \"w\", not there");
  EXPECT_EQ(golden_difference({{"x", a["x"]}}, a), "z: expected nothing, is \"w\"");
  EXPECT_EQ(golden_difference({{"x", {1}}}, {{"x", {1, 2}}}), "x: expected [1], is [1,2]");
}

/// The widest instruction set, which tests of each kernel hold against the others, and each CUDA device.
class golden_counts : public testing::on_backend {
 protected:
  /// One of eight parts, which run side by side.
  void hold_part(std::size_t part) {
    testing::golden_counts counts(exec());
    const std::vector<json> rows = golden_rows("counts");
    EXPECT_GE(rows.size(), 500u);
    for (std::size_t i = part; i < rows.size(); i += 8)
      EXPECT_EQ(golden_difference(rows[i]["counts"], counts.of(rows[i])), "")
          << name_of(rows[i]) << ", curve " << rows[i]["curve"] << " at " << rows[i]["point"] << " dB";
  }
};
TEST_P(golden_counts, part_1) { hold_part(0); }
TEST_P(golden_counts, part_2) { hold_part(1); }
TEST_P(golden_counts, part_3) { hold_part(2); }
TEST_P(golden_counts, part_4) { hold_part(3); }
TEST_P(golden_counts, part_5) { hold_part(4); }
TEST_P(golden_counts, part_6) { hold_part(5); }
TEST_P(golden_counts, part_7) { hold_part(6); }
TEST_P(golden_counts, part_8) { hold_part(7); }

std::vector<testing::backend> widest_and_devices() {
  std::vector<testing::backend> chosen;
  for (const testing::backend& b : testing::all_backends()) {
    if (!b.name.starts_with("cuda")) chosen.clear();
    chosen.push_back(b);
  }
  return chosen;
}
INSTANTIATE_TEST_SUITE_P(backends, golden_counts, ::testing::ValuesIn(widest_and_devices()),
                         testing::backend_test_name);

}  // namespace golden_test
}  // namespace wb
