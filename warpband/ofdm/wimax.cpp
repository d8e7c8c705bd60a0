#include <warpband/ofdm/wimax.hpp>

#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {
namespace {

constexpr double fixed_hz = 15625, mobile_hz = 10937.5;
constexpr wimax_profile profiles[]{{"fixed_256", 256, 192, 8, 3.5, fixed_hz},
                                   {"mobile_128", 128, 72, 12, 1.25, mobile_hz},
                                   {"mobile_512", 512, 360, 60, 5, mobile_hz},
                                   {"mobile_1024", 1024, 720, 120, 10, mobile_hz},
                                   {"mobile_2048", 2048, 1440, 240, 20, mobile_hz}};

}  // namespace

std::span<const wimax_profile> wimax_profiles() noexcept { return profiles; }

const wimax_profile& wimax_profile_of(int fft_size) {
  for (const wimax_profile& p : profiles)
    if (p.fft_size == fft_size) return p;
  throw argument_error("fft_size", std::to_string(fft_size), "128, 256, 512, 1024 or 2048");
}

int wimax_symbols(const wimax_profile& profile, double frame_ms) {
  if (frame_ms != 4 && frame_ms != 5 && frame_ms != 10 && frame_ms != 20)
    throw argument_error("frame_ms", decimal(frame_ms), "4, 5, 10 or 20");
  return static_cast<int>(1e3 * frame_ms / profile.symbol_us());
}

std::size_t wimax_frame::codewords(wimax_direction direction, int qam) const noexcept {
  std::size_t sum = 0;
  for (const wimax_burst& b : bursts)
    if (b.direction == direction && b.qam == qam) sum += b.codewords();
  return sum;
}

wimax_frame make_wimax_frame(const wimax_profile& profile, int symbols, int downlink_symbols) {
  check_range("symbols", symbols, 1, 4096);
  check_range("downlink_symbols", downlink_symbols, 0, symbols);
  return {profile, downlink_symbols, symbols - downlink_symbols, {}};
}

void check(const wimax_frame& frame) {
  for (const wimax_direction d : {wimax_direction::downlink, wimax_direction::uplink}) {
    const int symbols = frame.symbols_of(d), tones = frame.profile.data_subcarriers;
    std::size_t used = 0;
    for (const wimax_burst& b : frame.bursts) {
      if (b.direction != d) continue;
      if (b.qam != 4 && b.qam != 16 && b.qam != 64)
        throw argument_error("qam", std::to_string(b.qam), "4, 16 or 64");
      if (symbols == 0)
        throw argument_error("direction", d == wimax_direction::downlink ? "downlink" : "uplink",
                             "the one that has symbols");
      check_range("tones", b.tones, 1, tones);
      check_range("symbols", b.symbols, 1, symbols);
      used += static_cast<std::size_t>(b.tones) * static_cast<std::size_t>(b.symbols);
    }
    const std::size_t there = static_cast<std::size_t>(tones) * static_cast<std::size_t>(symbols);
    if (used > there)
      throw argument_error("bursts", "of " + std::to_string(used) + " tones and symbols",
                           "at most the " + std::to_string(there) + " of their direction");
  }
}

}  // namespace wb
