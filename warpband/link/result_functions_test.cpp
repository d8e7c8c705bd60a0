// Results of runs with functions of Python: what they say of them, and who goes on with them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <warpband/air/function.hpp>
#include <warpband/core/error.hpp>
#include <warpband/link/result.hpp>

namespace wb {
namespace result_functions_test {

const run_functions held{{"fading"}, {"table"}, {"signs"}, 64, "1"};

/// A result of two curves, with a channel and a decoder of the program. Its kinds are there meanwhile.
std::string text_of_result() {
  const stand_in_kinds kinds(held);
  run_result r;
  r.source = parse_scenario(
      "code = { type = \"wifi-ldpc\", n = 648 }\nsweep.ebn0_db = 3\n[[curve]]\nlabel = \"a\"\n"
      "channel = { type = \"fading\", fading = \"block\" }\n[[curve]]\nlabel = \"c\"\nmodem.modulation = "
      "\"qpsk\"\n"
      "detector.type = \"table\"\nchannel.type = \"rayleigh\"\n[[curve]]\nlabel = \"b\"\ndecoder.type = "
      "\"signs\"\n",
      "s.toml");
  for (const curve_config& config : r.source.curves) {
    curve_result c{config.label, config, {}, {}, false};
    c.config.link = completed(config.link);
    c.points.push_back(point_of(c.config.link, 3));
    c.points.back().counts.frames = 100;
    c.points.back().counts.frames_run = 100;
    r.curves.push_back(c);
  }
  run_functions functions = held;
  functions.channels.push_back("unused");
  r.functions = functions_of(r.curves, functions);
  EXPECT_EQ(r.functions.channels, held.channels);
  return result_json(r);
}
std::string refusal_of(const run_functions& given, const std::string& text) {
  try {
    parse_result(text, "r.json", result_use::go_on, given);
  } catch (const file_error& e) {
    return e.what();
  }
  return "";
}

TEST(result_functions, are_named_and_read_back) {
  const std::string text = text_of_result();
  const auto j = nlohmann::json::parse(text);
  EXPECT_EQ(
      j["functions"],
      nlohmann::json::parse(
          R"({"channels": ["fading"], "detectors": ["table"], "decoders": ["signs"], "batch": 64, "version": "1"})"));
  EXPECT_EQ(j["curves"][0]["config"]["channel"],
            nlohmann::json::parse(R"({"type": "fading", "fading": "block"})"));
  {
    const run_result shown = parse_result(text, "r.json", result_use::show);
    EXPECT_EQ(shown.curves[0].points[0].counts.frames, 100u);
    const stand_in_kinds kinds(shown.functions);
    EXPECT_EQ(result_json(shown), text);
  }
  EXPECT_EQ(kind_scope_number(), 0u);
  const stand_in_kinds kinds(held);
  EXPECT_EQ(result_json(parse_result(text, "r.json", result_use::go_on, held)), text);
  const run_functions none = functions_of({}, held);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.batch, 0u);
}

TEST(result_functions, others_do_not_go_on_with_it) {
  const std::string text = text_of_result();
  EXPECT_EQ(refusal_of({}, text),
            "r.json: was run with a function of Python: expected warpband.sweep(resume=..., "
            "channels={\"fading\": ...})");
  const stand_in_kinds kinds(held);
  run_functions given = held;
  given.decoders = {"other"};
  EXPECT_EQ(refusal_of(given, text),
            "r.json: was run with a function of Python: expected warpband.sweep(resume=..., "
            "decoders={\"signs\": ...})");
  given = held;
  given.batch = 65;
  EXPECT_EQ(refusal_of(given, text), "r.json: was run with batch = 64, now 65: expected the same");
  given = held;
  given.version.reset();
  EXPECT_EQ(refusal_of(given, text), "r.json: was run with version = \"1\", now None: expected the same");
  auto j = nlohmann::json::parse(text);
  j["functions"]["batch"] = 0;
  EXPECT_NE(refusal_of(held, j.dump()).find("functions.batch = 0 is not allowed"), std::string::npos);
  j = nlohmann::json::parse(text);
  j["functions"]["channels"][0] = 3;
  EXPECT_NE(refusal_of(held, j.dump()).find("functions.channels"), std::string::npos);
  for (const char* name : {"rayleigh", "fading"}) {  // of the library, and twice
    j = nlohmann::json::parse(text);
    j["functions"]["channels"].push_back(name);
    EXPECT_THROW(parse_result(j.dump(), "r.json", result_use::show), file_error) << name;
  }
  j = nlohmann::json::parse(text);
  j["functions"]["more"] = 3;
  EXPECT_NE(refusal_of(held, j.dump()).find("is not known to this version"), std::string::npos);
}

}  // namespace result_functions_test
}  // namespace wb
