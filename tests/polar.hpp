#pragma once
// What the tests of polar codes share: codes of every kind, and messages in noise.
#include <cmath>
#include <random>
#include <vector>

#include <tests/on_backends.hpp>
#include <warpband/fec/polar/polar.hpp>

namespace wb::testing {

using bits_of = std::vector<std::uint8_t>;

inline const std::vector<polar_config>& polar_codes() {
  using enum polar_kind;
  static const std::vector<polar_config> codes{{.kind = uci, .k = 12, .coded_bits = 54},
                                               {.kind = uci, .k = 19, .coded_bits = 300},
                                               {.kind = uci, .k = 64, .coded_bits = 128},
                                               {.kind = uci, .k = 100, .coded_bits = 150},
                                               {.kind = uci, .k = 361, .coded_bits = 1089},
                                               {.kind = dci, .k = 5, .coded_bits = 108, .rnti = 0x1234},
                                               {.kind = dci, .k = 41, .coded_bits = 216, .rnti = 65535},
                                               {.kind = pbch, .k = 32, .coded_bits = 864},
                                               {.kind = plain, .k = 20, .coded_bits = 32, .crc_bits = 0},
                                               {.kind = plain, .k = 7, .coded_bits = 20, .crc_bits = 6},
                                               {.kind = plain, .k = 900, .coded_bits = 1024, .crc_bits = 24}};
  return codes;
}
inline constexpr int list_sizes[] = {1, 2, 4, 8, 16, 32};
inline constexpr polar_precision precisions[] = {polar_precision::float32, polar_precision::int16,
                                                 polar_precision::int8};

struct messages {
  bits_of sent;
  std::vector<float> llr;  // rows
};
/// BPSK over noise: LLRs 4 y / N0.
inline messages make_messages(const polar_config& c, std::size_t count, double esn0_db, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  messages m;
  m.sent.resize(count * static_cast<std::size_t>(c.k));
  for (auto& b : m.sent) b = static_cast<std::uint8_t>(rng() & 1);
  const polar_encoder encoder(c);
  const auto exec = open_scalar();
  auto coded = exec->make<std::uint8_t>(count, encoder.code().coded_bits());
  encoder.run(*exec, on_device(*exec, m.sent, count, encoder.code().k()), coded);
  const double n0 = std::pow(10, -esn0_db / 10);
  std::normal_distribution<double> noise(0, std::sqrt(n0 / 2));
  for (const std::uint8_t b : exec->to_host(coded))
    m.llr.push_back(static_cast<float>(4 * ((b ? -1 : 1) + noise(rng)) / n0));
  return m;
}

}  // namespace wb::testing
