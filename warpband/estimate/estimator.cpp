#include <warpband/estimate/estimator.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/estimate/cells.hpp>
#include <warpband/estimate/estimate_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(estimate_cells)
WB_DECLARE_KERNEL(estimate_frequency)
WB_DECLARE_KERNEL(estimate_time)
WB_DECLARE_KERNEL(spread_part)
WB_DECLARE_KERNEL(spread_total)
WB_DECLARE_KERNEL(spread_terms)

namespace {

std::vector<std::int32_t> checked(std::vector<std::int32_t> places, std::size_t elements) {
  if (places.empty()) {
    places.resize(elements);
    std::iota(places.begin(), places.end(), 0);
  }
  for (const std::int32_t p : places)
    if (p < 0 || static_cast<std::size_t>(p) >= elements)
      throw argument_error("places", std::to_string(p), "0 to " + std::to_string(elements - 1));
  return places;
}

}  // namespace

cell_tables tables_of(const pilot_pattern& pilots) {
  std::vector<std::int32_t> element;
  std::vector<std::complex<float>> weight;
  for (const auto& port : pilots.ports)
    for (const pilot_row& row : port)
      for (const pilot_cell& c : row)
        for (int i = 0; i < cell_elements; i++) {
          const bool used = i < c.elements;
          const auto index = static_cast<std::size_t>(used ? i : 0);
          const std::complex<double> p(c.pilot[index]);
          element.push_back(c.element[index]);
          weight.emplace_back(used ? 1.0 / (p * double(c.elements)) : 0.0);
        }
  return {resident<std::int32_t>(std::move(element)), resident<std::complex<float>>(std::move(weight))};
}

estimate_sizes sizes_of(const pilot_pattern& p, std::size_t rx) {
  return {.rx = static_cast<int>(rx),
          .ports = static_cast<int>(p.ports.size()),
          .rows = static_cast<int>(p.rows()),
          .cells = static_cast<int>(p.cells()),
          .subcarriers = p.subcarriers,
          .elements = static_cast<int>(p.elements())};
}

void run_cells(executor& exec, const cell_tables& tables, const estimate_sizes& sizes,
               view<const std::complex<float>> received, std::size_t slots, cx_pair* out) {
  const estimate_cells_args a{sizes, tables.element.on(exec),
                              reinterpret_cast<const cx_pair*>(tables.weight.on(exec)), as_pairs(received),
                              out};
  exec.run(estimate_cells_kernels(), &a,
           slots * static_cast<std::size_t>(sizes.rx * sizes.ports * sizes.rows * sizes.cells));
}

std::size_t slots_of(view<const std::complex<float>> received, std::size_t elements) {
  if (received.items % elements != 0)
    throw shape_error("received", shape_text(received.items, received.elements),
                      "whole slots of " + std::to_string(elements) + " resource elements");
  check_range("rx_antennas", static_cast<long long>(received.elements), 1, 64);
  check_shape("received", received, received.items, received.elements);
  return received.items / elements;
}

channel_estimator::channel_estimator(const pilot_pattern& pilots, const estimator_config& config,
                                     std::vector<std::int32_t> places)
    : config_((check(pilots), completed(config, pilots))),
      tables_(tables_of(pilots)),
      sizes_(sizes_of(pilots, 1)) {
  estimate_filters f = make_filters(pilots, config_);
  taps_ = f.taps;
  start_ = resident<std::int32_t>(std::move(f.start));
  frequency_ = resident<std::complex<float>>(std::move(f.frequency));
  time_ = resident<float>(std::move(f.time));
  places_ = resident<std::int32_t>(checked(std::move(places), pilots.elements()));
  std::vector<float> gain(this->places()), weight(this->places() * terms());
  for (std::size_t port = 0; port < ports(); port++)
    for (std::size_t i = 0; i < this->places(); i++) {
      const std::size_t index = port * elements() + static_cast<std::size_t>(places_.host()[i]);
      bias_.push_back(f.bias[index]);
      gain_.push_back(f.gain[index]);
      gain[i] += f.gain[index];
      if (config_.method == estimate_method::lmmse) weight[i] += f.bias[index];
    }
  if (config_.method == estimate_method::ls) {
    for (std::size_t i = 0; i < this->places(); i++)
      std::copy_n(f.spread.weight.begin() + static_cast<std::ptrdiff_t>(as_size(places_.host()[i]) * terms()),
                  terms(), weight.begin() + static_cast<std::ptrdiff_t>(i * terms()));
    spread_ = std::move(f.spread);
    next_ = resident<std::int32_t>(std::move(spread_.next));
    divided_ = resident<float>(std::move(spread_.divided));
    spread_.weight.clear();
  }
  all_gain_ = resident<float>(std::move(gain));
  weight_ = resident<float>(std::move(weight));
}

std::size_t channel_estimator::terms() const noexcept {
  return config_.method == estimate_method::ls ? spread_terms : 1;
}
std::size_t channel_estimator::parts(std::size_t rx) const noexcept {
  return rx * as_size(sizes_.ports * sizes_.rows * ((sizes_.cells + spread_chunk - 1) / spread_chunk));
}

std::size_t channel_estimator::working_bytes(std::size_t slots, std::size_t rx) const noexcept {
  const std::size_t spread =
      config_.method == estimate_method::lmmse
          ? 0
          : sizeof(spread_sum) * parts(rx) * spread_sums + sizeof(float) * (spread_sums + spread_terms + 1);
  return slots * (sizeof(cx_pair) * rx * as_size(sizes_.ports * sizes_.rows) *
                      as_size(sizes_.cells + sizes_.subcarriers) +
                  spread);
}

double channel_estimator::error_variance(std::size_t port, double noise_var) const {
  places_.check_held();
  check_range("port", static_cast<long long>(port), 0, sizes_.ports - 1);
  double sum = 0;
  for (std::size_t i = port * places(); i < (port + 1) * places(); i++)
    sum += bias_[i] + gain_[i] * noise_var;
  return sum / static_cast<double>(places());
}

void channel_estimator::run(executor& exec, view<const std::complex<float>> received,
                            view<const float> noise_var, const estimate_output& out) const {
  places_.check_held();
  const std::size_t slots = slots_of(received, elements()), rx = received.elements, uses = slots * places();
  check_optional_shape("channel", out.channel, uses, rx * ports());
  check_optional_shape("noise_var", out.noise_var, uses, 1);
  if (out.noise_var.data != nullptr) check_shape("noise_var", noise_var, slots, 1);
  check_apart({{"channel", out.channel}, {"noise_var", out.noise_var}});
  if (uses == 0) return;
  estimate_sizes sizes = sizes_;
  sizes.rx = static_cast<int>(rx);
  const std::size_t rows = slots * rx * static_cast<std::size_t>(sizes.ports * sizes.rows),
                    cells = rows * static_cast<std::size_t>(sizes.cells);
  const bool measured = config_.method == estimate_method::ls && out.noise_var.data != nullptr;
  estimate_time_args time;
  if (out.channel.data != nullptr || measured) {
    auto* work = reinterpret_cast<cx_pair*>(workspace_.on(exec, working_bytes(slots, rx)));
    run_cells(exec, tables_, sizes, received, slots, work);
    if (out.channel.data != nullptr) {
      const estimate_frequency_args frequency{
          sizes, taps_,       start_.on(exec), reinterpret_cast<const cx_pair*>(frequency_.on(exec)),
          work,  work + cells};
      exec.run(estimate_frequency_kernels(), &frequency, rows * as_size(sizes.subcarriers));
      time.in = work + cells;
    }
    if (measured)
      time.term = measure(exec, sizes, work,
                          reinterpret_cast<spread_sum*>(work + cells + rows * as_size(sizes.subcarriers)),
                          slots, noise_var);
  }
  time.sizes = sizes;
  time.places = static_cast<int>(places());
  time.place = places_.on(exec);
  time.filter = time_.on(exec);
  time.gain = all_gain_.on(exec);
  time.terms = static_cast<int>(terms());
  time.weight = weight_.on(exec);
  time.noise_var = noise_var;
  if (out.channel.data != nullptr) time.channel = as_pairs(out.channel);
  time.noise = out.noise_var;
  exec.run(estimate_time_kernels(), &time, uses);
}

const float* channel_estimator::measure(executor& exec, const estimate_sizes& sizes, const cx_pair* cells,
                                        spread_sum* work, std::size_t slots,
                                        view<const float> noise_var) const {
  const std::size_t part_count = parts(as_size(sizes.rx));
  auto* means = reinterpret_cast<float*>(work + slots * part_count * spread_sums);
  float* terms = means + slots * spread_sums;
  const spread_part_args part{
      sizes, (sizes.cells + spread_chunk - 1) / spread_chunk, next_.on(exec), divided_.on(exec), cells, work};
  exec.run(spread_part_kernels(), &part, slots * part_count);
  const spread_total_args total{static_cast<int>(part_count), work, means};
  exec.run(spread_total_kernels(), &total, slots * spread_sums);
  spread_terms_args last{sizes, spread_.known, spread_.most_slope, {}, means, noise_var, terms};
  std::copy(spread_.noise.begin(), spread_.noise.end(), last.noise);
  exec.run(spread_terms_kernels(), &last, slots);
  return terms;
}

}  // namespace wb
