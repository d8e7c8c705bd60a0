#include <oracle/wimax.hpp>

#include <cmath>

#include <oracle/conv.hpp>

namespace oracle {
namespace {

void put(std::vector<std::uint8_t>& bits, int value, int count) {
  for (int power = count; power-- > 0;) bits.push_back(static_cast<std::uint8_t>(value / (1 << power) % 2));
}
void put(std::vector<std::uint8_t>& bits, const std::vector<std::uint8_t>& more) {
  bits.insert(bits.end(), more.begin(), more.end());
}

}  // namespace

std::vector<std::uint8_t> remainder_of(std::vector<std::uint8_t> bits, std::uint64_t polynomial, int degree,
                                       bool ones) {
  const auto n = bits.size(), d = static_cast<std::size_t>(degree);
  bits.resize(n + d);
  if (ones)
    for (std::size_t i = 0; i < d; i++) bits[i] ^= 1;
  for (std::size_t i = 0; i < n; i++) {
    if (bits[i] == 0) continue;
    bits[i] = 0;
    for (std::size_t j = 0; j < d; j++) bits[i + 1 + j] ^= (polynomial >> (d - 1 - j)) & 1;
  }
  std::vector<std::uint8_t> rest(bits.end() - degree, bits.end());
  if (ones)
    for (std::uint8_t& b : rest) b ^= 1;
  return rest;
}

std::vector<std::uint8_t> wimax_fch(int repetition, int map_bytes) {
  std::vector<std::uint8_t> bits(6, 1);
  put(bits, 0, 1);
  put(bits, repetition, 2);
  put(bits, 0, 3);
  put(bits, map_bytes, 8);
  put(bits, 0, 4);
  put(bits, remainder_of(bits, 0x07, 8, false));
  return bits;
}

std::vector<std::uint8_t> wimax_dl_map(const std::vector<wimax_entry>& entries) {
  std::vector<std::uint8_t> bits;
  put(bits, 2, 8);
  put(bits, static_cast<int>(entries.size()), 8);
  int cid = 0;
  for (const wimax_entry& e : entries) {
    put(bits, e.diuc, 4);
    put(bits, ++cid, 16);
    put(bits, e.first_symbol, 12);
    put(bits, e.first_tone, 12);
    put(bits, e.symbols, 12);
    put(bits, e.tones, 12);
    put(bits, 0, 4);
  }
  put(bits, remainder_of(bits, 0x04C11DB7, 32, true));
  return bits;
}

std::vector<std::uint8_t> wimax_protected(const std::vector<std::uint8_t>& bits, int copies, int halves) {
  conv code;
  code.generators = {0171, 0133};
  code.end = conv_end::tail_biting;
  std::vector<std::uint8_t> sent;
  for (int c = 0; c < copies; c++)
    for (const std::uint8_t b : conv_encode(code, bits))
      for (int h = 0; h < halves; h++) sent.push_back(b);
  return sent;
}

std::vector<double> wimax_preamble(int tones, int antenna) {
  std::vector<int> stage(11, 1);  // stage[0] is the newest
  std::vector<double> sent;
  for (int t = 0; t < tones; t++) {
    const int w = (stage[10] + stage[8]) % 2;
    stage.insert(stage.begin(), w);
    stage.pop_back();
    sent.push_back(t % 2 == antenna ? std::sqrt(2.0) * (1 - 2 * w) : 0);
  }
  return sent;
}

std::vector<std::complex<double>> wimax_least_squares(const std::vector<std::complex<double>>& y,
                                                      int antenna) {
  const int tones = static_cast<int>(y.size());
  const std::vector<double> p = wimax_preamble(tones, antenna);
  const auto pilot = [&](int t) { return y[static_cast<std::size_t>(t)] / p[static_cast<std::size_t>(t)]; };
  std::vector<std::complex<double>> h;
  for (int t = 0; t < tones; t++) {
    if (t % 2 == antenna)
      h.push_back(pilot(t));
    else if (t == 0)
      h.push_back(1.5 * pilot(1) - 0.5 * pilot(3));
    else if (t == tones - 1)
      h.push_back(1.5 * pilot(t - 1) - 0.5 * pilot(t - 3));
    else
      h.push_back(0.5 * (pilot(t - 1) + pilot(t + 1)));
  }
  return h;
}

}  // namespace oracle
