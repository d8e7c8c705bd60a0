// `warpband generate`: `warpband receive` finds in its recordings what it says it sent.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tests/command.hpp>
#include <tests/json.hpp>
#include <warpband/ofdm/fft/fft.hpp>

namespace generate_command_test {

using wb::testing::outcome;

class generate_command : public ::testing::Test, protected wb::testing::command_folder {
 protected:
  void SetUp() override {
    if (!wb::has_cpu_fft()) GTEST_SKIP() << "this build has no FFT for CPUs (WARPBAND_KISSFFT)";
  }
  nlohmann::json record_of(const std::string& arguments) const {
    const outcome o = run(arguments + " --json r.json");
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err, "");
    return o.code == 0 ? nlohmann::json::parse(content(path("r.json"))) : nlohmann::json();
  }
  /// Values of a file, I before Q, each of `bytes` bytes.
  std::vector<std::uint32_t> words_of(const std::string& file, std::size_t bytes, bool big_endian) const {
    const std::string text = content(path(file));
    std::vector<std::uint32_t> words(text.size() / bytes);
    for (std::size_t i = 0; i < words.size(); i++)
      for (std::size_t b = 0; b < bytes; b++)
        words[i] |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[i * bytes + b]))
                    << 8 * (big_endian ? bytes - 1 - b : b);
    return words;
  }
  std::vector<int> integers_of(const std::string& file, std::size_t bytes, bool big_endian = false) const {
    std::vector<int> values;
    for (const std::uint32_t word : words_of(file, bytes, big_endian))
      values.push_back(static_cast<std::int32_t>(word << (32 - 8 * bytes)) >> (32 - 8 * bytes));
    return values;
  }
  std::vector<float> floats_of(const std::string& file, bool big_endian = false) const {
    std::vector<float> values;
    for (const std::uint32_t word : words_of(file, 4, big_endian))
      values.push_back(std::bit_cast<float>(word));
    return values;
  }
  /// Everything that was sent is received, in order, and nothing else. A receiver counts from a block to its
  /// message by its own clock, which drifts meanwhile.
  void expect_same(const nlohmann::json& sent, const nlohmann::json& received, double cfo_hz,
                   double drift = 0) const {
    for (const char* list : {"blocks", "messages"}) {
      ASSERT_GT(sent[list].size(), 0u);
      ASSERT_EQ(received[list].size(), sent[list].size()) << list;
      for (std::size_t i = 0; i < sent[list].size(); i++) {
        EXPECT_EQ(received[list][i]["decoded"], true) << list << i;
        for (const auto& [name, value] : sent[list][i].items()) {
          if (name == "seconds" || name == "first_sample") continue;
          EXPECT_EQ(received[list][i][name], value) << list << i << name;
        }
        EXPECT_NEAR(received[list][i]["first_sample"].get<double>(),
                    sent[list][i]["first_sample"].get<double>() - (*list == 'm' ? drift : 0), 1.5);
      }
    }
    for (const auto& b : received["blocks"]) EXPECT_NEAR(b["cfo_hz"].get<double>(), cfo_hz, 200);
  }
};

TEST_F(generate_command, a_receiver_reads_what_was_sent) {
  const auto sent = record_of(
      "generate -o cell.sigmf-meta --cell-id 517 --ssb-indices 0,3 --sfn 1022 --frames 4 --carrier 3.5e9 "
      "--no-intra-frequency --sib1 c0ffee");
  EXPECT_EQ(sent["blocks"].size(), 4u);
  EXPECT_EQ(sent["blocks"][2]["sfn"], 0);
  EXPECT_EQ(sent["blocks"][0]["intra_frequency"], false);
  EXPECT_TRUE(sent["messages"][0]["block"].get<std::string>().starts_with("110000001111111111101110000"));
  const auto received = record_of("receive cell.sigmf-meta --spacing 30 --offset 0 --quiet");
  EXPECT_EQ(received["centre_hz"], 3.5e9);
  expect_same(sent, received, 0);
}

TEST_F(generate_command, impaired_recordings_are_received_at_both_spacings) {
  for (const std::string spacing : {"15", "30"}) {
    SCOPED_TRACE(spacing);
    const auto sent =
        record_of("generate -o cell.sigmf-data --force --format ci16 --spacing " + spacing +
                  " --common-spacing " + spacing +
                  " --cell-id 42 --k-ssb 6 --snr 8 --cfo 1500 --delay-samples 300.4 --clock-offset-ppm 1 "
                  "--linewidth 5 --iq-gain-db 0.3 --iq-phase-deg 1 --dc-i 0.02 --converter-bits 10 --seed 3");
    expect_same(sent, record_of("receive cell --offset 0 --carrier 0 --quiet --spacing " + spacing), 1500);
  }
}

TEST_F(generate_command, formats_have_the_same_samples) {
  const std::string cell = "generate --frames 1 --rate 15.36e6 --k-ssb 31 --cell-id 7 --full-scale 2 -o ";
  for (const std::string format : {"cf32", "cf32_be", "ci32_be", "ci16", "ci16_be", "ci8"})
    ASSERT_EQ(run(cell + format + ".iq --format " + format).code, 0) << format;
  const std::vector<float> samples = floats_of("cf32.iq");
  ASSERT_EQ(samples.size(), 2u * 153600);
  EXPECT_EQ(floats_of("cf32_be.iq", true), samples);
  const auto expect_rounded = [&](const std::vector<int>& values, double steps, double full_scale) {
    ASSERT_EQ(values.size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); i++)
      ASSERT_EQ(values[i], std::clamp(std::nearbyint(static_cast<double>(samples[i]) / full_scale * steps),
                                      -steps, steps - 1))
          << i;
  };
  expect_rounded(integers_of("ci32_be.iq", 4, true), 2147483648., 2);
  expect_rounded(integers_of("ci16.iq", 2), 32768, 2);
  expect_rounded(integers_of("ci16_be.iq", 2, true), 32768, 2);
  expect_rounded(integers_of("ci8.iq", 1), 128, 2);
  ASSERT_EQ(
      run("generate --frames 1 --k-ssb 31 --cell-id 7 --full-scale 0.1 --format ci16 -o clipped.iq").code, 0);
  const std::vector<int> clipped = integers_of("clipped.iq", 2);
  EXPECT_EQ(*std::min_element(clipped.begin(), clipped.end()), -32768);
  EXPECT_EQ(*std::max_element(clipped.begin(), clipped.end()), 32767);
  expect_rounded(clipped, 32768, 0.1);
  const auto received = record_of("receive ci8.iq --rate 15.36e6 --spacing 30 --quiet --format ci8");
  ASSERT_EQ(received["blocks"].size(), 1u);
  EXPECT_EQ(received["blocks"][0]["cell_id"], 7);
  EXPECT_EQ(received["blocks"][0]["decoded"], true);
  EXPECT_EQ(received["messages"].size(), 0u);
  // The seed gives noise and bits.
  ASSERT_EQ(run(cell + "a.iq --snr 0 --seed 5").code, 0);
  ASSERT_EQ(run(cell + "b.iq --snr 0 --seed 5 --threads 1").code, 0);
  ASSERT_EQ(run(cell + "c.iq --snr 0 --seed 6").code, 0);
  EXPECT_EQ(content(path("a.iq")), content(path("b.iq")));
  EXPECT_NE(content(path("a.iq")), content(path("c.iq")));
}

TEST_F(generate_command, signals_that_moved_out_of_the_recording_are_not_listed) {
  const struct {
    std::string options;
    std::size_t blocks, messages;
    double drift = 0;
  } cases[] = {{"--delay-samples 300000", 2, 1},  // of 614400 samples; the second message is at 384000
               {"--delay-samples -3000", 1, 2},   // the first block begins before
               {"--clock-offset-ppm 50", 2, 2, 76800 * 5e-5}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.options);
    const auto sent = record_of("generate -o cell.sigmf-meta --force --frames 4 " + c.options);
    EXPECT_EQ(sent["blocks"].size(), c.blocks);
    EXPECT_EQ(sent["messages"].size(), c.messages);
    EXPECT_EQ(sent["l_max"], 8);
    EXPECT_NE(content(path("out.txt")).find(std::to_string(c.blocks) + " SS/PBCH blocks"), std::string::npos);
    expect_same(sent, record_of("receive cell.sigmf-meta --spacing 30 --offset 0 --carrier 0 --quiet"), 0,
                c.drift);
  }
}

TEST_F(generate_command, full_scale_has_room_for_imbalance_and_offset) {
  for (const std::string front_end : {"--dc-i 5", "--iq-gain-db 20", "--iq-gain-db -20", "--snr -20"}) {
    ASSERT_EQ(run("generate -o a.iq --force --frames 1 --format ci16 " + front_end).code, 0);
    std::size_t clipped = 0;
    const std::vector<int> values = integers_of("a.iq", 2);
    for (const int x : values)
      if (x == -32768 || x == 32767) clipped++;
    EXPECT_LT(clipped, values.size() / 1000) << front_end;
  }
}

TEST_F(generate_command, json_goes_to_stdout_for_a_dash) {
  const outcome o = run("generate -o a.iq --frames 1 --k-ssb 31 --json -");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(nlohmann::json::parse(o.out)["blocks"].size(), 1u);
  expect_error(2, "generate -o -", "-o - is not allowed");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "-"));
}

TEST_F(generate_command, refuses_what_is_wrong) {
  expect_error(2, "generate", "-o is missing");
  expect_error(2, "generate -o a.iq --format u8", "--format = \"u8\" is not allowed");
  expect_error(2, "generate -o a.iq --cell-id 1008", "--cell-id");
  expect_error(2, "generate -o a.iq --rate 7.68e6 --coreset0 1", "--coreset0 = 1 is not allowed");
  expect_error(2, "generate -o a.iq --search-space0 0", "--search-space0 = 0 is not allowed");
  expect_error(2, "generate -o a.iq --sib1 xyz",
               "--sib1 = \"xyz\" is not allowed: expected hexadecimal digits");
  for (const std::string digits : {"''", "\"$(printf '\\021\\022')\"", "0x1", "'c 0'"})
    expect_error(2, "generate -o a.iq --sib1 " + digits, "expected hexadecimal digits");
  expect_error(2, "generate -o a.iq --json ''", "--json: the name of the file is empty");
  expect_error(2, "generate -o a.iq --sfn 1 --frames 1", "--frames = 1 is not allowed");
  expect_error(2, "generate -o a.iq --mcs 28", "--mcs: \"28\" is not allowed");
  expect_error(2, "generate -o a.iq --carrier=-5e9", "--carrier");
  expect_error(2, "generate -o a.iq --search-space0 1 --half-frame 1 --ssb-indices 0,1",
               "--search-space0 = 1 is not allowed");
  expect_error(2, "generate -o a.iq --sib1 " + std::string(1000, 'a'), "--sib1 = 4000 bits is not allowed");
  expect_error(2, "generate -o a.iq --converter-bits 1", "--converter-bits = 1 is not allowed");
  write("a.iq", "something");
  expect_error(1, "generate -o a.iq", "--force replaces it");
  expect_error(2, "generate -o a.npy", "a.npy");
}

}  // namespace generate_command_test
