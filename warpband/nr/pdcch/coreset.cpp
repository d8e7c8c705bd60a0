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
  if (ssb_spacing_khz == 15) return spacing_khz == 15 ? t1 : t2;
  if (wide) return spacing_khz == 15 ? t5 : t6;
  return spacing_khz == 15 ? t3 : t4;
}

void check_fr1_spacing(const char* name, int khz) {
  if (khz != 15 && khz != 30) throw argument_error(name, std::to_string(khz), "15 or 30");
}

}  // namespace

std::optional<nr_coreset0> nr_coreset0_of(int ssb_spacing_khz, int spacing_khz, int index, bool wide) {
  check_fr1_spacing("ssb_spacing_khz", ssb_spacing_khz);
  check_fr1_spacing("spacing_khz", spacing_khz);
  check_range("index", index, 0, 15);
  if (wide && ssb_spacing_khz == 15) throw argument_error("wide", "true", "false with ssb_spacing_khz = 15");
  const coreset_table& table = coreset_table_of(ssb_spacing_khz, spacing_khz, wide);
  if (static_cast<std::size_t>(index) >= table.size()) return std::nullopt;
  return table[static_cast<std::size_t>(index)];
}

double nr_coreset0_first_hz(const nr_coreset0& c, int ssb_spacing_khz, int spacing_khz, int k_ssb) {
  check_fr1_spacing("ssb_spacing_khz", ssb_spacing_khz);
  check_fr1_spacing("spacing_khz", spacing_khz);
  check_range("k_ssb", k_ssb, 0, 23);
  return -1e3 * (120. * ssb_spacing_khz + 15. * k_ssb + nr_block_subcarriers * c.offset * spacing_khz);
}

nr_type0_occasion nr_type0_occasion_of(int index, int ssb_index, int spacing_khz, int coreset_symbols) {
  check_range("index", index, 0, 15);
  check_range("ssb_index", ssb_index, 0, 7);
  check_fr1_spacing("spacing_khz", spacing_khz);
  check_range("coreset_symbols", coreset_symbols, 1, 3);
  // Of table 13-11: O, 2 M, and the first symbol: -1 stands for the CORESET's length if i_SSB is odd, else 0.
  struct row {
    int offset, twice_step, first;
  };
  static constexpr row rows[16] = {{0, 2, 0}, {0, 1, -1}, {2, 2, 0}, {2, 1, -1}, {5, 2, 0}, {5, 1, -1},
                                   {7, 2, 0}, {7, 1, -1}, {0, 4, 0}, {5, 4, 0},  {0, 2, 1}, {0, 2, 2},
                                   {2, 2, 1}, {2, 2, 2},  {5, 2, 1}, {5, 2, 2}};
  const row& r = rows[index];
  const int slots = 10 * spacing_khz / 15;
  const int number = r.offset * spacing_khz / 15 + ssb_index * r.twice_step / 2;
  return {.sfn_parity = number / slots % 2,
          .slot = number % slots,
          .first_symbol = r.first >= 0         ? r.first
                          : ssb_index % 2 == 0 ? 0
                                               : coreset_symbols};
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
    static constexpr std::int64_t factors[3] = {39827, 39829, 39839};
    y = ue->rnti;
    for (int n = 0; n <= ue->slot; n++) y = factors[ue->coreset % 3] * y % 65537;
  }
  std::vector<int> first;
  for (int m = 0; m < candidates; m++)
    first.push_back(level * static_cast<int>((y + m * cces / (level * candidates)) % (cces / level)));
  return first;
}

}  // namespace wb
