#pragma once
// What the tests of polar codes share: codes of every kind, messages in noise, decoding, the oracle's
// messages.
#include <cmath>
#include <random>
#include <vector>

#include <oracle/polar.hpp>
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
                                               {.kind = plain, .k = 900, .coded_bits = 1024, .crc_bits = 24},
                                               {.kind = general, .k = 24, .coded_bits = 50, .crc_bits = 8},
                                               {.kind = general, .k = 9, .coded_bits = 54, .crc_bits = 0}};
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

struct decoded_messages {
  bits_of bits, status;
  bool operator==(const decoded_messages&) const = default;
};
inline decoded_messages decode(executor& e, const polar_config& c, const polar_decoder_config& config,
                               const std::vector<float>& llr, layout order = layout::row_major) {
  const polar_decoder decoder(c, config);
  const std::size_t k = decoder.code().k(), n = decoder.code().coded_bits(), items = llr.size() / n;
  auto bits = on_device(e, bits_of(k * items, 7), items, k, order);
  auto status = on_device(e, bits_of(items, 99), items, 1);
  decoder.run(e, on_device(e, llr, items, n, order), {.bits = bits, .status = status});
  return {e.to_host(bits), e.to_host(status)};
}
inline decoded_messages decode(executor& e, const polar_config& c, int list_size,
                               const std::vector<float>& llr, layout order = layout::row_major) {
  return decode(e, c, polar_decoder_config{.list_size = list_size}, llr, order);
}
inline std::vector<double> coded_llrs(const polar_block& b, const std::vector<float>& llr) {
  std::vector<double> sums(static_cast<std::size_t>(b.n), b.shortened ? 1e32 : 0);
  std::vector<bool> sent(sums.size());
  for (std::size_t f = 0; f < b.sent.size(); f++) {
    const std::size_t d = static_cast<std::size_t>(b.sent[f]);
    if (!sent[d]) sums[d] = 0;
    sent[d] = true;
    sums[d] += static_cast<double>(llr[static_cast<std::size_t>(b.first_sent) + f]);
  }
  return sums;
}
inline std::vector<oracle::polar_bit> bit_types(const polar_block& b) {
  std::vector<oracle::polar_bit> types(static_cast<std::size_t>(b.n), oracle::polar_bit::frozen);
  for (const int u : b.place) types[static_cast<std::size_t>(u)] = oracle::polar_bit::information;
  for (const int u : b.parity_checks) types[static_cast<std::size_t>(u)] = oracle::polar_bit::check;
  return types;
}
/// The message of the oracle's list: the first path whose CRC holds, or the first.
inline bits_of oracle_message(const polar_code& code, const std::vector<float>& llr, int list_size,
                              bool exact = false) {
  bits_of message;
  for (const polar_block& b : code.blocks()) {
    bits_of best;
    for (const auto& path : oracle::polar_list(bit_types(b), coded_llrs(b, llr), list_size, exact)) {
      std::int32_t sum = 0;
      bits_of c;
      for (std::size_t i = 0; i < b.place.size(); i++) {
        c.push_back(path.u[static_cast<std::size_t>(b.place[i])]);
        sum ^= c.back() ? b.crc_weights[i] : 0;
      }
      const auto first = c.begin() + (b.fillers_behind ? 0 : b.fillers);
      if (best.empty() || sum == b.crc_target) best.assign(first, first + b.payload);
      if (sum == b.crc_target) break;
    }
    message.insert(message.end(), best.begin(), best.end());
  }
  return message;
}

}  // namespace wb::testing
