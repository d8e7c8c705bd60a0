#pragma once
// What the tests of the turbo code share: codewords in noise, and the decoders with windows side by side.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <oracle/lte.hpp>
#include <oracle/turbo.hpp>
#include <tests/on_backends.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/lte/qpp.hpp>
#include <warpband/fec/turbo/turbo.hpp>

namespace wb::testing {

using bits_t = std::vector<std::uint8_t>;
using steps_t = std::vector<std::int8_t>;

inline bits_t random_bits_of(int n, std::mt19937_64& rng) {
  bits_t b(static_cast<std::size_t>(n));
  for (auto& x : b) x = static_cast<std::uint8_t>(rng() >> 63);
  return b;
}
inline std::vector<int> interleaver(int k) {
  const auto p = qpp_for(k);
  return oracle::qpp(p.k, p.f1, p.f2);
}
inline bits_t encoded(const bits_t& u, const std::vector<int>& pi) {
  const auto s = oracle::turbo_encode(u, pi);
  bits_t bits = s.d0;
  bits.insert(bits.end(), s.d1.begin(), s.d1.end());
  bits.insert(bits.end(), s.d2.begin(), s.d2.end());
  return bits;
}
/// LLRs of BPSK over AWGN.
inline std::vector<float> noisy(const bits_t& coded, double ebn0_db, double rate, std::mt19937_64& rng) {
  const double variance = 1 / (2 * rate * std::pow(10, ebn0_db / 10));
  std::normal_distribution<double> n(0, std::sqrt(variance));
  std::vector<float> llr;
  for (auto b : coded) llr.push_back(static_cast<float>(2 * (1 - 2 * b + n(rng)) / variance));
  return llr;
}
struct codewords {
  std::vector<bits_t> sent;
  std::vector<float> llr;  // rows
};
/// With a CRC the last bits are its parity.
inline codewords make_codewords(int k, int count, double ebn0_db, std::uint64_t seed,
                                const crc_polynomial* crc = nullptr) {
  std::mt19937_64 rng(seed);
  codewords c;
  const auto pi = interleaver(k);
  for (int i = 0; i < count; i++) {
    auto u = random_bits_of(k, rng);
    if (crc != nullptr) {
      u.resize(static_cast<std::size_t>(k - crc->degree));
      const auto parity = oracle::crc(u, crc->polynomial, crc->degree);
      u.insert(u.end(), parity.begin(), parity.end());
    }
    const auto l = noisy(encoded(u, pi), ebn0_db, k / (3.0 * k + 12), rng);
    c.llr.insert(c.llr.end(), l.begin(), l.end());
    c.sent.push_back(std::move(u));
  }
  return c;
}
/// All LLRs times `factor`.
inline std::vector<float> scaled(std::vector<float> llr, float factor) {
  for (float& x : llr) x *= factor;
  return llr;
}
/// How many codewords, of k bits each, are not as sent.
inline int frame_errors(const bits_t& bits, const std::vector<bits_t>& sent) {
  int errors = 0;
  for (std::size_t i = 0; i < sent.size(); i++) errors += row_of(bits, i, sent[i].size()) != sent[i];
  return errors;
}
/// Decisions of the double-precision log-MAP on the same LLRs, in rows.
inline bits_t oracle_bits(const std::vector<float>& llr, int k, int iterations) {
  const std::size_t n = 3 * (static_cast<std::size_t>(k) + 4);
  bits_t bits;
  for (std::size_t i = 0; i < llr.size() / n; i++) {
    const auto row = row_of(llr, i, n);
    const auto r = oracle::turbo_decode(std::vector<double>(row.begin(), row.end()), interleaver(k),
                                        {.iterations = iterations});
    bits.insert(bits.end(), r.bits.begin(), r.bits.end());
  }
  return bits;
}
/// Factors on well-scaled LLRs, as an estimate of the noise that is off gives them.
inline constexpr float llr_scales[] = {0.05f, 6.f, 10.f, 100.f};

/// Whether the last bits are the parity of those before, by the oracle.
inline bool crc_holds(const bits_t& bits, const crc_polynomial& crc) {
  const auto end = bits.end() - crc.degree;
  return oracle::crc(bits_t(bits.begin(), end), crc.polynomial, crc.degree) == bits_t(end, bits.end());
}
/// LLRs as 8-bit integers.
inline steps_t steps_of(const std::vector<float>& llr, float steps = 8.f) {
  steps_t r;
  for (const float x : llr)
    r.push_back(static_cast<std::int8_t>(std::clamp(std::nearbyint(steps * x), -127.f, 127.f)));
  return r;
}
inline std::vector<float> floats_of(const steps_t& llr, float steps = 8.f) {
  std::vector<float> r;
  for (const std::int8_t x : llr) r.push_back(static_cast<float>(x) / steps);
  return r;
}

/// The decoders with windows side by side.
struct windows_kind {
  const char* name;
  turbo_precision precision;
  map_algorithm algorithm;
};
inline constexpr windows_kind int16_kind{"int16", turbo_precision::int16, map_algorithm::max_log_map},
    bfloat_max_log{"bfloat16 max-log-MAP", turbo_precision::bfloat16, map_algorithm::max_log_map},
    bfloat_log_map{"bfloat16 log-MAP", turbo_precision::bfloat16, map_algorithm::log_map};
inline turbo_decoder_config setting(const windows_kind& kind, int k, std::optional<int> windows = {},
                                    std::optional<int> overlap = {}, int iterations = 4) {
  return with_usual_scale({.k = k,
                           .algorithm = kind.algorithm,
                           .iterations = iterations,
                           .windows = windows,
                           .overlap = overlap,
                           .precision = kind.precision});
}

struct decisions {
  bits_t bits, status;
  std::vector<std::int32_t> iterations;
  bool operator==(const decisions&) const = default;
};
/// Rows of LLRs, float or in steps; `order` is how they lie on the device, in and out.
template <class T>
decisions decide(executor& e, const turbo_decoder& d, const std::vector<T>& llr,
                 layout order = layout::row_major) {
  const auto k = static_cast<std::size_t>(d.config().k), n = 3 * (k + 4), count = llr.size() / n;
  std::vector<T> values = llr;
  if (order == layout::batch_fastest)
    for (std::size_t i = 0; i < count; i++)
      for (std::size_t j = 0; j < n; j++) values[j * count + i] = llr[i * n + j];
  auto in = on_device(e, values, count, n, order);
  auto bits = e.make<std::uint8_t>(count, k, order), status = e.make<std::uint8_t>(count, 1);
  auto iterations = e.make<std::int32_t>(count, 1);
  d.run(e, in, {.bits = bits, .iterations = iterations, .status = status});
  decisions o{e.to_host(bits), e.to_host(status), e.to_host(iterations)};
  if (order == layout::batch_fastest) {
    const bits_t columns = o.bits;
    for (std::size_t i = 0; i < count; i++)
      for (std::size_t j = 0; j < k; j++) o.bits[i * k + j] = columns[j * count + i];
  }
  return o;
}

}  // namespace wb::testing
