#include <oracle/turbo.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

namespace oracle {
namespace {

constexpr std::size_t states = 8;
constexpr std::size_t tail = 3;
constexpr double impossible = -std::numeric_limits<double>::infinity();

using metrics = std::array<double, states>;

struct branch {
  std::size_t from, to;
  int input, parity;
};

/// All 16 branches of the constituent code, found by clocking the shift register of TS 36.212 figure 5.1.3-2
/// from every state with either input. The state is (oldest register, middle, youngest) as bits 2, 1, 0.
std::vector<branch> enumerate_branches() {
  std::vector<branch> list;
  for (int state = 0; state < static_cast<int>(states); ++state) {
    for (int input = 0; input < 2; ++input) {
      const int after_1 = state & 1;
      const int after_2 = (state >> 1) & 1;
      const int after_3 = (state >> 2) & 1;
      const int entering = input ^ after_2 ^ after_3;   // g0 = 1 + D^2 + D^3
      const int parity = entering ^ after_1 ^ after_3;  // g1 = 1 + D + D^3
      const int next = ((state << 1) & 7) | entering;
      list.push_back({static_cast<std::size_t>(state), static_cast<std::size_t>(next), input, parity});
    }
  }
  return list;
}

/// The branch list, grouped by the sum that each recursion takes.
struct trellis {
  std::array<std::array<branch, 2>, states> into;    // alpha: the two branches that end in a state
  std::array<std::array<branch, 2>, states> out_of;  // beta: the two branches that leave a state
  std::array<std::array<branch, states>, 2>
      with_input;  // output: the eight branches with input 0, with input 1

  trellis() {
    std::array<std::size_t, states> in{}, out{};
    std::array<std::size_t, 2> by_input{};
    for (const branch& b : enumerate_branches()) {
      const auto u = static_cast<std::size_t>(b.input);
      into[b.to][in[b.to]++] = b;
      out_of[b.from][out[b.from]++] = b;
      with_input[u][by_input[u]++] = b;
    }
  }
};

/// ln(e^a + e^b), or its maximum term.
template <algorithm Algorithm>
double max_star(double a, double b) {
  const double larger = a > b ? a : b;
  if constexpr (Algorithm == algorithm::log_map) {
    const double difference = std::fabs(a - b);
    // Beyond 40 the correction is below 2^-57. This also catches -inf against anything, -inf included.
    if (!(difference < 40.0)) return larger;
    return larger + std::log1p(std::exp(-difference));
  }
  return larger;
}

/// ln of the sum of e^x over eight terms, or the maximum term: max* applied to all of them, one logarithm in
/// place of seven.
template <algorithm Algorithm>
double max_star(const metrics& x) {
  double largest = x[0];
  for (double value : x) largest = value > largest ? value : largest;
  if constexpr (Algorithm == algorithm::log_map) {
    double sum = 0.0;
    for (double value : x) {
      if (largest - value < 40.0) sum += std::exp(value - largest);
    }
    return largest + std::log(sum);
  }
  return largest;
}

/// Only differences between the metrics of one time matter, so the largest is brought back to 0 for
/// precision.
void normalise(metrics& m) {
  double largest = m[0];
  for (double value : m) largest = value > largest ? value : largest;
  for (double& value : m) value -= largest;
}

/// ln of the a-priori-times-channel probability of a branch, up to what all branches of one step share: a bit
/// with LLR L has ln P(b) = const + L/2 for b = 0, const - L/2 for b = 1.
struct branch_metrics {
  double value[2][2];

  branch_metrics(double input_llr, double parity_llr) {
    for (int u = 0; u < 2; ++u) {
      for (int p = 0; p < 2; ++p) value[u][p] = (0.5 - u) * input_llr + (0.5 - p) * parity_llr;
    }
  }
  double operator()(const branch& b) const { return value[b.input][b.parity]; }
};

/// BCJR over input.size() = k + 3 steps. `input` is systematic channel LLR plus a-priori LLR (tail: channel
/// only), `parity` the channel LLR of the parity bits. Writes the extrinsic LLRs of the k information bits;
/// `alpha` is work space.
template <algorithm Algorithm>
void decode_constituent(const trellis& code, const std::vector<double>& input,
                        const std::vector<double>& parity, std::vector<metrics>& alpha,
                        std::vector<double>& extrinsic) {
  const std::size_t steps = input.size();
  const std::size_t k = steps - tail;
  metrics zero_state;
  zero_state.fill(impossible);
  zero_state[0] = 0.0;

  // alpha_{t+1}(s) = max* over branches into s of alpha_t(from) + gamma_t
  alpha.resize(k);
  alpha[0] = zero_state;
  for (std::size_t t = 0; t + 1 < k; ++t) {
    const branch_metrics gamma(input[t], parity[t]);
    for (std::size_t s = 0; s < states; ++s) {
      const auto& [b0, b1] = code.into[s];
      alpha[t + 1][s] = max_star<Algorithm>(alpha[t][b0.from] + gamma(b0), alpha[t][b1.from] + gamma(b1));
    }
    normalise(alpha[t + 1]);
  }

  metrics beta = zero_state;  // beta_{k+3}
  for (std::size_t t = steps; t-- > 0;) {
    if (t < k) {
      // The output sum leaves out the systematic and the a-priori part, which is the same in all its terms.
      double half[2];
      for (std::size_t u = 0; u < 2; ++u) {
        metrics terms;
        for (std::size_t n = 0; n < states; ++n) {
          const branch& b = code.with_input[u][n];
          terms[n] = alpha[t][b.from] + (0.5 - b.parity) * parity[t] + beta[b.to];
        }
        half[u] = max_star<Algorithm>(terms);
      }
      extrinsic[t] = half[0] - half[1];
    }
    // beta_t(s) = max* over branches out of s of gamma_t + beta_{t+1}(to)
    const branch_metrics gamma(input[t], parity[t]);
    metrics earlier;
    for (std::size_t s = 0; s < states; ++s) {
      const auto& [b0, b1] = code.out_of[s];
      earlier[s] = max_star<Algorithm>(gamma(b0) + beta[b0.to], gamma(b1) + beta[b1.to]);
    }
    normalise(earlier);
    beta = earlier;
  }
}

/// Extrinsic LLRs of the parity bits of all steps and of the input bits of the tail, by the definition: the
/// sums over all branches with the bit 0 and with the bit 1, less the bit's own LLR.
struct other_extrinsics {
  std::vector<double> parity;
  std::array<double, tail> tail_input;
};
template <algorithm Algorithm>
other_extrinsics extrinsics_of_others(const std::vector<double>& input, const std::vector<double>& parity) {
  const std::vector<branch> branches = enumerate_branches();
  const std::size_t steps = input.size(), k = steps - tail;
  metrics zero_state;
  zero_state.fill(impossible);
  zero_state[0] = 0.0;
  // In the tail a zero enters the register.
  const auto allowed = [&](std::size_t t, const branch& b) { return t < k || (b.to & 1) == 0; };
  std::vector<metrics> alpha(steps + 1, zero_state), beta(steps + 1, zero_state);
  for (std::size_t t = 0; t < steps; ++t) {
    alpha[t + 1].fill(impossible);
    for (const branch& b : branches)
      if (allowed(t, b))
        alpha[t + 1][b.to] = max_star<Algorithm>(alpha[t + 1][b.to],
                                                 alpha[t][b.from] + branch_metrics(input[t], parity[t])(b));
    normalise(alpha[t + 1]);
  }
  for (std::size_t t = steps; t-- > 0;) {
    beta[t].fill(impossible);
    for (const branch& b : branches)
      if (allowed(t, b))
        beta[t][b.from] =
            max_star<Algorithm>(beta[t][b.from], beta[t + 1][b.to] + branch_metrics(input[t], parity[t])(b));
    normalise(beta[t]);
  }
  const auto extrinsic = [&](std::size_t t, bool of_parity) {
    double sums[2] = {impossible, impossible};
    for (const branch& b : branches) {
      if (!allowed(t, b)) continue;
      double& sum = sums[of_parity ? b.parity : b.input];
      sum = max_star<Algorithm>(
          sum, alpha[t][b.from] + branch_metrics(input[t], parity[t])(b) + beta[t + 1][b.to]);
    }
    return sums[0] - sums[1] - (of_parity ? parity[t] : input[t]);
  };
  other_extrinsics result;
  for (std::size_t t = 0; t < steps; ++t) result.parity.push_back(extrinsic(t, true));
  for (std::size_t j = 0; j < tail; ++j) result.tail_input[j] = extrinsic(k + j, false);
  return result;
}

template <algorithm Algorithm>
turbo_result decode(const std::vector<double>& llr, const std::vector<std::size_t>& pi,
                    const turbo_options& options) {
  static const trellis code;
  const std::size_t k = pi.size();
  const double* const d0 = llr.data();
  const double* const d1 = d0 + k + 4;
  const double* const d2 = d1 + k + 4;

  // Channel values in trellis order: k steps, then x_K.. and z_K.. of each encoder out of the tails of
  // §5.1.3.2.2.
  const std::array<double, tail> x1_tail{d0[k], d2[k], d1[k + 1]};
  const std::array<double, tail> z1_tail{d1[k], d0[k + 1], d2[k + 1]};
  const std::array<double, tail> x2_tail{d0[k + 2], d2[k + 2], d1[k + 3]};
  const std::array<double, tail> z2_tail{d1[k + 2], d0[k + 3], d2[k + 3]};
  std::vector<double> parity_1(d1, d1 + k), parity_2(d2, d2 + k);
  parity_1.insert(parity_1.end(), z1_tail.begin(), z1_tail.end());
  parity_2.insert(parity_2.end(), z2_tail.begin(), z2_tail.end());

  std::vector<double> input_1(k + tail), input_2(k + tail);
  for (std::size_t j = 0; j < tail; ++j) {
    input_1[k + j] = x1_tail[j];
    input_2[k + j] = x2_tail[j];
  }

  std::vector<double> extrinsic_1(k, 0.0);  // natural order
  std::vector<double> extrinsic_2(k, 0.0);  // natural order
  std::vector<double> interleaved(k);
  std::vector<metrics> alpha;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    // The scale answers the optimism of what the next half-iteration would believe: the last one has no next.
    const double scale = iteration + 1 < options.iterations ? options.scale : 1.0;
    for (std::size_t i = 0; i < k; ++i) input_1[i] = d0[i] + extrinsic_2[i];
    decode_constituent<Algorithm>(code, input_1, parity_1, alpha, extrinsic_1);
    for (double& value : extrinsic_1) value *= scale;

    for (std::size_t i = 0; i < k; ++i) input_2[i] = d0[pi[i]] + extrinsic_1[pi[i]];
    decode_constituent<Algorithm>(code, input_2, parity_2, alpha, interleaved);
    for (std::size_t i = 0; i < k; ++i) extrinsic_2[pi[i]] = scale * interleaved[i];
  }

  turbo_result result;
  result.a_posteriori.resize(k);
  result.bits.resize(k);
  for (std::size_t i = 0; i < k; ++i) {
    result.a_posteriori[i] = d0[i] + extrinsic_1[i] + extrinsic_2[i];
    result.bits[i] = result.a_posteriori[i] < 0.0 ? 1 : 0;
  }
  for (std::size_t i = 0; i < k; ++i) {
    input_1[i] = d0[i] + extrinsic_2[i];
    input_2[i] = d0[pi[i]] + extrinsic_1[pi[i]];
  }
  const auto others_1 = extrinsics_of_others<Algorithm>(input_1, parity_1),
             others_2 = extrinsics_of_others<Algorithm>(input_2, parity_2);
  std::vector<double>& coded = result.coded_extrinsic;
  coded.resize(llr.size());
  double *const e0 = coded.data(), *const e1 = e0 + k + 4, *const e2 = e1 + k + 4;
  for (std::size_t i = 0; i < k; ++i) {
    e0[i] = extrinsic_1[i] + extrinsic_2[i];
    e1[i] = others_1.parity[i];
    e2[i] = others_2.parity[i];
  }
  // As the tails came in, see above.
  double* const x_places[] = {e0 + k, e2 + k, e1 + k + 1, e0 + k + 2, e2 + k + 2, e1 + k + 3};
  double* const z_places[] = {e1 + k, e0 + k + 1, e2 + k + 1, e1 + k + 2, e0 + k + 3, e2 + k + 3};
  for (std::size_t j = 0; j < tail; ++j) {
    *x_places[j] = others_1.tail_input[j];
    *z_places[j] = others_1.parity[k + j];
    *x_places[tail + j] = others_2.tail_input[j];
    *z_places[tail + j] = others_2.parity[k + j];
  }
  result.extrinsic = std::move(extrinsic_2);
  return result;
}

}  // namespace

turbo_result turbo_decode(const std::vector<double>& llr, const std::vector<int>& interleaver,
                          const turbo_options& options) {
  const std::size_t k = interleaver.size();
  if (k == 0) throw std::invalid_argument("oracle::turbo_decode: the interleaver is empty");
  if (llr.size() != 3 * (k + 4))
    throw std::invalid_argument("oracle::turbo_decode: llr must have 3(k + 4) values");
  if (options.iterations < 0)
    throw std::invalid_argument("oracle::turbo_decode: iterations must not be negative");
  std::vector<std::size_t> pi;
  std::vector<bool> seen(k, false);
  for (int index : interleaver) {
    if (index < 0 || static_cast<std::size_t>(index) >= k || seen[static_cast<std::size_t>(index)]) {
      throw std::invalid_argument("oracle::turbo_decode: the interleaver is not a permutation");
    }
    seen[static_cast<std::size_t>(index)] = true;
    pi.push_back(static_cast<std::size_t>(index));
  }
  return options.algorithm == algorithm::log_map ? decode<algorithm::log_map>(llr, pi, options)
                                                 : decode<algorithm::max_log>(llr, pi, options);
}

}  // namespace oracle
