#pragma once
// What the tests of convolutional codes share: codes of every kind, noise, and the oracle's view of a code.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <oracle/conv.hpp>
#include <warpband/fec/conv/conv.hpp>

namespace wb::testing {

using bit_vector = std::vector<std::uint8_t>;

inline oracle::conv oracle_of(const conv_code& c) {
  oracle::conv o;
  o.constraint_length = c.constraint_length;
  o.generators = c.generators;
  o.feedback = c.feedback.value_or(0);
  o.end = c.ending == conv_ending::zero_tail     ? oracle::conv_end::zero_tail
          : c.ending == conv_ending::tail_biting ? oracle::conv_end::tail_biting
                                                 : oracle::conv_end::truncated;
  o.sent = c.sent;
  return o;
}
/// Serial order to that of the code, for codes that send all bits.
template <class V>
std::vector<V> ordered(const conv_code& c, const std::vector<V>& serial) {
  if (c.order == conv_order::serial) return serial;
  const std::size_t outputs = c.generators.size(), steps = serial.size() / outputs;
  std::vector<V> r(serial.size());
  for (std::size_t t = 0; t < steps; t++)
    for (std::size_t i = 0; i < outputs; i++) r[i * steps + t] = serial[t * outputs + i];
  return r;
}
inline std::string name_of(const conv_code& c) {
  std::string s =
      "K=" + std::to_string(c.constraint_length) + " outputs=" + std::to_string(c.generators.size());
  return s + (c.feedback ? " recursive" : "") + " ending=" + std::to_string(static_cast<int>(c.ending)) +
         " pattern=" + std::to_string(c.sent.size());
}

/// Codes of every constraint length, number of outputs and ending, punctured ones among them.
inline std::vector<conv_code> many_codes() {
  std::vector<conv_code> codes;
  const std::vector<std::vector<int>> generators{{07, 05},        {017, 013, 015}, {023, 035},
                                                 {053, 075, 067}, {0133, 0171},    {0247, 0371, 0357, 0275},
                                                 {0561, 0753}};
  for (int K = 3; K <= 9; K++)
    for (const auto ending : {conv_ending::zero_tail, conv_ending::tail_biting, conv_ending::truncated}) {
      conv_code c;
      c.constraint_length = K;
      c.generators = generators[static_cast<std::size_t>(K - 3)];
      c.ending = ending;
      codes.push_back(c);
      if (ending == conv_ending::tail_biting) continue;
      auto parities = c.generators;
      const int feedback = parities.front();
      parities.erase(parities.begin());
      c = conv_recursive(K, feedback, parities);
      c.ending = ending;
      codes.push_back(c);
    }
  for (const auto rate : {conv_rate::r1_2, conv_rate::r2_3, conv_rate::r3_4, conv_rate::r5_6}) {
    codes.push_back(conv_80211(rate));
    codes.push_back(conv_80216(rate));
    codes.push_back(conv_80216(rate, conv_ending::tail_biting));
  }
  codes.push_back(conv_lte());
  // The ends of the register are not tapped alike; a rate-1 code; feedback that leaves the oldest bit out.
  codes.push_back({.constraint_length = 4, .generators = {016, 013}});
  codes.push_back({.constraint_length = 5, .generators = {020, 033}});
  codes.push_back({.constraint_length = 3, .generators = {07}});
  codes.push_back(conv_recursive(4, 014, {017}));
  codes.push_back(conv_recursive(5, 023, {033, 037}));
  codes.back().sent = {1, 1, 0, 1, 0, 1};
  codes.push_back({.constraint_length = 4, .generators = {013, 017}, .feedback = 015});  // not systematic
  codes.push_back({.constraint_length = 3, .generators = {05, 07}, .feedback = 07});  // the second output is
  return codes;
}

inline bit_vector random_bit_vector(std::size_t n, std::mt19937_64& rng) {
  bit_vector b(n);
  for (auto& x : b) x = static_cast<std::uint8_t>(rng() >> 63);
  return b;
}
/// LLRs of BPSK over AWGN.
inline std::vector<float> noisy_llrs(const bit_vector& coded, double esn0_db, std::mt19937_64& rng) {
  const double variance = 1 / (2 * std::pow(10, esn0_db / 10));
  std::normal_distribution<double> n(0, std::sqrt(variance));
  std::vector<float> llr;
  for (auto b : coded) llr.push_back(static_cast<float>(2 * (1 - 2 * b + n(rng)) / variance));
  return llr;
}
/// Random codewords and their LLRs, in rows.
struct conv_codewords {
  bit_vector sent;
  std::vector<float> llr, prior = {};
};
inline conv_codewords make_conv_codewords(const conv_code& code, std::size_t k, std::size_t count,
                                          double esn0_db, std::uint64_t seed, bool with_priors = false) {
  std::mt19937_64 rng(seed);
  conv_codewords w;
  for (std::size_t i = 0; i < count; i++) {
    const auto u = random_bit_vector(k, rng);
    const auto l = ordered(code, noisy_llrs(oracle::conv_encode(oracle_of(code), u), esn0_db, rng));
    const auto p = with_priors ? noisy_llrs(u, -6, rng) : std::vector<float>{};
    w.sent.insert(w.sent.end(), u.begin(), u.end());
    w.llr.insert(w.llr.end(), l.begin(), l.end());
    w.prior.insert(w.prior.end(), p.begin(), p.end());
  }
  return w;
}
inline conv_codewords conv_codewords_with_priors(const conv_code& code, std::size_t k, std::size_t count,
                                                 double esn0_db, std::uint64_t seed) {
  return make_conv_codewords(code, k, count, esn0_db, seed, true);
}
/// LLRs of 8 bits from -limit to limit.
inline std::vector<std::int8_t> whole_llrs(const conv_code& code, std::size_t k, std::size_t count, int limit,
                                           std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<std::int8_t> r(conv_frame(code, static_cast<int>(k)).n() * count);
  for (auto& x : r)
    x = static_cast<std::int8_t>(static_cast<int>(rng() % static_cast<unsigned>(2 * limit + 1)) - limit);
  return r;
}
/// The same numbers; -128 counts as -127.
inline std::vector<float> floats_of_whole(const std::vector<std::int8_t>& x) {
  std::vector<float> r;
  for (const std::int8_t value : x) r.push_back(static_cast<float>(std::max<int>(value, -127)));
  return r;
}

}  // namespace wb::testing
