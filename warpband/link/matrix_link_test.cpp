// Base matrices of files in scenarios and results.
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include <tests/codes.hpp>
#include <tests/result.hpp>
#include <tests/scenario.hpp>

namespace wb {
namespace matrix_link_test {

using namespace testing;

/// A small code of rate 1/2, its parity part as of IEEE 802.11n.
const std::string matrix =
    "# z = 16\n3,1,7,2,1,0,-1,-1\n5,-1,9,4,-1,0,0,-1\n-1,6,2,11,0,-1,0,0\n8,3,-1,14,1,-1,-1,0\n";

/// A base matrix of a file is the code of the standard that it was written from.
TEST(matrix_link, a_base_matrix_of_a_file_is_a_code) {
  const scratch_folder folder;
  const ldpc_code wifi = wifi_ldpc(648, wifi_rate::r3_4);
  std::string text = "# z = 27\n";
  for (int i = 0; i < wifi.rows(); i++)
    for (int j = 0; j < wifi.columns(); j++)
      text += std::to_string(wifi.shift(i, j)) + (j + 1 < wifi.columns() ? "," : "\n");
  std::ofstream(folder.path("wifi.csv")) << text;
  code_config c = code_config("qc-ldpc");
  testing::qc_in(c).folder = folder.path("");
  testing::qc_in(c).base_matrix = "wifi.csv";
  EXPECT_EQ(sizes_of(c).k, 486u);
  EXPECT_EQ(sizes_of(c).n, 648u);
  EXPECT_EQ(k_of_coded_bits(c, 648), 486u);
  EXPECT_EQ(k_of_coded_bits(c, 649), std::nullopt);
  const code_config made = completed(c);
  EXPECT_EQ(testing::qc_in(made).lifting_size, 27);
  std::ofstream(folder.path("wifi.csv")) << "no longer there";  // it was read once
  EXPECT_EQ(testing::k_in(made), 486);
  code_config standard = code_config("wifi-ldpc");
  testing::n_in(standard) = 648;
  testing::ldpc_in(standard).rate = "3/4";
  const auto code = make_codec(made), same = make_codec(standard);
  const auto exec = open_scalar();
  std::vector<std::uint8_t> bits(3 * 486);
  std::mt19937 random(6);
  for (auto& b : bits) b = static_cast<std::uint8_t>(random() & 1);
  const auto in = on_device(*exec, bits, 3, 486);
  auto a = exec->make<std::uint8_t>(3, 648), b = exec->make<std::uint8_t>(3, 648);
  code->encode(*exec, in, a);
  same->encode(*exec, in, b);
  EXPECT_EQ(exec->to_host(a), exec->to_host(b));
  EXPECT_EQ(blamed([&] {
              code_config wrong = made;
              testing::k_in(wrong) = 500;
              make_codec(wrong);
            }),
            "k");
  code_config without = code_config("qc-ldpc");
  EXPECT_EQ(blamed([&] { make_codec(without); }), "base_matrix");
  testing::qc_in(without).base_matrix = "/nowhere/m.csv";
  EXPECT_THROW(make_codec(without), file_error);
}

TEST(matrix_link, a_result_goes_on_with_the_same_matrix_only) {
  const scratch_folder folder;
  std::ofstream(folder.path("own.csv")) << matrix;
  const std::string text =
      "sweep.ebn0_db = [1.0, 9.0]\nmodem.modulation = \"qpsk\"\nstop = { frame_errors = 5, max_frames = 40 "
      "}\n"
      "code = { type = \"qc-ldpc\", base_matrix = \"own.csv\" }\ndecoder.iterations = 8\n";
  const run_result r = ran(text, *open_scalar(), folder.path("s.toml"));
  ASSERT_EQ(r.curves.size(), 1u);
  EXPECT_EQ(sizes_of(r.source.curves[0].link.code).k, 64u);
  EXPECT_EQ(r.curves[0].points.at(1).counts.frame_errors, 0u);
  const std::string path = folder.path("r.json");
  write_file(path, result_json(r));
  EXPECT_EQ(result_json(load_result(path)), result_json(r));
  const auto json = nlohmann::ordered_json::parse(result_json(r));
  EXPECT_EQ(json["curves"][0]["config"]["code"]["base_matrix"], "own.csv");
  EXPECT_EQ(json["curves"][0]["config"]["code"]["n"], 128);
  std::string other = matrix;
  other[other.find("14")] = '2';
  std::ofstream(folder.path("own.csv")) << other.replace(other.find("24"), 2, "10");
  try {
    load_result(path);
    ADD_FAILURE() << "went on with another matrix";
  } catch (const file_error& e) {
    EXPECT_NE(std::string(e.what()).find("was run with code.matrix_id = "), std::string::npos) << e.what();
  }
}

TEST(matrix_link, what_is_no_base_matrix_is_named_by_its_line) {
  const scratch_folder folder;
  std::ofstream(folder.path("own.csv")) << "1,0,x\n";
  EXPECT_REFUSED(
      "sweep.ebn0_db = 1\ncode = { type = \"qc-ldpc\", base_matrix = \"" + folder.path("own.csv") + "\" }\n",
      "no base matrix: line 1: \"x\" in column 2 is no shift");
}

}  // namespace matrix_link_test
}  // namespace wb
