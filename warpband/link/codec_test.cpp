// Every code through its one face: sizes, round trips on all backends, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include <tests/on_backends.hpp>
#include <warpband/link/code_settings.hpp>
#include <warpband/link/scenario.hpp>

namespace wb {
namespace codec_test {

using testing::blamed;

code_config turbo_code(int k, turbo_rate rate = turbo_rate::third) {
  code_config c;
  c.k = k;
  c.turbo.rate = rate;
  return c;
}
code_config ldpc_code_named(code_type type, int n, const std::string& rate) {
  code_config c;
  c.type = type;
  c.ldpc.n = n;
  c.ldpc.rate = rate;
  return c;
}
code_config conv_code_named(int k, const std::string& rate, conv_ending termination = conv_ending::zero_tail,
                            conv_algorithm algorithm = conv_algorithm::viterbi) {
  code_config c;
  c.type = code_type::conv;
  c.k = k;
  c.conv.rate = rate;
  c.conv.termination = termination;
  c.conv.algorithm = algorithm;
  return c;
}
code_config polar_code_named(polar_kind kind, int k, int coded_bits, int list_size) {
  code_config c;
  c.type = code_type::polar;
  c.k = k;
  c.polar.code.kind = kind;
  c.polar.code.coded_bits = coded_bits;
  c.polar.decoder.list_size = list_size;
  return c;
}

/// One or more of every family.
std::vector<code_config> samples() {
  std::vector<code_config> all;
  all.push_back(turbo_code(104));
  all.push_back(turbo_code(104, turbo_rate::half));
  for (const char* rate : {"1/2", "2/3A", "2/3B", "3/4A", "3/4B", "5/6"})
    all.push_back(ldpc_code_named(code_type::wimax_ldpc, 576, rate));
  for (const char* rate : {"1/2", "2/3", "3/4", "5/6"})
    all.push_back(ldpc_code_named(code_type::wifi_ldpc, 648, rate));
  all.back().ldpc.decoder.precision = ldpc_precision::int8;
  all.push_back(ldpc_code_named(code_type::wimax_ldpc, 960, "1/2"));
  all.back().ldpc.decoder.algorithm = ldpc_algorithm::sum_product;
  for (const int k : {100, 330, 1000}) {
    all.push_back(ldpc_code_named(code_type::nr_ldpc, 0, ""));
    all.back().k = k;
  }
  all.back().ldpc.base_graph = 1;
  all.back().ldpc.decoder.precision = ldpc_precision::int8;
  for (const conv_algorithm a :
       {conv_algorithm::viterbi, conv_algorithm::max_log_map, conv_algorithm::log_map}) {
    for (const char* rate : {"1/2", "1/3", "2/3", "3/4", "5/6"}) {
      all.push_back(conv_code_named(50, rate, conv_ending::zero_tail, a));
      all.push_back(conv_code_named(60, rate, conv_ending::tail_biting, a));
    }
    all.back().conv.standard = conv_standard::ieee_802_16;
    all.push_back(conv_code_named(33, "", conv_ending::zero_tail, a));  // recursive, systematic
    all.back().conv.generators = {07, 05};
    all.back().conv.feedback = 07;
    all.back().conv.order = conv_order::streams;
  }
  for (const conv_algorithm a : {conv_algorithm::viterbi, conv_algorithm::max_log_map}) {
    all.push_back(conv_code_named(600, "1/2", conv_ending::zero_tail, a));
    all.back().conv.precision = conv_precision::int16;
  }
  all.push_back(polar_code_named(polar_kind::uci, 40, 100, 8));
  all.push_back(polar_code_named(polar_kind::uci, 400, 1100, 2));  // two code blocks
  all.push_back(polar_code_named(polar_kind::dci, 40, 108, 4));
  all.back().polar.code.rnti = 0x1234;
  all.push_back(polar_code_named(polar_kind::plain, 32, 80, 1));
  all.back().polar.decoder.algorithm = polar_algorithm::sum_product;
  return all;
}

std::string title_of_code(const code_config& c) {
  const bool ldpc = c.type == code_type::wimax_ldpc || c.type == code_type::wifi_ldpc;
  return std::string(name_of(c.type)) + " " + (ldpc ? c.ldpc.rate : c.conv.rate) + " termination " +
         std::to_string(static_cast<int>(c.conv.termination)) + " algorithm " +
         std::to_string(static_cast<int>(c.conv.algorithm));
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
    const auto in = testing::on_device(exec(), bits, k, items);
    auto coded = exec().make<std::uint8_t>(n + 3, items);
    code->encode(exec(), in, coded);
    const auto sent = exec().to_host(coded);
    std::vector<float> llr(items * n);
    for (std::size_t i = 0; i < items; i++) {
      for (std::size_t e = 0; e < n; e++)
        llr[i * n + e] = (sent[i * (n + 3) + e] != 0 ? -6.f : 6.f) + noise(random);
      for (std::size_t e = n; e < n + 3; e++) ASSERT_EQ(sent[i * (n + 3) + e], 0);
    }
    llr[bad * n + n - 1] = NAN;
    const auto received = testing::on_device(exec(), llr, n, items);
    auto decided = exec().make<std::uint8_t>(k, items), status = exec().make<std::uint8_t>(1, items);
    auto iterations = exec().make<std::int32_t>(1, items), alone = exec().make<std::int32_t>(1, items);
    auto soft = exec().make<float>(k, items);
    const bool polar = config.type == code_type::polar,
               hard = polar ||
                      (config.type == code_type::conv && config.conv.algorithm == conv_algorithm::viterbi);
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
                polar ? "code.type" : "algorithm");
      continue;
    }
    const auto values = exec().to_host(soft);
    for (std::size_t i = 0; i < items * k; i++) ASSERT_EQ(values[i] < 0, bits[i] == 1) << i;
  }
}

TEST(codec, sizes_are_those_of_the_standards) {
  EXPECT_EQ(sizes_of({}).k, 6144u);
  EXPECT_EQ(sizes_of({}).n, 18444u);
  EXPECT_EQ(sizes_of(turbo_code(1024, turbo_rate::half)).n, 2060u);
  const auto is = [](const code_config& c, std::size_t k, std::size_t n) {
    const code_sizes s = sizes_of(c);
    EXPECT_EQ(s.k, k);
    EXPECT_EQ(s.n, n);
    const auto code = make_codec(c);
    EXPECT_EQ(code->k(), k);
    EXPECT_EQ(code->n(), n);
    EXPECT_EQ(completed(c).k, static_cast<int>(k));
  };
  is(ldpc_code_named(code_type::wimax_ldpc, 0, "1/2"), 1152, 2304);
  is(ldpc_code_named(code_type::wimax_ldpc, 576, "2/3B"), 384, 576);
  is(ldpc_code_named(code_type::wimax_ldpc, 672, "3/4A"), 504, 672);
  is(ldpc_code_named(code_type::wifi_ldpc, 0, "5/6"), 1620, 1944);
  is(ldpc_code_named(code_type::wifi_ldpc, 648, "2/3"), 432, 648);
  code_config nr = ldpc_code_named(code_type::nr_ldpc, 0, "");
  is(nr, 8448, 16896);
  EXPECT_EQ(completed(nr).ldpc.base_graph, 1);
  nr.k = 120;
  nr.ldpc.n = 300;
  is(nr, 120, 300);
  EXPECT_EQ(completed(nr).ldpc.base_graph, 2);
  is(polar_code_named(polar_kind::uci, 0, 200, 8), 64, 200);
  is(polar_code_named(polar_kind::pbch, 32, 864, 8), 32, 864);
  is(conv_code_named(24, "1/2"), 24, 60);
  is(conv_code_named(24, "3/4"), 24, 40);
  is(conv_code_named(24, "1/3"), 24, 90);
  is(conv_code_named(40, "1/3", conv_ending::tail_biting), 40, 120);
  is(conv_code_named(40, "5/6", conv_ending::tail_biting), 40, 48);
  code_config four = conv_code_named(40, "", conv_ending::tail_biting);
  four.conv.generators = {05, 07, 06, 03};
  is(four, 40, 160);
  EXPECT_EQ(completed(four).conv.constraint_length, 3);
  EXPECT_EQ(completed(four).conv.rate, "1/4");
  EXPECT_EQ(completed(four).conv.overlap, 16);
  four.conv.tail_biting = tail_biting_search::exact;
  EXPECT_EQ(completed(four).conv.overlap, 0);
  EXPECT_EQ(completed(completed(four)).conv.overlap, 0);
}

TEST(codec, k_follows_from_the_bits_that_are_sent) {
  for (code_config c : samples()) {
    SCOPED_TRACE(title_of_code(c));
    const code_sizes s = sizes_of(c);
    if (c.type == code_type::polar) {  // E bits may be those of any k
      EXPECT_EQ(k_of_coded_bits(c, s.n), std::nullopt);
      continue;
    }
    EXPECT_EQ(k_of_coded_bits(c, s.n), s.k);
    c.k = 0;
    EXPECT_EQ(k_of_coded_bits(c, s.n), s.k);
    if (c.type != code_type::conv) {
      EXPECT_EQ(k_of_coded_bits(c, s.n + 1), std::nullopt);
    }
    EXPECT_EQ(k_of_coded_bits(c, 0), std::nullopt);
  }
  EXPECT_EQ(k_of_coded_bits(conv_code_named(0, "1/2"), 61), std::nullopt);
  EXPECT_EQ(k_of_coded_bits(conv_code_named(0, "1/2"), 12), std::nullopt);  // the tail alone
  EXPECT_EQ(k_of_coded_bits(ldpc_code_named(code_type::wimax_ldpc, 0, "1/2"), 600), std::nullopt);
}

TEST(codec, fills_in_what_is_left_open) {
  const conv_settings c = completed(conv_code_named(0, "")).conv;
  EXPECT_EQ(c.generators, (std::vector<int>{0133, 0171}));
  EXPECT_EQ(c.constraint_length, 7);
  EXPECT_EQ(c.rate, "1/2");
  EXPECT_EQ(c.overlap, 0);  // zero tail
  code_config other = conv_code_named(100, "3/4", conv_ending::tail_biting);
  other.conv.standard = conv_standard::ieee_802_16;
  EXPECT_EQ(completed(other).conv.generators, (std::vector<int>{0171, 0133}));
  EXPECT_EQ(completed(other).conv.overlap, 190);  // 48 n / (n - k), n = 134
  other.conv.overlap = 5;
  EXPECT_EQ(completed(other).conv.overlap, 5);
  EXPECT_EQ(completed(ldpc_code_named(code_type::wifi_ldpc, 0, "1/2")).ldpc.n, 1944);
  code_config turbo = turbo_code(6144);
  EXPECT_EQ(completed(turbo).turbo.decoder.code_rate, 1.f / 3);
  turbo.turbo.rate = turbo_rate::half;
  EXPECT_EQ(completed(turbo).turbo.decoder.code_rate, 6144.f / 12300);
  EXPECT_EQ(completed(turbo).turbo.decoder.windows, 192);
  turbo.turbo.decoder.code_rate = 0.9f;  // of what is sent a part is received
  EXPECT_EQ(completed(turbo).turbo.decoder.code_rate, 0.9f);
  EXPECT_EQ(completed(turbo).turbo.decoder.windows, 51);
  EXPECT_EQ(completed(completed(turbo)).turbo.decoder.windows, 51);
  EXPECT_EQ(most_iterations(turbo_code(40)), 6);
  EXPECT_EQ(most_iterations(ldpc_code_named(code_type::wifi_ldpc, 0, "1/2")), 15);
  EXPECT_EQ(most_iterations(other), 1);
  code_config none;
  none.type = code_type::none;
  EXPECT_EQ(most_iterations(none), 0);
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
  const code_config wimax = ldpc_code_named(code_type::wimax_ldpc, 2304, "1/2"),
                    wifi = ldpc_code_named(code_type::wifi_ldpc, 1944, "1/2");
  for (const code_config& c : {wimax, wifi}) EXPECT_EQ(blames(c, [](code_config&) {}), "");
  EXPECT_EQ(blames(wimax, [](code_config& c) { c.ldpc.n = 600; }), "n");
  EXPECT_EQ(blames(wimax, [](code_config& c) { c.ldpc.rate = "3/4"; }), "rate");
  EXPECT_EQ(blames(wimax, [](code_config& c) { c.k = 1151; }), "k");
  EXPECT_EQ(blames(wimax, [](code_config& c) { c.k = 1152; }), "");
  EXPECT_EQ(blames(wimax, [](code_config& c) { c.ldpc.decoder.iterations = 0; }), "iterations");
  EXPECT_EQ(blames(wimax, [](code_config& c) { c.ldpc.decoder.scale = 2; }), "scale");
  EXPECT_EQ(blames(wimax,
                   [](code_config& c) {
                     c.ldpc.decoder.algorithm = ldpc_algorithm::sum_product;
                     c.ldpc.decoder.precision = ldpc_precision::int8;
                   }),
            "precision");
  EXPECT_EQ(blames(wifi, [](code_config& c) { c.ldpc.n = 2304; }), "n");
  EXPECT_EQ(blames(wifi, [](code_config& c) { c.ldpc.rate = "2/3A"; }), "rate");
  const code_config nr = ldpc_code_named(code_type::nr_ldpc, 0, "");
  EXPECT_EQ(blames(nr, [](code_config& c) { c.k = 8449; }), "k");
  EXPECT_EQ(blames(nr, [](code_config& c) { c.k = 3841, c.ldpc.base_graph = 2; }), "k");
  EXPECT_EQ(blames(nr, [](code_config& c) { c.ldpc.n = -1; }), "n");
  EXPECT_EQ(blames(nr, [](code_config& c) { c.ldpc.base_graph = 3; }), "base_graph");
  EXPECT_EQ(blames(nr, [](code_config& c) { c.ldpc.decoder.iterations = 0; }), "iterations");
  const code_config polar = polar_code_named(polar_kind::uci, 64, 128, 8);
  EXPECT_EQ(blames(polar, [](code_config&) {}), "");
  EXPECT_EQ(blames(polar, [](code_config& c) { c.k = 11; }), "k");
  EXPECT_EQ(blames(polar, [](code_config& c) { c.polar.code.coded_bits = 0; }), "coded_bits");
  EXPECT_EQ(blames(polar, [](code_config& c) { c.polar.decoder.list_size = 12; }), "list_size");
  EXPECT_EQ(blames(polar, [](code_config& c) { c.crc = crc24a; }), "crc");
}

TEST(codec, refuses_convolutional_codes_that_are_not_allowed) {
  const code_config conv = conv_code_named(100, "");
  EXPECT_EQ(blames(conv, [](code_config&) {}), "");
  EXPECT_EQ(blames(conv, [](code_config& c) { c.conv.rate = "7/8"; }), "rate");
  EXPECT_EQ(blames(conv, [](code_config& c) { c.conv.generators = {5, 7, 7}, c.conv.rate = "3/4"; }), "rate");
  EXPECT_EQ(blames(conv, [](code_config& c) { c.conv.generators = {05, 01000}; }), "constraint_length");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     c.conv.generators = {05, 017};
                     c.conv.constraint_length = 3;
                   }),
            "generators");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     c.conv.feedback = 0133;
                     c.conv.termination = conv_ending::tail_biting;
                   }),
            "termination");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     c.k = 5;
                     c.conv.termination = conv_ending::tail_biting;
                   }),
            "k");
  EXPECT_EQ(blames(conv, [](code_config& c) { c.k = 65537; }), "k");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     c.conv.termination = conv_ending::tail_biting;
                     c.conv.overlap = 5000;
                   }),
            "overlap");
  EXPECT_EQ(blames(conv, [](code_config& c) { c.conv.tail_biting = tail_biting_search::exact; }),
            "tail_biting");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     c.conv.termination = conv_ending::tail_biting;
                     c.conv.tail_biting = tail_biting_search::exact;
                     c.conv.algorithm = conv_algorithm::log_map;
                   }),
            "tail_biting");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     c.conv.precision = conv_precision::int16;
                     c.conv.algorithm = conv_algorithm::log_map;
                   }),
            "algorithm");
  EXPECT_EQ(blames(conv,
                   [](code_config& c) {
                     c.conv.precision = conv_precision::int16;
                     c.conv.windows = 1000;
                   }),
            "windows");
  EXPECT_EQ(blames(conv, [](code_config& c) { c.k = 24, c.crc = crc24a; }), "k");
  EXPECT_EQ(blames(conv, [](code_config& c) { c.type = code_type::none; }), "code.type");
}

TEST(code_settings, say_which_codes_have_them) {
  for (const code_setting_text& s : code_setting_texts()) {
    EXPECT_FALSE(types_with(s.name).empty()) << s.name;
    EXPECT_FALSE(s.text.empty()) << s.name;
    EXPECT_FALSE(s.allowed.empty()) << s.name;
  }
  EXPECT_EQ(code_setting_texts().size(), 44u);
  EXPECT_TRUE(types_with("seed").empty());

  code_settings s;
  EXPECT_EQ(idle_with(s, "windows"), std::nullopt);
  EXPECT_EQ(idle_with(s, "scale")->setting, "type");
  s.type = code_type::wifi_ldpc;
  EXPECT_EQ(idle_with(s, "windows")->value, "wifi-ldpc");
  EXPECT_EQ(idle_with(s, "scale"), std::nullopt);
  EXPECT_EQ(idle_with(s, "offset")->value, "normalised-min-sum");
  s.values["algorithm"] = std::string("Offset_min_sum");
  EXPECT_EQ(idle_with(s, "scale")->setting, "algorithm");
  EXPECT_EQ(idle_with(s, "offset"), std::nullopt);
  EXPECT_EQ(idle_with(s, "int8_steps")->setting, "precision");
  s.type = code_type::conv;
  EXPECT_EQ(idle_with(s, "windows")->setting, "precision");
  EXPECT_EQ(idle_with(s, "llr_steps")->setting, "precision");
  EXPECT_EQ(idle_with(s, "overlap")->value, "zero-tail");
  s.values["termination"] = std::string("tail-biting");
  EXPECT_EQ(idle_with(s, "overlap"), std::nullopt);
  s.values["tail_biting"] = std::string("exact");
  EXPECT_EQ(idle_with(s, "overlap")->setting, "tail_biting");
  s.values["algorithm"] = std::string("log-map");
  EXPECT_EQ(idle_with(s, "tail_biting")->setting, "algorithm");
}

TEST(code_settings, give_a_configuration) {
  code_settings s;
  s.type = code_type::conv;
  s.values = {{"k", std::int64_t{77}},
              {"generators", std::vector<std::string>{"0133", "171", "165"}},
              {"termination", std::string("TailBiting")},
              {"order", std::string("streams")},
              {"algorithm", std::string("max_log_map")},
              {"overlap", std::int64_t{9}},
              {"iterations", std::int64_t{3}}};  // not looked at
  const code_config c = config_of(s);
  EXPECT_EQ(c.k, 77);
  EXPECT_EQ(c.conv.generators, (std::vector<int>{0133, 0171, 0165}));
  EXPECT_EQ(c.conv.termination, conv_ending::tail_biting);
  EXPECT_EQ(c.conv.order, conv_order::streams);
  EXPECT_EQ(c.conv.algorithm, conv_algorithm::max_log_map);
  EXPECT_EQ(c.conv.overlap, 9);
  const auto blames = [](auto change) {
    return blamed([&] {
      code_settings wrong;
      change(wrong);
      config_of(wrong);
    });
  };
  code_settings punctured;
  punctured.values["code_rate"] = 0.8;
  EXPECT_EQ(config_of(punctured).turbo.decoder.code_rate, 0.8f);
  EXPECT_EQ(blames([](code_settings& w) { w.values["algorithm"] = std::string("viterbi"); }), "algorithm");
  EXPECT_EQ(blames([](code_settings& w) { w.values["early_stop"] = std::string("syndrome"); }), "early_stop");
  EXPECT_EQ(blames([](code_settings& w) {
              w.type = code_type::wimax_ldpc, w.values["early_stop"] = std::string("sign-agreement");
            }),
            "early_stop");
  EXPECT_EQ(blames([](code_settings& w) {
              w.type = code_type::wimax_ldpc, w.values["schedule"] = std::string("none");
            }),
            "schedule");
  for (const char* odd : {"", "8", "0", "13a", "-7", "12345671"}) {
    EXPECT_EQ(blames([&](code_settings& w) {
                w.type = code_type::conv;
                w.values["generators"] = std::vector<std::string>{"133", odd};
              }),
              "generators");
  }
  EXPECT_EQ(
      blames([](code_settings& w) { w.type = code_type::conv, w.values["feedback"] = std::string("9"); }),
      "feedback");
}

}  // namespace codec_test
}  // namespace wb
