#include <oracle/ofdm.hpp>

#include <cmath>
#include <numbers>

namespace oracle {
namespace {

/// exp(2 pi i turns / size), for any integer `turns`.
class circle {
 public:
  explicit circle(int size) : size_(size) {
    for (int k = 0; k < size; k++) points_.push_back(std::polar(1., 2 * std::numbers::pi * k / size));
  }
  std::complex<double> at(long long turns) const {
    const long long k = turns % size_;
    return points_[static_cast<std::size_t>(k < 0 ? k + size_ : k)];
  }

 private:
  int size_;
  std::vector<std::complex<double>> points_;
};

}  // namespace

ofdm_symbol ofdm_subcarriers(int size, int count, bool free_carrier) {
  ofdm_symbol s{size, {}};
  for (int k = -(count / 2); static_cast<int>(s.frequencies.size()) < count; k++)
    if (k != 0 || !free_carrier) s.frequencies.push_back(k);
  return s;
}

std::vector<std::complex<double>> ofdm_modulate(const ofdm_symbol& symbol,
                                                const std::vector<std::complex<double>>& values, int prefix) {
  const circle w(symbol.size);
  std::vector<std::complex<double>> samples;
  for (int n = -prefix; n < symbol.size; n++) {
    std::complex<double> sum = 0;
    for (std::size_t k = 0; k < values.size(); k++)
      sum += values[k] * w.at(static_cast<long long>(n) * symbol.frequencies[k]);
    samples.push_back(sum / std::sqrt(symbol.size));
  }
  return samples;
}

std::vector<std::complex<double>> ofdm_demodulate(const ofdm_symbol& symbol,
                                                  const std::complex<double>* samples) {
  const circle w(symbol.size);
  std::vector<std::complex<double>> values;
  for (const int frequency : symbol.frequencies) {
    std::complex<double> sum = 0;
    for (int n = 0; n < symbol.size; n++) sum += samples[n] * w.at(-static_cast<long long>(n) * frequency);
    values.push_back(sum / std::sqrt(symbol.size));
  }
  return values;
}

std::vector<std::complex<double>> delay_line(const std::vector<delayed_tap>& taps,
                                             const std::vector<std::complex<double>>& samples) {
  std::vector<std::complex<double>> out(samples.size());
  for (const delayed_tap& tap : taps)
    for (std::size_t n = static_cast<std::size_t>(tap.delay); n < samples.size(); n++)
      out[n] += tap.gain * samples[n - static_cast<std::size_t>(tap.delay)];
  return out;
}

std::vector<std::complex<double>> frequency_response(const std::vector<delayed_tap>& taps,
                                                     const ofdm_symbol& symbol) {
  const circle w(symbol.size);
  std::vector<std::complex<double>> response;
  for (const int frequency : symbol.frequencies) {
    std::complex<double> sum = 0;
    for (const delayed_tap& tap : taps)
      sum += tap.gain * w.at(-static_cast<long long>(tap.delay) * frequency);
    response.push_back(sum);
  }
  return response;
}

}  // namespace oracle
