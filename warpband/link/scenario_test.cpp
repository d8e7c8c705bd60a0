#include <filesystem>
#include <sstream>

#include <tests/codes.hpp>
#include <tests/scenario.hpp>
#include <tests/scratch.hpp>
#include <warpband/core/nearest_name.hpp>
#include <warpband/link/result.hpp>

#ifndef WARPBAND_SOURCE_DIR
#define WARPBAND_SOURCE_DIR ""
#endif

namespace wb {
namespace scenario_test {

using namespace testing;

TEST(scenario, defaults) {
  const curve_config c = only_curve(sweep);
  const link_config d;
  EXPECT_EQ(c.label, "s");
  EXPECT_EQ(c.link.seed, 1u);
  EXPECT_EQ(c.link.code.type, "lte-turbo");
  EXPECT_EQ(testing::k_in(c.link.code), 6144);
  EXPECT_FALSE(crc_of(c.link.code));
  EXPECT_FALSE(testing::turbo_in(c.link.code).interleaver);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).algorithm, map_algorithm::log_map);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).iterations, 6);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).windows, 0);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).overlap, -1);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).extrinsic_scale, 1.f);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).stop, early_stop::none);
  EXPECT_EQ(c.link.qam, d.qam);
  EXPECT_EQ(c.link.antennas.get<single_antenna>().demapper, demap_algorithm::max_log);
  EXPECT_EQ(c.link.channel.type, "awgn");
  EXPECT_EQ(c.sweep_db, std::vector<double>{1});
  EXPECT_EQ(c.stop.frame_errors, 100u);
  EXPECT_EQ(c.stop.max_frames, 1'000'000u);
  EXPECT_EQ(c.stop.max_seconds, 0);
  EXPECT_EQ(c.stop.below_fer, 0);
}

TEST(scenario, every_key) {
  const scenario s = parse_scenario(R"(
title = "all of them"
seed = 9223372036854775807
[code]
type = "lte-turbo"
k = 1024
crc = "crc24b"
interleaver = { f1 = 31, f2 = 64 }
[decoder]
algorithm = "max-log-map"
iterations = 8
windows = 16
overlap = 12
extrinsic_scale = 0.75
early_stop = "crc"
[modem]
modulation = "64qam"
demapper = "exact"
[channel]
type = "rayleigh"
fading = "block"
[sweep]
ebn0_db = [0, 0.25, 7]
[stop]
frame_errors = 0
max_frames = 77
max_seconds = 2.5
below_fer = 1e-4
)",
                                    "s.toml");
  EXPECT_EQ(s.title, "all of them");
  ASSERT_EQ(s.curves.size(), 1u);
  const curve_config& c = s.curves[0];
  EXPECT_EQ(c.label, "all of them");
  EXPECT_EQ(c.link.seed, 9223372036854775807u);
  EXPECT_EQ(testing::k_in(c.link.code), 1024);
  EXPECT_EQ(crc_of(c.link.code)->polynomial, crc24b.polynomial);
  EXPECT_EQ(testing::turbo_in(c.link.code).interleaver->f1, 31);
  EXPECT_EQ(testing::turbo_in(c.link.code).interleaver->f2, 64);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).algorithm, map_algorithm::max_log_map);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).iterations, 8);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).windows, 16);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).overlap, 12);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).extrinsic_scale, 0.75f);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).stop, early_stop::crc);
  EXPECT_EQ(c.link.qam, 64);
  EXPECT_EQ(c.link.antennas.get<single_antenna>().demapper, demap_algorithm::exact);
  EXPECT_EQ(c.link.channel.type, "rayleigh");
  EXPECT_EQ(fading_of(c.link.channel), air_fading::block);
  EXPECT_EQ(c.sweep_db, (std::vector<double>{0, 0.25, 7}));
  EXPECT_EQ(c.stop.frame_errors, 0u);
  EXPECT_EQ(c.stop.max_frames, 77u);
  EXPECT_EQ(c.stop.max_seconds, 2.5);
  EXPECT_EQ(c.stop.below_fer, 1e-4);
}

/// The result of a scenario with one curve, before it ran.
std::string json_of(const std::string& text) {
  run_result r;
  r.source.curves = {only_curve(text)};
  r.curves.push_back({"c", r.source.curves[0], {point_result{}}, {}, false});
  r.curves.back().config.link = completed(r.source.curves[0].link);
  return result_json(r);
}

TEST(scenario, documented_defaults_are_the_defaults) {
  // A file that spells out every default gives what an empty one gives.
  std::string spelt = sweep;
  for (const scenario_key& k : scenario_keys()) {
    EXPECT_FALSE(k.name.empty());
    EXPECT_FALSE(k.text.empty()) << k.name;
    EXPECT_FALSE(k.allowed.empty()) << k.name;
    const std::string& name = k.name;
    const auto kinds = kinds_with(name.substr(name.find('.') + 1));
    if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), &codes().get("lte-turbo")) == kinds.end())
      continue;
    if (!k.initial.empty() && (name == "channel.type" || !name.starts_with("channel.")) &&
        (name == "nr.channel" || !name.starts_with("nr.")) && !name.starts_with("detector.") &&
        !name.starts_with("receiver.") && name != "decoder.llr_steps" && name != "stbc.search" &&
        name != "sweep.target_width_db")
      spelt += name + " = " + k.initial + "\n";
  }
  EXPECT_EQ(json_of(spelt), json_of(sweep));
  const std::string int16 = sweep +
                            "decoder.algorithm = \"max-log-map\"\ndecoder.extrinsic_scale = 0.75\n"
                            "decoder.precision = \"int16\"\n";
  EXPECT_EQ(json_of(int16 + "decoder.llr_steps = \"auto\""), json_of(int16));
  EXPECT_NE(json_of(int16 + "decoder.llr_steps = 4"), json_of(int16));
  const std::string bfloat16 = json_of(sweep + "decoder.precision = \"bfloat16\"\n");
  EXPECT_NE(bfloat16.find("\"precision\": \"bfloat16\""), std::string::npos);
  EXPECT_EQ(bfloat16.find("llr_steps"), std::string::npos);
}

TEST(scenario, documented_defaults_are_those_of_other_codes) {
  const auto with = [](const std::string& type, const std::string& text) {
    return sweep + "code.type = \"" + type + "\"\n" + text;
  };
  const std::string ldpc =
      "code.k = 1152\ncode.n = 2304\ncode.rate = \"1/2\"\ncode.crc = \"none\"\n"
      "decoder.algorithm = \"normalised-min-sum\"\ndecoder.iterations = 15\ndecoder.scale = 0.75\n"
      "decoder.schedule = \"layered\"\ndecoder.precision = \"float32\"\ndecoder.early_stop = \"syndrome\"\n";
  EXPECT_EQ(json_of(with("wimax-ldpc", ldpc)), json_of(with("wimax-ldpc", "")));
  EXPECT_EQ(json_of(with("wifi-ldpc", "code.n = 1944\ncode.k = 972")), json_of(with("wifi-ldpc", "")));
  const std::string offset = "decoder.algorithm = \"offset-min-sum\"\n",
                    int8 = "decoder.precision = \"int8\"\n";
  EXPECT_EQ(json_of(with("wimax-ldpc", offset + "decoder.offset = 0.5")),
            json_of(with("wimax-ldpc", offset)));
  EXPECT_EQ(json_of(with("wimax-ldpc", int8 + "decoder.int8_steps = \"auto\"")),
            json_of(with("wimax-ldpc", int8)));
  EXPECT_EQ(json_of(with("conv",
                         "code.k = 6144\ncode.rate = \"1/2\"\ncode.termination = \"zero-tail\"\n"
                         "code.generators = [\"133\", \"0171\"]\ncode.constraint_length = 7\ncode.feedback = "
                         "\"0\"\ncode.standard = \"802.11\"\ncode.order = \"serial\"\n"
                         "decoder.algorithm = \"viterbi\"")),
            json_of(with("conv", "")));
  const std::string transport = "code.resource_elements = 4000\n";
  EXPECT_EQ(json_of(with("lte-transport",
                         transport + "code.transport_block_size = 6120\ncode.transmissions = 4\n"
                                     "code.redundancy_versions = [0, 2, 3, 1]\ncode.soft_buffer = \"auto\"\n"
                                     "decoder.algorithm = \"log-map\"\ndecoder.iterations = 6\n"
                                     "decoder.windows = \"auto\"\ndecoder.overlap = \"auto\"\n"
                                     "decoder.extrinsic_scale = 1.0\ndecoder.precision = \"float32\"\n"
                                     "decoder.early_stop = \"crc\"")),
            json_of(with("lte-transport", transport)));
  const std::string circular = "code.termination = \"tail-biting\"\n";
  EXPECT_EQ(json_of(with("conv", circular + "decoder.overlap = \"auto\"")), json_of(with("conv", circular)));
  EXPECT_NE(json_of(with("conv", circular + "decoder.overlap = 20")), json_of(with("conv", circular)));
}

TEST(scenario, documented_defaults_are_those_of_detectors_and_channels) {
  const std::string nway = antennas + "detector.type = \"nway\"\n",
                    kbest = antennas + "detector.type = \"kbest\"\n";
  EXPECT_EQ(json_of(nway + "detector.ways = \"auto\""), json_of(nway));
  EXPECT_EQ(json_of(kbest + "detector.survivors = 64\ndetector.real_valued = false"), json_of(kbest));
  EXPECT_NE(json_of(kbest + "detector.order = [1, 0]"), json_of(kbest));
  EXPECT_EQ(json_of(antennas + "detector.type = \"mmse\"\nchannel.fading = \"fast\""), json_of(antennas));
  // Clustered delay lines, which massive MIMO and PUSCH alone have.
  const std::string clusters = sweep +
                               "channel.type = \"cdl\"\nmassive.solver = \"mf\"\n"
                               "code = { type = \"none\", k = 256 }\nmodem.modulation = \"qpsk\"\n";
  std::string spelt_clusters = clusters;
  const auto of_clusters = [](const std::string& name) {
    return name == "channel.carrier_hz" || name == "channel.antenna_spacing_m" ||
           name == "channel.antenna_spacing_wavelengths" || name == "channel.sector_deg" ||
           name == "channel.power_control";
  };
  const std::string line = sweep + "channel.type = \"tdl\"\n";
  std::string spelt_line = line;
  for (const scenario_key& k : scenario_keys()) {
    const std::string& name = k.name;
    if (of_clusters(name))
      spelt_clusters += name + " = " + k.initial + "\n";
    else if (name.starts_with("channel.") && !k.initial.empty() && name != "channel.type" &&
             name != "channel.fading" && name != "channel.delay_spread_ns" && name != "channel.array" &&
             name != "channel.speed_kmh" && !name.ends_with("_coefficient"))
      spelt_line += name + " = " + k.initial + "\n";
  }
  EXPECT_NE(spelt_clusters.find("carrier_hz"), std::string::npos);
  EXPECT_EQ(json_of(spelt_clusters), json_of(clusters));
  EXPECT_NE(spelt_line.find("subcarriers"), std::string::npos);
  EXPECT_EQ(json_of(spelt_line), json_of(line));
  EXPECT_EQ(json_of(line + "channel.profile = \"tdl-b\"\nchannel.delay_spread_ns = 100.0"),
            json_of(line + "channel.profile = \"tdl-b\""));
  EXPECT_NE(json_of(line + "channel.doppler_hz = 5"), json_of(line));
  std::string correlated = antennas;
  correlated.replace(correlated.find("rayleigh"), 8, "kronecker");
  EXPECT_EQ(json_of(correlated + "channel.fading = \"fast\"\nchannel.rx_coefficient = 0.0"),
            json_of(correlated));
}

TEST(scenario, a_likely_slip_is_told_what_is_meant) {
  EXPECT_REFUSED(sweep + "modem.qam = 16", "line 2: unknown key modem.qam: did you mean modem.modulation?");
  EXPECT_REFUSED(sweep + "detector.k = 16", "unknown key detector.k: did you mean detector.survivors?");
  EXPECT_REFUSED(sweep + "code.type = \"LDPC\"",
                 ": did you mean \"wimax-ldpc\", \"wifi-ldpc\", \"nr-ldpc\" or \"qc-ldpc\"?");
  EXPECT_REFUSED(sweep + "code.type = \"lte-turbp\"", ": did you mean \"lte-turbo\"?");
  EXPECT_REFUSED(sweep + "channel.type = \"winner2\"",
                 ": a profile is named by channel.profile, with channel.type = \"cdl\"");
  EXPECT_REFUSED(sweep + "channel.type = \"epa\"", "with channel.type = \"tdl\"");
  EXPECT_REFUSED("{\"scenario\": {}, \"curves\": []}", "is a result, not a scenario");
}

TEST(scenario, words_are_taken_in_their_usual_spellings) {
  const curve_config c = only_curve(sweep +
                                    "code.type = \"WiMAX_LDPC\"\nmodem.modulation = \"16-QAM\"\n"
                                    "decoder.algorithm = \"Offset Min-Sum\"\ndecoder.precision = \"INT8\"\n");
  EXPECT_EQ(c.link.code.type, "wimax-ldpc");
  EXPECT_EQ(c.link.qam, 16);
  EXPECT_EQ(only_curve(sweep + "modem.modulation = \"qam64\"").link.qam, 64);
  EXPECT_EQ(testing::ldpc_decoder_in(c.link.code).algorithm, ldpc_algorithm::offset_min_sum);
  EXPECT_EQ(testing::ldpc_decoder_in(c.link.code).precision, ldpc_precision::int8);
}

TEST(scenario, overrides_are_for_all_curves_and_add_up) {
  scenario s = parse_scenario(sweep + "[[curve]]\nseed = 3\n[[curve]]\nstop.max_frames = 5", "s.toml");
  apply_overrides(s, {.seed = 7, .frame_errors = 0, .max_frames = {}, .max_seconds = {}});
  apply_overrides(s, {.seed = {}, .frame_errors = 9, .max_frames = 80, .max_seconds = 1.5});
  for (const curve_config& c : s.curves) {
    EXPECT_EQ(c.link.seed, 7u);
    EXPECT_EQ(c.stop, (stop_rule{.frame_errors = 9, .max_frames = 80, .max_seconds = 1.5, .below_fer = 0}));
  }
  EXPECT_EQ(s.overrides.seed, 7u);
  EXPECT_EQ(s.overrides.frame_errors, 9u);
  EXPECT_EQ(s.overrides.max_frames, 80u);
  EXPECT_EQ(s.overrides.max_seconds, 1.5);
}

TEST(scenario, windows_and_overlap_can_be_automatic) {
  const curve_config c = only_curve(sweep + "decoder.windows = \"auto\"\ndecoder.overlap = \"auto\"\n");
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).windows, 0);
  EXPECT_EQ(testing::turbo_decoder_in(c.link.code).overlap, -1);
}

TEST(scenario, ranges_of_points) {
  EXPECT_EQ(only_curve("sweep.ebn0_db = { from = 0.0, to = 0.7, step = 0.1 }").sweep_db,
            (std::vector<double>{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}));
  EXPECT_EQ(only_curve("sweep.ebn0_db = { from = -1, to = 1.9, step = 1 }").sweep_db,
            (std::vector<double>{-1, 0, 1}));
  EXPECT_EQ(only_curve("sweep.ebn0_db = { from = 2, to = 2, step = 1 }").sweep_db, (std::vector<double>{2}));
  EXPECT_REFUSED("sweep.ebn0_db = { from = 0, to = 1 }", "line 1: sweep.ebn0_db needs from, to and step");
  EXPECT_REFUSED("sweep.ebn0_db = { from = 1, to = 0, step = 1 }", "sweep.ebn0_db.to = 0 is not allowed");
  EXPECT_REFUSED("sweep.ebn0_db = { from = 0, to = 1, step = 0 }", "sweep.ebn0_db.step = 0 is not allowed");
  EXPECT_REFUSED("sweep.ebn0_db = { from = -100, to = 100, step = 0.001 }", "200001 points: at most 10000");
  EXPECT_REFUSED("sweep.ebn0_db = [0, 1, 1]", "has 1 after 1: expected a rising list");
  EXPECT_REFUSED("sweep.ebn0_db = []", "sweep.ebn0_db = an empty list is not allowed");
  EXPECT_REFUSED("sweep.ebn0_db = [0, \"1\"]", "sweep.ebn0_db = \"1\" is not allowed");
  EXPECT_REFUSED("sweep.ebn0_db = [0, nan]", "sweep.ebn0_db = nan is not allowed");
  EXPECT_REFUSED("sweep.ebn0_db = 101", "sweep.ebn0_db = 101 is not allowed");
  EXPECT_REFUSED("seed = 1", "sweep.ebn0_db is missing");
}

TEST(scenario, curves_override_the_base) {
  const scenario s = parse_scenario(R"(
title = "base"
decoder.windows = 32
[sweep]
ebn0_db = [0, 1]
[stop]
max_frames = 10
[[curve]]
label = "P = 96"
decoder.windows = 96
[[curve]]
[curve.code]
k = 512
[curve.stop]
frame_errors = 7
[[curve]]
code.type = "none"
channel.type = "rayleigh"
sweep.ebn0_db = { from = 0, to = 4, step = 2 }
seed = 5
)",
                                    "s.toml");
  ASSERT_EQ(s.curves.size(), 3u);
  EXPECT_EQ(s.curves[0].label, "P = 96");
  EXPECT_EQ(testing::turbo_decoder_in(s.curves[0].link.code).windows, 96);
  EXPECT_EQ(testing::k_in(s.curves[0].link.code), 6144);
  EXPECT_EQ(s.curves[1].label, "curve 2");
  EXPECT_EQ(testing::turbo_decoder_in(s.curves[1].link.code).windows, 32);
  EXPECT_EQ(testing::k_in(s.curves[1].link.code), 512);
  EXPECT_EQ(s.curves[1].stop.frame_errors, 7u);
  EXPECT_EQ(s.curves[1].stop.max_frames, 10u);
  EXPECT_EQ(s.curves[1].sweep_db, (std::vector<double>{0, 1}));
  EXPECT_EQ(s.curves[2].link.code.type, "none");  // the base's decoder is not in its way
  EXPECT_EQ(s.curves[2].link.seed, 5u);
  EXPECT_EQ(s.curves[2].sweep_db, (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(s.curves[0].link.channel.type, "awgn");

  // A list of the curve in place of a range, and a part of a range.
  const scenario t = parse_scenario(R"(
sweep.ebn0_db = { from = 0, to = 4, step = 2 }
[[curve]]
sweep.ebn0_db = [7]
[[curve]]
sweep.ebn0_db.to = 2
)",
                                    "s.toml");
  EXPECT_EQ(t.curves.at(0).sweep_db, (std::vector<double>{7}));
  EXPECT_EQ(t.curves.at(1).sweep_db, (std::vector<double>{0, 2}));
}

TEST(scenario, refuses_unknown_keys_and_suggests) {
  EXPECT_REFUSED(sweep + "decoder.itertions = 3",
                 "line 2: unknown key decoder.itertions: did you mean decoder.iterations?");
  EXPECT_REFUSED(sweep + "[decodr]\nalgorithm = \"log-map\"",
                 "line 2: unknown key decodr: did you mean decoder?");
  EXPECT_REFUSED(sweep + "iterations = 3", "unknown key iterations: did you mean decoder.iterations?");
  EXPECT_REFUSED(sweep + "code.windows = 3", "did you mean decoder.windows?");
  EXPECT_REFUSED(sweep + "frobnicate = 3", "unknown key frobnicate: see warpband sim --help-scenario");
  EXPECT_REFUSED(sweep + "code.interleaver = { f1 = 3, f3 = 4 }", "did you mean code.interleaver.f");
  EXPECT_REFUSED(sweep + "[[curve]]\nlabl = \"x\"", "line 3: unknown key labl: did you mean label?");
  EXPECT_REFUSED(sweep + "[[curves]]\nlabel = \"x\"", "unknown key curves: did you mean curve?");
  EXPECT_REFUSED(sweep + "label = \"x\"", "label belongs into a [[curve]]");
  EXPECT_REFUSED(sweep + "[[curve]]\ntitle = \"x\"", "title belongs above the first [[curve]]");
  // The first fault of the file is the one told.
  EXPECT_REFUSED(sweep + "zzz = 1\naaa = 1", "line 2: unknown key zzz");
}

TEST(scenario, refuses_wrong_types_and_values) {
  EXPECT_REFUSED(sweep + "code.k = \"6144\"",
                 "line 2: code.k = \"6144\" is not allowed: expected lte-turbo an integer");
  EXPECT_REFUSED(sweep + "code.k = 6144.0", "code.k = 6144.0 is not allowed: expected lte-turbo an integer");
  EXPECT_REFUSED(sweep + "code.k = [1]", "code.k = [1] is not allowed");
  EXPECT_REFUSED(sweep + "code.k.x = 1", "code.k = a table is not allowed");
  EXPECT_REFUSED(sweep + "[code.k]", "code.k = a table is not allowed");
  EXPECT_REFUSED(sweep + "code = 5", "code = 5 is not allowed: expected a table with type, k, rate, crc");
  EXPECT_REFUSED(sweep + "code.k = 99999999999", "code.k = 99999999999 is not allowed");
  EXPECT_REFUSED(sweep + "seed = -1", "seed = -1 is not allowed: expected an integer from 0");
  EXPECT_REFUSED(
      sweep + "code.type = \"turbo\"",
      "code.type = \"turbo\" is not allowed: expected \"lte-turbo\", \"lte-transport\", \"wimax-ldpc\", ");
  EXPECT_REFUSED(sweep + "decoder.algorithm = true", "decoder.algorithm = true is not allowed");
  EXPECT_REFUSED(sweep + "decoder.windows = \"all\"",
                 "decoder.windows = \"all\" is not allowed: expected lte-turbo, lte-transport \"auto\" or");
  EXPECT_REFUSED(sweep + "modem.modulation = \"8psk\"", "expected \"bpsk\", \"qpsk\"");
  EXPECT_REFUSED(sweep + "stop.max_frames = 0", "stop.max_frames = 0 is not allowed");
  EXPECT_REFUSED(sweep + "stop.below_fer = 2", "stop.below_fer = 2 is not allowed");
  EXPECT_REFUSED(sweep + "title = 2020-01-01", "a date or time is not allowed");
  EXPECT_REFUSED(sweep + "curve = 3", "curve = 3 is not allowed: expected tables, each begun by [[curve]]");
  EXPECT_REFUSED(sweep + "curve = []", "curve = a list is not allowed");
}

TEST(scenario, refuses_what_does_not_go_together) {
  EXPECT_REFUSED(sweep + "code.k = 41",
                 "line 2: code.k = 41 is not allowed: expected one of the 188 block sizes");
  EXPECT_REFUSED(sweep + "decoder.windows = 769",
                 "line 2: decoder.windows = 769 is not allowed: expected 1 to k/8 = 768");
  EXPECT_REFUSED(sweep + "decoder.overlap = 1000\ndecoder.windows = 8",
                 "line 2: decoder.overlap = 1000 is not allowed");
  EXPECT_REFUSED(sweep + "decoder.extrinsic_scale = 0.5", "line 2: decoder.extrinsic_scale = 0.5");
  EXPECT_REFUSED(sweep + "decoder.early_stop = \"crc\"",
                 "line 2: decoder.early_stop = \"crc\" is not allowed");
  EXPECT_REFUSED(sweep + "code.interleaver = { f1 = 3 }", "line 2: code.interleaver needs both f1 and f2");
  EXPECT_REFUSED(sweep + "code.interleaver = { f1 = 2, f2 = 4 }", "line 2: code.interleaver = 2, 4");
  EXPECT_REFUSED(sweep + "code.type = \"none\"\ncode.k = 24\ncode.crc = \"crc24a\"",
                 "line 3: code.k = 24 is not allowed: expected more than the 24 bits of its CRC");
  EXPECT_REFUSED(sweep + "channel.fading = \"block\"",
                 "line 2: channel.fading has no meaning with channel.type = \"awgn\"");
  EXPECT_REFUSED(sweep + "code.type = \"none\"\ndecoder.windows = 3",
                 "line 3: decoder.windows has no meaning with code.type = \"none\"");
  EXPECT_REFUSED(sweep + "[[curve]]\nlabel = \"a\"\n[[curve]]\nlabel = \"b\"\ncode.k = 41", "in curve \"b\"");
  EXPECT_REFUSED(sweep + "[[curve]]\nlabel = \"a\"\n[[curve]]\nlabel = \"a\"",
                 "line 5: label = \"a\" names two curves");
}

TEST(scenario, refuses_what_is_not_toml) {
  EXPECT_REFUSED("sweep = [1", "line 1: not TOML");
  EXPECT_REFUSED(sweep + "seed = 1\nseed = 2", "line 3: not TOML");
  EXPECT_REFUSED(
      "\x7f"
      "ELF\x02\x01",
      "line 1: not TOML");
  EXPECT_REFUSED(std::string("a\0b", 3), "not TOML");
}

/// Small files that would make millions of curves, or many copies of what is long.
TEST(scenario, refuses_what_is_out_of_proportion) {
  std::string curves = "sweep.ebn0_db = 1\nsweep.decoder.iterations = [", long_list = "sweep.ebn0_db = [-90";
  for (int i = 1; i <= 64; i++) curves += std::to_string(i) + ",";
  curves += "]\n";
  for (int i = 0; i < 900; i++) curves += "[[curve]]\nlabel = \"" + std::to_string(i) + "\"\n";
  EXPECT_REFUSED(curves, "[[curve]] tables and sweeps make more than 1000 curves together");
  std::string values = "sweep.ebn0_db = 1\nsweep.detector.llr_clip = [1";
  for (int i = 2; i < 100'000; i++) values += "," + std::to_string(i);
  EXPECT_REFUSED(values + "]", "sweep.detector.llr_clip has 99999 values: at most 1000");
  for (int i = 0; i < 10'000; i++) long_list += ", 1";
  EXPECT_REFUSED(long_list + "]", "sweep.ebn0_db = a list of more than 10000 entries is not allowed");
  EXPECT_REFUSED("title = \"" + std::string(10'001, 'x') + "\"\nsweep.ebn0_db = 1",
                 "title = a text of more than 10000 bytes is not allowed");
  const std::string key(1'000'000, 'k');
  EXPECT_REFUSED(key + " = 1", "unknown key kkk");
}

TEST(scenario, files_that_cannot_be_read) {
  EXPECT_THROW(load_scenario("/nowhere/at/all.toml"), file_error);
  EXPECT_THROW(load_scenario(::testing::TempDir()), file_error);
  const testing::scratch_folder folder;
  folder.write("large.toml", std::string(2 << 20, '#'));
  EXPECT_THROW(load_scenario(folder.path("large.toml")), file_error);
}

TEST(scenario, nearest_names) {
  const std::vector<std::string> names{"decoder.windows", "decoder.overlap", "seed"};
  EXPECT_EQ(nearest_name("sede", names), "seed");  // letters that changed places
  EXPECT_EQ(nearest_name("decoder.window", names), "decoder.windows");
  EXPECT_EQ(nearest_name("overlap", names), "decoder.overlap");
  EXPECT_EQ(nearest_name("x", names), "");
  EXPECT_EQ(nearest_name("", {}), "");
}

TEST(scenario, the_documentation_is_the_generated_text) {
  std::ifstream file(std::string(WARPBAND_SOURCE_DIR) + "/docs/scenario.md");
  if (!file) GTEST_SKIP() << "no docs/scenario.md here";
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), scenario_help()) << "run: warpband sim --help-scenario > docs/scenario.md";
  // And its example is one.
  const std::string help = scenario_help();
  EXPECT_EQ(help.find("Left out: \"\""),
            std::string::npos);  // nothing is no default that a reader could write
  const std::size_t from = help.find("```toml\n") + 8;
  EXPECT_EQ(parse_scenario(help.substr(from, help.find("```", from) - from), "example").curves.size(), 2u);
}

TEST(scenario, the_examples_are_scenarios) {
  const std::filesystem::path folder = std::filesystem::path(WARPBAND_SOURCE_DIR) / "examples";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no examples here";
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".toml") {
      EXPECT_NO_THROW(load_scenario(entry.path().string())) << entry.path();
      found++;
    }
  EXPECT_GE(found, 4);
}

}  // namespace scenario_test
}  // namespace wb
