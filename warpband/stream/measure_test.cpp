// What copies and stages of a frame take alone.
#include <gtest/gtest.h>

#include <complex>
#include <memory>
#include <string>
#include <vector>

#include <tests/on_backends.hpp>
#include <warpband/exec/cuda.hpp>
#include <warpband/receive/chains.hpp>
#include <warpband/stream/measure.hpp>

namespace measure_test {

using wb::testing::blamed;
using cf = std::complex<float>;

/// 8 antennas, 2 users, an estimate for 3 vectors.
std::shared_ptr<const wb::frame_receiver> uplink() {
  return wb::make_uplink_chain({{.antennas = 8, .users = 2, .qam = 16}, 3});
}
/// Arrays of an uplink frame.
struct frame {
  explicit frame(std::size_t items) : channel(items / 3 * 16), received(items * 8, cf(1, -1)) {
    for (std::size_t i = 0; i < channel.size(); i++) channel[i] = cf(static_cast<float>(i % 5) - 2, 1);
  }
  std::vector<const void*> arrays() const { return {channel.data(), received.data(), &noise_var}; }
  std::vector<cf> channel, received;
  float noise_var = 0.1f;
};

TEST(measure_stages, times_each_stage_on_every_device) {
  std::vector<std::string> devices{"cpu"};
  if (!wb::cuda_devices().empty()) devices.push_back("cuda:0");
  const auto chain = uplink();
  const frame f(12);
  for (const std::string& device : devices) {
    const wb::stage_times t = wb::measure_stages(*chain, device, 1, 12, f.arrays(), 5);
    ASSERT_EQ(t.stage_us.size(), chain->stages().size());
    for (const double us : t.stage_us) EXPECT_GT(us, 0) << device;
    EXPECT_GT(t.kernel_us, 0);
    EXPECT_GT(t.synchronous_us, 0);
    EXPECT_LE(t.synchronous_us, t.synchronous_p999_us);
    EXPECT_LE(t.synchronous_p999_us, t.synchronous_max_us);
    EXPECT_EQ(t.upload_bytes, 512U + 768U + 256U);  // H of 4, y of 12, N0
    EXPECT_EQ(t.download_bytes, 512U + 256U);       // LLRs, status
    const bool copies = device != "cpu";
    EXPECT_EQ(t.upload_us > 0, copies) << device;
    EXPECT_EQ(t.download_us > 0, copies) << device;
    EXPECT_EQ(t.copies_us > 0, copies) << device;
    EXPECT_LE(t.upload_us, t.upload_max_us);
  }
}

TEST(measure_stages, repeats_as_often_as_it_is_told_until_it_is_enough) {
  const auto chain = uplink();
  const frame f(3);
  int asked = 0;
  const auto never = [&] { return asked++, false; };
  (void)wb::measure_stages(*chain, "cpu", 1, 3, f.arrays(), 7, 1, never);
  EXPECT_EQ(asked, 3 * 6);  // the stage, all stages, the whole: before the second to the seventh time
  // A million repetitions would take longer than any test may.
  const wb::stage_times t =
      wb::measure_stages(*chain, "cpu", 1, 3, f.arrays(), 1'000'000, 1, [] { return true; });
  EXPECT_GT(t.stage_us.at(0), 0);
  EXPECT_EQ(t.synchronous_us, t.synchronous_max_us);
}

TEST(measure_stages, refuses_frames_that_the_chain_does_not_have) {
  const std::shared_ptr<const wb::frame_receiver> up = uplink(), down = wb::make_precode_chain(
                                                                     {{.antennas = 8, .users = 2}, 3});
  const frame f(12);
  for (const auto& chain : {up, down})
    for (const std::size_t items : {0U, 2U, 10U}) {  // with room for more than it would read
      EXPECT_EQ(blamed([&] { (void)wb::measure_stages(*chain, "cpu", 1, items, f.arrays()); }), "items");
      EXPECT_EQ(blamed([&] { (void)wb::measure_copies(*chain, {"cuda:0"}, items); }), "items");
    }
  const auto with = [&](std::vector<const void*> arrays, int repetitions, int batch) {
    return blamed([&] { (void)wb::measure_stages(*up, "cpu", 1, 12, arrays, repetitions, batch); });
  };
  EXPECT_EQ(with({f.channel.data(), f.received.data()}, 5, 1), "inputs");
  EXPECT_EQ(with(f.arrays(), 0, 1), "repetitions");
  EXPECT_EQ(with(f.arrays(), 5, 65), "batch");
}

}  // namespace measure_test
