#include <warpband/nr/pdcch/coreset.hpp>

#include <cstdint>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/nr/carrier.hpp>

namespace wb {
namespace {

using coreset_table = std::vector<nr_coreset0>;

const coreset_table& coreset_table_of(int ssb_spacing_khz, int spacing_khz, bool wide) {
  static const coreset_table t1{{24, 2, 0},  {24, 2, 2},  {24, 2, 4},  {24, 3, 0},  {24, 3, 2},
                                {24, 3, 4},  {48, 1, 12}, {48, 1, 16}, {48, 2, 12}, {48, 2, 16},
                                {48, 3, 12}, {48, 3, 16}, {96, 1, 38}, {96, 2, 38}, {96, 3, 38}};
  static const coreset_table t2{{24, 2, 5},  {24, 2, 6},  {24, 2, 7},  {24, 2, 8},  {24, 3, 5},
                                {24, 3, 6},  {24, 3, 7},  {24, 3, 8},  {48, 1, 18}, {48, 1, 20},
                                {48, 2, 18}, {48, 2, 20}, {48, 3, 18}, {48, 3, 20}};
  static const coreset_table t3{{48, 1, 2}, {48, 1, 6},  {48, 2, 2},  {48, 2, 6}, {48, 3, 2},
                                {48, 3, 6}, {96, 1, 28}, {96, 2, 28}, {96, 3, 28}};
  static const coreset_table t4{{24, 2, 0},  {24, 2, 1},  {24, 2, 2},  {24, 2, 3}, {24, 2, 4},  {24, 3, 0},
                                {24, 3, 1},  {24, 3, 2},  {24, 3, 3},  {24, 3, 4}, {48, 1, 12}, {48, 1, 14},
                                {48, 1, 16}, {48, 2, 12}, {48, 2, 14}, {48, 2, 16}};
  static const coreset_table t5{{48, 1, 4}, {48, 2, 4},  {48, 3, 4}, {96, 1, 0}, {96, 1, 56},
                                {96, 2, 0}, {96, 2, 56}, {96, 3, 0}, {96, 3, 56}};
  static const coreset_table t6{{24, 2, 0},  {24, 2, 4}, {24, 3, 0},  {24, 3, 4}, {48, 1, 0},
                                {48, 1, 28}, {48, 2, 0}, {48, 2, 28}, {48, 3, 0}, {48, 3, 28}};
  // With patterns 2 and 3 an offset below 0 is that of k_SSB = 0.
  static const coreset_table t7{{48, 1, 0},      {48, 1, 8},     {48, 2, 0},      {48, 2, 8},
                                {48, 3, 0},      {48, 3, 8},     {96, 1, 28},     {96, 2, 28},
                                {48, 1, -41, 2}, {48, 1, 49, 2}, {96, 1, -41, 2}, {96, 1, 97, 2}};
  static const coreset_table t8{{24, 2, 0},      {24, 2, 4},     {48, 1, 14},     {48, 2, 14},
                                {24, 2, -20, 3}, {24, 2, 24, 3}, {48, 2, -20, 3}, {48, 2, 48, 3}};
  static const coreset_table t9{{96, 1, 0}, {96, 1, 16}, {96, 2, 0}, {96, 2, 16}};
  static const coreset_table t10{{48, 1, 0},      {48, 1, 8},     {48, 2, 0},      {48, 2, 8},
                                 {24, 1, -41, 2}, {24, 1, 25, 2}, {48, 1, -41, 2}, {48, 1, 49, 2}};
  if (ssb_spacing_khz == 120) return spacing_khz == 60 ? t7 : t8;
  if (ssb_spacing_khz == 240) return spacing_khz == 60 ? t9 : t10;
  if (ssb_spacing_khz == 15) return spacing_khz == 15 ? t1 : t2;
  if (wide) return spacing_khz == 15 ? t5 : t6;
  return spacing_khz == 15 ? t3 : t4;
}

bool is_fr2(int spacing_khz) { return spacing_khz >= 60; }

void check_spacings(int ssb_spacing_khz, int spacing_khz) {
  const int ssb = ssb_spacing_khz, khz = spacing_khz;
  if (ssb != 15 && ssb != 30 && ssb != 120 && ssb != 240)
    throw argument_error("ssb_spacing_khz", std::to_string(ssb), "15, 30, 120 or 240");
  if (is_fr2(ssb) ? khz != 60 && khz != 120 : khz != 15 && khz != 30)
    throw argument_error(
        "spacing_khz", std::to_string(khz),
        (is_fr2(ssb) ? "60 or 120 with ssb_spacing_khz = " : "15 or 30 with ssb_spacing_khz = ") +
            std::to_string(ssb));
}

}  // namespace

std::optional<nr_coreset0> nr_coreset0_of(int ssb_spacing_khz, int spacing_khz, int index, bool wide,
                                          std::optional<int> k_ssb) {
  check_spacings(ssb_spacing_khz, spacing_khz);
  check_range("index", index, 0, 15);
  if (k_ssb) check_range("k_ssb", *k_ssb, 0, is_fr2(spacing_khz) ? 11 : 23);
  if (wide && ssb_spacing_khz != 30)
    throw argument_error("wide", "true", "false with ssb_spacing_khz = " + std::to_string(ssb_spacing_khz));
  const coreset_table& table = coreset_table_of(ssb_spacing_khz, spacing_khz, wide);
  if (static_cast<std::size_t>(index) >= table.size()) return std::nullopt;
  nr_coreset0 c = table[static_cast<std::size_t>(index)];
  if (c.offset < 0) {
    if (!k_ssb) throw argument_error("k_ssb", "none", "0 to 11 with index = " + std::to_string(index));
    if (*k_ssb > 0) c.offset--;
  }
  return c;
}

double nr_coreset0_first_hz(const nr_coreset0& c, int ssb_spacing_khz, int spacing_khz, int k_ssb) {
  check_spacings(ssb_spacing_khz, spacing_khz);
  check_range("k_ssb", k_ssb, 0, is_fr2(spacing_khz) ? 11 : 23);
  const double unit_khz = is_fr2(spacing_khz) ? spacing_khz : 15;
  return -1e3 * (120. * ssb_spacing_khz + unit_khz * k_ssb + nr_block_subcarriers * c.offset * spacing_khz);
}

std::optional<nr_type0_occasion> nr_type0_occasion_of(int index, int ssb_index, int spacing_khz,
                                                      int coreset_symbols) {
  if (spacing_khz != 15 && spacing_khz != 30 && spacing_khz != 60 && spacing_khz != 120)
    throw argument_error("spacing_khz", std::to_string(spacing_khz), "15, 30, 60 or 120");
  const bool high = is_fr2(spacing_khz);
  check_range("index", index, 0, 15);
  check_range("ssb_index", ssb_index, 0, high ? 63 : 7);
  check_range("coreset_symbols", coreset_symbols, 1, 3);
  // 2 O, 2 M, and the first symbol; of odd i_SSB alone: -1 stands for the CORESET's length, -7 for 7.
  struct row {
    int twice_offset, twice_step, first;
  };
  static constexpr row low_rows[16] = {
      {0, 2, 0}, {0, 1, -1}, {4, 2, 0}, {4, 1, -1}, {10, 2, 0}, {10, 1, -1}, {14, 2, 0}, {14, 1, -1},
      {0, 4, 0}, {10, 4, 0}, {0, 2, 1}, {0, 2, 2},  {4, 2, 1},  {4, 2, 2},   {10, 2, 1}, {10, 2, 2}};
  static constexpr row high_rows[14] = {{0, 2, 0},   {0, 1, -7},  {5, 2, 0},  {5, 1, -7},  {10, 2, 0},
                                        {10, 1, -7}, {0, 1, -1},  {5, 1, -1}, {10, 1, -1}, {15, 2, 0},
                                        {15, 1, -7}, {15, 1, -1}, {0, 4, 0},  {10, 4, 0}};
  if (high && index > 13) return std::nullopt;
  const row& r = high ? high_rows[index] : low_rows[index];
  const int slots = 10 * spacing_khz / 15;
  const int number = r.twice_offset * (spacing_khz / 15) / 2 + ssb_index * r.twice_step / 2;
  const int symbol_if_odd = r.first == -7 ? 7 : coreset_symbols;
  return nr_type0_occasion{.sfn_parity = number / slots % 2,
                           .slot = number % slots,
                           .first_symbol = r.first >= 0         ? r.first
                                           : ssb_index % 2 == 0 ? 0
                                                                : symbol_if_odd};
}

std::vector<int> nr_pdcch_candidates(int cces, int level, int candidates,
                                     const std::optional<nr_ue_search_space>& ue) {
  check_range("cces", cces, 1, 135);
  if ((level != 1 && level != 2 && level != 4 && level != 8 && level != 16) || level > cces)
    throw argument_error("level", std::to_string(level),
                         "1, 2, 4, 8 or 16, up to cces = " + std::to_string(cces));
  check_range("candidates", candidates, 1, 8);
  std::int64_t y = 0;
  if (ue) {
    check_range("rnti", ue->rnti, 1, 65535);
    check_range("coreset", ue->coreset, 0, 15);
    check_range("slot", ue->slot, 0, 79);
    check_range("carrier", ue->carrier, 0, 7);
    static constexpr std::int64_t factors[3] = {39827, 39829, 39839};
    y = ue->rnti;
    for (int n = 0; n <= ue->slot; n++) y = factors[ue->coreset % 3] * y % 65537;
  }
  const int carrier = ue ? ue->carrier : 0;
  std::vector<int> first;
  for (int m = 0; m < candidates; m++)
    first.push_back(level *
                    static_cast<int>((y + m * cces / (level * candidates) + carrier) % (cces / level)));
  return first;
}

}  // namespace wb
