#pragma once
// Bits, batches and reference vectors for the tests of 5G NR.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <tests/json.hpp>
#include <tests/ldpc.hpp>
#include <tests/on_backends.hpp>

#ifndef WARPBAND_REFDATA
#define WARPBAND_REFDATA ""
#endif

namespace wb::testing {

using bits_t = std::vector<std::uint8_t>;
using llrs_t = std::vector<float>;

inline constexpr layout layouts[] = {layout::row_major, layout::batch_fastest};

inline bits_t random_bits_of(std::size_t n, std::mt19937_64& random) {
  bits_t out(n);
  for (auto& b : out) b = static_cast<std::uint8_t>(random() & 1);
  return out;
}
/// Rows to memory order and back.
template <class T>
std::vector<T> in_order(const std::vector<T>& rows, std::size_t batch, layout order, bool back = false) {
  if (order == layout::row_major) return rows;
  std::vector<T> out(rows.size());
  const std::size_t n = batch == 0 ? 0 : rows.size() / batch;
  for (std::size_t b = 0; b < batch; b++)
    for (std::size_t e = 0; e < n; e++)
      if (back)
        out[b * n + e] = rows[e * batch + b];
      else
        out[e * batch + b] = rows[b * n + e];
  return out;
}
template <class T>
array<T> given(executor& exec, const std::vector<T>& rows, std::size_t batch,
               layout order = layout::row_major) {
  return on_device(exec, in_order(rows, batch, order), rows.size() / batch, batch, order);
}
template <class T>
std::vector<T> rows_of(executor& exec, const array<T>& a, layout order = layout::row_major) {
  return in_order(exec.to_host(a), a.items(), order, true);
}
inline llrs_t noise_free(const bits_t& coded, float amplitude) {
  llrs_t llr;
  for (const auto b : coded) llr.push_back(b == 0 ? amplitude : -amplitude);
  return llr;
}
inline bits_t from_text(const std::string& text) {
  bits_t out;
  for (const char c : text) out.push_back(c == '1' ? 1 : 0);
  return out;
}

/// A file of vectors, or null without the reference data.
inline auto nr_vectors(const std::string& file) {
  std::ifstream in(std::string(WARPBAND_REFDATA) + "/nr/vectors/" + file);
  return parse_json(in ? std::string(std::istreambuf_iterator<char>(in), {}) : std::string("null"));
}
#define NR_SKIP_WITHOUT(document) \
  if ((document).is_null()) GTEST_SKIP() << "no refdata in '" << WARPBAND_REFDATA << "/nr/vectors'"

}  // namespace wb::testing
