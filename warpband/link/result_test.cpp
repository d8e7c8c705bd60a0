// Results as files: written, read back, and gone on from.
#include <fstream>
#include <nlohmann/json.hpp>

#include <tests/codes.hpp>
#include <tests/result.hpp>

namespace wb {
namespace result_test {

using namespace testing;

using result = result_folder;

TEST_F(result, nested_without_end_is_refused) {
  const std::string deep = "{\"warpband\": " + std::string(500000, '[');
  write_file(path("deep.json"), deep);
  EXPECT_THROW(load_result(path("deep.json")), file_error);
}

void expect_written(const nlohmann::json& point, const point_result& p) {
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
  const run_result r = ran(text, *open_scalar(), "given/name.toml");
  write_file(path("r.json"), result_json(r));

  const nlohmann::json j = nlohmann::json::parse(std::ifstream(path("r.json")));
  EXPECT_EQ(j["warpband"], (nlohmann::json{{"version", version()}, {"commit", commit()}}));
  const auto& machine = j["machine"];
  EXPECT_TRUE(machine["device"] == "cpu" && machine["instruction_set"] == "scalar" &&
              machine["threads"] == 1);
  EXPECT_FALSE(machine["cpu"].get<std::string>().empty());
  EXPECT_EQ(j["scenario"]["file"], "given/name.toml");
  EXPECT_EQ(j["scenario"]["text"], text);
  EXPECT_EQ(j["complete"], true);
  ASSERT_EQ(j["curves"].size(), 2u);
  for (std::size_t i = 0; i < 2; i++) {
    const auto& curve = j["curves"][i];
    const curve_result& was = r.curves[i];
    EXPECT_EQ(curve["label"], was.label);
    ASSERT_EQ(curve["points"].size(), was.points.size());
    for (std::size_t n = 0; n < was.points.size(); n++) expect_written(curve["points"][n], was.points[n]);
  }
  const auto &coded = j["curves"][0], &uncoded = j["curves"][1];
  EXPECT_EQ(coded["points"][0]["iterations"].get<double>(), 3);
  EXPECT_TRUE(uncoded["points"][0]["iterations"].is_null());
  const auto& config = coded["config"];
  EXPECT_EQ(config["seed"], 12345678901234567u);
  EXPECT_EQ(config["code"]["k"], 512);
  EXPECT_EQ(config["code"]["interleaver"]["f1"], 31);
  const turbo_decoder_config chosen = testing::turbo_decoder_in(completed(r.source.curves[0].link).code);
  EXPECT_EQ(config["decoder"]["windows"], *chosen.windows);
  EXPECT_EQ(config["decoder"]["overlap"], *chosen.overlap);
  EXPECT_EQ(config["stop"]["frame_errors"], 3);
  EXPECT_EQ(config["sweep"]["ebn0_db"], (nlohmann::json{-2.0, 0.3}));
  EXPECT_FALSE(uncoded["config"].contains("decoder"));
  EXPECT_EQ(uncoded["config"]["channel"]["fading"], "fast");
  EXPECT_EQ(uncoded["config"]["modem"]["modulation"], "16qam");
}

TEST_F(result, of_antennas_comes_back) {
  run_result r = antennas_sample();
  ASSERT_FALSE(r.curves[0].points.empty());
  r.curves[0].points[0].counts.erased_uses = 3;
  const std::string text = result_json(r);
  write_file(path("r.json"), text);
  const run_result back = load_result(path("r.json"));
  EXPECT_EQ(result_json(back), text);
  EXPECT_EQ(back.curves[0].points[0].counts.erased_uses, 3u);
  const nlohmann::json j = nlohmann::json::parse(text);
  const auto& point = j["curves"][0]["points"][0];
  EXPECT_EQ(point["snr_db"].get<double>(), 0);
  EXPECT_EQ(point["esn0_db"].get<double>(), r.curves[0].points[0].esn0_db);
  EXPECT_EQ(point["ebn0_db"].get<double>(), r.curves[0].points[0].ebn0_db);
  EXPECT_EQ(j["unfinished"].empty() ? "none" : j["unfinished"][0]["config"]["detector"]["type"], "mmse");
}

/// Cut after each batch, and gone on from its file with another executor, a result comes to the counts of one
/// run.
TEST_F(result, of_every_kind_is_a_state_to_go_on_from) {
  const auto exec = open_reference(), other = all_backends().front().open(2);
  run_result whole;
  whole.source = every_link();
  apply_overrides(whole.source, {.seed = {}, .frame_errors = 4, .max_frames = 8, .max_seconds = {}});
  whole.origin.machine = describe_machine(*exec);
  for (const curve_config& c : whole.source.curves) whole.curves.push_back({c.label, c, {}, {}, false});
  run_result part = whole;
  for (curve_result& c : whole.curves) run_curve(c, *exec);
  int rounds = 0;
  for (bool more = true; more; rounds++) {
    more = false;
    for (curve_result& c : part.curves) {
      run_curve(c, rounds % 2 == 0 ? *exec : *other,
                {.progress = [](const curve_result&, std::size_t, const point_counts&) { return false; },
                 .finished = {}});
      more |= c.cancelled;
    }
    const std::string text = result_json(part);
    write_file(path("r.json"), text);
    EXPECT_EQ(result_json(load_result(path("r.json"))), text);
    part = resumed(load_result(path("r.json")), whole.source, path("r.json"));
  }
  EXPECT_GT(rounds, 2);
  for (std::size_t i = 0; i < whole.curves.size(); i++) {
    SCOPED_TRACE(whole.curves[i].label);
    ASSERT_EQ(part.curves[i].points.size(), 1u);
    expect_same(part.curves[i].points[0].counts, whole.curves[i].points.at(0).counts);
  }
}

/// What a scenario says of settings, and what a result does; nothing is compared with "".
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
     R"("llr_steps":"auto","early_stop":"none"})"},
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
     R"({"algorithm":"viterbi"})"},
    {"polar", "code = { type = \"polar\", k = 64, coded_bits = 128 }\ndecoder.list_size = 2\n",
     R"({"type":"polar","k":64,"kind":"uci","coded_bits":128,"rate":0.5})",
     R"({"algorithm":"min-sum","list_size":2})"},
    {"ordered",
     "code = { type = \"none\", k = 64 }\nmodem.modulation = \"qpsk\"\nchannel.type = \"rayleigh\"\n"
     "mimo = { streams = 3, rx_antennas = 3 }\n"
     "detector = { type = \"kbest\", survivors = 2, order = [2, 0, 1] }\n",
     "", ""},
    {"turned",
     "code = { type = \"none\", k = 40 }\nmodem.modulation = \"qpsk\"\nchannel.type = \"rayleigh\"\n"
     "mimo.rx_antennas = 2\nstbc = { type = \"pair\", v = [[0.955, 0], [0, 0.29660580], [0, 0.29660580], "
     "[0.955, 0]] }\n",
     "", ""},
    {"golden",
     "code = { type = \"none\", k = 40 }\nmodem.modulation = \"qpsk\"\nchannel.type = \"rayleigh\"\n"
     "mimo.rx_antennas = 2\nstbc = { type = \"golden\", search = \"slicing\" }\n",
     "", ""}};
std::string text_of_curves() {
  std::string text = "sweep.ebn0_db = [1, 2]\nstop.max_frames = 30\n";
  for (const curve& c : curves) text += "[[curve]]\nlabel = \"" + c.label + "\"\n" + c.text;
  return text;
}
run_result run_of_curves() { return ran(text_of_curves(), *open_scalar()); }

TEST_F(result, has_settings_in_their_order_as_they_were_completed) {
  const run_result r = run_of_curves();
  const std::string text = result_json(r);
  const auto j = nlohmann::ordered_json::parse(text);
  ASSERT_EQ(j["curves"].size(), curves.size());
  for (std::size_t i = 0; i < curves.size(); i++) {
    if (curves[i].code.empty()) continue;
    EXPECT_EQ(j["curves"][i]["config"]["code"].dump(), curves[i].code);
    EXPECT_EQ(j["curves"][i]["config"]["decoder"].dump(), curves[i].decoder);
    EXPECT_GT(r.curves[i].points[0].counts.iterations, 0u);
  }

  // More passes than frames are no state of a decoder that has one.
  std::string wrong = text;
  const std::string key = "\"iterations_sum\": 30";
  const std::size_t begin = wrong.find(key, wrong.find("\"zero\""));
  ASSERT_NE(begin, std::string::npos);
  wrong.replace(begin, key.size(), "\"iterations_sum\": 31");
  write_file(path("wrong.json"), wrong);
  EXPECT_THROW(load_result(path("wrong.json")), file_error);
}

TEST_F(result, does_not_go_on_with_other_settings) {
  write_file(path("r.json"), result_json(run_of_curves()));
  struct change {
    std::string from, to, refused;
  };
  const std::string v = "[[0.955,0.0],[0.0,0.2966058],[0.0,0.2966058],[0.955,0.0]]",
                    turned = "[[0.955,0.0],[0.0,-0.2966058],[0.0,-0.2966058],[0.955,0.0]]",
                    ordered = "\"ordered\" was run with detector.order = [2,0,1], now ";
  for (const change& c : std::vector<change>{
           {"2/3B", "2/3A", "\"wimax\" was run with code.rate_name = \"2/3B\", now \"2/3A\""},
           {"offset = 0.3", "offset = 0.4", "\"wifi\" was run with decoder.offset = 0.3, now 0.4"},
           {"\"flooding\"", "\"layered\"",
            "\"wifi\" was run with decoder.schedule = \"flooding\", now \"layered\""},
           {"\"int8\"", "\"float32\"", "\"wifi\" was run with decoder.precision = \"int8\", now \"float32\""},
           {"\"log-map\"", "\"max-log-map\"",
            "\"tail\" was run with decoder.algorithm = \"log-map\", now \"max-log-map\""},
           {"rate = \"3/4\"", "rate = \"3/4\", standard = \"802.16\"",
            "\"zero\" was run with code.generators = [\"133\",\"171\"], now [\"171\",\"133\"]"},
           {", feedback = \"7\"", "", "\"recursive\" was run with code.feedback = \"7\", now without it"},
           {"list_size = 2", "list_size = 4", "\"polar\" was run with decoder.list_size = 2, now 4"},
           {"[2, 0, 1]", "[1, 0, 2]", ordered + "[1,0,2]"},
           {", order = [2, 0, 1]", "", ordered + "without it"},
           {"[2, 0, 1]", "[0, 1, 2]", ordered + "without it"},
           {"[0, 0.29660580], [0, 0.29660580]", "[0, -0.29660580], [0, -0.29660580]",
            "\"turned\" was run with stbc.v = " + v + ", now " + turned},
           {"\"slicing\"", "\"exact\"", "\"golden\" was run with stbc.search = \"slicing\", now \"exact\""},
           {"sweep.ebn0_db", "sweep.snr_db",
            "\"wimax\" was run over sweep.ebn0_db, now over sweep.snr_db"}}) {
    std::string changed = text_of_curves();
    changed.replace(changed.find(c.from), c.from.size(), c.to);
    try {
      resumed(load_result(path("r.json")), parse_scenario(changed, "s.toml"), "r.json");
      ADD_FAILURE() << "not refused: " << c.to;
    } catch (const file_error& e) {
      EXPECT_EQ(std::string(e.what()), "r.json: curve " + c.refused + ": expected the same");
    }
  }
  EXPECT_NO_THROW(resumed(load_result(path("r.json")), parse_scenario(text_of_curves(), "s.toml"), "r.json"));
}

TEST_F(result, old_names_in_a_stored_result_resume) {
  const std::string old_text =
      "code = { type = \"wimax-ldpc\", n = 576 }\nstop.max_frames = 4\nsweep.ebn0_db = [1.0]\n"
      "decoder = { precision = \"int8\", iterations = 2 }\nsweep.decoder.int8_steps = [2.0, 4.0]\n";
  const run_result r = ran(old_text, *open_scalar(), "s.toml");
  std::string text = result_json(r);
  const auto replace = [&](const std::string& from, const std::string& to) {
    std::size_t count = 0;
    for (std::size_t i = 0; (i = text.find(from, i)) != std::string::npos; i += to.size(), count++)
      text.replace(i, from.size(), to);
    EXPECT_EQ(count, 2u) << from;
  };
  replace("\"llr_steps\":", "\"int8_steps\":");
  replace("\"decoder.llr_steps\":", "\"decoder.int8_steps\":");
  write_file(path("r.json"), text);
  const run_result held = load_result(path("r.json"));
  EXPECT_EQ(result_json(held), result_json(r));
  std::string today = old_text;
  today.replace(today.find("int8_steps"), 10, "llr_steps");
  for (const std::string& wanted : {old_text, today}) {
    const run_result more = resumed(load_result(path("r.json")), parse_scenario(wanted, "s.toml"), "r.json");
    for (std::size_t i = 0; i < 2; i++)
      EXPECT_EQ(more.curves[i].points.at(0).counts, r.curves[i].points.at(0).counts);
  }
}

TEST_F(result, values_that_stood_for_leaving_a_setting_out_resume) {
  const std::string scenario_text = "code.k = 40\nstop.max_frames = 4\nsweep.ebn0_db = [1.0]\n";
  const run_result r = ran(scenario_text, *open_scalar(), "s.toml");
  std::string text = result_json(r);
  const std::string rule = "\"max_frames\": 4", with_time = rule + ", \"max_seconds\": 0.0";
  ASSERT_NE(text.find(rule), std::string::npos);
  EXPECT_EQ(text.find("max_seconds"), std::string::npos);
  text.replace(text.find(rule), rule.size(), with_time);
  write_file(path("r.json"), text);
  const run_result more =
      resumed(load_result(path("r.json")), parse_scenario(scenario_text, "s.toml"), "r.json");
  EXPECT_EQ(more.curves.at(0).points.at(0).counts, r.curves.at(0).points.at(0).counts);
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
  const auto exec = open_scalar();
  write_file(path("r.json"), result_json(sample()));
  run_result r = load_result(path("r.json"));
  r.curves[0].unfinished.erase(r.curves[0].unfinished.begin());  // its counts were made up
  for (curve_result& c : r.curves) {
    curve_config fresh = c.config;
    run_curve(c, *exec);
    const curve_result whole = run_curve(fresh, *exec);
    ASSERT_EQ(c.points.size(), 10u);
    for (std::size_t n = 0; n < 10; n++) {
      expect_same(c.points[n].counts, whole.points[n].counts);
      EXPECT_EQ(c.points[n].stopped_by, whole.points[n].stopped_by);
    }
  }
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
  testing::turbo_decoder_in(c.link.code).extrinsic_scale = 0.7f;
  testing::turbo_decoder_in(c.link.code).algorithm = map_algorithm::max_log_map;
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

}  // namespace result_test
}  // namespace wb
