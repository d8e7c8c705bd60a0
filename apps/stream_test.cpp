// `warpband stream` as a user meets it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <tests/json.hpp>
#include <warpband/exec/cuda.hpp>

namespace {

const std::string work = ::testing::TempDir() + "/warpband_stream_" + std::to_string(getpid());

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
struct outcome {
  int code;
  std::string out, err;
};
outcome stream(const std::string& arguments) {
  const int status = std::system(
      ("'" WARPBAND_COMMAND "' stream " + arguments + " > " + work + ".out 2> " + work + ".err").c_str());
  const outcome o{WIFEXITED(status) ? WEXITSTATUS(status) : 128, text_of(work + ".out"),
                  text_of(work + ".err")};
  std::filesystem::remove(work + ".out");
  std::filesystem::remove(work + ".err");
  return o;
}
/// Runs a scenario of this text; `%json%` among the arguments is a file that is read back.
outcome stream_text(const std::string& scenario, const std::string& arguments = "") {
  std::ofstream(work + ".toml") << scenario;
  const outcome o = stream(work + ".toml --quiet " + arguments);
  std::filesystem::remove(work + ".toml");
  return o;
}
nlohmann::json result_of(const std::string& scenario) {
  const std::string path = work + ".json";
  const outcome o = stream_text(scenario, "--json " + path);
  EXPECT_EQ(o.code, 0) << o.err;
  const std::string text = text_of(path);
  std::filesystem::remove(path);
  return wb::testing::parse_json(text);
}

TEST(stream_command, counts_every_frame_of_the_example) {
  const std::string source = WARPBAND_SOURCE_DIR "/examples/stream/stream.toml";
  if (!std::filesystem::exists(source)) GTEST_SKIP() << "no examples here";
  const std::string path = work + ".json";
  const outcome o = stream("'" + source + "' --quiet --frames 250 --json " + path);
  ASSERT_EQ(o.code, 0) << o.err;
  const auto result = wb::testing::parse_json(text_of(path));
  std::filesystem::remove(path);
  ASSERT_EQ(result["runs"].size(), 3u);
  int compared = 0;  // in one of them the thread that compares may be busy whenever a frame is due for it
  for (const auto& run : result["runs"]) {
    const auto& counters = run["counters"];
    EXPECT_EQ(counters["pushed"], 250) << run["label"];
    EXPECT_EQ(counters["delivered"], 250) << run["label"];
    EXPECT_EQ(counters["dropped"], 0);
    EXPECT_EQ(counters["failed"], 0);
    compared += run["checked"]["compared"].get<int>();
    EXPECT_EQ(run["checked"]["different"], 0);
    EXPECT_GT(run["throughput_mbps"].get<double>(), 0);
    EXPECT_LE(run["latency_us"]["p50"].get<double>(), run["latency_us"]["p99.9"].get<double>());
    EXPECT_LE(run["latency_us"]["p99.9"].get<double>(), run["latency_us"]["max"].get<double>());
  }
  EXPECT_GT(compared, 0);
}

TEST(stream_command, drops_frames_that_come_too_fast_and_says_so) {
  // One frame takes far longer than a ten-thousandth of a second; two slots wait.
  const auto result = result_of(R"([stream]
items = 20000
queue = 2
streams = 1
overflow = "drop-oldest"
rate = 10000
frames = 60
warmup = 2
stages = false
[detector]
type = "nway"
streams = 4
rx_antennas = 4
qam = 64
ways = 4
)");
  const auto& counters = result["runs"][0]["counters"];
  EXPECT_EQ(counters["pushed"], 60);
  EXPECT_GT(counters["dropped"].get<int>(), 0);
  EXPECT_GT(counters["delivered"].get<int>(), 0);
  EXPECT_EQ(counters["delivered"].get<int>() + counters["dropped"].get<int>() + counters["failed"].get<int>(),
            60);
}

TEST(stream_command, halves_are_half_the_bytes) {
  double bytes[2];
  for (const bool half : {false, true}) {
    const auto result = result_of(std::string(R"([stream]
chain = "uplink"
items = 56
per_channel = 14
frames = 200
warmup = 2
check_every = 10
[massive]
antennas = 32
users = 8
)") + (half ? "samples = \"complex32\"\nllr = \"int8\"\nllr_steps = 4\n" : ""));
    const auto& run = result["runs"][0];
    EXPECT_EQ(run["counters"]["delivered"], 200);
    EXPECT_GT(run["checked"]["compared"].get<int>(), 0);
    EXPECT_EQ(run["checked"]["different"], 0);
    EXPECT_EQ(run["frames_per_start"], 1);
    bytes[half] = run["input_gb_per_s"].get<double>() * run["frame_us"].get<double>() * 1e3;
  }
  // H of 4 subcarriers, y of 56 vectors, N0; each on a multiple of 256.
  EXPECT_NEAR(bytes[0], 8 * (4 * 32 * 8 + 56 * 32) + 256, 1);
  EXPECT_NEAR(bytes[1], 4 * (4 * 32 * 8 + 56 * 32) + 256, 1);
}

TEST(stream_command, bare_copies_take_turns_with_frames) {
  if (wb::cuda_devices().empty()) GTEST_SKIP() << "no CUDA device here";
  const auto result = result_of(R"([stream]
devices = ["cuda:0"]
items = 256
rate = 2000
frames = 200
copies_every = 5
stages = false
)");
  const auto& run = result["runs"][0];
  EXPECT_EQ(run["counters"]["delivered"], 200);
  const auto& copies = run["bare_copies_us"];
  EXPECT_EQ(copies["count"], 49);  // of 249 turns
  EXPECT_EQ(copies["bytes"], 256 * (2 * 2 + 2) * 8 + 256);
  EXPECT_GT(copies["p50"].get<double>(), 0);
  EXPECT_GE(copies["max"].get<double>(), copies["p99.9"].get<double>());
}

TEST(stream_command, tells_where_the_slowest_frames_lost_their_time) {
  const auto result = result_of(R"([stream]
items = 256
frames = 3000
trace = 2500
waiting = "spin"
drivers = 2
stages = false
)");
  const auto& run = result["runs"][0];
  EXPECT_EQ(run["counters"]["delivered"], 3000);
  const auto& trace = run["trace"];
  EXPECT_EQ(trace["frames"], 2500);
  const auto& beyond = trace["beyond"];
  EXPECT_EQ(beyond["frames"], 2);
  double share = 0;
  for (const auto& [place, value] : beyond["share"].items()) share += value.get<double>();
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_EQ(beyond["share"]["uploading"], 0);  // a CPU works where frames lie
  ASSERT_EQ(trace["slowest"].size(), 20U);
  const auto& slowest = trace["slowest"][0];
  EXPECT_GT(slowest["latency_us"].get<double>(), beyond["us"].get<double>());
  EXPECT_GE(slowest["latency_us"].get<double>(), trace["slowest"][19]["latency_us"].get<double>());
  EXPECT_LE(slowest["latency_us"].get<double>(), run["latency_us"]["max"].get<double>() + 1);
}

TEST(stream_command, refuses_bad_scenarios_with_key_value_and_what_is_allowed) {
  struct refused {
    const char *scenario, *said;
  };
  for (const refused& r :
       {refused{"[stream]\nitems = 0\n", "stream.items"},
        refused{"[stream]\nitems = 8\nqueue = 0\n", "stream.queue"},
        refused{"[stream]\nitems = 8\nchain = \"radar\"\n", "radar"},
        refused{"[stream]\nitems = 8\nfoo = 1\n", "foo"},
        refused{"[stream]\nitems = 8\n[massive]\nsamples = \"half\"\n", "complex32"},
        refused{"[stream]\nitems = 8\n[massive]\nsums = \"tf32\"\n", "split_tf32"},
        refused{"[stream]\nitems = 8\nchain = \"uplink\"\ndevices = [\"cpu\", \"cuda:0\"]\n[massive]\nsums = "
                "\"split_tf32\"\n",
                "massive.sums"},
        refused{"[stream]\nitems = 8\nsource = \"no_such_file.h5\"\n", "no_such_file.h5"},
        refused{"[stream]\nitems = 8\ndevices = [\"tpu\"]\n", "tpu"},
        refused{"[stream]\nitems = 8\nrate = 10\ncopies_every = 1\n", "stream.copies_every"},
        refused{"[stream]\nitems = 8\ncopies_every = 9\n", "rate"},
        refused{"[stream]\nitems = 8\nrate = 10\ncopies_every = 9\n", "on a CPU"},
        refused{"[stream]\nitems = 8\ndrivers = 2\n", "stream.drivers"},
        refused{"[stream]\nitems = 8\ntrace = -1\n", "stream.trace"}, refused{"[stream\n", "line 1"},
        refused{"", "stream.items"}}) {
    const outcome o = stream_text(r.scenario, "--frames 1");
    EXPECT_NE(o.code, 0) << r.scenario;
    EXPECT_NE(o.err.find(r.said), std::string::npos) << r.scenario << "\n" << o.err;
  }
  EXPECT_NE(stream("no_such_scenario.toml").code, 0);
  EXPECT_NE(stream("").err.find("SCENARIO"), std::string::npos);
}

TEST(stream_command, the_documented_keys_are_those_of_the_command) {
  const std::string page = WARPBAND_SOURCE_DIR "/docs/stream.md";
  if (!std::filesystem::exists(page)) GTEST_SKIP() << "no documentation here";
  const outcome o = stream("--help-scenario");
  ASSERT_EQ(o.code, 0);
  const std::string text = text_of(page);
  std::istringstream lines(o.out);
  int keys = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("| `")) {
      EXPECT_NE(text.find(line), std::string::npos) << line;
      keys++;
    }
  EXPECT_GE(keys, 20);
}

}  // namespace
