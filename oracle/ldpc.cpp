#include <oracle/ldpc.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <oracle/as_size.hpp>

namespace oracle {
namespace {

using bits = std::vector<std::uint8_t>;

[[noreturn]] void refuse(const char* reason) { throw std::invalid_argument(reason); }

bool all_zero(const bits& b) {
  return std::all_of(b.begin(), b.end(), [](std::uint8_t x) { return x == 0; });
}

/// The LLR of the sum of two independent bits, 2 artanh(tanh(a/2) tanh(b/2)) =
/// ln (1 + e^(a+b)) / (e^a + e^b), without a cancellation where one is large.
double box_plus(double a, double b) {
  const double least = std::min(std::fabs(a), std::fabs(b));
  const double sign = std::signbit(a) != std::signbit(b) ? -1.0 : 1.0;
  return sign * least + std::log1p(std::exp(-std::fabs(a + b))) - std::log1p(std::exp(-std::fabs(a - b)));
}

/// The options with the scale and offset of an iteration, from 0.
template <class Options>
Options in_iteration(Options o, int iteration) {
  const auto pick = [&](auto& one, const auto& list) {
    if (!list.empty()) one = list[std::min(as_size(iteration), list.size() - 1)];
  };
  pick(o.scale, o.scales);
  pick(o.offset, o.offsets);
  return o;
}

/// What a check answers to each of its bits.
std::vector<double> answers(const std::vector<double>& q, const ldpc_options& options) {
  std::vector<double> r;
  for (std::size_t i = 0; i < q.size(); ++i) {
    double sum = std::numeric_limits<double>::infinity();  // the LLR of a bit that is surely 0
    double least = std::numeric_limits<double>::infinity(), sign = 1;
    for (std::size_t j = 0; j < q.size(); ++j) {
      if (j == i) continue;
      sum = std::isinf(sum) ? q[j] : box_plus(sum, q[j]);
      least = std::min(least, std::fabs(q[j]));
      if (std::signbit(q[j])) sign = -sign;
    }
    r.push_back(options.rule == check_rule::sum_product
                    ? sum
                    : sign * std::max(options.scale * least - options.offset, 0.0));
  }
  return r;
}

}  // namespace

parity_checks expand(const base_matrix& base) {
  parity_checks h;
  if (base.z < 1 || base.shifts.empty()) refuse("oracle: a base matrix without rows or lifting size");
  const std::size_t columns = base.shifts.front().size();
  h.n = static_cast<int>(columns) * base.z;
  for (const auto& row : base.shifts) {
    if (row.size() != columns) refuse("oracle: a base matrix with rows of different lengths");
    for (int r = 0; r < base.z; ++r) {
      std::vector<int> ones;
      for (std::size_t j = 0; j < columns; ++j)
        if (row[j] >= 0) ones.push_back(static_cast<int>(j) * base.z + (r + row[j]) % base.z);
      h.rows.push_back(ones);
    }
  }
  return h;
}

bits syndrome(const parity_checks& h, const bits& word) {
  if (word.size() != as_size(h.n)) refuse("oracle: a word of another length than the code");
  bits s;
  for (const auto& row : h.rows) {
    int sum = 0;
    for (int column : row) sum ^= word[as_size(column)] & 1;
    s.push_back(static_cast<std::uint8_t>(sum));
  }
  return s;
}

dense_encoder::dense_encoder(const parity_checks& h, const std::vector<int>& systematic)
    : n_(h.n), systematic_(systematic) {
  // Columns in a new order: first the positions to solve for, then the message.
  std::vector<int> place(as_size(h.n), -1), unknown;
  for (int p : systematic) {
    if (p < 0 || p >= h.n || place[as_size(p)] != -1)
      refuse("oracle: systematic positions that are not distinct");
    place[as_size(p)] = 0;
  }
  for (int p = 0; p < h.n; ++p)
    if (place[as_size(p)] == -1) unknown.push_back(p);
  const std::size_t unknowns = unknown.size();
  for (std::size_t i = 0; i < unknowns; ++i) place[as_size(unknown[i])] = static_cast<int>(i);
  for (std::size_t i = 0; i < systematic.size(); ++i)
    place[as_size(systematic[i])] = static_cast<int>(unknowns + i);

  std::vector<words> rows;
  for (const auto& ones : h.rows) {
    words row((as_size(h.n) + 63) / 64);
    for (int column : ones)
      row[as_size(place[as_size(column)]) / 64] ^= 1ull << as_size(place[as_size(column)]) % 64;
    rows.push_back(std::move(row));
  }
  const auto bit = [](const words& row, std::size_t i) { return (row[i / 64] >> i % 64 & 1) != 0; };
  std::size_t done = 0;
  for (std::size_t column = 0; column < unknowns && done < rows.size(); ++column) {
    std::size_t pivot = done;
    while (pivot < rows.size() && !bit(rows[pivot], column)) ++pivot;
    if (pivot == rows.size()) continue;  // a bit that stays 0
    std::swap(rows[pivot], rows[done]);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i != done && bit(rows[i], column))
        for (std::size_t w = column / 64; w < rows[i].size(); ++w) rows[i][w] ^= rows[done][w];
    solved_.push_back(unknown[column]);
    ++done;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    words sum((systematic.size() + 63) / 64);
    for (std::size_t j = 0; j < systematic.size(); ++j)
      if (bit(rows[i], unknowns + j)) sum[j / 64] |= 1ull << j % 64;
    (i < done ? sums_ : must_be_zero_).push_back(std::move(sum));
  }
}

bits dense_encoder::encode(const bits& message) const {
  if (message.size() != systematic_.size()) refuse("oracle: a message of another length than the code's");
  words packed((message.size() + 63) / 64);
  for (std::size_t i = 0; i < message.size(); ++i)
    if (message[i] & 1) packed[i / 64] |= 1ull << i % 64;
  const auto sum = [&](const words& row) {
    std::uint64_t s = 0;
    for (std::size_t w = 0; w < row.size(); ++w) s ^= row[w] & packed[w];
    for (int half = 32; half > 0; half /= 2) s ^= s >> half;
    return static_cast<std::uint8_t>(s & 1);
  };
  for (const words& row : must_be_zero_)
    if (sum(row) != 0) refuse("oracle: no codeword holds this message");
  bits word(as_size(n_), 0);
  for (std::size_t i = 0; i < message.size(); ++i) word[as_size(systematic_[i])] = message[i] & 1;
  for (std::size_t i = 0; i < solved_.size(); ++i) word[as_size(solved_[i])] = sum(sums_[i]);
  return word;
}

ldpc_result ldpc_decode(const parity_checks& h, const std::vector<double>& llr, const ldpc_options& options,
                        ldpc_kept* kept) {
  if (llr.size() != as_size(h.n)) refuse("oracle: LLRs of another length than the code");
  ldpc_result result;
  std::vector<double>& a = result.a_posteriori;
  a = llr;
  std::vector<std::vector<double>> r;
  for (const auto& row : h.rows) r.emplace_back(row.size(), 0.0);
  const bool goes_on = kept != nullptr && !kept->to_bits.empty();
  if (goes_on) {
    r = kept->to_bits;
    for (std::size_t c = 0; c < h.rows.size(); ++c)
      for (std::size_t d = 0; d < h.rows[c].size(); ++d) a[as_size(h.rows[c][d])] += r[c][d];
  }
  const auto decide = [&] {
    result.bits.clear();
    for (double x : a) result.bits.push_back(x < 0);
    const bits found = syndrome(h, result.bits);
    result.satisfied = options.sums.empty() ? all_zero(found) : found == options.sums;
  };
  decide();
  while (result.iterations < options.iterations) {
    const ldpc_options of_iteration = in_iteration(options, result.iterations);
    std::vector<double> sum = llr;  // flooding
    for (std::size_t c = 0; c < h.rows.size(); ++c) {
      const auto& row = h.rows[c];
      std::vector<double> exact, q;
      for (std::size_t d = 0; d < row.size(); ++d) {
        const bool as_kept = goes_on && result.iterations == 0 && options.order == check_order::flooding;
        exact.push_back(as_kept ? kept->to_checks[c][d] : a[as_size(row[d])] - r[c][d]);
        q.push_back(std::clamp(exact[d], -options.limit, options.limit));
      }
      r[c] = answers(q, of_iteration);
      if (!options.sums.empty() && options.sums[c] != 0)
        for (double& x : r[c]) x = -x;
      for (std::size_t d = 0; d < row.size(); ++d) {
        if (options.order == check_order::layered)
          a[as_size(row[d])] = exact[d] + r[c][d];
        else
          sum[as_size(row[d])] += r[c][d];
      }
    }
    if (options.order == check_order::flooding) a = sum;
    ++result.iterations;
    decide();
    if (options.stop && result.satisfied) break;
  }
  if (kept != nullptr) {
    kept->to_bits = kept->to_checks = r;
    for (std::size_t c = 0; c < h.rows.size(); ++c)
      for (std::size_t d = 0; d < h.rows[c].size(); ++d)
        kept->to_checks[c][d] = a[as_size(h.rows[c][d])] - r[c][d];
  }
  return result;
}

double round_to_half(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| is in [2^(exponent - 1), 2^exponent)
  const double unit = std::ldexp(1.0, std::max(exponent - 1, -14) - 10);
  const double rounded = std::nearbyint(x / unit) * unit;
  return std::fabs(rounded) > 65504 ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

// ---------------------------------------------------------------- min-sum, rounded
namespace {

/// What the formats differ in: `value` with sums, magnitudes, signs, and the message of a magnitude.
struct single_format {
  using value = float;
  float scale, offset;

  explicit single_format(const rounded_options& o) : scale(o.scale), offset(o.offset) {}
  static float limit() { return 1e30f; }
  static float channel(float llr) { return std::clamp(llr, -1e30f, 1e30f) + 0.f; }
  static float of_sum(float sum) { return sum + 0.f; }
  static float add(float a, float b) { return a + b; }
  static float subtract(float a, float b) { return a - b; }
  static float magnitude(float a) { return std::fabs(a); }
  static bool sign(float a) { return std::signbit(a); }
  static float negated(float a) { return -a; }
  float message(float m) const {
    const float scaled = m * scale;
    return std::max(scaled - offset, 0.f);
  }
  static float real(float a) { return a + 0.f; }
  static float difference(float a, float b) { return a - b + 0.f; }
};

struct half_format {
  using value = double;
  double scale, offset;

  explicit half_format(const rounded_options& o)
      : scale(round_to_half(static_cast<double>(o.scale))),
        offset(round_to_half(static_cast<double>(o.offset))) {}
  static double limit() { return 1000; }
  static double channel(float llr) {
    return round_to_half(std::clamp(static_cast<double>(llr), -1000.0, 1000.0)) + 0.0;
  }
  static double of_sum(float sum) {
    return round_to_half(std::clamp(static_cast<double>(sum), -65504.0, 65504.0)) + 0.0;
  }
  // Sums and products of two halves are exact in double: rounded once.
  static double add(double a, double b) { return round_to_half(a + b); }
  static double subtract(double a, double b) { return round_to_half(a - b); }
  static double magnitude(double a) { return std::fabs(a); }
  static bool sign(double a) { return std::signbit(a); }
  static double negated(double a) { return -a; }
  double message(double m) const { return std::max(round_to_half(round_to_half(m * scale) - offset), 0.0); }
  static float real(double a) { return static_cast<float>(a + 0.0); }
  static float difference(double a, double b) { return static_cast<float>(round_to_half(a - b) + 0.0); }
};

struct int8_format {
  using value = int;
  int eighths, offset;
  float steps;

  explicit int8_format(const rounded_options& o)
      : eighths(static_cast<int>(std::lround(o.scale * 8))),
        offset(static_cast<int>(std::nearbyint(o.offset * o.steps))),
        steps(o.steps) {}
  static int limit() { return 42; }
  int channel(float llr) const {
    return static_cast<int>(std::clamp(std::nearbyint(llr * steps), -127.f, 127.f));
  }
  static int of_sum(float sum) { return static_cast<int>(std::clamp(sum, -128.f, 127.f)); }
  static int add(int a, int b) { return std::clamp(a + b, -128, 127); }
  static int subtract(int a, int b) { return std::clamp(a - b, -128, 127); }
  static int magnitude(int a) { return std::abs(a); }
  static bool sign(int a) { return a < 0; }
  static int negated(int a) { return -a; }
  int message(int m) const { return std::max(((m * eighths + 4) >> 3) - offset, 0); }
  float real(int a) const { return static_cast<float>(a) / steps; }
  float difference(int a, int b) const { return static_cast<float>(a - b) / steps; }
};

template <class Format>
rounded_result decode(const base_matrix& base, const std::vector<float>& llr, const rounded_options& options,
                      rounded_kept* kept) {
  using value = typename Format::value;
  using values = std::vector<value>;
  Format format(options);
  const parity_checks h = expand(base);
  if (llr.size() != as_size(h.n)) refuse("oracle: LLRs of another length than the code");
  values channel;
  for (float l : llr) channel.push_back(format.channel(l));
  values a = channel;
  std::vector<values> r;
  for (const auto& row : h.rows) r.emplace_back(row.size(), value{0});
  if (kept != nullptr && !kept->to_bits.empty()) {
    std::vector<float> total;
    for (value x : channel) total.push_back(static_cast<float>(x));
    for (std::size_t c = 0; c < h.rows.size(); ++c)
      for (std::size_t d = 0; d < h.rows[c].size(); ++d) {
        r[c][d] = static_cast<value>(kept->to_bits[c][d]);
        total[as_size(h.rows[c][d])] += static_cast<float>(r[c][d]);
      }
    for (std::size_t v = 0; v < a.size(); ++v) {
      const auto before = static_cast<value>(kept->a_posteriori[v]),
                 was = static_cast<value>(kept->channel[v]);
      a[v] = options.order == check_order::flooding || channel[v] == was ? before
             : options.format == number_format::half ? format.add(before, format.subtract(channel[v], was))
                                                     : format.of_sum(total[v]);
    }
  }
  const auto answers = [&](const values& q) {
    value least = format.limit(), next = format.limit();
    bool sign = false;
    for (value x : q) {
      const value m = format.magnitude(x);
      next = std::min(next, std::max(least, m));
      least = std::min(least, m);
      sign = sign != format.sign(x);
    }
    const value m1 = format.message(least), m2 = format.message(next);
    values out;
    for (value x : q) {
      const value m = format.magnitude(x) == least ? m2 : m1;
      out.push_back(sign != format.sign(x) ? format.negated(m) : m);
    }
    return out;
  };

  rounded_result result;
  while (result.iterations < options.iterations) {
    format = Format(in_iteration(options, result.iterations));
    values first(a.size(), value{0}), second(a.size(), value{0});
    for (std::size_t c = 0; c < h.rows.size(); ++c) {
      const auto& row = h.rows[c];
      values q;
      for (std::size_t d = 0; d < row.size(); ++d) q.push_back(format.subtract(a[as_size(row[d])], r[c][d]));
      r[c] = answers(q);
      for (std::size_t d = 0; d < row.size(); ++d) {
        const std::size_t v = as_size(row[d]);
        if (options.order == check_order::layered) {
          a[v] = format.add(q[d], r[c][d]);
        } else {
          // The bit lies behind the check's row in its block, unless the rotation went around.
          const bool around = v % as_size(base.z) < c % as_size(base.z);
          value& sum = around ? second[v] : first[v];
          sum = format.add(sum, r[c][d]);
        }
      }
    }
    if (options.order == check_order::flooding)
      for (std::size_t v = 0; v < a.size(); ++v)
        a[v] = format.add(format.add(channel[v], first[v]), second[v]);
    ++result.iterations;
    result.bits.clear();
    for (value x : a) result.bits.push_back(x < 0);
    result.satisfied = all_zero(syndrome(h, result.bits));
    if (options.stop && result.satisfied) break;
  }
  for (std::size_t v = 0; v < a.size(); ++v) {
    result.a_posteriori.push_back(format.real(a[v]));
    result.extrinsic.push_back(format.difference(a[v], channel[v]));
  }
  if (kept != nullptr) {
    kept->to_bits.clear();
    for (const values& row : r) kept->to_bits.emplace_back(row.begin(), row.end());
    kept->a_posteriori.assign(a.begin(), a.end());
    kept->channel.assign(channel.begin(), channel.end());
  }
  return result;
}

}  // namespace

rounded_result ldpc_decode_rounded(const base_matrix& base, const std::vector<float>& llr,
                                   const rounded_options& options, rounded_kept* kept) {
  switch (options.format) {
    case number_format::single:
      return decode<single_format>(base, llr, options, kept);
    case number_format::half:
      return decode<half_format>(base, llr, options, kept);
    case number_format::int8:
      return decode<int8_format>(base, llr, options, kept);
  }
  refuse("oracle: an unknown number format");
}

}  // namespace oracle
