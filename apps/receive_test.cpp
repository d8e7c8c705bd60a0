// `warpband receive` as a user meets it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <tests/command.hpp>
#include <tests/downlink_cell.hpp>
#include <tests/json.hpp>
#include <tests/npy.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/io/hdf5.hpp>
#include <warpband/nr/pbch/pbch.hpp>
#include <warpband/ofdm/fft/fft.hpp>
#include <warpband/ofdm/modem/modem.hpp>

namespace receive_command_test {

using wb::testing::outcome;
using sample = std::complex<float>;

constexpr double rate_hz = 3.84e6;  // 256 spacings of 15 kHz
constexpr int cell_id = 517;

wb::nr_ssb_content content_of(int block) {
  wb::nr_ssb_content c;
  c.sfn = 700 + block / 2, c.half_frame = 0, c.ssb_index = block % 2;
  c.k_ssb = 6, c.coreset0 = 9, c.search_space0 = 3, c.dmrs_first_symbol = 3;
  return c;
}

/// 30 ms with blocks of l_max 4 at 3, 4, 23 and 24 ms, in noise of 10 dB below a resource element.
std::vector<sample> recording(double offset_hz, double cfo_hz) {
  wb::cpu exec({.threads = 1});
  wb::ofdm_numerology n;
  n.fft_size = 256, n.subcarriers = 240, n.free_carrier = false;
  n.cyclic_prefix = n.first_cyclic_prefix = 18, n.symbols_per_slot = 4;
  const wb::ofdm_modulator modulator(n, {.symbols = 4});
  const wb::pbch_encoder encoder({.l_max = 4});
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, std::sqrt(0.05f));
  std::vector<sample> samples(static_cast<std::size_t>(0.03 * rate_hz));
  for (sample& x : samples) x = {normal(random), normal(random)};
  for (int block = 0; block < 4; block++) {
    auto grid = exec.make<sample>(1, modulator.values()), wave = exec.make<sample>(1, modulator.samples());
    encoder.run(exec, {content_of(block)}, {cell_id}, grid);
    modulator.run(exec, grid, wave);
    const std::size_t first = static_cast<std::size_t>((block < 2 ? 3 + block : 21 + block) * rate_hz / 1000);
    for (std::size_t i = 0; i < wave.elements(); i++) {
      const double turns = (offset_hz + cfo_hz) / rate_hz * static_cast<double>(first + i);
      samples[first + i] += sample(std::complex<double>(wave.data()[i]) *
                                   std::polar(1.0, 2 * std::numbers::pi * std::remainder(turns, 1.0)));
    }
  }
  return samples;
}

/// Integers, 1 as a sixteenth of full scale. `big`: big endian.
template <class T>
std::string quantised(const std::vector<sample>& samples, bool big = false) {
  std::string bytes;
  for (const sample& x : samples)
    for (const float part : {x.real(), x.imag()}) {
      const double full = std::ldexp(1.0, 8 * sizeof(T) - 1);
      const double steps = std::min(std::max(std::round(part * full / 16), -full), full - 1);
      const auto value = static_cast<T>(steps);
      std::string one(reinterpret_cast<const char*>(&value), sizeof value);
      if (big) std::reverse(one.begin(), one.end());
      bytes += one;
    }
  return bytes;
}

class receive_command : public ::testing::Test, protected wb::testing::command_folder {
 protected:
  void SetUp() override {
    if (!wb::has_cpu_fft()) GTEST_SKIP() << "this build has no FFT for CPUs (WARPBAND_KISSFFT)";
  }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  void put_sigmf(const std::string& stem, const std::string& type, const std::string& data,
                 const std::string& more = "",
                 const std::string& capture = R"("core:frequency": 763e6)") const {
    put(stem + ".sigmf-data", data);
    write(stem + ".sigmf-meta", R"({"global": {"core:version": "1.0.0", "core:datatype": ")" + type +
                                    R"(", "core:sample_rate": 3840000)" + more +
                                    R"(}, "captures": [{"core:sample_start": 0, )" + capture + "}]}");
  }
  nlohmann::json received(const std::string& arguments) const {
    const outcome o = run("receive " + arguments + " --json r.json --quiet");
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err, "");
    return o.code == 0 ? nlohmann::json::parse(content(path("r.json"))) : nlohmann::json();
  }
  /// All four blocks, with what they say.
  static void expect_blocks(const nlohmann::json& record, double cfo_hz) {
    ASSERT_EQ(record["blocks"].size(), 4u);
    for (int i = 0; i < 4; i++) {
      const auto& b = record["blocks"][static_cast<std::size_t>(i)];
      const wb::nr_ssb_content c = content_of(i);
      EXPECT_EQ(b["cell_id"], cell_id);
      EXPECT_EQ(b["decoded"], true);
      EXPECT_EQ(b["sfn"], c.sfn);
      EXPECT_EQ(b["ssb_index"], c.ssb_index);
      EXPECT_EQ(b["k_ssb"], 6);
      EXPECT_EQ(b["coreset0"], 9);
      EXPECT_EQ(b["search_space0"], 3);
      EXPECT_EQ(b["dmrs_first_symbol"], 3);
      EXPECT_NEAR(b["seconds"].get<double>(), 1e-3 * (i < 2 ? 3 + i : 21 + i), 1e-6);
      EXPECT_NEAR(b["cfo_hz"].get<double>(), cfo_hz, 300);
      EXPECT_NEAR(b["snr_db"].get<double>(), 10, 1.5);
    }
  }
};

TEST_F(receive_command, reads_every_format) {
  const auto samples = recording(0, 2000);
  const std::string raw = "--rate 3.84e6 --spacing 15 --offset 0";
  wb::testing::write_npy(path("a.npy"), {samples.size()}, samples);
  put("f.iq", wb::testing::bytes_of(samples));
  put("i16.iq", quantised<std::int16_t>(samples));
  put("i8.iq", quantised<std::int8_t>(samples));
  put("i32.iq", quantised<std::int32_t>(samples, true));
  for (const std::string& file :
       {std::string("a.npy"), std::string("f.iq"), std::string("i16.iq --format ci16"),
        std::string("i8.iq --format ci8_le"), std::string("i32.iq --format ci32_be")}) {
    SCOPED_TRACE(file);
    expect_blocks(received(file + " " + raw), 2000);
  }
  // Of two channels the second one.
  const std::string one = quantised<std::int16_t>(samples);
  std::string two;
  for (std::size_t i = 0; i < one.size(); i += 4) two += std::string(4, '\1') + one.substr(i, 4);
  put_sigmf("two", "ci16_le", two, R"(, "core:num_channels": 2)", R"("core:header_bytes": 0)");
  expect_blocks(received("two.sigmf-data --channel 1 --spacing 15 --offset 0"), 2000);
  EXPECT_EQ(received("two --spacing 15 --offset 0")["blocks"].size(), 0u);
}

#if WARPBAND_HDF5
TEST_F(receive_command, reads_hdf5) {
  const auto samples = recording(0, 2000);
  const std::size_t n = samples.size();
  const auto put_array = [&]<class T>(const std::string& file, const std::vector<T>& values,
                                      const std::vector<std::size_t>& shape, const wb::hdf5_attributes& its,
                                      const wb::hdf5_attributes& roots = {}) {
    wb::hdf5_writer out(path(file));
    out.create<T>("samples", shape, its);
    out.write<T>("samples", 0, shape[0], values.data());
    out.set(roots);
    out.commit();
  };
  const auto pairs = [&]<class T>(T scale) {
    std::vector<T> values;
    for (const sample& x : samples)
      for (const float part : {x.real(), x.imag()}) values.push_back(static_cast<T>(part * float(scale)));
    return values;
  };
  const wb::hdf5_attributes rate{{"sample_rate", rate_hz}};
  put_array("c64.h5", samples, {n}, rate);
  put_array("c128.h5", std::vector<std::complex<double>>(samples.begin(), samples.end()), {n}, {}, rate);
  put_array("i16.h5", pairs(std::int16_t{2000}), {n, 2}, {{"sample_rate", std::int64_t{3840000}}});
  put_array("i8.h5", pairs(std::int8_t{20}), {n, 2}, rate);
  put_array("f64.h5", pairs(1.), {n, 2}, rate);
  for (const char* file : {"c64.h5", "c128.h5", "i16.h5", "i8.h5", "f64.h5"}) {
    SCOPED_TRACE(file);
    expect_blocks(received(std::string(file) + " --spacing 15 --offset 0"), 2000);
  }
  // --rate goes before the attribute. The block is on the raster of 763.2 MHz.
  put_array("on.h5", recording(50e3, -3000), {n}, {{"sample_rate", 1e6}, {"frequency", 763.2e6}});
  EXPECT_EQ(received("on.h5 --rate 3.84e6 --spacing 15")["blocks"].size(), 4u);

  put_array("none.h5", samples, {n}, {});
  expect_error(1, "receive none.h5", "rate");
  put_array("bad.h5", samples, {n}, {{"sample_rate", -1.}});
  expect_error(1, "receive bad.h5", "bad.h5: attribute sample_rate is not a number from 0 to 1e12 (Hz)");
  put_array("real.h5", std::vector<float>(n), {n}, rate);
  expect_error(1, "receive real.h5", "array samples is float32 [115200]: expected complex64");
  put_array("wide.h5", std::vector<float>(3 * n), {n, 3}, rate);
  expect_error(1, "receive wide.h5", "array samples is float32 [115200, 3]: expected complex64");
  expect_error(2, "receive c64.h5 --format ci16", "--format");
  expect_error(1, "receive c64.h5 --dataset other", "other");
  put("f.iq", std::string(800, '\0'));
  expect_error(2, "receive f.iq --rate 3.84e6 --dataset a", "--dataset");
  put("cut.h5", content(path("c64.h5")).substr(0, 3000));
  expect_error(1, "receive cut.h5", "cut.h5: ");
  {
    wb::hdf5_writer out(path("two.h5"));
    for (const char* name : {"left", "right"}) out.create<sample>(name, {n}, rate);
    out.write<sample>("right", 0, n, samples.data());
    out.commit();
  }
  expect_error(1, "receive two.h5",
               "dataset = missing is not allowed: expected one of the file's arrays: left, right");
  expect_blocks(received("two.h5 --dataset right --spacing 15 --offset 0"), 2000);
  EXPECT_EQ(received("two.h5 --dataset left --spacing 15 --offset 0")["blocks"].size(), 0u);
  {
    wb::hdf5_writer out(path("many.h5"));
    for (int i = 10; i < 35; i++) out.create<sample>("a\n" + std::to_string(i), {1}, rate);
    out.commit();
  }
  expect_error(1, "receive many.h5", R"(arrays: a\n10, a\n11, )");
  expect_error(1, "receive many.h5", R"(, a\n29 and 5 more)");
  // Columns and rows of MATLAB. The file has their axes in reverse.
  for (const auto& shape : {std::vector<std::size_t>{1, n}, {n, 1}}) {
    put_array("m128.mat", std::vector<std::complex<double>>(samples.begin(), samples.end()), shape,
              {{"MATLAB_class", "double"}}, rate);
    put_array("m64.mat", samples, shape, {{"MATLAB_class", "single"}}, rate);
    for (const char* file : {"m128.mat", "m64.mat"}) {
      SCOPED_TRACE(std::string(file) + " " + std::to_string(shape[0]));
      expect_blocks(received(std::string(file) + " --spacing 15 --offset 0"), 2000);
    }
  }
  put_array("matrix.mat", samples, {2, n / 2}, {{"MATLAB_class", "single"}}, rate);
  expect_error(1, "receive matrix.mat", "samples is complex64 [57600, 2]: expected complex64 of 1 axis");
  for (const std::size_t block : {512, 1024, 4096}) {
    put("behind.h5", std::string(block, 'x') + content(path("c64.h5")));
    expect_blocks(received("behind.h5 --spacing 15 --offset 0"), 2000);
  }
}
#else
TEST_F(receive_command, says_how_to_read_hdf5) {
  for (const std::size_t block : {0, 512, 2048}) {
    put("a.h5", std::string(block, '\0') + "\x89HDF\r\n\x1a\n" + std::string(800, '\0'));
    expect_error(1, "receive a.h5 --rate 3.84e6",
                 "a.h5: this build reads no HDF5 files: configure it with -DWARPBAND_HDF5=ON");
  }
}
#endif

TEST_F(receive_command, finds_blocks_on_the_raster) {
  // Of the raster's frequencies near 763.2 MHz only 763.25 MHz = 636 * 1.2 MHz + 50 kHz leaves a block
  // inside.
  const auto samples = recording(50e3, -3000);
  put_sigmf("on", "cf32_le", wb::testing::bytes_of(samples), "", R"("core:frequency": 763.2e6)");
  const auto found = received("on --spacing 15");
  ASSERT_EQ(found["blocks"].size(), 4u);
  EXPECT_EQ(found["blocks"][0]["offset_hz"], 50e3);
  EXPECT_EQ(found["centre_hz"], 763.2e6);
  expect_blocks(received("on --spacing 15 --offset 50e3"), -3000);
}

TEST_F(receive_command, scans_where_nothing_is_expected) {
  put("f.iq", wb::testing::bytes_of(recording(90e3, 0)));
  const auto found = received("--rate 3.84e6 --spacing 15 f.iq");
  expect_blocks(found, 0);
  EXPECT_EQ(found["blocks"][0]["offset_hz"], 90e3);
}

TEST_F(receive_command, a_block_at_the_edge_of_a_piece_is_one_block) {
  // The pieces' edge comes to 5 samples behind the start of the third block, and to its start. The first
  // block then lacks as many samples of its prefix.
  const auto samples = recording(0, 0);
  const auto edge = static_cast<std::ptrdiff_t>(0.02 * rate_hz),
             third = static_cast<std::ptrdiff_t>(0.023 * rate_hz);
  for (const std::ptrdiff_t early : {5, 0}) {
    put("f.iq", wb::testing::bytes_of(std::vector(samples.begin() + (third - edge + early), samples.end())));
    EXPECT_EQ(received("f.iq --rate 3.84e6 --spacing 15")["blocks"].size(), 4u) << early;
  }
}

TEST_F(receive_command, prints_blocks_and_cells) {
  const auto samples = recording(0, 0);
  put("f.iq", wb::testing::bytes_of(samples));
  const outcome o = run("receive f.iq --rate 3.84e6 --quiet");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(o.out.starts_with("f.iq: 3.84 MS/s\n")) << o.out;
  EXPECT_NE(o.out.find("cell 517: 15 kHz, 4 of 4 blocks decoded"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("k_SSB 6, SIB1 at 15 kHz, CORESET 0 9, search space 0 3, DMRS type A in symbol 3"),
            std::string::npos)
      << o.out;
  EXPECT_NE(o.out.find("times real time"), std::string::npos);
}

/// 60 ms of a cell, without the first `skipped` samples.
std::vector<sample> system_information(wb::testing::downlink_cell::sent_cell cell,
                                       const std::vector<std::uint8_t>& block, std::ptrdiff_t skipped) {
  wb::cpu exec({.threads = 1});
  std::vector<sample> samples;
  for (int i = 0; i < 3; i++, cell.mib.sfn += 2) {
    const auto period = samples_of(exec, cell, block);
    samples.insert(samples.end(), period.begin(), period.end());
  }
  return {samples.begin() + skipped, samples.end()};
}

TEST_F(receive_command, reads_system_information_at_every_edge_of_a_piece) {
  const wb::testing::downlink_cell::sent_cell cell{
      .offset_hz = -60e3,
      .f0_hz = 1842.5e6,
      .cfo_hz = 500,
      .noise_var = 0.1,
      .spacing_khz = 15,
      .cell_id = 802,
      .first_cce = 0,
      .pattern = wb::ssb_case::a,
      .mib = {.sfn = 512,
              .ssb_index = 1,
              .k_ssb = 2,
              .common_spacing_khz = 15,
              .dmrs_first_symbol = 3,
              .coreset0 = 1,
              .search_space0 = 4},
      .dci = {.first_block = 2, .blocks = 20, .time_domain = 0, .interleaved = true, .mcs = 5}};
  const auto block = wb::testing::downlink_cell::random_bits(block_bits(cell), 4);
  std::string bits;
  for (const auto b : block) bits += static_cast<char>('0' + b);
  constexpr std::ptrdiff_t slot = 6 * 7680;  // its first sample
  // The pieces' edge is 20 ms from the first sample: it is before, in and behind the start of the slot.
  for (const std::ptrdiff_t skipped : {std::ptrdiff_t{0}, slot - 9, slot - 1, slot, slot + 1, slot + 9}) {
    SCOPED_TRACE(skipped);
    put("s.iq", wb::testing::bytes_of(system_information(cell, block, skipped)));
    const auto record = received("s.iq --rate 7.68e6 --spacing 15 --offset -60e3");
    ASSERT_EQ(record["messages"].size(), skipped <= slot ? 3u : 2u);
    for (std::size_t i = 0; i < record["messages"].size(); i++) {
      const auto& m = record["messages"][i];
      const auto period = static_cast<std::ptrdiff_t>(i) + (skipped <= slot ? 0 : 1);
      EXPECT_EQ(m["cell_id"], 802);
      EXPECT_EQ(m["sfn"], 512 + 2 * period);
      EXPECT_EQ(m["slot"], 6);
      EXPECT_EQ(m["ssb_index"], 1);
      EXPECT_EQ(m["level"], 4);
      EXPECT_EQ(m["first_cce"], 0);
      EXPECT_EQ(m["coreset_blocks"], 24);
      EXPECT_EQ(m["first_block"], 2);
      EXPECT_EQ(m["resource_blocks"], 20);
      EXPECT_EQ(m["mcs"], 5);
      EXPECT_EQ(m["sib1"], true);
      EXPECT_EQ(m["decoded"], true);
      EXPECT_EQ(m["block"], bits);
      EXPECT_NEAR(m["first_sample"].get<double>(), static_cast<double>(slot - skipped + 153600 * period), 2);
    }
  }
  const outcome o = run("receive s.iq --rate 7.68e6 --spacing 15 --offset -60e3 --quiet");
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string size = std::to_string(bits.size());
  const std::string parts[] = {
      " 802 SIB1: SFN 514, slot 6, CCEs 0 to 3, DCI ",
      ": 20 blocks from 2 interleaved, MCS 5, version 0; " + size + " bits, decoded\n",
      "\n  2 of 2 messages of system information decoded\n", "\n  SIB1, " + size + " bits: "};
  for (const std::string& part : parts) EXPECT_NE(o.out.find(part), std::string::npos) << part << o.out;
}

TEST_F(receive_command, standard_input_and_numbers_of_threads_change_nothing) {
  put("f.iq", wb::testing::bytes_of(recording(0, 1000)));
  const auto expected = received("f.iq --rate 3.84e6 --spacing 15 --threads 1")["blocks"];
  EXPECT_EQ(received("f.iq --rate 3.84e6 --spacing 15 --threads 2")["blocks"], expected);
  const std::string line = "cd '" + path() +
                           "' && '" WARPBAND_COMMAND
                           "' receive - --rate 3.84e6 --spacing 15 "
                           "--quiet --json s.json < f.iq > out.txt 2> err.txt";
  ASSERT_EQ(std::system(line.c_str()), 0) << content(path("err.txt"));
  EXPECT_EQ(nlohmann::json::parse(content(path("s.json")))["blocks"], expected);
}

// The drawing program's input is the record, as plot_records_test.py has it.
TEST_F(receive_command, plots_what_it_saw) {
  put("f.iq", wb::testing::bytes_of(recording(0, 1000)));
  put("silence.iq", std::string(8 * 100000, '\0'));
  write("python", "#!/bin/sh\n[ \"$2\" = -c ] && exit 0\nprintf '%s\\n' \"$@\" > told.txt\n");
  std::filesystem::permissions(path("python"), std::filesystem::perms::owner_all);
  write("plot_receive.py", "");
  const std::string with = "WARPBAND_PYTHON=./python WARPBAND_PLOT_RECEIVE=./plot_receive.py";
  const auto record = [&](const std::string& file) {
    const outcome o =
        run("receive " + file + " --rate 3.84e6 --spacing 15 --quiet --json r.json --plot r.png", with);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(content(path("told.txt")), "-I\n./plot_receive.py\n--\nr.json\nr.png\n");
    return nlohmann::json::parse(content(path("r.json")))["plot"];
  };
  const auto seen = record("f.iq");
  EXPECT_EQ(seen["spectrum_db"].size(), 1024u);
  EXPECT_EQ(seen["block"]["cell_id"], cell_id);
  EXPECT_EQ(seen["block"]["constellation_i"].size(), 2 * 240u + 96u);
  EXPECT_EQ(seen["block"]["channel_db"].size(), 240u);
  const auto& pss = seen["block"]["pss"];
  EXPECT_GT(pss[pss.size() / 2].get<double>(), 0.3);
  const auto silence = record("silence.iq");
  EXPECT_EQ(silence["spectrum_db"][5], 0.);
  EXPECT_TRUE(silence["block"].is_null());
  expect_error(1, "receive f.iq --rate 3.84e6 --plot f.iq", "f.iq");
  expect_error(2, "receive f.iq --rate 3.84e6 --json a.png --plot ./a.png", "./a.png is named twice");
  expect_error(1, "receive f.iq --rate 3.84e6 --json none/a.json", "none/a.json");
  expect_error(2, "receive f.iq --rate 3.84e6 --plot ''", "--plot: the name of the file is empty");
}

TEST_F(receive_command, nothing_is_found_where_nothing_is) {
  const std::string options = " --rate 3.84e6 --spacing 15 --offset 0";
  put("silence.iq", std::string(8 * 100000, '\0'));
  put("empty.iq", "");
  EXPECT_EQ(received("empty.iq --rate 3.84e6")["blocks"].size(), 0u);
  put("short.iq", std::string(8, '\0'));
  std::vector<sample> bad(100000, sample{std::nanf(""), 1});
  put("bad.iq", wb::testing::bytes_of(bad));
  std::vector<sample> saturated(100000, sample{1, -1});
  put("saturated.iq", wb::testing::bytes_of(saturated));
  for (const char* file : {"silence.iq", "empty.iq", "short.iq", "bad.iq", "saturated.iq"}) {
    const outcome o = run(std::string("receive ") + file + options + " --quiet");
    EXPECT_EQ(o.code, 0) << file << o.err;
    EXPECT_NE(o.out.find("no SS/PBCH block was found\n"), std::string::npos) << file << o.out;
    EXPECT_EQ(o.out.find("\n100000 samples were not finite") != std::string::npos,
              std::string(file) == "bad.iq")
        << file;
  }
}

TEST_F(receive_command, refuses_bad_files) {
  expect_error(2, "receive", "a file is missing");
  put("f.iq", std::string(800, '\0'));
  expect_error(1, "receive f.iq", "rate");
  expect_error(2, "receive f.iq --rate 3.84e6 --format u8",
               "--format = \"u8\" is not allowed: expected cf32, ci32, ci16 or ci8");
  expect_error(2, "receive f.iq --rate 3.84e6 --spacing 20", "--spacing");
  expect_error(2, "receive f.iq --rate 1e6", "--rate = 1e+06 is not allowed: expected 2 to 32 times 128");
  expect_error(2, "receive f.iq --rate 3.84e6 --channel 1", "--channel = 1 is not allowed");
  expect_error(2, "receive f.iq --rate 3.84e6 --offset 1e9", "--offset = ");
  expect_error(2, "receive f.iq --rate 13.44e6 --spacing 15", "--rate = ");
  put("odd.iq", std::string(801, '\0'));
  expect_error(1, "receive odd.iq --rate 3.84e6", "odd.iq: ends within a sample of 8 bytes");
  expect_error(1, "receive none.iq --rate 3.84e6", "none.iq: cannot be opened");
  wb::testing::write_npy(path("two.npy"), {2, 50}, std::vector<sample>(100));
  expect_error(1, "receive two.npy --rate 3.84e6", "has 2 axes");
  expect_error(2, "receive two.npy --rate 3.84e6 --format cf32", "--format");
  write("a.sigmf-meta", "{");
  expect_error(1, "receive a.sigmf-data", "a.sigmf-meta: is no JSON");
  write("a.sigmf-meta", "[]");
  expect_error(1, "receive a", "is no JSON object");
  write("a.sigmf-meta", R"({"global": {}})");
  expect_error(1, "receive a", "has no text core:datatype");
  write("a.sigmf-meta", R"({"global": {"core:datatype": "rf32_le"}})");
  expect_error(1, "receive a", "core:datatype is \"rf32_le\"");
  write("a.sigmf-meta", R"({"global": {"core:datatype": "cf32_le", "core:sample_rate": "fast"}})");
  expect_error(1, "receive a", "core:sample_rate");
  write("a.sigmf-meta", R"({"global": {"core:datatype": "cf32_le", "core:num_channels": 0}})");
  expect_error(1, "receive a", "core:num_channels");
  write(
      "a.sigmf-meta",
      R"({"global": {"core:datatype": "cf32_le"}, "captures": [{"core:frequency": 1e9}, {"core:frequency": 2e9}]})");
  expect_error(1, "receive a --rate 3.84e6", "captures at 1000000000 Hz and 2000000000 Hz");
  write("a.sigmf-meta", R"({"global": {"core:datatype": "cf32_le"}})");
  expect_error(1, "receive a --rate 3.84e6", "a.sigmf-data: cannot be opened");
  write("a.sigmf-meta", R"({"global": {"core:datatype": "cf32_le", "core:dataset": "b.bin"}})");
  expect_error(1, "receive a --rate 3.84e6", "has core:dataset");
  put_sigmf("b", "cf32_le", std::string(800, '\0'));
  expect_error(1, "receive b --json b.sigmf-data", "b.sigmf-data");
}

// Every MIB, DCI and transport block that is decoded is right, and all are found.
TEST_F(receive_command, reads_files_of_other_programs) {
  const std::string folder = WARPBAND_REFDATA "/nr_time/samples/";
  std::ifstream truth(folder + "downlink.json");
  if (!truth) GTEST_SKIP() << "no refdata: cannot open '" << folder << "downlink.json'";
  std::size_t total = 0, total_messages = 0;
  const auto content = wb::testing::parse_json(truth);
  for (const auto& f : content.at("files")) {
    const std::string name = f.at("file").get<std::string>();
    SCOPED_TRACE(name);
    const auto cells = f.contains("cells") ? f.at("cells") : nlohmann::json::array({f});
    std::string arguments = folder + name;
    arguments += " --rate " + std::to_string(f.at("sample_rate_hz").get<double>());
    std::size_t whole = 0;
    std::vector<nlohmann::json> blocks, messages;
    for (const auto& cell : cells) {
      if (!cell.contains("ssb")) continue;
      const auto value = [&](const char* key) { return cell.contains(key) ? cell.at(key) : f.at(key); };
      const double offset =
          1e3 * value("scs_khz").get<double>() * (value("ssb_first_subcarrier_from_centre").get<int>() + 120);
      if (blocks.empty())
        arguments += " --spacing " + std::to_string(value("scs_khz").get<int>()) + " --offset " +
                     std::to_string(offset);
      for (auto block : cell.at("ssb")) {
        if (block.contains("whole_in_file") && !block.at("whole_in_file").get<bool>()) continue;
        block["n_id"] = value("n_id");
        blocks.push_back(block);
        whole++;
      }
      for (std::size_t i = 0; cell.contains("pdcch") && i < cell.at("pdcch").size(); i++) {
        auto message = cell.at("pdcch")[i];
        message["n_id"] = value("n_id"), message["tb"] = cell.at("pdsch").at(i).at("tb");
        if (message.at("whole_in_file").get<bool>()) messages.push_back(message);
      }
    }
    const auto record = received(arguments);
    std::size_t decoded = 0;
    std::set<std::tuple<int, int, int, int>> different;
    for (const auto& b : record["blocks"]) {
      if (!b["decoded"].get<bool>()) continue;
      decoded++;
      bool right = false;
      for (const auto& t : blocks)
        right |= t.at("n_id") == b["cell_id"] && t.at("mib") == b["mib"] && t.at("sfn") == b["sfn"] &&
                 t.at("i_ssb") == b["ssb_index"] && t.at("n_hf") == b["half_frame"];
      EXPECT_TRUE(right) << b;
      different.emplace(b["cell_id"].get<int>(), b["sfn"].get<int>(), b["half_frame"].get<int>(),
                        b["ssb_index"].get<int>());
    }
    EXPECT_EQ(different.size(), decoded);
    EXPECT_EQ(decoded, whole);
    total += whole;
    EXPECT_EQ(record["messages"].size(), messages.size());
    for (const auto& t : messages) {
      const auto is_found = [&](const nlohmann::json& m) {
        return t.at("n_id") == m["cell_id"] && t.at("sfn") == m["sfn"] && t.at("slot") == m["slot"] &&
               t.at("aggregation_level") == m["level"] && t.at("first_cce") == m["first_cce"] &&
               t.at("dci") == m["dci"] && m["decoded"].get<bool>() && t.at("tb") == m["block"];
      };
      const auto& found = record["messages"];
      EXPECT_EQ(std::count_if(found.begin(), found.end(), is_found), 1) << t;
    }
    total_messages += messages.size();
  }
  EXPECT_GT(total, 20u);
  EXPECT_EQ(total_messages, 6u);
  // In another table of CORESET 0 the same index has other resource blocks.
  const auto other = received(folder + "cell_c_clean.npy --rate 30.72e6 --spacing 30 --offset -450e3 --wide");
  EXPECT_EQ(other["blocks"].size(), 2u);
  EXPECT_EQ(other["messages"].size(), 0u);
}

}  // namespace receive_command_test
