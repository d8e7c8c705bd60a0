#include <warpband/estimate/filters.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/estimate/design.hpp>

namespace wb {
namespace {

using matrix = std::vector<std::vector<cplx>>;

// ---- correlations

double power_sum(const delay_profile& p) { return std::accumulate(p.powers.begin(), p.powers.end(), 0.0); }

/// Of the channel: in frequency by subcarriers, in time by symbols.
class correlation {
 public:
  correlation(const estimator_config& c, int subcarriers) : config_(c), by_lag_(as_size(subcarriers)) {
    const double sum = power_sum(c.profile);
    for (std::size_t lag = 0; lag < by_lag_.size(); lag++)
      for (std::size_t i = 0; i < c.profile.powers.size(); i++)
        by_lag_[lag] +=
            std::polar(c.profile.powers[i] / sum, -2 * std::numbers::pi * static_cast<double>(lag) *
                                                      *c.spacing_hz * c.profile.delays_ns[i] * 1e-9);
  }
  cplx frequency(int lag) const {
    return lag >= 0 ? by_lag_[as_size(lag)] : std::conj(by_lag_[as_size(-lag)]);
  }
  double time(double lag) const {
    return std::cyl_bessel_j(
        0.0, 2 * std::numbers::pi * config_.doppler_hz * *config_.period_us * 1e-6 * std::abs(lag));
  }

 private:
  estimator_config config_;
  std::vector<cplx> by_lag_;
};

/// x of A x = b for Hermitian positive definite A, by Cholesky's decomposition in place.
class positive_system {
 public:
  explicit positive_system(matrix a) : l_(std::move(a)) {
    for (std::size_t i = 0; i < l_.size(); i++)
      for (std::size_t j = 0; j <= i; j++) {
        cplx s = l_[i][j];
        for (std::size_t k = 0; k < j; k++) s -= l_[i][k] * std::conj(l_[j][k]);
        l_[i][j] = i == j ? cplx(std::sqrt(std::max(s.real(), 1e-300))) : s / l_[j][j];
      }
  }
  std::vector<cplx> solve(std::vector<cplx> b) const {
    const std::size_t n = l_.size();
    for (std::size_t i = 0; i < n; i++) {
      for (std::size_t k = 0; k < i; k++) b[i] -= l_[i][k] * b[k];
      b[i] /= l_[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; k++) b[i] -= std::conj(l_[k][i]) * b[k];
      b[i] /= l_[i][i];
    }
    return b;
  }

 private:
  matrix l_;
};

// ---- Wiener filters

/// A subcarrier's filter, and what it makes of channel, leaking ports and noise.
struct wiener {
  std::vector<cplx> f;
  double match = 0;   // E h g* with g the filter's output
  double signal = 0;  // E |g|^2 of the own port
  double leak = 0;    // of other ports
  double noise = 0;   // of noise, for N0 = 1
};

class wiener_design {
 public:
  wiener_design(const pilot_pattern& pilots, const estimator_config& config)
      : senders_(pilots), config_(config), correlation_(config, pilots.subcarriers) {}
  const correlation& of_channel() const noexcept { return correlation_; }

  /// Of a row of a port: cells start .. start + taps - 1 for subcarrier k.
  const wiener& filter(std::size_t port, const pilot_row& row, std::size_t start, std::size_t taps, int k) {
    // The same constellation of cells has the same filter.
    std::vector<int> key{static_cast<int>(taps)};
    std::vector<std::vector<part>> cells;
    for (std::size_t n = start; n < start + taps; n++) cells.push_back(senders_.parts_of(port, row[n]));
    const int symbol = cells[0][0].symbol;
    for (const auto& cell : cells)
      for (const part& x : cell) {
        key.push_back(x.port == static_cast<int>(port));
        key.push_back(x.symbol - symbol);
        key.push_back(x.subcarrier - k);
        key.push_back(static_cast<int>(std::lround(1024 * x.factor.real())));
        key.push_back(static_cast<int>(std::lround(1024 * x.factor.imag())));
      }
    for (std::size_t n = start; n < start + taps; n++)
      key.push_back(static_cast<int>(std::lround(1e6 * std::log(noise_of(row[n])))));
    const auto found = made_.find(key);
    if (found != made_.end()) return found->second;
    return made_.emplace(std::move(key), designed(port, row, start, cells, k)).first->second;
  }

 private:
  cplx correlated(const part& a, const part& b) const {
    return a.factor * std::conj(b.factor) * correlation_.frequency(a.subcarrier - b.subcarrier) *
           correlation_.time(a.symbol - b.symbol);
  }

  wiener designed(std::size_t port, const pilot_row& row, std::size_t start,
                  const std::vector<std::vector<part>>& cells, int k) const {
    const std::size_t n = cells.size();
    matrix signal(n, std::vector<cplx>(n)), leak = signal, covariance;
    std::vector<cplx> match(n);  // E c_i h*
    for (std::size_t i = 0; i < n; i++) {
      for (std::size_t j = 0; j < n; j++)
        for (const part& a : cells[i])
          for (const part& b : cells[j])
            if (a.port == b.port)
              (a.port == static_cast<int>(port) ? signal : leak)[i][j] += correlated(a, b);
      double middle = 0;
      for (const part& a : cells[i])
        if (a.port == static_cast<int>(port)) middle += a.symbol * a.factor.real();
      for (const part& a : cells[i])
        if (a.port == static_cast<int>(port))
          match[i] +=
              a.factor * correlation_.frequency(a.subcarrier - k) * correlation_.time(a.symbol - middle);
    }
    covariance = signal;
    for (std::size_t i = 0; i < n; i++) {
      for (std::size_t j = 0; j < n; j++) covariance[i][j] += leak[i][j];
      covariance[i][i] += config_.noise_var * noise_of(row[start + i]) + 1e-12;
    }
    wiener w;
    // g = f^T c minimises E|h - g|^2: conj(f) = A^-1 match.
    w.f = positive_system(std::move(covariance)).solve(match);
    for (cplx& x : w.f) x = std::conj(x);
    for (std::size_t i = 0; i < n; i++) {
      w.match += (w.f[i] * match[i]).real();
      w.noise += std::norm(w.f[i]) * noise_of(row[start + i]);
      for (std::size_t j = 0; j < n; j++) {
        w.signal += (w.f[i] * signal[i][j] * std::conj(w.f[j])).real();
        w.leak += (w.f[i] * leak[i][j] * std::conj(w.f[j])).real();
      }
    }
    return w;
  }

  pilot_senders senders_;
  const estimator_config& config_;
  correlation correlation_;
  std::map<std::vector<int>, wiener> made_;
};

/// The first of `taps` cells around subcarrier k.
std::size_t first_cell(const std::vector<double>& middles, std::size_t taps, double k) {
  std::size_t nearest = 0;
  while (nearest + 1 < middles.size() && std::abs(middles[nearest + 1] - k) <= std::abs(middles[nearest] - k))
    nearest++;
  const std::size_t before = (taps - 1) / 2;
  return std::min(nearest < before ? 0 : nearest - before, middles.size() - taps);
}

/// Filters of frequency of every port, row and subcarrier, with what they make of the channel.
std::vector<wiener> add_frequency(estimate_filters& out, const pilot_pattern& p, wiener_design& design) {
  std::vector<wiener> filters;
  for (std::size_t port = 0; port < p.ports.size(); port++)
    for (const pilot_row& row : p.ports[port]) {
      std::vector<double> middles;
      for (const pilot_cell& c : row) {
        const extent e = subcarriers_of(c, p.subcarriers);
        middles.push_back((e.lo + e.hi) / 2);
      }
      for (int k = 0; k < p.subcarriers; k++) {
        const std::size_t start = first_cell(middles, as_size(out.taps), k);
        const wiener& w = design.filter(port, row, start, as_size(out.taps), k);
        out.start.push_back(static_cast<std::int32_t>(start));
        for (const cplx& f : w.f) out.frequency.emplace_back(f);
        filters.push_back({{}, w.match, w.signal, w.leak, w.noise});
      }
    }
  return filters;
}

/// Of all subcarriers, ports and rows the mean, which filters of time are made for.
wiener mean_of(const std::vector<wiener>& filters) {
  wiener mean;
  const double n = static_cast<double>(filters.size());
  for (const wiener& w : filters)
    mean.match += w.match / n, mean.signal += w.signal / n, mean.leak += w.leak / n,
        mean.noise += w.noise / n;
  return mean;
}

estimate_filters make_wiener(const pilot_pattern& p, const estimator_config& config) {
  estimate_filters out;
  out.taps = static_cast<int>(std::min(as_size(config.taps), p.cells()));
  wiener_design design(p, config);
  const std::vector<wiener> filters = add_frequency(out, p, design);
  const wiener mean = mean_of(filters);
  const correlation& r = design.of_channel();
  const std::size_t rows = p.rows(), subcarriers = as_size(p.subcarriers);
  std::vector<double> times;
  for (const pilot_row& row : p.ports[0]) times.push_back(middle_of(row, p.subcarriers));
  matrix a(rows, std::vector<cplx>(rows));
  for (std::size_t t = 0; t < rows; t++)
    for (std::size_t s = 0; s < rows; s++)
      a[t][s] = (mean.signal + mean.leak) * r.time(times[t] - times[s]) +
                (t == s ? config.noise_var * mean.noise + 1e-12 : 0.0);
  const positive_system system(a);
  std::vector<std::vector<double>> weights;
  for (int l = 0; l < p.symbols; l++) {
    std::vector<cplx> b;
    for (std::size_t t = 0; t < rows; t++) b.emplace_back(mean.match * r.time(l - times[t]));
    std::vector<double> w;
    for (const cplx& x : system.solve(b))
      w.push_back(x.real()), out.time.push_back(static_cast<float>(x.real()));
    weights.push_back(std::move(w));
  }
  for (std::size_t port = 0; port < p.ports.size(); port++)
    for (int l = 0; l < p.symbols; l++)
      for (std::size_t k = 0; k < subcarriers; k++) {
        const auto filter = [&](std::size_t t) -> const wiener& {
          return filters[(port * rows + t) * subcarriers + k];
        };
        double bias = 1, gain = 0;
        for (std::size_t t = 0; t < rows; t++) {
          const double w = weights[as_size(l)][t];
          bias -= 2 * w * filter(t).match * r.time(l - times[t]);
          gain += w * w * filter(t).noise;
          // Other ports leak through channels that change as slowly as this one.
          for (std::size_t s = 0; s < rows; s++)
            bias +=
                w * weights[as_size(l)][s] * r.time(times[t] - times[s]) *
                (std::sqrt(filter(t).signal * filter(s).signal) + std::sqrt(filter(t).leak * filter(s).leak));
        }
        out.bias.push_back(static_cast<float>(std::max(bias, 0.0)));
        out.gain.push_back(static_cast<float>(gain));
      }
  return out;
}

/// Relative differences that are no contradiction. Symbols of a slot differ in length.
constexpr double same_spacing = 1e-6, same_period = 0.1;

}  // namespace

const std::vector<setting_of<estimator_config>>& estimator_settings() {
  using c = estimator_config;
  static const std::vector<setting_of<c>> settings = [] {
    std::vector<setting_of<c>> list{
        words("method", &c::method, {{"ls", estimate_method::ls}, {"lmmse", estimate_method::lmmse}},
              "ls: least squares at the pilots and linear interpolation. lmmse: Wiener filters of a channel "
              "whose statistics are known."),
        integer("taps", &c::taps, 1, 64, "Pilot cells that a subcarrier is filtered of.")
            .only_with("method", {"lmmse"}),
        number("noise_var", &c::noise_var, 1e-6, 1e6, "N0 that the filters are made for.")
            .only_with("method", {"lmmse"}),
        number("channel_power", &c::channel_power, 1e-6, 1e6,
               "Mean E|h|^2 of a port; of precoded layers less than 1.")
            .only_with("method", {"lmmse"}),
        number("doppler_hz", &c::doppler_hz, 0, 1e6,
               "The largest Doppler shift, of Clarke's spectrum. ls looks at it only where DMRS are at one "
               "time, so that it cannot measure how fast the channel changes."),
        number(
            "spacing_hz", &c::spacing_hz, 1, 1e7,
            "Spacing of the subcarriers. Absent: that of the channel; another one than its own is refused.")
            .only_with("method", {"lmmse"}),
        number(
            "period_us", &c::period_us, 1e-3, 1e6,
            "From an OFDM symbol to the next. Absent: that of the channel, a slot's mean; one that differs "
            "from it by more than 10 % is refused.")
            .only_with("method", {"lmmse"})};
    const std::vector<setting_of<delay_profile>> taps{
        numbers("delays_ns", &delay_profile::delays_ns, 0, 1e9, "Delays of the channel's taps.",
                "a list of 1 to 512 numbers from 0 to 1e9"),
        numbers("powers", &delay_profile::powers, 0, 1e12, "Their mean powers, relative to each other.",
                "a list of as many numbers from 0 to 1e12")};
    for (auto& s : within<c>([](c& x) -> delay_profile& { return x.profile; }, taps))
      list.push_back(std::move(s).only_with("method", {"lmmse"}));
    return list;
  }();
  return settings;
}

void check(const estimator_config& config) {
  check_settings(estimator_settings(), config);
  const delay_profile& p = config.profile;
  if (p.delays_ns.empty() || p.delays_ns.size() > 512)
    throw argument_error("delays_ns", std::to_string(p.delays_ns.size()) + " taps", "1 to 512");
  if (p.powers.size() != p.delays_ns.size())
    throw argument_error("powers", std::to_string(p.powers.size()) + " taps",
                         std::to_string(p.delays_ns.size()) + ", as delays_ns has");
  if (!(power_sum(p) > 0)) throw argument_error("powers", decimal(power_sum(p)) + " in all", "more than 0");
  // The list looks at them for lmmse only.
  if (config.spacing_hz) check_number("spacing_hz", *config.spacing_hz, 1, 1e7);
  if (config.period_us) check_number("period_us", *config.period_us, 1e-3, 1e6);
  const double ratio = config.noise_var / config.channel_power;
  if (config.method == estimate_method::lmmse && (ratio < 0.999e-6 || ratio > 1.001e6))
    throw argument_error(
        "noise_var", decimal(config.noise_var) + " for a channel_power of " + decimal(config.channel_power),
        "1e-6 to 1e6 of it");
}

std::optional<double> spacing_hz_of(const pilot_pattern& pilots, std::optional<double> given, bool needed) {
  if (given && pilots.spacing_hz && std::abs(*given / *pilots.spacing_hz - 1) > same_spacing)
    throw argument_error("spacing_hz", decimal(*given),
                         "none, or " + decimal(*pilots.spacing_hz) + ", which the pilots have");
  const std::optional<double> hz = given ? given : pilots.spacing_hz;
  if (needed && !hz)
    throw argument_error("spacing_hz", "none", "1 to 1e7 for pilots without a spacing_hz of their own");
  return hz;
}

estimator_config completed(const estimator_config& config, const pilot_pattern& pilots) {
  check(config);
  estimator_config c = config;
  if (c.period_us && pilots.period_us && std::abs(*c.period_us / *pilots.period_us - 1) > same_period)
    throw argument_error("period_us", decimal(*c.period_us),
                         "none, or within 10 % of " + decimal(*pilots.period_us) + ", which the pilots have");
  if (!c.period_us) c.period_us = pilots.period_us;
  const bool wiener = c.method == estimate_method::lmmse;
  c.spacing_hz = spacing_hz_of(pilots, c.spacing_hz, wiener);
  if ((wiener || c.doppler_hz > 0) && !c.period_us)
    throw argument_error("period_us", "none", "1e-3 to 1e6 for pilots without a period_us of their own");
  return c;
}

estimate_filters make_filters(const pilot_pattern& pilots, const estimator_config& config) {
  check(pilots);
  const estimator_config c = completed(config, pilots);
  if (c.method == estimate_method::ls) return make_linear(pilots, c);
  estimator_config unit = c;  // of channels of power 1
  unit.noise_var /= c.channel_power;
  estimate_filters f = make_wiener(pilots, unit);
  for (float& bias : f.bias) bias *= static_cast<float>(c.channel_power);
  return f;
}

}  // namespace wb
