#include <oracle/nr_srs.hpp>

#include <cmath>
#include <numbers>

#include <oracle/as_size.hpp>
#include <oracle/nr_pucch.hpp>
#include <oracle/nr_transport.hpp>

namespace oracle {

int nr_srs_blocks(int c_srs, int b) {
  static constexpr int table[64][4] = {
      {4, 4, 4, 4},      {8, 4, 4, 4},      {12, 4, 4, 4},     {16, 4, 4, 4},     {16, 8, 4, 4},
      {20, 4, 4, 4},     {24, 4, 4, 4},     {24, 12, 4, 4},    {28, 4, 4, 4},     {32, 16, 8, 4},
      {36, 12, 4, 4},    {40, 20, 4, 4},    {48, 16, 8, 4},    {48, 24, 12, 4},   {52, 4, 4, 4},
      {56, 28, 4, 4},    {60, 20, 4, 4},    {64, 32, 16, 4},   {72, 24, 12, 4},   {72, 36, 12, 4},
      {76, 4, 4, 4},     {80, 40, 20, 4},   {88, 44, 4, 4},    {96, 32, 16, 4},   {96, 48, 24, 4},
      {104, 52, 4, 4},   {112, 56, 28, 4},  {120, 60, 20, 4},  {120, 40, 8, 4},   {120, 24, 12, 4},
      {128, 64, 32, 4},  {128, 64, 16, 4},  {128, 16, 8, 4},   {132, 44, 4, 4},   {136, 68, 4, 4},
      {144, 72, 36, 4},  {144, 48, 24, 12}, {144, 48, 16, 4},  {144, 16, 8, 4},   {152, 76, 4, 4},
      {160, 80, 40, 4},  {160, 80, 20, 4},  {160, 32, 16, 4},  {168, 84, 28, 4},  {176, 88, 44, 4},
      {184, 92, 4, 4},   {192, 96, 48, 4},  {192, 96, 24, 4},  {192, 64, 16, 4},  {192, 24, 8, 4},
      {208, 104, 52, 4}, {216, 108, 36, 4}, {224, 112, 56, 4}, {240, 120, 60, 4}, {240, 80, 20, 4},
      {240, 48, 16, 8},  {240, 24, 12, 4},  {256, 128, 64, 4}, {256, 128, 32, 4}, {256, 16, 8, 4},
      {264, 132, 44, 4}, {272, 136, 68, 4}, {272, 68, 4, 4},   {272, 16, 8, 4}};
  return table[c_srs][b];
}

namespace {

int parts_of(const nr_srs& s, int b) {
  return b == 0 ? 1 : nr_srs_blocks(s.c_srs, b - 1) / nr_srs_blocks(s.c_srs, b);
}

/// F_b, section 6.4.1.4.3.
int hops_of(const nr_srs& s, int b, int n_srs) {
  double lower = 1;
  for (int i = s.b_hop; i < b; i++) lower *= i == s.b_hop ? 1 : parts_of(s, i);
  const double parts = parts_of(s, b), upper = lower * (b == s.b_hop ? 1 : parts);
  if (parts_of(s, b) % 2 == 1) return static_cast<int>(std::floor(parts / 2) * std::floor(n_srs / lower));
  const double rest = std::fmod(n_srs, upper);
  return static_cast<int>(parts / 2 * std::floor(rest / lower) + std::floor(rest / (2 * lower)));
}

}  // namespace

std::vector<std::complex<double>> nr_srs_values(const nr_srs& s) {
  std::vector<std::complex<double>> grid(as_size(s.ports * s.symbols_per_slot * s.subcarriers));
  const int shift_count = s.comb == 2 ? 8 : 12, length = 12 * nr_srs_blocks(s.c_srs, s.b_srs) / s.comb;
  for (int l = 0; l < s.symbols; l++) {
    const int symbol = s.first_symbol + l, number = s.slot * s.symbols_per_slot + symbol;
    int u = s.id % 30, v = 0;
    const auto c = nr_gold_sequence(static_cast<std::uint32_t>(s.id), 8 * number + 8);
    if (s.hopping == 1) {
      int f = 0;
      for (int m = 0; m < 8; m++) f += (1 << m) * c[as_size(8 * number + m)];
      u = (f % 30 + s.id) % 30;
    }
    if (s.hopping == 2 && length >= 72) v = c[as_size(number)];
    const auto r = length >= 36 ? nr_zadoff_chu_base(length, u, v) : s.base(length, u, v);
    for (int p = 0; p < s.ports; p++) {
      const int shift = (s.cyclic_shift + shift_count / s.ports * p) % shift_count;
      int offset = s.comb_offset;
      if (s.ports == 4 && (p == 1 || p == 3) && s.cyclic_shift >= shift_count / 2)
        offset = (s.comb_offset + s.comb / 2) % s.comb;
      int k0 = 12 * s.n_shift + offset;
      for (int b = 0; b <= s.b_srs; b++) {
        int n_b = 4 * s.n_rrc / nr_srs_blocks(s.c_srs, b);
        if (s.b_hop < s.b_srs && b > s.b_hop) n_b += hops_of(s, b, s.n_srs + l / s.repetition);
        k0 += 12 * nr_srs_blocks(s.c_srs, b) * (n_b % parts_of(s, b));
      }
      for (int k = 0; k < length; k++)
        grid.at(as_size((p * s.symbols_per_slot + symbol) * s.subcarriers + k0 + s.comb * k)) +=
            std::polar(1 / std::sqrt(1. * s.ports), 2 * std::numbers::pi * shift * k / shift_count) *
            r[as_size(k)];
    }
  }
  return grid;
}

}  // namespace oracle
