// Results of LTE transport blocks with HARQ.
#include <nlohmann/json.hpp>

#include <tests/result.hpp>

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

TEST(harq, a_result_has_counts_that_agree) {
  const run_result whole = ran(text_of_scenario, *open_scalar());
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
  for (const auto& [pointer, value, part_of] : table) {
    json j = good;
    j[json::json_pointer(pointer)] = value;
    const std::string message = refusal(folder.path("r.json"), j.dump(2));
    EXPECT_NE(message.find(part_of), std::string::npos) << message << "\nexpected: " << part_of;
  }
}

}  // namespace harq_scenario_test
}  // namespace wb
