#include <warpband/channel/tdl/tdl.hpp>

#include <cmath>
#include <numbers>

#include <warpband/channel/kronecker/kronecker.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(tdl)

namespace {

constexpr double most_turns = 1000;    // of a Doppler shift in a block: sincos takes 1591
constexpr int most_scratch = 1 << 21;  // values of a block

std::size_t paths_of(const tdl_config& c) {
  return c.profile.taps.size() * static_cast<std::size_t>(c.streams) *
         static_cast<std::size_t>(c.rx_antennas);
}
double turns_per_symbol(const tdl_config& c) { return c.doppler_hz * c.grid.period_us() * 1e-6; }

std::vector<float> amplitudes_of(const tdl_config& c) {
  const std::size_t paths = paths_of(c), taps = c.profile.taps.size();
  const std::size_t stride = static_cast<std::size_t>(tdl_padded(static_cast<int>(paths)));
  std::vector<float> amplitudes(2 * stride);
  const std::vector<double> powers = tap_powers(c.profile);
  const double k = c.profile.rician_k_db ? std::pow(10, *c.profile.rician_k_db / 10) : 0;
  const double sinusoids = c.doppler_hz > 0 ? c.sinusoids : 1;
  for (std::size_t p = 0; p < paths; p++) {
    const double power = powers[p % taps], fixed = p % taps == 0 ? power * k / (1 + k) : 0;
    amplitudes[p] = static_cast<float>(std::sqrt((p % taps == 0 ? power / (1 + k) : power) / sinusoids));
    amplitudes[stride + p] = static_cast<float>(std::sqrt(fixed));
  }
  return amplitudes;
}

/// L of the antennas' correlation; nothing where there is none.
std::vector<float> spatial_factor(const tdl_config& c) {
  if (c.spatial.correlation == antenna_correlation::low) return {};
  return correlation_factor("correlation", spatial_correlation(c.spatial, c.streams, c.rx_antennas),
                            c.streams * c.rx_antennas);
}

std::vector<std::uint32_t> numbers_of(const tdl_config& c) {
  std::vector<std::uint32_t> numbers;
  for (int r = 0; r < c.rx_antennas; r++)
    for (int s = 0; s < c.streams; s++)
      for (int l = 0; l < static_cast<int>(c.profile.taps.size()); l++)
        numbers.push_back(tdl_number(r, s, l));
  numbers.resize(static_cast<std::size_t>(tdl_padded(static_cast<int>(numbers.size()))));
  return numbers;
}

std::vector<float> rotations_of(const tdl_config& c) {
  const std::size_t stride = static_cast<std::size_t>(tdl_padded(c.grid.subcarriers));
  std::vector<float> rotations;
  for (const tdl_tap& tap : c.profile.taps)
    for (const bool imaginary : {false, true})
      for (std::size_t k = 0; k < stride; k++) {
        const double turns = static_cast<double>(k) * c.grid.spacing_hz * tap.delay_ns * 1e-9;
        const double angle = -2 * std::numbers::pi * (turns - std::floor(turns));
        rotations.push_back(static_cast<float>(imaginary ? std::sin(angle) : std::cos(angle)));
      }
  return rotations;
}

}  // namespace

const std::vector<setting_of<tdl_config>>& tdl_settings() {
  using c = tdl_config;
  static const std::vector<setting_of<c>> settings = [] {
    std::vector<setting_of<c>> list{
        number("doppler_hz", &c::doppler_hz, 0, 1e6,
               "The largest Doppler shift, of Clarke's spectrum. 0: h does not change within a block. The "
               "tests of LTE have 5, 70 and 300.",
               false, "a number from 0 to 1e6, up to 1000 periods in a block"),
        integer("sinusoids", &c::sinusoids, 8, 256,
                "Sinusoids that a tap is made of, where there is a Doppler shift."),
        integer("streams", &c::streams, 1, 8, "Transmit antennas.").not_of_links(),
        integer("rx_antennas", &c::rx_antennas, 1, 16, "Receive antennas.").not_of_links()};
    for (auto& s : within<c>([](c& t) -> spatial_config& { return t.spatial; }, spatial_settings()))
      list.push_back(std::move(s));
    for (auto& s : within<c>([](c& t) -> ofdm_grid& { return t.grid; }, grid_settings()))
      list.push_back(std::move(s));
    return list;
  }();
  return settings;
}

void check(const tdl_config& c) {
  check(c.profile);
  check(c.grid);
  check_delay(c.grid, longest_delay_ns(c.profile));
  check_range("streams", c.streams, 1, 8);
  check_range("rx_antennas", c.rx_antennas, 1, 16);
  check_range("sinusoids", c.sinusoids, 8, 256);
  if (c.spatial.correlation != antenna_correlation::low) {
    if (c.profile.rician_k_db)
      throw argument_error("correlation", "another one than \"low\"", "\"low\" with a Rician first tap");
    spatial_correlation(c.spatial, c.streams, c.rx_antennas);
  }
  const double seconds = c.grid.period_us() * 1e-6 * c.grid.symbols;
  if (!(c.doppler_hz >= 0 && c.doppler_hz * seconds <= most_turns))
    throw argument_error(
        "doppler_hz", decimal(c.doppler_hz),
        "0 to " + decimal(most_turns / seconds) + ", 1000 periods in a block of " + decimal(seconds) + " s");
  if (c.doppler_hz == 0) return;
  // What a block's paths may take while they are made.
  const auto values = most_scratch / tdl_padded(static_cast<int>(paths_of(c)));
  const auto sinusoids = (values / 2 - 2) / 3, symbols = (values - 3 * c.sinusoids - 2) / 2;
  const std::string paths =
      " with " + std::to_string(paths_of(c)) + " taps of all antennas and a Doppler frequency";
  if (c.sinusoids > sinusoids)
    throw argument_error("sinusoids", std::to_string(c.sinusoids),
                         "at most " + std::to_string(sinusoids) + paths);
  if (c.grid.symbols > symbols)
    throw argument_error("symbols", std::to_string(c.grid.symbols),
                         "at most " + std::to_string(symbols) + paths);
}

tdl_channel::tdl_channel(const tdl_config& config)
    : config_((check(config), config)),
      amplitudes_(amplitudes_of(config)),
      spatial_(spatial_factor(config)),
      numbers_(numbers_of(config)),
      rotations_(rotations_of(config)) {}

tdl_args tdl_channel::arguments(executor& exec, view<std::complex<float>> channel, random_range range) const {
  const tdl_config& c = config_;
  const std::size_t uses = channel.items;
  if (uses % c.grid.elements() != 0)
    throw shape_error("channel", shape_text(uses, channel.elements),
                      "whole blocks of symbols * subcarriers = " + std::to_string(c.grid.elements()));
  check_shape("channel", channel, uses, static_cast<std::size_t>(c.rx_antennas * c.streams));
  const bool fades = c.doppler_hz > 0;
  tdl_args a;
  a.subcarriers = c.grid.subcarriers;
  a.symbols = c.grid.symbols;
  a.taps = static_cast<int>(c.profile.taps.size());
  a.streams = c.streams;
  a.rx_antennas = c.rx_antennas;
  a.padded_paths = tdl_padded(static_cast<int>(paths_of(c)));
  a.padded_subcarriers = tdl_padded(a.subcarriers);
  a.sinusoids = fades ? c.sinusoids : 1;
  a.times = fades ? c.grid.symbols : 1;
  a.fixed = c.profile.rician_k_db.has_value();
  const double turn = 2 * std::numbers::pi * turns_per_symbol(c);
  a.turn = static_cast<float>(turn);
  a.fixed_turn = static_cast<float>(0.7 * turn);
  a.sector = fades ? static_cast<std::uint32_t>((std::uint64_t{1} << 32) / static_cast<unsigned>(c.sinusoids))
                   : UINT32_MAX;
  a.amplitudes = amplitudes_.on(exec);
  a.numbers = numbers_.on(exec);
  a.rotations = rotations_.on(exec);
  a.spatial = spatial_.host().empty() ? nullptr : spatial_.on(exec);
  a.channel = as_pairs(channel);
  a.seed = range.seed;
  a.first = range.first;
  a.point = range.point;
  return a;
}

void tdl_channel::response(executor& exec, view<std::complex<float>> channel, random_range range) const {
  const tdl_args a = arguments(exec, channel, range);
  exec.run(tdl_kernels(), &a, channel.items / config_.grid.elements());
}

void tdl_channel::apply(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
                        view<std::complex<float>> channel, random_range range) const {
  check_shape("in", in, channel.items, static_cast<std::size_t>(config_.streams));
  check_shape("out", out, channel.items, static_cast<std::size_t>(config_.rx_antennas));
  check_apart({{"out", out}, {"channel", channel}});
  tdl_args a = arguments(exec, channel, range);
  a.in = as_pairs(in);
  a.out = as_pairs(out);
  exec.run(tdl_kernels(), &a, channel.items / config_.grid.elements());
}

}  // namespace wb
