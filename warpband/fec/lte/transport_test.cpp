// The LTE transport channel against the standard's text (oracle/lte_transport), vectors of other programs,
// limit cases, and itself on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include <oracle/lte.hpp>
#include <oracle/lte_transport.hpp>
#include <tests/json.hpp>
#include <tests/transport.hpp>
#include <warpband/fec/lte/qpp.hpp>
#include <warpband/fec/lte/rate_matching.hpp>
#include <warpband/fec/lte/transport.hpp>
#include <warpband/fec/turbo/turbo.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace wb {
namespace transport_test {

using namespace testing;

const std::vector<int>& sizes() {
  static const std::vector<int> lengths = [] {
    std::vector<int> k;
    for (const qpp_parameters& row : qpp_table()) k.push_back(row.k);
    return k;
  }();
  return lengths;
}
std::vector<int> interleaver(int k) {
  const qpp_parameters p = qpp_for(k);
  return oracle::qpp(p.k, p.f1, p.f2);
}
std::string text_of(const std::string& file) {
  std::ifstream in(std::string(WARPBAND_REFDATA) + "/vectors/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}
#define SKIP_WITHOUT_REFDATA(text) \
  if ((text).empty()) GTEST_SKIP() << "no refdata in '" << WARPBAND_REFDATA << "/vectors'"
// ---------------------------------------------------------------- segmentation

TEST(lte_segmentation, equals_reference_vectors) {
  const std::string text = text_of("lte_segmentation.json");
  SKIP_WITHOUT_REFDATA(text);
  const auto document = testing::parse_json(text);
  int seen = 0;
  for (const auto& v : document.at("vectors")) {
    const lte_segmentation s = segment_transport_block(v.at("tbs"));
    EXPECT_EQ(s.bits, v.at("B").get<int>());
    EXPECT_EQ(s.blocks, v.at("C").get<int>());
    EXPECT_EQ(s.c_plus, v.at("C_plus").get<int>());
    EXPECT_EQ(s.c_minus, v.at("C_minus").get<int>());
    EXPECT_EQ(s.k_plus, v.at("K_plus").get<int>());
    EXPECT_EQ(s.k_minus, v.at("K_minus").get<int>());
    EXPECT_EQ(s.filler_bits, v.at("F").get<int>());
    seen++;
  }
  EXPECT_GE(seen, 10);
}

TEST(lte_segmentation, equals_the_standard_for_every_size) {
  bool both = false, fillers = false;
  for (int a = 1; a <= 100000; a += small_scale() ? 37 : 1) {
    const lte_segmentation s = segment_transport_block(a);
    const oracle::lte_segments o = oracle::lte_segment(a + 24, sizes());
    ASSERT_TRUE(s.blocks == o.C && s.block_crc_bits == o.L && s.k_plus == o.K_plus && s.c_plus == o.C_plus &&
                s.k_minus == o.K_minus && s.c_minus == o.C_minus && s.filler_bits == o.F)
        << a;
    int next = 0;
    for (int r = 0; r < s.blocks; r++) {
      ASSERT_EQ(s.first_bit(r), next) << a << ", block " << r;
      ASSERT_EQ(s.k(r), s.fillers(r) + s.payload(r) + s.block_crc_bits);
      next += s.payload(r);
    }
    ASSERT_EQ(next, s.bits) << a;
    both = both || (s.c_minus > 0 && s.c_plus > 0);
    fillers = fillers || (s.filler_bits > 0 && s.c_minus > 0);
  }
  EXPECT_TRUE(both && fillers);
  for (const int bad : {std::numeric_limits<int>::min(), -1, 0, lte_most_transport_bits + 1})
    EXPECT_EQ(blamed([&] { segment_transport_block(bad); }), "transport_bits") << bad;
}

// ---------------------------------------------------------------- rate matching of code blocks

/// d0, d1, d2 of places that number themselves, fillers as NULL: what the oracle makes of them says which
/// place each sent bit is.
std::vector<int> sent_places(int k, int fillers, int n_cb, int e, int rv) {
  oracle::lte_symbols d[3];
  for (int s = 0; s < 3; s++)
    for (int i = 0; i < k + 4; i++) d[s].push_back(s < 2 && i < fillers ? oracle::lte_null : s * (k + 4) + i);
  return oracle::lte_rate_match(d[0], d[1], d[2], n_cb, e, rv);
}

struct matching_case {
  int k, e, fillers, n_cb;
};
/// Short and long, punctured and repeated several times, with fillers, with limited buffers down to one that
/// ends within the systematic bits.
const matching_case matching_cases[] = {{40, 1, 0, 0},      {40, 60, 15, 0},         {40, 700, 15, 0},
                                        {48, 156, 0, 70},   {104, 150, 1, 5},        {104, 1000, 63, 200},
                                        {512, 1548, 0, 0},  {1056, 1500, 8, 2500},   {1024, 10000, 0, 1500},
                                        {6144, 7000, 0, 0}, {6144, 20000, 63, 9000}, {45, 200, 3, 100},
                                        {60, 400, 0, 0} /* no padding */};

class lte_rate_matching : public testing::on_backend {};
WB_ON_ALL_BACKENDS(lte_rate_matching);

TEST_P(lte_rate_matching, equals_reference_vectors) {
  const std::string text = text_of("lte_turbo_ratematch.json");
  SKIP_WITHOUT_REFDATA(text);
  const auto document = testing::parse_json(text);
  std::map<int, int> seen;
  for (const auto& v : document.at("vectors")) {
    const int k = v.at("K"), e = v.at("E"), rv = v.at("rv");
    const bits_t input = from_text(v.at("input")), expected = from_text(v.at("output"));
    const std::size_t n = 3 * (static_cast<std::size_t>(k) + 4);
    auto coded = exec().make<std::uint8_t>(1, n), out = exec().make<std::uint8_t>(1, expected.size());
    turbo_encoder(k).run(exec(), given(exec(), input, 1), coded);
    lte_rate_matcher({.k = k, .sent_bits = e}).match(exec(), coded, rv, out);
    EXPECT_EQ(exec().to_host(out), expected) << "k " << k << ", E " << e << ", rv " << rv;
    seen[rv]++;
  }
  EXPECT_EQ(seen.size(), 4U);
}

TEST_P(lte_rate_matching, sends_what_the_standard_says) {
  std::mt19937_64 random(1);
  for (const auto& c : matching_cases) {
    const lte_rate_matcher matcher({.k = c.k,
                                    .sent_bits = c.e,
                                    .fillers = c.fillers,
                                    .soft_buffer = c.n_cb != 0 ? std::optional(c.n_cb) : std::nullopt});
    const std::size_t n = 3 * (static_cast<std::size_t>(c.k) + 4), e = static_cast<std::size_t>(c.e);
    for (int rv = 0; rv < 4; rv++) {
      const std::vector<int> places = sent_places(c.k, c.fillers, c.n_cb, c.e, rv);
      for (const std::size_t batch : {1, 15, 17}) {
        if (batch != 1 && c.k > 1056) continue;
        const bits_t coded = random_bits_of(n * batch, random);
        bits_t expected;
        for (std::size_t b = 0; b < batch; b++)
          for (const int p : places) expected.push_back(coded[b * n + static_cast<std::size_t>(p)]);
        for (const layout order : layouts) {
          auto out = given(exec(), bits_t(e * batch, 9), batch, order);
          matcher.match(exec(), given(exec(), coded, batch, order), rv, out);
          ASSERT_EQ(rows_of(exec(), out, order), expected) << "k " << c.k << ", E " << c.e << ", rv " << rv;
        }
      }
    }
  }
}

TEST_P(lte_rate_matching, adds_what_was_received) {
  std::mt19937_64 random(2);
  for (const auto& c : matching_cases) {
    const lte_rate_matcher matcher({.k = c.k,
                                    .sent_bits = c.e,
                                    .fillers = c.fillers,
                                    .soft_buffer = c.n_cb != 0 ? std::optional(c.n_cb) : std::nullopt});
    const std::size_t stream = static_cast<std::size_t>(c.k) + 4, n = 3 * stream,
                      e = static_cast<std::size_t>(c.e);
    for (const std::size_t batch : {1, 16, 18}) {
      if (batch != 1 && c.k > 512) continue;
      for (const layout order : layouts) {
        llrs_t expected(n * batch, 0.f);
        for (std::size_t b = 0; b < batch; b++)
          for (std::size_t i = 0; i < static_cast<std::size_t>(c.fillers); i++)
            expected[b * n + i] = expected[b * n + stream + i] = lte_filler_llr;
        auto soft = given(exec(), llrs_t(n * batch, std::nanf("")), batch, order);
        auto marks = exec().make<std::uint8_t>(batch, 1);
        bool first = true;
        for (const int rv : {2, 0, 3, 1, 1}) {
          const std::vector<int> places = sent_places(c.k, c.fillers, c.n_cb, c.e, rv);
          llrs_t llr(e * batch);  // small integers: their sums are exact in any order
          for (auto& x : llr) x = static_cast<float>(random() % 31) - 15.f;
          for (std::size_t b = 0; b < batch; b++)
            for (std::size_t i = 0; i < e; i++)
              expected[b * n + static_cast<std::size_t>(places[i])] += llr[b * e + i];
          matcher.combine(exec(), given(exec(), llr, batch, order), rv, first, soft, marks);
          first = false;
          ASSERT_EQ(rows_of(exec(), soft, order), expected) << "k " << c.k << ", E " << c.e << ", rv " << rv;
        }
        EXPECT_EQ(exec().to_host(marks), bits_t(batch, 0));
      }
    }
  }
}

TEST_P(lte_rate_matching, the_same_transmission_twice_doubles_every_llr) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal(0.f, 4.f);
  const lte_rate_matcher matcher({.k = 512, .sent_bits = 2000, .fillers = 20, .soft_buffer = 1200});
  llrs_t llr(3 * 2000);
  for (auto& x : llr) x = normal(random);
  for (int rv = 0; rv < 4; rv++) {
    auto soft = exec().make<float>(3, 3 * 516);
    const auto in = given(exec(), llr, 3);
    matcher.combine(exec(), in, rv, true, soft);
    llrs_t once = exec().to_host(soft);
    for (std::size_t i = 0; i < once.size(); i++)
      if (once[i] != lte_filler_llr) once[i] *= 2;  // NOLINT: set, not computed
    matcher.combine(exec(), in, rv, false, soft);
    EXPECT_EQ(exec().to_host(soft), once) << rv;
  }
}

TEST_P(lte_rate_matching, bad_llrs_count_as_not_received) {
  const lte_rate_matcher matcher({.k = 40, .sent_bits = 200, .fillers = 2});
  const std::size_t n = 3 * 44, batch = 5;
  const llrs_t good(200 * batch, 1.f);
  auto clean = exec().make<float>(batch, n), soft = exec().make<float>(batch, n);
  auto marks = exec().make<std::uint8_t>(batch, 1);
  matcher.combine(exec(), given(exec(), good, batch), 1, true, clean);
  const llrs_t once = exec().to_host(clean);
  const float infinity = std::numeric_limits<float>::infinity(), huge = std::numeric_limits<float>::max();
  for (const auto& [a, b] : {std::pair{std::nanf(""), 1.f}, std::pair{infinity, -infinity},
                             std::pair{-infinity, 1.f}, std::pair{huge, huge}}) {
    llrs_t bad = good;
    bad[2 * 200 + 199] = a;  // comes round to the place of number 199 - 128 = 71
    bad[2 * 200 + 71] = b;
    ASSERT_EQ(lte_circular_buffer(make_lte_circular_buffer(40, 2)).places.size(), 128U);
    // First, so that nothing is there; then after a good one, which stays.
    matcher.combine(exec(), given(exec(), bad, batch), 1, true, soft, marks);
    llrs_t expected = once;
    for (std::size_t i = 0; i < n; i++)
      expected[2 * n + i] = i < 2 || (i >= 44 && i < 46) ? lte_filler_llr : 0.f;
    EXPECT_EQ(exec().to_host(soft), expected) << a;
    EXPECT_EQ(exec().to_host(marks), (bits_t{0, 0, status_erased, 0, 0}));
    matcher.combine(exec(), given(exec(), good, batch), 1, true, soft, marks);
    EXPECT_EQ(exec().to_host(marks), bits_t(batch, 0));
    matcher.combine(exec(), given(exec(), bad, batch), 1, false, soft, marks);
    const llrs_t kept = exec().to_host(soft);
    for (std::size_t i = 2 * n; i < 3 * n; i++) EXPECT_EQ(kept[i], once[i]);
    EXPECT_EQ(exec().to_host(marks)[2], status_erased);
  }
  // Sums end at a limit that the next one does not overflow.
  const llrs_t large(200 * batch, -1e38f);
  for (int i = 0; i < 6; i++) matcher.combine(exec(), given(exec(), large, batch), 0, i == 0, soft, marks);
  const llrs_t limited = exec().to_host(soft);
  for (std::size_t i = 0; i < n * batch; i++)
    EXPECT_TRUE(limited[i] == -transport_most_llr || limited[i] == lte_filler_llr) << limited[i];
  EXPECT_EQ(exec().to_host(marks), bits_t(batch, 0));
}

TEST(lte_rate_matching_arguments, bad_ones_are_named) {
  const auto exec = testing::open_scalar();
  const auto make = [](lte_rate_matching_config c) { return blamed([&] { lte_rate_matcher m(c); }); };
  EXPECT_EQ(make({.k = 39, .sent_bits = 10}), "k");
  EXPECT_EQ(make({.k = 65537, .sent_bits = 10}), "k");
  EXPECT_EQ(make({.k = 40, .sent_bits = 0}), "sent_bits");
  EXPECT_EQ(make({.k = 40, .sent_bits = -1}), "sent_bits");
  EXPECT_EQ(make({.k = 40, .sent_bits = 10, .fillers = -1}), "fillers");
  EXPECT_EQ(make({.k = 40, .sent_bits = 10, .fillers = 41}), "fillers");
  EXPECT_EQ(make({.k = 40, .sent_bits = 10, .soft_buffer = -1}), "soft_buffer");
  EXPECT_EQ(make({.k = 40, .sent_bits = 10, .soft_buffer = 1}), "soft_buffer");  // w_0 is padding
  EXPECT_EQ(make({.k = 40, .sent_bits = 10, .soft_buffer = 3}), "");
  const lte_rate_matcher matcher({.k = 40, .sent_bits = 50});
  auto coded = exec->make<std::uint8_t>(2, 132), out = exec->make<std::uint8_t>(2, 50);
  auto llr = exec->make<float>(2, 50), soft = exec->make<float>(2, 132);
  auto wrong_bits = exec->make<std::uint8_t>(2, 51);
  auto wrong = exec->make<float>(3, 132);
  for (const int rv : {-1, 4, std::numeric_limits<int>::max()}) {
    EXPECT_EQ(blamed([&] { matcher.match(*exec, coded, rv, out); }), "rv");
    EXPECT_EQ(blamed([&] { matcher.combine(*exec, llr, rv, true, soft); }), "rv");
  }
  EXPECT_EQ(blamed([&] { matcher.match(*exec, out, 0, out); }), "coded");
  EXPECT_EQ(blamed([&] { matcher.match(*exec, coded, 0, wrong_bits); }), "out");
  EXPECT_EQ(blamed([&] { matcher.combine(*exec, soft, 0, true, soft); }), "llr");
  EXPECT_EQ(blamed([&] { matcher.combine(*exec, llr, 0, true, wrong); }), "soft");
  EXPECT_EQ(blamed([&] { matcher.combine(*exec, llr, 0, true, soft, out); }), "marks");
}

// ---------------------------------------------------------------- transport blocks

/// G of about this many bits for each of a transport block, a multiple of what a symbol of all layers takes.
int coded_bits(int a, double for_each, int symbol) {
  const int blocks = segment_transport_block(a).blocks;
  return std::max(blocks, static_cast<int>(std::lround(for_each * (a + 24) / symbol))) * symbol;
}

struct transport_case {
  int a, qm, layers;
  double coded;  // bits for each
  int n_cb;
};
const transport_case transport_cases[] = {
    {1, 2, 1, 5, 0},          // one code block with fillers, repeated
    {16, 1, 1, 1.2, 0},       // no fillers
    {40, 6, 2, 4, 150},       // limited buffer
    {1000, 10, 3, 1.6, 0},    //
    {2030, 4, 1, 2, 4000},    // many fillers
    {6120, 2, 1, 1.1, 0},     // the longest code block
    {6121, 2, 1, 2.1, 0},     // K- and K+, fillers in a K- block
    {6121, 8, 4, 1.9, 5000},  // E of several sizes, limited buffer
    {6200, 6, 1, 1.5, 0},     // K+ only
    {13000, 4, 2, 1.3, 0},    // three blocks
};

class lte_transport : public testing::on_backend {};
WB_ON_ALL_BACKENDS(lte_transport);

TEST_P(lte_transport, encodes_as_the_standard_says) {
  std::mt19937_64 random(4);
  for (const auto& c : transport_cases) {
    const int g = coded_bits(c.a, c.coded, c.qm * c.layers);
    lte_transport_encoder encoder({.transport_bits = c.a,
                                   .coded_bits = g,
                                   .modulation_order = c.qm,
                                   .layers = c.layers,
                                   .soft_buffer = c.n_cb != 0 ? std::optional(c.n_cb) : std::nullopt});
    const auto& s = encoder.segmentation();
    int first = 0;
    for (int r = 0; r < s.blocks; r++) {
      EXPECT_EQ(encoder.sent_bits(r), oracle::lte_sent_bits(g, c.layers, c.qm, s.blocks, r))
          << c.a << ", " << r;
      EXPECT_EQ(encoder.first_sent_bit(r), first);
      first += encoder.sent_bits(r);
    }
    EXPECT_EQ(first, g);
    const std::size_t a = static_cast<std::size_t>(c.a), coded = static_cast<std::size_t>(g);
    for (const std::size_t batch : {1, 5, 17}) {
      if (batch == 17 && c.a > 1000) continue;
      const bits_t bits = random_bits_of(a * batch, random);
      const int rv = static_cast<int>(random() % 4);
      bits_t expected;
      for (std::size_t b = 0; b < batch; b++) {
        const auto row = bits.begin() + static_cast<std::ptrdiff_t>(b * a);
        const bits_t one = oracle::lte_transport_encode(bits_t(row, row + c.a), {g, c.qm, c.layers, c.n_cb},
                                                        rv, sizes(), interleaver);
        expected.insert(expected.end(), one.begin(), one.end());
      }
      for (const layout order : layouts) {
        bits_t dirty = bits;
        for (auto& x : dirty) x = static_cast<std::uint8_t>(x | (random() & 0xfe));  // the lowest bit counts
        auto out = given(exec(), bits_t(coded * batch, 9), batch, order);
        encoder.run(exec(), given(exec(), dirty, batch, order), rv, out);
        ASSERT_EQ(rows_of(exec(), out, order), expected)
            << "A " << c.a << ", batch " << batch << ", rv " << rv;
      }
    }
  }
}

TEST_P(lte_transport, comes_back_through_every_order_of_redundancy_versions) {
  std::mt19937_64 random(5);
  for (const auto& c : transport_cases) {
    const int g = coded_bits(c.a, c.coded, c.qm * c.layers);
    const lte_transport_config config{.transport_bits = c.a,
                                      .coded_bits = g,
                                      .modulation_order = c.qm,
                                      .layers = c.layers,
                                      .soft_buffer = c.n_cb != 0 ? std::optional(c.n_cb) : std::nullopt,
                                      .turbo = {.algorithm = map_algorithm::max_log_map, .iterations = 8}};
    lte_transport_encoder encoder(config);
    lte_transport_decoder decoder(config);
    const std::size_t batch = c.a > 1000 ? 2 : 3,
                      blocks = static_cast<std::size_t>(encoder.segmentation().blocks);
    const bits_t sent = random_bits_of(static_cast<std::size_t>(c.a) * batch, random);
    const auto bits = given(exec(), sent, batch);
    std::vector<array<float>> llr;
    for (int rv = 0; rv < 4; rv++) {
      auto coded = exec().make<std::uint8_t>(batch, static_cast<std::size_t>(g));
      encoder.run(exec(), bits, rv, coded);
      llr.push_back(given(exec(), noise_free(exec().to_host(coded), 4.f), batch));
    }
    llrs_t minus, plus;
    std::vector<int> order{0, 1, 2, 3};
    int tried = 0;
    do {
      if (tried++ % 5 != 0 && small_scale()) continue;  // five of 24, each version first
      decoder.reset();
      EXPECT_EQ(decoder.transmissions(), 0);
      for (const int rv : order) {
        decoder.combine(exec(), llr[static_cast<std::size_t>(rv)], rv);
        // rv 0 holds the systematic bits, and at these rates enough of the others.
        if (rv == 0 && rv == order[0]) expect_right(decode(exec(), decoder, batch), sent, batch, blocks);
      }
      EXPECT_EQ(decoder.transmissions(), 4);
      const llrs_t now_minus = exec().to_host(decoder.soft_minus()),
                   now_plus = exec().to_host(decoder.soft_plus());
      if (plus.empty()) {
        minus = now_minus;
        plus = now_plus;
      }
      EXPECT_TRUE(now_minus == minus && now_plus == plus) << c.a;
      if (order[0] == 0 || (c.a <= 1000 && !small_scale()))
        expect_right(decode(exec(), decoder, batch), sent, batch, blocks);
      if (::testing::Test::HasFailure()) FAIL() << "A " << c.a;
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_P(lte_transport, comes_back_for_sizes_up_to_100000) {
  std::mt19937_64 random(6);
  const bool slow = GetParam().name == "scalar" || small_scale();
  std::vector<int> block_sizes{1, 2, 15, 17, 39, 488, 489, 1024, 6119, 6122};
  for (double a = 50; a < (slow ? 2e4 : 1e5); a *= slow ? 2.3 : 1.45)
    block_sizes.push_back(static_cast<int>(a) + static_cast<int>(random() % 20));
  if (!slow) block_sizes.insert(block_sizes.end(), {75376, 99999, 100000});
  for (const int a : block_sizes) {
    const int qm = 2 << random() % 3, layers = 1 + static_cast<int>(random() % 4);
    const lte_transport_config config{.transport_bits = a,
                                      .coded_bits = coded_bits(a, a < 100 ? 3 : 1.5, qm * layers),
                                      .modulation_order = qm,
                                      .layers = layers,
                                      .turbo = {.algorithm = map_algorithm::max_log_map, .iterations = 6}};
    lte_transport_encoder encoder(config);
    lte_transport_decoder decoder(config);
    const std::size_t batch = a > 20000 ? 1 : 3;
    const layout order = layouts[random() % 2];
    const bits_t sent = random_bits_of(static_cast<std::size_t>(a) * batch, random);
    auto coded = exec().make<std::uint8_t>(batch, static_cast<std::size_t>(config.coded_bits), order);
    encoder.run(exec(), given(exec(), sent, batch, order), 0, coded);
    const llrs_t llr = noise_free(exec().to_host(coded), 6.f);
    decoder.combine(exec(), on_device(exec(), llr, batch, coded.elements(), order), 0);
    expect_right(decode(exec(), decoder, batch, order), sent, batch,
                 static_cast<std::size_t>(encoder.segmentation().blocks));
    ASSERT_FALSE(::testing::Test::HasFailure()) << "A " << a << ", Qm " << qm << ", layers " << layers;
  }
}

TEST_P(lte_transport, gives_the_same_bits_as_scalar_code) {
  const auto reference = testing::open_reference();
  const std::vector<std::size_t> batches =
      small_scale() ? std::vector<std::size_t>{1, 9} : std::vector<std::size_t>{1, 15, 16, 17};
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal;
  for (const auto algorithm : {map_algorithm::max_log_map, map_algorithm::log_map})
    for (const int a : {30, 500, 6121}) {
      const lte_transport_config config{.transport_bits = a,
                                        .coded_bits = coded_bits(a, 1.8, 4),
                                        .modulation_order = 4,
                                        .turbo = {.algorithm = algorithm, .iterations = 4}};
      const std::size_t g = static_cast<std::size_t>(config.coded_bits);
      lte_transport_encoder encoder(config);
      lte_transport_decoder here(config), on_reference(config);
      for (const std::size_t batch : batches) {
        if (a > 500 && batch != (small_scale() ? batches.front() : batches.back())) continue;
        const bits_t sent = random_bits_of(static_cast<std::size_t>(a) * batch, random);
        auto coded = reference->make<std::uint8_t>(batch, g);
        here.reset();
        on_reference.reset();
        for (const int rv : {0, 2}) {
          encoder.run(*reference, given(*reference, sent, batch), rv, coded);
          llrs_t llr = noise_free(reference->to_host(coded), 1.f);
          for (auto& x : llr) x = 2.4f * (x + 0.9f * normal(random));
          if (rv == 2) llr[g / 2] = std::nanf("");
          here.combine(exec(), given(exec(), llr, batch, layouts[batch % 2]), rv);
          on_reference.combine(*reference, given(*reference, llr, batch), rv);
          const decoded got = decode(exec(), here, batch, layouts[batch % 2]),
                        expected = decode(*reference, on_reference, batch);
          EXPECT_TRUE(got == expected) << "A " << a << ", batch " << batch << ", rv " << rv;
          EXPECT_TRUE(exec().to_host(here.soft_plus()) == reference->to_host(on_reference.soft_plus()));
          EXPECT_TRUE(exec().to_host(here.soft_minus()) == reference->to_host(on_reference.soft_minus()));
        }
      }
    }
}

TEST_P(lte_transport, attaches_the_crc_of_reference_vectors) {
  const std::string text = text_of("lte_crc.json");
  SKIP_WITHOUT_REFDATA(text);
  const auto document = testing::parse_json(text);
  int seen = 0;
  for (const auto& v : document.at("vectors")) {
    const bits_t input = from_text(v.at("input"));
    if (v.at("crc") != "CRC24A" || input.size() > 6120) continue;
    const int a = static_cast<int>(input.size());
    const lte_transport_config config{
        .transport_bits = a, .coded_bits = 4 * (a + 63 + 24), .modulation_order = 1};
    lte_transport_encoder encoder(config);
    lte_transport_decoder decoder(config);
    auto coded = exec().make<std::uint8_t>(1, static_cast<std::size_t>(config.coded_bits));
    encoder.run(exec(), given(exec(), input, 1), 0, coded);
    decoder.combine(exec(), given(exec(), noise_free(exec().to_host(coded), 1.f), 1), 0);
    const llrs_t soft = exec().to_host(decoder.soft_plus());  // d0, which is the code block, comes first
    bits_t block;
    for (int i = encoder.segmentation().filler_bits; i < encoder.segmentation().k_plus; i++)
      block.push_back(soft[static_cast<std::size_t>(i)] < 0 ? 1 : 0);
    bits_t expected = input;
    for (const auto b : from_text(v.at("crc_bits_msb_first"))) expected.push_back(b);
    EXPECT_EQ(block, expected) << "n = " << a;
    seen++;
  }
  EXPECT_GE(seen, 3);
}

TEST_P(lte_transport, what_cancels_out_is_nothing_received) {
  const lte_transport_config config{.transport_bits = 300, .coded_bits = 900};
  lte_transport_decoder decoder(config);
  const llrs_t llr(900, 2.f), opposite(900, -2.f);  // of the transport block of zeros, whose CRC is right
  decoder.combine(exec(), given(exec(), llr, 1), 0);
  EXPECT_EQ(decode(exec(), decoder, 1).ok, bits_t{1});
  decoder.combine(exec(), given(exec(), opposite, 1), 0);
  EXPECT_EQ(decode(exec(), decoder, 1).ok, bits_t{0});
  decoder.combine(exec(), given(exec(), llr, 1), 0);
  EXPECT_EQ(decode(exec(), decoder, 1).ok, bits_t{1});
}

/// Rate 0.9 has a parity bit every 18 steps of an encoder. With the windows of rate 1/3 half of these blocks
/// failed.
TEST_P(lte_transport, automatic_windows_lose_nothing_at_a_high_code_rate) {
  const std::size_t batch = small_scale() || GetParam().name == "scalar" ? 6 : 16;
  const auto max_log = map_algorithm::max_log_map;
  const turbo_decoder_config kinds[] = {
      {.algorithm = map_algorithm::log_map},
      {.algorithm = max_log, .extrinsic_scale = 0.75f},
      {.algorithm = map_algorithm::log_map, .precision = turbo_precision::bfloat16},
      {.algorithm = max_log, .extrinsic_scale = 0.75f, .precision = turbo_precision::bfloat16},
      {.algorithm = max_log, .extrinsic_scale = 0.75f, .precision = turbo_precision::int16}};
  lte_transport_config config{.transport_bits = 6120, .coded_bits = 6826};
  std::mt19937_64 random(5);
  const bits_t bits = random_bits_of(6120 * batch, random);
  auto coded = exec().make<std::uint8_t>(batch, 6826);
  lte_transport_encoder(config).run(exec(), given(exec(), bits, batch), 0, coded);
  const double variance = 0.5 * std::pow(10, -0.365);  // Es/N0 = 3.65 dB
  std::normal_distribution<float> noise(0.f, static_cast<float>(std::sqrt(variance)));
  llrs_t llr = noise_free(exec().to_host(coded), 1.f);
  for (float& x : llr) x = static_cast<float>(2 / variance) * (x + noise(random));
  for (const turbo_decoder_config& kind : kinds) {
    const auto failures = [&](std::optional<int> windows) {
      config.turbo = kind;
      config.turbo.windows = windows;
      lte_transport_decoder decoder(config);
      decoder.combine(exec(), given(exec(), llr, batch), 0);
      auto ok = exec().make<std::uint8_t>(batch, 1);
      decoder.decode(exec(), {.ok = ok});
      const bits_t flags = exec().to_host(ok);
      return std::count(flags.begin(), flags.end(), 0);
    };
    EXPECT_LE(failures({}), failures(1) + 1) << "precision " << static_cast<int>(kind.precision)
                                             << ", algorithm " << static_cast<int>(kind.algorithm);
  }
}

TEST(lte_transport_decoder, tells_its_turbo_decoders_the_code_rate) {
  const auto rate = [](const lte_transport_config& c, int kind = 1) {
    return lte_transport_decoder(c).turbo(kind)->code_rate;
  };
  EXPECT_EQ(rate({.transport_bits = 6120, .coded_bits = 12288}), 0.5f);
  EXPECT_EQ(rate({.transport_bits = 6120, .coded_bits = 8192}), 0.75f);
  // All of 3 (k + 4) bits were sent, some of them again.
  EXPECT_EQ(rate({.transport_bits = 6120, .coded_bits = 40000}), 6144.f / 18444);
  // A limited buffer holds fewer.
  EXPECT_EQ(rate({.transport_bits = 6120, .coded_bits = 40000, .soft_buffer = 8000}),
            6144.f / static_cast<float>(make_lte_circular_buffer(6144, 0, 8000).places.size()));
  // 22 of 1056 bits are fillers.
  EXPECT_EQ(rate({.transport_bits = 1010, .coded_bits = 1292}), 1034.f / 1292);
  // Two blocks of 3136 bits; the first one is sent in one bit less.
  EXPECT_EQ(rate({.transport_bits = 6200, .coded_bits = 7001, .modulation_order = 1}), 3136.f / 3500);
  // Two sizes; 15 of the 3072 bits are fillers.
  EXPECT_EQ(rate({.transport_bits = 6121, .coded_bits = 8000}, 0), 3057.f / 4000);
  EXPECT_EQ(rate({.transport_bits = 6121, .coded_bits = 8000}, 1), 3136.f / 4000);
  // Fewer bits than information: nothing is decoded before the second transmission.
  EXPECT_EQ(rate({.transport_bits = 6120, .coded_bits = 4096}), 0.75f);
  EXPECT_EQ(rate({.transport_bits = 6120, .coded_bits = 4096, .soft_buffer = 5000}), 1.f);
  // What was asked for stays.
  EXPECT_EQ(lte_transport_decoder({.transport_bits = 6120, .coded_bits = 6800, .turbo = {.windows = 96}})
                .turbo(1)
                ->windows,
            96);
}

TEST_P(lte_transport, threads_change_nothing_and_buffers_are_kept) {
  const lte_transport_config config{.transport_bits = 6200, .coded_bits = 9300, .turbo = {.iterations = 2}};
  std::mt19937_64 random(12);
  std::normal_distribution<float> normal(0.f, 3.f);
  llrs_t llr(9300 * 5);
  for (auto& x : llr) x = normal(random);
  std::vector<decoded> results;
  for (const int threads : {1, 3}) {
    const auto device = GetParam().open(threads);
    lte_transport_decoder decoder(config);
    const float* kept = nullptr;
    for (int round = 0; round < 2; round++) {
      decoder.combine(*device, given(*device, llr, 5), 3);
      results.push_back(decode(*device, decoder, 5));
      if (round > 0) {
        EXPECT_EQ(decoder.soft_plus().data(), kept);
      }
      kept = decoder.soft_plus().data();
      decoder.reset();
    }
  }
  for (const decoded& d : results) EXPECT_TRUE(d == results[0]);
}

TEST_P(lte_transport, every_output_can_be_left_out) {
  const lte_transport_config config{.transport_bits = 200, .coded_bits = 600};
  lte_transport_encoder encoder(config);
  lte_transport_decoder decoder(config);
  std::mt19937_64 random(8);
  const bits_t sent = random_bits_of(200 * 3, random);
  auto coded = exec().make<std::uint8_t>(3, 600), bits = exec().make<std::uint8_t>(3, 200),
       ok = exec().make<std::uint8_t>(3, 1);
  encoder.run(exec(), given(exec(), sent, 3), 0, coded);
  decoder.combine(exec(), given(exec(), noise_free(exec().to_host(coded), 5.f), 3), 0);
  decoder.decode(exec(), {});
  decoder.decode(exec(), {.bits = bits});
  decoder.decode(exec(), {.ok = ok});
  EXPECT_EQ(exec().to_host(bits), sent);
  EXPECT_EQ(exec().to_host(ok), bits_t(3, 1));
  const decoded outputs = decode(exec(), decoder, 3);
  EXPECT_EQ(outputs.iterations, std::vector<std::int32_t>(3, 1));  // the CRC held at once
  auto none = exec().make<std::uint8_t>(0, 200), nothing = exec().make<std::uint8_t>(0, 600);
  encoder.run(exec(), none, 0, nothing);  // an empty batch
  decoder.reset();
  decoder.combine(exec(), exec().make<float>(0, 600), 0);
  EXPECT_TRUE(decode(exec(), decoder, 0).ok.empty());
}

TEST_P(lte_transport, without_its_stop_rule_does_all_iterations) {
  lte_transport_config config{.transport_bits = 7000, .coded_bits = 14000, .turbo = {.iterations = 3}};
  lte_transport_encoder encoder(config);
  std::mt19937_64 random(9);
  const bits_t sent = random_bits_of(7000, random);
  auto coded = exec().make<std::uint8_t>(1, 14000);
  encoder.run(exec(), given(exec(), sent, 1), 0, coded);
  const auto llr = given(exec(), noise_free(exec().to_host(coded), 5.f), 1);
  for (const bool stop : {true, false}) {
    config.turbo.early_stop = stop ? turbo_early_stop::crc : turbo_early_stop::none;
    lte_transport_decoder decoder(config);
    decoder.combine(exec(), llr, 0);
    const decoded d = decode(exec(), decoder, 1);
    expect_right(d, sent, 1, 2);
    EXPECT_EQ(d.iterations, std::vector<std::int32_t>(2, stop ? 1 : 3));
  }
}

TEST_P(lte_transport, says_which_code_block_failed) {
  const int a = 13000;  // three code blocks
  const lte_transport_config config{.transport_bits = a, .coded_bits = 3 * 9000, .modulation_order = 2};
  lte_transport_encoder encoder(config);
  lte_transport_decoder decoder(config);
  ASSERT_EQ(encoder.segmentation().blocks, 3);
  std::mt19937_64 random(10);
  const std::size_t batch = 5, g = 27000;
  const bits_t sent = random_bits_of(static_cast<std::size_t>(a) * batch, random);
  auto coded = exec().make<std::uint8_t>(batch, g);
  encoder.run(exec(), given(exec(), sent, batch), 0, coded);
  const llrs_t good = noise_free(exec().to_host(coded), 3.f);
  const auto first_bit = [&](std::size_t b, int r) {
    return b * g + static_cast<std::size_t>(encoder.first_sent_bit(r));
  };
  llrs_t llr = good;
  for (std::size_t i = 0; i < 9000; i++) {
    llr[first_bit(1, 1) + i] = random() % 2 == 0 ? 3.f : -3.f;  // rubbish
    llr[first_bit(4, 0) + i] = 0.f;                             // nothing
  }
  llr[first_bit(2, 2) + 8999] = std::nanf("");
  llr[first_bit(2, 0)] = -std::numeric_limits<float>::infinity();
  decoder.combine(exec(), given(exec(), llr, batch), 0);
  const decoded d = decode(exec(), decoder, batch);
  EXPECT_EQ(d.ok, (bits_t{1, 0, 0, 1, 0}));
  EXPECT_EQ(d.block_ok, (bits_t{1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1}));
  constexpr std::uint8_t insufficient = status_erased | status_insufficient;  // of a block nothing arrived
  EXPECT_EQ(d.status, (bits_t{0, 0, insufficient, 0, insufficient}));
  const lte_segmentation& s = decoder.segmentation();
  const auto block_of = [&](const bits_t& bits, std::size_t b, int r) {
    const auto first = bits.begin() + static_cast<std::ptrdiff_t>(b) * a + s.first_bit(r);
    return bits_t(first, first + std::min(s.payload(r), a - s.first_bit(r)));
  };
  for (std::size_t b = 0; b < batch; b++)
    for (int r = 0; r < 3; r++) {
      const bits_t got = block_of(d.bits, b, r);
      if (d.block_ok[b * 3 + static_cast<std::size_t>(r)] != 0) {
        EXPECT_TRUE(got == block_of(sent, b, r)) << b << ", " << r;
      } else if (b != 1) {  // erased or nothing: zeros
        EXPECT_TRUE(got == bits_t(got.size(), 0)) << b << ", " << r;
      }
    }
  // Another transmission makes up for what the first lacked; that something was left out stays to be seen.
  decoder.combine(exec(), given(exec(), good, batch), 0);
  decoder.combine(exec(), given(exec(), good, batch), 0);
  const decoded then = decode(exec(), decoder, batch);
  EXPECT_TRUE(then.bits == sent);
  EXPECT_EQ(then.ok, bits_t(batch, 1));
  EXPECT_EQ(then.status, (bits_t{0, 0, status_erased, 0, 0}));
  decoder.reset();
  decoder.combine(exec(), given(exec(), good, batch), 0);
  expect_right(decode(exec(), decoder, batch), sent, batch, 3);
}

TEST_P(lte_transport, a_wrong_crc_of_the_transport_block_is_seen_behind_right_ones_of_its_code_blocks) {
  const int a = 6500;
  const lte_transport_config config{.transport_bits = a, .coded_bits = 13048, .modulation_order = 2};
  std::mt19937_64 random(11);
  for (const int wrong : {-1, 0, 23}) {
    bits_t b = random_bits_of(static_cast<std::size_t>(a), random);
    const auto parity = oracle::crc(b, 0x1864CFB, 24);
    b.insert(b.end(), parity.begin(), parity.end());
    if (wrong >= 0) {
      auto& parity_bit = b[static_cast<std::size_t>(a + wrong)];
      parity_bit = parity_bit == 0 ? 1 : 0;
    }
    bits_t coded;
    int r = 0;
    for (const auto& c : oracle::lte_code_blocks(b, oracle::lte_segment(a + 24, sizes()))) {
      bits_t bits;
      for (const int x : c) bits.push_back(x == 1 ? 1 : 0);
      const auto d = oracle::turbo_encode(bits, interleaver(static_cast<int>(bits.size())));
      oracle::lte_symbols d0(d.d0.begin(), d.d0.end()), d1(d.d1.begin(), d.d1.end()),
          d2(d.d2.begin(), d.d2.end());
      for (std::size_t k = 0; k < c.size(); k++)
        if (c[k] == oracle::lte_null) d0[k] = d1[k] = oracle::lte_null;
      for (const int e : oracle::lte_rate_match(d0, d1, d2, 0, oracle::lte_sent_bits(13048, 1, 2, 2, r), 0))
        coded.push_back(static_cast<std::uint8_t>(e));
      r++;
    }
    lte_transport_decoder decoder(config);
    decoder.combine(exec(), given(exec(), noise_free(coded, 5.f), 1), 0);
    const decoded d = decode(exec(), decoder, 1);
    EXPECT_EQ(d.block_ok, bits_t(2, 1));
    EXPECT_EQ(d.ok, wrong < 0 ? bits_t{1} : bits_t{0});
    EXPECT_TRUE(std::equal(d.bits.begin(), d.bits.end(), b.begin()));
  }
}

TEST(lte_transport_arguments, bad_ones_are_named) {
  const auto make = [](lte_transport_config c) {
    return blamed([&] { check(c); }, [&] { lte_transport_encoder e(c); });
  };
  for (const int a : {-5, 0, lte_most_transport_bits + 1})
    EXPECT_EQ(make({.transport_bits = a, .coded_bits = 100}), "transport_bits") << a;
  for (const int g : {-2, 0, 1, 101, (1 << 28) + 2})
    EXPECT_EQ(make({.transport_bits = 10, .coded_bits = g}), "coded_bits") << g;
  // Less than a symbol for each of two code blocks.
  EXPECT_EQ(make({.transport_bits = 6200, .coded_bits = 8, .modulation_order = 4, .layers = 2}),
            "coded_bits");
  EXPECT_EQ(make({.transport_bits = 6200, .coded_bits = 16, .modulation_order = 4, .layers = 2}), "");
  EXPECT_EQ(make({.transport_bits = 6200, .coded_bits = 1}), "coded_bits");
  for (const int qm : {-2, 0, 3, 12})
    EXPECT_EQ(make({.transport_bits = 10, .coded_bits = 120, .modulation_order = qm}), "modulation_order")
        << qm;
  for (const int layers : {-1, 0, 5})
    EXPECT_EQ(make({.transport_bits = 10, .coded_bits = 120, .layers = layers}), "layers") << layers;
  for (const int n_cb : {-1, 1})
    EXPECT_EQ(make({.transport_bits = 10, .coded_bits = 120, .soft_buffer = n_cb}), "soft_buffer") << n_cb;
  const lte_transport_config never{.transport_bits = 10, .coded_bits = 120, .turbo = {.iterations = 0}};
  EXPECT_EQ(blamed([&] { check(never); }, [&] { lte_transport_decoder d(never); }), "iterations");

  expect_bad_calls_are_named<lte_transport_encoder, lte_transport_decoder>();
}

// ---------------------------------------------------------------- HARQ in white Gaussian noise

TEST(lte_harq, the_same_bits_twice_gain_3_db) {
  expect_3_db_from_the_same_bits_twice<lte_transport_encoder, lte_transport_decoder>(lte_transport_config{
      .transport_bits = 600,
      .coded_bits = 1248,
      .turbo = {.algorithm = map_algorithm::max_log_map, .iterations = 6, .extrinsic_scale = 0.75f}});
}

TEST(lte_harq, other_bits_gain_more_than_the_same) {
  expect_more_from_other_bits<lte_transport_encoder, lte_transport_decoder>(lte_transport_config{
      .transport_bits = 600,
      .coded_bits = 832,  // rate 3/4
      .turbo = {.algorithm = map_algorithm::max_log_map, .iterations = 6, .extrinsic_scale = 0.75f}});
}

}  // namespace transport_test
}  // namespace wb

#undef SKIP_WITHOUT_REFDATA
