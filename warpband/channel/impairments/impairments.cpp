#include <warpband/channel/impairments/impairments.hpp>

#include <cmath>
#include <numbers>

#include <warpband/channel/impairments/impairments_args.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(impair_sums)
WB_DECLARE_KERNEL(impair_totals)
WB_DECLARE_KERNEL(impair)

namespace {

constexpr double pi = std::numbers::pi;
/// Of the Kaiser window: about 80 dB of attenuation, and a transition of 0.16 of the sample rate.
constexpr double kaiser_beta = 8;

/// Modified Bessel function of order 0.
double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; term > 1e-18 * sum; k++) term *= x * x / (4. * k * k), sum += term;
  return sum;
}

/// The filter's value at a distance in samples.
double interpolation(double distance) {
  constexpr double half = impair_taps / 2;
  const double u = distance / half, window = u * u >= 1 ? 0 : bessel_i0(kaiser_beta * std::sqrt(1 - u * u));
  if (distance == std::round(distance)) return distance == 0 ? 1 : 0;
  return std::sin(pi * distance) / (pi * distance) * window / bessel_i0(kaiser_beta);
}

/// Filters for the fractions 0, 1 / phases, ... 1 of a position.
std::vector<float> filter_table() {
  std::vector<float> taps;
  for (int phase = 0; phase <= impair_phases; phase++)
    for (int tap = 0; tap < impair_taps; tap++)
      taps.push_back(static_cast<float>(
          interpolation(static_cast<double>(phase) / impair_phases - (tap - impair_before))));
  return taps;
}

std::int64_t in_fixed_point(double samples) {
  return std::llround(std::ldexp(samples, impair_fraction_bits));
}

/// The fraction of a number of turns, in 2^-64 turns.
std::uint64_t fraction_of(double turns) {
  const auto magnitude = static_cast<std::uint64_t>(std::ldexp(std::fmod(std::fabs(turns), 1.), 64));
  return turns < 0 ? 0 - magnitude : magnitude;
}

const impairments_config& checked(const impairments_config& c) {
  check_settings(impairments_settings(), c);
  if (std::fabs(c.cfo_hz) > c.sample_rate_hz)
    throw argument_error("cfo_hz", decimal(c.cfo_hz),
                         "up to the sample rate on both sides, " + decimal(c.sample_rate_hz));
  if (c.linewidth_hz > c.sample_rate_hz)
    throw argument_error("linewidth_hz", decimal(c.linewidth_hz),
                         "0 to the sample rate, " + decimal(c.sample_rate_hz));
  if (c.converter_bits == 1) throw argument_error("converter_bits", "1", "0 or 2 to 24");
  return c;
}

}  // namespace

const std::vector<setting_of<impairments_config>>& impairments_settings() {
  using c = impairments_config;
  static const std::vector<setting_of<c>> settings{
      number("sample_rate_hz", &c::sample_rate_hz, 1, 1e12, "Sample rate in Hz."),
      number("cfo_hz", &c::cfo_hz, -1e12, 1e12,
             "Carrier frequency offset: frequency of the signal minus that of the receiver.", false,
             "up to the sample rate on both sides"),
      number("delay_samples", &c::delay_samples, -1048576, 1048576,
             "Timing offset: delay in samples; fractions are allowed."),
      number("clock_offset_ppm", &c::clock_offset_ppm, -1000, 1000,
             "Sample clock offset: the converter's clock is faster by this number of parts per million."),
      number("linewidth_hz", &c::linewidth_hz, 0, 1e12,
             "Phase noise: width of the oscillator's Lorentzian line at half its power.", false,
             "0 to the sample rate"),
      number("noise_var", &c::noise_var, 0, 1e30, "Variance N0 of the noise of a sample."),
      number("iq_gain_db", &c::iq_gain_db, -20, 20, "IQ imbalance: amplitude of I over that of Q."),
      number("iq_phase_deg", &c::iq_phase_deg, -90, 90,
             "IQ imbalance: the angle by which I and Q are not orthogonal."),
      number("dc_i", &c::dc_i, -1e15, 1e15, "DC offset of the in-phase part."),
      number("dc_q", &c::dc_q, -1e15, 1e15, "DC offset of the quadrature part."),
      integer("converter_bits", &c::converter_bits, 0, 24,
              "Bits of the analogue-to-digital converter, with the sign. 0: no converter.", "0 or 2 to 24"),
      number("full_scale", &c::full_scale, 1e-15, 1e15,
             "Where the converter clips: parts are limited to -full_scale and to a step below full_scale.")};
  return settings;
}

impairments::impairments(const impairments_config& config) : config_(checked(config)) {
  static const resident<float> filters(filter_table());
  filters_ = filters;
}

void impairments::run(executor& exec, view<const std::complex<float>> samples, view<std::complex<float>> out,
                      random_range range, view<std::int32_t> erased) const {
  const impairments_config& c = config_;
  const std::size_t captures = samples.items, n = samples.elements;
  check_shape("samples", samples, captures, n);
  check_shape("out", out, captures, n);
  check_optional_shape("erased", erased, captures, 1);
  check_apart({{"out", out}, {"erased", erased}});
  if (n >= std::size_t{1} << 31)
    throw shape_error("samples", shape_text(captures, n), "captures of less than 2^31 samples");
  if (range.first > (std::uint64_t{1} << 32) || captures > (std::uint64_t{1} << 32) - range.first)
    throw argument_error("first", std::to_string(range.first), "numbers of captures below 2^32");
  if (may_overlap(byte_range(samples), byte_range(out)))
    throw shape_error("out", "a view that overlaps samples", "memory of its own");
  if (erased.data != nullptr && may_overlap(byte_range(samples), byte_range(erased)))
    throw shape_error("erased", "a view that overlaps samples", "memory of its own");
  if (captures == 0) return;
  const std::size_t tiles = (n + impair_tile - 1) / impair_tile;
  if (captures * tiles > (std::size_t{1} << 40))
    throw shape_error("samples", shape_text(captures, n),
                      "at most 2^40 tiles of " + std::to_string(impair_tile) + " samples");

  impair_args a{.in = as_pairs(samples),
                .out = as_pairs(out),
                .tiles = tiles,
                .seed = range.seed,
                .first = range.first,
                .point = range.point};
  a.drift = in_fixed_point(1 / (1 + 1e-6 * c.clock_offset_ppm) - 1);
  a.delay = in_fixed_point(c.delay_samples);
  if (a.drift != 0 || a.delay != 0) a.filters = filters_.on(exec);
  a.cfo_step = fraction_of(c.cfo_hz / c.sample_rate_hz);
  // A step is the real part of CN(0, 1), at most 4.8, times this number of 2^-32 turns.
  double walk = std::ldexp(std::sqrt(2 * 2 * pi * c.linewidth_hz / c.sample_rate_hz) / (2 * pi), 32);
  for (; 4.8 * walk > std::ldexp(1., 21); walk /= 2) a.walk_shift++;
  a.walk = static_cast<float>(walk);
  a.deviation = static_cast<float>(std::sqrt(c.noise_var));
  const double gain = std::pow(10., c.iq_gain_db / 40), half_angle = pi / 360 * c.iq_phase_deg;
  a.imbalanced = c.iq_gain_db != 0 || c.iq_phase_deg != 0;
  a.mixer[0] = static_cast<float>(gain * std::cos(half_angle));
  a.mixer[1] = static_cast<float>(-std::sin(half_angle) / gain);
  a.mixer[2] = static_cast<float>(-gain * std::sin(half_angle));
  a.mixer[3] = static_cast<float>(std::cos(half_angle) / gain);
  a.offset[0] = static_cast<float>(c.dc_i), a.offset[1] = static_cast<float>(c.dc_q);
  if (c.converter_bits != 0) {
    const double steps = std::ldexp(1., c.converter_bits - 1);
    a.most_steps = static_cast<float>(steps);
    a.steps_per_unit = static_cast<float>(steps / c.full_scale);
    a.unit_per_step = static_cast<float>(c.full_scale / steps);
  }
  const std::size_t items = captures * tiles;
  if (a.walk != 0 || erased.data != nullptr) {
    auto* memory = reinterpret_cast<std::int32_t*>(workspace_.on(exec, 2 * sizeof(std::int32_t) * items + 4));
    a.walked = memory;
    if (erased.data != nullptr) a.erased = memory + items, a.erased_sum = erased;
    exec.run(impair_sums_kernels(), &a, items);
    exec.run(impair_totals_kernels(), &a, captures);
  }
  exec.run(impair_kernels(), &a, items);
}

}  // namespace wb
