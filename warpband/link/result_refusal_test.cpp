// Results that are refused: files that are none, that contradict themselves, or that another scenario does
// not go on from.
#include <nlohmann/json.hpp>

#include <tests/result.hpp>

#ifndef WARPBAND_SOURCE_DIR
#define WARPBAND_SOURCE_DIR ""
#endif

namespace wb {
namespace result_refusal_test {

using namespace testing;
using result = result_folder;

TEST_F(result, that_is_none_or_a_part_of_one_is_refused) {
  const std::string file = path("r.json"), good = result_json(sample());
  const std::pair<std::string, std::string> table[] = {
      {"", "not a result: not JSON, or cut off, in line 1"},
      {"label,ber\n1,2\n", "not a result: not JSON"},
      {"[1, 2]", "not a result: it = [1,2] is not allowed: expected an object"},
      {"{}", "not a result: scenario is missing"},
      {"{\"a\": 1e999}", "not a result: a number in it is too large"},
      {good + "x", "not a result: not JSON"},
      {std::string(1 << 20, '['), "not a result: it is nested too deeply"}};
  for (const auto& [text, part] : table) EXPECT_TRUE(refusal(file, text).starts_with(part)) << part;
  for (std::size_t size = 1; size + 2 < good.size(); size += 97) refusal(file, good.substr(0, size));
  EXPECT_THROW(load_result(path("missing.json")), file_error);
  EXPECT_THROW(load_result(path()), file_error);
}

using json = nlohmann::ordered_json;

/// What is changed in a result, and what is said then.
struct change {
  std::string pointer;  // JSON pointer; "-" at its end adds to a list
  json value;           // discarded: takes it out
  std::string part;
};
const json gone(json::value_t::discarded);

void expect_refused(const std::string& file, const json& good, const std::vector<change>& changes) {
  for (const change& c : changes) {
    json j = good;
    const json::json_pointer pointer(c.pointer);
    if (c.value.is_discarded())
      j[pointer.parent_pointer()].erase(pointer.back());
    else
      j[pointer] = c.value;
    const std::string message = refusal(file, j.dump(2));
    EXPECT_NE(message.find(c.part), std::string::npos) << message << "\nexpected: " << c.part;
  }
}

TEST_F(result, that_contradicts_itself_is_refused) {
  const json good = json::parse(result_json(sample()));
  const std::string point = "/curves/0/points/0/", begun = "/unfinished/0/points/0/";
  expect_refused(
      path("r.json"), good,
      {{point + "frame_errors", 31,
        "curves[0].points[0].frame_errors = 31 is not allowed: expected an integer"},
       {point + "frames", -1, "frames = -1 is not allowed: expected an integer from 1"},
       {point + "frames", 4.5, "frames = 4.5 is not allowed"},
       {point + "frames", "4", "frames = \"4\" is not allowed"},
       {point + "frames", 0, "frames = 0 is not allowed"},
       {point + "bit_errors", 1000000, "bit_errors = 1000000 is not allowed"},
       {point + "bit_errors", 1, "bit_errors = 1 is not allowed"},  // fewer than frame errors
       {point + "erased_frames", 1000, "erased_frames = 1000 is not allowed"},
       {point + "iterations_sum", 1000, "iterations_sum = 1000 is not allowed"},
       {point + "frames_run", 1, "frames_run = 1 is not allowed"},
       {point + "seconds", -1.0, "seconds = -1.0 is not allowed"},
       {point + "ebn0_db", 0.05, "expected one of config.sweep.ebn0_db"},
       {point + "stopped_by", "cancelled", "stopped_by = \"cancelled\" is not allowed"},
       {point + "bit_errors", gone, "curves[0].points[0].bit_errors is missing"},
       {point + "iterations_sum", gone, "iterations_sum is missing"},
       {point + "colour", 1, "\"curves[0].points[0].colour\" is not known to this version"},
       {"/curves/0/points/1", good["curves"][0]["points"][0], "expected more than the point before"},
       {"/curves/0/points", json::array(), "expected at least one"},
       {"/curves/0/points", 3, "points = 3 is not allowed: expected a list"},
       {"/curves/1/points/0/iterations_sum", 1, "iterations_sum = 1 is not allowed"},
       {"/curves/-", good["curves"][0], "expected another one for each curve"},
       {begun + "frames", 1, "unfinished[0].points[0]."},
       {begun + "seconds", 0, "expected counts that go on from the finished point's"},
       {"/unfinished/0/points/-", good["unfinished"][0]["points"][0], "expected more than the point before"},
       {"/unfinished/-", good["unfinished"][0], "expected another one for each curve"},
       {"/complete", true, "complete = true is not allowed"},
       {"/complete", 1, "expected true or false"},
       {"/machine/threads", 0, "machine.threads = 0 is not allowed"},
       {"/machine/cpu", gone, "machine.cpu is missing"},
       {"/earlier_runs/0/warpband", 2, "earlier_runs[0].warpband = 2 is not allowed"},
       {"/extra", 2, "\"extra\" is not known to this version"}});
}

/// Rates and intervals follow from the counts: a file in which someone changed them reads as the counts say.
TEST_F(result, rates_and_intervals_are_those_of_the_counts) {
  const std::string text = result_json(sample());
  json j = json::parse(text);
  json& point = j["curves"][0]["points"][0];
  point["fer"] = 0.5, point["ber_interval"] = json::array({0, 1}), point["bits"] = 7,
  point["iterations"] = 1.0;
  write_file(path("r.json"), j.dump(2));
  EXPECT_EQ(result_json(load_result(path("r.json"))), text);
}

TEST_F(result, of_a_scenario_that_does_not_give_what_was_run_is_refused) {
  expect_refused(
      path("r.json"), json::parse(result_json(sample())),
      {{"/scenario/overrides", gone, "was written before results could be resumed"},
       {"/scenario/text", "sweep = [",
        "the scenario in it is not one for this build: given/name.toml: line 1: not TOML"},
       {"/scenario/title", "another", "scenario.title = \"another\" is not allowed"},
       {"/scenario/overrides/seed", 3,
        "curve \"coded\" was run with seed = 9007199254740993, but the scenario in it gives 3 in this build: "
        "expected the same"},
       {"/scenario/overrides/seed", -3, "scenario.overrides.seed = -3 is not allowed"},
       {"/scenario/overrides/k", 40, "is not known"},
       {"/curves/0/config/decoder/windows", 1, "was run with decoder.windows = 1, but"},
       {"/curves/0/config/stop/max_frames", 1, "was run with stop.max_frames = 1, but"},
       {"/curves/0/config/modem", gone, "modem = not there"},
       {"/curves/0/config/puncturing", 1, "puncturing = 1, but the scenario in it gives"},
       {"/curves/0/label", "x", "label = \"x\" is not allowed: expected a curve of the"}});
}

TEST_F(result, of_antennas_that_contradicts_itself_is_refused) {
  expect_refused(path("r.json"), json::parse(result_json(antennas_sample())),
                 {{"/curves/0/points/0/erased_uses", 100000, "erased_uses = 100000 is not allowed"},
                  {"/curves/0/points/0/snr_db", 9, "expected one of config.sweep.snr_db"},
                  {"/curves/0/config/detector/llr_clip", 3, "was run with detector.llr_clip = 3, but"},
                  {"/curves/0/config/mimo/streams", 1, "was run with mimo.streams = 1, but"}});
}

TEST_F(result, of_before_there_was_mimo_is_read) {
  const std::string text = result_json(sample());
  json j = json::parse(text);
  for (auto& c : j["curves"])
    for (auto& p : c["points"]) p.erase("snr_db");
  write_file(path("r.json"), j.dump(2));
  EXPECT_EQ(result_json(load_result(path("r.json"))), text);
  j["curves"][0]["points"][0]["erased_uses"] = 0;
  EXPECT_NE(refusal(path("r.json"), j.dump(2)).find("none: there is neither a detector nor"),
            std::string::npos);
}

TEST_F(result, of_before_is_told_apart) {
  const std::filesystem::path old =
      std::filesystem::path(WARPBAND_SOURCE_DIR) / "curves" / "turbo_k1024_i8.json";
  if (!std::filesystem::exists(old)) GTEST_SKIP() << "no stored curves here";
  try {
    load_result(old.string());
    FAIL() << "not refused";
  } catch (const file_error& e) {
    EXPECT_NE(std::string(e.what()).find("was written before results could be resumed"), std::string::npos)
        << e.what();
  }
}

TEST_F(result, goes_on_with_another_scenario_only_where_the_counts_agree) {
  const run_result held = sample();
  const std::string base =
      "title = \"sample\"\ncode.k = 512\nseed = 9007199254740993\nstop.max_frames = 90\nsweep.ebn0_db = { "
      "from = "
      "-2.4, to = 0.9, step = 0.3 }\n";
  const std::string coded = "[[curve]]\nlabel = \"coded\"\ndecoder.iterations = 3\n";
  const std::string uncoded = "[[curve]]\nlabel = \"uncoded\"\ncode.type = \"none\"\n";
  const auto with = [&](const std::string& text) {
    return resumed(held, parse_scenario(text, "new.toml"), "r.json");
  };
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      with(text);
    } catch (const file_error& e) {
      return e.what();
    }
    ADD_FAILURE() << "not refused: " << text;
    return "";
  };
  // Points and curves more, in another order, another rule; one that was not begun may be left out.
  const run_result r = with(base + "[[curve]]\nlabel = \"new\"\n" + uncoded + coded);
  ASSERT_EQ(r.curves.size(), 3u);
  EXPECT_TRUE(r.curves[0].points.empty());
  EXPECT_EQ(r.curves[1].points.size(), held.curves[1].points.size());
  EXPECT_EQ(r.curves[2].points.size(), held.curves[0].points.size());
  EXPECT_EQ(r.curves[2].unfinished.size(), held.curves[0].unfinished.size());
  EXPECT_EQ(r.curves[2].config.stop.max_frames, 90u);
  EXPECT_EQ(r.curves[2].config.sweep_db.size(), 12u);
  EXPECT_EQ(r.source.file, "new.toml");
  EXPECT_FALSE(r.source.overrides.seed);
  EXPECT_EQ(r.earlier.size(), 1u);

  EXPECT_EQ(refusal(base + uncoded + "[[curve]]\nlabel = \"coded\"\ndecoder.iterations = 8\n"),
            "r.json: curve \"coded\" was run with decoder.iterations = 3, now 8: expected the same");
  EXPECT_EQ(refusal(base + coded),
            "r.json: holds a curve \"uncoded\" that new.toml does not list: expected all "
            "curves held");
  EXPECT_EQ(
      refusal(base + coded + uncoded + "sweep.ebn0_db = [-1.8]"),
      "r.json: curve \"uncoded\" holds a point at Eb/N0 = -2.1 dB that new.toml does not list: expected "
      "all points held");
  EXPECT_NE(
      refusal(base + coded + uncoded + "channel.type = \"rayleigh\"").find("channel.type = \"awgn\", now"),
      std::string::npos);
  EXPECT_NE(refusal(base + coded + uncoded + "seed = 1").find("seed = 9007199254740993, now 1"),
            std::string::npos);
}

}  // namespace result_refusal_test
}  // namespace wb
