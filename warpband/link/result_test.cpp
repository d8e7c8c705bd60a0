#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include <tests/on_backends.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>

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
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
  fs::path folder_;
};

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
  r.machine = describe_machine(*exec);
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
  const turbo_decoder_config chosen = completed(r.source.curves[0].link).decoder;
  EXPECT_EQ(config["decoder"]["windows"], chosen.windows);
  EXPECT_EQ(config["decoder"]["overlap"], chosen.overlap);
  EXPECT_EQ(config["stop"]["frame_errors"], 3);
  EXPECT_EQ(config["sweep"]["ebn0_db"], (nlohmann::json{-2.0, 0.3}));
  EXPECT_FALSE(uncoded["config"].contains("decoder"));
  EXPECT_EQ(uncoded["config"]["channel"]["fading"], "fast");
  EXPECT_EQ(uncoded["config"]["modem"]["modulation"], "16qam");
}

TEST_F(result, names_an_interval_of_bits_where_there_is_one_and_numbers_as_written) {
  curve_config c;
  c.link.decoder.extrinsic_scale = 0.7f;
  c.link.decoder.algorithm = map_algorithm::max_log_map;
  point_result p;
  p.bits_per_frame = 100;
  p.independent_bits = true;
  p.counts.frames = 1;
  p.counts.bit_errors = 5;
  run_result r;
  r.source.file = "not UTF-8: \xff";
  r.curves.push_back({"c", c, {p}, false});
  r.curves.push_back({"not begun", c, {}, true});
  const nlohmann::json j = nlohmann::json::parse(result_json(r));
  EXPECT_EQ(j["curves"].size(), 1u);
  EXPECT_EQ(j["complete"], false);
  EXPECT_NEAR(j["curves"][0]["points"][0]["ber_interval"][0].get<double>(), 0.0164, 5e-5);
  EXPECT_EQ(j["curves"][0]["config"]["decoder"]["extrinsic_scale"].get<double>(), 0.7);
}

TEST_F(result, files_are_replaced_in_full) {
  const std::string file = path("a.json");
  check_writable(file);
  EXPECT_EQ(files(), 0u);  // a check leaves nothing
  write_file(file, "one");
  chmod(file.c_str(), 0640);
  write_file(file, "two");
  EXPECT_EQ(content(file), "two");
  EXPECT_EQ(files(), 1u);
  struct stat s {};
  stat(file.c_str(), &s);
  EXPECT_EQ(s.st_mode & 07777, 0640u);
  // A link stays one.
  fs::create_symlink(file, path("link.json"));
  write_file(path("link.json"), "three");
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_EQ(content(file), "three");
  // A crashed run's leftover is not in the way.
  std::ofstream(file + ".tmp" + std::to_string(getpid()) + "-0") << "left";
  write_file(file, "four");
  EXPECT_EQ(content(file), "four");
}

TEST_F(result, places_that_cannot_be_written) {
  EXPECT_THROW(check_writable(path("missing/a.json")), file_error);
  EXPECT_THROW(check_writable(folder_.string()), file_error);
  EXPECT_THROW(check_writable(path("missing/")), file_error);
  EXPECT_THROW(check_writable("/dev/null"), file_error);
  EXPECT_THROW(check_writable(""), file_error);
  EXPECT_THROW(write_file(path("missing/a.json"), "x"), file_error);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace wb
