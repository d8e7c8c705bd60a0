#pragma once
// What the tests of results share: a folder, results of a few frames, and what is said about files that are
// refused.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include <tests/link.hpp>
#include <tests/on_backends.hpp>
#include <tests/scratch.hpp>
#include <warpband/io/replacement.hpp>
#include <warpband/link/result.hpp>

namespace wb::testing {

class result_folder : public ::testing::Test, protected scratch_folder {};

/// All curves of a scenario, to their end.
inline run_result ran(const std::string& text, executor& exec, const std::string& path = "s.toml") {
  run_result r;
  r.source = parse_scenario(text, path);
  r.origin.machine = describe_machine(exec);
  for (const curve_config& c : r.source.curves) r.curves.push_back(run_curve(c, exec));
  r.complete = true;
  return r;
}

/// A result of links with antennas and of the SNR, after a few frames.
inline run_result antennas_sample() {
  const std::string text = R"(
code.k = 512
code.rate = "1/2"
decoder.iterations = 3
modem.modulation = "qpsk"
channel.type = "rayleigh"
mimo = { streams = 2, rx_antennas = 2 }
sweep.snr_db = { from = 0.0, to = 2.1, step = 0.3 }
stop.max_frames = 20
[[curve]]
label = "clipped"
detector = { type = "mmse", llr_clip = 0.7 }
[[curve]]
label = "zf"
detector.type = "zf"
code.type = "none"
)";
  const auto exec = open_scalar();
  run_result r;
  r.source = parse_scenario(text, "given/name.toml");
  r.origin.machine = describe_machine(*exec);
  for (const curve_config& c : r.source.curves) {
    r.curves.push_back({c.label, c, {}, {}, false});
    std::size_t batches = 0;
    run_curve(r.curves.back(), *exec,
              {.progress =  // a slow machine takes more batches for a point
               [&](const curve_result& so_far, std::size_t, const point_counts&) {
                 return so_far.points.empty() || ++batches < 4;
               },
               .finished = {}});
  }
  return r;
}

/// A result with all that a file can hold, after a few frames.
inline run_result sample() {
  const std::string text = R"(
title = "sample"
code.k = 512
decoder.iterations = 3
sweep.ebn0_db = { from = -2.1, to = 0.6, step = 0.3 }
stop.max_frames = 30
[[curve]]
label = "coded"
[[curve]]
label = "uncoded"
code.type = "none"
[[curve]]
label = "not begun"
seed = 2
)";
  const auto exec = open_scalar();
  run_result r;
  r.source = parse_scenario(text, "given/name.toml");
  apply_overrides(r.source,
                  {.seed = 9007199254740993, .frame_errors = 4, .max_frames = {}, .max_seconds = 1e8});
  r.earlier.push_back({"0.0.9", "abc", {"a CPU", "an OS", "cuda:0, a GPU", "", 0}});
  r.origin.machine = describe_machine(*exec);
  for (const curve_config& c : r.source.curves) r.curves.push_back({c.label, c, {}, {}, false});
  const curve_observer observer{
      .progress =  // how many batches a point takes is up to the machine
      [](const curve_result& so_far, std::size_t, const point_counts&) { return so_far.points.size() < 3; },
      .finished = {}};
  for (std::size_t i = 0; i < 2; i++) run_curve(r.curves[i], *exec, observer);
  r.curves[2].config.link = completed(r.curves[2].config.link);
  // A point that goes on from its finished state.
  unfinished_point more{r.curves[0].points[1].sweep_db, r.curves[0].points[1].counts};
  more.counts.frames++;
  more.counts.frames_run += 5;
  more.counts.seconds += 0.1;
  auto& under_way = r.curves[0].unfinished;
  under_way.insert(under_way.begin(), more);
  return r;
}

/// What load_result says about a text, without the file's name: one line.
inline std::string refusal(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
  try {
    load_result(file);
  } catch (const file_error& e) {
    EXPECT_EQ(e.path(), file);
    const std::string message = e.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message.substr(file.size() + 2);
  }
  ADD_FAILURE() << "not refused: " << text.substr(0, 2000);
  return "";
}

}  // namespace wb::testing
