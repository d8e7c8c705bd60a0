#include <warpband/ofdm/modem/modem.hpp>

#include <algorithm>
#include <cmath>

#include <warpband/core/check.hpp>
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

std::size_t slots_of(const char* name, std::size_t slots, int symbols) {
  if (slots > (std::size_t{1} << 40) / static_cast<std::size_t>(symbols))
    throw shape_error(name, std::to_string(slots) + " items", "at most 2^40 symbols");
  return slots;
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

template <class V>
auto slots_from(const V& v, std::size_t slot) {
  return v.data + slot * v.item_stride;
}

}  // namespace

ofdm_modem::ofdm_modem(const ofdm_numerology& numerology, fft_direction direction)
    : numerology_(checked(numerology)), fft_(numerology.fft_size, direction) {}

/// So many that what lies between the steps of a call stays in a CPU's caches, and fills a CUDA device.
std::size_t ofdm_modem::slots_at_once(const executor& exec) const {
  const std::size_t bytes = exec.preferred_blocks() * (std::size_t{1} << 16);
  return std::max<std::size_t>(1, bytes / (sizeof(cx_pair) * samples()));
}

ofdm_copy_args ofdm_modem::copy_args() const {
  ofdm_copy_args a;
  a.symbols = numerology_.symbols_per_slot;
  a.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(numerology_.fft_size)));
  a.threads = threads_for(numerology_.subcarriers);
  return a;
}

ofdm_modulator::ofdm_modulator(const ofdm_numerology& n) : ofdm_modem(n, fft_direction::inverse) {}

void ofdm_modulator::run(executor& exec, view<const std::complex<float>> in,
                         view<std::complex<float>> out) const {
  const ofdm_numerology& n = numerology_;
  const std::size_t slots = slots_of("values", in.items, n.symbols_per_slot);
  check_shape("values", in, slots, values());
  check_shape("samples", out, slots, samples());
  const view<const cx_pair> from = as_pairs(in);
  const view<cx_pair> to = as_pairs(out);
  const std::size_t symbols = static_cast<std::size_t>(n.symbols_per_slot), stride = to.element_stride,
                    period = stride * static_cast<std::size_t>(n.fft_size + n.cyclic_prefix),
                    begin = stride * static_cast<std::size_t>(n.first_cyclic_prefix);

  // Bins go where the samples behind the prefix are to be, and are transformed there.
  ofdm_copy_args bins = copy_args();
  const halves h(n);
  bins.others[0] = h.lower;
  bins.others[1] = h.upper;
  const int guard = static_cast<int>(h.upper.to) + h.upper.count;
  bins.others[2] = {0, guard, n.fft_size - h.lower.count - guard, true};
  bins.others[3] = {0, 0, n.free_carrier ? 1 : 0, true};
  std::copy(std::begin(bins.others), std::end(bins.others), std::begin(bins.first));
  bins.in = {nullptr, from.element_stride, from.element_stride * static_cast<std::size_t>(n.subcarriers),
             from.item_stride};
  bins.out = {nullptr, stride, period, to.item_stride};

  ofdm_copy_args prefix = copy_args();
  prefix.scale = 1;
  prefix.threads = threads_for(n.cyclic_prefix);
  prefix.first[0] = {n.fft_size - n.first_cyclic_prefix, -n.first_cyclic_prefix, n.first_cyclic_prefix,
                     false};
  prefix.others[0] = {n.fft_size - n.cyclic_prefix, -n.cyclic_prefix, n.cyclic_prefix, false};
  prefix.in = {nullptr, stride, period, to.item_stride};
  prefix.out = {nullptr, stride, period, to.item_stride};

  const std::size_t slots_per_pass = slots_at_once(exec);
  for (std::size_t first = 0; first < slots; first += slots_per_pass) {
    const std::size_t count = std::min(slots_per_pass, slots - first);
    cx_pair* window = slots_from(to, first) + begin;
    bins.in.data = slots_from(from, first);
    bins.out.data = window;
    exec.run(ofdm_copy_kernels(), &bins, count * symbols);
    fft_.run(exec, count, symbols, {window, stride, period, to.item_stride},
             {window, stride, period, to.item_stride});
    prefix.in.data = prefix.out.data = window;
    if (n.cyclic_prefix + n.first_cyclic_prefix != 0) exec.run(ofdm_copy_kernels(), &prefix, count * symbols);
  }
}

ofdm_demodulator::ofdm_demodulator(const ofdm_numerology& n) : ofdm_modem(n, fft_direction::forward) {}

void ofdm_demodulator::run(executor& exec, view<const std::complex<float>> in,
                           view<std::complex<float>> out) const {
  const ofdm_numerology& n = numerology_;
  const std::size_t slots = slots_of("samples", in.items, n.symbols_per_slot);
  check_shape("samples", in, slots, samples());
  check_shape("values", out, slots, values());
  const view<const cx_pair> from = as_pairs(in);
  const view<cx_pair> to = as_pairs(out);
  if (slots == 0) return;
  const std::size_t symbols = static_cast<std::size_t>(n.symbols_per_slot), stride = from.element_stride,
                    size = static_cast<std::size_t>(n.fft_size),
                    period = stride * static_cast<std::size_t>(n.fft_size + n.cyclic_prefix),
                    begin = stride * static_cast<std::size_t>(n.first_cyclic_prefix);
  const std::size_t slots_per_pass = slots_at_once(exec);
  array<cx_pair>& bins = bins_.on(exec);
  if (const std::size_t needed = std::min(slots_per_pass, slots) * symbols * size; bins.size() < needed) {
    bins = {};
    bins = exec.make<cx_pair>(1, needed);
  }

  ofdm_copy_args values = copy_args();
  const halves h(n);
  values.others[0] = reversed(h.lower);
  values.others[1] = reversed(h.upper);
  std::copy(std::begin(values.others), std::end(values.others), std::begin(values.first));
  values.in = {bins.data(), 1, size, symbols * size};
  values.out = {nullptr, to.element_stride, to.element_stride * static_cast<std::size_t>(n.subcarriers),
                to.item_stride};

  for (std::size_t first = 0; first < slots; first += slots_per_pass) {
    const std::size_t count = std::min(slots_per_pass, slots - first);
    fft_.run(exec, count, symbols, {slots_from(from, first) + begin, stride, period, from.item_stride},
             {bins.data(), 1, size, symbols * size});
    values.out.data = slots_from(to, first);
    exec.run(ofdm_copy_kernels(), &values, count * symbols);
  }
}

}  // namespace wb
