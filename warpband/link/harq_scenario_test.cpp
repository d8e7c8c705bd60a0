// LTE transport blocks with HARQ in scenario and result files.
#include <nlohmann/json.hpp>

#include <tests/codes.hpp>
#include <tests/result.hpp>
#include <tests/scenario.hpp>

namespace wb {
namespace harq_scenario_test {

using namespace testing;

const std::string text_of_scenario = R"(
title = "HARQ"
code = { type = "lte-transport", transport_block_size = 200, resource_elements = 160, transmissions = 3 }
decoder = { algorithm = "max-log-map", iterations = 4, extrinsic_scale = 0.75 }
modem.modulation = "qpsk"
sweep.snr_db = [0.0, 1.5]
stop = { frame_errors = 6, max_frames = 50 }
[[curve]]
label = "incremental"
[[curve]]
label = "Chase"
code = { redundancy_versions = [0], soft_buffer = 500, coded_bits = 320 }
decoder = { precision = "int16", early_stop = "none" }
[[curve]]
label = "no HARQ"
code = { type = "lte-turbo", k = 256 }
)";

TEST(harq, of_5g_nr_in_a_scenario) {
  const std::string base = "sweep.snr_db = 1\ncode.type = \"nr-dlsch\"\n";
  const scenario s = parse_scenario(
      base + "code.resource_elements = 3600\ncode.transport_block_size = 6912\ncode.target_rate = 0.2\n" +
          "modem.modulation = \"16qam\"\ndecoder.iterations = 7\n",
      "s.toml");
  const code_config c = completed(s.curves.at(0).link).code;
  EXPECT_EQ(c.type, "nr-dlsch");
  EXPECT_EQ(sizes_of(c).n, 14400u);
  EXPECT_EQ(
      nr_transport_plan(nr_transport_of(c.get<nr_transport_settings>())).segmentation().block.base_graph, 2);
  EXPECT_EQ(harq_of(c).code_blocks, 2);
  EXPECT_EQ(testing::ldpc_decoder_in(c).iterations, 7);
  const auto up = completed(parse_scenario("sweep.snr_db = 1\ncode.type = \"NR_ULSCH\"\n"
                                           "code.resource_elements = 3600\ncode.lbrm_resource_blocks = 25\n",
                                           "s.toml")
                                .curves.at(0)
                                .link)
                      .code;
  EXPECT_EQ(up.type, "nr-ulsch");
  EXPECT_EQ(sizes_of(up).k, 8424u);
  EXPECT_EQ(up.get<nr_transport_settings>().lbrm_resource_blocks, 25);
  EXPECT_REFUSED(base + "code.resource_elements = 3600\ncode.scrambling = 5", "code.scrambling");
  EXPECT_REFUSED(base + "code.resource_elements = 3600\ncode.lbrm_resource_blocks = 276",
                 "line 4: code.lbrm_resource_blocks = 276 is not allowed: expected \"auto\"");
  EXPECT_REFUSED(base, "line 2: code.resource_elements = 0 is not allowed");
  EXPECT_REFUSED(base + "code.resource_elements = 20000\ncode.transport_block_size = 8425",
                 "line 4: code.transport_block_size = 8425 is not allowed: expected a size");
  EXPECT_REFUSED(base + "code.resource_elements = 9000\ndecoder.windows = 2",
                 "decoder.windows has no meaning");
}

TEST(harq, of_a_scenario) {
  const scenario s = parse_scenario(text_of_scenario, "s.toml");
  ASSERT_EQ(s.curves.size(), 3u);
  const code_config a = completed(s.curves[0].link).code, b = completed(s.curves[1].link).code;
  EXPECT_EQ(a.type, "lte-transport");
  EXPECT_EQ(testing::k_in(a), 200);
  EXPECT_EQ(sizes_of(a).n, 320u);
  EXPECT_EQ(testing::sent_in(a).transmissions, 3);
  EXPECT_EQ(testing::sent_in(a).redundancy_versions, (std::vector<int>{0, 2, 3, 1}));
  EXPECT_EQ(testing::turbo_decoder_in(a).stop, early_stop::crc);
  EXPECT_EQ(testing::turbo_decoder_in(a).iterations, 4);
  EXPECT_EQ(testing::sent_in(b).redundancy_versions, (std::vector<int>{0}));
  EXPECT_EQ(testing::sent_in(b).soft_buffer, 500);
  EXPECT_EQ(testing::sent_in(b).coded_bits, 320);
  EXPECT_EQ(testing::sent_in(b).resource_elements, 0);
  EXPECT_EQ(testing::turbo_decoder_in(b).precision, turbo_precision::int16);
  EXPECT_EQ(testing::turbo_decoder_in(b).stop, early_stop::none);
  EXPECT_EQ(s.curves[2].link.code.type, "lte-turbo");
  EXPECT_EQ(testing::k_in(s.curves[2].link.code), 256);

  const std::string base = "sweep.snr_db = 1\ncode.type = \"lte-transport\"\n",
                    elements = "code.resource_elements = 4000\n";
  EXPECT_REFUSED(base,
                 "line 2: code.resource_elements = 0 is not allowed: expected at least 1, or coded_bits");
  EXPECT_REFUSED(base + elements + "code.coded_bits = 8000",
                 "line 4: code has both resource_elements and coded_bits: expected one of them");
  EXPECT_REFUSED(base + "code.coded_bits = 8001\nmodem.modulation = \"qpsk\"",
                 "line 3: code.coded_bits = 8001 is not allowed: expected a multiple of layers");
  EXPECT_REFUSED(base + "code.resource_elements = 3\ncode.transport_block_size = 50000",
                 "line 3: code.resource_elements = 3 is not allowed: expected 9 to");
  EXPECT_REFUSED(base + elements + "code.transmissions = 9", "line 4: code.transmissions = 9 is not allowed");
  EXPECT_REFUSED(base + elements + "code.redundancy_versions = [0, 4]",
                 "line 4: code.redundancy_versions = 4 is not allowed: expected 1 to 8 integers from 0 to 3");
  EXPECT_REFUSED(
      base + elements + "code.redundancy_versions = [0, 0, 0, 0, 0, 0, 0, 0, 0]",
      "line 4: code.redundancy_versions = [0, 0, 0, 0, 0, 0, 0, 0, 0] is not allowed: expected 1 to 8");
  EXPECT_REFUSED(base + elements + "code.transport_block_size = 1048577",
                 "line 4: code.transport_block_size = 1048577 is not allowed: expected 1 to 1048576");
  EXPECT_REFUSED(base + elements + "code.k = 6144",
                 "line 4: code.k has no meaning with code.type = \"lte-transport\"");
  EXPECT_REFUSED(base + elements + "code.crc = \"crc24a\"", "line 4: code.crc has no meaning");
  EXPECT_REFUSED(base + elements + "code.rate = \"1/3\"", "line 4: code.rate has no meaning");
  EXPECT_REFUSED("sweep.snr_db = 1\ncode.transmissions = 4",
                 "line 2: code.transmissions has no meaning with code.type = \"lte-turbo\"");
  EXPECT_REFUSED(base + elements + "decoder.early_stop = \"syndrome\"",
                 "line 4: decoder.early_stop = \"syndrome\" is not allowed: expected \"none\", \"crc\"");
  EXPECT_REFUSED(
      base + elements +
          "modem.modulation = \"qpsk\"\nchannel.type = \"rayleigh\"\nmimo = { streams = 5, rx_antennas = 5 }",
      "line 6: mimo.streams = 5 is not allowed: expected 1 to 4 with \"lte-transport\"");
}

run_result run_of_scenario(executor& exec) {
  run_result r;
  r.source = parse_scenario(text_of_scenario, "s.toml");
  r.origin.machine = describe_machine(exec);
  for (const curve_config& c : r.source.curves) r.curves.push_back({c.label, c, {}, {}, false});
  return r;
}

TEST(harq, a_result_is_a_state_to_go_on_from) {
  const auto exec = open_scalar();
  run_result whole = run_of_scenario(*exec);
  for (curve_result& c : whole.curves) run_curve(c, *exec);
  // Through a file after each batch (at the small scale every third), with another executor in between.
  const scratch_folder folder;
  const std::string path = folder.path("r.json");
  const auto other = all_backends().front().open(2);
  run_result part = run_of_scenario(*exec);
  std::size_t cuts = 0;
  for (std::size_t i = 0; i < part.curves.size(); i++)
    for (bool more = true; more;) {
      executor& now = cuts % 2 == 0 ? *exec : *other;
      run_curve(part.curves[i], now,
                {.progress = [](const curve_result&, std::size_t, const point_counts&) { return false; },
                 .finished = {}});
      more = part.curves[i].cancelled;
      cuts += more;
      if (more && small_scale() && cuts % 3 != 0) continue;
      const std::string text = result_json(part);
      write_file(path, text);
      part = load_result(path);
      EXPECT_EQ(result_json(part), text);
    }
  EXPECT_GT(cuts, 5u);
  for (std::size_t i = 0; i < whole.curves.size(); i++) {
    ASSERT_EQ(whole.curves[i].points.size(), part.curves[i].points.size());
    for (std::size_t n = 0; n < whole.curves[i].points.size(); n++)
      expect_same(part.curves[i].points[n].counts, whole.curves[i].points[n].counts);
  }
}

TEST(harq, a_result_has_counts_that_agree) {
  const auto exec = open_scalar();
  run_result whole = run_of_scenario(*exec);
  for (curve_result& c : whole.curves) run_curve(c, *exec);
  using json = nlohmann::ordered_json;
  const json good = json::parse(result_json(whole));
  const auto &curve = good["curves"][0], &point = curve["points"][0];
  const point_result& p = whole.curves[0].points[0];
  EXPECT_EQ(curve["config"]["code"].dump(),
            R"({"type":"lte-transport","transport_block_size":200,"resource_elements":160,"coded_bits":320,)"
            R"("transmissions":3,"redundancy_versions":[0,2,3,1],"soft_buffer":"auto","code_blocks":1,)"
            R"("rate":0.625})");
  EXPECT_EQ(curve["config"]["decoder"]["early_stop"], "crc");
  EXPECT_EQ(curve["config"]["decoder"]["windows"], "auto");
  EXPECT_EQ(good["curves"][1]["config"]["code"]["soft_buffer"], 500);
  EXPECT_EQ(point["harq"]["block_errors"][0], p.counts.block_errors[0]);
  EXPECT_EQ(point["harq"]["block_errors"].size(), 3u);
  EXPECT_EQ(point["harq"]["bler"][1].get<double>(), p.bler(2));
  EXPECT_EQ(point["harq"]["bits_per_resource_element"].get<double>(), p.throughput());
  EXPECT_EQ(point["harq"]["transmissions_sum"], p.transmissions_sent());
  EXPECT_FALSE(good["curves"][2]["points"][0].contains("harq"));
  const std::tuple<std::string, json, std::string> table[] = {
      {"/curves/0/points/0/harq/block_errors/1", 1000, "harq.block_errors = "},
      {"/curves/0/points/0/harq/block_errors", json{1, 1}, "expected 3 counts"},
      {"/curves/0/points/0/harq/undetected_errors", 7, "harq.undetected_errors = 7 is not allowed"},
      {"/curves/0/points/0/harq/more", 1, "is not known to this version"},
      {"/curves/0/points/0/iterations_sum", 100000, "iterations_sum = 100000 is not allowed"},
      {"/curves/2/points/0/harq", json::object(), "none: the code has no HARQ"},
      {"/curves/0/config/code/transmissions", 4, "was run with code.transmissions = 4, but"}};
  const scratch_folder folder;
  for (const auto& [at, value, part_of] : table) {
    json j = good;
    j[json::json_pointer(at)] = value;
    const std::string what = refusal(folder.path("r.json"), j.dump(2));
    EXPECT_NE(what.find(part_of), std::string::npos) << what << "\nexpected: " << part_of;
  }
}

}  // namespace harq_scenario_test
}  // namespace wb
