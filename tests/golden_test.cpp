// The golden set: configurations in force of all scenarios in the tree and of 300 others, messages of 300
// wrong ones, and counts of the first frames of every stored curve. CONTRIBUTING.md says how rows are
// changed.
#include <gtest/gtest.h>

#include <tests/golden.hpp>
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

}  // namespace golden_test
}  // namespace wb
