#pragma once
// LDPC codes, noisy words and runs on an executor for the tests of the encoder and the decoder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <oracle/ldpc.hpp>
#include <tests/on_backends.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/ldpc/ldpc.hpp>

namespace wb::testing {

using bytes = std::vector<std::uint8_t>;

struct named_code {
  std::string name;
  ldpc_code code;
};
/// All codes of 802.16e and 802.11n.
inline std::vector<named_code> standard_codes() {
  std::vector<named_code> codes;
  const char* wimax[] = {"1/2", "2/3A", "2/3B", "3/4A", "3/4B", "5/6"};
  for (int r = 0; r < 6; r++)
    for (int n = 576; n <= 2304; n += 96)
      codes.push_back(
          {"WiMAX " + std::to_string(n) + " " + wimax[r], wimax_ldpc(n, static_cast<wimax_rate>(r))});
  const char* wifi[] = {"1/2", "2/3", "3/4", "5/6"};
  for (int r = 0; r < 4; r++)
    for (int n : {648, 1296, 1944})
      codes.push_back({"WiFi " + std::to_string(n) + " " + wifi[r], wifi_ldpc(n, static_cast<wifi_rate>(r))});
  return codes;
}

/// `degree` blocks in each row at random places with random shifts, and more where a column would have none.
inline ldpc_code random_code(int rows, int columns, int z, int degree, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  qc_matrix m{rows, columns, std::vector<int>(static_cast<std::size_t>(rows * columns), -1)};
  std::vector<int> order, count(static_cast<std::size_t>(columns));
  for (int j = 0; j < columns; j++) order.push_back(j);
  const auto place = [&](int i, int j) {
    m.shifts[static_cast<std::size_t>(i * columns + j)] =
        static_cast<int>(random() % static_cast<unsigned>(z));
    count[static_cast<std::size_t>(j)]++;
  };
  for (int i = 0; i < rows; i++) {
    std::shuffle(order.begin(), order.end(), random);
    for (int d = 0; d < degree; d++) place(i, order[static_cast<std::size_t>(d)]);
  }
  for (int j = 0; j < columns; j++)
    if (count[static_cast<std::size_t>(j)] == 0) place(j % rows, j);
  return {m, z};
}

/// Codes whose lifting sizes and degrees are not those of a vector or an unrolled loop, and some that are.
struct ldpc_sample {
  std::string name;
  ldpc_code code;
  double esn0_db;  // where about half of the words are decoded
};
/// Two rows of `degree` blocks, one from the first column on and one up to the last.
inline ldpc_code overlapping_rows(int columns, int degree, int z) {
  qc_matrix m{2, columns, {}};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < columns; j++) {
      const bool connected = i == 0 ? j < degree : j >= columns - degree;
      m.shifts.push_back(connected ? (3 * i * j + j) % z : -1);
    }
  return {m, z};
}
inline const std::vector<ldpc_sample>& ldpc_samples() {
  static const std::vector<ldpc_sample> list = {
      {"Hamming", {{3, 7, {0, 0, 0, -1, 0, -1, -1, 0, 0, -1, 0, -1, 0, -1, 0, -1, 0, 0, -1, -1, 0}}, 1}, 3},
      {"z = 1", random_code(6, 12, 1, 4, 1), 2},
      {"z = 3", random_code(4, 9, 3, 4, 2), 2},
      {"degree 2", random_code(4, 6, 5, 2, 3), 2},
      {"WiFi 648 1/2", wifi_ldpc(648, wifi_rate::r1_2), -1.2},
      {"WiMAX 672 2/3A", wimax_ldpc(672, wimax_rate::r2_3a), 0.8},
      {"WiFi 1944 5/6", wifi_ldpc(1944, wifi_rate::r5_6), 2.6},
      {"WiMAX 576 5/6", wimax_ldpc(576, wimax_rate::r5_6), 2.5},
      {"WiMAX 2304 1/2", wimax_ldpc(2304, wimax_rate::r1_2), -1.7},
      {"degree 30", random_code(3, 40, 17, 30, 4), 4},
      {"degree 64", overlapping_rows(70, 64, 5), 5},
      {"degrees 23 to 27", random_code(5, 50, 33, 23, 6), 4},
      {"z = 130", random_code(4, 10, 130, 5, 8), 2},
      {"z = 384", random_code(5, 14, 384, 6, 9), 2},
  };
  return list;
}

inline oracle::base_matrix base_of(const ldpc_code& code) {
  oracle::base_matrix base{{}, code.z()};
  for (int i = 0; i < code.rows(); i++) {
    base.shifts.emplace_back();
    for (int j = 0; j < code.columns(); j++) base.shifts.back().push_back(code.shift(i, j));
  }
  return base;
}
inline oracle::parity_checks checks_of(const ldpc_code& code) { return oracle::expand(base_of(code)); }
inline oracle::dense_encoder dense_encoder_of(const ldpc_code& code) {
  std::vector<int> systematic;
  for (int i = 0; i < code.k(); i++) systematic.push_back(i);
  return {checks_of(code), systematic};
}
inline bool satisfies(const oracle::parity_checks& h, const bytes& word) {
  const bytes s = oracle::syndrome(h, word);
  return std::all_of(s.begin(), s.end(), [](std::uint8_t x) { return x == 0; });
}

inline bytes random_bytes_of_bits(int n, std::mt19937_64& random) {
  bytes b(static_cast<std::size_t>(n));
  for (auto& x : b) x = static_cast<std::uint8_t>(random() >> 63);
  return b;
}
/// LLRs of BPSK over AWGN.
inline std::vector<float> noisy(const bytes& coded, double esn0_db, std::mt19937_64& random) {
  const double variance = 0.5 * std::pow(10, -esn0_db / 10);
  std::normal_distribution<double> noise(0, std::sqrt(variance));
  std::vector<float> llr;
  for (auto b : coded) llr.push_back(static_cast<float>(2 * (1 - 2 * b + noise(random)) / variance));
  return llr;
}

struct decoded_words {
  bytes bits;
  std::vector<float> soft, extrinsic;
  std::vector<std::int32_t> iterations;
  bytes status;

  bool operator==(const decoded_words& o) const {
    const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
      return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
    };
    return bits == o.bits && same(soft, o.soft) && same(extrinsic, o.extrinsic) &&
           iterations == o.iterations && status == o.status;
  }
  decoded_words rows(std::size_t first, std::size_t n) const {
    const auto cut = [&](const auto& v) {
      const std::size_t width = v.size() / status.size();
      using V = std::remove_cvref_t<decltype(v)>;
      const auto begin = v.begin() + static_cast<std::ptrdiff_t>(first * width);
      return V(begin, begin + static_cast<std::ptrdiff_t>(n * width));
    };
    return {cut(bits), cut(soft), cut(extrinsic), cut(iterations), cut(status)};
  }
};
/// All outputs, of all n bits. What is not written stays wrong.
inline decoded_words decode_words(executor& e, const ldpc_decoder& decoder, const std::vector<float>& llr) {
  const std::size_t n = static_cast<std::size_t>(decoder.code().n()), count = llr.size() / n;
  auto in = on_device(e, llr, count, n);
  auto bits = on_device(e, bytes(n * count, 0xee), count, n);
  auto soft = on_device(e, std::vector<float>(n * count, 1e33f), count, n);
  auto extrinsic = on_device(e, std::vector<float>(n * count, 1e33f), count, n);
  auto iterations = on_device(e, std::vector<std::int32_t>(count, -7), count, 1);
  auto status = on_device(e, bytes(count, 0xee), count, 1);
  decoder.run(
      e, in,
      {.bits = bits, .soft = soft, .extrinsic = extrinsic, .iterations = iterations, .status = status});
  return {e.to_host(bits), e.to_host(soft), e.to_host(extrinsic), e.to_host(iterations), e.to_host(status)};
}

/// Rows of `messages`, encoded into rows of `width` bytes.
inline bytes encode_words(executor& e, const ldpc_encoder& encoder, const bytes& messages,
                          std::size_t width) {
  const std::size_t k = static_cast<std::size_t>(encoder.k()), count = messages.size() / k;
  auto in = on_device(e, messages, count, k);
  auto out = on_device(e, bytes(width * count, 0xee), count, width);
  encoder.run(e, in, out);
  return e.to_host(out);
}

}  // namespace wb::testing
