#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <tests/on_backends.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/scenario.hpp>

#ifndef WARPBAND_SOURCE_DIR
#define WARPBAND_SOURCE_DIR ""
#endif

namespace wb {
namespace {

curve_config only_curve(const std::string& text) {
  const scenario s = parse_scenario(text, "s.toml");
  EXPECT_EQ(s.curves.size(), 1u);
  return s.curves.at(0);
}
/// The message a scenario is refused with: it names the file and is one line.
std::string refusal(const std::string& text) {
  try {
    parse_scenario(text, "s.toml");
  } catch (const file_error& e) {
    EXPECT_EQ(e.path(), "s.toml");
    const std::string what = e.what();
    EXPECT_TRUE(what.starts_with("s.toml: ")) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what.substr(8);
  }
  ADD_FAILURE() << "not refused: " << text;
  return "";
}
#define EXPECT_REFUSED(text, part) EXPECT_NE(refusal(text).find(part), std::string::npos) << refusal(text)

const std::string sweep = "sweep.ebn0_db = 1\n";
const std::string antennas = sweep +
                             "channel.type = \"rayleigh\"\nmodem.modulation = \"qpsk\"\n"
                             "mimo = { streams = 2, rx_antennas = 2 }\n";

TEST(scenario, defaults) {
  const curve_config c = only_curve(sweep);
  const link_config d;
  EXPECT_EQ(c.label, "s");
  EXPECT_EQ(c.link.seed, 1u);
  EXPECT_EQ(c.link.code.type, code_type::lte_turbo);
  EXPECT_EQ(c.link.code.k, 6144);
  EXPECT_FALSE(c.link.code.crc);
  EXPECT_FALSE(c.link.code.turbo.interleaver);
  EXPECT_EQ(c.link.code.turbo.decoder.algorithm, map_algorithm::log_map);
  EXPECT_EQ(c.link.code.turbo.decoder.iterations, 6);
  EXPECT_EQ(c.link.code.turbo.decoder.windows, 0);
  EXPECT_EQ(c.link.code.turbo.decoder.overlap, -1);
  EXPECT_EQ(c.link.code.turbo.decoder.extrinsic_scale, 1.f);
  EXPECT_EQ(c.link.code.turbo.decoder.stop, early_stop::none);
  EXPECT_EQ(c.link.qam, d.qam);
  EXPECT_EQ(c.link.demapper, demap_algorithm::max_log);
  EXPECT_EQ(c.link.channel, channel_type::awgn);
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
  EXPECT_EQ(c.link.code.k, 1024);
  EXPECT_EQ(c.link.code.crc->polynomial, crc24b.polynomial);
  EXPECT_EQ(c.link.code.turbo.interleaver->f1, 31);
  EXPECT_EQ(c.link.code.turbo.interleaver->f2, 64);
  EXPECT_EQ(c.link.code.turbo.decoder.algorithm, map_algorithm::max_log_map);
  EXPECT_EQ(c.link.code.turbo.decoder.iterations, 8);
  EXPECT_EQ(c.link.code.turbo.decoder.windows, 16);
  EXPECT_EQ(c.link.code.turbo.decoder.overlap, 12);
  EXPECT_EQ(c.link.code.turbo.decoder.extrinsic_scale, 0.75f);
  EXPECT_EQ(c.link.code.turbo.decoder.stop, early_stop::crc);
  EXPECT_EQ(c.link.qam, 64);
  EXPECT_EQ(c.link.demapper, demap_algorithm::exact);
  EXPECT_EQ(c.link.channel, channel_type::rayleigh);
  EXPECT_EQ(c.link.fading, fading_type::block);
  EXPECT_EQ(c.sweep_db, (std::vector<double>{0, 0.25, 7}));
  EXPECT_EQ(c.stop.frame_errors, 0u);
  EXPECT_EQ(c.stop.max_frames, 77u);
  EXPECT_EQ(c.stop.max_seconds, 2.5);
  EXPECT_EQ(c.stop.below_fer, 1e-4);
}

TEST(scenario, documented_defaults_are_the_defaults) {
  // A file that spells out every default gives what an empty one gives.
  std::string spelt = sweep;
  for (const scenario_key& k : scenario_keys()) {
    EXPECT_FALSE(k.name.empty());
    EXPECT_FALSE(k.text.empty()) << k.name;
    EXPECT_FALSE(k.allowed.empty()) << k.name;
    const std::string& name = k.name;
    const std::vector<code_type> types = types_with(code_setting_of(name));
    if (!types.empty() && std::find(types.begin(), types.end(), code_type::lte_turbo) == types.end())
      continue;
    if (!k.initial.empty() && (name == "channel.type" || !name.starts_with("channel.")) &&
        !name.starts_with("detector.") && name != "decoder.llr_steps" && name != "stbc.search")
      spelt += name + " = " + k.initial + "\n";
  }
  const auto json_of = [](const std::string& text) {
    run_result r;
    r.source.curves = {only_curve(text)};
    r.curves.push_back({"c", r.source.curves[0], {point_result{}}, {}, false});
    r.curves.back().config.link = completed(r.source.curves[0].link);
    return result_json(r);
  };
  EXPECT_EQ(json_of(spelt), json_of(sweep));
  const std::string int16 = sweep +
                            "decoder.algorithm = \"max-log-map\"\ndecoder.extrinsic_scale = 0.75\n"
                            "decoder.precision = \"int16\"\n";
  EXPECT_EQ(json_of(int16 + "decoder.llr_steps = 8"), json_of(int16));
  EXPECT_NE(json_of(int16 + "decoder.llr_steps = 4"), json_of(int16));
  const std::string bfloat16 = json_of(sweep + "decoder.precision = \"bfloat16\"\n");
  EXPECT_NE(bfloat16.find("\"precision\": \"bfloat16\""), std::string::npos);
  EXPECT_EQ(bfloat16.find("llr_steps"), std::string::npos);
  // Those of the other codes.
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
  EXPECT_EQ(json_of(with("wimax-ldpc", int8 + "decoder.int8_steps = 3.0")),
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
  const std::string nway = antennas + "detector.type = \"nway\"\n",
                    kbest = antennas + "detector.type = \"kbest\"\n";
  EXPECT_EQ(json_of(nway + "detector.ways = \"auto\""), json_of(nway));
  EXPECT_EQ(json_of(kbest + "detector.survivors = 64\ndetector.real_valued = false"), json_of(kbest));
  EXPECT_NE(json_of(kbest + "detector.order = [1, 0]"), json_of(kbest));
  EXPECT_EQ(json_of(antennas + "detector.type = \"mmse\"\nchannel.fading = \"fast\""), json_of(antennas));
  // Clustered delay lines, which massive MIMO alone has.
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
             name != "channel.fading" && name != "channel.delay_spread_ns")
      spelt_line += name + " = " + k.initial + "\n";
  }
  EXPECT_NE(spelt_clusters.find("carrier_hz"), std::string::npos);
  EXPECT_EQ(json_of(spelt_clusters), json_of(clusters));
  EXPECT_NE(spelt_line.find("subcarriers"), std::string::npos);
  EXPECT_EQ(json_of(spelt_line), json_of(line));
  EXPECT_EQ(json_of(line + "channel.profile = \"tdl-b\"\nchannel.delay_spread_ns = 100.0"),
            json_of(line + "channel.profile = \"tdl-b\""));
  EXPECT_NE(json_of(line + "channel.doppler_hz = 5"), json_of(line));
}

TEST(scenario, delay_lines) {
  const scenario s = parse_scenario(R"(
sweep.ebn0_db = 2
channel = { type = "tdl", profile = "tdl-d", delay_spread_ns = 30, doppler_hz = 70, sinusoids = 16 }
[[curve]]
channel = { subcarriers = 600, symbols = 14, spacing_hz = 30e3, cyclic_prefix_us = 2.4, symbol_period_us = 40 }
[[curve]]
channel = { delays_ns = [0, 310.5, 1090], powers_db = [0, -1, -10], rician_k_db = 6 }
[[curve]]
channel = { profile = "eva" }
mimo = { streams = 2, rx_antennas = 2 }
modem.modulation = "qpsk"
[[curve]]
channel.type = "rayleigh"
)",
                                    "s.toml");
  ASSERT_EQ(s.curves.size(), 4u);
  const auto line = [&](std::size_t i) -> const tdl_config& { return s.curves[i].link.tdl; };
  EXPECT_EQ(s.curves[0].link.channel, channel_type::tdl);
  EXPECT_EQ(line(0).profile, tdl_profile_named("tdl-d", 30));
  EXPECT_EQ(line(0).doppler_hz, 70);
  EXPECT_EQ(line(0).sinusoids, 16);
  EXPECT_EQ(line(0).grid.subcarriers, 600);
  EXPECT_EQ(line(0).grid.symbols, 14);
  EXPECT_EQ(line(0).grid.spacing_hz, 30e3);
  EXPECT_EQ(line(0).grid.cyclic_prefix_us, 2.4);
  EXPECT_EQ(line(0).grid.symbol_period_us, 40);
  EXPECT_EQ(line(1).profile, (tdl_profile{{{0, 0}, {310.5, -1}, {1090, -10}}, 6.}));
  EXPECT_EQ(line(1).grid.symbols, 0);
  EXPECT_EQ(line(2).profile, tdl_profile_named("eva"));
  EXPECT_EQ(s.curves[2].link.detector->type, detector_type::mmse);
  EXPECT_EQ(s.curves[3].link.channel, channel_type::rayleigh);
  EXPECT_TRUE(line(3).profile.taps.empty());

  const std::string tdl = sweep + "channel.type = \"tdl\"\n";
  EXPECT_REFUSED(sweep + "channel.doppler_hz = 5",
                 "line 2: channel.doppler_hz has no meaning with channel.type = \"awgn\"");
  EXPECT_REFUSED(tdl + "channel.fading = \"block\"",
                 "line 3: channel.fading has no meaning with channel.type = \"tdl\"");
  EXPECT_REFUSED(tdl + "channel.profile = \"epb\"",
                 "line 3: channel.profile = \"epb\" is not allowed: expected");
  EXPECT_REFUSED(tdl + "channel.delay_spread_ns = 30",
                 "line 3: channel.delay_spread_ns has no meaning with channel.profile = \"epa\"");
  EXPECT_REFUSED(tdl + "channel.profile = \"etu\"",
                 "line 3: channel.cyclic_prefix_us = 4.6875 is not allowed: "
                 "expected at least the longest delay of the channel, 5");
  EXPECT_REFUSED(tdl + "channel.rician_k_db = 5",
                 "line 3: channel.rician_k_db has no meaning without channel.delays_ns");
  EXPECT_REFUSED(tdl + "channel.delays_ns = [0, 1]",
                 "line 3: channel.powers_db has 0 numbers for the 2 taps of channel.delays_ns");
  EXPECT_REFUSED(tdl + "channel.profile = \"eva\"\nchannel.delays_ns = 0\nchannel.powers_db = 0",
                 "line 3: channel.profile has no meaning with channel.delays_ns");
  EXPECT_REFUSED(tdl + "channel.delays_ns = [0, -1]", "line 3: channel.delays_ns = -1 is not allowed");
  EXPECT_REFUSED(tdl + "channel.powers_db = [nan]", "line 3: channel.powers_db = nan is not allowed");
  EXPECT_REFUSED(tdl + "channel.symbol_period_us = 5", "line 3: channel.symbol_period_us = 5 is not allowed");
  EXPECT_REFUSED(tdl + "channel.doppler_hz = 1e6\nchannel.symbols = 65536",
                 "channel.symbols = 65536 is not allowed: expected at most 2^24 resource elements");
}

TEST(scenario, space_time_codes) {
  const scenario s = parse_scenario(R"(
sweep.snr_db = 8
modem.modulation = "qpsk"
channel = { type = "rayleigh", fading = "block" }
code = { type = "none", k = 8 }
mimo.rx_antennas = 2
[[curve]]
stbc.type = "silver"
[[curve]]
stbc = { type = "golden", search = "slicing" }
[[curve]]
stbc.type = "alamouti"
modem.modulation = "16qam"
mimo = { streams = 2, rx_antennas = 1 }
[[curve]]
stbc.type = "none"
mimo.streams = 2
detector.type = "ml"
[[curve]]
stbc = { type = "pair", v = [[0.6, 0], [0, 0.8], [0, 0.8], [0.6, 0]] }
)",
                                    "s.toml");
  ASSERT_EQ(s.curves.size(), 5u);
  const auto link = [&](std::size_t i) -> const link_config& { return s.curves[i].link; };
  for (std::size_t i = 0; i < 4; i++) {
    EXPECT_EQ(link(i).streams, 2);
    EXPECT_EQ(link(i).rx_antennas, i == 2 ? 1 : 2);
    EXPECT_EQ(link(i).space_time.has_value(), i != 3);
    EXPECT_EQ(link(i).detector.has_value(), i == 3);
  }
  EXPECT_STREQ(name_of(link(0).space_time->code), "silver");
  EXPECT_EQ(link(0).space_time->search, golden_search::exact);
  EXPECT_STREQ(name_of(link(1).space_time->code), "golden");
  EXPECT_EQ(link(1).space_time->search, golden_search::slicing);
  EXPECT_STREQ(name_of(link(2).space_time->code), "alamouti");
  EXPECT_STREQ(name_of(space_time_code::pair({1, 0, 0, 1})), "pair");
  using z = std::complex<double>;
  EXPECT_STREQ(name_of(link(4).space_time->code), "pair");
  EXPECT_EQ(link(4).space_time->code.v(), (space_time_code::matrix{0.6, z(0, 0.8), z(0, 0.8), 0.6}));

  const std::string code = sweep +
                           "channel.type = \"rayleigh\"\nmodem.modulation = \"qpsk\"\n"
                           "stbc.type = \"silver\"\n";
  only_curve(code);
  EXPECT_EQ(only_curve(code + "mimo.rx_antennas = 4").link.rx_antennas, 4);
  EXPECT_REFUSED(sweep + "stbc.type = \"sliver\"",
                 "line 2: stbc.type = \"sliver\" is not allowed: expected \"none\", \"alamouti\"");
  EXPECT_REFUSED(code + "stbc.search = \"slicing\"",
                 "line 5: stbc.search has no meaning with stbc.type = \"silver\"");
  const std::string pair = sweep +
                           "channel.type = \"rayleigh\"\nmodem.modulation = \"qpsk\"\n"
                           "stbc.type = \"pair\"\n";
  only_curve(pair + "stbc.v = [[1, 0], [0, 0], [0, 0], [0, 1.0]]");
  // A curve's own type leaves the base's V aside; its own V stands in the base's place.
  const scenario curves = parse_scenario(pair +
                                             "stbc.v = [[1, 0], [0, 0], [0, 0], [1, 0]]\n"
                                             "[[curve]]\nstbc.type = \"golden\"\n"
                                             "[[curve]]\nstbc.v = [[0, 0], [1, 0], [1, 0], [0, 0]]\n",
                                         "s.toml");
  EXPECT_STREQ(name_of(curves.curves[0].link.space_time->code), "golden");
  EXPECT_EQ(curves.curves[1].link.space_time->code.v(), (space_time_code::matrix{0, 1, 1, 0}));
  EXPECT_REFUSED(pair, "line 4: stbc.v is missing with stbc.type = \"pair\"");
  EXPECT_REFUSED(code + "stbc.v = [[1, 0], [0, 0], [0, 0], [1, 0]]",
                 "line 5: stbc.v has no meaning with stbc.type = \"silver\"");
  EXPECT_REFUSED(pair + "stbc.v = [[1, 0], [0, 0], [0, 0], [2, 0]]",
                 "line 5: stbc.v = with 4 + 0i as entry (1, 1) of V^H V is not allowed: expected a unitary");
  EXPECT_REFUSED(
      pair + "stbc.v = [[1, 0], [0, 0], [1, 0]]",
      "line 5: stbc.v = a list of 3 is not allowed: expected the four entries of a unitary matrix");
  EXPECT_REFUSED(pair + "stbc.v = [[1, 0], [0, 0], [0], [1, 0]]", "stbc.v = a list with one of 1 is not");
  EXPECT_REFUSED(pair + "stbc.v = [1, 0, 0, 1]", "line 5: stbc.v = [1, 0, 0, 1] is not allowed");
  EXPECT_REFUSED(pair + "stbc.v = [[1, 0], [0, 0], [0, 0], [1, \"0\"]]", "stbc.v = \"0\" is not allowed");
  EXPECT_REFUSED(pair + "stbc.v = [[1, 0], [0, 0], [0, 0], [nan, 0]]", "stbc.v = nan is not allowed");
  EXPECT_REFUSED(pair + "stbc.v = 1", "stbc.v = 1 is not allowed");
  EXPECT_REFUSED(sweep + "stbc.search = \"exact\"", "line 2: stbc.search has no meaning without stbc.type");
  EXPECT_REFUSED(code + "detector.type = \"ml\"",
                 "line 5: detector.type has no meaning with stbc.type = \"silver\"");
  EXPECT_REFUSED(code + "modem.demapper = \"exact\"",
                 "line 5: modem.demapper has no meaning with stbc.type = \"silver\"");
  EXPECT_REFUSED(code + "mimo.streams = 1",
                 "line 5: mimo.streams = 1 is not allowed: expected 2 with stbc.type = \"silver\"");
  EXPECT_REFUSED(code + "mimo.rx_antennas = 5",
                 "line 5: mimo.rx_antennas = 5 is not allowed: expected 1 to 4");
  EXPECT_REFUSED(
      sweep + "stbc.type = \"golden\"\nmodem.modulation = \"qpsk\"",
      "line 2: channel.type = \"awgn\" is not allowed: expected \"rayleigh\" with a space-time code");
  EXPECT_REFUSED(sweep + "stbc.type = \"golden\"\nchannel.type = \"rayleigh\"\nmodem.modulation = \"256qam\"",
                 "line 4: modem.modulation = \"256qam\" is not allowed: expected \"qpsk\"");
  EXPECT_REFUSED(
      code + "code = { type = \"lte-transport\", resource_elements = 9000 }",
      "line 5: code.type = \"lte-transport\" is not allowed: expected another one with a space-time code");
}

TEST(scenario, antennas_and_detectors) {
  const scenario s = parse_scenario(R"(
sweep.snr_db = [8, 12]
modem.modulation = "16qam"
channel.type = "rayleigh"
code.rate = "1/2"
mimo = { streams = 4, rx_antennas = 5 }
detector = { ways = 3, survivors = 16, llr_clip = 4, order = [2, 0, 1, 3] }
[[curve]]
label = "mmse, clipped"
detector.type = "mmse"
[[curve]]
detector.type = "nway"
sweep.ebn0_db = { from = 1, to = 3, step = 1 }
[[curve]]
detector = { type = "kbest", real_valued = true, llr_clip = 2.5, order = [3, 2, 1, 0] }
sweep.snr_db = 7
[[curve]]
detector = { type = "ml", llr_clip = "none" }
[[curve]]
mimo = { streams = 1, rx_antennas = 1 }
modem.demapper = "exact"
)",
                                    "s.toml");
  ASSERT_EQ(s.curves.size(), 5u);
  for (const curve_config& c : s.curves) {
    EXPECT_EQ(c.link.code.turbo.rate, turbo_rate::half);
    const bool several = c.link.streams == 4 && c.link.rx_antennas == 5;
    EXPECT_EQ(several, c.label != "curve 5");
    EXPECT_EQ(c.link.detector.has_value(), several);
  }
  const auto detector = [&](std::size_t i) { return *s.curves[i].link.detector; };
  EXPECT_EQ(detector(0).type, detector_type::mmse);
  EXPECT_EQ(detector(0).llr_clip, 4);
  EXPECT_EQ(detector(0).ways, 0);  // what the base says for others
  EXPECT_EQ(detector(0).survivors, 64);
  EXPECT_TRUE(detector(0).order.empty());
  EXPECT_EQ(s.curves[0].link.axis, snr_axis::snr_db);
  EXPECT_EQ(s.curves[0].sweep_db, (std::vector<double>{8, 12}));
  EXPECT_EQ(detector(1).type, detector_type::nway);
  EXPECT_EQ(detector(1).ways, 3);
  EXPECT_EQ(detector(1).order, (std::vector<int>{2, 0, 1, 3}));
  EXPECT_EQ(s.curves[1].link.axis, snr_axis::ebn0_db);  // the curve's in place of the base's
  EXPECT_EQ(s.curves[1].sweep_db, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(detector(2).type, detector_type::kbest);
  EXPECT_EQ(detector(2).survivors, 16);
  EXPECT_TRUE(detector(2).real_valued);
  EXPECT_EQ(detector(2).llr_clip, 2.5f);
  EXPECT_EQ(detector(2).order, (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(s.curves[2].sweep_db, (std::vector<double>{7}));
  EXPECT_EQ(detector(3).llr_clip, no_clip);
  EXPECT_EQ(s.curves[4].link.demapper, demap_algorithm::exact);
  for (const std::string& name : detector_names())
    EXPECT_EQ(only_curve(antennas + "detector.type = \"" + name + "\"").link.detector->type,
              detector_named(name));
}

TEST(scenario, refuses_what_antennas_and_detectors_do_not_allow) {
  const auto with = [](const std::string& text) { return antennas + text; };
  EXPECT_REFUSED(with("detector.typ = \"ml\""), "unknown key detector.typ: did you mean detector.type?");
  EXPECT_REFUSED(with("detector.survivers = 4"), "did you mean detector.survivors?");
  EXPECT_REFUSED(with("[[curve]]\nmimo.rx_antenas = 4"), "did you mean mimo.rx_antennas?");
  EXPECT_REFUSED(with("detector.type = \"lmmse\""),
                 "detector.type = \"lmmse\" is not allowed: expected \"ml\", ");
  EXPECT_REFUSED(with("detector.ways = 2"), "detector.ways has no meaning with detector.type = \"mmse\"");
  EXPECT_REFUSED(with("detector.type = \"ml\"\ndetector.survivors = 2"),
                 "line 6: detector.survivors has no meaning with detector.type = \"ml\"");
  EXPECT_REFUSED(with("detector.type = \"nway\"\ndetector.ways = 3"), "detector.ways = 3 is not allowed");
  EXPECT_REFUSED(with("detector.llr_clip = 0"),
                 "detector.llr_clip = 0 is not allowed: expected a number from 1e-6 to 1e6");
  EXPECT_REFUSED(with("detector.type = \"ot\"\ndetector.llr_clip = \"none\""), "line 6: detector.llr_clip");
  EXPECT_REFUSED(with("detector.type = \"kbest\"\ndetector.real_valued = 1"),
                 "detector.real_valued = 1 is not allowed: expected true or false");
  EXPECT_REFUSED(with("detector.order = [1, 0]"),
                 "detector.order has no meaning with detector.type = \"mmse\"");
  const auto order = [&](const std::string& list) {
    return with("detector.type = \"ot\"\ndetector.order = " + list);
  };
  const std::string expected = " is not allowed: expected a list with each of 0 to streams - 1 once";
  EXPECT_REFUSED(order("1"), "line 6: detector.order = 1" + expected);
  EXPECT_REFUSED(order("[]"), "line 6: detector.order = an empty list" + expected);
  EXPECT_REFUSED(order("[1, 0.0]"), "line 6: detector.order = [1.0, 0.0]" + expected);
  EXPECT_REFUSED(order("[1, -1]"), "line 6: detector.order = -1" + expected);
  EXPECT_REFUSED(order("[0, 8]"), "line 6: detector.order = 8" + expected);
  EXPECT_REFUSED(order("[1, 1]"),
                 "line 6: detector.order = 1,1 is not allowed: expected each of 0 to 1 once");
  EXPECT_REFUSED(order("[1, 0, 2]"),
                 "line 6: detector.order = 1,0,2 is not allowed: expected each of 0 to 1");
  EXPECT_REFUSED(with("modem.demapper = \"exact\""), "line 5: modem.demapper has no meaning with a detector");
  EXPECT_REFUSED(with("[[curve]]\nlabel = \"a\"\n[[curve]]\nlabel = \"b\"\nmimo.streams = 3"),
                 "line 4: mimo.rx_antennas = 2 is not allowed: expected 3 to 16, in curve \"b\"");
  EXPECT_REFUSED(with("[[curve]]\nmodem.modulation = \"bpsk\""),
                 "line 6: modem.modulation = \"bpsk\" is not allowed: expected \"qpsk\" to \"256qam\"");
  EXPECT_REFUSED(with("[[curve]]\nchannel.type = \"awgn\""),
                 "line 6: channel.type = \"awgn\" is not allowed: expected \"rayleigh\"");
  EXPECT_REFUSED(with("mimo.streams = 9"), "not TOML");  // twice
  EXPECT_REFUSED(sweep + "mimo.streams = 9",
                 "mimo.streams = 9 is not allowed: expected an integer from 1 to 8");
  EXPECT_REFUSED(sweep + "detector.llr_clip = 3",
                 "detector.llr_clip has no meaning without detector.type or several antennas");
  EXPECT_REFUSED(sweep + "detector.type = \"ml\"", "line 2: channel.type = \"awgn\" is not allowed");
  EXPECT_REFUSED(sweep + "mimo.streams = 4", "line 2: mimo.rx_antennas = 1 is not allowed: expected 4 to 16");
  EXPECT_REFUSED(sweep +
                     "channel.type = \"rayleigh\"\nmodem.modulation = \"256qam\"\n"
                     "mimo = { streams = 4, rx_antennas = 4 }\ndetector.type = \"ml\"",
                 "line 3: modem.modulation = 256 is not allowed: expected 64 or less with 4 streams");
  EXPECT_REFUSED(sweep + "code.rate = \"2/3\"", "code.rate = \"2/3\" is not allowed: expected \"1/3\" or");
  EXPECT_REFUSED(sweep + "code.type = \"none\"\ncode.rate = \"1/2\"",
                 "line 3: code.rate has no meaning with code.type = \"none\"");
  EXPECT_REFUSED(sweep + "sweep.snr_db = 3",
                 "line 2: sweep has both ebn0_db and snr_db: expected one of them");
  EXPECT_REFUSED("sweep.snr_db = [3, 2]", "line 1: sweep.snr_db has 2 after 3");
  EXPECT_REFUSED("sweep.snr_db.from = 3", "line 1: sweep.snr_db needs from, to and step");
}

TEST(scenario, other_codes) {
  const scenario s = parse_scenario(R"(
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
)",
                                    "s.toml");
  ASSERT_EQ(s.curves.size(), 6u);
  const auto code = [&](std::size_t i) -> const code_config& { return s.curves[i].link.code; };
  EXPECT_EQ(code(0).type, code_type::wimax_ldpc);
  EXPECT_EQ(code(0).k, 864);
  EXPECT_EQ(code(0).ldpc.n, 1152);
  EXPECT_EQ(code(0).ldpc.rate, "3/4A");
  EXPECT_EQ(code(0).crc->polynomial, crc24a.polynomial);
  EXPECT_EQ(code(0).ldpc.decoder.algorithm, ldpc_algorithm::normalised_min_sum);
  EXPECT_EQ(code(0).ldpc.decoder.iterations, 20);
  EXPECT_EQ(code(0).ldpc.decoder.scale, 0.625f);
  EXPECT_EQ(code(0).ldpc.decoder.precision, ldpc_precision::int8);
  EXPECT_EQ(code(0).ldpc.decoder.int8_steps, 4);
  EXPECT_TRUE(code(0).ldpc.decoder.early_stop);
  EXPECT_EQ(code(1).ldpc.decoder.algorithm, ldpc_algorithm::offset_min_sum);
  EXPECT_EQ(code(1).ldpc.decoder.offset, 0.25f);
  EXPECT_EQ(code(1).ldpc.decoder.scale, 0.75f);  // the base's has no meaning with this choice
  EXPECT_EQ(code(1).ldpc.decoder.precision, ldpc_precision::float16);
  EXPECT_EQ(code(1).ldpc.decoder.int8_steps, 3);
  EXPECT_EQ(code(1).ldpc.decoder.schedule, ldpc_schedule::flooding);
  EXPECT_FALSE(code(1).ldpc.decoder.early_stop);
  EXPECT_EQ(code(2).type, code_type::wifi_ldpc);
  EXPECT_EQ(completed(code(2)).ldpc.n, 1944);  // n and rate of the base are another code's
  EXPECT_EQ(code(2).ldpc.rate, "1/2");
  EXPECT_EQ(code(2).ldpc.decoder.iterations, 20);
  EXPECT_EQ(code(3).type, code_type::conv);
  EXPECT_EQ(code(3).k, 100);
  EXPECT_EQ(code(3).conv.rate, "3/4");
  EXPECT_EQ(code(3).conv.termination, conv_ending::tail_biting);
  EXPECT_EQ(code(3).conv.standard, conv_standard::ieee_802_16);
  EXPECT_EQ(code(3).conv.algorithm, conv_algorithm::log_map);
  EXPECT_EQ(code(3).conv.overlap, 20);
  EXPECT_EQ(code(4).k, 6144);
  EXPECT_EQ(code(4).conv.generators, (std::vector<int>{7, 5}));
  EXPECT_EQ(code(4).conv.feedback, 7);
  EXPECT_EQ(code(4).conv.order, conv_order::streams);
  EXPECT_EQ(code(4).conv.algorithm, conv_algorithm::viterbi);
  EXPECT_EQ(completed(code(4)).conv.constraint_length, 3);
  EXPECT_EQ(code(5).turbo.rate, turbo_rate::third);
  EXPECT_EQ(code(5).turbo.decoder.iterations, 20);
  // All k from n and the rate, or as given.
  EXPECT_EQ(
      only_curve(sweep + "code = { type = \"wifi-ldpc\", n = 648, rate = \"5/6\", k = 540 }").link.code.k,
      540);
  EXPECT_EQ(only_curve(sweep + "code = { type = \"conv\", rate = \"1/3\" }").link.code.conv.rate, "1/3");
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

TEST(scenario, a_likely_slip_is_told_what_is_meant) {
  EXPECT_REFUSED(sweep + "modem.qam = 16", "line 2: unknown key modem.qam: did you mean modem.modulation?");
  EXPECT_REFUSED(sweep + "detector.k = 16", "unknown key detector.k: did you mean detector.survivors?");
  EXPECT_REFUSED(sweep + "code.type = \"LDPC\"", ": did you mean \"wimax-ldpc\" or \"wifi-ldpc\"?");
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
  EXPECT_EQ(c.link.code.type, code_type::wimax_ldpc);
  EXPECT_EQ(c.link.qam, 16);
  EXPECT_EQ(only_curve(sweep + "modem.modulation = \"qam64\"").link.qam, 64);
  EXPECT_EQ(c.link.code.ldpc.decoder.algorithm, ldpc_algorithm::offset_min_sum);
  EXPECT_EQ(c.link.code.ldpc.decoder.precision, ldpc_precision::int8);
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
  EXPECT_EQ(c.link.code.turbo.decoder.windows, 0);
  EXPECT_EQ(c.link.code.turbo.decoder.overlap, -1);
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
  EXPECT_EQ(s.curves[0].link.code.turbo.decoder.windows, 96);
  EXPECT_EQ(s.curves[0].link.code.k, 6144);
  EXPECT_EQ(s.curves[1].label, "curve 2");
  EXPECT_EQ(s.curves[1].link.code.turbo.decoder.windows, 32);
  EXPECT_EQ(s.curves[1].link.code.k, 512);
  EXPECT_EQ(s.curves[1].stop.frame_errors, 7u);
  EXPECT_EQ(s.curves[1].stop.max_frames, 10u);
  EXPECT_EQ(s.curves[1].sweep_db, (std::vector<double>{0, 1}));
  EXPECT_EQ(s.curves[2].link.code.type, code_type::none);  // the base's decoder is not in its way
  EXPECT_EQ(s.curves[2].link.seed, 5u);
  EXPECT_EQ(s.curves[2].sweep_db, (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(s.curves[0].link.channel, channel_type::awgn);

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
                 "decoder.windows = \"all\" is not allowed: expected \"auto\" or");
  EXPECT_REFUSED(sweep + "modem.modulation = \"8psk\"", "expected \"bpsk\", \"qpsk\"");
  EXPECT_REFUSED(sweep + "stop.max_frames = 0", "stop.max_frames = 0 is not allowed");
  EXPECT_REFUSED(sweep + "stop.below_fer = 2", "stop.below_fer = 2 is not allowed");
  EXPECT_REFUSED(sweep + "title = 2020-01-01", "title = a date or time is not allowed");
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

TEST(scenario, files_that_cannot_be_read) {
  EXPECT_THROW(load_scenario("/nowhere/at/all.toml"), file_error);
  EXPECT_THROW(load_scenario(::testing::TempDir()), file_error);
  const std::string path = ::testing::TempDir() + "warpband_large.toml";
  std::ofstream(path) << std::string(2 << 20, '#');
  EXPECT_THROW(load_scenario(path), file_error);
  std::filesystem::remove(path);
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

}  // namespace
}  // namespace wb
