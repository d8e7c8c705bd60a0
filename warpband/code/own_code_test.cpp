// A program's own kind of code: a description, and codes().add. Links and scenarios then know it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

#include <tests/on_backends.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/result.hpp>

namespace wb {
namespace own_code_test {

// ---- the code: each bit is sent `times` times, and the decoder decides by the sum of their LLRs

struct repetition_settings {
  int k = 100, times = 3;
  std::string sums = "weighted";
  bool operator==(const repetition_settings&) const = default;
};

/// Elements of a view between first and last on the host.
template <class T>
std::vector<std::remove_const_t<T>> on_host(executor& exec, view<T> v) {
  std::vector<std::remove_const_t<T>> memory((v.elements - 1) * v.element_stride +
                                             (v.items - 1) * v.item_stride + 1);
  exec.download(memory.data(), v.data, memory.size() * sizeof(T));
  exec.sync();
  return memory;
}

class repetition final : public codec {
 public:
  explicit repetition(const repetition_settings& s)
      : k_(static_cast<std::size_t>(s.k)),
        times_(static_cast<std::size_t>(s.times)),
        weighted_(s.sums == "weighted") {}
  std::size_t k() const noexcept override { return k_; }
  std::size_t n() const noexcept override { return k_ * times_; }
  std::size_t thread_bytes(bool) const noexcept override { return 0; }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    const auto in = on_host(exec, bits);
    auto out = on_host(exec, coded);
    for (std::size_t i = 0; i < coded.items; i++)
      for (std::size_t e = 0; e < coded.elements; e++)
        out[i * coded.item_stride + e * coded.element_stride] =
            e < n() ? in[i * bits.item_stride + e % k_ * bits.element_stride] : std::uint8_t{0};
    exec.upload(coded.data, out.data(), out.size());
    exec.sync();
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    const auto in = on_host(exec, llr);
    std::vector<std::uint8_t> bits(k_ * llr.items), status(llr.items);
    const std::vector<std::int32_t> iterations(llr.items, 1);
    for (std::size_t i = 0; i < llr.items; i++)
      for (std::size_t b = 0; b < k_; b++) {
        float sum = 0;
        for (std::size_t t = 0; t < times_; t++) {
          const float x = in[i * llr.item_stride + (t * k_ + b) * llr.element_stride];
          sum += weighted_ ? x : x < 0 ? -1.f : 1.f;
        }
        bits[i * k_ + b] = sum < 0;
      }
    put(exec, out.bits, bits);
    put(exec, out.iterations, iterations);
    put(exec, out.status, status);
  }

 private:
  template <class T>
  static void put(executor& exec, view<T> to, const std::vector<T>& rows) {
    if (to.data == nullptr) return;
    auto memory = on_host(exec, to);
    for (std::size_t i = 0; i < to.items; i++)
      for (std::size_t e = 0; e < to.elements; e++)
        memory[i * to.item_stride + e * to.element_stride] = rows[i * to.elements + e];
    exec.upload(to.data, memory.data(), memory.size() * sizeof(T));
    exec.sync();
  }

  std::size_t k_, times_;
  bool weighted_;
};

code_kind repetition_kind() {
  using c = repetition_settings;
  const auto typed = [](const box& b) -> const c& { return b.get<c>(); };
  return {.name = "repetition",
          .text = "each bit several times: --k, --times",
          .settings = code_and_decoder<c>(
              {integer("k", &c::k, 1, 1000, "Bits of a frame."),
               integer("times", &c::times, 1, 9, "How often each bit is sent.")},
              {words<c, std::string>("sums", &c::sums, {{"weighted", "weighted"}, {"votes", "votes"}},
                                     "weighted: sums of LLRs; votes: of their signs.")}),
          .initial = box(c{}),
          .complete =
              [typed](const box& b) {
                if (typed(b).times % 2 == 0)
                  throw argument_error("times", std::to_string(typed(b).times), "an odd number");
                return b;
              },
          .sizes =
              [typed](const box& b) {
                const auto k = static_cast<std::size_t>(typed(b).k);
                return code_sizes{k, k * static_cast<std::size_t>(typed(b).times)};
              },
          .make = [typed](const box& b) -> std::unique_ptr<codec> {
            return std::make_unique<repetition>(typed(b));
          },
          .without_soft = [](const box&) { return "the repetition code"; }};
}

// ---- its tests, each in a process of its own: other tests read scenarios before the code is there

template <class Test>
void in_own_process(Test test) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        codes().add(repetition_kind());
        test();
        std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

class own_code : public testing::on_backend {};
WB_ON_ALL_BACKENDS(own_code);

TEST_P(own_code, gives_back_what_was_encoded) {
  in_own_process([&] {
    const code_config c("Repetition", {{"k", 10}, {"times", 5}});
    const auto code = make_codec(c);
    EXPECT_EQ(code->n(), 50u);
    const std::vector<std::uint8_t> bits{0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0};
    auto coded = exec().make<std::uint8_t>(2, 50);
    code->encode(exec(), testing::on_device(exec(), bits, 2, 10), coded);
    const auto words = exec().to_host(coded);
    std::vector<float> llr(words.size());
    for (std::size_t i = 0; i < llr.size(); i++)
      llr[i] = (words[i] != 0 ? -1.f : 1.f) * (i % 50 < 20 ? -1.f : 1.f);  // two of five are wrong
    auto decided = exec().make<std::uint8_t>(2, 10);
    code->decode(exec(), testing::on_device(exec(), llr, 2, 50), {.bits = decided});
    EXPECT_EQ(exec().to_host(decided), bits);
  });
}

TEST_P(own_code, runs_in_a_link_of_a_scenario) {
  in_own_process([&] {
    const scenario s = parse_scenario(
        "code = { type = \"repetition\", k = 100, times = 3 }\nsweep.ebn0_db = 4\n"
        "[[curve]]\nlabel = \"weighted\"\n[[curve]]\nlabel = \"votes\"\ndecoder.sums = \"votes\"\n"
        "[[curve]]\nlabel = \"none\"\ncode = { type = \"none\", k = 100 }\n",
        "own.toml");
    std::vector<double> ber;
    for (const curve_config& curve : s.curves) {
      link_chain chain(curve.link, exec());
      ber.push_back(run_point(chain, 4, {.frame_errors = 0, .max_frames = 200}).ber());
    }
    // At one Eb/N0 repetition gains nothing in AWGN, and votes lose.
    EXPECT_NEAR(ber[0], 0.0125, 0.003);
    EXPECT_NEAR(ber[2], 0.0125, 0.003);
    EXPECT_GT(ber[1], 0.02);
  });
}

TEST(own_code_in, scenarios_and_results) {
  in_own_process([] {
    const std::string sweep = "sweep.ebn0_db = 1\n";
    const auto refusal = [&](const std::string& text) -> std::string {
      try {
        parse_scenario(sweep + text, "s.toml");
      } catch (const file_error& e) {
        return e.what();
      }
      return "";
    };
    EXPECT_NE(refusal("code = { type = \"repetition\", times = 10 }").find("code.times = 10 is not allowed"),
              std::string::npos);
    EXPECT_NE(refusal("code = { type = \"repetition\", times = 4 }").find("expected an odd number"),
              std::string::npos);
    EXPECT_NE(refusal("code = { type = \"repetition\", rate = \"1/2\" }").find("has no meaning"),
              std::string::npos);
    EXPECT_NE(scenario_help().find("How often each bit is sent."), std::string::npos);

    run_result r;
    r.source = parse_scenario(sweep + "code.type = \"repetition\"\ncode.times = 5\n", "s.toml");
    curve_result c;
    c.config = r.source.curves[0];
    c.points.push_back(point_of(c.config.link, 1));
    c.points.back().counts.frames = 1;
    r.curves.push_back(c);
    const auto config = nlohmann::json::parse(result_json(r))["curves"][0]["config"];
    EXPECT_EQ(config["code"],
              nlohmann::json::parse(
                  R"({"type": "repetition", "k": 100, "crc": "none", "n": 500, "times": 5, "rate": 0.2})"));
    EXPECT_EQ(config["decoder"], nlohmann::json::parse(R"({"sums": "weighted"})"));
    EXPECT_THROW(codes().add(repetition_kind()), argument_error);
    EXPECT_FALSE(gives_extrinsic(c.config.link.code));
    EXPECT_EQ(most_iterations(c.config.link.code), 1);
  });
}

}  // namespace own_code_test
}  // namespace wb
