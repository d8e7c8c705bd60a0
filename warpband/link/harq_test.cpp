// Links that send LTE transport blocks with HARQ.
#include <algorithm>
#include <cmath>

#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {
namespace harq_test {

using namespace testing;

link_config transport_link(int transport_block_size, int resource_elements, int qam) {
  link_config c;
  c.code = code_config("lte-transport");
  if (transport_block_size != 0) testing::k_in(c.code) = transport_block_size;
  testing::sent_in(c.code).resource_elements = resource_elements;
  turbo_decoder_config& turbo = testing::turbo_decoder_in(c.code);
  turbo.algorithm = map_algorithm::max_log_map;
  turbo.extrinsic_scale = 0.75f;
  turbo.iterations = 4;
  turbo.early_stop = turbo_early_stop::crc;
  c.qam = qam;
  c.axis = snr_axis::snr_db;
  return c;
}

/// In channels of all kinds, each at an SNR that takes some blocks several transmissions.
struct link_at {
  link_config link;
  double snr_db;
};
std::vector<link_at> links() {
  std::vector<link_at> list;
  list.push_back({transport_link(200, 150, 4), -0.5});
  link_config block = transport_link(104, 60, 16);
  block.channel = rayleigh_config{fading_type::block};
  block.antennas = single_antenna{demap_algorithm::exact};
  list.push_back({block, 8});
  link_config line = transport_link(300, 157, 16);  // fills no whole OFDM symbols
  line.channel = tdl_config{
      .profile = tdl_profile_named("eva"), .grid = {.subcarriers = 24, .symbols = 0}, .doppler_hz = 70};
  testing::sent_in(line.code).redundancy_versions = {0, 2};
  testing::turbo_decoder_in(line.code).precision = turbo_precision::int16;
  list.push_back({line, 8});
  link_config antennas = transport_link(400, 80, 16);
  antennas.channel = rayleigh_config{};
  antennas.antennas = detector_config{.type = "mmse", .streams = 2, .rx_antennas = 2, .llr_clip = {}};
  testing::sent_in(antennas.code).transmissions = 3;
  list.push_back({antennas, 14});
  return list;
}

class harq_on : public on_backend {};
WB_ON_ALL_BACKENDS(harq_on);

TEST_P(harq_on, without_noise_brings_the_rate_of_one_transmission) {
  std::vector<link_at> list = links();
  list.push_back({transport_link(6300, 4000, 4), 0});  // two code blocks
  for (auto& [link, snr_db] : list) {
    const double bits = testing::k_in(link.code),
                 elements = testing::sent_in(link.code).resource_elements.value();
    testing::turbo_decoder_in(link.code).precision = turbo_precision::float32;  // has room for LLRs of 100 dB
    link_chain chain(link, exec());
    const point_result p = run_point(chain, 100, {.frame_errors = 0, .max_frames = 20});
    EXPECT_EQ(p.counts.frames, 20u);
    EXPECT_EQ(p.counts.bit_errors, 0u);
    EXPECT_EQ(p.counts.frame_errors, 0u);
    for (int n = 1; n <= p.transmissions; n++) EXPECT_EQ(p.bler(n), 0);
    EXPECT_EQ(p.transmissions_sent(), 20u);
    EXPECT_EQ(p.mean_transmissions(), 1);
    EXPECT_EQ(p.throughput(), bits / elements);
    EXPECT_EQ(p.relative_throughput(), 1);
    EXPECT_EQ(p.resource_elements, static_cast<std::uint64_t>(elements));
  }
}

TEST_P(harq_on, brings_transport_blocks_of_nr) {
  link_config link = transport_link(3848, 1100, 16);  // two code blocks of base graph 2
  link.code = code_config("nr-dlsch",
                          {{"transport_block_size", 3848}, {"resource_elements", 1100}, {"base_graph", 2}});
  {
    link_chain chain(link, exec());
    const point_result p = run_point(chain, 60, {.frame_errors = 0, .max_frames = 12});
    EXPECT_EQ(p.counts.bit_errors, 0u);
    EXPECT_EQ(p.mean_transmissions(), 1);
    EXPECT_EQ(p.throughput(), 3848. / 1100);
    EXPECT_EQ(p.code_blocks, 2);
  }
  link_chain chain(link, exec());  // A / G is 0.87: the first fails, and what the second adds suffices
  const point_result p = run_point(chain, 9, {.frame_errors = 0, .max_frames = 24});
  EXPECT_EQ(p.bler(1), 1);
  EXPECT_EQ(p.bler(2), 0);
  EXPECT_EQ(p.mean_transmissions(), 2);
  // UL-SCH is coded as DL-SCH is: the same random numbers bring the same counts.
  link.code = code_config("nr-ulsch", link.code.settings);
  link_chain up(link, exec());
  expect_same(run_point(up, 9, {.frame_errors = 0, .max_frames = 24}).counts, p.counts);
}

/// A second subpacket brings other bits, or with Chase combining the same ones.
TEST_P(harq_on, brings_blocks_of_wimax) {
  link_config link = transport_link(200, 150, 4);
  link.code = code_config("ctc-harq", {{"transport_block_size", 464}, {"resource_elements", 300}});
  {
    link_chain chain(link, exec());
    const point_result p = run_point(chain, 60, {.frame_errors = 0, .max_frames = 12});
    EXPECT_EQ(p.counts.bit_errors, 0u);
    EXPECT_EQ(p.mean_transmissions(), 1);
    EXPECT_EQ(p.throughput(), 464. / 300);
    EXPECT_EQ(p.code_blocks, 1);
  }
  const auto second_fails = [&] {
    link_chain chain(link, exec());
    const point_result p = run_point(chain, 1, {.frame_errors = 0, .max_frames = 60});
    EXPECT_EQ(p.bler(1), 1);
    return p.bler(2);
  };
  const double incremental = second_fails();
  testing::sent_in(link.code).redundancy_versions = {0};
  EXPECT_LT(incremental + 0.3, second_fails());
}

TEST(harq, of_5g_nr_has_its_sizes) {
  link_config link = transport_link(0, 3600, 16);
  link.code = code_config(
      "nr-dlsch", {{"transport_block_size", 6912}, {"resource_elements", 3600}, {"target_rate", 0.2}});
  const code_config down = completed(link).code;
  EXPECT_EQ(sizes_of(down).n, 14400u);
  EXPECT_EQ(harq_of(down).code_blocks, 2);
  EXPECT_EQ(
      nr_transport_plan(nr_transport_of(down.get<nr_transport_settings>())).segmentation().block.base_graph,
      2);
  link.code = code_config("nr-ulsch", {{"resource_elements", 3600}});
  EXPECT_EQ(sizes_of(completed(link).code).k, 8424u);
}

TEST_P(harq_on, noise_that_rounds_to_zero_acknowledges_nothing) {
  link_config link = transport_link(500, 750, 4);
  testing::turbo_decoder_in(link.code).precision = turbo_precision::int16;
  testing::turbo_decoder_in(link.code).llr_steps = 8;
  link_chain chain(link, exec());
  const point_result p = run_point(chain, -45, {.frame_errors = 0, .max_frames = 20});
  EXPECT_EQ(p.counts.frame_errors, 20u);
  EXPECT_EQ(p.counts.erased_frames, 20u);
  EXPECT_EQ(p.counts.undetected_errors, 0u);
  for (int n = 1; n <= p.transmissions; n++) EXPECT_EQ(p.bler(n), 1);
}

TEST(harq, is_what_the_parts_of_the_library_give) {
  const auto opened = open_scalar();
  executor& exec = *opened;
  const link_config link = completed(links()[0].link);
  const double snr_db = 0;
  const std::size_t frames = 24, g = 300, symbols = 150, a = 200;
  link_chain chain(link, exec);
  const frame_counts counts = chain.run(7, frames, snr_db);

  auto bits = exec.make<std::uint8_t>(frames, a), coded = exec.make<std::uint8_t>(frames, g);
  auto y = exec.make<std::complex<float>>(frames * symbols, 1);
  auto llr = exec.make<float>(frames, g), noise_var = exec.make<float>(1, 1);
  auto decided = exec.make<std::uint8_t>(frames, a), ok = exec.make<std::uint8_t>(frames, 1);
  const float n0 = 1;
  exec.upload(noise_var.data(), &n0, sizeof n0);
  random_bits(exec, bits, static_cast<int>(a), {link.seed, 7, 0});
  lte_transport_config config{.transport_bits = 200, .coded_bits = 300, .modulation_order = 2};
  config.turbo = testing::turbo_decoder_in(link.code);
  lte_transport_encoder encoder(config);
  lte_transport_decoder decoder(config);
  const qam_mapper mapper(4);
  const demapper demap(4, demap_algorithm::max_log);
  std::vector<std::uint8_t> passed(frames), sent(frames);
  std::vector<std::int32_t> errors(frames);
  const std::vector<std::uint8_t> all_bits = exec.to_host(bits);
  const int versions[] = {0, 2, 3, 1};
  for (std::uint32_t n = 0; n < 4; n++) {
    encoder.run(exec, bits, versions[n], coded);
    mapper.run(exec, make_view<const std::uint8_t>(coded.data(), frames * symbols, 2), y);
    add_awgn(exec, y, y, n0, {link.seed, 7 * symbols, n << 20});
    demap.run(exec,
              {.channel = {}, .received = y, .noise_var = {noise_var.data(), 1, frames * symbols, 1, 0}},
              make_view(llr.data(), frames * symbols, 2));
    decoder.combine(exec, llr, versions[n]);
    decoder.decode(exec, {.bits = decided, .ok = ok});
    const auto passes = exec.to_host(ok), got = exec.to_host(decided);
    for (std::size_t i = 0; i < frames; i++) {
      if (passed[i] != 0) continue;
      passed[i] = passes[i];
      sent[i]++;
      errors[i] = 0;
      for (std::size_t b = i * a; b < (i + 1) * a; b++) errors[i] += all_bits[b] != got[b];
    }
  }
  EXPECT_EQ(counts.passed, passed);
  EXPECT_EQ(counts.transmissions, sent);
  EXPECT_EQ(counts.bit_errors, errors);
  EXPECT_GT(*std::max_element(sent.begin(), sent.end()), 1);
}

TEST(harq, with_one_transmission_is_the_first_of_several) {
  const auto exec = open_scalar();
  for (const auto& [link, snr_db] : links()) {
    link_config once = link;
    testing::sent_in(once.code).transmissions = 1;
    link_chain one(once, *exec), several(link, *exec);
    const stop_rule stop{.frame_errors = 0, .max_frames = 40};
    const point_result a = run_point(one, snr_db, stop), b = run_point(several, snr_db, stop);
    EXPECT_EQ(a.counts.block_errors[0], b.counts.block_errors[0]);
    EXPECT_EQ(a.fer(), b.bler(1));
    EXPECT_EQ(a.mean_transmissions(), 1);
    EXPECT_EQ(a.transmissions_sent(), 40u);
  }
}

TEST(harq, with_one_transmission_fails_as_often_as_the_turbo_code_alone) {
  const auto exec = all_backends().front().open(1);
  link_config transport = transport_link(232, 390, 4);  // all 3 (256 + 4) coded bits once
  testing::sent_in(transport.code).transmissions = 1;
  link_config turbo = transport;
  turbo.code = code_config("lte-turbo");
  testing::turbo_decoder_in(turbo.code) = testing::turbo_decoder_in(transport.code);
  testing::k_in(turbo.code) = 256;
  testing::crc_in(turbo.code) = crc24a;
  link_chain a(transport, *exec), b(turbo, *exec);
  const stop_rule stop{.frame_errors = 0, .max_frames = 400};
  const double p = run_point(a, -1.2, stop).fer(), q = run_point(b, -1.2, stop).fer();
  EXPECT_GT(p, 0.1);
  EXPECT_LT(p, 0.9);
  EXPECT_NEAR(p, q, 5 * std::sqrt((p * (1 - p) + q * (1 - q)) / 400));
}

TEST(harq, gives_each_transmission_a_channel_of_its_own) {
  // Twice the energy through the same fade would halve the outage of block fading; two fades leave a sixth of
  // 0.3.
  const auto exec = all_backends().front().open(1);
  link_config c = transport_link(104, 128, 4);
  c.channel = rayleigh_config{fading_type::block};
  testing::sent_in(c.code).redundancy_versions = {0};
  testing::sent_in(c.code).transmissions = 2;
  link_chain chain(c, *exec);
  const point_result p = run_point(chain, 5, {.frame_errors = 0, .max_frames = 400});
  EXPECT_GT(p.bler(1), 0.15);
  EXPECT_LT(p.bler(1), 0.5);
  EXPECT_LT(p.bler(2), 0.3 * p.bler(1));
}

TEST(harq, adds_up_block_by_block_until_the_rule_holds) {
  frame_counts batch;
  batch.bit_errors = {0, 3, 0, 5, 2};
  batch.iterations = {1, 8, 3, 8, 1};
  batch.erased = {0, 0, 0, 0, 0};
  batch.transmissions = {1, 3, 2, 3, 1};
  batch.passed = {1, 0, 1, 0, 1};  // the last one's CRC does not tell
  point_counts c;
  EXPECT_TRUE(add_frames(c, batch, {.frame_errors = 1, .max_frames = 100}));
  EXPECT_EQ(c.frames, 2u);
  c = {};
  EXPECT_FALSE(add_frames(c, batch, {.frame_errors = 0, .max_frames = 100}));
  EXPECT_EQ(c.frames, 5u);
  EXPECT_EQ(c.frame_errors, 3u);
  EXPECT_EQ(c.bit_errors, 10u);
  EXPECT_EQ(c.undetected_errors, 1u);
  EXPECT_EQ(c.block_errors, (std::array<std::uint64_t, most_transmissions>{3, 2, 2}));
  batch.bit_errors = {0};
  batch.transmissions = {3};
  batch.passed = {0};  // wrong in the bits of its CRC alone
  add_frames(c, batch, {.frame_errors = 0, .max_frames = 100});
  EXPECT_EQ(c.frame_errors, 4u);
}

TEST(harq, figures_of_a_point) {
  point_result p;
  p.bits_per_frame = 1000;
  p.coded = true;
  p.transmissions = 3;
  p.code_blocks = 2;
  p.resource_elements = 500;
  p.counts = {.frames = 100, .bit_errors = 9, .frame_errors = 2, .iterations = 1350};
  p.counts.block_errors = {30, 5, 1};
  p.counts.undetected_errors = 1;
  EXPECT_DOUBLE_EQ(p.bler(1), 0.3);
  EXPECT_DOUBLE_EQ(p.bler(3), 0.01);
  EXPECT_EQ(p.transmissions_sent(), 135u);
  EXPECT_DOUBLE_EQ(p.mean_transmissions(), 1.35);
  EXPECT_DOUBLE_EQ(*p.mean_iterations(), 5);
  EXPECT_DOUBLE_EQ(p.throughput(), 98 * 1000.0 / (135 * 500));
  EXPECT_DOUBLE_EQ(p.relative_throughput(), 98.0 / 135);
  const interval first = clopper_pearson(30, 100), sent = p.mean_transmissions_interval(),
                 bits = p.throughput_interval();
  EXPECT_EQ(p.bler_interval(1).low, first.low);
  EXPECT_EQ(p.bler_interval(1).high, first.high);
  EXPECT_LT(sent.low, 1 + first.low + 0.02);
  EXPECT_GT(sent.high, 1 + first.high + 0.06);
  EXPECT_LT(bits.low, p.throughput());
  EXPECT_GT(bits.high, p.throughput());
  EXPECT_NEAR(
      bits.high,
      2 * (1 - clopper_pearson(2, 100, 1 - 0.05 / 3).low) /
          (1 + clopper_pearson(30, 100, 1 - 0.05 / 3).low + clopper_pearson(5, 100, 1 - 0.05 / 3).low),
      1e-12);
  EXPECT_EQ(blamed([&] { p.bler(0); }), "n");
  EXPECT_EQ(blamed([&] { p.bler(4); }), "n");
  const point_result none;
  EXPECT_EQ(none.throughput(), 0);
  EXPECT_EQ(none.mean_transmissions(), 0);
  EXPECT_EQ(none.throughput_interval().high, 0);
}

TEST(harq, refuses_bad_settings) {
  const auto blames = [](auto change) {
    return blamed([&] {
      link_config c = transport_link(1000, 600, 16);
      change(c);
      completed(c);
    });
  };
  EXPECT_EQ(blames([](link_config&) {}), "");
  EXPECT_EQ(blames([](link_config& c) { testing::k_in(c.code) = -1; }), "transport_block_size");
  EXPECT_EQ(blames([](link_config& c) { testing::k_in(c.code) = (1 << 20) + 1; }), "transport_block_size");
  EXPECT_EQ(blames([](link_config& c) { testing::crc_in(c.code) = crc24a; }), "crc");
  const auto blames_transport = [&](auto change) {
    return blames([&](link_config& c) { change(testing::sent_in(c.code)); });
  };
  using settings = transport_settings;
  EXPECT_EQ(blames_transport([](settings& t) { t.resource_elements = 0; }), "resource_elements");
  EXPECT_EQ(blames_transport([](settings& t) { t.resource_elements = -1; }), "resource_elements");
  EXPECT_EQ(blames_transport([](settings& t) { t.resource_elements = 1 << 28; }), "resource_elements");
  EXPECT_EQ(blames_transport([](settings& t) { t.coded_bits = 2400; }), "coded_bits");  // one of the two
  EXPECT_EQ(blames_transport([](settings& t) { t.resource_elements.reset(), t.coded_bits = 2400; }), "");
  EXPECT_EQ(blames_transport([](settings& t) { t.resource_elements.reset(), t.coded_bits = 2402; }),
            "coded_bits");
  EXPECT_EQ(blames_transport([](settings& t) { t.transmissions = 0; }), "transmissions");
  EXPECT_EQ(blames_transport([](settings& t) { t.transmissions = 9; }), "transmissions");
  EXPECT_EQ(blames_transport([](settings& t) { t.redundancy_versions.clear(); }), "redundancy_versions");
  EXPECT_EQ(blames_transport([](settings& t) { t.redundancy_versions = {0, 4}; }), "redundancy_versions");
  EXPECT_EQ(blames_transport([](settings& t) { t.redundancy_versions.assign(9, 0); }), "redundancy_versions");
  EXPECT_EQ(blames_transport([](settings& t) { t.soft_buffer = -1; }), "soft_buffer");
  EXPECT_EQ(blames([](link_config& c) { testing::turbo_decoder_in(c.code).windows = 5000; }), "windows");
  EXPECT_EQ(blames([](link_config& c) { testing::turbo_decoder_in(c.code).iterations = 0; }), "iterations");
  EXPECT_EQ(blames([](link_config& c) {
              c.channel = rayleigh_config{};
              c.antennas = detector_config{.streams = 5, .rx_antennas = 5, .llr_clip = {}};
            }),
            "streams");
  // As many code blocks as resource elements at least.
  EXPECT_EQ(blamed([] { completed(transport_link(7000, 1, 4)); }), "resource_elements");
  const link_config c = completed(completed(transport_link(1000, 600, 16)));
  EXPECT_EQ(sizes_of(c.code).n, 2400u);
  EXPECT_EQ(resource_elements(c), 600u);
  EXPECT_DOUBLE_EQ(code_rate(transport_link(1000, 600, 16)), 1000.0 / 2400);
  EXPECT_EQ(testing::k_in(completed(transport_link(0, 4000, 4)).code), 6120);
}

}  // namespace harq_test
}  // namespace wb
