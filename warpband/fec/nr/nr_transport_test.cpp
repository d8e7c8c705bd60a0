// The 5G NR transport channels against vectors of other programs, the standard's text (oracle/nr_transport),
// limit cases, and themselves on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <oracle/nr_transport.hpp>
#include <tests/nr.hpp>
#include <warpband/fec/nr/tbs.hpp>
#include <warpband/fec/nr/transport.hpp>

namespace wb {
namespace nr_transport_test {

using namespace testing;

/// All of a codeword, as the oracle of the transport channel wants it.
std::vector<int> whole_codeword(executor& exec, int base_graph, const std::vector<int>& bits, int z) {
  const ldpc_code code = nr_ldpc(base_graph, z);
  auto coded = exec.make<std::uint8_t>(1, static_cast<std::size_t>(code.n()));
  ldpc_encoder(code).run(exec, given(exec, bits_t(bits.begin(), bits.end()), 1), coded);
  const bits_t word = exec.to_host(coded);
  return {word.begin(), word.end()};
}

bits_t encoded(executor& exec, const nr_transport_config& config, const bits_t& bits, std::size_t batch,
               int rv = 0, layout order = layout::row_major) {
  nr_transport_encoder encoder(config);
  auto coded = exec.make<std::uint8_t>(batch, static_cast<std::size_t>(config.coded_bits), order);
  encoder.run(exec, given(exec, bits, batch, order), rv, coded);
  return rows_of(exec, coded, order);
}

class nr_transport : public on_backend {};
WB_ON_ALL_BACKENDS(nr_transport);

TEST_P(nr_transport, equals_reference_vectors_and_comes_back) {
  const auto document = nr_vectors("nr_tb_chain.json");
  NR_SKIP_WITHOUT(document);
  int seen = 0;
  for (const auto& v : document.at("vectors")) {
    const bits_t sent = from_text(v.at("tb")), expected = from_text(v.at("out"));
    const nr_transport_config config{.transport_bits = static_cast<int>(sent.size()),
                                     .coded_bits = v.at("G"),
                                     .modulation_order = v.at("Qm"),
                                     .layers = v.at("layers"),
                                     .code_rate = v.at("target_rate_x1024").get<double>() / 1024,
                                     .scrambling = v.at("scrambled").get<bool>()
                                                       ? std::optional(v.at("c_init").get<std::int64_t>())
                                                       : std::nullopt};
    nr_transport_decoder decoder(config);
    const nr_segmentation& s = decoder.segmentation();
    EXPECT_EQ(s.blocks, v.at("C").get<int>());
    EXPECT_EQ(s.block.base_graph, v.at("bg").get<int>());
    EXPECT_EQ(s.block.k, v.at("Kprime").get<int>());
    EXPECT_EQ(s.block.z, v.at("Z").get<int>());
    for (int r = 0; r < s.blocks; r++)
      EXPECT_EQ(decoder.sent_bits(r), v.at("E_r").at(static_cast<std::size_t>(r)).get<int>());
    EXPECT_TRUE(encoded(exec(), config, sent, 1, v.at("rv")) == expected) << "vector " << v.at("id");
    decoder.combine(exec(), given(exec(), noise_free(expected, 4.f), 1), v.at("rv"));
    expect_right(decode(exec(), decoder, 1), sent, 1, static_cast<std::size_t>(s.blocks));
    seen++;
  }
  EXPECT_GE(seen, 10);
}

struct transport_case {
  int a, g, qm, layers, graph, n_ref;
  std::int64_t c_init;
  nr_transport_config config() const {
    return {.transport_bits = a,
            .coded_bits = g,
            .modulation_order = qm,
            .layers = layers,
            .base_graph = graph,
            .soft_buffer = n_ref != 0 ? std::optional(n_ref) : std::nullopt,
            .scrambling = c_init >= 0 ? std::optional(c_init) : std::nullopt};
  }
};
const transport_case transport_cases[] = {
    {1, 90, 2, 1, 2, 0, -1},         // repeated
    {24, 120, 6, 2, 2, 0, 77},       //
    {292, 640, 4, 1, 2, 450, -1},    // limited buffer
    {808, 900, 6, 1, 1, 0, 5},       // a high rate, 16 bits of CRC
    {3824, 6000, 10, 3, 1, 0, -1},   //
    {3848, 8000, 2, 1, 2, 4000, 9},  // two blocks of base graph 2 with a limited buffer
    {8448, 12000, 8, 1, 1, 0, 1},    // two of base graph 1, 24 bits of CRC
    {7704, 14406, 6, 1, 2, 0, 123},  // E of two sizes
};

TEST_P(nr_transport, encodes_as_the_standard_says) {
  std::mt19937_64 random(1);
  for (const auto& c : transport_cases) {
    const nr_transport_config config = c.config();
    nr_transport_encoder encoder(config);
    const auto& s = encoder.segmentation();
    int first = 0;
    for (int r = 0; r < s.blocks; r++) {
      EXPECT_EQ(encoder.sent_bits(r), oracle::nr_sent_bits(c.g, c.layers, c.qm, s.blocks, r));
      EXPECT_EQ(encoder.first_sent_bit(r), first);
      first += encoder.sent_bits(r);
    }
    EXPECT_EQ(first, c.g);
    const std::size_t a = static_cast<std::size_t>(c.a), batch = c.a < 1000 ? 17 : 2;
    const bits_t bits = random_bits_of(a * batch, random);
    for (int rv = 0; rv < 4; rv++) {
      if (c.a > 1000 && small_scale() && rv != 2) continue;
      bits_t expected;
      for (std::size_t b = 0; b < batch; b++) {
        const auto row = bits.begin() + static_cast<std::ptrdiff_t>(b * a);
        const bits_t one = oracle::nr_transport_encode(
            bits_t(row, row + c.a), {c.graph, c.g, c.qm, c.layers, c.n_ref, c.c_init}, rv, nr_lifting_sizes(),
            [&](const std::vector<int>& x, int z) { return whole_codeword(exec(), c.graph, x, z); });
        expected.insert(expected.end(), one.begin(), one.end());
      }
      bits_t dirty = bits;
      for (auto& x : dirty) x = static_cast<std::uint8_t>(x | (random() & 0xfe));  // the lowest bit counts
      for (const layout order : layouts)
        ASSERT_TRUE(encoded(exec(), config, dirty, batch, rv, order) == expected) << c.a << ", rv " << rv;
    }
  }
}

/// Of every bit of a transmission what is fed back to a detector: it points to the bit that was sent, also
/// where nothing was received of it, and does not count its own LLR.
TEST_P(nr_transport, feeds_back_what_others_say_of_a_bit) {
  std::mt19937_64 random(3);
  const auto scalar = open_reference();
  for (const auto& c : transport_cases) {
    const nr_transport_config config = c.config();
    const std::size_t batch = 2, g = static_cast<std::size_t>(c.g);
    const bits_t sent = random_bits_of(batch * static_cast<std::size_t>(c.a), random);
    const auto fed = [&](executor& on, llrs_t llrs, const llrs_t& first) {
      nr_transport_decoder decoder(config);
      decoder.combine(on, given(on, first, batch), 0);
      const auto llr = given(on, llrs, batch);
      decoder.combine(on, llr, 2);
      const auto blocks = static_cast<std::size_t>(decoder.segmentation().blocks);
      auto extrinsic = on.make<float>(batch * blocks, decoder.columns()), prior = on.make<float>(batch, g);
      decoder.decode(on, {.extrinsic = extrinsic});
      decoder.feed_back(on, extrinsic, llr, 2, prior);
      return on.to_host(prior);
    };
    const llrs_t first = noise_free(encoded(exec(), config, sent, batch, 0), 2.f);
    const bits_t coded = encoded(exec(), config, sent, batch, 2);
    llrs_t second = noise_free(coded, 2.f);
    for (std::size_t i = 0; i < second.size(); i += 5) second[i] = 0;
    const llrs_t prior = fed(exec(), second, first);
    for (std::size_t i = 0; i < prior.size(); i++)
      ASSERT_GT(coded[i] == 0 ? prior[i] : -prior[i], 0) << c.a << ", bit " << i;
    EXPECT_TRUE(prior == fed(*scalar, second, first)) << c.a;
  }
}

TEST_P(nr_transport, comes_back_through_every_order_of_redundancy_versions) {
  std::mt19937_64 random(2);
  for (const auto& c : transport_cases) {
    const nr_transport_config config = c.config();
    nr_transport_decoder decoder(config);
    const std::size_t batch = c.a > 1000 ? 2 : 3,
                      blocks = static_cast<std::size_t>(decoder.segmentation().blocks);
    const bits_t sent = random_bits_of(static_cast<std::size_t>(c.a) * batch, random);
    std::vector<array<float>> llr;
    for (int rv = 0; rv < 4; rv++)
      llr.push_back(given(exec(), noise_free(encoded(exec(), config, sent, batch, rv), 4.f), batch));
    llrs_t expected;
    for (const std::vector<int>& order : {std::vector{0, 1, 2, 3}, std::vector{0, 2, 3, 1},
                                          std::vector{3, 0, 2, 1}, std::vector{2, 1, 3, 0}}) {
      decoder.reset();
      EXPECT_EQ(decoder.transmissions(), 0);
      int rows = 0;
      for (const int rv : order) {
        decoder.combine(exec(), llr[static_cast<std::size_t>(rv)], rv);
        rows = std::max(rows, decoder.rows(rv));
        EXPECT_EQ(decoder.rows_needed(), rows);
        if (rv == 0 && order[0] == 0) expect_right(decode(exec(), decoder, batch), sent, batch, blocks);
      }
      EXPECT_EQ(decoder.transmissions(), 4);
      const llrs_t soft = exec().to_host(decoder.soft());
      if (expected.empty()) expected = soft;
      EXPECT_TRUE(soft == expected) << c.a;
      expect_right(decode(exec(), decoder, batch), sent, batch, blocks);
      ASSERT_FALSE(HasFailure()) << "A " << c.a;
    }
  }
}

TEST_P(nr_transport, comes_back_for_sizes_of_every_table) {
  std::mt19937_64 random(3);
  const bool slow = GetParam().name == "scalar" || small_scale();
  std::set<int> seen;
  for (int i = 0; i < (slow ? 12 : 60); i++) {
    const int table = 1 + i % 4;
    const nr_mcs mcs = nr_mcs_of(table, static_cast<int>(random() % 27));
    const int layers = 1 + static_cast<int>(random() % 4);
    const auto max_blocks = static_cast<unsigned>(i % 10 == 0 ? (slow ? 20 : 60) : 8);
    const int elements = nr_resource_elements({.resource_blocks = 1 + static_cast<int>(random() % max_blocks),
                                               .symbols = 2 + static_cast<int>(random() % 13),
                                               .layers = layers});
    const nr_transport_config config{.transport_bits = nr_transport_block_size(elements, mcs, layers),
                                     .coded_bits = elements * mcs.modulation_order * layers,
                                     .modulation_order = mcs.modulation_order,
                                     .layers = layers,
                                     .code_rate = mcs.code_rate(),
                                     .scrambling = i};
    nr_transport_decoder decoder(config);
    const bits_t sent = random_bits_of(static_cast<std::size_t>(config.transport_bits), random);
    decoder.combine(exec(), given(exec(), noise_free(encoded(exec(), config, sent, 1), 6.f), 1), 0);
    expect_right(decode(exec(), decoder, 1), sent, 1,
                 static_cast<std::size_t>(decoder.segmentation().blocks));
    ASSERT_FALSE(HasFailure()) << "A " << config.transport_bits << ", G " << config.coded_bits;
    seen.insert(config.transport_bits);
  }
  EXPECT_GT(seen.size(), slow ? 8U : 30U);
}

TEST_P(nr_transport, gives_the_same_bits_as_scalar_code) {
  const auto reference = open_reference();
  std::mt19937_64 random(4);
  std::normal_distribution<float> normal;
  for (const auto precision : {ldpc_precision::float32, ldpc_precision::float16, ldpc_precision::int8})
    for (const int a : {40, 640, 3848}) {
      if (a == 3848 && (small_scale() || precision == ldpc_precision::float16)) continue;
      const nr_transport_config config{.transport_bits = a,
                                       .coded_bits = a * 2 / 8 * 8,
                                       .modulation_order = 4,
                                       .base_graph = 2,
                                       .scrambling = 321,
                                       .ldpc = {.iterations = 4, .precision = precision}};
      const std::size_t g = static_cast<std::size_t>(config.coded_bits);
      nr_transport_decoder here(config), on_reference(config);
      for (const std::size_t batch : {1, 17}) {
        if (a > 500 && batch > 1) continue;
        const bits_t sent = random_bits_of(static_cast<std::size_t>(a) * batch, random);
        here.reset();
        on_reference.reset();
        for (const int rv : {0, 2}) {
          llrs_t llr = noise_free(encoded(*reference, config, sent, batch, rv), 1.f);
          for (auto& x : llr) x = 2.4f * (x + 0.9f * normal(random));
          if (rv == 2) llr[g / 2] = std::nanf("");
          here.combine(exec(), given(exec(), llr, batch, layouts[batch % 2]), rv);
          on_reference.combine(*reference, given(*reference, llr, batch), rv);
          const decoded got = decode(exec(), here, batch, layouts[batch % 2]),
                        expected = decode(*reference, on_reference, batch);
          EXPECT_TRUE(got == expected) << "A " << a << ", batch " << batch << ", rv " << rv;
          EXPECT_TRUE(exec().to_host(here.soft()) == reference->to_host(on_reference.soft()));
        }
      }
    }
}

/// A stop by CRC beside checks: the same bits and status after no more iterations, on every backend.
TEST_P(nr_transport, a_crc_stops_no_later_than_checks) {
  const auto reference = open_reference();
  std::mt19937_64 random(10);
  std::normal_distribution<float> normal;
  const bool slow = GetParam().name == "scalar" || small_scale();
  int sooner = 0;
  for (const auto& [a, graph, precision, schedule] :
       {std::tuple{640, 2, ldpc_precision::float32, ldpc_schedule::layered},  // CRC-16
        {3824, 1, ldpc_precision::int8, ldpc_schedule::layered},
        {640, 2, ldpc_precision::float16, ldpc_schedule::flooding},
        {3904, 1, ldpc_precision::float32, ldpc_schedule::flooding},  // CRC-24A
        {7704, 2, ldpc_precision::int8, ldpc_schedule::layered}}) {   // CRC-24B of each block
    if (slow && a > 3850) continue;
    nr_transport_config config{.transport_bits = a,
                               .coded_bits = 2 * a / 8 * 8,
                               .base_graph = graph,
                               .ldpc = {.iterations = 12, .schedule = schedule, .precision = precision}};
    const std::size_t batch = a > 1000 ? 3 : 9, g = static_cast<std::size_t>(config.coded_bits);
    bits_t sent = random_bits_of(batch * static_cast<std::size_t>(a), random);
    std::fill_n(sent.begin(), a, std::uint8_t{0});  // zeros have every CRC
    llrs_t llr = noise_free(encoded(*reference, config, sent, batch), 1.f);
    for (auto& x : llr) x = 2.5f * (x + 0.8f * normal(random));
    llr[g] = std::nanf("");
    std::fill_n(llr.begin() + static_cast<std::ptrdiff_t>(2 * g), g, 0.f);
    decoded by[2];
    for (const bool crc : {false, true}) {
      config.ldpc.early_stop = crc ? ldpc_early_stop::crc : ldpc_early_stop::syndrome;
      nr_transport_decoder here(config), on_reference(config);
      here.combine(exec(), given(exec(), llr, batch), 0);
      by[crc] = decode(exec(), here, batch);
      on_reference.combine(*reference, given(*reference, llr, batch), 0);
      EXPECT_TRUE(by[crc] == decode(*reference, on_reference, batch)) << a << ", crc " << crc;
    }
    EXPECT_EQ(by[1].bits, by[0].bits) << a;
    EXPECT_EQ(by[1].ok, by[0].ok) << a;
    EXPECT_EQ(by[1].block_ok, by[0].block_ok) << a;
    EXPECT_EQ(by[1].status, by[0].status) << a;
    EXPECT_EQ(by[1].ok[2], 0);
    EXPECT_GE(std::count(by[1].ok.begin(), by[1].ok.end(), 1), 1) << a;
    for (std::size_t i = 0; i < by[1].iterations.size(); i++) {
      EXPECT_LE(by[1].iterations[i], by[0].iterations[i]) << a;
      sooner += by[1].iterations[i] < by[0].iterations[i] ? 1 : 0;
    }
  }
  EXPECT_GT(sooner, 0);
}

TEST_P(nr_transport, rows_that_tell_nothing_change_no_decision) {
  // With all 46 rows decoded by hand from the soft buffer.
  const nr_transport_config config{
      .transport_bits = 4224, .coded_bits = 5600, .base_graph = 1, .ldpc = {.iterations = 8}};
  nr_transport_decoder decoder(config);
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  const bits_t sent = random_bits_of(4224, random);
  llrs_t llr = noise_free(encoded(exec(), config, sent, 1), 1.f);
  for (auto& x : llr) x = 8.f * (x + 0.45f * normal(random));
  decoder.combine(exec(), given(exec(), llr, 1), 0);
  EXPECT_LT(decoder.rows_needed(), 14);
  const decoded d = decode(exec(), decoder, 1);
  expect_right(d, sent, 1, 1);
  const nr_code_block& b = decoder.segmentation().block;
  auto bits = exec().make<std::uint8_t>(1, static_cast<std::size_t>(b.padded()));
  ldpc_decoder(b.code(), config.ldpc).run(exec(), decoder.soft(), {.bits = bits});
  const bits_t decided = exec().to_host(bits);
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), decided.begin()));
}

TEST_P(nr_transport, what_cancels_out_is_nothing_received) {
  const nr_transport_config config{.transport_bits = 304, .coded_bits = 900};
  nr_transport_decoder decoder(config);
  const llrs_t llr(900, 2.f), opposite(900, -2.f);  // of the transport block of zeros, whose CRC is right
  decoder.combine(exec(), given(exec(), llr, 1), 0);
  EXPECT_EQ(decode(exec(), decoder, 1).ok, bits_t{1});
  decoder.combine(exec(), given(exec(), opposite, 1), 0);
  EXPECT_EQ(decode(exec(), decoder, 1).ok, bits_t{0});
  decoder.combine(exec(), given(exec(), llr, 1), 0);
  EXPECT_EQ(decode(exec(), decoder, 1).ok, bits_t{1});
}

TEST_P(nr_transport, nothing_received_is_never_ok) {
  for (const int qm : {2, 4, 8}) {
    const nr_transport_config config{
        .transport_bits = 304, .coded_bits = 960, .modulation_order = qm, .scrambling = 99};
    nr_transport_decoder decoder(config);
    std::mt19937_64 random(6);
    std::normal_distribution<float> normal;
    const std::size_t batch = 8;
    llrs_t llr(960 * batch, 0.f);
    for (std::size_t i = 960; i < llr.size(); i++) llr[i] = normal(random);  // noise but for the first
    decoder.combine(exec(), given(exec(), llr, batch), 0);
    const decoded d = decode(exec(), decoder, batch);
    EXPECT_EQ(d.ok, bits_t(batch, 0));
    EXPECT_EQ(d.status[0], status_erased | status_insufficient);
  }
}

TEST_P(nr_transport, says_which_code_block_failed) {
  const int a = 16896 - 24 + 8;  // three blocks of base graph 1
  const nr_transport_config config{.transport_bits = a + 16, .coded_bits = 3 * 9000, .base_graph = 1};
  nr_transport_decoder decoder(config);
  ASSERT_EQ(decoder.segmentation().blocks, 3);
  std::mt19937_64 random(7);
  const std::size_t batch = 4, g = 27000;
  const auto length = static_cast<std::ptrdiff_t>(config.transport_bits);
  const bits_t sent = random_bits_of(static_cast<std::size_t>(length) * batch, random);
  const llrs_t good = noise_free(encoded(exec(), config, sent, batch), 3.f);
  llrs_t llr = good;
  for (std::size_t i = 0; i < 9000; i++) {
    llr[1 * g + 9000 + i] = random() % 2 == 0 ? 3.f : -3.f;  // rubbish
    llr[3 * g + i] = 0.f;                                    // nothing
  }
  llr[2 * g + 26999] = std::nanf("");
  llr[2 * g] = -std::numeric_limits<float>::infinity();
  decoder.combine(exec(), given(exec(), llr, batch), 0);
  const decoded d = decode(exec(), decoder, batch);
  EXPECT_EQ(d.ok, (bits_t{1, 0, 0, 0}));
  EXPECT_EQ(d.block_ok, (bits_t{1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1}));
  constexpr std::uint8_t insufficient = status_erased | status_insufficient;
  EXPECT_EQ(d.status, (bits_t{0, 0, insufficient, insufficient}));
  const std::ptrdiff_t payload = decoder.segmentation().payload;
  for (std::ptrdiff_t b = 0; b < 4; b++)
    for (std::ptrdiff_t r = 0; r < 3; r++) {
      const std::ptrdiff_t first = b * length + r * payload, n = std::min(payload, length - r * payload);
      const bits_t got(d.bits.begin() + first, d.bits.begin() + first + n);
      if (d.block_ok[static_cast<std::size_t>(b * 3 + r)] != 0) {
        EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin() + first)) << b << ", " << r;
      } else if (b != 1) {  // erased or nothing: zeros
        EXPECT_EQ(got, bits_t(got.size(), 0)) << b << ", " << r;
      }
    }
  // Another transmission makes up for what the first lacked; that something was left out stays to be seen.
  decoder.combine(exec(), given(exec(), good, batch), 0);
  decoder.combine(exec(), given(exec(), good, batch), 0);
  const decoded then = decode(exec(), decoder, batch);
  EXPECT_TRUE(then.bits == sent);
  EXPECT_EQ(then.ok, bits_t(batch, 1));
  EXPECT_EQ(then.status, (bits_t{0, 0, status_erased, 0}));
  decoder.reset();
  decoder.combine(exec(), given(exec(), good, batch), 0);
  expect_right(decode(exec(), decoder, batch), sent, batch, 3);
}

/// The parity of the transport block covers what those of code blocks cannot: blocks of two transport blocks.
TEST_P(nr_transport, a_wrong_crc_of_the_transport_block_is_seen_behind_right_ones_of_its_code_blocks) {
  const nr_transport_config config{.transport_bits = 8448, .coded_bits = 24000, .base_graph = 1};
  std::mt19937_64 random(8);
  const bits_t one = random_bits_of(8448, random), other = random_bits_of(8448, random);
  llrs_t llr = noise_free(encoded(exec(), config, one, 1), 5.f);
  const llrs_t second = noise_free(encoded(exec(), config, other, 1), 5.f);
  std::copy(second.begin() + 12000, second.end(), llr.begin() + 12000);
  nr_transport_decoder decoder(config);
  decoder.combine(exec(), given(exec(), llr, 1), 0);
  const decoded d = decode(exec(), decoder, 1);
  EXPECT_EQ(d.block_ok, bits_t(2, 1));
  EXPECT_EQ(d.ok, bits_t{0});
}

TEST_P(nr_transport, threads_change_nothing_and_every_output_can_be_left_out) {
  const nr_transport_config config{.transport_bits = 640, .coded_bits = 1600};
  std::mt19937_64 random(9);
  const bits_t sent = random_bits_of(640 * 5, random);
  const llrs_t llr = noise_free(encoded(exec(), config, sent, 5), 5.f);
  for (const int threads : {1, 3}) {
    const auto device = GetParam().open(threads);
    nr_transport_decoder decoder(config);
    decoder.combine(*device, given(*device, llr, 5), 0);
    const float* kept = decoder.soft().data();
    decoder.decode(*device, {});
    auto ok = device->make<std::uint8_t>(5, 1);
    decoder.decode(*device, {.ok = ok});
    EXPECT_EQ(device->to_host(ok), bits_t(5, 1));
    const decoded d = decode(*device, decoder, 5);
    expect_right(d, sent, 5, 1);
    EXPECT_EQ(d.iterations, std::vector<std::int32_t>(5, 1));  // all checks held at once
    decoder.reset();
    decoder.combine(*device, given(*device, llr, 5), 0);
    EXPECT_EQ(decoder.soft().data(), kept);
    decoder.reset();
    decoder.combine(*device, device->make<float>(0, 1600), 0);  // an empty batch
    EXPECT_TRUE(decode(*device, decoder, 0).ok.empty());
  }
}

TEST(nr_transport_arguments, bad_ones_are_named) {
  const auto make = [](nr_transport_config c) {
    return blamed([&] { check(c); }, [&] { nr_transport_encoder e(c); });
  };
  for (const int a : {-5, 0, nr_most_transport_bits + 1})
    EXPECT_EQ(make({.transport_bits = a, .coded_bits = 100}), "transport_bits") << a;
  EXPECT_EQ(make({.transport_bits = 8425, .coded_bits = 20000, .base_graph = 1}), "transport_bits");
  for (const int g : {-2, 0, 1, 101, (1 << 28) + 2})
    EXPECT_EQ(make({.transport_bits = 10, .coded_bits = g}), "coded_bits") << g;
  EXPECT_EQ(make({.transport_bits = 8448, .coded_bits = 8, .modulation_order = 4, .layers = 2}),
            "coded_bits");
  EXPECT_EQ(make({.transport_bits = 8448, .coded_bits = 16, .modulation_order = 4, .layers = 2}), "");
  for (const int qm : {-2, 0, 3, 12})
    EXPECT_EQ(make({.transport_bits = 10, .coded_bits = 120, .modulation_order = qm}), "modulation_order");
  for (const int layers : {-1, 0, 5})
    EXPECT_EQ(make({.transport_bits = 10, .coded_bits = 120, .layers = layers}), "layers");
  for (const int graph : {-1, 3})
    EXPECT_EQ(make({.transport_bits = 10, .coded_bits = 120, .base_graph = graph}), "base_graph");
  for (const double rate : {-0.1, 1.1})
    EXPECT_EQ(make({.transport_bits = 10, .coded_bits = 120, .code_rate = rate}), "code_rate");
  EXPECT_EQ(make({.transport_bits = 10, .coded_bits = 120, .soft_buffer = -1}), "soft_buffer");
  for (const std::int64_t c_init : {std::int64_t{-2}, std::int64_t{1} << 31})
    EXPECT_EQ(make({.transport_bits = 10, .coded_bits = 120, .scrambling = c_init}), "scrambling");
  const nr_transport_config never{.transport_bits = 10, .coded_bits = 120, .ldpc = {.iterations = 0}};
  EXPECT_EQ(blamed([&] { check(never); }, [&] { nr_transport_decoder d(never); }), "iterations");

  expect_bad_calls_are_named<nr_transport_encoder, nr_transport_decoder>();
  const nr_transport_encoder encoder({.transport_bits = 10, .coded_bits = 120});
  for (const int rv : {-1, 4}) EXPECT_EQ(blamed([&] { (void)encoder.rows(rv); }), "rv");
}

// ---------------------------------------------------------------- HARQ in white Gaussian noise

TEST(nr_harq, the_same_bits_twice_gain_3_db) {
  expect_3_db_from_the_same_bits_twice<nr_transport_encoder, nr_transport_decoder>(
      nr_transport_config{.transport_bits = 608, .coded_bits = 1248, .base_graph = 2});
}

TEST(nr_harq, other_bits_gain_more_than_the_same) {
  expect_more_from_other_bits<nr_transport_encoder, nr_transport_decoder>(
      nr_transport_config{.transport_bits = 608, .coded_bits = 832, .base_graph = 2});
}

}  // namespace nr_transport_test
}  // namespace wb
