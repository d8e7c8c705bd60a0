// A program's own decoder of a code of the library: decoders().add, or a scope.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <tests/on_backends.hpp>
#include <warpband/code/code_kind.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/result.hpp>

namespace wb {
namespace own_decoder_test {

/// The library's own decoder, as if it were the program's.
decoder_kind same_as_built_in() {
  return {
      .name = "mine", .text = "As the built-in one.", .make = [](const code_config& c) -> decode_function {
        code_config plain = c;
        plain.decoder.clear();
        const std::shared_ptr<const codec> code = make_codec(plain);
        return [code](executor& exec, view<const float> llr, const decoder_output& out) {
          code->decode(exec, llr, out);
        };
      }};
}
std::string refusal_of(const std::string& text) {
  try {
    parse_scenario("sweep.ebn0_db = 1\n" + text, "s.toml");
  } catch (const file_error& e) {
    return e.what();
  }
  return "";
}

class own_decoder : public testing::on_backend {};
WB_ON_ALL_BACKENDS(own_decoder);

TEST_P(own_decoder, decodes_in_links) {
  const kind_scope<decoder_kind> scope(decoders(), {same_as_built_in()});
  for (const char* code :
       {"code = { type = \"wifi-ldpc\", n = 648 }\nmodem.modulation = \"qpsk\"\n",
        "code = { type = \"conv\", k = 60 }\nmodem.modulation = \"16qam\"\nmimo = { streams = 2, "
        "rx_antennas = 2 }\nchannel.type = \"rayleigh\"\n",
        "code = { type = \"conv\", k = 60 }\nmodem.modulation = \"qpsk\"\nmassive = { solver = \"zf\", "
        "antennas = "
        "8, users = 4, subcarriers = 70 }\nchannel.type = \"rayleigh\"\n"}) {
    const scenario s = parse_scenario(std::string("sweep.ebn0_db = 1\n") + code +
                                          "[[curve]]\nlabel = \"built-in\"\n[[curve]]\nlabel = "
                                          "\"mine\"\ndecoder.type = \"mine\"\n",
                                      "s.toml");
    EXPECT_EQ(s.curves[0].link.code.decoder, "");
    EXPECT_EQ(s.curves[1].link.code.decoder, "mine");
    std::vector<point_counts> counts;
    for (const curve_config& c : s.curves) {
      link_chain chain(c.link, exec());
      counts.push_back(run_point(chain, 1, {.frame_errors = 0, .max_frames = 100}).counts);
    }
    EXPECT_GT(counts[0].bit_errors, 0u) << code;
    EXPECT_EQ(counts[1].bit_errors, counts[0].bit_errors) << code;
    EXPECT_EQ(counts[1].frame_errors, counts[0].frame_errors) << code;
    EXPECT_EQ(counts[1].iterations, counts[0].iterations) << code;
  }
}

TEST(own_decoder_in, scenarios_and_results) {
  EXPECT_NE(refusal_of("code.type = \"conv\"\ndecoder.type = \"mine\"\n").find("unknown key decoder.type"),
            std::string::npos);
  const kind_scope<decoder_kind> scope(decoders(), {same_as_built_in()});
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(refusal_of(text).find(part), std::string::npos) << refusal_of(text);
  };
  says("code.type = \"conv\"\ndecoder = { type = \"mine\", algorithm = \"viterbi\" }\n",
       "decoder.algorithm has no meaning with decoder.type = \"mine\"");
  says("code.type = \"none\"\ndecoder.type = \"mine\"\n",
       "decoder.type has no meaning with code.type = \"none\"");
  says("code.type = \"lte-transport\"\ndecoder.type = \"mine\"\n",
       "decoder.type has no meaning with code.type = \"lte-transport\"");
  says("code.type = \"conv\"\ndecoder.type = \"other\"\n",
       "decoder.type = \"other\" is not allowed: expected \"built-in\" or \"mine\"");
  // A curve that names a decoder drops the settings of the built-in one.
  const scenario s = parse_scenario(
      "sweep.ebn0_db = 1\ncode.type = \"conv\"\ndecoder.algorithm = \"log-map\"\n[[curve]]\n[[curve]]\n"
      "decoder.type = \"Mine\"\n",
      "s.toml");
  run_result r;
  r.source = s;
  for (const curve_config& config : s.curves) {
    curve_result c{config.label, config, {}, {}, false};
    c.points.push_back(point_of(config.link, 1));
    c.points.back().counts.frames = 1;
    c.points.back().counts.iterations = 60'000;
    r.curves.push_back(c);
  }
  const auto curves = nlohmann::json::parse(result_json(r))["curves"];
  EXPECT_EQ(curves[1]["config"]["decoder"], nlohmann::json::parse(R"({"type": "mine"})"));
  EXPECT_NE(curves[0]["config"]["decoder"], curves[1]["config"]["decoder"]);
  EXPECT_EQ(curves[0]["config"]["code"], curves[1]["config"]["code"]);

  const code_config& config = s.curves[1].link.code;
  EXPECT_FALSE(gives_extrinsic(config));
  EXPECT_EQ(decoder_candidates(config, false), std::vector{config});
  EXPECT_EQ(with_iterations(config, 3), config);
  code_config uncoded("none");
  uncoded.decoder = "mine";
  EXPECT_THROW((void)completed(uncoded), argument_error);
  code_config unknown("conv");
  unknown.decoder = "its";
  EXPECT_THROW((void)completed(unknown), argument_error);
}

}  // namespace own_decoder_test
}  // namespace wb
