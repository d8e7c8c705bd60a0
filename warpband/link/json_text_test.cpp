// JSON of files: what is read, what is refused, and inputs that took nlohmann's own parser hours.
#include <gtest/gtest.h>

#include <string>

#include <tests/result.hpp>
#include <warpband/link/json_text.hpp>

namespace wb {
namespace json_text_test {

nlohmann::ordered_json read(const std::string& text) {
  return parse_json(text, [](const std::string& reason) { throw error(reason); });
}
std::string refused(const std::string& text) {
  try {
    read(text);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}
std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; i++) text += part;
  return text;
}

TEST(json_text, values_are_those_of_the_text) {
  for (const char* text :
       {R"({"b":[1,-2,2.5,true,null,"x\u00e9"],"a":{"":{}},"c":[[],[{}]],"d":18446744073709551615})", "[]",
        "3", "\"\""})
    EXPECT_EQ(read(text).dump(), nlohmann::ordered_json::parse(text).dump());
}

TEST(json_text, faults_are_told_in_one_line) {
  EXPECT_EQ(refused("[1,\n2"), "not JSON, or cut off, in line 2");
  EXPECT_EQ(refused(""), "not JSON, or cut off, in line 1");
  EXPECT_EQ(refused("[1e999]"), "a number in it is too large");
  EXPECT_EQ(refused("[{\"a\": 1, \"b\\u001b\": 2, \"b\\u001b\": 3}]"),
            "an object in it has the key \"b\\x1b\" twice");
  EXPECT_EQ(refused(std::string(65, '[') + std::string(65, ']')), "");
  EXPECT_EQ(refused(std::string(1 << 20, '[')), "it is nested too deeply, more than 64 levels");
}

/// Megabytes of each: a reader that walks a list or an object again for each of its members does not end.
TEST(json_text, takes_time_in_proportion_to_the_text) {
  const std::size_t objects = read("[" + repeated("{},", 1 << 20) + "{}]").size();
  EXPECT_EQ(objects, (std::size_t{1} << 20) + 1);
  std::string members = "{";
  for (int i = 0; i < 100'000; i++)
    members += "\"" + std::to_string(i) + "\":" + (i % 2 != 0 ? "[]," : "{},");
  EXPECT_EQ(read(members + "\"x\":0}").size(), 100'001u);
  // Objects in objects, each with many members before and behind.
  std::string nested;
  for (int depth = 0; depth < 60; depth++) {
    nested += "{";
    for (int i = 0; i < 2000; i++) nested += "\"a" + std::to_string(i) + "\":{},";
    nested += "\"in\":";
  }
  nested += "0";
  for (int depth = 0; depth < 60; depth++) {
    for (int i = 0; i < 2000; i++) nested += ",\"b" + std::to_string(i) + "\":{}";
    nested += "}";
  }
  EXPECT_EQ(read(nested).size(), 4001u);
}

TEST(json_text, readers_of_results_take_time_in_proportion_to_the_text) {
  const std::string many = "[" + repeated("{},", 1 << 18) + "{}]";
  for (const std::string& text :
       {"{\"curves\":" + many + "}", "{\"warpband\":" + many + "}",
        R"({"warpband":{},"machine":{},"scenario":{"overrides":{}},"curves":[],"earlier_runs":)" + many +
            "}"})
    EXPECT_THROW(parse_result(text, "r.json"), file_error);
}

}  // namespace json_text_test
}  // namespace wb
