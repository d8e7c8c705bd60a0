#include <warpband/nr/sync/cell_search.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/nr/sync/cell_search_args.hpp>

namespace wb {

WB_DECLARE_KERNEL(search_filter)
WB_DECLARE_KERNEL(search_correlate)
WB_DECLARE_KERNEL(search_identify)

namespace {

using exact = std::complex<double>;
constexpr double pi = std::numbers::pi;
constexpr int degrees = search_values - 1;  // of 1 - rho^2: its distribution function is x^126
constexpr double steepness = 0.15;          // roll-off: PBCH begins 9 subcarriers beyond the PSS
constexpr int filter_aside = 14;            // samples of the search rate
/// Of a further cell with the N_ID2 and timing of a stronger one: above the correlation of two SSS.
constexpr double least_second = 0.2;

double search_rate(const cell_search_config& c) { return 1e3 * c.spacing_khz * search_fft; }

/// Root-raised-cosine pulse at t symbols.
double root_raised_cosine(double t) {
  const double b = steepness;
  if (std::abs(t) < 1e-9) return 1 - b + 4 * b / pi;
  if (std::abs(std::abs(4 * b * t) - 1) < 1e-9)
    return b / std::numbers::sqrt2 *
           ((1 + 2 / pi) * std::sin(pi / (4 * b)) + (1 - 2 / pi) * std::cos(pi / (4 * b)));
  return (std::sin(pi * t * (1 - b)) + 4 * b * t * std::cos(pi * t * (1 + b))) /
         (pi * t * (1 - 16 * b * b * t * t));
}

/// The product of finite numbers: that of std::complex checks for NaN.
exact product(exact a, exact b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// exp(2 pi i k / 256), and its multiples of 2 as those of 128.
const std::vector<exact>& unit_circle() {
  static const std::vector<exact> circle = [] {
    std::vector<exact> w;
    for (int k = 0; k < search_transform_size; k++)
      w.push_back(std::polar(1., 2 * pi * k / search_transform_size));
    return w;
  }();
  return circle;
}
exact on_circle(int k) { return unit_circle()[as_size(k & (search_transform_size - 1))]; }

/// The PSS in time, unitary, at sample n / 2; n = 0 is the first behind the prefix.
exact pss_in_time(int n_id2, int n) {
  using times = std::vector<std::vector<exact>>;
  static const times known = [] {
    times t(3);
    for (int id = 0; id < 3; id++) {
      const std::vector<float> pss = nr_pss(id);
      for (int i = -1; i < search_transform_size; i++) {
        exact sum = 0;
        for (int k = 0; k < search_values; k++)
          sum += static_cast<double>(pss[as_size(k)]) * on_circle((k - 63) * i);
        t[as_size(id)].push_back(sum / std::sqrt(double{search_fft}));
      }
    }
    return t;
  }();
  return known[as_size(n_id2)][as_size(n + 1)];
}

/// A replica of the PSS, half a sample late or not, at a frequency in spacings: its conjugate spectrum, such
/// that the inverse transform of a product gives the correlation with unit energy. Adds complex values in the
/// order of the transform.
void add_replica(int n_id2, int half, double frequency, std::vector<float>& to) {
  std::vector<exact> x;
  double energy = 0;
  for (int n = 1; n < search_fft + half; n++) {
    const double from_middle = n - 0.5 * (search_fft + half);
    x.push_back(product(pss_in_time(n_id2, 2 * n - half),
                        std::polar(1., 2 * pi * frequency * from_middle / search_fft)));
    energy += std::norm(x.back());
  }
  const double scale = 1 / (search_transform_size * std::sqrt(energy));
  for (int place = 0; place < search_transform_size; place++) {
    const int k = (place & 3) << 6 | (place >> 2 & 3) << 4 | (place >> 4 & 3) << 2 | place >> 6;
    exact sum = 0;
    for (std::size_t i = 0; i < x.size(); i++) sum += product(x[i], on_circle(-k * static_cast<int>(i)));
    to.push_back(static_cast<float>(scale * sum.real()));
    to.push_back(static_cast<float>(-scale * sum.imag()));
  }
}

/// How far a phase is from the nearest whole turn, -pi..pi.
double wrapped(double angle) { return std::remainder(angle, 2 * pi); }

}  // namespace

const std::vector<setting_of<cell_search_config>>& cell_search_settings() {
  using c = cell_search_config;
  static const std::vector<setting_of<c>> settings{
      number("sample_rate_hz", &c::sample_rate_hz, 1e6, 2e9, "Of the samples.", false,
             "a multiple, 1 to 64, of 128 subcarrier spacings"),
      one_of("spacing_khz", &c::spacing_khz, {15, 30, 120, 240},
             "Subcarrier spacing of the SS/PBCH block in kHz."),
      number("offset_hz", &c::offset_hz, -1e9, 1e9,
             "Frequency of the block's subcarrier 120, counted from the centre of the samples."),
      number("max_cfo_hz", &c::max_cfo_hz, 0, 1e6,
             "The search covers carrier frequency offsets from -max_cfo_hz to max_cfo_hz.", false,
             "0 to four subcarrier spacings"),
      number(
          "carrier_hz", &c::carrier_hz, -1e12, 1e12,
          "Radio frequency of the centre of the samples, to which the transmitter refers the phase of each "
          "symbol (3GPP TS 38.211 section 5.4). 0: it does not. Known, it makes the estimated offset more "
          "accurate."),
      number("false_alarm", &c::false_alarm, 1e-12, 0.1,
             "Bound of the probability that white noise alone gives a block in a row."),
      integer("candidates", &c::candidates, 1, 4096, "Peaks of each N_ID2 and row whose SSS is looked at.")};
  return settings;
}

void check(const cell_search_config& c) {
  check_settings(cell_search_settings(), c);
  const double ratio = c.sample_rate_hz / search_rate(c);
  if (std::abs(ratio - std::round(ratio)) > 1e-9 || ratio < 0.5 || ratio > 64.5)
    throw argument_error("sample_rate_hz", decimal(c.sample_rate_hz),
                         "a multiple, 1 to 64, of " + decimal(search_rate(c)) +
                             " with spacing_khz = " + std::to_string(c.spacing_khz));
  const double greatest = (c.sample_rate_hz - search_rate(c)) / 2;
  if (std::abs(c.offset_hz) > greatest)
    throw argument_error("offset_hz", decimal(c.offset_hz),
                         "-" + decimal(greatest) + " to " + decimal(greatest) +
                             " with sample_rate_hz = " + decimal(c.sample_rate_hz));
  if (c.max_cfo_hz > 4e3 * c.spacing_khz)
    throw argument_error("max_cfo_hz", decimal(c.max_cfo_hz), "0 to " + decimal(4e3 * c.spacing_khz));
}

cell_search::cell_search(const cell_search_config& config) : config_((check(config), config)) {
  const cell_search_config& c = config_;
  const double rate = search_rate(c), spacing = 1e3 * c.spacing_khz;
  decimation_ = static_cast<int>(std::lround(c.sample_rate_hz / rate));
  // Hypotheses at most half a subcarrier apart: one in the middle of each part of the range.
  hypotheses_ = std::max(1, static_cast<int>(std::ceil(4 * c.max_cfo_hz / spacing - 1e-9)));

  // The middle of PSS and SSS is subcarrier 119 of the block.
  const double shift = c.offset_hz - spacing;
  const int aside = decimation_ == 1 ? 0 : filter_aside * decimation_;
  std::vector<double> pulse;
  double energy = 0;
  for (int i = -aside; i <= aside; i++) {
    pulse.push_back(root_raised_cosine(static_cast<double>(i) / decimation_));
    energy += pulse.back() * pulse.back();
  }
  std::vector<cx_pair> taps;
  for (int i = -aside; i <= aside; i++) {
    const exact g =
        std::polar(pulse[as_size(i + aside)] / std::sqrt(energy), -2 * pi * shift * i / c.sample_rate_hz);
    taps.push_back({static_cast<float>(g.real()), static_cast<float>(g.imag())});
  }
  taps_ = resident<cx_pair>(std::move(taps));
  const auto turns_of = [](double turns) {
    return static_cast<std::uint32_t>(std::llround(std::ldexp(turns - std::floor(turns), 32)) & 0xffffffff);
  };
  turn_ = turns_of(shift / rate);

  std::vector<std::uint32_t> turns;
  for (int h = 0; h < hypotheses_; h++) turns.push_back(turns_of(frequency(h) / search_fft));
  turns_ = resident<std::uint32_t>(std::move(turns));

  std::vector<float> all_pss, times, replicas;
  for (int n = 0; n < 3; n++) {
    const std::vector<float> pss = nr_pss(n);
    all_pss.insert(all_pss.end(), pss.begin(), pss.end());
    for (int half = 0; half < 2; half++)
      for (int i = 0; i < search_fft; i++) {
        const exact z = pss_in_time(n, 2 * i - half);
        times.push_back(static_cast<float>(z.real()));
        times.push_back(static_cast<float>(z.imag()));
      }
  }
  for (int half = 0; half < 2; half++)
    for (int h = 0; h < hypotheses_; h++)
      for (int n = 0; n < 3; n++) add_replica(n, half, frequency(h), replicas);
  pss_ = resident<float>(std::move(all_pss));
  times_ = resident<float>(std::move(times));
  replicas_ = resident<float>(std::move(replicas));
  const sss_parts& parts = nr_sss_parts();
  std::vector<float> first = parts.first;
  first.insert(first.end(), parts.first.begin(), parts.first.end());
  first_ = resident<float>(std::move(first));
  std::vector<std::int32_t> states, masks;
  constexpr int register_bits = 7;
  for (int n = 0; n < search_values; n++) {
    std::int32_t state = 0;
    for (int j = 0; j < register_bits; j++)
      state |= (parts.second[as_size((n + j) % search_values)] < 0 ? 1 : 0) << j;
    states.push_back(state);
  }
  // x(i + 7) = x(i + 1) + x(i), and so do the sums of state bits that give shifts.
  for (std::size_t n = 0; n < search_ids / 3; n++)
    masks.push_back(n < register_bits ? 1 << n : masks[n - register_bits + 1] ^ masks[n - register_bits]);
  states_ = resident<std::int32_t>(std::move(states));
  masks_ = resident<std::int32_t>(std::move(masks));
  std::vector<float> circle;
  for (const exact& w : unit_circle()) {
    circle.push_back(static_cast<float>(w.real()));
    circle.push_back(static_cast<float>(w.imag()));
  }
  circle_ = resident<float>(std::move(circle));
}

double cell_search::frequency(int hypothesis) const noexcept {
  const double widest = config_.max_cfo_hz / (1e3 * config_.spacing_khz);
  return widest * ((2. * hypothesis + 1) / hypotheses_ - 1);
}

std::size_t cell_search::block_samples() const noexcept {
  return as_size((search_prefix + search_window) * decimation_);
}

/// Of a row: where a PSS may begin, at the search rate.
std::size_t cell_search::offsets(std::size_t samples) const noexcept {
  const std::size_t kept = (samples + as_size(decimation_) - 1) / as_size(decimation_);
  return kept < as_size(search_window) ? 0 : kept - as_size(search_window) + 1;
}

double cell_search::threshold(std::size_t samples) const noexcept {
  const double trials = static_cast<double>(std::max<std::size_t>(1, offsets(samples))) * 2 * hypotheses_ *
                        nr_cell_ids,
               log_bound = std::log(config_.false_alarm / trials);
  double x = -log_bound;  // (1 + x) exp(-x) = bound, by fixed point
  for (int i = 0; i < 60; i++) x = -log_bound + std::log1p(x);
  return x;
}

namespace {

struct candidate {
  std::size_t row, offset;
  int n_id2, code;
  float metric;
};

/// The best peaks of a row and N_ID2, each at least 16 samples from better ones.
void choose(const float* peaks, std::size_t row, std::size_t blocks, int n_id2, int count,
            std::vector<candidate>& chosen) {
  constexpr std::size_t parts = search_tile / search_peak_block;
  std::vector<candidate> order;
  for (std::size_t b = 0; b < blocks; b++) {
    const float* p = peaks + b / parts * search_peak_values + 3 * (as_size(n_id2) * parts + b % parts);
    if (p[0] > 0)
      order.push_back(
          {row, b * search_peak_block + static_cast<std::size_t>(p[2]), n_id2, static_cast<int>(p[1]), p[0]});
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const candidate& a, const candidate& b) { return a.metric > b.metric; });
  const std::size_t first = chosen.size();
  for (const candidate& p : order) {
    if (chosen.size() - first == as_size(count)) break;
    const auto near = [&](const candidate& c) {
      return std::max(c.offset, p.offset) - std::min(c.offset, p.offset) < 16;
    };
    if (std::none_of(chosen.begin() + static_cast<std::ptrdiff_t>(first), chosen.end(), near))
      chosen.push_back(p);
  }
}

/// Phase advance from the first half of a symbol to the second: the correlation of the second with the signal
/// times the conjugate of the first one's. `values` are products with the signal.
exact advance(const std::vector<exact>& values, const std::vector<float>& signal) {
  exact halves[2] = {};
  for (int n = 0; n < search_fft; n++) {
    exact y = 0, x = 0;
    for (int k = 0; k < search_values; k++) {
      const exact w = static_cast<double>(signal[as_size(k)]) * on_circle(2 * (k - 63) * n);
      y += product(values[as_size(k)], w), x += w;
    }
    halves[2 * n / search_fft] += std::conj(x) * y;
  }
  return halves[1] * std::conj(halves[0]);
}

/// What two symbols of a candidate say about it, once its SSS is known.
struct estimates {
  double delay, frequency, snr_db;  // in samples and spacings; the frequency beyond the hypothesis
};
estimates estimate(const float* result, int cell_id, double hypothesis, double spacing_hz,
                   std::optional<double> middle_hz) {
  const auto values = [&](int symbol, const std::vector<float>& signal) {
    std::vector<exact> v;
    for (int k = 0; k < search_values; k++) {
      const float* z = result + 2 + 2 * (symbol * search_values + k);
      v.push_back(static_cast<double>(signal[as_size(k)]) * exact(z[0], z[1]));
    }
    return v;
  };
  const std::vector<float> pss = nr_pss(cell_id % 3), sss = nr_sss(cell_id);
  const std::vector<exact> p = values(0, pss), s = values(1, sss);
  // Each signal in the delays, of which few hold the channel and all the noise.
  const auto at_delay = [&](double delay) {
    exact a = 0, b = 0;
    for (int k = 0; k < search_values; k++) {
      const exact w = std::polar(1., 2 * pi * (k - 63) * delay / search_fft);
      a += w * p[as_size(k)], b += w * s[as_size(k)];
    }
    return std::pair(a, b);
  };
  const auto power = [&](double delay) {
    const auto [a, b] = at_delay(delay);
    return std::norm(a) + std::norm(b);
  };
  double energy = 0;
  for (std::size_t k = 0; k < p.size(); k++) energy += std::norm(p[k]) + std::norm(s[k]);
  exact cross = 0;
  for (int delay = -search_taps_aside; delay <= search_taps_aside; delay++) {
    const auto [a, b] = at_delay(delay);
    if (delay == 0 || std::norm(a) + std::norm(b) > 3 * energy) cross += std::conj(a) * b;
  }
  const exact turn = cross == 0. ? exact(1) : cross / std::abs(cross);
  estimates e{};
  // The advance in 64 of 128 samples: that of the PSS has been taken off both, the rest is found in both.
  e.frequency = (std::atan2(result[1], result[0]) + std::arg(advance(p, pss) + advance(s, sss))) / pi;
  if (middle_hz) {
    // Every symbol begins with phase 0 at the radio frequency of the signals' middle: that of section 5.4 and
    // of a subcarrier off the centre.
    const double apart = static_cast<double>(search_sss_distance) / search_fft,
                 reference = -2 * pi * std::fmod(*middle_hz * apart / spacing_hz, 1.);
    e.frequency +=
        wrapped(std::arg(turn) - reference - 2 * pi * apart * (hypothesis + e.frequency)) / (2 * pi * apart);
  }
  double sum = 0, difference = 0;
  for (std::size_t k = 0; k < p.size(); k++) {
    const exact q = s[k] * std::conj(turn);
    sum += std::norm(p[k] + q), difference += std::norm(p[k] - q);
  }
  const double snr = difference > 0 ? (sum - difference) / (2 * difference) : 1e6;
  e.snr_db = std::clamp(10 * std::log10(std::max(snr, 1e-4)), -40., 60.);
  constexpr int steps = 8;
  double best = -1;
  for (int i = -steps; i <= steps; i++)
    if (const double x = power(static_cast<double>(i) / steps); x > best)
      best = x, e.delay = static_cast<double>(i) / steps;
  const double before = power(e.delay - 1. / steps), after = power(e.delay + 1. / steps),
               curvature = before - 2 * best + after;
  if (curvature < 0) e.delay += std::clamp((before - after) / (2 * curvature), -0.5, 0.5) / steps;
  return e;
}

/// A part of a workspace.
template <class T>
T* take(std::byte*& from, std::size_t count) {
  T* p = reinterpret_cast<T*>(from);
  from += (count * sizeof(T) + 63) / 64 * 64;
  return p;
}

}  // namespace

cell_search_result cell_search::run(executor& exec, view<const std::complex<float>> samples) const {
  const std::size_t rows = samples.items, n = samples.elements;
  check_shape("samples", samples, rows, n);
  if (n > (std::size_t{1} << 28))
    throw shape_error("samples", shape_text(rows, n), "rows of at most 2^28 samples");
  cell_search_result found;
  found.erased.assign(rows, 0);
  if (rows * n == 0) return found;
  const std::size_t kept = (n + as_size(decimation_) - 1) / as_size(decimation_),
                    tiles = (kept + search_tile - 1) / search_tile, stride = tiles * search_tile,
                    places = offsets(n), blocks = (places + search_peak_block - 1) / search_peak_block;
  if (rows > (std::size_t{1} << 34) / stride)
    throw shape_error("samples", shape_text(rows, n), "at most 2^34 values at the search rate");
  const std::size_t padded = rows * stride + 256,
                    capacity = 3 * std::min(as_size(config_.candidates), blocks) * rows;
  // 64 more for the rounding of each array.
  std::byte* memory =
      workspace_.on(exec, sizeof(float) * (2 * padded + 2 * 16) + sizeof(std::int32_t) * rows * tiles + 64 +
                              sizeof(float) * search_peak_values * rows * tiles + 64 + 16 * capacity + 128 +
                              sizeof(float) * search_result * capacity + 64);
  float *re = take<float>(memory, padded), *im = take<float>(memory, padded);

  search_filter_args filter;
  filter.in = as_pairs(samples);
  filter.taps = taps_.on(exec);
  filter.tap_count = static_cast<int>(taps_.host().size());
  filter.decimation = decimation_;
  filter.columns = (search_tile + (filter.tap_count + decimation_ - 1) / decimation_ + 15) / 16 * 16;
  filter.turn = turn_;
  filter.re = re, filter.im = im;
  filter.stride = stride, filter.tiles = tiles;
  filter.erased = take<std::int32_t>(memory, rows * tiles);
  exec.fill(re + rows * stride, 0, sizeof(float) * 256);
  exec.fill(im + rows * stride, 0, sizeof(float) * 256);
  exec.run(search_filter_kernels(), &filter, rows * tiles);
  std::vector<std::int32_t> erased(rows * tiles);
  exec.download(erased.data(), filter.erased, sizeof(std::int32_t) * erased.size());

  std::vector<float> peaks(rows * tiles * search_peak_values);
  if (blocks != 0) {
    search_correlate_args correlate;
    correlate.re = re, correlate.im = im;
    correlate.replicas = replicas_.on(exec);
    correlate.hypotheses = hypotheses_;
    correlate.tiles = tiles, correlate.offsets = places;
    correlate.circle = circle_.on(exec);
    float* best = take<float>(memory, peaks.size());
    correlate.peaks = make_view(best, rows * tiles, search_peak_values);
    exec.run(search_correlate_kernels(), &correlate, rows * tiles);
    exec.download(peaks.data(), best, sizeof(float) * peaks.size());
  }
  exec.sync();
  for (std::size_t i = 0; i < erased.size(); i++) found.erased[i / tiles] += erased[i];
  if (blocks == 0) return found;

  std::vector<candidate> chosen;
  std::size_t begin[4] = {};
  for (int i = 0; i < 3; i++) {
    begin[i] = chosen.size();
    for (std::size_t row = 0; row < rows; row++)
      choose(peaks.data() + row * tiles * search_peak_values, row, blocks, i, config_.candidates, chosen);
  }
  begin[3] = chosen.size();
  if (chosen.empty()) return found;
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> codes;
  for (const candidate& c : chosen) {
    starts.push_back(static_cast<std::int64_t>(c.row * stride + c.offset));
    codes.push_back(c.code);
  }
  auto* start = take<std::int64_t>(memory, capacity);
  auto* code = take<std::int32_t>(memory, capacity);
  float* out = take<float>(memory, capacity * search_result);
  exec.upload(start, starts.data(), sizeof(std::int64_t) * starts.size());
  exec.upload(code, codes.data(), sizeof(std::int32_t) * codes.size());
  for (int i = 0; i < 3; i++) {
    if (begin[i] == begin[i + 1]) continue;
    search_identify_args identify;
    identify.re = re, identify.im = im;
    identify.start = start + begin[i], identify.code = code + begin[i];
    identify.turns = turns_.on(exec);
    identify.replica = times_.on(exec) + 4 * search_fft * i;
    identify.pss = pss_.on(exec) + search_values * i;
    identify.first = first_.on(exec);
    identify.states = states_.on(exec), identify.masks = masks_.on(exec);
    identify.circle = circle_.on(exec);
    identify.n_id2 = i;
    identify.out = make_view(out + begin[i] * search_result, begin[i + 1] - begin[i], search_result);
    exec.run(search_identify_kernels(), &identify, begin[i + 1] - begin[i]);
  }
  std::vector<float> results(chosen.size() * search_result);
  exec.download(results.data(), out, sizeof(float) * results.size());
  exec.sync();

  const auto information = [](double rho2) { return -degrees * std::log1p(-std::min(rho2, 1 - 1e-12)); };
  const double least = threshold(n), spacing = 1e3 * config_.spacing_khz;
  struct located {
    nr_found_block block;
    double offset, rho2;
  };
  std::vector<located> passed;
  for (std::size_t i = 0; i < chosen.size(); i++) {
    const candidate& c = chosen[i];
    const float* result = results.data() + i * search_result;
    const float* metrics = result + 2 + 4 * search_values;
    const auto* best = std::max_element(metrics, metrics + search_ids);
    for (int id = 0; id < search_ids; id++) {
      if (metrics + id != best && metrics[id] < least_second) continue;
      const double metric = information(c.metric) + information(metrics[id]);
      if (metric <= least) continue;
      const int cell_id = 3 * id + c.n_id2;
      const double hypothesis = frequency(c.code / 2), half = 0.5 * (c.code % 2);
      std::optional<double> middle_hz = config_.carrier_hz;
      if (middle_hz) *middle_hz += config_.offset_hz - spacing;
      const estimates e = estimate(result, cell_id, hypothesis, spacing, middle_hz);
      const double offset = static_cast<double>(c.offset) + half + e.delay;
      passed.push_back({{c.row, cell_id, (offset - search_prefix) * decimation_,
                         (hypothesis + e.frequency) * spacing, e.snr_db, metric},
                        offset,
                        c.metric});
    }
  }
  std::stable_sort(passed.begin(), passed.end(), [](const located& a, const located& b) {
    return a.block.row != b.block.row ? a.block.row < b.block.row : a.block.metric > b.block.metric;
  });
  // Paths and sidelobes of a block are not further blocks. Of one cell none begins within a symbol of a
  // better one. Of another cell none has a far weaker PSS and a metric close to the threshold.
  std::vector<located> blocks_found;
  for (const located& x : passed) {
    const bool shadow = std::any_of(blocks_found.begin(), blocks_found.end(), [&](const located& y) {
      if (y.block.row != x.block.row) return false;
      const double apart = std::abs(y.offset - x.offset);
      if (y.block.cell_id == x.block.cell_id) return apart < search_fft;
      return apart < ssb_symbols * search_fft && x.rho2 < 0.25 * y.rho2 && x.block.metric < least + 10;
    });
    if (!shadow) blocks_found.push_back(x);
  }
  for (const located& x : blocks_found) found.blocks.push_back(x.block);
  return found;
}

}  // namespace wb
