// `warpband generate`: `warpband receive` finds in its recordings what it says it sent.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

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
  /// Everything that was sent is received, in order, and nothing else.
  void expect_same(const nlohmann::json& sent, const nlohmann::json& received, double cfo_hz) const {
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
                    sent[list][i]["first_sample"].get<double>(), 1.5);
      }
    }
    for (const auto& b : received["blocks"]) EXPECT_NEAR(b["cfo_hz"].get<double>(), cfo_hz, 200);
  }
};

TEST_F(generate_command, a_receiver_reads_what_was_sent) {
  const auto sent = record_of(
      "generate -o cell.sigmf-meta --cell-id 517 --ssb-indices 0,3 --sfn 1022 --frames 4 --carrier 3.5e9 "
      "--sib1 c0ffee");
  EXPECT_EQ(sent["blocks"].size(), 4u);
  EXPECT_EQ(sent["blocks"][2]["sfn"], 0);
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
  // 10 ms at 1/16 of full scale, so that integers of 8 bits are enough for the block.
  const std::string cell = "generate --frames 1 --rate 15.36e6 --k-ssb 31 --cell-id 7 --full-scale 4 -o ";
  for (const std::string format : {"cf32", "cf32_be", "ci32_be", "ci16", "ci8"}) {
    SCOPED_TRACE(format);
    ASSERT_EQ(run(cell + format + ".iq --format " + format).code, 0);
    const auto received =
        record_of("receive " + format + ".iq --rate 15.36e6 --spacing 30 --quiet --format " + format);
    ASSERT_EQ(received["blocks"].size(), 1u);
    EXPECT_EQ(received["blocks"][0]["cell_id"], 7);
    EXPECT_EQ(received["blocks"][0]["decoded"], true);
    EXPECT_EQ(received["messages"].size(), 0u);
  }
  EXPECT_EQ(content(path("cf32.iq")).size(), 8u * 153600);
  EXPECT_EQ(content(path("ci16.iq")).size(), 4u * 153600);
  // The seed gives noise and bits.
  ASSERT_EQ(run(cell + "a.iq --snr 0 --seed 5").code, 0);
  ASSERT_EQ(run(cell + "b.iq --snr 0 --seed 5 --threads 1").code, 0);
  ASSERT_EQ(run(cell + "c.iq --snr 0 --seed 6").code, 0);
  EXPECT_EQ(content(path("a.iq")), content(path("b.iq")));
  EXPECT_NE(content(path("a.iq")), content(path("c.iq")));
}

TEST_F(generate_command, refuses_what_is_wrong) {
  expect_error(2, "generate", "-o is missing");
  expect_error(2, "generate -o a.iq --format u8", "--format = \"u8\" is not allowed");
  expect_error(2, "generate -o a.iq --cell-id 1008", "--cell-id");
  expect_error(2, "generate -o a.iq --rate 7.68e6 --coreset0 1", "--coreset0 = 1 is not allowed");
  expect_error(2, "generate -o a.iq --search-space0 0", "--search-space0 = 0 is not allowed");
  expect_error(2, "generate -o a.iq --sib1 xyz",
               "--sib1 = \"xyz\" is not allowed: expected hexadecimal digits");
  expect_error(2, "generate -o a.iq --sib1 " + std::string(1000, 'a'), "--sib1 = 4000 bits is not allowed");
  expect_error(2, "generate -o a.iq --converter-bits 1", "--converter-bits = 1 is not allowed");
  write("a.iq", "something");
  expect_error(1, "generate -o a.iq", "--force replaces it");
  expect_error(2, "generate -o a.npy", "a.npy");
}

}  // namespace generate_command_test
