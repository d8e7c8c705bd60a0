// Links that send LTE transport blocks with HARQ.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include <tests/on_backends.hpp>
#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/source/source.hpp>
#include <warpband/modem/demap/demap.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {
namespace {

using testing::blamed;
using testing::open_reference;
using testing::open_scalar;

link_config transport_link(int transport_block_size, int resource_elements, int qam) {
  link_config c;
  c.code.type = code_type::lte_transport;
  c.code.k = transport_block_size;
  c.code.transport.resource_elements = resource_elements;
  turbo_decoder_config& turbo = c.code.turbo.decoder;
  turbo.algorithm = map_algorithm::max_log_map;
  turbo.extrinsic_scale = 0.75f;
  turbo.iterations = 4;
  turbo.stop = early_stop::crc;
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
  std::vector<link_at> all;
  all.push_back({transport_link(200, 150, 4), -0.5});
  link_config block = transport_link(104, 60, 16);
  block.channel = rayleigh_config{fading_type::block};
  block.antennas = single_antenna{demap_algorithm::exact};
  all.push_back({block, 8});
  link_config line = transport_link(300, 157, 16);  // fills no whole OFDM symbols
  line.channel = tdl_config{
      .profile = tdl_profile_named("eva"), .grid = {.subcarriers = 24, .symbols = 0}, .doppler_hz = 70};
  line.code.transport.redundancy_versions = {0, 2};
  line.code.turbo.decoder.precision = turbo_precision::int16;
  all.push_back({line, 8});
  link_config antennas = transport_link(400, 80, 16);
  antennas.channel = rayleigh_config{};
  antennas.antennas =
      detector_config{.type = detector_type::mmse, .streams = 2, .rx_antennas = 2, .llr_clip = {}};
  antennas.code.transport.transmissions = 3;
  all.push_back({antennas, 14});
  return all;
}

void expect_same(const point_counts& a, const point_counts& b) {
  EXPECT_EQ(a.frames, b.frames);
  EXPECT_EQ(a.bit_errors, b.bit_errors);
  EXPECT_EQ(a.frame_errors, b.frame_errors);
  EXPECT_EQ(a.erased_frames, b.erased_frames);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.erased_uses, b.erased_uses);
  EXPECT_EQ(a.block_errors, b.block_errors);
  EXPECT_EQ(a.undetected_errors, b.undetected_errors);
}

class harq_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(harq_on);

TEST_P(harq_on, without_noise_brings_the_rate_of_one_transmission) {
  std::vector<link_at> all = links();
  all.push_back({transport_link(6300, 4000, 4), 0});  // two code blocks
  for (auto& [link, snr_db] : all) {
    const double bits = link.code.k, elements = link.code.transport.resource_elements;
    link.code.turbo.decoder.precision = turbo_precision::float32;  // has room for LLRs of 100 dB
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

TEST_P(harq_on, counts_do_not_depend_on_backend_threads_or_batch) {
  const auto reference = open_reference();
  const stop_rule stop{.frame_errors = 0, .max_frames = 37};
  for (const auto& [link, snr_db] : links()) {
    link_chain alone(link, *reference, 1);
    const point_result expected = run_point(alone, snr_db, stop);
    SCOPED_TRACE(std::string(name_of(type_of(link.channel))) + ", BLER after one " +
                 std::to_string(expected.bler(1)));
    EXPECT_LT(expected.bler(2), expected.bler(1));
    std::vector<double> transitions;  // between blocks that need n transmissions and those that need more
    for (int n = 1; n <= expected.transmissions; n++)
      if (expected.bler(n) > 0 && expected.bler(n) < 1) transitions.push_back(expected.bler(n));
    EXPECT_FALSE(transitions.empty());
    for (const int threads : {1, 2})
      for (const std::size_t batch : {std::size_t{9}, SIZE_MAX}) {
        const auto exec = GetParam().open(threads);
        link_chain chain(link, *exec, batch);
        expect_same(run_point(chain, snr_db, stop).counts, expected.counts);
      }
  }
}

TEST_P(harq_on, noise_that_rounds_to_zero_acknowledges_nothing) {
  link_config link = transport_link(500, 750, 4);
  link.code.turbo.decoder.precision = turbo_precision::int16;
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

  auto bits = exec.make<std::uint8_t>(a, frames), coded = exec.make<std::uint8_t>(g, frames);
  auto y = exec.make<std::complex<float>>(1, frames * symbols);
  auto llr = exec.make<float>(g, frames), noise_var = exec.make<float>(1, 1);
  auto decided = exec.make<std::uint8_t>(a, frames), ok = exec.make<std::uint8_t>(1, frames);
  const float n0 = 1;
  exec.upload(noise_var.data(), &n0, sizeof n0);
  random_bits(exec, bits, static_cast<int>(a), {link.seed, 7, 0});
  lte_transport_config config{.transport_bits = 200, .coded_bits = 300, .modulation_order = 2};
  config.turbo = link.code.turbo.decoder;
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
    mapper.run(exec, make_view<const std::uint8_t>(coded.data(), 2, frames * symbols), y);
    add_awgn(exec, y, y, n0, {link.seed, 7 * symbols, n << 20});
    demap.run(exec,
              {.received = y, .channel = {}, .noise_var = {noise_var.data(), 1, frames * symbols, 1, 0}},
              make_view(llr.data(), 2, frames * symbols));
    decoder.combine(exec, llr, versions[n]);
    decoder.decode(exec, {.bits = decided, .ok = ok});
    const auto now = exec.to_host(ok), got = exec.to_host(decided);
    for (std::size_t i = 0; i < frames; i++) {
      if (passed[i] != 0) continue;
      passed[i] = now[i];
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
    once.code.transport.transmissions = 1;
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
  const auto exec = testing::all_backends().front().open(1);
  link_config transport = transport_link(232, 390, 4);  // all 3 (256 + 4) coded bits once
  transport.code.transport.transmissions = 1;
  link_config turbo = transport;
  turbo.code.type = code_type::lte_turbo;
  turbo.code.k = 256;
  turbo.code.crc = crc24a;
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
  const auto exec = testing::all_backends().front().open(1);
  link_config c = transport_link(104, 128, 4);
  c.channel = rayleigh_config{fading_type::block};
  c.code.transport.redundancy_versions = {0};
  c.code.transport.transmissions = 2;
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
  EXPECT_EQ(blames([](link_config& c) { c.code.k = -1; }), "transport_block_size");
  EXPECT_EQ(blames([](link_config& c) { c.code.k = (1 << 20) + 1; }), "transport_block_size");
  EXPECT_EQ(blames([](link_config& c) { c.code.crc = crc24a; }), "crc");
  const auto blames_transport = [&](auto change) {
    return blames([&](link_config& c) { change(c.code.transport); });
  };
  using settings = lte_transport_settings;
  EXPECT_EQ(blames_transport([](settings& t) { t.resource_elements = 0; }), "resource_elements");
  EXPECT_EQ(blames_transport([](settings& t) { t.resource_elements = -1; }), "resource_elements");
  EXPECT_EQ(blames_transport([](settings& t) { t.resource_elements = 1 << 28; }), "resource_elements");
  EXPECT_EQ(blames_transport([](settings& t) { t.coded_bits = 2400; }), "coded_bits");  // one of the two
  EXPECT_EQ(blames_transport([](settings& t) { t.resource_elements = 0, t.coded_bits = 2400; }), "");
  EXPECT_EQ(blames_transport([](settings& t) { t.resource_elements = 0, t.coded_bits = 2402; }),
            "coded_bits");
  EXPECT_EQ(blames_transport([](settings& t) { t.transmissions = 0; }), "transmissions");
  EXPECT_EQ(blames_transport([](settings& t) { t.transmissions = 9; }), "transmissions");
  EXPECT_EQ(blames_transport([](settings& t) { t.redundancy_versions.clear(); }), "redundancy_versions");
  EXPECT_EQ(blames_transport([](settings& t) { t.redundancy_versions = {0, 4}; }), "redundancy_versions");
  EXPECT_EQ(blames_transport([](settings& t) { t.redundancy_versions.assign(9, 0); }), "redundancy_versions");
  EXPECT_EQ(blames_transport([](settings& t) { t.soft_buffer = -1; }), "soft_buffer");
  EXPECT_EQ(blames([](link_config& c) { c.code.turbo.decoder.windows = 5000; }), "windows");
  EXPECT_EQ(blames([](link_config& c) { c.code.turbo.decoder.iterations = 0; }), "iterations");
  EXPECT_EQ(blames([](link_config& c) {
              c.channel = rayleigh_config{};
              c.antennas = detector_config{.streams = 5, .rx_antennas = 5, .llr_clip = {}};
            }),
            "streams");
  EXPECT_EQ(blamed([] { make_codec(transport_link(1000, 600, 4).code); }), "code.type");
  // As many code blocks as resource elements at least.
  EXPECT_EQ(blamed([] { completed(transport_link(7000, 1, 4)); }), "resource_elements");
  const link_config c = completed(completed(transport_link(1000, 600, 16)));
  EXPECT_EQ(sizes_of(c.code).n, 2400u);
  EXPECT_EQ(resource_elements(c), 600u);
  EXPECT_DOUBLE_EQ(code_rate(transport_link(1000, 600, 16)), 1000.0 / 2400);
  EXPECT_EQ(completed(transport_link(0, 4000, 4)).code.k, 6120);
}

const std::string text_of_scenario = R"(
title = "HARQ"
code = { type = "lte-transport", transport_block_size = 200, resource_elements = 160, transmissions = 3 }
decoder = { algorithm = "max-log-map", iterations = 4, extrinsic_scale = 0.75 }
modem.modulation = "qpsk"
sweep.snr_db = [0.0, 1.5]
stop = { frame_errors = 6, max_frames = 50 }
[[curve]]
label = "incremental"
[[curve]]
label = "Chase"
code = { redundancy_versions = [0], soft_buffer = 500, coded_bits = 320 }
decoder = { precision = "int16", early_stop = "none" }
[[curve]]
label = "no HARQ"
code = { type = "lte-turbo", k = 256 }
)";

std::string refusal(const std::string& text) {
  try {
    parse_scenario(text, "s.toml");
  } catch (const file_error& e) {
    return e.what();
  }
  return "not refused";
}

TEST(harq, of_a_scenario) {
  const scenario s = parse_scenario(text_of_scenario, "s.toml");
  ASSERT_EQ(s.curves.size(), 3u);
  const code_config a = completed(s.curves[0].link).code, b = completed(s.curves[1].link).code;
  EXPECT_EQ(a.type, code_type::lte_transport);
  EXPECT_EQ(a.k, 200);
  EXPECT_EQ(sizes_of(a).n, 320u);
  EXPECT_EQ(a.transport.transmissions, 3);
  EXPECT_EQ(a.transport.redundancy_versions, (std::vector<int>{0, 2, 3, 1}));
  EXPECT_EQ(a.turbo.decoder.stop, early_stop::crc);
  EXPECT_EQ(a.turbo.decoder.iterations, 4);
  EXPECT_EQ(b.transport.redundancy_versions, (std::vector<int>{0}));
  EXPECT_EQ(b.transport.soft_buffer, 500);
  EXPECT_EQ(b.transport.coded_bits, 320);
  EXPECT_EQ(b.transport.resource_elements, 0);
  EXPECT_EQ(b.turbo.decoder.precision, turbo_precision::int16);
  EXPECT_EQ(b.turbo.decoder.stop, early_stop::none);
  EXPECT_EQ(s.curves[2].link.code.type, code_type::lte_turbo);
  EXPECT_EQ(s.curves[2].link.code.k, 256);

  const std::string base = "sweep.snr_db = 1\ncode.type = \"lte-transport\"\n",
                    elements = "code.resource_elements = 4000\n";
  const auto expect = [&](const std::string& text, const std::string& part) {
    const std::string what = refusal(text);
    EXPECT_NE(what.find(part), std::string::npos) << what << "\nexpected: " << part;
  };
  expect(base, "line 2: code.resource_elements = 0 is not allowed: expected at least 1, or coded_bits");
  expect(base + elements + "code.coded_bits = 8000",
         "line 4: code has both resource_elements and coded_bits: expected one of them");
  expect(base + "code.coded_bits = 8001\nmodem.modulation = \"qpsk\"",
         "line 3: code.coded_bits = 8001 is not allowed: expected a multiple of layers");
  expect(base + "code.resource_elements = 3\ncode.transport_block_size = 50000",
         "line 3: code.resource_elements = 3 is not allowed: expected 9 to");
  expect(base + elements + "code.transmissions = 9", "line 4: code.transmissions = 9 is not allowed");
  expect(base + elements + "code.redundancy_versions = [0, 4]",
         "line 4: code.redundancy_versions = 4 is not allowed: expected 1 to 8 integers from 0 to 3");
  expect(base + elements + "code.redundancy_versions = [0, 0, 0, 0, 0, 0, 0, 0, 0]",
         "line 4: code.redundancy_versions = [0, 0, 0, 0, 0, 0, 0, 0, 0] is not allowed: expected 1 to 8");
  expect(base + elements + "code.transport_block_size = 1048577",
         "line 4: code.transport_block_size = 1048577 is not allowed: expected 1 to 1048576");
  expect(base + elements + "code.k = 6144",
         "line 4: code.k has no meaning with code.type = \"lte-transport\"");
  expect(base + elements + "code.crc = \"crc24a\"", "line 4: code.crc has no meaning");
  expect(base + elements + "code.rate = \"1/3\"", "line 4: code.rate has no meaning");
  expect("sweep.snr_db = 1\ncode.transmissions = 4",
         "line 2: code.transmissions has no meaning with code.type = \"lte-turbo\"");
  expect(base + elements + "decoder.early_stop = \"syndrome\"",
         "line 4: decoder.early_stop = \"syndrome\" is not allowed: expected \"none\", \"crc\"");
  expect(
      base + elements +
          "modem.modulation = \"qpsk\"\nchannel.type = \"rayleigh\"\nmimo = { streams = 5, rx_antennas = 5 }",
      "line 6: mimo.streams = 5 is not allowed: expected 1 to 4 with \"lte-transport\"");
}

/// The file's name is of this process alone, and it is gone afterwards.
struct scratch_file {
  std::string path =
      (std::filesystem::path(::testing::TempDir()) / ("warpband_harq_" + std::to_string(getpid()) + ".json"))
          .string();
  ~scratch_file() { std::filesystem::remove(path); }
};

run_result run_of_scenario(executor& exec) {
  run_result r;
  r.source = parse_scenario(text_of_scenario, "s.toml");
  r.origin.machine = describe_machine(exec);
  for (const curve_config& c : r.source.curves) r.curves.push_back({c.label, c, {}, {}, false});
  return r;
}

TEST(harq, a_result_is_a_state_to_go_on_from) {
  const auto exec = open_scalar();
  run_result whole = run_of_scenario(*exec);
  for (curve_result& c : whole.curves) run_curve(c, *exec);
  // Through a file after each batch (at the small scale every third), with another executor in between.
  const scratch_file file;
  const auto other = testing::all_backends().front().open(2);
  run_result part = run_of_scenario(*exec);
  std::size_t cuts = 0;
  for (std::size_t i = 0; i < part.curves.size(); i++)
    for (bool more = true; more;) {
      executor& now = cuts % 2 == 0 ? *exec : *other;
      run_curve(part.curves[i], now,
                {.progress = [](const curve_result&, std::size_t, const point_counts&) { return false; },
                 .finished = {}});
      more = part.curves[i].cancelled;
      cuts += more;
      if (more && testing::small_scale() && cuts % 3 != 0) continue;
      const std::string text = result_json(part);
      write_file(file.path, text);
      part = load_result(file.path);
      EXPECT_EQ(result_json(part), text);
    }
  EXPECT_GT(cuts, 5u);
  for (std::size_t i = 0; i < whole.curves.size(); i++) {
    ASSERT_EQ(whole.curves[i].points.size(), part.curves[i].points.size());
    for (std::size_t n = 0; n < whole.curves[i].points.size(); n++)
      expect_same(part.curves[i].points[n].counts, whole.curves[i].points[n].counts);
  }

  using json = nlohmann::ordered_json;
  const json good = json::parse(result_json(whole));
  const auto &curve = good["curves"][0], &point = curve["points"][0];
  const point_result& p = whole.curves[0].points[0];
  EXPECT_EQ(curve["config"]["code"].dump(),
            R"({"type":"lte-transport","transport_block_size":200,"resource_elements":160,"coded_bits":320,)"
            R"("transmissions":3,"redundancy_versions":[0,2,3,1],"soft_buffer":"auto","code_blocks":1,)"
            R"("rate":0.625})");
  EXPECT_EQ(curve["config"]["decoder"]["early_stop"], "crc");
  EXPECT_EQ(curve["config"]["decoder"]["windows"], "auto");
  EXPECT_EQ(good["curves"][1]["config"]["code"]["soft_buffer"], 500);
  EXPECT_EQ(point["harq"]["block_errors"][0], p.counts.block_errors[0]);
  EXPECT_EQ(point["harq"]["block_errors"].size(), 3u);
  EXPECT_EQ(point["harq"]["bler"][1].get<double>(), p.bler(2));
  EXPECT_EQ(point["harq"]["bits_per_resource_element"].get<double>(), p.throughput());
  EXPECT_EQ(point["harq"]["transmissions_sum"], p.transmissions_sent());
  EXPECT_FALSE(good["curves"][2]["points"][0].contains("harq"));
  const std::tuple<std::string, json, std::string> table[] = {
      {"/curves/0/points/0/harq/block_errors/1", 1000, "harq.block_errors = "},
      {"/curves/0/points/0/harq/block_errors", json{1, 1}, "expected 3 counts"},
      {"/curves/0/points/0/harq/undetected_errors", 7, "harq.undetected_errors = 7 is not allowed"},
      {"/curves/0/points/0/harq/bler/0", 0.5, "harq.bler = "},
      {"/curves/0/points/0/harq/bits_per_resource_element", 2, "as the rest says"},
      {"/curves/0/points/0/harq/transmissions_sum", 1, "as block_errors say"},
      {"/curves/0/points/0/harq/more", 1, "is not known to this version"},
      {"/curves/0/points/0/iterations_sum", 100000, "iterations_sum = 100000 is not allowed"},
      {"/curves/2/points/0/harq", json::object(), "none: the code is not lte-transport"},
      {"/curves/0/config/code/transmissions", 4, "was run with code.transmissions = 4, but"}};
  for (const auto& [at, value, part_of] : table) {
    json j = good;
    j[json::json_pointer(at)] = value;
    write_file(file.path, j.dump(2));
    std::string what = "not refused";
    try {
      load_result(file.path);
    } catch (const file_error& e) {
      what = e.what();
    }
    EXPECT_NE(what.find(part_of), std::string::npos) << what << "\nexpected: " << part_of;
  }
}

}  // namespace
}  // namespace wb
