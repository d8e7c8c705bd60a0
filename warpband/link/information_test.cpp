// Mutual information of sent bits and LLRs: against the integral, on every backend, in results.
#include <cmath>
#include <nlohmann/json.hpp>

#include <tests/codes.hpp>
#include <tests/result.hpp>
#include <warpband/link/chain.hpp>

namespace wb {
namespace information_test {

using namespace testing;

class information : public testing::on_backend {};
WB_ON_ALL_BACKENDS(information);

/// Information of a bit and its LLR N(s^2 / 2, s^2) x (1 - 2 b): 1 - E log2(1 + exp(-L)), by the trapezoidal
/// rule.
double information_of(double s) {
  double loss = 0, total = 0;
  for (int i = -10000; i <= 10000; i++) {
    const double g = 1e-3 * i, weight = std::exp(-g * g / 2);
    loss += weight * std::log2(1 + std::exp(-s * s / 2 - s * g));
    total += weight;
  }
  return 1 - loss / total;
}
double sum_of(const std::vector<float>& lost) { return std::accumulate(lost.begin(), lost.end(), 0.0); }

TEST_P(information, of_bpsk_in_noise_is_the_integral) {
  link_config c = uncoded_link(1000);
  c.mutual_information = true;
  link_chain chain(c, exec());
  for (const double ebn0_db : {-6.0, 0.0, 4.0}) {
    const std::size_t frames = 100;
    const double measured = 1 - sum_of(chain.run(0, frames, ebn0_db).information_lost) / 100000;
    // y = x + n has LLRs 4 y / N0 of variance 8 / N0.
    const double expected = information_of(std::sqrt(8 * std::pow(10, ebn0_db / 10)));
    EXPECT_NEAR(measured, expected, 0.01) << ebn0_db;
  }
  EXPECT_NEAR(sum_of(chain.run(0, 20, 60).information_lost), 0, 1e-3);
  EXPECT_NEAR(sum_of(chain.run(0, 20, -100).information_lost), 20000, 20);
}

TEST_P(information, is_the_same_on_every_backend_in_any_batch_and_changes_no_count) {
  const auto reference = open_reference(), two_threads = GetParam().open(2);
  const std::size_t frames = 8;
  int measured = 0;
  for (const curve_config& curve : every_link().curves) {
    SCOPED_TRACE(curve.label);
    link_config c = curve.link;
    c.mutual_information = true;
    if (!blamed([&] { (void)completed(c); }).empty()) continue;
    const auto counts_of = [&](const link_config& link, executor& e) {
      return link_chain(link, e).run(3, frames, curve.sweep_db[0]);
    };
    const frame_counts a = counts_of(c, exec());
    ASSERT_EQ(a.information_lost.size(), frames);
    const double sent_bits =
        static_cast<double>(frames * codewords_per_frame(c) * sizes_of(completed(c).code).n);
    EXPECT_GT(sum_of(a.information_lost), 0);
    EXPECT_LT(sum_of(a.information_lost), sent_bits);
    EXPECT_TRUE(counts_of(c, *reference) == a);
    EXPECT_TRUE(counts_of(c, *two_threads) == a);
    link_chain chain(c, exec());
    std::vector<float> parts;
    for (std::size_t i = 0; i < frames; i += 4) {
      const std::vector<float>& part = chain.run(3 + i, 4, curve.sweep_db[0]).information_lost;
      parts.insert(parts.end(), part.begin(), part.end());
    }
    EXPECT_EQ(a.information_lost, parts);
    frame_counts plain = counts_of(curve.link, exec());
    EXPECT_TRUE(plain.information_lost.empty());
    plain.information_lost = a.information_lost;
    EXPECT_TRUE(plain == a);
    measured++;
  }
  EXPECT_GT(measured, 30);
}

TEST(information_of_links, is_refused_where_it_is_not_measured) {
  link_config loop = mimo_link(2, 2, "pic"), transport = turbo_link(0),
              decided = space_time_link(space_time_code::alamouti(), 4, 1);
  loop.receiver = receiver_config{};
  transport.code = code_config("lte-transport");
  testing::k_in(transport.code) = 200;
  testing::sent_in(transport.code).coded_bits = 600;
  for (link_config c : {loop, transport, decided}) {
    (void)completed(c);
    c.mutual_information = true;
    try {
      (void)completed(c);
      ADD_FAILURE() << "not refused";
    } catch (const argument_error& e) {
      EXPECT_EQ(e.argument(), "mutual_information");
      EXPECT_TRUE(e.allowed().starts_with("false with ")) << e.allowed();
    }
  }
}

const std::string scenario_text = R"(
code.k = 128
modem = { modulation = "16qam", mutual_information = true }
sweep.ebn0_db = [-1.0, 3.0]
stop = { frame_errors = 0, max_frames = 40 }
)";

using result = result_folder;

TEST_F(result, with_mutual_information_goes_on_to_the_same) {
  const run_result straight = ran(scenario_text, *open_scalar());
  const auto& points = straight.curves[0].points;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_LT(*points[0].mutual_information(), *points[1].mutual_information());
  EXPECT_EQ(*points[0].mutual_information(), 1 - points[0].counts.information_lost / (40.0 * 396));

  run_result half = ran(scenario_text + "[[curve]]\nstop.max_frames = 13\n", *open_scalar());
  write_file(path("r.json"), result_json(half));
  run_result more = resumed(load_result(path("r.json")), parse_scenario(scenario_text, "s.toml"), "r.json");
  run_curve(more.curves[0], *open_scalar());
  for (std::size_t i = 0; i < 2; i++) expect_same(more.curves[0].points[i].counts, points[i].counts);

  const std::string without = "code.k = 128\nmodem.modulation = \"16qam\"\nsweep.ebn0_db = [-1.0, 3.0]\n";
  EXPECT_THROW(resumed(load_result(path("r.json")), parse_scenario(without, "s.toml"), "r.json"), file_error);
}

TEST_F(result, has_the_mutual_information_of_the_information_lost) {
  const std::string measured = result_json(ran(scenario_text, *open_scalar()));
  const std::string plain =
      result_json(ran("code.k = 128\nsweep.ebn0_db = [0]\nstop.max_frames = 2\n", *open_scalar()));
  const auto with = [](const std::string& text, const char* key, const nlohmann::json& value) {
    nlohmann::json j = nlohmann::json::parse(text);
    j["curves"][0]["points"][0][key] = value;
    return j.dump();
  };
  const auto refused = [&](const std::string& text, const nlohmann::json& lost) {
    return refusal(path("r.json"), with(text, "information_lost", lost));
  };
  EXPECT_NE(refused(measured, -1).find("a number of bits, at least 0"), std::string::npos);
  EXPECT_NE(refused(measured, "many").find("a number of bits"), std::string::npos);
  EXPECT_NE(refused(plain, 0.5).find("modem.mutual_information is not set"), std::string::npos);
  for (const std::string& text : {measured, plain})
    EXPECT_EQ(result_json(parse_result(with(text, "mutual_information", 0.5), "r.json")), text);
}

}  // namespace information_test
}  // namespace wb
