// Codes of scenarios beside the LTE turbo code, and their decoders.
#include <tests/codes.hpp>
#include <tests/scenario.hpp>

namespace wb {
namespace scenario_codes_test {

using namespace testing;

const char* const text_of_other_codes = R"(
sweep.ebn0_db = 2
code = { type = "wimax-ldpc", n = 1152, rate = "3/4A", crc = "crc24a" }
decoder = { iterations = 20, scale = 0.625, precision = "int8", int8_steps = 4 }
[[curve]]
[[curve]]
decoder.algorithm = "offset-min-sum"
decoder.offset = 0.25
decoder.precision = "float16"
decoder.schedule = "flooding"
decoder.early_stop = "none"
[[curve]]
code.type = "wifi-ldpc"
[[curve]]
code = { type = "conv", k = 100, rate = "3/4", termination = "tail-biting", standard = "802.16" }
decoder = { algorithm = "log-map", overlap = 20 }
[[curve]]
code = { type = "conv", generators = ["7", "05"], feedback = "7", order = "streams" }
[[curve]]
code.type = "lte-turbo"
)";

TEST(scenario, other_codes) {
  const scenario s = parse_scenario(text_of_other_codes, "s.toml");
  ASSERT_EQ(s.curves.size(), 6u);
  const auto code = [&](std::size_t i) -> const code_config& { return s.curves[i].link.code; };
  EXPECT_EQ(code(0).type, "wimax-ldpc");
  EXPECT_EQ(testing::k_in(code(0)), 864);
  EXPECT_EQ(testing::n_in(code(0)), 1152);
  EXPECT_EQ(testing::ldpc_in(code(0)).rate, "3/4A");
  EXPECT_EQ(crc_of(code(0))->polynomial, crc24a.polynomial);
  EXPECT_EQ(testing::ldpc_decoder_in(code(0)).algorithm, ldpc_algorithm::normalised_min_sum);
  EXPECT_EQ(testing::ldpc_decoder_in(code(0)).iterations, 20);
  EXPECT_EQ(testing::ldpc_decoder_in(code(0)).scale, 0.625f);
  EXPECT_EQ(testing::ldpc_decoder_in(code(0)).precision, ldpc_precision::int8);
  EXPECT_EQ(testing::ldpc_decoder_in(code(0)).int8_steps, 4);
  EXPECT_TRUE(testing::ldpc_decoder_in(code(0)).early_stop);
  EXPECT_EQ(testing::ldpc_decoder_in(code(1)).algorithm, ldpc_algorithm::offset_min_sum);
  EXPECT_EQ(testing::ldpc_decoder_in(code(1)).offset, 0.25f);
  EXPECT_EQ(testing::ldpc_decoder_in(code(1)).scale, 0.75f);  // the base's has no meaning with this choice
  EXPECT_EQ(testing::ldpc_decoder_in(code(1)).precision, ldpc_precision::float16);
  EXPECT_EQ(testing::ldpc_decoder_in(code(1)).int8_steps, automatic_steps);
  EXPECT_EQ(testing::ldpc_decoder_in(code(1)).schedule, ldpc_schedule::flooding);
  EXPECT_FALSE(testing::ldpc_decoder_in(code(1)).early_stop);
  EXPECT_EQ(code(2).type, "wifi-ldpc");
  EXPECT_EQ(testing::n_in(completed(code(2))), 1944);  // n and rate of the base are another code's
  EXPECT_EQ(testing::ldpc_in(code(2)).rate, "1/2");
  EXPECT_EQ(testing::ldpc_decoder_in(code(2)).iterations, 20);
  EXPECT_EQ(code(3).type, "conv");
  EXPECT_EQ(testing::k_in(code(3)), 100);
  EXPECT_EQ(testing::conv_in(code(3)).rate, "3/4");
  EXPECT_EQ(testing::conv_in(code(3)).termination, conv_ending::tail_biting);
  EXPECT_EQ(testing::conv_in(code(3)).standard, conv_standard::ieee_802_16);
  EXPECT_EQ(testing::conv_in(code(3)).algorithm, conv_algorithm::log_map);
  EXPECT_EQ(testing::conv_in(code(3)).overlap, 20);
  EXPECT_EQ(testing::k_in(code(4)), 6144);
  EXPECT_EQ(testing::conv_in(code(4)).generators, (std::vector<int>{7, 5}));
  EXPECT_EQ(testing::conv_in(code(4)).feedback, 7);
  EXPECT_EQ(testing::conv_in(code(4)).order, conv_order::streams);
  EXPECT_EQ(testing::conv_in(code(4)).algorithm, conv_algorithm::viterbi);
  EXPECT_EQ(testing::conv_in(completed(code(4))).constraint_length, 3);
  EXPECT_EQ(testing::turbo_in(code(5)).rate, turbo_rate::third);
  EXPECT_EQ(testing::turbo_decoder_in(code(5)).iterations, 20);
  // All k from n and the rate, or as given.
  EXPECT_EQ(
      testing::k_in(
          only_curve(sweep + "code = { type = \"wifi-ldpc\", n = 648, rate = \"5/6\", k = 540 }").link.code),
      540);
  EXPECT_EQ(testing::conv_in(only_curve(sweep + "code = { type = \"conv\", rate = \"1/3\" }").link.code).rate,
            "1/3");
}

TEST(scenario, refuses_what_other_codes_do_not_have) {
  const auto with = [](const std::string& type, const std::string& text) {
    return sweep + "code.type = \"" + type + "\"\n" + text;
  };
  const std::string wimax = "wimax-ldpc", wifi = "wifi-ldpc", conv = "conv";
  EXPECT_REFUSED(with(wimax, "decoder.windows = 3"),
                 "line 3: decoder.windows has no meaning with code.type = \"wimax-ldpc\"");
  EXPECT_REFUSED(with(wimax, "code.interleaver = { f1 = 3, f2 = 4 }"),
                 "line 3: code.interleaver.f1 has no meaning with code.type = \"wimax-ldpc\"");
  EXPECT_REFUSED(with(conv, "decoder.iterations = 3"), "decoder.iterations has no meaning with code.type");
  EXPECT_REFUSED(with(conv, "code.n = 100"), "line 3: code.n has no meaning with code.type = \"conv\"");
  EXPECT_REFUSED(with(wifi, "code.termination = \"zero-tail\""), "code.termination has no meaning");
  EXPECT_REFUSED(sweep + "decoder.scale = 0.5",
                 "line 2: decoder.scale has no meaning with code.type = \"lte-turbo\"");
  EXPECT_REFUSED(
      sweep + "decoder.algorithm = \"viterbi\"",
      "line 2: decoder.algorithm = \"viterbi\" is not allowed: expected \"log-map\" or \"max-log-map\"");
  EXPECT_REFUSED(
      sweep + "decoder.precision = \"bfloat16\"\ndecoder.early_stop = \"sign-agreement\"",
      "line 3: decoder.early_stop = \"sign-agreement\" is not allowed: expected \"none\" or \"crc\"");
  EXPECT_REFUSED(with(wimax, "decoder.algorithm = \"log-map\""),
                 "line 3: decoder.algorithm = \"log-map\" is not allowed: expected \"normalised-min-sum\", ");
  EXPECT_REFUSED(with(wimax, "decoder.algorithm = \"min-sum\"\ndecoder.scale = 0.5"),
                 "line 4: decoder.scale has no meaning with decoder.algorithm = \"min-sum\"");
  EXPECT_REFUSED(with(wimax, "decoder.offset = 0.5"),
                 "line 3: decoder.offset has no meaning with decoder.algorithm = \"normalised-min-sum\"");
  EXPECT_REFUSED(with(wimax, "decoder.int8_steps = 4"),
                 "has no meaning with decoder.precision = \"float32\"");
  EXPECT_REFUSED(with(wimax, "decoder.precision = \"int8\"\ndecoder.scale = 0.7"),
                 "line 4: decoder.scale = 0.7");
  EXPECT_REFUSED(with(wimax, "decoder.early_stop = \"crc\""),
                 "line 3: decoder.early_stop = \"crc\" is not allowed: expected \"syndrome\" or \"none\"");
  const scenario stops =
      parse_scenario(with(wimax, "code.crc = \"crc24b\"\ndecoder.early_stop = \"crc\""), "s.toml");
  EXPECT_TRUE(testing::ldpc_decoder_in(stops.curves[0].link.code).crc_stop);
  EXPECT_REFUSED(with(wimax, "code.n = 600"), "line 3: code.n = 600 is not allowed: expected 576 to 2304");
  EXPECT_REFUSED(with(wifi, "code.n = 2304"),
                 "line 3: code.n = 2304 is not allowed: expected 648, 1296 or 1944");
  EXPECT_REFUSED(with(wimax, "code.rate = \"3/4\""),
                 "line 3: code.rate = \"3/4\" is not allowed: expected \"1/2\", \"2/3A\"");
  EXPECT_REFUSED(with(wimax, "code.k = 1000"),
                 "line 3: code.k = 1000 is not allowed: expected 1152, as n = 2304 and rate 1/2 give");
  EXPECT_REFUSED(with(conv, "code.rate = \"7/8\""), "line 3: code.rate = \"7/8\" is not allowed");
  EXPECT_REFUSED(with(conv, "code.termination = \"none\""), "expected \"zero-tail\" or \"tail-biting\"");
  EXPECT_REFUSED(with(conv, "decoder.overlap = 3"),
                 "line 3: decoder.overlap has no meaning with code.termination = \"zero-tail\"");
  EXPECT_REFUSED(with(conv, "code.generators = [133, 171]"),
                 "line 3: code.generators = [133, 171] is not allowed");
  EXPECT_REFUSED(with(conv, "code.generators = [\"138\", \"171\"]"), "line 3: code.generators = \"138\"");
  EXPECT_REFUSED(with(conv, "code.generators = [\"7\", \"5\", \"3\"]\ncode.rate = \"3/4\""),
                 "line 4: code.rate = \"3/4\" is not allowed: expected \"1/3\" with 3 generators");
  EXPECT_REFUSED(with(conv, "code.feedback = \"7\""), "line 3: code.feedback = 07 is not allowed");
  EXPECT_REFUSED(with(conv, "code.feedback = \"133\"\ncode.termination = \"tail-biting\""),
                 "line 4: code.termination = \"tail-biting\" is not allowed: expected \"zero-tail\"");
  EXPECT_REFUSED(with(conv, "code.k = 100000"),
                 "line 3: code.k = 100000 is not allowed: expected 1 to 65536");
  EXPECT_REFUSED(with(conv, "code.order = \"stream\""), "line 3: code.order = \"stream\" is not allowed");
  EXPECT_REFUSED(with(wimax,
                      "[[curve]]\nlabel = \"a\"\n[[curve]]\nlabel = \"b\"\ncode.type = \"conv\"\n"
                      "code.n = 576"),
                 "line 8: code.n has no meaning with code.type = \"conv\", in curve \"b\"");
}

}  // namespace scenario_codes_test
}  // namespace wb
