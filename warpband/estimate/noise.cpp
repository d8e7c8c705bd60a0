#include <warpband/estimate/noise.hpp>

#include <cmath>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(covariance_sum)
WB_DECLARE_KERNEL(covariance)
WB_DECLARE_KERNEL(whitener)
WB_DECLARE_KERNEL(whiten)

namespace {

constexpr std::size_t neighbours = 4;
/// Variance of d for independent cells of variance 1.
constexpr double difference_gain = 1 + (16 + 16 + 1 + 1) / 36.0;

/// sqrt(g) of every row.
std::vector<float> scales_of(const pilot_pattern& pilots) {
  std::vector<float> scales;
  for (const auto& port : pilots.ports)
    for (const pilot_row& row : port) {
      double noise = 0;
      for (const pilot_cell& c : row)
        for (int i = 0; i < c.elements; i++)
          noise += 1 / (std::norm(std::complex<double>(c.pilot[static_cast<std::size_t>(i)])) * c.elements *
                        c.elements);
      scales.push_back(
          static_cast<float>(1 / std::sqrt(difference_gain * noise / static_cast<double>(row.size()))));
    }
  return scales;
}

}  // namespace

noise_estimator::noise_estimator(const pilot_pattern& pilots)
    : tables_(tables_of((check(pilots), pilots))), of_(sizes_of(pilots, 1)), silent_(pilots.silent) {
  if (!pilots.silent.empty()) {
    samples_ = pilots.silent.size();
    return;
  }
  if (pilots.cells() <= neighbours)
    throw argument_error("pilots", std::to_string(pilots.cells()) + " cells in a row",
                         "5 or more, or silent resource elements");
  samples_ = pilots.ports.size() * pilots.rows() * (pilots.cells() - neighbours);
  scale_ = resident<float>(scales_of(pilots));
}

void noise_estimator::run(executor& exec, view<const std::complex<float>> received,
                          const noise_output& out) const {
  const std::size_t slots = slots_of(received, static_cast<std::size_t>(of_.elements)),
                    rx = received.elements;
  check_optional_shape("covariance", out.covariance, rx * rx, slots);
  check_optional_shape("noise_var", out.noise_var, 1, slots);
  check_apart({{"covariance", out.covariance}, {"noise_var", out.noise_var}});
  if (slots == 0) return;
  const bool silent = !silent_.host().empty();
  estimate_sizes of = of_;
  of.rx = static_cast<int>(rx);
  const std::size_t chunks = (samples_ + covariance_chunk - 1) / covariance_chunk,
                    sums = slots * rx * rx * chunks,
                    cells = silent ? 0 : slots * rx * static_cast<std::size_t>(of.ports * of.rows * of.cells);
  auto* work = reinterpret_cast<cx_pair*>(workspace_.on(exec, sizeof(cx_pair) * (sums + cells)));
  if (!silent) run_cells(exec, tables_, of, received, slots, work + sums);
  covariance_sum_args sum;
  sum.of = of;
  sum.chunks = static_cast<int>(chunks);
  sum.samples = static_cast<int>(samples_);
  sum.silent = silent ? silent_.on(exec) : nullptr;
  sum.received = as_pairs(received);
  sum.cells = work + sums;
  sum.scale = silent ? nullptr : scale_.on(exec);
  sum.out = work;
  exec.run(covariance_sum_kernels(), &sum, sums);
  covariance_args all{of.rx, sum.chunks, 1.f / static_cast<float>(samples_), work, {}, out.noise_var};
  if (out.covariance.data != nullptr) all.covariance = as_pairs(out.covariance);
  exec.run(covariance_kernels(), &all, slots);
}

void whitener::run(executor& exec, view<const std::complex<float>> covariance, float added,
                   view<const std::complex<float>> received, view<const std::complex<float>> channel,
                   view<std::complex<float>> out_received, view<std::complex<float>> out_channel) const {
  const std::size_t slots = covariance.items, rx = received.elements, uses = received.items;
  check_range("rx_antennas", static_cast<long long>(rx), 1, 64);
  check_shape("covariance", covariance, rx * rx, slots);
  if (!(added >= 0) || !std::isfinite(added))
    throw argument_error("added", std::to_string(added), "a finite variance, not below 0");
  if (slots == 0 ? uses != 0 : uses % slots != 0)
    throw shape_error("received", shape_text(uses, rx),
                      "as many uses for each of " + std::to_string(slots) + " slots");
  if (channel.elements % rx != 0)
    throw shape_error("channel", shape_text(channel.items, channel.elements),
                      "streams for each of " + std::to_string(rx) + " antennas");
  check_shape("received", received, rx, uses);
  check_shape("channel", channel, channel.elements, uses);
  check_shape("out_received", out_received, rx, uses);
  check_shape("out_channel", out_channel, channel.elements, uses);
  check_apart({{"out_received", out_received}, {"out_channel", out_channel}});
  if (uses == 0) return;
  auto* factor = reinterpret_cast<cx_pair*>(workspace_.on(exec, sizeof(cx_pair) * slots * rx * rx));
  const whitener_args inverse{static_cast<int>(rx), as_pairs(covariance), added, factor};
  exec.run(whitener_kernels(), &inverse, slots);
  const whiten_args a{static_cast<int>(rx),   static_cast<int>(channel.elements / rx),
                      uses / slots,           factor,
                      as_pairs(received),     as_pairs(channel),
                      as_pairs(out_received), as_pairs(out_channel)};
  exec.run(whiten_kernels(), &a, uses);
}

}  // namespace wb
