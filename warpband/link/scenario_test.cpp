// What a scenario says becomes settings of the library. tests/golden/ has the configuration in force of many
// more, and what is said of those that are refused.
#include <array>
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

/// `code` and `decoder` are keys of these tables.
template <class Settings>
void expect_code(const std::string& type, const std::string& code, const std::string& decoder,
                 const Settings& expected) {
  const std::string text = sweep + "code = { type = \"" + type + "\"" + (code.empty() ? "" : ", ") + code +
                           " }\ndecoder = { " + decoder + " }\n";
  const code_config c = only_curve(text).link.code;
  EXPECT_EQ(c.type, type);
  EXPECT_TRUE(c.get<Settings>() == expected) << text;
}

TEST(scenario, keys_become_settings_of_codes) {
  expect_code("lte-turbo", "", "", turbo_settings{});
  expect_code(
      "lte-turbo", R"(k = 1024, rate = "1/2", crc = "crc24b", interleaver = { f1 = 31, f2 = 64 })",
      R"(algorithm = "max-log-map", iterations = 8, windows = 16, overlap = 12, extrinsic_scale = 0.75, early_stop = "crc")",
      turbo_settings{.k = 1024,
                     .rate = turbo_rate::half,
                     .crc = crc24b,
                     .interleaver = interleaver_coefficients{31, 64},
                     .decoder = {.algorithm = map_algorithm::max_log_map,
                                 .iterations = 8,
                                 .windows = 16,
                                 .overlap = 12,
                                 .extrinsic_scale = 0.75f,
                                 .early_stop = turbo_early_stop::crc}});
  expect_code("lte-turbo", "", R"(precision = "bfloat16", windows = "auto")",
              turbo_settings{.decoder = {.precision = turbo_precision::bfloat16}});
  expect_code(
      "lte-transport",
      "transport_block_size = 200, coded_bits = 320, transmissions = 3, redundancy_versions = [0], "
      "soft_buffer = 500",
      R"(algorithm = "max-log-map", iterations = 4, extrinsic_scale = 0.75, precision = "int16", llr_steps = 4, early_stop = "none")",
      lte_transport_settings{
          .transport_block_size = 200,
          .sent = {.coded_bits = 320, .transmissions = 3, .redundancy_versions = {0}, .soft_buffer = 500},
          .decoder = {.algorithm = map_algorithm::max_log_map,
                      .iterations = 4,
                      .extrinsic_scale = 0.75f,
                      .early_stop = turbo_early_stop::none,
                      .precision = turbo_precision::int16,
                      .llr_steps = 4}});
  expect_code("nr-dlsch",
              "transport_block_size = 6912, resource_elements = 3600, target_rate = 0.2, base_graph = 2, "
              "lbrm_resource_blocks = 25",
              "iterations = 7",
              nr_transport_settings{.transport_block_size = 6912,
                                    .sent = {.resource_elements = 3600},
                                    .target_rate = 0.2,
                                    .lbrm_resource_blocks = 25,
                                    .base_graph = 2,
                                    .decoder = {.iterations = 7}});
  expect_code(
      "wimax-ldpc", R"(n = 1152, rate = "3/4A", crc = "crc24a")",
      R"(iterations = 20, scale = 0.625, precision = "int8", llr_steps = 4)",
      ldpc_settings{
          .n = 1152,
          .rate = "3/4A",
          .crc = crc24a,
          .decoder = {.scale = 0.625f, .iterations = 20, .precision = ldpc_precision::int8, .llr_steps = 4}});
  expect_code(
      "wimax-ldpc", "n = 576",
      R"(algorithm = "offset-min-sum", offset = 0.25, precision = "float16", schedule = "flooding", early_stop = "none")",
      ldpc_settings{.n = 576,
                    .decoder = {.algorithm = ldpc_algorithm::offset_min_sum,
                                .offset = 0.25f,
                                .schedule = ldpc_schedule::flooding,
                                .precision = ldpc_precision::float16,
                                .early_stop = ldpc_early_stop::none}});
  expect_code("wimax-ldpc", R"(n = 576, crc = "crc24b")", R"(early_stop = "crc")",
              ldpc_settings{.n = 576, .crc = crc24b, .decoder = {.early_stop = ldpc_early_stop::crc}});
  expect_code("wifi-ldpc", R"(n = 648, rate = "5/6", k = 540)", "",
              ldpc_settings{.k = 540, .n = 648, .rate = "5/6"});
  expect_code("conv", R"(k = 100, rate = "3/4", termination = "tail-biting", standard = "802.16")",
              R"(algorithm = "log-map", overlap = 20)",
              conv_settings{.k = 100,
                            .rate = "3/4",
                            .termination = conv_ending::tail_biting,
                            .standard = conv_standard::ieee_802_16,
                            .algorithm = conv_algorithm::log_map,
                            .overlap = 20});
  expect_code("conv", R"(generators = ["7", "05"], feedback = "7", order = "streams")", "",
              conv_settings{.generators = {7, 5}, .feedback = 7, .order = conv_order::streams});
  expect_code("polar", R"(kind = "DCI", k = 40, coded_bits = 108, rnti = 4660)",
              R"(list_size = 2, algorithm = "Sum_Product")",
              polar_code_settings{.code = {.kind = polar_kind::dci, .k = 40, .coded_bits = 108, .rnti = 4660},
                                  .decoder = {.algorithm = polar_algorithm::sum_product, .list_size = 2}});
  expect_code("lte-turbo", R"(k = 5114, standard = "UMTS")", R"(algorithm = "log-map-table")",
              turbo_settings{.k = 5114,
                             .standard = turbo_standard::umts,
                             .decoder = {.algorithm = map_algorithm::log_map_table}});
  expect_code(
      "ctc", R"(standard = "dvb-rcs", k = 96, rate = "4/5")",
      R"(algorithm = "max-log-map", iterations = 6, windows = 2, overlap = 9, extrinsic_scale = 0.5, early_stop = "sign-agreement")",
      ctc_code_settings{.code = {.standard = ctc_standard::dvb_rcs, .k = 96, .rate = ctc_rate::r4_5},
                        .decoder = {.algorithm = map_algorithm::max_log_map,
                                    .iterations = 6,
                                    .windows = 2,
                                    .overlap = 9,
                                    .extrinsic_scale = 0.5f,
                                    .early_stop = ctc_early_stop::sign_agreement}});
  expect_code("polar", R"(kind = "plain", k = 32, crc_bits = 11)", "list_size = 1",
              polar_code_settings{.code = {.kind = polar_kind::plain, .k = 32, .crc_bits = 11},
                                  .decoder = {.list_size = 1}});
}

TEST(scenario, keys_become_settings_of_channels) {
  const auto expect_channel = []<class Settings>(const std::string& channel, const Settings& expected,
                                                 const std::string& more = "") {
    const air_config c = only_curve(sweep + more + "channel = { " + channel + " }\n").link.channel;
    EXPECT_EQ(c.type, air_name<Settings>);
    EXPECT_TRUE(c.get<Settings>() == expected) << channel;
  };
  expect_channel("", awgn_config{});
  expect_channel(R"(type = "rayleigh", fading = "block")", rayleigh_config{fading_type::block});
  expect_channel(
      R"(type = "tdl", profile = "tdl-d", delay_spread_ns = 30, doppler_hz = 70, sinusoids = 16, )"
      "subcarriers = 600, symbols = 14, spacing_hz = 30e3, cyclic_prefix_us = 2.4, symbol_period_us = 40",
      tdl_config{.profile = tdl_profile_named("tdl-d", 30),
                 .grid = {.subcarriers = 600,
                          .symbols = 14,
                          .spacing_hz = 30e3,
                          .cyclic_prefix_us = 2.4,
                          .symbol_period_us = 40},
                 .doppler_hz = 70,
                 .sinusoids = 16});
  expect_channel(R"(type = "tdl", delays_ns = [0, 310.5, 1090], powers_db = [0, -1, -10], rician_k_db = 6)",
                 tdl_config{.profile = {{{0, 0}, {310.5, -1}, {1090, -10}}, 6.}, .grid = {.symbols = 0}});
  const std::string uplink = "code.type = \"none\"\nmodem.modulation = \"qpsk\"\nmassive.solver = \"mf\"\n";
  expect_channel(R"(type = "cdl", profile = "b1-los", sector_deg = 45, antenna_spacing_wavelengths = 0.5)",
                 cdl_config{.profile = cdl_profile_named("b1-los"),
                            .spacing_wavelengths = 0.5,
                            .sector_deg = 45,
                            .power_control = true},
                 uplink);
  cdl_profile profile;
  profile.clusters = {{.delay_ns = 0, .power_db = 0, .aod_deg = -40, .zoa_deg = 80, .split = true},
                      {.delay_ns = 300, .power_db = -3, .aod_deg = 10, .zoa_deg = 100}};
  profile.asd_deg = 5;
  profile.rician_k_db = 6;
  expect_channel(R"(type = "cdl", delays_ns = [0, 300], powers_db = [0, -3], aod_deg = [-40, 10], )"
                 "zoa_deg = [80, 100], split = [1, 0], asd_deg = 5, rician_k_db = 6",
                 cdl_config{.profile = profile, .power_control = true}, uplink);
}

TEST(scenario, keys_become_settings_of_points_and_stop_rules) {
  const scenario s = parse_scenario(
      "title = \"all of them\"\nseed = 9223372036854775807\nsweep.ebn0_db = [0, 0.25, 7]\n"
      "modem = { modulation = \"64qam\", demapper = \"exact\" }\n"
      "stop = { frame_errors = 0, max_frames = 77, max_seconds = 2.5, below_fer = 1e-4 }\n",
      "s.toml");
  EXPECT_EQ(s.title, "all of them");
  ASSERT_EQ(s.curves.size(), 1u);
  const curve_config &c = s.curves[0], initial = only_curve(sweep);
  EXPECT_EQ(c.label, "all of them");
  EXPECT_EQ(c.link.seed, 9223372036854775807u);
  EXPECT_EQ(c.link.qam, 64);
  EXPECT_EQ(c.link.antennas.get<single_antenna>().demapper, demap_algorithm::exact);
  EXPECT_EQ(c.sweep_db, (std::vector<double>{0, 0.25, 7}));
  EXPECT_EQ(c.stop, (stop_rule{.frame_errors = 0, .max_frames = 77, .max_seconds = 2.5, .below_fer = 1e-4}));
  EXPECT_EQ(initial.label, "s");
  EXPECT_EQ(initial.link.seed, 1u);
  EXPECT_EQ(initial.link.qam, link_config{}.qam);
  EXPECT_EQ(initial.link.antennas.get<single_antenna>().demapper, demap_algorithm::max_log);
  EXPECT_EQ(initial.stop, (stop_rule{.frame_errors = 100, .max_frames = 1'000'000}));
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

TEST(scenario, sizes_of_the_base_stay_where_the_code_of_a_curve_has_them) {
  const auto n_of = [](const std::string& rate) {
    return std::get<std::int64_t>(
        only_curve(sweep + "code.n = 32400\n[[curve]]\ncode = { type = \"dvb-s2\"" + rate + " }\n")
            .link.code.value_of("n"));
  };
  EXPECT_EQ(n_of(", rate = \"1/3\""), 32400);  // of medium frames and of normal ones
  EXPECT_EQ(n_of(", rate = \"2/3\""), 64800);  // of normal frames, not of medium ones
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
  EXPECT_EQ(json_of(with("wimax-ldpc", int8 + "decoder.llr_steps = \"auto\"")),
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

TEST(scenario, old_names_give_the_same_configuration) {
  const std::string int8 = sweep + "code.type = \"wimax-ldpc\"\ndecoder.precision = \"int8\"\n";
  const scenario s = parse_scenario(int8 + "decoder.int8_steps = 4", "s.toml");
  EXPECT_EQ(s.hints, std::vector<std::string>{"decoder.int8_steps is now decoder.llr_steps = 4"});
  EXPECT_EQ(json_of(int8 + "decoder.int8_steps = 4"), json_of(int8 + "decoder.llr_steps = 4"));
  EXPECT_EQ(parse_scenario(int8 + "decoder.llr_steps = 4", "s.toml").hints.size(), 0u);
  const std::string ldpc = sweep + "code.type = \"wimax-ldpc\"\n";
  for (const auto& [old, word] : {std::pair("true", "\"syndrome\""), {"false", "\"none\""}}) {
    const std::string key = "decoder.early_stop = ";
    const scenario read = parse_scenario(ldpc + key + old, "s.toml");
    EXPECT_EQ(read.hints, std::vector<std::string>{key + old + " is now " + word});
    EXPECT_EQ(json_of(ldpc + key + old), json_of(ldpc + key + word));
  }
  EXPECT_EQ(parse_scenario(ldpc + "sweep.decoder.early_stop = [true, false]", "s.toml").curves[0].label,
            "s, early_stop = true");
  // A level of its own replaces the base's, whatever the name.
  EXPECT_EQ(json_of(int8 + "decoder.int8_steps = 4\n[[curve]]\ndecoder.llr_steps = 2"),
            json_of(int8 + "decoder.llr_steps = 4\n[[curve]]\ndecoder.int8_steps = 2"));
  // Swept, it keeps its label: stored results know curves by it.
  const scenario swept = parse_scenario(int8 + "sweep.decoder.int8_steps = [2, 4]", "s.toml");
  ASSERT_EQ(swept.curves.size(), 2u);
  EXPECT_EQ(swept.curves[1].label, "s, int8_steps = 4");
  EXPECT_EQ(swept.curves[1].parameters[0].key, "decoder.llr_steps");
  for (
      const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
          {"decoder.int8_steps = 4\ndecoder.llr_steps = 4",
           "line 5: decoder.int8_steps and decoder.llr_steps say the same: expected one of them"},
          {"decoder.llr_steps = 4\ndecoder.int8_steps = 4",
           "line 5: decoder.int8_steps and decoder.llr_steps say the same: expected one of them"},
          {"sweep.decoder.int8_steps = [4]\nsweep.decoder.llr_steps = [4]",
           "line 5: sweep.decoder.int8_steps and sweep.decoder.llr_steps say the same: expected one of them"},
          {"decoder.int8_steps = 100",
           "line 4: decoder.int8_steps = 100 is not allowed: expected \"auto\" or a number from 0.25 to 64"}})
    try {
      parse_scenario(int8 + text, "s.toml");
      ADD_FAILURE() << text;
    } catch (const file_error& e) {
      EXPECT_EQ(std::string(e.what()), "s.toml: " + message);
    }
}

TEST(scenario, values_that_stood_for_leaving_a_key_out_are_still_read) {
  const std::string line = sweep + "channel.type = \"tdl\"\n";
  for (const auto& [text, key, old, today] : std::vector<std::array<std::string, 4>>{
           {sweep, "decoder.windows", "0", "now \"auto\""},
           {sweep, "decoder.overlap", "-1", "now \"auto\""},
           {sweep, "stop.max_seconds", "0.0", "now left out"},
           {line, "channel.symbols", "0", "now \"auto\""},
           {line, "channel.symbol_period_us", "0", "now left out"},
           {sweep + "code.type = \"conv\"\n", "code.feedback", "\"0\"", "now \"none\""}}) {
    const scenario read = parse_scenario(text + key + " = " + old, "s.toml");
    EXPECT_EQ(read.hints, std::vector<std::string>{key + " = " + old + " is " + today});
    EXPECT_EQ(json_of(text + key + " = " + old), json_of(text));
  }
  // In a curve they take the base's value away.
  EXPECT_EQ(json_of(sweep + "stop.max_seconds = 3\n[[curve]]\nstop.max_seconds = 0"),
            json_of(sweep + "[[curve]]\nstop.max_frames = 1000000"));
  const scenario swept = parse_scenario(sweep + "sweep.decoder.windows = [0, 4]", "s.toml");
  EXPECT_EQ(swept.curves.at(0).label, "s, windows = 0");
  // No steps outside a window are a value.
  EXPECT_NE(json_of(sweep + "decoder.overlap = 0"), json_of(sweep));
  EXPECT_EQ(parse_scenario(sweep + "decoder.overlap = 0", "s.toml").hints.size(), 0u);
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
    return name == "channel.carrier_hz" || name == "channel.antenna_rows" ||
           name == "channel.antenna_spacing_m" || name == "channel.antenna_spacing_wavelengths" ||
           name == "channel.sector_deg" || name == "channel.power_control";
  };
  const std::string line = sweep + "channel.type = \"tdl\"\n";
  std::string spelt_line = line;
  for (const scenario_key& k : scenario_keys()) {
    const std::string& name = k.name;
    if (of_clusters(name) && !k.initial.empty())
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

TEST(scenario, refuses_bytes_that_are_no_toml) {
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
