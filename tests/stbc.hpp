#pragma once
// Random codewords of space-time codes for the tests of their decoders, their run on an executor, and what
// the oracle sees of them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <oracle/modem.hpp>
#include <oracle/stbc.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/status.hpp>
#include <warpband/stbc/stbc.hpp>

namespace wb::testing {

struct stbc_batch {
  stbc_config config;
  std::size_t per_channel = 1;
  std::vector<std::complex<float>> y, h;  // [codewords, 2 rx], [channels, 2 rx]
  std::vector<float> n0;                  // [codewords]
  std::vector<std::uint8_t> sent;         // [codewords, bits]
  std::vector<float> prior = {};          // [codewords, bits]; empty for none

  std::size_t width() const { return static_cast<std::size_t>(config.code.uses() * config.rx_antennas); }
  std::size_t gains() const {
    return static_cast<std::size_t>(config.code.channels() * config.code.tx_antennas() * config.rx_antennas);
  }
  std::size_t codewords() const { return n0.size(); }
  std::size_t bits() const { return stbc_decoder(config).bits_per_codeword(); }
  std::size_t symbol_bits() const {
    return static_cast<std::size_t>(std::bit_width(unsigned(config.qam - 1)));
  }
};
struct stbc_result {
  std::vector<float> llr;
  std::vector<std::uint8_t> bits, status;
};
inline bool same_bits(const stbc_result& a, const stbc_result& b) {
  return a.llr.size() == b.llr.size() && a.bits == b.bits && a.status == b.status &&
         (a.llr.empty() || std::memcmp(a.llr.data(), b.llr.data(), a.llr.size() * sizeof(float)) == 0);
}

inline oracle::space_time_block oracle_code(const space_time_code& code) {
  oracle::space_time_block block;
  block.kind = code.kind() == space_time_kind::alamouti ? oracle::space_time::alamouti
               : code.kind() == space_time_kind::pair   ? oracle::space_time::pair
               : code.kind() == space_time_kind::golden ? oracle::space_time::golden
               : code.kind() == space_time_kind::sfbc   ? oracle::space_time::sfbc
                                                        : oracle::space_time::fstd;
  // The Silver code from the oracle's own numbers.
  block.v = code.v() == space_time_code::silver().v() ? oracle::silver_matrix() : code.v();
  return block;
}

struct stbc_draw {
  double least_n0 = 0.01, most_n0 = 1;  // uniform in decibels
  bool noise = true;
  std::size_t per_channel = 1;
  double spread = 0.2;  // how far the H of a codeword's subcarriers lie apart
};
inline stbc_batch draw_stbc(const stbc_config& config, std::size_t codewords, std::uint64_t seed,
                            const stbc_draw& draw = {}) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> part(0, std::sqrt(0.5));
  std::uniform_real_distribution<double> exponent(std::log(draw.least_n0), std::log(draw.most_n0));
  const auto normal = [&] {
    const double re = part(random);
    return std::complex<double>(re, part(random));
  };
  stbc_batch b;
  b.config = config;
  b.per_channel = draw.per_channel;
  const auto code = oracle_code(config.code);
  const auto points = oracle::constellation(config.qam);
  const std::size_t rx = static_cast<std::size_t>(config.rx_antennas),
                    tx = static_cast<std::size_t>(config.code.tx_antennas()),
                    uses = static_cast<std::size_t>(config.code.uses());
  for (std::size_t i = 0; i < codewords; i++) {
    if (i % draw.per_channel == 0)
      for (std::size_t e = 0; e < b.gains(); e++)
        b.h.push_back(e < tx * rx ? std::complex<float>(normal())
                                  : b.h[b.h.size() - tx * rx] + std::complex<float>(draw.spread * normal()));
    const std::complex<float>* h = &b.h[i / draw.per_channel * b.gains()];
    b.n0.push_back(static_cast<float>(std::exp(exponent(random))));
    std::vector<std::complex<double>> x;
    for (int k = 0; k < code.symbols(); k++) {
      const std::size_t index = random() % points.size();
      x.push_back(points[index]);
      for (std::size_t mask = points.size() / 2; mask > 0; mask /= 2) b.sent.push_back((index & mask) != 0);
    }
    const auto s = oracle::space_time_matrix(code, x);
    for (std::size_t slot = 0; slot < uses; slot++)
      for (std::size_t r = 0; r < rx; r++) {
        const std::complex<float>* gain = h + (config.code.channels() > 1 ? slot * rx * tx : 0) + tx * r;
        std::complex<double> y = 0;
        for (std::size_t t = 0; t < tx; t++) y += std::complex<double>(gain[t]) * s[uses * t + slot];
        if (draw.noise) y += std::sqrt(static_cast<double>(b.n0[i])) * normal();
        b.y.push_back(std::complex<float>(y));
      }
  }
  return b;
}
inline oracle::stbc_use oracle_use(const stbc_batch& b, std::size_t i) {
  oracle::stbc_use use;
  use.code = oracle_code(b.config.code);
  use.points = b.config.qam;
  for (std::size_t e = 0; e < b.width(); e++) use.y.emplace_back(b.y[i * b.width() + e]);
  for (std::size_t e = 0; e < b.gains(); e++) use.h.emplace_back(b.h[i / b.per_channel * b.gains() + e]);
  use.n0 = b.n0[i];
  for (std::size_t e = i * b.bits(); !b.prior.empty() && e < (i + 1) * b.bits(); e++)
    use.prior.push_back(b.prior[e]);
  return use;
}

/// A-priori LLRs of the given size that are right more often than not.
inline stbc_batch with_prior(stbc_batch b, double size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> part(0.5 * size, size);
  for (const std::uint8_t bit : b.sent) {
    const double right = part(random);
    b.prior.push_back(static_cast<float>(bit != 0 ? -right : right));
  }
  return b;
}

enum class wanted { llr, decisions };
inline stbc_result decode(executor& exec, const stbc_batch& b, wanted output,
                          layout order = layout::row_major) {
  const stbc_decoder decoder(b.config);
  const std::size_t n = b.codewords(), m = b.bits();
  const auto turned = [](const auto& values, std::size_t elements) {
    auto out = values;
    const std::size_t items = values.size() / elements;
    for (std::size_t i = 0; i < items; i++)
      for (std::size_t e = 0; e < elements; e++) out[e * items + i] = values[i * elements + e];
    return out;
  };
  const auto stored = [&](const auto& values, std::size_t elements) {
    return on_device(exec, order == layout::row_major ? values : turned(values, elements),
                     values.size() / elements, elements, order);
  };
  const auto y = stored(b.y, b.width()), h = stored(b.h, b.gains());
  const auto n0 = on_device(exec, b.n0, n, 1);
  const auto prior = stored(b.prior, b.prior.empty() ? 1 : m);
  auto llr = exec.make<float>(n, m, order);
  auto bits = exec.make<std::uint8_t>(n, m, order), status = exec.make<std::uint8_t>(n, 1);
  stbc_output out{{}, bits, status};
  if (output == wanted::llr) out.llr = llr;
  stbc_input in{h, b.per_channel, y, n0, {}};
  if (!b.prior.empty()) in.prior = prior;
  decoder.run(exec, in, out);
  stbc_result r{{}, exec.to_host(bits), exec.to_host(status)};
  if (output == wanted::llr) r.llr = exec.to_host(llr);
  if (order == layout::batch_fastest && n > 0) {  // [bits, codewords] back
    r.bits = turned(r.bits, n);
    if (!r.llr.empty()) r.llr = turned(r.llr, n);
  }
  return r;
}

/// How far LLRs of two float32 algorithms of equal result may lie apart.
inline double llr_tolerance(const stbc_batch& b, std::size_t i) {
  double energy = 0;
  for (std::size_t e = 0; e < b.width(); e++) energy += std::norm(b.y[i * b.width() + e]);
  for (std::size_t e = 0; e < b.gains(); e++) energy += std::norm(b.h[i / b.per_channel * b.gains() + e]);
  return 4e-6 * energy / b.n0[i] + 1e-5;
}
/// Constellation indices of a codeword's bits.
inline std::vector<int> symbols_of(const stbc_batch& b, const std::vector<std::uint8_t>& bits,
                                   std::size_t i) {
  std::vector<int> symbols;
  for (std::size_t e = 0; e < b.bits(); e++) {
    if (e % b.symbol_bits() == 0) symbols.push_back(0);
    symbols.back() = symbols.back() * 2 + bits[i * b.bits() + e];
  }
  return symbols;
}

/// Codewords whose decisions are not the most likely codeword's: in earnest, and where it is a matter of
/// rounding.
struct disagreement {
  std::size_t wrong = 0, ties = 0;
};
/// Decisions alone: a tie is a metric within 1e-5 of the least one.
inline void compare_decisions(const stbc_batch& b, std::size_t i, const std::vector<std::uint8_t>& bits,
                              const oracle::stbc_use& use, const oracle::stbc_answer& expected,
                              disagreement& d) {
  const auto got = symbols_of(b, bits, i);
  if (got == expected.symbols) return;
  (oracle::stbc_metric(use, got) <= expected.metric * (1 + 1e-5) ? d.ties : d.wrong)++;
}
/// Signs of LLRs: a tie is an LLR that is zero within its tolerance. Between two codewords that are nearly
/// equally likely some bits may be of one and some of the other.
inline void compare_signs(const stbc_batch& b, std::size_t i, const std::vector<std::uint8_t>& bits,
                          const oracle::stbc_answer& expected, disagreement& d) {
  bool same = true, ties = true;
  for (std::size_t e = 0; e < b.bits(); e++) {
    if ((bits[i * b.bits() + e] != 0) == (expected.llr[e] < 0)) continue;
    same = false;
    ties = ties && std::abs(expected.llr[e]) <= llr_tolerance(b, i);
  }
  if (!same) (ties ? d.ties : d.wrong)++;
}

inline stbc_config stbc_setting(const space_time_code& code, int qam, int rx = 2,
                                golden_search search = golden_search::exact) {
  stbc_config c;
  c.code = code;
  c.qam = qam;
  c.rx_antennas = rx;
  c.search = search;
  return c;
}
inline std::string text_of(const stbc_config& c) {
  const char* const names[]{"Alamouti", "pair", "Golden", "SFBC", "FSTD"};
  return std::string(names[static_cast<int>(c.code.kind())]) + ", " + std::to_string(c.qam) + "-QAM, " +
         std::to_string(c.rx_antennas) + " antennas" +
         (c.search == golden_search::slicing ? ", slicing" : "") +
         (c.method == stbc_method::exhaustive ? ", exhaustive" : "");
}
/// Another pair: V of two angles.
inline space_time_code turned_pair() {
  const double c = std::cos(0.7), s = std::sin(0.7);
  const std::complex<double> e = std::polar(1.0, 0.4), f = std::polar(1.0, 1.1);
  return space_time_code::pair({c * e, s * e, -s * f, c * f});
}
/// The same of 256-QAM, whose searches are long: an exact one has 2^16 hypotheses for each pair.
inline std::vector<stbc_config> stbc_of_256_qam() {
  return {stbc_setting(space_time_code::alamouti(), 256, 1), stbc_setting(space_time_code::silver(), 256),
          stbc_setting(space_time_code::golden(), 256, 3),
          stbc_setting(space_time_code::golden(), 256, 2, golden_search::slicing)};
}
/// Codes over subcarriers.
inline std::vector<stbc_config> stbc_over_subcarriers() {
  std::vector<stbc_config> configs;
  for (const int qam : {4, 16, 64, 256})
    for (const auto& [code, rx] :
         {std::pair{space_time_code::sfbc(), 1}, std::pair{space_time_code::sfbc(), 3},
          std::pair{space_time_code::fstd(), 2}, std::pair{space_time_code::fstd(), 4}})
      configs.push_back(stbc_setting(code, qam, rx));
  return configs;
}
/// Exhaustive search of every kind of code and up to 65536 codewords.
inline std::vector<stbc_config> stbc_of_exhaustive_search() {
  std::vector<stbc_config> configs{stbc_setting(space_time_code::alamouti(), 4, 1),
                                   stbc_setting(space_time_code::alamouti(), 64),
                                   stbc_setting(space_time_code::silver(), 4),
                                   stbc_setting(space_time_code::silver(), 16),
                                   stbc_setting(turned_pair(), 4, 3),
                                   stbc_setting(space_time_code::golden(), 4, 1),
                                   stbc_setting(space_time_code::golden(), 16, 4),
                                   stbc_setting(space_time_code::alamouti(), 256, 2)};
  for (stbc_config& c : configs) c.method = stbc_method::exhaustive;
  return configs;
}
/// Settings that reach every decoder; 64-QAM is last.
inline std::vector<stbc_config> stbc_of_each() {
  std::vector<stbc_config> configs;
  for (const int qam : {4, 16, 64}) {
    configs.push_back(stbc_setting(space_time_code::alamouti(), qam, 1));
    configs.push_back(stbc_setting(space_time_code::alamouti(), qam));
    configs.push_back(stbc_setting(space_time_code::silver(), qam));
    configs.push_back(stbc_setting(turned_pair(), qam, 3));
    configs.push_back(stbc_setting(space_time_code::golden(), qam, qam == 16 ? 4 : 2));
    configs.push_back(stbc_setting(space_time_code::golden(), qam, 2, golden_search::slicing));
  }
  return configs;
}

}  // namespace wb::testing
