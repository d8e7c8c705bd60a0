#include <warpband/estimate/noise.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/estimate/design.hpp>

namespace wb {

WB_DECLARE_KERNEL(noise_sample)
WB_DECLARE_KERNEL(covariance_sum)
WB_DECLARE_KERNEL(covariance)
WB_DECLARE_KERNEL(whitener)
WB_DECLARE_KERNEL(whiten)

namespace {

using numbers = std::vector<double>;

/// Eigenvalues and, in columns, eigenvectors of a real symmetric matrix, by Jacobi's rotations.
struct eigen {
  numbers values;
  std::vector<numbers> vectors;  // vectors[i] belongs to values[i]; values rise
};
eigen eigen_of(std::vector<numbers> a) {
  const std::size_t n = a.size();
  std::vector<numbers> v(n, numbers(n));
  for (std::size_t i = 0; i < n; i++) v[i][i] = 1;
  for (int sweep = 0; sweep < 30; sweep++)
    for (std::size_t p = 0; p < n; p++)
      for (std::size_t q = p + 1; q < n; q++) {
        if (std::abs(a[p][q]) < 1e-300) continue;
        const double h = (a[q][q] - a[p][p]) / (2 * a[p][q]),
                     t = (h < 0 ? -1 : 1) / (std::abs(h) + std::sqrt(h * h + 1)),
                     c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; k++) {
          const double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
        }
        for (std::size_t k = 0; k < n; k++) {
          const double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
          const double u = v[p][k], w = v[q][k];
          v[p][k] = c * u - s * w, v[q][k] = s * u + c * w;
        }
      }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return a[x][x] < a[y][y]; });
  eigen e;
  for (const std::size_t i : order) e.values.push_back(a[i][i]), e.vectors.push_back(v[i]);
  return e;
}

constexpr std::size_t least_cells = 5, most_taps = 32;
constexpr double most_leak = 1e-6;

/// Filters of cells that reject a channel.
struct noise_filters {
  std::size_t taps = 0;
  std::vector<std::complex<float>> filter;
  double leak = 0;
};
noise_filters filters_of(const pilot_pattern& p) {
  const pilot_row& row = p.ports[0][0];
  const double cell = (row.back().element[0] - row[0].element[0]) / static_cast<double>(row.size() - 1),
               known = p.spacing_hz.value_or(0) * p.period_us.value_or(0) * 1e-6 - 1,
               prefix = known > 0 ? known : 1 / 14.0;
  // Turns from a cell to the next, of the first and the last delay.
  const double wanted = 1.65 * prefix * cell, width = std::min(wanted, 0.7),
               middle = (1.35 / 2) * prefix * cell * width / wanted;
  const std::size_t n = std::min(row.size(), most_taps);
  std::vector<numbers> band(n, numbers(n));
  for (std::size_t i = 0; i < n; i++)
    for (std::size_t j = 0; j < n; j++) {
      const double lag = static_cast<double>(i) - static_cast<double>(j), x = std::numbers::pi * lag;
      band[i][j] = i == j ? width : std::sin(x * width) / x;
    }
  const eigen e = eigen_of(std::move(band));
  noise_filters f;
  f.taps = n;
  double filters = 0;
  for (std::size_t i = 0; i < n && (i == 0 || e.values[i] < most_leak * width); i++, filters++) {
    f.leak += std::max(e.values[i], 0.0) / width;
    for (std::size_t k = 0; k < n; k++)  // a delay turns cells by -2 pi delay
      f.filter.emplace_back(std::polar(1.0, 2 * std::numbers::pi * middle * static_cast<double>(k)) *
                            e.vectors[i][k]);
  }
  f.leak /= filters;
  return f;
}

/// Of a row's cells, the mean for N0 = 1.
double mean_noise(const pilot_row& row) {
  double noise = 0;
  for (const pilot_cell& c : row) noise += noise_of(c);
  return noise / static_cast<double>(row.size());
}

}  // namespace

noise_estimator::noise_estimator(const pilot_pattern& pilots)
    : tables_(tables_of((check(pilots), pilots))), sizes_(sizes_of(pilots, 1)), silent_(pilots.silent) {
  if (!pilots.silent.empty()) {
    samples_ = pilots.silent.size();
    return;
  }
  if (pilots.cells() < least_cells)
    throw argument_error("pilots", std::to_string(pilots.cells()) + " cells in a row",
                         "5 or more, or silent resource elements");
  noise_filters f = filters_of(pilots);
  taps_ = static_cast<int>(f.taps);
  leak_ = f.leak;
  const std::vector<std::int32_t> next = rows_behind(pilots);
  const bool between =
      leak_ > most_leak && std::any_of(next.begin(), next.end(), [](std::int32_t t) { return t >= 0; });
  std::vector<std::int32_t> starts, rows;
  for (std::size_t start = 0; start + f.taps < pilots.cells(); start += std::max<std::size_t>(f.taps / 4, 1))
    starts.push_back(static_cast<std::int32_t>(start));
  starts.push_back(static_cast<std::int32_t>(pilots.cells() - f.taps));
  std::vector<float> scale;
  for (std::size_t port = 0; port < pilots.ports.size(); port++)
    for (std::size_t t = 0; t < pilots.rows(); t++) {
      if (between && next[t] < 0) continue;
      const auto line = [&](std::size_t row) {
        return static_cast<std::int32_t>(port * pilots.rows() + row);
      };
      double noise = mean_noise(pilots.ports[port][t]);
      if (between) noise += mean_noise(pilots.ports[port][as_size(next[t])]);
      rows.push_back(line(t));
      rows.push_back(between ? line(as_size(next[t])) : -1);
      scale.push_back(static_cast<float>(1 / std::sqrt(noise)));
    }
  samples_ = scale.size() * starts.size() * f.filter.size() / f.taps;
  filter_ = resident<std::complex<float>>(std::move(f.filter));
  starts_ = resident<std::int32_t>(std::move(starts));
  rows_ = resident<std::int32_t>(std::move(rows));
  scale_ = resident<float>(std::move(scale));
}

void noise_estimator::run(executor& exec, view<const std::complex<float>> received,
                          const noise_output& out) const {
  const std::size_t slots = slots_of(received, static_cast<std::size_t>(sizes_.elements)),
                    rx = received.elements;
  check_optional_shape("covariance", out.covariance, slots, rx * rx);
  check_optional_shape("noise_var", out.noise_var, slots, 1);
  check_apart({{"covariance", out.covariance}, {"noise_var", out.noise_var}});
  if (slots == 0) return;
  const bool silent = !silent_.host().empty();
  estimate_sizes sizes = sizes_;
  sizes.rx = static_cast<int>(rx);
  const std::size_t chunks = (samples_ + covariance_chunk - 1) / covariance_chunk,
                    sums = slots * rx * rx * chunks,
                    cells = silent ? 0
                                   : slots * rx *
                                         static_cast<std::size_t>(sizes.ports * sizes.rows * sizes.cells),
                    filtered = silent ? 0 : slots * rx * samples_;
  auto* work = reinterpret_cast<cx_pair*>(workspace_.on(exec, sizeof(cx_pair) * (sums + cells + filtered)));
  covariance_sum_args sum;
  sum.sizes = sizes;
  sum.chunks = static_cast<int>(chunks);
  sum.samples = static_cast<int>(samples_);
  sum.received = as_pairs(received);
  sum.out = work;
  if (silent) {
    sum.silent = silent_.on(exec);
  } else {
    run_cells(exec, tables_, sizes, received, slots, work + sums);
    const noise_sample_args filter{sizes,
                                   taps_,
                                   static_cast<int>(filter_.host().size() / as_size(taps_)),
                                   static_cast<int>(starts_.host().size()),
                                   static_cast<int>(samples_),
                                   starts_.on(exec),
                                   rows_.on(exec),
                                   scale_.on(exec),
                                   reinterpret_cast<const cx_pair*>(filter_.on(exec)),
                                   work + sums,
                                   work + sums + cells};
    exec.run(noise_sample_kernels(), &filter, filtered);
    sum.filtered = work + sums + cells;
  }
  exec.run(covariance_sum_kernels(), &sum, sums);
  covariance_args covariances{sizes.rx, sum.chunks, 1.f / static_cast<float>(samples_),
                              work,     {},         out.noise_var};
  if (out.covariance.data != nullptr) covariances.covariance = as_pairs(out.covariance);
  exec.run(covariance_kernels(), &covariances, slots);
}

void whitener::run(executor& exec, view<const std::complex<float>> covariance, float added,
                   view<const std::complex<float>> channel, view<const std::complex<float>> received,
                   view<std::complex<float>> out_channel, view<std::complex<float>> out_received,
                   view<std::uint8_t> status) const {
  const std::size_t slots = covariance.items, rx = received.elements, uses = received.items;
  check_range("rx_antennas", static_cast<long long>(rx), 1, 64);
  check_shape("covariance", covariance, slots, rx * rx);
  if (!(added >= 0) || !std::isfinite(added))
    throw argument_error("added", std::to_string(added), "a finite variance, not below 0");
  if (slots == 0 ? uses != 0 : uses % slots != 0)
    throw shape_error("received", shape_text(uses, rx),
                      "as many uses for each of " + std::to_string(slots) + " slots");
  if (channel.elements % rx != 0)
    throw shape_error("channel", shape_text(channel.items, channel.elements),
                      "streams for each of " + std::to_string(rx) + " antennas");
  check_shape("received", received, uses, rx);
  check_shape("channel", channel, uses, channel.elements);
  check_shape("out_received", out_received, uses, rx);
  check_shape("out_channel", out_channel, uses, channel.elements);
  check_optional_shape("status", status, uses, 1);
  check_apart({{"out_received", out_received}, {"out_channel", out_channel}, {"status", status}});
  if (uses == 0) return;
  auto* factor = reinterpret_cast<cx_pair*>(workspace_.on(exec, sizeof(cx_pair) * slots * rx * rx));
  const whitener_args inverse{static_cast<int>(rx), as_pairs(covariance), added, factor};
  exec.run(whitener_kernels(), &inverse, slots);
  const whiten_args a{static_cast<int>(rx),
                      static_cast<int>(channel.elements / rx),
                      uses / slots,
                      factor,
                      as_pairs(received),
                      as_pairs(channel),
                      as_pairs(out_received),
                      as_pairs(out_channel),
                      status};
  exec.run(whiten_kernels(), &a, uses);
}

}  // namespace wb
