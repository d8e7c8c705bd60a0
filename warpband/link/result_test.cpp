#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include <tests/on_backends.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>

#ifndef WARPBAND_SOURCE_DIR
#define WARPBAND_SOURCE_DIR ""
#endif

namespace wb {
namespace {

namespace fs = std::filesystem;

/// A folder of this test's own.
class result : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("warpband_result_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  fs::path folder_;
};

TEST_F(result, nested_without_end_is_refused) {
  const std::string deep = "{\"warpband\": " + std::string(500000, '[');
  write_file(path("deep.json"), deep);
  EXPECT_THROW(load_result(path("deep.json")), file_error);
}

TEST_F(result, is_read_back_as_it_was_run) {
  const std::string text = R"(
title = "round trip"
seed = 12345678901234567
code.k = 512
decoder.iterations = 3
[sweep]
ebn0_db = [-2.0, 0.3]
[stop]
frame_errors = 3
max_frames = 40
[[curve]]
label = "coded"
[[curve]]
label = "uncoded, \"faded\""
code.type = "none"
channel.type = "rayleigh"
modem.modulation = "16qam"
)";
  const auto exec = testing::open_scalar();
  run_result r;
  r.source = parse_scenario(text, "given/name.toml");
  r.origin.machine = describe_machine(*exec);
  for (const curve_config& c : r.source.curves) r.curves.push_back(run_curve(c, *exec));
  r.complete = true;
  write_file(path("r.json"), result_json(r));

  const nlohmann::json j = nlohmann::json::parse(content(path("r.json")));
  EXPECT_EQ(j["warpband"]["version"], version());
  EXPECT_EQ(j["warpband"]["commit"], commit());
  EXPECT_EQ(j["machine"]["device"], "cpu");
  EXPECT_EQ(j["machine"]["instruction_set"], "scalar");
  EXPECT_EQ(j["machine"]["threads"], 1);
  EXPECT_FALSE(j["machine"]["cpu"].get<std::string>().empty());
  EXPECT_EQ(j["scenario"]["file"], "given/name.toml");
  EXPECT_EQ(j["scenario"]["text"], text);
  EXPECT_EQ(j["complete"], true);
  ASSERT_EQ(j["curves"].size(), 2u);
  for (std::size_t i = 0; i < 2; i++) {
    const auto& curve = j["curves"][i];
    const curve_result& was = r.curves[i];
    EXPECT_EQ(curve["label"], was.label);
    ASSERT_EQ(curve["points"].size(), was.points.size());
    for (std::size_t n = 0; n < was.points.size(); n++) {
      const auto& point = curve["points"][n];
      const point_result& p = was.points[n];
      EXPECT_EQ(point["ebn0_db"].get<double>(), p.ebn0_db);
      EXPECT_EQ(point["esn0_db"].get<double>(), p.esn0_db);
      EXPECT_EQ(point["frames"], p.counts.frames);
      EXPECT_EQ(point["bits"], p.bits());
      EXPECT_EQ(point["bit_errors"], p.counts.bit_errors);
      EXPECT_EQ(point["frame_errors"], p.counts.frame_errors);
      EXPECT_EQ(point["erased_frames"], 0);
      EXPECT_EQ(point["ber"].get<double>(), p.ber());
      EXPECT_EQ(point["fer"].get<double>(), p.fer());
      EXPECT_EQ(point["fer_interval"][0].get<double>(), p.fer_interval().low);
      EXPECT_EQ(point["fer_interval"][1].get<double>(), p.fer_interval().high);
      EXPECT_TRUE(point["ber_interval"].is_null());
      EXPECT_EQ(point["stopped_by"], name_of(p.stopped_by));
      EXPECT_TRUE(point.contains("mbps") && point.contains("seconds"));
    }
  }
  const auto &coded = j["curves"][0], &uncoded = j["curves"][1];
  EXPECT_EQ(coded["points"][0]["iterations"].get<double>(), 3);
  EXPECT_TRUE(uncoded["points"][0]["iterations"].is_null());
  const auto& config = coded["config"];
  EXPECT_EQ(config["seed"], 12345678901234567u);
  EXPECT_EQ(config["code"]["k"], 512);
  EXPECT_EQ(config["code"]["interleaver"]["f1"], 31);
  const turbo_decoder_config chosen = completed(r.source.curves[0].link).code.turbo.decoder;
  EXPECT_EQ(config["decoder"]["windows"], chosen.windows);
  EXPECT_EQ(config["decoder"]["overlap"], chosen.overlap);
  EXPECT_EQ(config["stop"]["frame_errors"], 3);
  EXPECT_EQ(config["sweep"]["ebn0_db"], (nlohmann::json{-2.0, 0.3}));
  EXPECT_FALSE(uncoded["config"].contains("decoder"));
  EXPECT_EQ(uncoded["config"]["channel"]["fading"], "fast");
  EXPECT_EQ(uncoded["config"]["modem"]["modulation"], "16qam");
}

/// A result of links with antennas and of the SNR, after a few frames.
run_result antennas_sample() {
  const std::string text = R"(
code.k = 512
code.rate = "1/2"
decoder.iterations = 3
modem.modulation = "qpsk"
channel.type = "rayleigh"
mimo = { streams = 2, rx_antennas = 2 }
sweep.snr_db = { from = 0.0, to = 2.1, step = 0.3 }
stop.max_frames = 20
[[curve]]
label = "clipped"
detector = { type = "mmse", llr_clip = 0.7 }
[[curve]]
label = "zf"
detector.type = "zf"
code.type = "none"
)";
  const auto exec = testing::open_scalar();
  run_result r;
  r.source = parse_scenario(text, "given/name.toml");
  r.origin.machine = describe_machine(*exec);
  for (const curve_config& c : r.source.curves) {
    r.curves.push_back({c.label, c, {}, {}, false});
    std::size_t batches = 0;
    run_curve(r.curves.back(), *exec,
              {.progress =  // a slow machine takes more batches for a point
               [&](const curve_result& so_far, std::size_t, const point_counts&) {
                 return so_far.points.empty() || ++batches < 4;
               },
               .finished = {}});
  }
  return r;
}

TEST_F(result, of_antennas_comes_back_and_goes_on) {
  run_result r = antennas_sample();
  ASSERT_FALSE(r.curves[0].points.empty());
  r.curves[0].points[0].counts.erased_uses = 3;
  const std::string text = result_json(r);
  write_file(path("r.json"), text);
  run_result back = load_result(path("r.json"));
  EXPECT_EQ(result_json(back), text);
  EXPECT_EQ(back.curves[0].points[0].counts.erased_uses, 3u);
  const nlohmann::json j = nlohmann::json::parse(text);
  const auto &config = j["curves"][0]["config"], &point = j["curves"][0]["points"][0];
  EXPECT_EQ(config["mimo"], (nlohmann::json{{"streams", 2}, {"rx_antennas", 2}}));
  EXPECT_EQ(config["detector"], (nlohmann::json{{"type", "mmse"}, {"llr_clip", 0.7}}));
  EXPECT_FALSE(config["modem"].contains("demapper"));
  EXPECT_EQ(config["code"]["rate"].get<double>(), 512.0 / 1036);
  EXPECT_EQ(config["sweep"]["snr_db"][1].get<double>(), 0.3);
  EXPECT_EQ(point["snr_db"].get<double>(), 0);
  EXPECT_EQ(point["esn0_db"].get<double>(), r.curves[0].points[0].esn0_db);
  EXPECT_EQ(point["ebn0_db"].get<double>(), r.curves[0].points[0].ebn0_db);
  EXPECT_EQ(j["unfinished"].empty() ? "none" : j["unfinished"][0]["config"]["detector"]["type"], "mmse");

  const auto exec = testing::open_scalar();
  back.curves[0].points[0].counts.erased_uses = 0;
  for (curve_result& c : back.curves) {
    const curve_result whole = run_curve(c.config, *exec);
    run_curve(c, *exec);
    ASSERT_EQ(c.points.size(), 8u);
    for (std::size_t n = 0; n < 8; n++) {
      point_counts a = c.points[n].counts, b = whole.points[n].counts;
      a.frames_run = b.frames_run = 0, a.seconds = b.seconds = 0;
      EXPECT_EQ(a, b);
    }
  }
  // Over Eb/N0 it is another sweep.
  std::string other = r.source.text;
  other.replace(other.find("sweep.snr_db"), 12, "sweep.ebn0_db");
  try {
    resumed(load_result(path("r.json")), parse_scenario(other, "new.toml"), "r.json");
    FAIL() << "not refused";
  } catch (const file_error& e) {
    EXPECT_EQ(
        std::string(e.what()),
        "r.json: curve \"clipped\" was run over sweep.snr_db, now over sweep.ebn0_db: expected the same");
  }
}

TEST_F(result, of_other_codes_comes_back_and_goes_on_with_the_same_settings_alone) {
  struct curve {
    std::string label, text, code, decoder;
  };
  const std::vector<curve> curves{
      {"wimax", "code = { type = \"wimax-ldpc\", n = 576, rate = \"2/3B\", crc = \"crc24a\" }\n",
       R"({"type":"wimax-ldpc","k":384,"crc":"crc24a","n":576,"rate_name":"2/3B","rate":0.6666666666666666})",
       R"({"algorithm":"normalised-min-sum","scale":0.75,"iterations":15,"schedule":"layered",)"
       R"("precision":"float32","early_stop":"syndrome"})"},
      {"wifi",
       "code = { type = \"wifi-ldpc\", n = 648 }\ndecoder = { algorithm = \"offset-min-sum\", offset = 0.3, "
       "precision = \"int8\", iterations = 4, schedule = \"flooding\", early_stop = \"none\" }\n",
       R"({"type":"wifi-ldpc","k":324,"crc":"none","n":648,"rate_name":"1/2","rate":0.5})",
       R"({"algorithm":"offset-min-sum","offset":0.3,"iterations":4,"schedule":"flooding","precision":"int8",)"
       R"("int8_steps":3.0,"early_stop":"none"})"},
      {"zero", "code = { type = \"conv\", k = 50, rate = \"3/4\" }\n",
       R"({"type":"conv","k":50,"crc":"none","n":75,"rate_name":"3/4","termination":"zero-tail",)"
       R"("constraint_length":7,"generators":["133","171"],"standard":"802.11","order":"serial",)"
       R"("rate":0.6666666666666666})",
       R"({"algorithm":"viterbi"})"},
      {"tail",
       "code = { type = \"conv\", k = 50, rate = \"1/3\", termination = \"tail-biting\" }\n"
       "decoder.algorithm = \"log-map\"\n",
       R"({"type":"conv","k":50,"crc":"none","n":150,"rate_name":"1/3","termination":"tail-biting",)"
       R"("constraint_length":7,"generators":["133","171","165"],"standard":"802.11","order":"serial",)"
       R"("rate":0.3333333333333333})",
       R"({"algorithm":"log-map","overlap":48})"},
      {"recursive", "code = { type = \"conv\", k = 50, generators = [\"7\", \"5\"], feedback = \"7\" }\n",
       R"({"type":"conv","k":50,"crc":"none","n":104,"rate_name":"1/2","termination":"zero-tail",)"
       R"("constraint_length":3,"generators":["7","5"],"feedback":"7","standard":"802.11","order":"serial",)"
       R"("rate":0.4807692307692308})",
       R"({"algorithm":"viterbi"})"}};
  const auto text_of = [&](const std::string& more) {
    std::string text = "sweep.ebn0_db = [1, 2]\nstop.max_frames = 30\n";
    for (const curve& c : curves) text += "[[curve]]\nlabel = \"" + c.label + "\"\n" + c.text + more;
    return text;
  };
  run_result r;
  r.source = parse_scenario(text_of(""), "s.toml");
  const auto exec = testing::open_scalar();
  r.origin.machine = describe_machine(*exec);
  for (const curve_config& c : r.source.curves) r.curves.push_back(run_curve(c, *exec));
  const std::string text = result_json(r);
  write_file(path("r.json"), text);
  run_result back = load_result(path("r.json"));
  EXPECT_EQ(result_json(back), text);
  const auto j = nlohmann::ordered_json::parse(text);
  ASSERT_EQ(j["curves"].size(), curves.size());
  for (std::size_t i = 0; i < curves.size(); i++) {
    EXPECT_EQ(j["curves"][i]["config"]["code"].dump(), curves[i].code);
    EXPECT_EQ(j["curves"][i]["config"]["decoder"].dump(), curves[i].decoder);
    EXPECT_GT(r.curves[i].points[0].counts.iterations, 0u);
  }

  // Goes on to the counts of a run in one go.
  run_result more = resumed(back, parse_scenario(text_of("stop.max_frames = 50\n"), "s.toml"), "r.json");
  for (curve_result& c : more.curves) {
    const curve_result whole = run_curve(c.config, *exec);
    run_curve(c, *exec);
    for (std::size_t n = 0; n < 2; n++) {
      point_counts a = c.points[n].counts, b = whole.points[n].counts;
      a.frames_run = b.frames_run = 0, a.seconds = b.seconds = 0;
      EXPECT_EQ(a, b);
    }
  }

  // With another setting it does not.
  const auto refusal_of = [&](const std::string& from, const std::string& to) -> std::string {
    std::string changed = text_of("");
    changed.replace(changed.find(from), from.size(), to);
    try {
      resumed(load_result(path("r.json")), parse_scenario(changed, "s.toml"), "r.json");
    } catch (const file_error& e) {
      return e.what();
    }
    return "";
  };
  const std::string same = ": expected the same";
  EXPECT_EQ(refusal_of("2/3B", "2/3A"),
            "r.json: curve \"wimax\" was run with code.rate_name = \"2/3B\", now \"2/3A\"" + same);
  EXPECT_EQ(refusal_of("offset = 0.3", "offset = 0.4"),
            "r.json: curve \"wifi\" was run with decoder.offset = 0.3, now 0.4" + same);
  EXPECT_EQ(refusal_of("\"flooding\"", "\"layered\""),
            "r.json: curve \"wifi\" was run with decoder.schedule = \"flooding\", now \"layered\"" + same);
  EXPECT_EQ(refusal_of("\"int8\"", "\"float32\""),
            "r.json: curve \"wifi\" was run with decoder.precision = \"int8\", now \"float32\"" + same);
  EXPECT_EQ(
      refusal_of("\"log-map\"", "\"max-log-map\""),
      "r.json: curve \"tail\" was run with decoder.algorithm = \"log-map\", now \"max-log-map\"" + same);
  EXPECT_EQ(refusal_of("k = 50, rate = \"3/4\"", "k = 50, rate = \"3/4\", standard = \"802.16\""),
            "r.json: curve \"zero\" was run with code.generators = [\"133\",\"171\"], now [\"171\",\"133\"]" +
                same);
  EXPECT_EQ(refusal_of("[\"7\", \"5\"], feedback = \"7\"", "[\"7\", \"5\"]"),
            "r.json: curve \"recursive\" was run with code.feedback = \"7\", now without it" + same);

  // More passes than frames are no state of a decoder that has one.
  std::string wrong = text;
  const std::string key = "\"iterations_sum\": 30";
  const std::size_t at = wrong.find(key, wrong.find("\"zero\""));
  ASSERT_NE(at, std::string::npos);
  wrong.replace(at, key.size(), "\"iterations_sum\": 31");
  write_file(path("wrong.json"), wrong);
  EXPECT_THROW(load_result(path("wrong.json")), file_error);
}

TEST_F(result, of_an_order_of_streams_goes_on_with_that_order_alone) {
  const auto text = [](const std::string& more) {
    return "title = \"ordered\"\ncode = { type = \"none\", k = 64 }\nmodem.modulation = \"qpsk\"\n"
           "channel.type = \"rayleigh\"\nmimo = { streams = 3, rx_antennas = 3 }\nsweep.snr_db = 3\n"
           "stop.max_frames = 9\ndetector.type = \"kbest\"\ndetector.survivors = 2\n" +
           more;
  };
  run_result r;
  r.source = parse_scenario(text("detector.order = [2, 0, 1]"), "s.toml");
  const curve_config& c = r.source.curves[0];
  const auto exec = testing::open_scalar();
  r.origin.machine = describe_machine(*exec);
  r.curves.push_back(run_curve(c, *exec));
  write_file(path("r.json"), result_json(r));
  const run_result back = load_result(path("r.json"));
  EXPECT_EQ(result_json(back), result_json(r));
  EXPECT_EQ(nlohmann::json::parse(result_json(r))["curves"][0]["config"]["detector"]["order"],
            (nlohmann::json{2, 0, 1}));
  const auto refusal_of = [&](const std::string& more) -> std::string {
    try {
      resumed(back, parse_scenario(text(more), "s.toml"), "r.json");
    } catch (const file_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refusal_of("detector.order = [2, 0, 1]"), "");
  const std::string was = "r.json: curve \"ordered\" was run with detector.order = [2,0,1], now ";
  EXPECT_EQ(refusal_of("detector.order = [1, 0, 2]"), was + "[1,0,2]: expected the same");
  EXPECT_EQ(refusal_of(""), was + "without it: expected the same");
  EXPECT_EQ(refusal_of("detector.order = [0, 1, 2]"), was + "without it: expected the same");
}

/// A result with all that a file can hold, after a few frames.
run_result sample() {
  const std::string text = R"(
title = "sample"
code.k = 512
decoder.iterations = 3
sweep.ebn0_db = { from = -2.1, to = 0.6, step = 0.3 }
stop.max_frames = 30
[[curve]]
label = "coded"
[[curve]]
label = "uncoded"
code.type = "none"
[[curve]]
label = "not begun"
seed = 2
)";
  const auto exec = testing::open_scalar();
  run_result r;
  r.source = parse_scenario(text, "given/name.toml");
  apply_overrides(r.source,
                  {.seed = 9007199254740993, .frame_errors = 4, .max_frames = {}, .max_seconds = 1e8});
  r.earlier.push_back({"0.0.9", "abc", {"a CPU", "an OS", "cuda:0, a GPU", "", 0}});
  r.origin.machine = describe_machine(*exec);
  for (const curve_config& c : r.source.curves) r.curves.push_back({c.label, c, {}, {}, false});
  const curve_observer observer{
      .progress =  // how many batches a point takes is up to the machine
      [](const curve_result& so_far, std::size_t, const point_counts&) { return so_far.points.size() < 3; },
      .finished = {}};
  for (std::size_t i = 0; i < 2; i++) run_curve(r.curves[i], *exec, observer);
  r.curves[2].config.link = completed(r.curves[2].config.link);
  // A point that goes on from its finished state.
  unfinished_point more{r.curves[0].points[1].sweep_db, r.curves[0].points[1].counts};
  more.counts.frames++;
  more.counts.frames_run += 5;
  more.counts.seconds += 0.1;
  auto& under_way = r.curves[0].unfinished;
  under_way.insert(under_way.begin(), more);
  return r;
}

TEST_F(result, comes_back_exactly) {
  const run_result r = sample();
  const std::string text = result_json(r);
  write_file(path("r.json"), text);
  const run_result back = load_result(path("r.json"));
  EXPECT_EQ(result_json(back), text);
  EXPECT_EQ(back.source.text, r.source.text);
  EXPECT_EQ(back.source.overrides.seed, 9007199254740993u);
  EXPECT_EQ(back.origin.commit, commit());
  ASSERT_EQ(back.earlier.size(), 1u);
  EXPECT_EQ(back.earlier[0].machine.device, "cuda:0, a GPU");
  EXPECT_EQ(back.earlier[0].machine.threads, 0);
  ASSERT_EQ(back.curves.size(), 3u);
  for (std::size_t i = 0; i < 3; i++) {
    const curve_result &a = r.curves[i], &b = back.curves[i];
    EXPECT_EQ(a.label, b.label);
    EXPECT_EQ(b.config.link.seed, 9007199254740993u);
    EXPECT_EQ(a.config.sweep_db, b.config.sweep_db);
    EXPECT_EQ(a.config.stop, b.config.stop);
    ASSERT_EQ(a.points.size(), b.points.size());
    ASSERT_EQ(a.unfinished.size(), b.unfinished.size());
    for (std::size_t n = 0; n < a.points.size(); n++) {
      EXPECT_EQ(a.points[n].sweep_db, b.points[n].sweep_db);  // the very double
      EXPECT_EQ(a.points[n].counts, b.points[n].counts);      // the seconds too
      EXPECT_EQ(a.points[n].stopped_by, b.points[n].stopped_by);
      EXPECT_EQ(a.points[n].bits_per_frame, b.points[n].bits_per_frame);
      EXPECT_EQ(a.points[n].coded, b.points[n].coded);
      EXPECT_EQ(a.points[n].independent_bits, b.points[n].independent_bits);
    }
    for (std::size_t n = 0; n < a.unfinished.size(); n++) {
      EXPECT_EQ(a.unfinished[n].sweep_db, b.unfinished[n].sweep_db);
      EXPECT_EQ(a.unfinished[n].counts, b.unfinished[n].counts);
    }
  }
  EXPECT_EQ(r.curves[0].unfinished.size(), 2u);
  EXPECT_GT(r.curves[0].points.size(), 1u);
  // Who draws curves meets none without a point, and no point that no rule stopped.
  const nlohmann::json j = nlohmann::json::parse(text);
  for (const auto& c : j["curves"]) EXPECT_GT(c["points"].size(), 0u);
  EXPECT_EQ(j["curves"][0]["points"].size(), r.curves[0].points.size());
}

TEST_F(result, of_a_run_goes_on_to_the_same_counts) {
  const auto exec = testing::open_scalar();
  write_file(path("r.json"), result_json(sample()));
  run_result r = load_result(path("r.json"));
  r.curves[0].unfinished.erase(r.curves[0].unfinished.begin());  // its counts were made up
  for (curve_result& c : r.curves) {
    curve_config fresh = c.config;
    run_curve(c, *exec);
    const curve_result whole = run_curve(fresh, *exec);
    ASSERT_EQ(c.points.size(), 10u);
    for (std::size_t n = 0; n < 10; n++) {
      point_counts a = c.points[n].counts, b = whole.points[n].counts;
      a.frames_run = b.frames_run = 0, a.seconds = b.seconds = 0;
      EXPECT_EQ(a, b);
      EXPECT_EQ(c.points[n].stopped_by, whole.points[n].stopped_by);
    }
  }
}

/// What load_result says about a text, without the file's name: one line.
std::string refusal(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
  try {
    load_result(file);
  } catch (const file_error& e) {
    EXPECT_EQ(e.path(), file);
    const std::string what = e.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what.substr(file.size() + 2);
  }
  ADD_FAILURE() << "not refused: " << text.substr(0, 2000);
  return "";
}

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
  EXPECT_THROW(load_result(folder_.string()), file_error);
}

TEST_F(result, that_contradicts_itself_is_refused) {
  using json = nlohmann::ordered_json;
  const std::string file = path("r.json");
  const json good = json::parse(result_json(sample()));
  struct change {
    std::string at;  // JSON pointer; "-" at its end adds to a list
    json value;      // discarded: takes it out
    std::string part;
  };
  const json gone(json::value_t::discarded);
  const std::string point = "/curves/0/points/0/", begun = "/unfinished/0/points/0/";
  const change table[] = {
      // Counts that cannot be.
      {point + "frame_errors", 31,
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
      {point + "bits", 7, "bits = 7 is not allowed"},
      {point + "ber", 0.5, "ber = 0.5 is not allowed"},
      {point + "fer", nullptr, "fer = null is not allowed"},
      {point + "iterations", 1.0, "iterations = 1.0 is not allowed"},
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
      {"/curves/1/points/0/iterations", 1, "null: there is no decoder"},
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
      {"/extra", 2, "\"extra\" is not known to this version"},
      // A scenario that does not give what was run.
      {"/scenario/overrides", gone, "was written before results could be resumed"},
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
      {"/curves/0/label", "x", "label = \"x\" is not allowed: expected a curve of the"}};
  for (const change& c : table) {
    json j = good;
    const json::json_pointer at(c.at);
    if (c.value.is_discarded())
      j[at.parent_pointer()].erase(at.back());
    else
      j[at] = c.value;
    const std::string what = refusal(file, j.dump(2));
    EXPECT_NE(what.find(c.part), std::string::npos) << what << "\nexpected: " << c.part;
  }
}

TEST_F(result, of_space_time_codes_comes_back_and_goes_on) {
  const std::string text = R"(
code = { type = "none", k = 40 }
modem.modulation = "qpsk"
channel.type = "rayleigh"
mimo.rx_antennas = 2
sweep.snr_db = [4, 6]
stop.max_frames = 20
[[curve]]
label = "silver"
stbc.type = "silver"
[[curve]]
label = "slicing"
stbc = { type = "golden", search = "slicing" }
[[curve]]
label = "turned"
stbc = { type = "pair", v = [[0.955, 0], [0, 0.29660580], [0, 0.29660580], [0.955, 0]] }
)";
  const auto exec = testing::open_scalar();
  run_result r;
  r.source = parse_scenario(text, "s.toml");
  r.origin.machine = describe_machine(*exec);
  for (const curve_config& c : r.source.curves) r.curves.push_back(run_curve(c, *exec));
  r.curves[0].points[0].counts.erased_uses = 6;
  const std::string written = result_json(r);
  write_file(path("r.json"), written);
  EXPECT_EQ(result_json(load_result(path("r.json"))), written);
  nlohmann::ordered_json j = nlohmann::ordered_json::parse(written);
  const auto &silver = j["curves"][0]["config"], &slicing = j["curves"][1]["config"];
  EXPECT_EQ(silver["mimo"], (nlohmann::ordered_json{{"streams", 2}, {"rx_antennas", 2}}));
  EXPECT_EQ(silver["stbc"], (nlohmann::ordered_json{{"type", "silver"}}));
  EXPECT_EQ(slicing["stbc"], (nlohmann::ordered_json{{"type", "golden"}, {"search", "slicing"}}));
  EXPECT_FALSE(silver["modem"].contains("demapper"));
  EXPECT_FALSE(silver.contains("detector"));
  EXPECT_EQ(j["curves"][2]["config"]["stbc"].dump(),
            R"({"type":"pair","v":[[0.955,0.0],[0.0,0.2966058],[0.0,0.2966058],[0.955,0.0]]})");
  // Another V is another link: its counts are not gone on with.
  std::string other = text;
  for (std::size_t at = 0; (at = other.find("0.2966", at)) != std::string::npos; at += 2)
    other.insert(at, "-");
  try {
    resumed(load_result(path("r.json")), parse_scenario(other, "s.toml"), "r.json");
    FAIL();
  } catch (const file_error& error) {
    EXPECT_NE(std::string(error.what()).find("curve \"turned\" was run with stbc.v = [[0.955,0.0],[0.0,0.29"),
              std::string::npos)
        << error.what();
  }
  j["curves"][1]["config"]["stbc"]["search"] = "exact";
  EXPECT_NE(refusal(path("r.json"), j.dump(2)).find("was run with stbc.search = \"exact\", but"),
            std::string::npos);
}

TEST_F(result, of_antennas_that_contradicts_itself_is_refused) {
  using json = nlohmann::ordered_json;
  const json good = json::parse(result_json(antennas_sample()));
  const std::tuple<std::string, json, std::string> table[] = {
      {"/curves/0/points/0/erased_uses", 100000, "erased_uses = 100000 is not allowed"},
      {"/curves/0/points/0/ebn0_db", 9, "ebn0_db = 9 is not allowed"},
      {"/curves/0/points/0/snr_db", 9, "expected one of config.sweep.snr_db"},
      {"/curves/0/config/detector/llr_clip", 3, "was run with detector.llr_clip = 3, but"},
      {"/curves/0/config/mimo/streams", 1, "was run with mimo.streams = 1, but"}};
  for (const auto& [at, value, part] : table) {
    json j = good;
    j[json::json_pointer(at)] = value;
    const std::string what = refusal(path("r.json"), j.dump(2));
    EXPECT_NE(what.find(part), std::string::npos) << what << "\nexpected: " << part;
  }
}

TEST_F(result, of_before_there_was_mimo_is_read) {
  using json = nlohmann::ordered_json;
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
  const fs::path old = fs::path(WARPBAND_SOURCE_DIR) / "curves" / "turbo_k1024_i8.json";
  if (!fs::exists(old)) GTEST_SKIP() << "no stored curves here";
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

TEST_F(result, keeps_who_computed_it_once_in_a_row) {
  run_result r;
  r.origin = {"1", "a", {"cpu", "os", "cpu", "avx2", 1}};
  const run_origin first = r.origin;
  run_origin second = first;
  second.machine.threads = 2;
  for (int i = 0; i < 50; i++) add_origin(r, first);
  EXPECT_TRUE(r.earlier.empty());
  for (int i = 0; i < 50; i++) add_origin(r, second);
  ASSERT_EQ(r.earlier.size(), 1u);
  EXPECT_EQ(r.earlier[0].machine.threads, 1);
  EXPECT_EQ(r.origin.machine.threads, 2);
  second.commit = "b";
  add_origin(r, second);
  EXPECT_EQ(r.earlier.size(), 2u);
}

TEST_F(result, names_an_interval_of_bits_where_there_is_one_and_numbers_as_written) {
  curve_config c;
  c.link.code.turbo.decoder.extrinsic_scale = 0.7f;
  c.link.code.turbo.decoder.algorithm = map_algorithm::max_log_map;
  point_result p;
  p.bits_per_frame = 100;
  p.independent_bits = true;
  p.counts.frames = 1;
  p.counts.bit_errors = 5;
  run_result r;
  r.source.file = "not UTF-8: \xff";
  r.curves.push_back({"c", c, {p}, {}, false});
  r.curves.push_back({"not begun", c, {}, {}, true});
  const nlohmann::json j = nlohmann::json::parse(result_json(r));
  EXPECT_EQ(j["curves"].size(), 1u);
  EXPECT_EQ(j["complete"], false);
  EXPECT_NEAR(j["curves"][0]["points"][0]["ber_interval"][0].get<double>(), 0.0164, 5e-5);
  EXPECT_EQ(j["curves"][0]["config"]["decoder"]["extrinsic_scale"].get<double>(), 0.7);
}

}  // namespace
}  // namespace wb
