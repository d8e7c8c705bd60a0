#include <warpband/ofdm/modem/modem.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/ofdm/modem/modem_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(ofdm_copy)

namespace {

const ofdm_numerology& checked(const ofdm_numerology& n) {
  check_fft_size(n.fft_size);
  check(n);
  return n;
}

ofdm_span checked(ofdm_span span, const ofdm_numerology& n) {
  check_range("first_symbol", span.first_symbol, 0, 2 * n.symbols_per_slot - 1);
  check_range("symbols", span.symbols, 0, 65536);
  check_number("carrier_hz", span.carrier_hz, -1e12, 1e12);
  if (span.symbols == 0) span.symbols = n.symbols_per_slot;
  return span;
}

std::size_t rows_of(const char* name, std::size_t rows, int symbols) {
  if (rows > (std::size_t{1} << 40) / static_cast<std::size_t>(symbols))
    throw shape_error(name, std::to_string(rows) + " items", "at most 2^40 symbols");
  return rows;
}

/// In the FFT's order the used subcarriers are two runs: the upper half from bin 0 or 1 on, the lower half at
/// the end.
struct halves {
  ofdm_run lower, upper;  // from a row of subcarriers to bins
  explicit halves(const ofdm_numerology& n) {
    const int below = n.subcarriers / 2;
    lower = {0, n.fft_size - below, below, false};
    upper = {below, n.free_carrier ? 1 : 0, n.subcarriers - below, false};
  }
};
ofdm_run reversed(ofdm_run r) {
  std::swap(r.from, r.to);
  return r;
}

/// The threads of a block that serve runs of so many values; each takes a few.
int threads_for(int values) { return std::clamp(values / 2, 32, 256); }

/// Passes begin at the first slot of a subframe, as phases do.
std::size_t even(std::size_t rows) { return (rows + 1) / 2 * 2; }

}  // namespace

/// Symbols of a span between which all distances are equal: those of a slot, or `slots` whole slots of a span
/// that is alone. The first has the longer prefix if the part begins a slot.
struct ofdm_modem::part {
  int first = 0, symbols = 0;  // counted in the span; of one slot
  std::size_t slots = 1;
  bool begins_slot = true;
};

ofdm_modem::ofdm_modem(const ofdm_numerology& numerology, const ofdm_span& span, fft_direction direction)
    : numerology_(checked(numerology)),
      span_(checked(span, numerology_)),
      fft_(numerology.fft_size, direction) {
  if (span_.carrier_hz == 0) return;
  // In double: f0 t is up to 10^9 turns, of which a fraction counts.
  const int n = numerology_.symbols_per_slot;
  for (int s = 0; s < 2 * n; s++) {
    const double samples = s / n * numerology_.samples_per_slot() + numerology_.first_sample_of(s % n),
                 turns = std::fmod(span_.carrier_hz * samples, numerology_.sample_rate_hz()) /
                         numerology_.sample_rate_hz(),
                 angle = (direction == fft_direction::inverse ? -2 : 2) * std::numbers::pi * turns;
    phases_.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
  }
}

/// Of a span: before the prefix of a symbol.
std::size_t ofdm_modem::samples_before(int symbol) const noexcept {
  const ofdm_numerology& n = numerology_;
  const auto before = [&](int s) {  // from the start of the subframe
    const int slot = s / n.symbols_per_slot, in_slot = s % n.symbols_per_slot;
    return static_cast<std::size_t>(slot) * static_cast<std::size_t>(n.samples_per_slot()) +
           static_cast<std::size_t>(in_slot == 0 ? 0 : n.first_sample_of(in_slot) - n.cyclic_prefix);
  };
  return before(span_.first_symbol + symbol) - before(span_.first_symbol);
}

/// Of a row.
std::size_t ofdm_modem::samples_of(const part& p) const noexcept {
  return samples_before(p.first + p.symbols) - samples_before(p.first);
}

std::vector<ofdm_modem::part> ofdm_modem::parts(std::size_t rows) const {
  std::vector<part> found;
  const int n = numerology_.symbols_per_slot;
  for (int first = 0; first < span_.symbols;) {
    const int in_slot = (span_.first_symbol + first) % n, left = span_.symbols - first;
    part p{first, std::min(n - in_slot, left), 1, in_slot == 0};
    if (rows == 1 && in_slot == 0 && left >= n) p.slots = static_cast<std::size_t>(left / n);
    found.push_back(p);
    first += p.symbols * static_cast<int>(p.slots);
  }
  return found;
}

/// So many that what lies between the steps of a call stays in a CPU's caches, and fills a CUDA device.
std::size_t ofdm_modem::rows_at_once(const executor& exec, std::size_t samples) const {
  const std::size_t bytes = exec.preferred_blocks() * (std::size_t{1} << 16);
  return std::max<std::size_t>(1, bytes / (sizeof(cx_pair) * samples));
}

ofdm_copy_args ofdm_modem::copy_args(const part& p) const {
  ofdm_copy_args a;
  a.symbols = p.symbols;
  a.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(numerology_.fft_size)));
  a.threads = threads_for(numerology_.subcarriers);
  return a;
}

/// The phase of each symbol, for copies of values.
void ofdm_modem::set_phases(const part& p, ofdm_copy_args& a) const {
  a.phases = static_cast<int>(phases_.size());
  a.first_phase = span_.first_symbol + p.first;
  a.phases_go_on = p.slots > 1;
  std::copy(phases_.begin(), phases_.end(), a.phase);
}

ofdm_modulator::ofdm_modulator(const ofdm_numerology& n, const ofdm_span& span)
    : ofdm_modem(n, span, fft_direction::inverse) {}

void ofdm_modulator::run(executor& exec, view<const std::complex<float>> in,
                         view<std::complex<float>> out) const {
  const ofdm_numerology& n = numerology_;
  const std::size_t items = rows_of("values", in.items, span_.symbols);
  check_shape("values", in, items, values());
  check_shape("samples", out, items, samples());
  const view<const cx_pair> from = as_pairs(in);
  const view<cx_pair> to = as_pairs(out);
  const std::size_t stride = to.element_stride,
                    period = stride * static_cast<std::size_t>(n.fft_size + n.cyclic_prefix),
                    symbol = from.element_stride * static_cast<std::size_t>(n.subcarriers);
  const halves h(n);
  const int guard = static_cast<int>(h.upper.to) + h.upper.count;
  for (const part& p : parts(items)) {
    const std::size_t symbols = static_cast<std::size_t>(p.symbols), rows = p.slots > 1 ? p.slots : items;
    const int first_prefix = p.begins_slot ? n.first_cyclic_prefix : n.cyclic_prefix;
    const std::size_t in_step = p.slots > 1 ? symbols * symbol : from.item_stride,
                      out_step = p.slots > 1 ? stride * static_cast<std::size_t>(n.samples_per_slot())
                                             : to.item_stride;

    // Bins go where the samples behind the prefix are to be, and are transformed there.
    ofdm_copy_args bins = copy_args(p);
    set_phases(p, bins);
    bins.others[0] = h.lower;
    bins.others[1] = h.upper;
    bins.others[2] = {0, guard, n.fft_size - h.lower.count - guard, true};
    bins.others[3] = {0, 0, n.free_carrier ? 1 : 0, true};
    std::copy(std::begin(bins.others), std::end(bins.others), std::begin(bins.first));
    bins.in = {nullptr, from.element_stride, symbol, in_step};
    bins.out = {nullptr, stride, period, out_step};

    ofdm_copy_args prefix = copy_args(p);
    prefix.scale = 1;
    prefix.threads = threads_for(n.cyclic_prefix);
    prefix.first[0] = {n.fft_size - first_prefix, -first_prefix, first_prefix, false};
    prefix.others[0] = {n.fft_size - n.cyclic_prefix, -n.cyclic_prefix, n.cyclic_prefix, false};
    prefix.in = {nullptr, stride, period, out_step};
    prefix.out = {nullptr, stride, period, out_step};

    const std::size_t values_before = symbol * static_cast<std::size_t>(p.first),
                      begin = stride * (samples_before(p.first) + static_cast<std::size_t>(first_prefix)),
                      rows_per_pass = even(rows_at_once(exec, samples_of(p)));
    for (std::size_t first = 0; first < rows; first += rows_per_pass) {
      const std::size_t count = std::min(rows_per_pass, rows - first);
      cx_pair* window = to.data + begin + first * out_step;
      bins.in.data = from.data + values_before + first * in_step;
      bins.out.data = window;
      exec.run(ofdm_copy_kernels(), &bins, count * symbols);
      fft_.run(exec, count, symbols, {window, stride, period, out_step}, {window, stride, period, out_step});
      prefix.in.data = prefix.out.data = window;
      if (n.cyclic_prefix + first_prefix != 0) exec.run(ofdm_copy_kernels(), &prefix, count * symbols);
    }
  }
}

ofdm_demodulator::ofdm_demodulator(const ofdm_numerology& n, const ofdm_span& span)
    : ofdm_modem(n, span, fft_direction::forward) {}

void ofdm_demodulator::run(executor& exec, view<const std::complex<float>> in,
                           view<std::complex<float>> out) const {
  const ofdm_numerology& n = numerology_;
  const std::size_t items = rows_of("samples", in.items, span_.symbols);
  check_shape("samples", in, items, samples());
  check_shape("values", out, items, values());
  const view<const cx_pair> from = as_pairs(in);
  const view<cx_pair> to = as_pairs(out);
  if (items == 0) return;
  const std::size_t stride = from.element_stride, size = static_cast<std::size_t>(n.fft_size),
                    period = stride * static_cast<std::size_t>(n.fft_size + n.cyclic_prefix),
                    symbol = to.element_stride * static_cast<std::size_t>(n.subcarriers);
  array<cx_pair>& bins = bins_.on(exec);
  const halves h(n);
  const std::vector<part> all_parts = parts(items);
  std::size_t needed = 0;
  for (const part& p : all_parts)
    needed =
        std::max(needed, std::min(even(rows_at_once(exec, samples_of(p))), p.slots > 1 ? p.slots : items) *
                             static_cast<std::size_t>(p.symbols) * size);
  if (bins.size() < needed) {
    bins = {};
    bins = exec.make<cx_pair>(1, needed);
  }
  for (const part& p : all_parts) {
    const std::size_t symbols = static_cast<std::size_t>(p.symbols), rows = p.slots > 1 ? p.slots : items;
    const int first_prefix = p.begins_slot ? n.first_cyclic_prefix : n.cyclic_prefix;
    const std::size_t in_step = p.slots > 1 ? stride * static_cast<std::size_t>(n.samples_per_slot())
                                            : from.item_stride,
                      out_step = p.slots > 1 ? symbols * symbol : to.item_stride;

    ofdm_copy_args values = copy_args(p);
    set_phases(p, values);
    values.others[0] = reversed(h.lower);
    values.others[1] = reversed(h.upper);
    std::copy(std::begin(values.others), std::end(values.others), std::begin(values.first));
    values.in = {bins.data(), 1, size, symbols * size};
    values.out = {nullptr, to.element_stride, symbol, out_step};

    const std::size_t values_before = symbol * static_cast<std::size_t>(p.first),
                      begin = stride * (samples_before(p.first) + static_cast<std::size_t>(first_prefix)),
                      rows_per_pass = even(rows_at_once(exec, samples_of(p)));
    for (std::size_t first = 0; first < rows; first += rows_per_pass) {
      const std::size_t count = std::min(rows_per_pass, rows - first);
      fft_.run(exec, count, symbols, {from.data + begin + first * in_step, stride, period, in_step},
               {bins.data(), 1, size, symbols * size});
      values.out.data = to.data + values_before + first * out_step;
      exec.run(ofdm_copy_kernels(), &values, count * symbols);
    }
  }
}

}  // namespace wb
