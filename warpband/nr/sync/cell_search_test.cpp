// Cell search: sequences and places against their definition, found blocks against what was sent, false
// alarms against theory, equal results on every backend, bad input.
#include <warpband/nr/sync/cell_search.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <oracle/nr_sync.hpp>
#include <tests/json.hpp>
#include <tests/on_backends.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace cell_search_test {

using wb::testing::blamed;
using wb::testing::on_device;
using sample = std::complex<float>;
using exact = std::complex<double>;

/// White noise of unit variance, and blocks in it.
class stretch {
 public:
  stretch(std::size_t count, double noise_var, unsigned seed) : samples_(count) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, std::sqrt(noise_var / 2));
    if (noise_var > 0)
      for (exact& x : samples_) x = {normal(random), normal(random)};
  }
  stretch& add(const oracle::nr_block& block, double rate, double start, double gain = 1) {
    const auto x = oracle::nr_block_samples(block, rate, start, samples_.size());
    for (std::size_t i = 0; i < x.size(); i++) samples_[i] += gain * x[i];
    return *this;
  }
  std::vector<sample> values() const { return {samples_.begin(), samples_.end()}; }

 private:
  std::vector<exact> samples_;
};

class cell_search : public wb::testing::on_backend {
 protected:
  wb::cell_search_result search(const wb::cell_search_config& c, const std::vector<sample>& samples,
                                std::size_t rows = 1, wb::layout order = wb::layout::row_major) {
    return search_on(exec(), c, samples, rows, order);
  }
  static wb::cell_search_result search_on(wb::executor& e, const wb::cell_search_config& c,
                                          const std::vector<sample>& samples, std::size_t rows = 1,
                                          wb::layout order = wb::layout::row_major) {
    const auto in = on_device(e, samples, rows, samples.size() / rows, order);
    return wb::cell_search(c).run(e, in);
  }
};
WB_ON_ALL_BACKENDS(cell_search);

TEST(ssb, sequences_are_those_of_their_definition) {
  for (int n = 0; n < 3; n++) {
    const auto d = wb::nr_pss(n);
    const auto expected = oracle::nr_pss(n);
    EXPECT_TRUE(std::equal(d.begin(), d.end(), expected.begin(), expected.end())) << n;
  }
  for (int id = 0; id < 1008; id++) {
    const auto d = wb::nr_sss(id);
    const auto expected = oracle::nr_sss(id);
    EXPECT_TRUE(std::equal(d.begin(), d.end(), expected.begin(), expected.end())) << id;
  }
  EXPECT_EQ(blamed([] { wb::nr_pss(3); }), "n_id2");
  EXPECT_EQ(blamed([] { wb::nr_sss(1008); }), "cell_id");
}

TEST(ssb, sequences_are_those_of_other_programs) {
  const std::string path = WARPBAND_REFDATA "/nr_time/vectors/sync.json";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "no refdata: cannot open '" << path << "'";
  const auto text = [](const std::vector<float>& d) {
    std::string s;
    for (const float x : d) s += x > 0 ? '+' : '-';
    return s;
  };
  int rows = 0;
  const auto content = wb::testing::parse_json(file);
  for (const auto& row : content.at("vectors")) {
    const int id = row.at("n_id").get<int>();
    EXPECT_EQ(text(wb::nr_pss(id % 3)), row.at("pss").get<std::string>()) << id;
    EXPECT_EQ(text(wb::nr_sss(id)), row.at("sss").get<std::string>()) << id;
    rows++;
  }
  EXPECT_GT(rows, 0);
}

TEST(ssb, places_of_the_cases) {
  using enum wb::ssb_case;
  using list = std::vector<int>;
  EXPECT_EQ(wb::nr_ssb_first_symbols(a, 4), (list{2, 8, 16, 22}));
  EXPECT_EQ(wb::nr_ssb_first_symbols(b, 8), (list{4, 8, 16, 20, 32, 36, 44, 48}));
  EXPECT_EQ(wb::nr_ssb_first_symbols(c, 8), (list{2, 8, 16, 22, 30, 36, 44, 50}));
  const list with_d = wb::nr_ssb_first_symbols(d, 64), with_e = wb::nr_ssb_first_symbols(e, 64);
  ASSERT_EQ(with_d.size(), 64u);
  ASSERT_EQ(with_e.size(), 64u);
  EXPECT_EQ(with_d[15], 20 + 28 * 3);
  EXPECT_EQ(with_d[16], 4 + 28 * 5);
  EXPECT_EQ(with_d[63], 20 + 28 * 18);
  EXPECT_EQ(with_e[31], 44 + 56 * 3);
  EXPECT_EQ(with_e[32], 8 + 56 * 5);
  EXPECT_EQ(with_e[63], 44 + 56 * 8);
  EXPECT_EQ(wb::ssb_spacing_khz(wb::ssb_case::e), 240);
  EXPECT_EQ(blamed([] { wb::nr_ssb_first_symbols(a, 64); }), "l_max");
  EXPECT_EQ(blamed([] { wb::nr_ssb_first_symbols(wb::ssb_case::d, 8); }), "l_max");
}

// Every spacing, rates with and without a filter, off the centre, frequency offsets to the ends of the range,
// starts between samples.
TEST_P(cell_search, finds_a_block_with_its_timing_frequency_and_snr) {
  struct row {
    int spacing, decimation, id;
    double offset, cfo, start, noise;
  };
  for (const row& r : {row{15, 1, 0, 0, 0, 100, 0.01}, row{15, 2, 335, 0, 9900, 211.4, 0.01},
                       row{15, 4, 1007, 1.5e6, -9900, 900.7, 0.1}, row{30, 8, 500, -8e6, 7300, 3000.25, 0.1},
                       row{120, 3, 77, 1e6, -1e4, 512.5, 0.05}, row{240, 2, 640, 0, 4e3, 300, 0.05}}) {
    SCOPED_TRACE(r.id);
    const double spacing = 1e3 * r.spacing, rate = 128 * spacing * r.decimation;
    const wb::cell_search_config config{
        .sample_rate_hz = rate, .spacing_khz = r.spacing, .offset_hz = r.offset, .carrier_hz = 3500e6};
    const oracle::nr_block block{.cell_id = r.id,
                                 .spacing_hz = spacing,
                                 .offset_hz = r.offset,
                                 .cfo_hz = r.cfo,
                                 .carrier_hz = 3500e6,
                                 .pbch = r.decimation > 1};
    const std::size_t count = static_cast<std::size_t>(1100 * r.decimation);
    const auto found = search(config, stretch(count, r.noise, 7).add(block, rate, r.start).values());
    ASSERT_EQ(found.blocks.size(), 1u);
    const wb::nr_found_block& b = found.blocks[0];
    EXPECT_EQ(b.cell_id, r.id);
    EXPECT_NEAR(b.first_sample, r.start, 0.1 * r.decimation);
    EXPECT_NEAR(b.cfo_hz, r.cfo, 0.01 * spacing);
    EXPECT_NEAR(b.snr_db, -10 * std::log10(r.noise), 1.5);
    EXPECT_GT(b.metric, wb::cell_search(config).threshold(count));
    EXPECT_EQ(found.erased, std::vector<std::int64_t>{0});
    // Without the carrier the phases of the symbols are unknown, and the frequency is less accurate.
    wb::cell_search_config unknown = config;
    unknown.carrier_hz.reset();
    const auto rough = search(unknown, stretch(count, r.noise, 7).add(block, rate, r.start).values());
    ASSERT_EQ(rough.blocks.size(), 1u);
    EXPECT_NEAR(rough.blocks[0].cfo_hz, r.cfo, 0.1 * spacing);
  }
}

TEST_P(cell_search, knows_every_identity) {
  const double rate = 1.92e6;
  const wb::cell_search_config config{.sample_rate_hz = rate, .max_cfo_hz = 3e3};
  constexpr std::size_t count = 700;
  std::vector<sample> stretches;
  for (int id = 0; id < 1008; id += 7) {
    const auto x = stretch(count, 0.1, static_cast<unsigned>(id))
                       .add({.cell_id = id, .pbch = false}, rate, 57.3)
                       .values();
    stretches.insert(stretches.end(), x.begin(), x.end());
  }
  const auto found = search(config, stretches, stretches.size() / count);
  ASSERT_EQ(found.blocks.size(), stretches.size() / count);
  for (std::size_t i = 0; i < found.blocks.size(); i++) {
    EXPECT_EQ(found.blocks[i].row, i);
    EXPECT_EQ(found.blocks[i].cell_id, static_cast<int>(7 * i));
  }
}

TEST_P(cell_search, finds_several_cells_and_blocks) {
  const double rate = 3.84e6;
  const wb::cell_search_config config{.sample_rate_hz = rate};
  // Two cells at once, one 6 dB weaker, and the first again.
  const auto found = search(config, stretch(6000, 0.02, 3)
                                        .add({.cell_id = 301, .cfo_hz = 2000}, rate, 500)
                                        .add({.cell_id = 404, .cfo_hz = -3000}, rate, 505, 0.5)
                                        .add({.cell_id = 301, .cfo_hz = 2000}, rate, 3500)
                                        .values());
  std::vector<int> ids;
  for (const auto& b : found.blocks) ids.push_back(b.cell_id);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, (std::vector<int>{301, 301, 404}));
}

// A row with a single offset and frequency: 2016 trials. The bound counts both halves of a sample, which are
// correlated, so that the rate is below it, but not far.
TEST_P(cell_search, noise_alone_gives_as_many_alarms_as_theory_says) {
  const wb::cell_search_config config{.sample_rate_hz = 1.92e6, .max_cfo_hz = 1, .false_alarm = 0.1};
  const std::size_t rows = wb::testing::small_scale() || GetParam().name == "scalar" ? 400 : 2000,
                    count = 402;
  const double x = wb::cell_search(config).threshold(count);
  EXPECT_NEAR((1 + x) * std::exp(-x) * 2 * 1008, 0.1, 1e-9);
  const auto found = search(config, stretch(rows * count, 1, 11).values(), rows);
  EXPECT_LE(found.blocks.size(),
            0.1 * static_cast<double>(rows) + 4 * std::sqrt(0.09 * static_cast<double>(rows)));
  EXPECT_GE(found.blocks.size(), 0.02 * static_cast<double>(rows));
  // The level of the noise has no effect.
  auto loud = stretch(rows * count, 1, 11).values();
  for (sample& s : loud) s *= 1024.f;
  EXPECT_EQ(search(config, loud, rows).blocks.size(), found.blocks.size());
  wb::cell_search_config strict = config;
  strict.false_alarm = 1e-6;
  EXPECT_TRUE(search(strict, stretch(rows * count, 1, 11).values(), rows).blocks.empty());
}

// At -6 dB a single block is found in most rows, by all frequencies within 10 kHz.
TEST_P(cell_search, most_blocks_are_found_at_minus_6_db) {
  const double rate = 1.92e6;
  const wb::cell_search_config config{.sample_rate_hz = rate};
  constexpr std::size_t rows = 60, count = 1500;
  std::vector<sample> stretches;
  for (std::size_t i = 0; i < rows; i++) {
    const double part = static_cast<double>(i) / rows;
    const auto x =
        stretch(count, std::pow(10., 0.6), static_cast<unsigned>(i))
            .add({.cell_id = static_cast<int>(16 * i), .cfo_hz = 2e4 * (part - 0.5), .pbch = false}, rate,
                 100 + 500 * part)
            .values();
    stretches.insert(stretches.end(), x.begin(), x.end());
  }
  const auto found = search(config, stretches, rows);
  std::size_t right = 0;
  for (const auto& b : found.blocks) right += b.cell_id == static_cast<int>(16 * b.row);
  EXPECT_EQ(right, found.blocks.size());
  EXPECT_GE(right, 0.9 * rows);
}

TEST_P(cell_search, every_backend_finds_the_same_numbers) {
  for (const std::size_t decimation : {2, 3, 16}) {
    SCOPED_TRACE(decimation);
    const double rate = 1.92e6 * static_cast<double>(decimation);
    const std::size_t count = 1500 * decimation + 1;
    const wb::cell_search_config config{.sample_rate_hz = rate, .offset_hz = 6e4};
    std::vector<sample> stretches;
    for (unsigned i = 0; i < 3; i++) {
      const auto x = stretch(count, 0.5, i)
                         .add({.cell_id = static_cast<int>(100 + i), .offset_hz = 6e4, .cfo_hz = 4e3}, rate,
                              0.2 * static_cast<double>(count) + 30 * i)
                         .values();
      stretches.insert(stretches.end(), x.begin(), x.end());
    }
    const auto scalar = wb::testing::open_scalar(), three = GetParam().open(3);
    const auto expected = search_on(*scalar, config, stretches, 3);
    ASSERT_EQ(expected.blocks.size(), 3u);
    std::vector<sample> turned(stretches.size());
    for (std::size_t row = 0; row < 3; row++)
      for (std::size_t i = 0; i < count; i++) turned[3 * i + row] = stretches[count * row + i];
    for (const auto& found : {search(config, stretches, 3), search_on(*three, config, stretches, 3),
                              search(config, turned, 3, wb::layout::batch_fastest)}) {
      ASSERT_EQ(found.blocks.size(), 3u);
      for (std::size_t i = 0; i < 3; i++) {
        EXPECT_EQ(found.blocks[i].cell_id, expected.blocks[i].cell_id);
        EXPECT_EQ(found.blocks[i].first_sample, expected.blocks[i].first_sample);
        EXPECT_EQ(found.blocks[i].cfo_hz, expected.blocks[i].cfo_hz);
        EXPECT_EQ(found.blocks[i].snr_db, expected.blocks[i].snr_db);
        EXPECT_EQ(found.blocks[i].metric, expected.blocks[i].metric);
      }
    }
  }
}

// Rounding errors of the FFT are those of the loudest samples of a tile.
TEST_P(cell_search, steps_of_the_level_give_no_block_and_hide_none) {
  const double rate = 1.92e6;
  const wb::cell_search_config config{.sample_rate_hz = rate};
  auto steps = stretch(6000, 1, 21).values();
  const float gains[] = {1.f, 0.f, 1e6f, 1e-6f, 1e12f, 0.f, 1e-9f};
  for (std::size_t i = 0; i < steps.size(); i++) steps[i] *= gains[i / 150 % 7];
  EXPECT_TRUE(search(config, steps).blocks.empty());
  auto beside = stretch(2000, 0.1, 22).add({.cell_id = 222, .pbch = false}, rate, 400).values();
  const auto burst = stretch(2000, 1, 23).values();
  for (std::size_t i = 0; i < 390; i++) beside[i] += 1e3f * burst[i];
  const auto found = search(config, beside);
  ASSERT_EQ(found.blocks.size(), 1u);
  EXPECT_EQ(found.blocks[0].cell_id, 222);
}

TEST_P(cell_search, survives_bad_samples) {
  const double rate = 1.92e6;
  const wb::cell_search_config config{.sample_rate_hz = rate};
  EXPECT_TRUE(search(config, std::vector<sample>(3000)).blocks.empty());       // silence
  EXPECT_TRUE(search(config, std::vector<sample>(3000, 1.f)).blocks.empty());  // a carrier alone
  EXPECT_TRUE(search(config, std::vector<sample>(10, 1.f)).blocks.empty());    // too short
  EXPECT_TRUE(search(config, {}).blocks.empty());
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const auto clean = stretch(2000, 0.1, 5).add({.cell_id = 222, .pbch = false}, rate, 400).values();
  auto holes = clean;
  for (std::size_t i = 0; i < holes.size(); i += 50) holes[i] = {nan, 0};
  holes[3] = {0, infinity};
  holes[4] = {1e16f, 0};
  const auto found = search(config, holes);
  ASSERT_EQ(found.blocks.size(), 1u);
  EXPECT_EQ(found.blocks[0].cell_id, 222);
  EXPECT_EQ(found.erased[0], 42);
  const auto none = search(config, std::vector<sample>(3000, {nan, nan}));
  EXPECT_TRUE(none.blocks.empty());
  EXPECT_EQ(none.erased[0], 3000);
  auto clipped = clean;  // to a third of the mean amplitude
  for (sample& s : clipped) s = {std::clamp(s.real(), -0.2f, 0.2f), std::clamp(s.imag(), -0.2f, 0.2f)};
  const auto saturated = search(config, clipped);
  ASSERT_EQ(saturated.blocks.size(), 1u);
  EXPECT_EQ(saturated.blocks[0].cell_id, 222);
  for (const float gain : {1e-9f, 3e4f, 1e12f}) {  // no scale is expected
    auto scaled = clean;
    for (sample& s : scaled) s *= gain;
    const auto again = search(config, scaled);
    ASSERT_EQ(again.blocks.size(), 1u) << gain;
    EXPECT_EQ(again.blocks[0].cell_id, 222);
  }
}

/// complex64 of an .npy file, or none where it cannot be opened.
std::vector<sample> read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.size() < 10 || bytes.find("'<c8'") == std::string::npos) return {};
  const std::size_t begin = 10 + static_cast<unsigned char>(bytes[8]) +
                            256 * static_cast<std::size_t>(static_cast<unsigned char>(bytes[9]));
  std::vector<sample> values((bytes.size() - begin) / sizeof(sample));
  std::memcpy(values.data(), bytes.data() + begin, values.size() * sizeof(sample));
  return values;
}
/// Of a SigMF data file, 16-bit integers or floats.
std::vector<sample> read_sigmf(const std::string& path, bool integers) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<sample> values;
  if (!integers) {
    values.resize(bytes.size() / sizeof(sample));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(sample));
    return values;
  }
  std::vector<std::int16_t> parts(bytes.size() / 2);
  std::memcpy(parts.data(), bytes.data(), 2 * parts.size());
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) values.emplace_back(parts[i], parts[i + 1]);
  return values;
}

// PSS and SSS alone know the frequency to about 1 % of the spacing at 0 dB.
TEST_P(cell_search, finds_the_cells_in_files_of_other_programs) {
  if (GetParam().name == "scalar")
    GTEST_SKIP() << "minutes of scalar code, which has the results of the others";
  const std::string folder = WARPBAND_REFDATA "/nr_time/samples/";
  std::ifstream truth(folder + "downlink.json");
  if (!truth) GTEST_SKIP() << "no refdata: cannot open '" << folder << "downlink.json'";
  int blocks = 0;
  const auto content = wb::testing::parse_json(truth);
  for (const auto& f : content.at("files")) {
    const std::string name = f.at("file").get<std::string>();
    SCOPED_TRACE(name);
    const std::string data = name.substr(0, name.rfind('.'));
    const auto samples = name.ends_with(".npy")
                             ? read_npy(folder + name)
                             : read_sigmf(folder + data + ".sigmf-data", data.find("awgn") != data.npos);
    ASSERT_FALSE(samples.empty());
    const auto cells = f.contains("cells") ? f.at("cells") : nlohmann::json::array({f});
    for (const auto& cell : cells) {
      if (!cell.contains("ssb")) continue;
      const auto value = [&](const char* key) {
        return cell.contains(key) ? cell.at(key) : f.contains(key) ? f.at(key) : nlohmann::json();
      };
      const double rate = f.at("sample_rate_hz").get<double>();
      const wb::cell_search_config config{
          .sample_rate_hz = rate,
          .spacing_khz = value("scs_khz").get<int>(),
          .offset_hz = value("scs_khz").get<double>() * 1e3 *
                       (value("ssb_first_subcarrier_from_centre").get<int>() + 120),
          .carrier_hz = value("f0_hz").get<double>()};
      const auto found = search(config, samples);
      for (const auto& block : cell.at("ssb")) {
        if (block.contains("whole_in_file") && !block.at("whole_in_file").get<bool>()) continue;
        double first = 0;
        if (block.contains("first_sample")) {
          first = block.at("first_sample").get<double>();
        } else {  // 15 kHz: half a millisecond has 7 symbols
          const int symbol = block.at("first_symbol_of_file").get<int>();
          first = cell.at("frame_start_sample").get<double>() +
                  rate / 2000 * (symbol / 7 + (symbol % 7 * 137 + (symbol % 7 > 0 ? 1 : 0)) / 960.);
        }
        const double snr = value("snr_db").is_number() ? value("snr_db").get<double>() : 10;
        bool seen = false;
        for (const auto& b : found.blocks)
          if (b.cell_id == value("n_id").get<int>() && std::abs(b.first_sample - first) < rate * 1e-6) {
            seen = true;
            EXPECT_NEAR(b.cfo_hz, value("cfo_hz").get<double>(), snr > 1 ? 150 : snr > -1 ? 900 : 1500);
          }
        EXPECT_TRUE(seen) << "block at " << first;
        blocks++;
      }
      std::vector<int> expected;
      for (const auto& c : cells) expected.push_back(c.at("n_id").get<int>());
      for (const auto& b : found.blocks)
        EXPECT_TRUE(std::find(expected.begin(), expected.end(), b.cell_id) != expected.end())
            << b.cell_id << " at " << b.first_sample;
    }
  }
  EXPECT_GE(blocks, 20);
}

TEST_P(cell_search, finds_nothing_in_recorded_noise_and_the_cell_of_a_recording) {
  if (GetParam().name == "scalar")
    GTEST_SKIP() << "minutes of scalar code, which has the results of the others";
  const std::string folder = WARPBAND_REFDATA "/nr_time/";
  const auto noise = read_npy(folder + "samples/noise_only.npy");
  const auto recorded = read_npy(folder + "recorded/n78_46080ksps.npy");
  if (noise.empty() || recorded.empty()) GTEST_SKIP() << "no refdata in '" << folder << "'";
  for (const int spacing : {15, 30})
    EXPECT_TRUE(search({.sample_rate_hz = 7.68e6, .spacing_khz = spacing}, noise).blocks.empty()) << spacing;
  const auto found = search({.sample_rate_hz = 46.08e6,
                             .spacing_khz = 30,
                             .offset_hz = 3512.64e6 - 3502.8e6,
                             .carrier_hz = 3502.8e6},
                            recorded);
  ASSERT_FALSE(found.blocks.empty());
  EXPECT_EQ(found.blocks[0].cell_id, 500);
  EXPECT_NEAR(found.blocks[0].first_sample, 27802, 12);
  EXPECT_NEAR(found.blocks[0].cfo_hz, 155, 200);
  EXPECT_GT(found.blocks[0].snr_db, 15);
}

TEST(cell_search_settings, bad_ones_are_named) {
  const auto blames = [](auto change) {
    wb::cell_search_config c;
    change(c);
    return blamed([&] { wb::cell_search{c}; });
  };
  EXPECT_EQ(blames([](wb::cell_search_config&) {}), "");
  EXPECT_EQ(blames([](wb::cell_search_config& c) { c.sample_rate_hz = 8e6; }), "sample_rate_hz");
  EXPECT_EQ(blames([](wb::cell_search_config& c) { c.sample_rate_hz = 65 * 1.92e6; }), "sample_rate_hz");
  EXPECT_EQ(blames([](wb::cell_search_config& c) { c.spacing_khz = 60; }), "spacing_khz");
  EXPECT_EQ(blames([](wb::cell_search_config& c) { c.offset_hz = 3e6; }), "offset_hz");
  EXPECT_EQ(blames([](wb::cell_search_config& c) { c.max_cfo_hz = 61e3; }), "max_cfo_hz");
  EXPECT_EQ(blames([](wb::cell_search_config& c) { c.max_cfo_hz = 60e3; }), "");
  EXPECT_EQ(blames([](wb::cell_search_config& c) { c.false_alarm = 0; }), "false_alarm");
  EXPECT_EQ(blames([](wb::cell_search_config& c) { c.candidates = 0; }), "candidates");
  EXPECT_EQ(blames([](wb::cell_search_config& c) { c.carrier_hz = NAN; }), "carrier_hz");
}

}  // namespace cell_search_test
