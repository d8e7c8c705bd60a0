// Factors of files in scenarios and results.
#include <fstream>
#include <nlohmann/json.hpp>

#include <tests/codes.hpp>
#include <tests/result.hpp>
#include <tests/scenario.hpp>

namespace wb {
namespace factors_link_test {

using namespace testing;

const std::string factors =
    R"({"format": "warpband-ldpc-factors", "version": 1, "trained_for": "a test", "iterations": 2, "factors": [0.5, 0.875]})";
const std::string text =
    "sweep.ebn0_db = [2.0]\nmodem.modulation = \"qpsk\"\nstop = { frame_errors = 5, max_frames = 40 }\n"
    "code = { type = \"wifi-ldpc\", n = 648 }\ndecoder = { iterations = 8, ";

TEST(factors_link, a_file_is_found_from_the_scenario_on_and_resumes_with_its_content_only) {
  const scratch_folder folder;
  std::ofstream(folder.path("f.json")) << factors;
  const run_result r = ran(text + "factors = \"f.json\" }\n", *open_scalar(), folder.path("s.toml"));
  EXPECT_EQ(ldpc_decoder_in(r.source.curves[0].link.code).factors, (std::vector<double>{0.5, 0.875}));
  const std::string path = folder.path("r.json");
  write_file(path, result_json(r));
  EXPECT_EQ(result_json(load_result(path)), result_json(r));
  const auto json = nlohmann::ordered_json::parse(result_json(r));
  EXPECT_EQ(json["curves"][0]["config"]["decoder"]["factors"], nlohmann::json({0.5, 0.875}));
  // A list says the same.
  const run_result list = ran(text + "factors = [0.5, 0.875] }\n", *open_scalar(), folder.path("s.toml"));
  EXPECT_EQ(list.curves[0].points[0].counts.bit_errors, r.curves[0].points[0].counts.bit_errors);
  std::string other = factors;
  std::ofstream(folder.path("f.json")) << other.replace(other.find("0.875"), 5, "0.75");
  try {
    load_result(path);
    ADD_FAILURE() << "went on with other factors";
  } catch (const file_error& e) {
    EXPECT_NE(std::string(e.what()).find("was run with decoder.factors = [0.5,0.875]"), std::string::npos)
        << e.what();
  }
}

TEST(factors_link, what_is_no_list_is_named_by_its_line) {
  const scratch_folder folder;
  std::ofstream(folder.path("f.json")) << "[0.5]";
  EXPECT_REFUSED(text + "factors = \"" + folder.path("f.json") + "\" }\n",
                 "decoder.factors: " + folder.path("f.json") + ": no factors: expected an object of JSON");
  EXPECT_REFUSED(text + "factors = \"/nowhere/f.json\" }\n", "decoder.factors: /nowhere/f.json: cannot read");
  EXPECT_REFUSED(text + "factors = [0.5, 1.5] }\n", "decoder.factors = 1.5 is not allowed");
  EXPECT_REFUSED(text + "factors = [0.5], scale = 0.5 }\n", "decoder.scale = 0.5 is not allowed");
  EXPECT_REFUSED(text + "factors = [0.5], algorithm = \"min-sum\" }\n", "decoder.factors");
}

}  // namespace factors_link_test
}  // namespace wb
