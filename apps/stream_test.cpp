// `warpband stream` as a user meets it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include <tests/command.hpp>
#include <tests/json.hpp>
#include <tests/powercap.hpp>
#include <warpband/exec/cuda.hpp>
#if WARPBAND_HDF5
#include <warpband/io/hdf5.hpp>
#endif

namespace stream_test {

const std::string work = ::testing::TempDir() + "/warpband_stream_" + std::to_string(getpid());

std::string text_of(const std::string& path) { return wb::testing::scratch_folder::content(path); }
using wb::testing::outcome;

outcome stream(const std::string& arguments) {
  return wb::testing::command_folder().run("stream " + arguments);
}
/// Runs a scenario of this text; `%json%` among the arguments is a file that is read back.
outcome stream_text(const std::string& scenario, const std::string& arguments = "") {
  std::ofstream(work + ".toml") << scenario;
  const outcome o = stream(work + ".toml --quiet " + arguments);
  std::filesystem::remove(work + ".toml");
  return o;
}
nlohmann::json written_result(const outcome& o) {
  EXPECT_EQ(o.code, 0) << o.err;
  const std::string path = work + ".json", text = text_of(path);
  std::filesystem::remove(path);
  return o.code == 0 ? wb::testing::parse_json(text) : nlohmann::json();
}
nlohmann::json result_of(const std::string& scenario) {
  return written_result(stream_text(scenario, "--json " + work + ".json"));
}
/// All frames arrive, and those that are compared have the bits of a direct call.
void expect_right(const nlohmann::json& run, int frames) {
  EXPECT_EQ(run["counters"]["delivered"], frames) << run["label"];
  EXPECT_EQ(run["checked"]["different"], 0) << run["label"];
}

/// An example in the tree, and the number of its runs.
class stream_example : public ::testing::Test {
 protected:
  void run(const std::string& name, int frames, std::size_t runs) {
    const std::string source = WARPBAND_SOURCE_DIR "/examples/stream/" + name;
    if (!std::filesystem::exists(source)) GTEST_SKIP() << "no examples here";
    result = written_result(
        stream("'" + source + "' --quiet --frames " + std::to_string(frames) + " --json " + work + ".json"));
    ASSERT_EQ(result["runs"].size(), runs);
    for (const auto& r : result["runs"]) expect_right(r, frames);
  }
  nlohmann::json result;
};

TEST_F(stream_example, counts_every_frame) {
  run("stream.toml", 250, 3);
  for (const auto& run : result["runs"]) {
    const auto& counters = run["counters"];
    EXPECT_EQ(counters["pushed"], 250) << run["label"];
    EXPECT_EQ(counters["dropped"], 0);
    EXPECT_EQ(counters["failed"], 0);
    EXPECT_GT(run["checked"]["compared"].get<int>(), 0);  // the warm-up's frames go one by one
    EXPECT_GT(run["throughput_mbps"].get<double>(), 0);
    EXPECT_LE(run["latency_us"]["p50"].get<double>(), run["latency_us"]["p99.9"].get<double>());
    EXPECT_LE(run["latency_us"]["p99.9"].get<double>(), run["latency_us"]["max"].get<double>());
  }
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_FALSE(result["runs"][1].contains("trace"));
  EXPECT_EQ(result["runs"][2]["trace"]["frames"], 250);
}

TEST_F(stream_example, a_loop_makes_fewer_errors) {
  run("loop.toml", 12, 2);
  if (IsSkipped() || HasFatalFailure()) return;
  const auto errors = [&](int i) { return result["runs"][i]["checked"]["block_errors"].get<int>(); };
  EXPECT_LT(errors(1), errors(0));
}

TEST_F(stream_example, receives_wimax_frames) {
  run("wimax.toml", 12, 3);
  if (IsSkipped() || HasFatalFailure()) return;
  const std::vector<std::string> words{"qpsk", "16qam", "64qam"};
  for (const auto& run : result["runs"]) {
    const auto& bursts = run["checked"]["bursts"];
    ASSERT_GE(bursts.size(), 2u);
    for (std::size_t i = 0; i < bursts.size(); i++) {
      EXPECT_EQ(bursts[i]["modulation"], words[i]);
      EXPECT_GT(bursts[i]["blocks"].get<int>(), 0);
      EXPECT_LE(bursts[i]["block_errors"], bursts[i]["blocks"]);
      EXPECT_LT(bursts[i]["bit_errors"].get<double>(), 0.05 * bursts[i]["bits"].get<double>());
    }
    EXPECT_TRUE(run["counters"]["erased"].is_null() || run["counters"]["erased"] == 0);
  }
}

TEST_F(stream_example, receives_slots) {
  run("pusch.toml", 12, 4);
  for (const auto& run : result["runs"]) {
    EXPECT_EQ(run["counters"]["erased"], 0) << run["label"];
    EXPECT_GT(run["checked"]["blocks"].get<int>(), 0) << run["label"];
    EXPECT_EQ(run["checked"]["block_errors"], 0) << run["label"];
    const bool loops = run["label"] == "detector and decoder in a loop";
    for (const char* stage : {"estimate", loops ? "receive" : "detect", loops ? "receive" : "decode"})
      EXPECT_TRUE(run["alone"]["stages_us"].contains(stage)) << stage;
  }
}

TEST(stream_command, slots_without_enough_power_fail) {
  const auto result = result_of(
      "[stream]\nchain = \"pusch\"\nitems = 2\nframes = 10\nstages = false\nsnr_db = -20\n"
      "[mimo]\nrx_antennas = 2\n[nr]\nresource_blocks = 4\nmcs = 10\n[decoder]\niterations = 2\n");
  const auto& checked = result["runs"][0]["checked"];
  EXPECT_GT(checked["blocks"].get<int>(), 0);
  EXPECT_EQ(checked["block_errors"], checked["blocks"]);
}

TEST(stream_command, counts_energy) {
  const wb::testing::powercap p;
  p.add("intel-rapl:0", "package-0", "5000000");
  const wb::testing::command_folder folder;
  const std::string scenario = folder.path("s.toml"), result = folder.path("s.json");
  std::ofstream(scenario) << "[stream]\nitems = 256\nframes = 100\nstages = false\n";
  const std::string arguments = "stream " + scenario + " --device cpu --quiet --energy --json " + result;
  const outcome o = folder.run(arguments, p.environment());
  ASSERT_EQ(o.code, 0) << o.err;
  const auto energy = wb::testing::parse_json(text_of(result))["runs"][0]["energy"];
  const bool is_stated = energy["seconds"].get<double>() >= 5;
  EXPECT_EQ(energy.contains("nanojoules_per_bit"), is_stated);
  EXPECT_EQ(o.out.find("energy: not stated for less than 5 s") == std::string::npos, is_stated) << o.out;
  EXPECT_EQ(energy["sources"]["cpu"], "RAPL of 1 package");
  EXPECT_EQ(energy["joules"], 0);  // a counter that stands still
  EXPECT_EQ(energy["idle_watts"], 0);
  p.set("intel-rapl:0", "name", "psys");
  folder.expect_error(1, arguments, "the energy of the CPU is not counted here", p.environment());
}

TEST(stream_command, tells_where_the_slowest_frames_lost_their_time) {
  const auto result = result_of(R"([stream]
items = 256
frames = 3000
trace = 30
stages = false
)");
  const auto& run = result["runs"][0];
  const auto& trace = run["trace"];
  EXPECT_EQ(trace["frames"], 3000);
  EXPECT_EQ(trace["places_us"].size(), 9U);
  EXPECT_GT(trace["places_us"]["computing"]["p50"].get<double>(), 0);
  EXPECT_EQ(trace["places_us"]["uploading"]["max"], 0);  // a CPU works where frames lie
  const auto& tail = trace["tail"];
  EXPECT_EQ(tail["frames"], 30);
  EXPECT_LE(tail["longest_run"].get<int>(), 31 - tail["runs"].get<int>());
  double share = 0;
  for (const auto& [place, value] : tail["share"].items()) share += value.get<double>();
  EXPECT_NEAR(share, 1, 1e-9);
  const auto& slowest = trace["slowest"];
  ASSERT_EQ(slowest.size(), 30U);
  for (std::size_t i = 0; i < 30; i++) {
    double sum = 0;
    for (const auto& [place, value] : slowest[i]["places_us"].items()) sum += value.get<double>();
    EXPECT_NEAR(sum, slowest[i]["latency_us"].get<double>(), 1e-6);
    EXPECT_LE(slowest[i]["latency_us"].get<double>(), slowest[0]["latency_us"].get<double>());
    EXPECT_LT(slowest[i]["frame"].get<int>(), 3000);
  }
  EXPECT_EQ(slowest[29]["latency_us"], tail["from_us"]);
  EXPECT_NEAR(slowest[0]["latency_us"].get<double>(), run["latency_us"]["max"].get<double>(), 1e-3);
}

TEST(stream_command, drops_frames_that_come_too_fast_and_says_so) {
  // All are due at once and two slots wait. A push takes a microsecond, a frame some hundred of them: that
  // none is dropped would take a pause between hundreds of pushes.
  const auto result = result_of(R"([stream]
items = 4000
queue = 2
streams = 1
overflow = "drop-oldest"
rate = 1e9
frames = 2000
warmup = 2
stages = false
[mimo]
streams = 4
rx_antennas = 4
[modem]
modulation = "64qam"
[detector]
type = "N-way"
ways = 4
)");
  const auto& counters = result["runs"][0]["counters"];
  EXPECT_EQ(counters["pushed"], 2000);
  EXPECT_GT(counters["dropped"].get<int>(), 0);
  EXPECT_GT(counters["delivered"].get<int>(), 0);
  EXPECT_EQ(counters["delivered"].get<int>() + counters["dropped"].get<int>() + counters["failed"].get<int>(),
            2000);
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
    expect_right(run, 200);
    EXPECT_GT(run["checked"]["compared"].get<int>(), 0);
    EXPECT_EQ(run["frames_per_start"], 1);
    bytes[half] = run["input_gb_per_s"].get<double>() * run["frame_us"].get<double>() * 1e3;
  }
  // H of 4 subcarriers, y of 56 vectors, N0; each on a multiple of 256.
  EXPECT_NEAR(bytes[0], 8 * (4 * 32 * 8 + 56 * 32) + 256, 1);
  EXPECT_NEAR(bytes[1], 4 * (4 * 32 * 8 + 56 * 32) + 256, 1);
}

TEST(stream_command, antennas_in_clusters) {
  const auto result = result_of(R"([stream]
items = 28
per_channel = 14
frames = 60
warmup = 2
check_every = 10
stages = false
[massive]
antennas = 32
users = 8
clusters = 4
[[run]]
stream.chain = "uplink"
[[run]]
stream.chain = "uplink"
massive.cluster_method = "local_mmse"
[[run]]
stream.chain = "precode"
massive = { cluster_method = "CG", solver = "cg", iterations = 3 }
[[run]]
stream.chain = "uplink"
massive.samples = "complex32"
[[run]]
stream.chain = "precode"
massive.samples = "complex32"
)");
  ASSERT_EQ(result["runs"].size(), 5U);
  for (const auto& run : result["runs"]) {
    expect_right(run, 60);
    EXPECT_EQ(run["counters"]["erased"], 0);
    EXPECT_GT(run["checked"]["compared"].get<int>(), 0);
  }
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

TEST(stream_command, keeps_its_scenario_and_knows_no_seconds_that_are_no_number) {
  const std::string scenario = "[stream]\nitems = 8\n";
  std::ofstream(work + ".toml") << scenario;
  const outcome o = stream(work + ".toml --quiet --frames 2 --json " + work + ".toml");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("is read by this run: give the result another name"), std::string::npos) << o.err;
  EXPECT_EQ(text_of(work + ".toml"), scenario);
  std::filesystem::remove(work + ".toml");
  const outcome without_number = stream_text(scenario, "--frames 2 --seconds nan");
  EXPECT_EQ(without_number.code, 2);
  EXPECT_NE(
      without_number.err.find("--seconds: \"nan\" is not allowed: expected a number from 0.001 to 1e+09"),
      std::string::npos)
      << without_number.err;
}

/// What a scenario itself says wrong, and the message, is in tests/golden/.
TEST(stream_command, refuses_what_it_does_not_have) {
  const std::pair<const char*, const char*> table[]{
      {"items = 0\n", "stream.items"},
      {"items = 8\nchain = \"uplink\"\ndevices = [\"cpu\", \"cuda:0\"]\n[massive]\nsums = \"split_f16\"\n",
       "massive.sums"},
      {"items = 8\nsource = \"no_such_file.h5\"\n", "no_such_file.h5"},
      {"items = 8\ndevices = [\"tpu\"]\n", "stream.devices = \"tpu\""},
      {"items = 8\ndevices = [\"cpu\", \"tpu\"]\n", "stream.devices = \"tpu\""},
      {"items = 8\nrate = 10\ncopies_every = 9\n", "on a CPU"}};
  for (const auto& [scenario, message] : table) {
    const outcome o = stream_text("[stream]\n" + std::string(scenario), "--frames 1");
    EXPECT_NE(o.code, 0) << scenario;
    EXPECT_NE(o.err.find(message), std::string::npos) << scenario << "\n" << o.err;
  }
  EXPECT_NE(stream("no_such_scenario.toml").code, 0);
  EXPECT_NE(stream("").err.find("SCENARIO"), std::string::npos);
}

TEST(stream_command, refuses_frames_that_a_chain_does_not_have_before_it_makes_any) {
  for (const std::string chain : {"uplink", "precode"})
    for (const std::string stages : {"true", "false"})
      for (const std::string items : {"10", "2"}) {
        const outcome o = stream_text("[stream]\nchain = \"" + chain + "\"\nitems = " + items +
                                      "\nper_channel = 3\nframes = 5\nstages = " + stages + "\n");
        EXPECT_EQ(o.code, 1) << chain << " " << items << "\n" << o.err;
        EXPECT_NE(o.err.find("stream.items = " + items + " is not allowed: expected a multiple of 3 from 3"),
                  std::string::npos)
            << o.err;
      }
  // A codeword of 18444 bits takes 4611 uses of four bits.
  const outcome o =
      stream_text("[stream]\nchain = \"decode\"\nitems = 3\n[detector]\ntype = \"mmse\"\n[code]\nk = 6144\n");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.err.find("stream.items = 3 is not allowed: expected 4611 to"), std::string::npos) << o.err;
}

TEST(stream_command, shares_tables_between_runs_and_takes_words_with_hyphens_or_underscores) {
  for (const std::string word : {"jacobi-cg", "jacobi_cg"}) {
    const auto result = result_of(R"([stream]
per_channel = 1
items = 12
frames = 5
overflow = "drop_oldest"
stages = false
[massive]
antennas = 8
users = 2
iterations = 2
solver = ")" + word + R"("
sums = ")" + (word == "jacobi-cg" ? "split-f16" : "split_f16") +
                                  R"("
[[run]]
stream.chain = "uplink"
[[run]]
stream.chain = "detect"
)");
    EXPECT_EQ(result["runs"].size(), 2U);
  }
}

TEST(stream_command, a_sweep_makes_a_run_for_each_value) {
  const auto runs = result_of(
      "title = \"two\"\n[stream]\nframes = 2\nstages = false\n"
      "[sweep]\nstream.items = [4, 8]\n")["runs"];
  ASSERT_EQ(runs.size(), 2u);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    EXPECT_EQ(runs[i]["items"], 4 * (i + 1));
    EXPECT_EQ(runs[i]["label"], i == 0 ? "two, items = 4" : "two, items = 8");
  }
}

TEST(stream_command, keys_under_their_names_of_before_load_with_a_hint_each) {
  const std::string head = "[stream]\nitems = 12\nframes = 5\nstages = false\n";
  const auto bytes_of = [&](const std::string& text, const std::string& hints) {
    const outcome o = stream_text(head + text, "--json " + work + ".json");
    EXPECT_EQ(o.err, hints) << text;
    const auto run = written_result(o)["runs"][0];
    return std::lround(run["input_gb_per_s"].get<double>() * run["frame_us"].get<double>() * 1e3);
  };
  const std::string table = "chain = \"decode\"\n[code]\ntype = \"conv\"\nk = 10\n";
  const long bytes =
      bytes_of(table + "[mimo]\nstreams = 3\nrx_antennas = 4\n[modem]\nmodulation = \"QAM16\"\n", "");
  EXPECT_EQ(bytes_of(table + "[detector]\nstreams = 3\nrx_antennas = 4\nqam = 16\n[[run]]\n[[run]]\n",
                     "hint: detector.streams is now mimo.streams = 3\n"
                     "hint: detector.rx_antennas is now mimo.rx_antennas = 4\n"
                     "hint: detector.qam is now modem.modulation = \"16qam\"\n"),
            bytes);
  EXPECT_EQ(bytes_of("chain = \"stbc\"\n[stbc]\ncode = \"Golden\"\nqam = 64\nrx_antennas = 3\n",
                     "hint: stbc.qam is now modem.modulation = \"64qam\"\n"
                     "hint: stbc.rx_antennas is now mimo.rx_antennas = 3\n"
                     "hint: stbc.code is now stbc.type = \"Golden\"\n"),
            bytes_of("chain = \"stbc\"\n[stbc]\ntype = \"golden\"\n[mimo]\nrx_antennas = 3\n", ""));
  // What a run says stands in the place of what the file says under the other name.
  EXPECT_EQ(bytes_of("[detector]\nrx_antennas = 2\n[[run]]\nmimo.rx_antennas = 4\n",
                     "hint: detector.rx_antennas is now mimo.rx_antennas = 2\n"),
            bytes_of("[mimo]\nrx_antennas = 4\n", ""));
  // Each chain had names of its own.
  const outcome both = stream_text(head +
                                       "[detector]\nqam = 16\n[massive]\nqam = 64\nantennas = 8\nusers = 2\n"
                                       "[[run]]\n[[run]]\nstream.chain = \"uplink\"\n",
                                   "");
  EXPECT_EQ(both.code, 0) << both.err;
}

#if WARPBAND_HDF5
TEST(stream_command, counts_what_was_erased) {
  constexpr std::size_t items = 12, antennas = 2, streams = 2;
  const std::string file = work + ".h5";
  using cf = std::complex<float>;
  std::vector<cf> h(2 * items * antennas * streams), y(2 * items * antennas, cf(1, 0));
  for (std::size_t i = 0; i < 2 * items; i++) h[4 * i] = h[4 * i + 3] = 1;
  // As many of both frames: which of the two one is depends on its slot.
  for (const std::size_t use : {1, 4, 6}) y[antennas * use] = cf(NAN, 0);
  for (const std::size_t use : {2, 7, 9}) y[antennas * (items + use)] = cf(-INFINITY, 0);
  {
    wb::hdf5_writer w(file);
    w.create<cf>("channel", {2 * items, antennas * streams});
    w.write("channel", 0, 2 * items, h.data());
    w.create<cf>("received", {2 * items, antennas});
    w.write("received", 0, 2 * items, y.data());
    w.create<float>("noise_var", {1});
    const float n0 = 0.1f;
    w.write("noise_var", 0, 1, &n0);
    w.commit();
  }
  const std::string head =
      "[stream]\nitems = 12\nqueue = 6\nstages = false\nframes = 400\nwarmup = 30\nsource "
      "= \"" +
      file + "\"\n";
  for (const std::string every : {"0", "3"}) {  // with results that go to who compares them too
    const outcome o = stream_text(head + "check_every = " + every + "\n", "--json " + work + ".json");
    const auto run = written_result(o)["runs"][0];
    const int erased = run["counters"]["erased"];
    EXPECT_EQ(run["counters"]["delivered"], 400);
    EXPECT_EQ(erased, 1200);
    EXPECT_NE(o.out.find(" " + std::to_string(erased) + "\n"), std::string::npos) << o.out;
  }
  // A decoder's results do not say.
  const auto decoded = result_of(head + "chain = \"decode\"\n[code]\ntype = \"conv\"\nk = 10\n");
  EXPECT_TRUE(decoded["runs"][0]["counters"]["erased"].is_null());
  std::filesystem::remove(file);
}

/// A file of more frames than a run keeps: each runs once, and its results are those of one that holds all.
TEST(stream_command, writes_the_results_of_a_file) {
  using cf = std::complex<float>;
  const std::string file = work + "_frames.h5", results = work + "_results.h5", whole = work + "_whole.h5";
  constexpr std::size_t items = 4, frames = 100, antennas = 3, streams = 2;
  std::vector<cf> h(frames * items * antennas * streams), y(frames * items * antennas);
  for (std::size_t i = 0; i < h.size(); i++)
    h[i] = std::polar(1.f, static_cast<float>(i * i % 97)) * (1 + static_cast<float>(i % 7));
  for (std::size_t i = 0; i < y.size(); i++) y[i] = std::polar(2.f, static_cast<float>(i * i % 89));
  y[antennas * 11] = cf(NAN, 0);
  {
    wb::hdf5_writer w(file);
    w.create<cf>("channel", {frames * items, antennas * streams});
    w.write("channel", 0, frames * items, h.data());
    w.create<cf>("received", {frames * items, antennas});
    w.write("received", 0, frames * items, y.data());
    w.create<float>("noise_var", {frames});
    std::vector<float> n0(frames, 0.5f);
    w.write("noise_var", 0, frames, n0.data());
    w.commit();
  }
  const auto scenario = [&](std::size_t n, const std::string& more) {
    return "[stream]\nitems = " + std::to_string(n) + "\nqueue = 3\nstages = false\nwarmup = 7\nsource = \"" +
           file + "\"\n" + more;
  };
  const std::string mimo = "[mimo]\nstreams = 2\nrx_antennas = 3\n";
  const std::string chains[] = {
      mimo, "chain = \"decode\"\n" + mimo + "[code]\ntype = \"conv\"\nk = 2\n",
      "chain = \"uplink\"\n[modem]\nmodulation = \"qpsk\"\n[massive]\nantennas = 3\nusers = 2\n",
      "chain = \"uplink\"\n[modem]\nmodulation = \"qpsk\"\n[massive]\nantennas = 3\nusers = 2\n"
      "llr = \"int8\"\nllr_steps = 4\n"};
  std::vector<float> llrs;  // of the chain before
  for (const std::string& chain : chains) {
    outcome o = stream_text(scenario(items, chain), "-o " + results);
    ASSERT_EQ(o.code, 0) << o.err;
    if (chain.find("decode") == std::string::npos) {  // blocks of a decoder end with their frame
      o = stream_text(scenario(items * frames, chain), "-o " + whole);
      ASSERT_EQ(o.code, 0) << o.err;
      const wb::hdf5_reader one(whole), many(results);
      if (chain.find("int8") != std::string::npos) {
        std::vector<std::int8_t> steps;
        for (const float llr : llrs)
          steps.push_back(static_cast<std::int8_t>(std::nearbyint(std::clamp(4 * llr, -127.f, 127.f))));
        EXPECT_EQ(one.read<std::int8_t>("llr"), steps);
        EXPECT_EQ(many.read<std::int8_t>("llr"), steps);
        EXPECT_EQ(std::get<double>(many.attribute("", "llr_steps").value()), 4);
      } else {
        llrs = one.read<float>("llr");
        EXPECT_EQ(many.read<float>("llr"), llrs);
        EXPECT_FALSE(many.attribute("", "llr_steps").has_value());
      }
      const auto status = many.read<std::uint8_t>("status");
      EXPECT_EQ(status, one.read<std::uint8_t>("status"));
      EXPECT_EQ(status.size(), frames * items);
      EXPECT_EQ(status[11], 1);
    } else {
      const wb::hdf5_reader many(results);
      EXPECT_EQ(many.describe("bits").shape.front(), many.describe("iterations").shape.front());
      EXPECT_GE(many.describe("bits").shape.front(), frames);
    }
    const wb::hdf5_reader out(results);
    EXPECT_EQ(out.read<std::uint8_t>("frame_status"), std::vector<std::uint8_t>(frames));
    EXPECT_EQ(std::get<std::int64_t>(out.attribute("", "items").value()), items);
    std::filesystem::remove(results);
    std::filesystem::remove(whole);
  }
  ASSERT_EQ(stream_text(scenario(items, mimo), "--frames 70 -o " + results).code, 0);
  EXPECT_EQ(wb::hdf5_reader(results).describe("status").shape.front(), 70 * items);
  const outcome again = stream_text(scenario(items, mimo), "-o " + results);
  EXPECT_NE(again.code, 0);
  EXPECT_NE(again.err.find("--force replaces it"), std::string::npos) << again.err;
  std::filesystem::remove(results);
  for (const auto& [text, arguments, part] :
       {std::tuple{scenario(items, mimo), std::string("--frames 101"), std::string("--frames = 101")},
        {scenario(items, mimo), "--seconds 1", "--seconds has no meaning"},
        {scenario(items, "least_items = 2\n" + mimo), "", "leave stream.least_items out"},
        {scenario(items, mimo + "[[run]]\n[[run]]\n"), "", "has 2"},
        {std::string("[stream]\nitems = 4\n"), "", "stream.source"}}) {
    const outcome o = stream_text(text, arguments + " -o " + results);
    EXPECT_NE(o.code, 0);
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_FALSE(std::filesystem::exists(results));
  }
  EXPECT_EQ(stream_text(scenario(items, mimo), "-o " + file).code, 1);
  EXPECT_GT(std::filesystem::file_size(file), 1000U);
  std::filesystem::remove(file);
}
#endif

TEST(stream_command, an_snr_is_that_of_a_receive_antenna) {
  // 8 streams: Es/N0 is 9 dB less. MMSE of 8 antennas leaves each of them -2 dB at Es/N0 = -9 dB, too little
  // for one bit a symbol, and 3.7 dB at 0 dB.
  for (const int snr : {0, 9}) {
    const auto result = result_of(
        "[stream]\nchain = \"decode\"\nitems = 1440\nframes = 40\ncheck_every = 1\n"
        "stages = false\nsnr_db = " +
        std::to_string(snr) +
        "\n[mimo]\nstreams = 8\nrx_antennas = 8\n[code]\n"
        "type = \"wimax-ldpc\"\nn = 2304\nrate = \"1/2\"\n");
    const auto& checked = result["runs"][0]["checked"];
    EXPECT_GE(checked["blocks"].get<int>(), 10);
    EXPECT_EQ(checked["block_errors"].get<int>(), snr == 0 ? checked["blocks"].get<int>() : 0);
  }
}

TEST(stream_command, bursts_of_wimax_frames_are_where_the_receiver_looks) {
  for (const std::string direction : {"downlink", "uplink"}) {
    const auto result = result_of(
        "[stream]\nchain = \"wimax-frame\"\nitems = 1\nframes = 8\nwarmup = 0\ncheck_every = 1\n"
        "stages = false\nsnr_db = 60\n[wimax]\nprofile = \"mobile_128\"\ncsi = \"perfect\"\n"
        "modulations = [\"qpsk\", \"16qam\"]\ndirection = \"" +
        direction + "\"\n");
    const auto& run = result["runs"][0];
    EXPECT_GE(run["checked"]["blocks"].get<int>(), 10) << direction;
    EXPECT_EQ(run["checked"]["block_errors"].get<int>(), 0) << direction;
  }
}

TEST(stream_command, a_loop_of_detector_and_decoder_makes_fewer_errors) {
  // n = 576 on 4 streams of 64-QAM: 24 uses a codeword, and 2 uses of each frame that hold none.
  const auto run_of = [](const std::string& receiver) {
    const auto result = result_of(
        "[stream]\nchain = \"decode\"\nitems = 242\nframes = 20\ncheck_every = 1\nstages = false\nsnr_db = "
        "17\n"
        "[mimo]\nstreams = 4\nrx_antennas = 4\n[modem]\nmodulation = \"64qam\"\n[detector]\ntype = \"pic\"\n"
        "[code]\ntype = \"wimax-ldpc\"\nn = 576\n[decoder]\niterations = 5\n" +
        receiver);
    const auto& run = result["runs"][0];
    expect_right(run, 20);
    EXPECT_GE(run["checked"]["blocks"].get<int>(),
              10);  // of one frame at least: how many is a matter of load
    return run["checked"]["block_errors"].get<double>() / run["checked"]["blocks"].get<double>();
  };
  EXPECT_LT(run_of("[receiver]\nouter = 3\n"), run_of(""));
  const std::string other = "[receiver]\ninterleaver = \"random\"\nscaling = 0.9\nouter = ";
  EXPECT_LT(run_of(other + "3\n"), run_of(other + "1\n"));
}

TEST(stream_command, decodes_duo_binary_turbo_codes) {
  // MMSE of 4 antennas leaves each of 4 streams a fading channel. A codeword has 60 uses, each with its H.
  const std::string frames =
      "[stream]\nitems = 240\nframes = 20\ncheck_every = 1\nstages = false\nsnr_db = 30\n"
      "[mimo]\nstreams = 4\nrx_antennas = 4\n[modem]\nmodulation = \"16qam\"\n";
  const auto result =
      result_of(frames +
                "[code]\ntype = \"ctc\"\nk = 480\nrate = \"1/2\"\n"
                "[[run]]\nstream.chain = \"decode\"\n"
                "[[run]]\nstream.chain = \"decode\"\ndetector.type = \"pic\"\nreceiver.outer = 2\n"
                "[[run]]\nstream.chain = \"decode\"\n"
                "code = { type = \"ctc\", standard = \"dvb-rcs\", k = 440, rate = \"2/3\" }\n");
  ASSERT_EQ(result["runs"].size(), 3u);
  for (const auto& run : result["runs"]) {
    expect_right(run, 20);
    EXPECT_GE(run["checked"]["blocks"].get<int>(), 4);
    EXPECT_EQ(run["checked"]["block_errors"], 0);
  }
}

TEST(stream_command, bursts_of_wimax_frames_have_duo_binary_turbo_codes) {
  const auto result = result_of(
      "[stream]\nchain = \"wimax-frame\"\nitems = 1\nframes = 8\nwarmup = 0\ncheck_every = 1\n"
      "stages = false\nsnr_db = 30\n[mimo]\nrx_antennas = 2\n[wimax]\nprofile = \"mobile_512\"\n"
      "modulations = [\"qpsk\", \"16qam\"]\n[code]\ntype = \"ctc\"\nk = 480\nrate = \"1/2\"\n");
  const auto& run = result["runs"][0];
  ASSERT_EQ(run["checked"]["bursts"].size(), 2u);
  EXPECT_GE(run["checked"]["blocks"].get<int>(), 10);
  EXPECT_EQ(run["checked"]["block_errors"], 0);
  EXPECT_EQ(run["counters"]["erased"], 0);
}

TEST(stream_command, takes_threads_for_cpus) {
  EXPECT_EQ(stream_text("[stream]\nitems = 64\nframes = 5\nstages = false\n", "--threads 2").code, 0);
  const outcome o = stream_text("[stream]\nitems = 64\ndevices = [\"cuda:0\"]\n", "--threads 2");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("--threads"), std::string::npos);
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

}  // namespace stream_test
