// Every code through its one face: sizes, round trips on all backends, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include <tests/codes.hpp>
#include <tests/on_backends.hpp>
#include <warpband/link/scenario.hpp>

namespace wb {
namespace codec_test {

using testing::blamed;

code_config turbo_code(int k, turbo_rate rate = turbo_rate::third) {
  return code_config("lte-turbo", box(turbo_settings{.k = k, .rate = rate}));
}
code_config ldpc_code_named(const std::string& type, std::optional<int> n, const std::string& rate) {
  return code_config(type, box(ldpc_settings{.n = n, .rate = rate}));
}
code_config nr_code(int k = 8448, std::optional<int> n = {}) {
  return code_config("nr-ldpc", box(nr_ldpc_settings{.k = k, .n = n}));
}
code_config conv_code_named(int k, std::optional<std::string> rate,
                            conv_ending termination = conv_ending::zero_tail,
                            conv_algorithm algorithm = conv_algorithm::viterbi) {
  return code_config(
      "conv", box(conv_settings{.k = k, .rate = rate, .termination = termination, .algorithm = algorithm}));
}
code_config polar_code_named(polar_kind kind, int k, int coded_bits, int list_size) {
  return code_config("polar",
                     box(polar_code_settings{.code = {.kind = kind, .k = k, .coded_bits = coded_bits},
                                             .decoder = {.list_size = list_size}}));
}

/// One or more of every family.
std::vector<code_config> samples() {
  std::vector<code_config> configs;
  configs.push_back(turbo_code(104));
  configs.push_back(turbo_code(104, turbo_rate::half));
  for (const char* rate : {"1/2", "2/3A", "2/3B", "3/4A", "3/4B", "5/6"})
    configs.push_back(ldpc_code_named("wimax-ldpc", 576, rate));
  for (const char* rate : {"1/2", "2/3", "3/4", "5/6"})
    configs.push_back(ldpc_code_named("wifi-ldpc", 648, rate));
  testing::ldpc_decoder_in(configs.back()).precision = ldpc_precision::int8;
  configs.push_back(ldpc_code_named("wimax-ldpc", 960, "1/2"));
  testing::ldpc_decoder_in(configs.back()).algorithm = ldpc_algorithm::sum_product;
  configs.push_back(nr_code(100, 200));
  configs.back().edit<nr_ldpc_settings>().modulation_order = 4;
  for (const int k : {100, 330, 1000}) configs.push_back(nr_code(k));
  testing::base_graph_in(configs.back()) = 1;
  testing::ldpc_decoder_in(configs.back()).precision = ldpc_precision::int8;
  for (const conv_algorithm a : {conv_algorithm::viterbi, conv_algorithm::max_log_map,
                                 conv_algorithm::log_map, conv_algorithm::log_map_table}) {
    for (const char* rate : {"1/2", "1/3", "2/3", "3/4", "5/6"}) {
      configs.push_back(conv_code_named(50, rate, conv_ending::zero_tail, a));
      configs.push_back(conv_code_named(60, rate, conv_ending::tail_biting, a));
    }
    testing::conv_in(configs.back()).standard = conv_standard::ieee_802_16;
    configs.push_back(conv_code_named(33, {}, conv_ending::zero_tail, a));  // recursive, systematic
    testing::conv_in(configs.back()).generators = {07, 05};
    testing::conv_in(configs.back()).feedback = 07;
    testing::conv_in(configs.back()).order = conv_order::streams;
  }
  for (const conv_algorithm a : {conv_algorithm::viterbi, conv_algorithm::max_log_map}) {
    configs.push_back(conv_code_named(600, "1/2", conv_ending::zero_tail, a));
    testing::conv_in(configs.back()).precision = conv_precision::int16;
  }
  configs.push_back(polar_code_named(polar_kind::uci, 40, 100, 8));
  configs.push_back(polar_code_named(polar_kind::uci, 400, 1100, 2));  // two code blocks
  configs.push_back(polar_code_named(polar_kind::dci, 40, 108, 4));
  testing::polar_in(configs.back()).code.rnti = 0x1234;
  configs.push_back(polar_code_named(polar_kind::plain, 32, 80, 1));
  testing::polar_in(configs.back()).decoder.algorithm = polar_algorithm::sum_product;
  for (const int k : {40, 333, 1000}) {
    configs.push_back(turbo_code(k));
    testing::turbo_in(configs.back()).standard = turbo_standard::umts;
  }
  testing::turbo_in(configs.back()).decoder.algorithm = map_algorithm::log_map_table;
  configs.emplace_back("dvb-s2", setting_values{{"n", std::int64_t{16200}}, {"rate", std::string("8/9")}});
  configs.emplace_back("ctc");
  for (const auto& [standard, k, rate] :
       {std::tuple{ctc_standard::wimax, 96, ctc_rate::r3_4}, {ctc_standard::dvb_rcs, 440, ctc_rate::r2_5}}) {
    configs.emplace_back("ctc");
    testing::ctc_in(configs.back()).code = {.standard = standard, .k = k, .rate = rate};
  }
  testing::ctc_in(configs.back()).decoder.algorithm = map_algorithm::max_log_map;
  return configs;
}

std::string title_of_code(const code_config& c) {
  std::string title = c.type;
  for (const char* setting : {"rate", "termination", "algorithm"}) title += " " + plain(c.value_of(setting));
  return title;
}

class codec_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(codec_on);

TEST_P(codec_on, gives_back_what_was_encoded) {
  constexpr std::size_t items = 21, bad = 5;
  std::mt19937 random(3);
  std::normal_distribution<float> noise(0, 1.5f);
  for (const code_config& config : samples()) {
    SCOPED_TRACE(title_of_code(config));
    const auto code = make_codec(config);
    const std::size_t k = code->k(), n = code->n();
    std::vector<std::uint8_t> bits(items * k);
    for (auto& b : bits) b = static_cast<std::uint8_t>(random() & 1);
    const auto in = testing::on_device(exec(), bits, items, k);
    auto coded = exec().make<std::uint8_t>(items, n + 3);
    code->encode(exec(), in, coded);
    const auto sent = exec().to_host(coded);
    std::vector<float> llr(items * n);
    for (std::size_t i = 0; i < items; i++) {
      for (std::size_t e = 0; e < n; e++)
        llr[i * n + e] = (sent[i * (n + 3) + e] != 0 ? -6.f : 6.f) + noise(random);
      for (std::size_t e = n; e < n + 3; e++) ASSERT_EQ(sent[i * (n + 3) + e], 0);
    }
    llr[bad * n + n - 1] = NAN;
    const auto received = testing::on_device(exec(), llr, items, n);
    auto decided = exec().make<std::uint8_t>(items, k), status = exec().make<std::uint8_t>(items, 1);
    auto iterations = exec().make<std::int32_t>(items, 1), alone = exec().make<std::int32_t>(items, 1);
    auto soft = exec().make<float>(items, k);
    const bool hard = config.kind().without_soft && !config.kind().without_soft(config.settings).empty();
    code->decode(exec(), received,
                 {.bits = decided,
                  .soft = hard ? view<float>{} : view<float>(soft),
                  .iterations = iterations,
                  .status = status});
    code->decode(exec(), received, {.bits = {}, .soft = {}, .iterations = alone, .status = {}});
    std::fill_n(bits.begin() + static_cast<std::ptrdiff_t>(bad * k), k, std::uint8_t{0});
    EXPECT_EQ(exec().to_host(decided), bits);
    const auto used = exec().to_host(iterations);
    EXPECT_EQ(exec().to_host(alone), used);
    const auto states = exec().to_host(status);
    for (std::size_t i = 0; i < items; i++) {
      EXPECT_EQ((states[i] & status_erased) != 0, i == bad);
      EXPECT_EQ(used[i] == 0, i == bad);
      EXPECT_LE(used[i], most_iterations(config));
    }
    if (hard) {
      EXPECT_EQ(blamed([&] {
                  code->decode(exec(), received, {.bits = {}, .soft = soft, .iterations = {}, .status = {}});
                }),
                config.type == "conv" ? "algorithm" : "code.type");
      continue;
    }
    const auto values = exec().to_host(soft);
    for (std::size_t i = 0; i < items * k; i++) ASSERT_EQ(values[i] < 0, bits[i] == 1) << i;
  }
}

TEST(codec, sizes_are_those_of_the_standards) {
  EXPECT_EQ(sizes_of(code_config()).k, 6144u);
  EXPECT_EQ(sizes_of(code_config()).n, 18444u);
  EXPECT_EQ(sizes_of(turbo_code(1024, turbo_rate::half)).n, 2060u);
  const auto is = [](const code_config& c, std::size_t k, std::size_t n) {
    const code_sizes s = sizes_of(c);
    EXPECT_EQ(s.k, k);
    EXPECT_EQ(s.n, n);
    const auto code = make_codec(c);
    EXPECT_EQ(code->k(), k);
    EXPECT_EQ(code->n(), n);
    EXPECT_EQ(testing::k_in(completed(c)), static_cast<int>(k));
  };
  is(ldpc_code_named("wimax-ldpc", {}, "1/2"), 1152, 2304);
  is(ldpc_code_named("wimax-ldpc", 576, "2/3B"), 384, 576);
  is(ldpc_code_named("wimax-ldpc", 672, "3/4A"), 504, 672);
  is(ldpc_code_named("wifi-ldpc", {}, "5/6"), 1620, 1944);
  is(ldpc_code_named("wifi-ldpc", 648, "2/3"), 432, 648);
  code_config nr = nr_code();
  is(nr, 8448, 16896);
  EXPECT_EQ(testing::base_graph_in(completed(nr)), 1);
  testing::k_in(nr) = 120;
  testing::n_in(nr) = 300;
  is(nr, 120, 300);
  EXPECT_EQ(testing::base_graph_in(completed(nr)), 2);
  is(code_config("ctc"), 480, 1440);
  is(code_config("ctc", {{"standard", std::string("dvb-rcs")}, {"k", 1728}, {"rate", std::string("6/7")}}),
     1728, 2016);
  is(polar_code_named(polar_kind::uci, 64, 200, 8), 64, 200);
  is(polar_code_named(polar_kind::pbch, 32, 864, 8), 32, 864);
  is(conv_code_named(24, "1/2"), 24, 60);
  is(conv_code_named(24, "3/4"), 24, 40);
  is(conv_code_named(24, "1/3"), 24, 90);
  is(conv_code_named(40, "1/3", conv_ending::tail_biting), 40, 120);
  is(conv_code_named(40, "5/6", conv_ending::tail_biting), 40, 48);
  code_config four = conv_code_named(40, {}, conv_ending::tail_biting);
  testing::conv_in(four).generators = {05, 07, 06, 03};
  is(four, 40, 160);
  EXPECT_EQ(testing::conv_in(completed(four)).constraint_length, 3);
  EXPECT_EQ(testing::conv_in(completed(four)).rate, "1/4");
  EXPECT_EQ(testing::conv_in(completed(four)).overlap, 16);
  testing::conv_in(four).tail_biting = tail_biting_search::exact;
  EXPECT_EQ(testing::conv_in(completed(four)).overlap, 0);
  EXPECT_EQ(testing::conv_in(completed(completed(four))).overlap, 0);
}

TEST(codec, k_follows_from_the_bits_that_are_sent) {
  for (code_config c : samples()) {
    SCOPED_TRACE(title_of_code(c));
    const code_sizes s = sizes_of(c);
    if (c.type == "polar") {  // E bits may be those of any k
      EXPECT_EQ(k_of_coded_bits(c, s.n), std::nullopt);
      continue;
    }
    EXPECT_EQ(k_of_coded_bits(c, s.n), s.k);
    testing::leave_out_k(c);
    EXPECT_EQ(k_of_coded_bits(c, s.n), s.k);
    if (c.type != "conv") {
      EXPECT_EQ(k_of_coded_bits(c, s.n + 1), std::nullopt);
    }
    EXPECT_EQ(k_of_coded_bits(c, 0), std::nullopt);
  }
  EXPECT_EQ(k_of_coded_bits(conv_code_named(6144, "1/2"), 61), std::nullopt);
  EXPECT_EQ(k_of_coded_bits(conv_code_named(6144, "1/2"), 12), std::nullopt);  // the tail alone
  EXPECT_EQ(k_of_coded_bits(ldpc_code_named("wimax-ldpc", {}, "1/2"), 600), std::nullopt);
}

TEST(codec, fills_in_what_is_left_open) {
  const conv_settings c = completed(conv_code_named(6144, {})).get<conv_settings>();
  EXPECT_EQ(c.generators, (std::vector<int>{0133, 0171}));
  EXPECT_EQ(c.constraint_length, 7);
  EXPECT_EQ(c.rate, "1/2");
  EXPECT_EQ(c.overlap, 0);  // zero tail
  code_config other = conv_code_named(100, "3/4", conv_ending::tail_biting);
  testing::conv_in(other).standard = conv_standard::ieee_802_16;
  EXPECT_EQ(testing::conv_in(completed(other)).generators, (std::vector<int>{0171, 0133}));
  EXPECT_EQ(testing::conv_in(completed(other)).overlap, 190);  // 48 n / (n - k), n = 134
  testing::conv_in(other).overlap = 5;
  EXPECT_EQ(testing::conv_in(completed(other)).overlap, 5);
  EXPECT_EQ(testing::n_in(completed(ldpc_code_named("wifi-ldpc", {}, "1/2"))), 1944);
  code_config turbo = turbo_code(6144);
  EXPECT_EQ(testing::turbo_decoder_in(completed(turbo)).code_rate, 1.f / 3);
  testing::turbo_in(turbo).rate = turbo_rate::half;
  EXPECT_EQ(testing::turbo_decoder_in(completed(turbo)).code_rate, 6144.f / 12300);
  EXPECT_EQ(testing::turbo_decoder_in(completed(turbo)).windows, 192);
  testing::turbo_decoder_in(turbo).code_rate = 0.9f;  // of what is sent a part is received
  EXPECT_EQ(testing::turbo_decoder_in(completed(turbo)).code_rate, 0.9f);
  EXPECT_EQ(testing::turbo_decoder_in(completed(turbo)).windows, 51);
  EXPECT_EQ(testing::turbo_decoder_in(completed(completed(turbo))).windows, 51);
  EXPECT_EQ(most_iterations(turbo_code(40)), 6);
  EXPECT_EQ(most_iterations(ldpc_code_named("wifi-ldpc", {}, "1/2")), 15);
  EXPECT_EQ(most_iterations(other), 1);
  EXPECT_EQ(most_iterations(code_config("none")), 0);
}

/// Of a configuration with a change: which setting is refused.
template <class Change>
std::string blames(code_config c, Change change) {
  return blamed([&] {
    change(c);
    make_codec(c);
  });
}

TEST(codec, refuses_what_is_not_allowed) {
  const code_config wimax = ldpc_code_named("wimax-ldpc", 2304, "1/2"),
                    wifi = ldpc_code_named("wifi-ldpc", 1944, "1/2");
  for (const code_config& c : {wimax, wifi}) EXPECT_EQ(blames(c, [](code_config&) {}), "");
  EXPECT_EQ(blames(wimax, [](code_config& c) { testing::n_in(c) = 600; }), "n");
  EXPECT_EQ(blames(wimax, [](code_config& c) { testing::ldpc_in(c).rate = "3/4"; }), "rate");
  EXPECT_EQ(blames(wimax, [](code_config& c) { testing::k_in(c) = 1151; }), "k");
  EXPECT_EQ(blames(wimax, [](code_config& c) { testing::k_in(c) = 1152; }), "");
  EXPECT_EQ(blames(wimax, [](code_config& c) { testing::ldpc_decoder_in(c).iterations = 0; }), "iterations");
  EXPECT_EQ(blames(wimax, [](code_config& c) { testing::ldpc_decoder_in(c).scale = 2; }), "scale");
  EXPECT_EQ(blames(wimax,
                   [](code_config& c) {
                     testing::ldpc_decoder_in(c).algorithm = ldpc_algorithm::sum_product;
                     testing::ldpc_decoder_in(c).precision = ldpc_precision::int8;
                   }),
            "precision");
  EXPECT_EQ(blames(wifi, [](code_config& c) { testing::n_in(c) = 2304; }), "n");
  EXPECT_EQ(blames(wifi, [](code_config& c) { testing::ldpc_in(c).rate = "2/3A"; }), "rate");
  const code_config nr = nr_code();
  EXPECT_EQ(blames(nr, [](code_config& c) { testing::k_in(c) = 8449; }), "k");
  EXPECT_EQ(blames(nr, [](code_config& c) { testing::k_in(c) = 3841, testing::base_graph_in(c) = 2; }), "k");
  EXPECT_EQ(blames(nr, [](code_config& c) { testing::n_in(c) = -1; }), "n");
  EXPECT_EQ(blames(nr, [](code_config& c) { testing::base_graph_in(c) = 3; }), "base_graph");
  EXPECT_EQ(blames(nr, [](code_config& c) { testing::ldpc_decoder_in(c).iterations = 0; }), "iterations");
  const code_config polar = polar_code_named(polar_kind::uci, 64, 128, 8);
  EXPECT_EQ(blames(polar, [](code_config&) {}), "");
  EXPECT_EQ(blames(polar, [](code_config& c) { testing::k_in(c) = 11; }), "k");
  EXPECT_EQ(blames(polar, [](code_config& c) { testing::polar_in(c).code.coded_bits = 0; }), "coded_bits");
  EXPECT_EQ(blames(polar, [](code_config& c) { testing::polar_in(c).decoder.list_size = 12; }), "list_size");
  EXPECT_EQ(blames(polar, [](code_config& c) { testing::crc_in(c) = crc24a; }), "crc");
}

TEST(codec, refuses_convolutional_codes_that_are_not_allowed) {
  const code_config conv = conv_code_named(100, {});
  EXPECT_EQ(blames(conv, [](code_config&) {}), "");
  EXPECT_EQ(blames(conv, [](code_config& c) { testing::conv_in(c).rate = "7/8"; }), "rate");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     testing::conv_in(c).generators = {5, 7, 7}, testing::conv_in(c).rate = "3/4";
                   }),
            "rate");
  EXPECT_EQ(blames(conv, [](code_config& c) { testing::conv_in(c).generators = {05, 01000}; }),
            "constraint_length");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     testing::conv_in(c).generators = {05, 017};
                     testing::conv_in(c).constraint_length = 3;
                   }),
            "generators");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     testing::conv_in(c).feedback = 0133;
                     testing::conv_in(c).termination = conv_ending::tail_biting;
                   }),
            "termination");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     testing::k_in(c) = 5;
                     testing::conv_in(c).termination = conv_ending::tail_biting;
                   }),
            "k");
  EXPECT_EQ(blames(conv, [](code_config& c) { testing::k_in(c) = 65537; }), "k");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     testing::conv_in(c).termination = conv_ending::tail_biting;
                     testing::conv_in(c).overlap = 5000;
                   }),
            "overlap");
  EXPECT_EQ(blames(conv, [](code_config& c) { testing::conv_in(c).tail_biting = tail_biting_search::exact; }),
            "tail_biting");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     testing::conv_in(c).termination = conv_ending::tail_biting;
                     testing::conv_in(c).tail_biting = tail_biting_search::exact;
                     testing::conv_in(c).algorithm = conv_algorithm::log_map;
                   }),
            "tail_biting");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     testing::conv_in(c).precision = conv_precision::int16;
                     testing::conv_in(c).algorithm = conv_algorithm::log_map;
                   }),
            "algorithm");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     testing::conv_in(c).precision = conv_precision::int16;
                     testing::conv_in(c).windows = 1000;
                   }),
            "windows");
  EXPECT_EQ(blames(conv, [](code_config& c) { testing::k_in(c) = 24, testing::crc_in(c) = crc24a; }), "k");
  EXPECT_EQ(blames(conv, [](code_config& c) { c = code_config("none"); }), "code.type");
}

/// What rules a setting out, of a code with these settings.
std::pair<std::string, std::string> idle_with(const std::string& type, const std::string& setting,
                                              const setting_values& given = {}) {
  const code_config c(type, given);
  const auto* s = find_setting(c.kind().settings, setting);
  if (s == nullptr) return {"type", type};
  return idle_because(c.kind().settings, *s, c.settings).value_or(std::pair<std::string, std::string>());
}

TEST(code_settings, say_which_codes_have_them) {
  for (const code_setting_text& s : code_setting_texts()) {
    EXPECT_FALSE(kinds_with(s.name).empty()) << s.name;
    EXPECT_FALSE(s.text.empty()) << s.name;
    EXPECT_FALSE(s.allowed.empty()) << s.name;
  }
  EXPECT_EQ(code_setting_texts().size(), 52u);
  EXPECT_TRUE(kinds_with("seed").empty());

  EXPECT_EQ(idle_with("lte-turbo", "windows").first, "");
  EXPECT_EQ(idle_with("lte-turbo", "scale").first, "type");
  EXPECT_EQ(idle_with("wifi-ldpc", "windows").second, "wifi-ldpc");
  EXPECT_EQ(idle_with("wifi-ldpc", "scale").first, "");
  EXPECT_EQ(idle_with("wifi-ldpc", "offset").second, "normalised-min-sum");
  setting_values given{{"algorithm", "Offset_min_sum"}};
  EXPECT_EQ(idle_with("wifi-ldpc", "scale", given).first, "algorithm");
  EXPECT_EQ(idle_with("wifi-ldpc", "offset", given).first, "");
  EXPECT_EQ(idle_with("wifi-ldpc", "llr_steps", given).first, "precision");
  given.clear();
  EXPECT_EQ(idle_with("conv", "windows").first, "precision");
  EXPECT_EQ(idle_with("conv", "llr_steps").first, "precision");
  EXPECT_EQ(idle_with("conv", "overlap").second, "zero-tail");
  given["termination"] = "tail-biting";
  EXPECT_EQ(idle_with("conv", "overlap", given).first, "");
  given["tail_biting"] = "exact";
  EXPECT_EQ(idle_with("conv", "overlap", given).first, "tail_biting");
  given["algorithm"] = "log-map";
  EXPECT_EQ(idle_with("conv", "tail_biting", given).first, "algorithm");
}

TEST(code_settings, give_a_configuration) {
  const code_config c("conv", {{"k", 77},
                               {"generators", std::vector<std::string>{"0133", "171", "165"}},
                               {"termination", "TailBiting"},
                               {"order", "streams"},
                               {"algorithm", "max_log_map"},
                               {"overlap", 9},
                               {"iterations", 3}});  // not looked at
  const conv_settings& s = c.get<conv_settings>();
  EXPECT_EQ(s.k, 77);
  EXPECT_EQ(s.generators, (std::vector<int>{0133, 0171, 0165}));
  EXPECT_EQ(s.termination, conv_ending::tail_biting);
  EXPECT_EQ(s.order, conv_order::streams);
  EXPECT_EQ(s.algorithm, conv_algorithm::max_log_map);
  EXPECT_EQ(s.overlap, 9);
  EXPECT_EQ(code_config("lte-turbo", {{"code_rate", 0.8}}).get<turbo_settings>().decoder.code_rate, 0.8f);
  const auto blames = [](const char* type, const setting_values& given) {
    return blamed([&] { code_config(type, given); });
  };
  EXPECT_EQ(blames("lte-turbo", {{"algorithm", "viterbi"}}), "algorithm");
  EXPECT_EQ(blames("lte-turbo", {{"early_stop", "syndrome"}}), "early_stop");
  EXPECT_EQ(blames("wimax-ldpc", {{"early_stop", "sign-agreement"}}), "early_stop");
  EXPECT_EQ(blames("wimax-ldpc", {{"schedule", "none"}}), "schedule");
  for (const char* odd : {"", "8", "0", "13a", "-7", "12345671"})
    EXPECT_EQ(blames("conv", {{"generators", std::vector<std::string>{"133", odd}}}), "generators");
  EXPECT_EQ(blames("conv", {{"feedback", "9"}}), "feedback");
  EXPECT_EQ(blames("hamming", {}), "code.type");
  EXPECT_EQ(blamed([] { code_config().set("schedule", "layered"); }), "schedule");
}

TEST(code_settings, belong_to_one_configuration) {
  code_config a("wifi-ldpc", {{"iterations", 9}});
  const code_config b = a;
  EXPECT_EQ(a, b);
  a.edit<ldpc_settings>().decoder.iterations = 10;
  EXPECT_EQ(b.value_of("iterations"), setting_value(std::int64_t{9}));
  EXPECT_EQ(a.value_of("iterations"), setting_value(std::int64_t{10}));
  EXPECT_NE(a, b);
  EXPECT_NE(b, code_config("wimax-ldpc", b.settings));
  EXPECT_EQ(a.value_of("windows"), setting_value());
}

}  // namespace codec_test
}  // namespace wb
