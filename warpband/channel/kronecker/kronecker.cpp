#include <warpband/channel/kronecker/kronecker.hpp>

#include <algorithm>
#include <cmath>

#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(kronecker)

namespace {

using complex = std::complex<double>;
constexpr double tolerance = 1e-6;

std::string place(int row, int column) {
  return "[" + std::to_string(row) + ", " + std::to_string(column) + "]";
}

/// The lower triangle L with L L^H = R, row after row; a column without a pivot to speak of is zero. Checks
/// R.
std::vector<complex> factor(const char* argument, const correlation_matrix& r, int n) {
  const auto index = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
  const auto low = [](int i, int j) { return static_cast<std::size_t>(i * (i + 1) / 2 + j); };
  const std::string whole = std::to_string(n) + " x " + std::to_string(n);
  if (r.size() != static_cast<std::size_t>(n) * static_cast<std::size_t>(n))
    throw argument_error(argument, std::to_string(r.size()) + " elements",
                         "a matrix of " + whole + ", or nothing for the identity");
  for (int i = 0; i < n; i++) {
    if (!(std::abs(r[index(i, i)] - 1.) <= tolerance))
      throw argument_error(argument, decimal(r[index(i, i)].real()) + " at " + place(i, i),
                           "ones on the diagonal");
    for (int j = 0; j < i; j++)
      if (!(std::abs(r[index(i, j)] - std::conj(r[index(j, i)])) <= tolerance))
        throw argument_error(argument, "different at " + place(i, j) + " and " + place(j, i),
                             "a Hermitian matrix");
  }
  std::vector<complex> l(low(n - 1, n - 1) + 1);
  const double least = 1e-9 * n;
  for (int j = 0; j < n; j++) {
    double pivot = r[index(j, j)].real();
    for (int k = 0; k < j; k++) pivot -= std::norm(l[low(j, k)]);
    bool possible = pivot >= -least;
    const double root = pivot > least ? std::sqrt(pivot) : 0;
    l[low(j, j)] = root;
    for (int i = j + 1; i < n && possible; i++) {
      complex rest = r[index(i, j)];
      for (int k = 0; k < j; k++) rest -= l[low(i, k)] * std::conj(l[low(j, k)]);
      // Without a pivot nothing may be left: |R_ij|^2 <= R_ii R_jj.
      possible = root > 0 || std::norm(rest) <= 4 * least;
      l[low(i, j)] = root > 0 ? rest / root : 0;
    }
    if (!possible)
      throw argument_error(argument, "a pivot of " + decimal(pivot) + " in row " + std::to_string(j),
                           "a positive semidefinite matrix");
  }
  return l;
}
std::vector<float> packed(const std::vector<complex>& l) {
  std::vector<float> values;
  for (const complex& z : l)
    values.insert(values.end(), {static_cast<float>(z.real()), static_cast<float>(z.imag())});
  return values;
}

}  // namespace

correlation_matrix exponential_correlation(int antennas, std::complex<double> r) {
  check_range("antennas", antennas, 1, 512);
  if (!(std::abs(r) <= 1))
    throw argument_error("correlation", decimal(r.real()) + " + " + decimal(r.imag()) + "i",
                         "at most 1 in size");
  correlation_matrix matrix(static_cast<std::size_t>(antennas * antennas));
  std::vector<complex> powers{1};
  for (int i = 1; i < antennas; i++) powers.push_back(powers.back() * r);
  for (int i = 0; i < antennas; i++)
    for (int j = 0; j < antennas; j++) {
      const complex power = powers[static_cast<std::size_t>(std::abs(i - j))];
      matrix[static_cast<std::size_t>(i * antennas + j)] = j >= i ? power : std::conj(power);
    }
  return matrix;
}

void check_correlation(const char* argument, const correlation_matrix& r, int n) {
  if (!r.empty()) factor(argument, r, n);
}

std::vector<float> correlation_factor(const char* argument, const correlation_matrix& r, int n) {
  return packed(factor(argument, r, n));
}

const std::vector<setting_of<kronecker_config>>& kronecker_settings() {
  using c = kronecker_config;
  const auto correlation = [](const char* name, correlation_matrix c::*member, const char* text) {
    const char* allowed = "a Hermitian matrix, positive semidefinite, with ones on its diagonal within 1e-6";
    return list(name, member, "list of pairs of numbers", text, allowed, [=](const setting_value& v) {
      const auto* entries = std::get_if<std::vector<std::complex<double>>>(&v);
      if (entries == nullptr) settings_detail::refuse(name, v, allowed);
      return *entries;
    });
  };
  static const std::vector<setting_of<c>> settings{
      integer("streams", &c::streams, 1, 64, "Transmit antennas."),
      integer("rx_antennas", &c::rx_antennas, 1, 512, "Receive antennas."),
      correlation("rx_correlation", &c::rx_correlation,
                  "R_rx, of rx_antennas rows and columns. Left out: the identity."),
      correlation("tx_correlation", &c::tx_correlation,
                  "R_tx, of streams rows and columns. Left out: the identity.")};
  return settings;
}

kronecker_channel::kronecker_channel(const kronecker_config& config) : config_(config) {
  check_range("streams", config.streams, 1, 64);
  check_range("rx_antennas", config.rx_antennas, 1, 512);
  if (!config.rx_correlation.empty())
    rx_factor_ =
        resident<float>(correlation_factor("rx_correlation", config.rx_correlation, config.rx_antennas));
  if (!config.tx_correlation.empty())
    tx_factor_ = resident<float>(correlation_factor("tx_correlation", config.tx_correlation, config.streams));
}

kronecker_args kronecker_channel::arguments(executor& exec, view<std::complex<float>> channel,
                                            random_range range) const {
  const kronecker_config& c = config_;
  check_shape("channel", channel, channel.items,
              static_cast<std::size_t>(c.rx_antennas) * static_cast<std::size_t>(c.streams));
  rx_factor_.check_held();
  kronecker_args a;
  a.streams = c.streams;
  a.rx_antennas = c.rx_antennas;
  if (!c.rx_correlation.empty()) a.rx = rx_factor_.on(exec);
  if (!c.tx_correlation.empty()) a.tx = tx_factor_.on(exec);
  a.channel = as_pairs(channel);
  a.seed = range.seed;
  a.first = range.first;
  a.point = range.point;
  return a;
}

void kronecker_channel::response(executor& exec, view<std::complex<float>> channel,
                                 random_range range) const {
  const kronecker_args a = arguments(exec, channel, range);
  exec.run(kronecker_kernels(), &a, channel.items);
}

void kronecker_channel::apply(executor& exec, view<const std::complex<float>> in,
                              view<std::complex<float>> out, view<std::complex<float>> channel,
                              std::size_t uses_per_channel, random_range range) const {
  if (uses_per_channel < 1 || uses_per_channel > 1 << 24)
    throw argument_error("uses_per_channel", std::to_string(uses_per_channel),
                         "1 to " + std::to_string(1 << 24));
  kronecker_args a = arguments(exec, channel, range);
  const std::size_t uses = channel.items * uses_per_channel;
  check_shape("in", in, uses, static_cast<std::size_t>(config_.streams));
  check_shape("out", out, uses, static_cast<std::size_t>(config_.rx_antennas));
  check_apart({{"out", out}, {"channel", channel}});
  a.uses_per_channel = uses_per_channel;
  a.in = as_pairs(in);
  a.out = as_pairs(out);
  exec.run(kronecker_kernels(), &a, channel.items);
}

}  // namespace wb
