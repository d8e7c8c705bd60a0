#include <warpband/channel/binary/binary.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {

WB_DECLARE_KERNEL(binary)

namespace {

constexpr float known_llr_of_bit = static_cast<float>(known_bit_llr);

double checked_probability(double p) {
  if (!(p >= 0 && p <= 1)) throw argument_error("probability", decimal(p), "0 to 1");
  return p;
}

/// ln(numerator / denominator) of probabilities that are not both 0.
float limited_ratio(double numerator, double denominator) {
  if (denominator == 0) return known_llr_of_bit;
  if (numerator == 0) return -known_llr_of_bit;
  return static_cast<float>(std::clamp(std::log(numerator / denominator), -known_bit_llr, known_bit_llr));
}

std::uint64_t threshold_of(double probability) {
  const double scaled = std::ldexp(probability, 64);
  return scaled < std::ldexp(1.0, 64) ? static_cast<std::uint64_t>(scaled)
                                      : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

binary_channel binary_symmetric_channel(double probability) {
  const double p = checked_probability(probability);
  const float llr = limited_ratio(1 - p, p);
  return {.change = {p, p}, .llr = {llr, -llr}};
}

binary_channel binary_erasure_channel(double probability) {
  const double p = checked_probability(probability);
  return {
      .change = {p, p}, .changed = {erased_bit, erased_bit}, .llr = {known_llr_of_bit, -known_llr_of_bit}};
}

binary_channel z_channel(double probability) {
  const double p = checked_probability(probability);
  return {.change = {0, p}, .llr = {limited_ratio(1, p), -known_llr_of_bit}};
}

void send_bits(executor& exec, const binary_channel& channel, view<const std::uint8_t> bits,
               view<std::uint8_t> received, random_range range) {
  check_shape("bits", bits, bits.items, 1);
  check_shape("received", received, bits.items, 1);
  binary_args a{
      .bits = bits, .received = received, .seed = range.seed, .first = range.first, .point = range.point};
  for (const std::size_t bit : {0, 1}) {
    a.threshold[bit] = threshold_of(checked_probability(channel.change[bit]));
    a.changed[bit] = channel.changed[bit];
  }
  exec.run(binary_kernels(), &a, bits.items);
}

}  // namespace wb
