// A program's own kind of detector: a description, and detectors().add. Links and scenarios then know it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/tradeoff.hpp>

namespace wb {
namespace own_detector_test {

// ---- the detector: that of the library with LLRs times a factor, and every 10th use erased

struct scaled_settings {
  float factor = 1;
  int erase_every = 0;
  bool operator==(const scaled_settings&) const = default;
};

class scaled_mmse final : public detector {
 public:
  explicit scaled_mmse(const detector_config& c)
      : detector(c),
        settings_(c.get<scaled_settings>()),
        mmse_(make_detector({.streams = c.streams, .rx_antennas = c.rx_antennas, .qam = c.qam})) {}

 private:
  void compute(executor& exec, const detector_input& in, const detector_output& out) const override {
    mmse_->run(exec, in, out);
    std::vector<float> llr(bits_per_use());
    const std::uint8_t erased = status_erased;
    for (std::size_t i = 0; i < in.received.items; i++) {
      const bool erases =
          settings_.erase_every != 0 && i % static_cast<std::size_t>(settings_.erase_every) == 0;
      float* of_use = out.llr.data + i * out.llr.item_stride;
      exec.download(llr.data(), of_use, llr.size() * sizeof(float));
      exec.sync();
      for (float& l : llr) l = erases ? 0 : l * settings_.factor;
      exec.upload(of_use, llr.data(), llr.size() * sizeof(float));
      if (erases && out.status.data != nullptr)
        exec.upload(out.status.data + i * out.status.item_stride, &erased, 1);
      exec.sync();
    }
  }
  scaled_settings settings_;
  std::unique_ptr<detector> mmse_;
};

detector_kind scaled_kind() {
  using s = scaled_settings;
  return {.name = "scaled",
          .text = "MMSE with scaled LLRs",
          .settings = boxed(std::vector<setting_of<s>>{
              number("factor", &s::factor, 0.1, 10, "What LLRs are multiplied with."),
              integer("erase_every", &s::erase_every, 0, 1000, "Erases a use in so many.")}),
          .make = [](const detector_config& c) { return std::make_unique<scaled_mmse>(c); }};
}

// ---- its tests: each adds the kind for itself alone

using scaled_scope = kind_scope<detector_kind>;

const std::string link =
    "code = { type = \"wifi-ldpc\", n = 648 }\nmodem.modulation = \"qpsk\"\nchannel.type = \"rayleigh\"\n"
    "mimo = { streams = 2, rx_antennas = 2 }\nsweep.ebn0_db = 4\n";

class own_detector : public testing::on_backend {};
WB_ON_ALL_BACKENDS(own_detector);

TEST_P(own_detector, runs_in_a_link_of_a_scenario) {
  const scaled_scope added(detectors(), {scaled_kind()});
  const scenario s = parse_scenario(
      link + "[[curve]]\nlabel = \"mmse\"\n" + "[[curve]]\nlabel = \"same\"\ndetector.type = \"Scaled\"\n" +
          "[[curve]]\nlabel = \"erases\"\ndetector.type = \"scaled\"\n" + "detector.erase_every = 9\n",
      "own.toml");
  std::vector<point_counts> counts;
  for (const curve_config& curve : s.curves) {
    link_chain chain(curve.link, exec());
    counts.push_back(run_point(chain, 4, {.frame_errors = 0, .max_frames = 40}).counts);
  }
  EXPECT_GT(counts[0].frame_errors, 0U);
  EXPECT_EQ(counts[0].frame_errors, counts[1].frame_errors);
  EXPECT_EQ(counts[0].bit_errors, counts[1].bit_errors);
  EXPECT_EQ(counts[1].erased_uses, 0U);
  EXPECT_GT(counts[2].erased_uses, 0U);
  EXPECT_GT(counts[2].bit_errors, counts[1].bit_errors);
}

TEST(own_detector_in, scenarios_and_results) {
  const scaled_scope added(detectors(), {scaled_kind()});
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      parse_scenario(link + text, "s.toml");
    } catch (const file_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refusal("detector = { type = \"scaled\", factor = 11 }").find("detector.factor = 11"),
            std::string::npos);
  EXPECT_NE(refusal("detector = { type = \"mmse\", factor = 2.0 }").find("has no meaning"),
            std::string::npos);
  EXPECT_NE(refusal("detector = { type = \"scaled\", ways = 2 }").find("has no meaning"), std::string::npos);
  EXPECT_NE(refusal("detector.type = \"scaled\"\nreceiver.outer = 2").find("takes no a-priori LLRs"),
            std::string::npos);
  EXPECT_NE(scenario_help().find("What LLRs are multiplied with."), std::string::npos);

  run_result r;
  r.source = parse_scenario(link + "detector = { type = \"scaled\", factor = 2.0 }\n", "s.toml");
  curve_result c;
  c.config = r.source.curves[0];
  c.points.push_back(point_of(c.config.link, 4));
  c.points.back().counts.frames = 1;
  r.curves.push_back(c);
  const auto config = nlohmann::json::parse(result_json(r))["curves"][0]["config"];
  EXPECT_EQ(config["detector"],
            nlohmann::json::parse(R"({"type": "scaled", "factor": 2.0, "erase_every": 0})"));
  detector_kind taken = scaled_kind();
  taken.name = "MMSE";
  EXPECT_THROW(detectors().add(taken), argument_error);
}

TEST(own_detector_in, choices_are_beside_those_of_the_library) {
  const scaled_scope added(detectors(), {scaled_kind()});
  std::size_t scaled = 0;
  for (const detector_config& c : detector_candidates({.type = "ml"})) scaled += c.type == "scaled";
  EXPECT_EQ(scaled, 1U);
}

}  // namespace own_detector_test
}  // namespace wb
