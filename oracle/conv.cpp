#include <oracle/conv.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace oracle {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

/// The register holds a_{t-1}, a_{t-2}, ... as bits 0, 1, ... of the state.
struct clocked {
  int next;
  std::vector<int> outputs;
};

clocked clock_register(const conv& code, int state, int input) {
  const int memory = code.constraint_length - 1;
  const auto tap = [&](int polynomial, int delay) { return polynomial >> (memory - delay) & 1; };
  int entering = input;
  if (code.feedback != 0)
    for (int d = 1; d <= memory; ++d) entering ^= tap(code.feedback, d) & (state >> (d - 1));
  entering &= 1;
  clocked r;
  for (int g : code.generators) {
    int bit = tap(g, 0) & entering;
    for (int d = 1; d <= memory; ++d) bit ^= tap(g, d) & (state >> (d - 1)) & 1;
    r.outputs.push_back(bit);
  }
  r.next = ((state << 1) | entering) & ((1 << memory) - 1);
  return r;
}

/// The input that lets a zero enter.
int closing_input(const conv& code, int state) {
  return (clock_register(code, state, 0).next & 1) == 0 ? 0 : 1;
}

std::size_t steps_of(const conv& code, int k) {
  return static_cast<std::size_t>(code.end == conv_end::zero_tail ? k + code.constraint_length - 1 : k);
}
bool is_sent(const conv& code, std::size_t step, std::size_t output) {
  return code.sent.empty() || code.sent[(step * code.generators.size() + output) % code.sent.size()] != 0;
}

struct edge {
  int from, to, input;
  std::vector<int> outputs;
};
std::vector<edge> edges_of(const conv& code) {
  std::vector<edge> list;
  for (int s = 0; s < 1 << (code.constraint_length - 1); ++s)
    for (int u = 0; u < 2; ++u) {
      clocked c = clock_register(code, s, u);
      list.push_back({s, c.next, u, std::move(c.outputs)});
    }
  return list;
}

/// LLR of every coded bit, 0 where it was not sent.
std::vector<std::vector<double>> spread(const conv& code, const std::vector<double>& llr, int k) {
  std::vector<std::vector<double>> bits(steps_of(code, k), std::vector<double>(code.generators.size(), 0.0));
  std::size_t next = 0;
  for (std::size_t t = 0; t < bits.size(); ++t)
    for (std::size_t i = 0; i < bits[t].size(); ++i)
      if (is_sent(code, t, i)) bits[t][i] = llr.at(next++);
  if (next != llr.size()) throw std::invalid_argument("oracle::conv: wrong number of LLRs");
  return bits;
}

double weight(const edge& e, const std::vector<double>& llr) {
  double w = 0;
  for (std::size_t i = 0; i < llr.size(); ++i)
    if (e.outputs[i] != 0) w -= llr[i];
  return w;
}

double add(double a, double b, algorithm kind) {
  const double larger = a > b ? a : b, smaller = a > b ? b : a;
  if (kind == algorithm::max_log || smaller == never) return larger;
  return larger + std::log1p(std::exp(smaller - larger));
}

}  // namespace

std::vector<std::uint8_t> conv_encode(const conv& code, const std::vector<std::uint8_t>& bits) {
  const int memory = code.constraint_length - 1, k = static_cast<int>(bits.size());
  int state = 0;
  if (code.end == conv_end::tail_biting)
    for (int i = k - memory; i < k; ++i)
      state = ((state << 1) | bits.at(static_cast<std::size_t>(i))) & ((1 << memory) - 1);
  std::vector<std::uint8_t> coded;
  for (std::size_t t = 0; t < steps_of(code, k); ++t) {
    const clocked c = clock_register(code, state, t < bits.size() ? bits[t] : closing_input(code, state));
    for (std::size_t i = 0; i < c.outputs.size(); ++i)
      if (is_sent(code, t, i)) coded.push_back(static_cast<std::uint8_t>(c.outputs[i]));
    state = c.next;
  }
  return coded;
}

viterbi_result conv_viterbi(const conv& code, const std::vector<double>& llr, int k) {
  const auto values = spread(code, llr, k);
  const auto edges = edges_of(code);
  const std::size_t states = std::size_t{1} << (code.constraint_length - 1);
  viterbi_result best{{}, never};
  const std::size_t starts = code.end == conv_end::tail_biting ? states : 1;
  for (std::size_t start = 0; start < starts; ++start) {
    std::vector<double> metric(states, never);
    metric[start] = 0;
    std::vector<std::vector<const edge*>> survivor;
    for (const auto& l : values) {
      std::vector<double> after(states, never);
      std::vector<const edge*> last(states, nullptr);
      for (const edge& e : edges) {
        const double m = metric[static_cast<std::size_t>(e.from)] + weight(e, l);
        if (m > after[static_cast<std::size_t>(e.to)]) {
          after[static_cast<std::size_t>(e.to)] = m;
          last[static_cast<std::size_t>(e.to)] = &e;
        }
      }
      metric = after;
      survivor.push_back(last);
    }
    std::size_t end = start;
    if (code.end == conv_end::truncated)
      for (std::size_t s = 0; s < states; ++s)
        if (metric[s] > metric[end]) end = s;
    if (!(metric[end] > best.metric)) continue;
    best.metric = metric[end];
    best.bits.assign(values.size(), 0);
    for (std::size_t t = values.size(), s = end; t-- > 0;) {
      best.bits[t] = static_cast<std::uint8_t>(survivor[t][s]->input);
      s = static_cast<std::size_t>(survivor[t][s]->from);
    }
    best.bits.resize(static_cast<std::size_t>(k));
  }
  return best;
}

bcjr_result conv_bcjr(const conv& code, const std::vector<double>& llr, const std::vector<double>& prior,
                      int k, algorithm kind) {
  const auto values = spread(code, llr, k);
  const auto edges = edges_of(code);
  const std::size_t states = std::size_t{1} << (code.constraint_length - 1), steps = values.size();
  const auto gamma = [&](const edge& e, std::size_t t) {
    const double p = t < prior.size() && e.input != 0 ? -prior[t] : 0;
    return weight(e, values[t]) + p;
  };
  std::vector<double> sum[2]{std::vector<double>(static_cast<std::size_t>(k), never),
                             std::vector<double>(static_cast<std::size_t>(k), never)};
  const std::size_t outputs = code.generators.size();
  std::vector<double> coded[2]{std::vector<double>(steps * outputs, never),
                               std::vector<double>(steps * outputs, never)};
  const std::size_t starts = code.end == conv_end::tail_biting ? states : 1;
  for (std::size_t start = 0; start < starts; ++start) {
    std::vector<std::vector<double>> alpha(steps + 1, std::vector<double>(states, never));
    alpha[0][start] = 0;
    for (std::size_t t = 0; t < steps; ++t)
      for (const edge& e : edges) {
        double& a = alpha[t + 1][static_cast<std::size_t>(e.to)];
        a = add(a, alpha[t][static_cast<std::size_t>(e.from)] + gamma(e, t), kind);
      }
    std::vector<double> beta(states, code.end == conv_end::truncated ? 0 : never);
    beta[start] = 0;
    for (std::size_t t = steps; t-- > 0;) {
      std::vector<double> before(states, never);
      for (const edge& e : edges) {
        const double b = gamma(e, t) + beta[static_cast<std::size_t>(e.to)];
        double& old = before[static_cast<std::size_t>(e.from)];
        old = add(old, b, kind);
        if (t < static_cast<std::size_t>(k)) {
          double& m = sum[e.input][t];
          m = add(m, alpha[t][static_cast<std::size_t>(e.from)] + b, kind);
        }
        // Once the block is over only a zero enters.
        if (t >= static_cast<std::size_t>(k) && (e.to & 1) != 0) continue;
        for (std::size_t i = 0; i < outputs; ++i) {
          double& m = coded[e.outputs[i]][t * outputs + i];
          m = add(m, alpha[t][static_cast<std::size_t>(e.from)] + b, kind);
        }
      }
      beta = before;
    }
  }
  bcjr_result r;
  for (std::size_t t = 0; t < static_cast<std::size_t>(k); ++t)
    r.a_posteriori.push_back(sum[0][t] - sum[1][t]);
  for (std::size_t i = 0; i < steps * outputs; ++i)
    if (is_sent(code, i / outputs, i % outputs)) r.coded.push_back(coded[0][i] - coded[1][i]);
  return r;
}

}  // namespace oracle
