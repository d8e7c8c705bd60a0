#pragma once
// Parity-check matrices without structure, and their reference data, for tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <oracle/ldpc.hpp>
#include <tests/json.hpp>
#include <tests/ldpc.hpp>
#include <warpband/fec/sparse_ldpc/sparse_ldpc.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace wb::testing {

inline const std::string any_h_folder = std::string(WARPBAND_REFDATA) + "/ldpc_more/any_h/";
/// A document of the reference data, or null without it.
inline nlohmann::json any_h_json(const std::string& file) {
  std::ifstream in(any_h_folder + file);
  return parse_json(in ? std::string(std::istreambuf_iterator<char>(in), {}) : std::string("null"));
}
#define ANY_H_SKIP_WITHOUT(document) \
  if ((document).is_null()) GTEST_SKIP() << "no refdata in '" << any_h_folder << "'"
inline parity_check_matrix any_h_matrix(const std::string& name) {
  return read_parity_check_matrix(any_h_folder + "matrices/" + name + ".alist");
}

inline const std::string satellite_folder = std::string(WARPBAND_REFDATA) + "/ldpc_more/";
/// A document of the reference data of CCSDS and DVB-S2, or null without it.
inline nlohmann::json satellite_json(const std::string& file) {
  std::ifstream in(satellite_folder + file);
  return parse_json(in ? std::string(std::istreambuf_iterator<char>(in), {}) : std::string("null"));
}
#define SATELLITE_SKIP_WITHOUT(document) \
  if ((document).is_null()) GTEST_SKIP() << "no refdata in '" << satellite_folder << "'"
/// The frame of "s2x_normal_154_180".
struct dvb_s2_frame {
  int n;
  std::string size, rate;  // "normal", "154/180"
};
inline dvb_s2_frame dvb_s2_frame_of(const std::string& code) {
  const auto size = code.find('_') + 1, rate = code.find('_', size) + 1;
  dvb_s2_frame f{0, code.substr(size, rate - 1 - size), code.substr(rate)};
  f.n = f.size == "normal" ? 64800 : f.size == "medium" ? 32400 : 16200;
  std::replace(f.rate.begin(), f.rate.end(), '_', '/');
  return f;
}
/// The first n bits of hexadecimal digits, the most significant first.
inline bytes bits_of_hex(const std::string& hex, std::size_t n) {
  bytes bits;
  for (const char c : hex)
    for (int i = 3; i >= 0; i--)
      bits.push_back(static_cast<std::uint8_t>(std::stoi(std::string(1, c), nullptr, 16) >> i & 1));
  bits.resize(n);
  return bits;
}
inline bytes random_bits(std::size_t n, std::mt19937_64& random) {
  bytes bits(n);
  for (auto& b : bits) b = static_cast<std::uint8_t>(random() & 1);
  return bits;
}

/// Bits of a text of 0 and 1.
inline bytes bits_of_text(const std::string& text) {
  bytes bits;
  for (const char c : text) bits.push_back(c == '1');
  return bits;
}

inline oracle::parity_checks as_oracle(const parity_check_matrix& h) { return {h.n(), h.rows()}; }

/// Rows of random weights 0 to `weight`, most of them near it. `lone`: some have a single one.
inline parity_check_matrix random_matrix(int n, int checks, int weight, std::uint64_t seed,
                                         const unsent_columns& unsent = {}, bool lone = true) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<int>> rows;
  std::vector<int> order;
  for (int c = 0; c < n; c++) order.push_back(c);
  for (int i = 0; i < checks; i++) {
    std::shuffle(order.begin(), order.end(), random);
    int degree = i % 13 == 5 ? i / 13 % 3 : weight - static_cast<int>(random() % 2);
    if (degree == 1 && !lone) degree = 2;
    rows.emplace_back(order.begin(), order.begin() + degree);
  }
  return {n, rows, unsent};
}

struct sparse_decoded {
  bytes bits;
  std::vector<float> soft, extrinsic;
  std::vector<std::int32_t> iterations;
  bytes status;
  bool operator==(const sparse_decoded&) const = default;
};
/// All outputs, of all n bits. `syndrome`: of the items one after the other, or empty.
inline sparse_decoded decode_sparse(executor& exec, const sparse_ldpc_decoder& d,
                                    const std::vector<float>& llr, const bytes& syndrome = {}) {
  const parity_check_matrix& h = d.matrix();
  const auto n = static_cast<std::size_t>(h.n()), sent = static_cast<std::size_t>(h.sent()),
             checks = static_cast<std::size_t>(h.checks()), items = llr.size() / sent;
  const auto in = on_device(exec, llr, items, sent);
  auto bits = exec.make<std::uint8_t>(items, n);
  auto soft = exec.make<float>(items, n), extrinsic = exec.make<float>(items, sent);
  auto iterations = exec.make<std::int32_t>(items, 1);
  auto status = exec.make<std::uint8_t>(items, 1);
  array<std::uint8_t> s;
  if (!syndrome.empty()) s = on_device(exec, syndrome, items, checks);
  d.run(exec, in,
        {.bits = bits, .soft = soft, .extrinsic = extrinsic, .iterations = iterations, .status = status},
        syndrome.empty() ? view<const std::uint8_t>{} : view<const std::uint8_t>(s));
  return {exec.to_host(bits), exec.to_host(soft), exec.to_host(extrinsic), exec.to_host(iterations),
          exec.to_host(status)};
}

}  // namespace wb::testing
