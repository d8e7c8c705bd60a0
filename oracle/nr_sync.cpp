#include <oracle/nr_sync.hpp>

#include <cmath>
#include <numbers>
#include <random>

namespace oracle {
namespace {

/// A sequence of bits that a recurrence continues.
template <class Next>
std::vector<int> recurrence(std::vector<int> x, Next next) {
  while (x.size() < 127) x.push_back(next(x, x.size() - 7));
  return x;
}

}  // namespace

std::vector<int> nr_pss(int n_id2) {
  const auto x = recurrence({0, 1, 1, 0, 1, 1, 1},
                            [](const std::vector<int>& v, std::size_t i) { return (v[i + 4] + v[i]) % 2; });
  std::vector<int> d;
  for (int n = 0; n < 127; n++) d.push_back(1 - 2 * x[static_cast<std::size_t>((n + 43 * n_id2) % 127)]);
  return d;
}

std::vector<int> nr_sss(int cell_id) {
  const int n_id1 = cell_id / 3, n_id2 = cell_id % 3, m0 = 15 * (n_id1 / 112) + 5 * n_id2, m1 = n_id1 % 112;
  const std::vector<int> start{1, 0, 0, 0, 0, 0, 0};
  const auto x0 =
      recurrence(start, [](const std::vector<int>& v, std::size_t i) { return (v[i + 4] + v[i]) % 2; });
  const auto x1 =
      recurrence(start, [](const std::vector<int>& v, std::size_t i) { return (v[i + 1] + v[i]) % 2; });
  std::vector<int> d;
  for (int n = 0; n < 127; n++)
    d.push_back((1 - 2 * x0[static_cast<std::size_t>((n + m0) % 127)]) *
                (1 - 2 * x1[static_cast<std::size_t>((n + m1) % 127)]));
  return d;
}

std::vector<std::complex<double>> nr_block_samples(const nr_block& block, double sample_rate_hz, double start,
                                                   std::size_t count) {
  using exact = std::complex<double>;
  const double pi = std::numbers::pi, useful = 1 / block.spacing_hz, prefix = useful * 144 / 2048,
               period = useful + prefix;
  std::mt19937 random(block.seed);
  std::vector<std::vector<exact>> grid(4, std::vector<exact>(240));
  const auto pss = nr_pss(block.cell_id % 3), sss = nr_sss(block.cell_id);
  for (std::size_t l = 0; l < 4; l++)
    for (std::size_t k = 0; k < 240; k++) {
      const bool middle = k >= 56 && k < 183, edge = k < 48 || k >= 192;
      if (l == 0 && middle) grid[l][k] = pss[k - 56];
      if (l == 2 && middle) grid[l][k] = sss[k - 56];
      if (block.pbch && (l == 1 || l == 3 || (l == 2 && edge)))
        grid[l][k] = std::polar(1., pi / 4 + pi / 2 * static_cast<double>(random() % 4));
    }
  std::vector<exact> samples(count);
  for (std::size_t n = 0; n < count; n++) {
    const double t = (static_cast<double>(n) - start) / sample_rate_hz;
    if (t < 0 || t >= 4 * period) continue;
    const std::size_t l = static_cast<std::size_t>(t / period);
    const double u = t - static_cast<double>(l) * period - prefix;
    // Neighbouring subcarriers differ by one turn: 240 products keep 13 digits.
    exact sum = 0, wave = std::polar(1., 2 * pi * (block.offset_hz - 120 * block.spacing_hz) * u);
    const exact turn = std::polar(1., 2 * pi * block.spacing_hz * u);
    for (std::size_t k = 0; k < 240; k++, wave *= turn) sum += grid[l][k] * wave;
    // Of a block in the middle of a half slot every symbol before it has the same length.
    const double begun = (static_cast<double>(block.first_symbol) + static_cast<double>(l)) * period + prefix;
    const double phase = -2 * pi * std::fmod(block.carrier_hz * begun, 1.) +
                         2 * pi * block.cfo_hz * static_cast<double>(n) / sample_rate_hz;
    samples[n] = sum * std::polar(1 / std::sqrt(sample_rate_hz / block.spacing_hz), phase);
  }
  return samples;
}

}  // namespace oracle
