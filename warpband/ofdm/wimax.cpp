#include <warpband/ofdm/wimax.hpp>

#include <algorithm>
#include <iterator>
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

constexpr int most_symbols = 4096;

bool meet(int a, int a_size, int b, int b_size) { return a < b + b_size && b < a + a_size; }
bool overlap(const wimax_burst& a, const wimax_burst& b) {
  return a.direction == b.direction && meet(a.first_tone, a.tones, b.first_tone, b.tones) &&
         meet(a.first_symbol, a.symbols, b.first_symbol, b.symbols);
}

}  // namespace

std::span<const wimax_profile> wimax_profiles() noexcept { return profiles; }

const wimax_profile& wimax_profile_of(int fft_size) {
  for (const wimax_profile& p : profiles)
    if (p.fft_size == fft_size) return p;
  throw argument_error("fft_size", std::to_string(fft_size), "128, 256, 512, 1024 or 2048");
}

int wimax_symbols(const wimax_profile& profile, double frame_ms) {
  constexpr double lengths[]{2, 2.5, 4, 5, 8, 10, 12.5, 20};
  if (std::find(std::begin(lengths), std::end(lengths), frame_ms) == std::end(lengths))
    throw argument_error("frame_ms", decimal(frame_ms), "2, 2.5, 4, 5, 8, 10, 12.5 or 20");
  return static_cast<int>(1e3 * frame_ms / profile.symbol_us());
}

std::size_t wimax_frame::codewords(wimax_direction direction, int qam) const noexcept {
  std::size_t sum = 0;
  for (const wimax_burst& b : bursts)
    if (b.direction == direction && b.qam == qam) sum += b.codewords();
  return sum;
}

wimax_frame make_wimax_frame(const wimax_profile& profile, int symbols, int downlink_symbols) {
  check_range("symbols", symbols, 1, most_symbols);
  check_range("downlink_symbols", downlink_symbols, 0, symbols);
  return {profile, downlink_symbols, symbols - downlink_symbols, {}};
}

void check(const wimax_frame& frame) {
  const int tones = frame.profile.data_subcarriers;
  check_range("data_subcarriers", tones, 1, 65536);
  check_range("downlink_symbols", frame.downlink_symbols, 0, most_symbols);
  check_range("uplink_symbols", frame.uplink_symbols, 0, most_symbols);
  for (std::size_t i = 0; i < frame.bursts.size(); i++) {
    const wimax_burst& b = frame.bursts[i];
    const std::string name = "bursts[" + std::to_string(i) + "].";
    if (b.qam != 4 && b.qam != 16 && b.qam != 64)
      throw argument_error(name + "qam", std::to_string(b.qam), "4, 16 or 64");
    const bool down = b.direction == wimax_direction::downlink;
    const int symbols = frame.symbols_of(b.direction);
    if (symbols == 0)
      throw argument_error(name + "direction", down ? "downlink" : "uplink", "the one that has symbols");
    check_range((name + "tones").c_str(), b.tones, 1, tones);
    check_range((name + "symbols").c_str(), b.symbols, 2, symbols);
    check_range((name + "first_tone").c_str(), b.first_tone, 0, tones - b.tones);
    check_range((name + "first_symbol").c_str(), b.first_symbol, 0, symbols - b.symbols);
    for (std::size_t j = 0; j < i; j++)
      if (overlap(b, frame.bursts[j]))
        throw argument_error("bursts[" + std::to_string(i) + "]",
                             "with tones and symbols of bursts[" + std::to_string(j) + "]",
                             "a place of its own for each burst");
  }
}

}  // namespace wb
