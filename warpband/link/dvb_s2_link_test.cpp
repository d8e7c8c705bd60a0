// Frames of DVB-S2 in links.
#include <tests/on_backends.hpp>
#include <tests/scenario.hpp>
#include <warpband/link/result.hpp>
#include <warpband/link/sweep.hpp>

namespace wb {
namespace dvb_s2_link_test {

using namespace testing;

TEST(dvb_s2_link, all_frames_are_wrong_in_noise_and_none_without_much) {
  const cpu_options options{.threads = 1, .instructions = available_isas().back()};
  const auto exec = std::make_unique<cpu>(options);
  curve_result curve;
  curve.config = only_curve(
      "sweep.ebn0_db = [1.0, 6.0]\nmodem.modulation = \"qpsk\"\n"
      "code = { type = \"dvb-s2\", n = 16200, rate = \"8/9\" }\ndecoder.iterations = 10\n"
      "stop = { frame_errors = 0, max_frames = 16 }\n");
  run_curve(curve, *exec);
  const std::uint64_t k = 14400 - 14 * 12;
  const point_counts &noisy = curve.points.at(0).counts, &good = curve.points.at(1).counts;
  EXPECT_EQ(noisy.frames, 16u);
  EXPECT_EQ(noisy.frame_errors, 16u);
  EXPECT_GT(noisy.bit_errors, 16 * k / 100);
  EXPECT_LT(noisy.bit_errors, 16 * k / 4);
  EXPECT_EQ(good.frames, 16u);
  EXPECT_EQ(good.frame_errors, 0u);
}

}  // namespace dvb_s2_link_test
}  // namespace wb
