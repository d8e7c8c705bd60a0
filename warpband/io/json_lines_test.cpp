#include <warpband/io/json_lines.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

using json = nlohmann::ordered_json;

TEST(json_lines, has_one_object_of_an_array_a_line) {
  const json record = {
      {"format", "x"},
      {"machine", {{"cpu", "y"}, {"gpus", json::array()}}},
      {"curves",
       {{{"label", "a"}, {"points", {{{"x", 1}, {"v", {1, 2}}}, {{"x", 2.5}, {"v", json::array()}}}}}}}};
  EXPECT_EQ(wb::json_lines(record),
            "{\n"
            " \"format\": \"x\",\n"
            " \"machine\": {\"cpu\": \"y\", \"gpus\": []},\n"
            " \"curves\": [\n"
            "  {\n"
            "   \"label\": \"a\",\n"
            "   \"points\": [\n"
            "    {\"x\": 1, \"v\": [1, 2]},\n"
            "    {\"x\": 2.5, \"v\": []}\n"
            "   ]\n"
            "  }\n"
            " ]\n"
            "}\n");
  EXPECT_EQ(json::parse(wb::json_lines(record)), record);
}

TEST(json_lines, takes_any_value) {
  EXPECT_EQ(wb::json_lines(json::object()), "{}\n");
  EXPECT_EQ(wb::json_lines(json::array({1, "b"})), "[\n 1,\n \"b\"\n]\n");
  EXPECT_EQ(wb::json_lines(nullptr), "null\n");
  EXPECT_EQ(wb::json_lines({{"a\xff\"", "b\n\xc3"}}), "{\n \"a\xef\xbf\xbd\\\"\": \"b\\n\xef\xbf\xbd\"\n}\n");
}

}  // namespace
