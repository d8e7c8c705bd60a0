#pragma once
// What the tests of convolutional turbo codes share: codes, their parameters as the oracle takes them,
// codewords in noise.
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <oracle/ctc.hpp>
#include <tests/conv.hpp>
#include <warpband/fec/ctc/ctc.hpp>

namespace wb::testing {

/// Each standard at its smallest and larger sizes, all rates.
inline std::vector<ctc_config> some_ctcs() {
  using enum ctc_rate;
  std::vector<ctc_config> codes;
  for (const auto rate : {r1_3, r1_2, r2_3, r3_4, r5_6})
    codes.push_back({.standard = ctc_standard::wimax, .k = rate == r5_6 ? 240 : 96, .rate = rate});
  for (const auto rate : {r1_3, r2_5, r1_2, r2_3, r3_4, r4_5, r6_7})
    codes.push_back({.standard = ctc_standard::dvb_rcs, .k = rate == r1_3 ? 440 : 96, .rate = rate});
  return codes;
}
inline oracle::ctc_parameters oracle_of(const ctc_config& c) {
  return oracle::ctc_table(c.standard == ctc_standard::wimax, c.k / 2);
}
/// Those bits or LLRs of the streams that are sent.
template <class T>
std::vector<T> sent_of(const ctc_config& c, const std::vector<T>& streams) {
  std::vector<T> sent;
  for (const std::int32_t place : ctc_sent_places(c))
    sent.push_back(streams[static_cast<std::size_t>(place)]);
  return sent;
}
struct ctc_words {
  std::vector<bit_vector> bits;
  std::vector<float> llr;  // rows of what is sent
};
inline ctc_words make_ctc_words(const ctc_config& c, std::size_t count, double esn0_db, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ctc_words words;
  const auto parameters = oracle_of(c);
  for (std::size_t i = 0; i < count; i++) {
    const auto u = random_bit_vector(static_cast<std::size_t>(c.k), random);
    const auto l = noisy_llrs(sent_of(c, oracle::ctc_encode(u, parameters)), esn0_db, random);
    words.llr.insert(words.llr.end(), l.begin(), l.end());
    words.bits.push_back(u);
  }
  return words;
}
/// LLRs of what is sent as those of the streams, 0 of the rest.
inline std::vector<double> streams_of(const ctc_config& c, const std::vector<float>& sent) {
  std::vector<double> streams(3 * static_cast<std::size_t>(c.k));
  const auto places = ctc_sent_places(c);
  for (std::size_t i = 0; i < places.size(); i++)
    streams[static_cast<std::size_t>(places[i])] = static_cast<double>(sent[i]);
  return streams;
}

}  // namespace wb::testing
