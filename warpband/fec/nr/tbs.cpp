#include <warpband/fec/nr/tbs.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/setting.hpp>
#include <warpband/fec/nr/segmentation.hpp>

namespace wb {

namespace {

/// Indices that share a modulation order: rates times 2048, in order. Those behind are reserved, for
/// modulation orders 2, 4, ... one each.
struct mcs_run {
  int modulation_order;
  std::span<const int> doubled_rates;
};
constexpr int t1_qpsk[] = {240, 314, 386, 502, 616, 758, 898, 1052, 1204, 1358};
constexpr int t1_16qam[] = {680, 756, 868, 980, 1106, 1232, 1316};
constexpr int t1_64qam[] = {876, 932, 1034, 1134, 1232, 1332, 1438, 1544, 1644, 1746, 1820, 1896};
constexpr int t2_qpsk[] = {240, 386, 616, 898, 1204};
constexpr int t2_16qam[] = {756, 868, 980, 1106, 1232, 1316};
constexpr int t2_64qam[] = {932, 1034, 1134, 1232, 1332, 1438, 1544, 1644, 1746};
constexpr int t2_256qam[] = {1365, 1422, 1508, 1594, 1682, 1770, 1833, 1896};
constexpr int t3_qpsk[] = {60, 80, 100, 128, 156, 198, 240, 314, 386, 502, 616, 758, 898, 1052, 1204};
constexpr int t3_16qam[] = {680, 756, 868, 980, 1106, 1232};
constexpr int t3_64qam[] = {876, 932, 1034, 1134, 1232, 1332, 1438, 1544};
constexpr int t4_qpsk[] = {240, 386, 898};
constexpr int t4_16qam[] = {756, 980, 1232};
constexpr int t4_64qam[] = {932, 1034, 1134, 1232, 1332, 1438, 1544, 1644, 1746};
constexpr int t4_1024qam[] = {1611, 1706, 1801, 1896};
const mcs_run table_1[] = {{2, t1_qpsk}, {4, t1_16qam}, {6, t1_64qam}};
const mcs_run table_2[] = {{2, t2_qpsk}, {4, t2_16qam}, {6, t2_64qam}, {8, t2_256qam}};
const mcs_run table_3[] = {{2, t3_qpsk}, {4, t3_16qam}, {6, t3_64qam}};
const mcs_run table_4[] = {{2, t4_qpsk}, {4, t4_16qam}, {6, t4_64qam}, {8, t2_256qam}, {10, t4_1024qam}};

// Of transform precoding. The first run is that of rates over q, in parts of q / 2048.
constexpr int p1_q[] = {480, 628};
constexpr int p1_qpsk[] = {386, 502, 616, 758, 898, 1052, 1204, 1358};
constexpr int p1_16qam[] = {680, 756, 868, 980, 1106, 1232, 1316};
constexpr int p1_64qam[] = {932, 1034, 1134, 1232, 1332, 1438, 1544, 1644, 1746, 1820, 1896};
constexpr int p2_q[] = {120, 160, 200, 256, 312, 396};
constexpr int p2_qpsk[] = {240, 314, 386, 502, 616, 758, 898, 1052, 1204, 1358};
constexpr int p2_16qam[] = {756, 868, 980, 1106, 1232, 1316, 1398, 1544};
constexpr int p2_64qam[] = {1134, 1232, 1332, 1544};
const mcs_run precoded_1[] = {{1, p1_q}, {2, p1_qpsk}, {4, p1_16qam}, {6, p1_64qam}};
const mcs_run precoded_2[] = {{1, p2_q}, {2, p2_qpsk}, {4, p2_16qam}, {6, p2_64qam}};

/// Table 5.1.3.2-1.
constexpr int small_sizes[] = {
    24,   32,   40,   48,   56,   64,   72,   80,   88,   96,   104,  112,  120,  128,  136,  144,
    152,  160,  168,  176,  184,  192,  208,  224,  240,  256,  272,  288,  304,  320,  336,  352,
    368,  384,  408,  432,  456,  480,  504,  528,  552,  576,  608,  640,  672,  704,  736,  768,
    808,  848,  888,  928,  984,  1032, 1064, 1128, 1160, 1192, 1224, 1256, 1288, 1320, 1352, 1416,
    1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088, 2152, 2216, 2280, 2408, 2472, 2536,
    2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496, 3624, 3752, 3824};
static_assert(std::size(small_sizes) == 93);

/// The entry of an index: reserved ones, without a rate, stand behind the others.
nr_mcs entry_of(std::span<const mcs_run> runs, int index) {
  auto i = static_cast<std::size_t>(index);
  for (const mcs_run& run : runs) {
    if (i < run.doubled_rates.size()) return {run.modulation_order, run.doubled_rates[i] / 2.0};
    i -= run.doubled_rates.size();
  }
  return {runs[i].modulation_order, 0};
}

int floor_log2(std::int64_t x) {
  int n = -1;
  for (; x > 0; x >>= 1) n++;
  return n;
}
std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

nr_mcs nr_mcs_of(int table, int index) {
  check_range("table", table, 1, 4);
  check_range("index", index, 0, 31);
  const std::span<const mcs_run> runs = table == 1   ? std::span<const mcs_run>(table_1)
                                        : table == 2 ? std::span<const mcs_run>(table_2)
                                        : table == 3 ? std::span<const mcs_run>(table_3)
                                                     : std::span<const mcs_run>(table_4);
  return entry_of(runs, index);
}

nr_mcs nr_precoded_mcs_of(int table, int index, bool pi2_bpsk) {
  check_range("table", table, 1, 2);
  check_range("index", index, 0, 31);
  nr_mcs mcs = entry_of(table == 1 ? precoded_1 : precoded_2, index);
  if (mcs.modulation_order == 1 && !pi2_bpsk) mcs = {2, mcs.rate_x1024 / 2};
  return mcs;
}

int nr_resource_elements(const nr_allocation& a) {
  check_range("resource_blocks", a.resource_blocks, 1, 275);
  check_range("symbols", a.symbols, 1, 14);
  check_range("dmrs_per_block", a.dmrs_per_block, 0, 12 * a.symbols - 1);
  if (a.overhead_per_block != 0 && a.overhead_per_block != 6 && a.overhead_per_block != 12 &&
      a.overhead_per_block != 18)
    throw argument_error("overhead_per_block", std::to_string(a.overhead_per_block), "0, 6, 12 or 18");
  const int of_a_block = 12 * a.symbols - a.dmrs_per_block - a.overhead_per_block;
  if (of_a_block < 1)
    throw argument_error(
        "overhead_per_block", std::to_string(a.overhead_per_block),
        "less than 12 symbols - dmrs_per_block = " + std::to_string(12 * a.symbols - a.dmrs_per_block));
  return std::min(156, of_a_block) * a.resource_blocks;
}

int nr_transport_block_size(int resource_elements, const nr_mcs& mcs, int layers) {
  check_range("resource_elements", resource_elements, 1, 1 << 20);
  if (mcs.modulation_order != 1 &&
      (mcs.modulation_order < 2 || mcs.modulation_order > 10 || mcs.modulation_order % 2 != 0))
    throw argument_error("modulation_order", std::to_string(mcs.modulation_order), "1, 2, 4, 6, 8 or 10");
  check_range("layers", layers, 1, 4);
  if (!(mcs.rate_x1024 > 0) || mcs.rate_x1024 > 1024 || 2 * mcs.rate_x1024 != std::floor(2 * mcs.rate_x1024))
    throw argument_error("rate_x1024", as_message(setting_value(mcs.rate_x1024)),
                         "0.5 to 1024 in halves; a reserved index has none");
  // N_info in parts of 2048, exactly: rates have halves of 1/1024.
  const std::int64_t parts = std::int64_t{resource_elements} * mcs.modulation_order * layers *
                             static_cast<std::int64_t>(2 * mcs.rate_x1024);
  if (parts <= std::int64_t{3824} * 2048) {
    const std::int64_t info = parts / 2048;
    const int n = std::max(3, floor_log2(info) - 6);
    const std::int64_t quantised = std::max(std::int64_t{24}, info >> n << n);
    return *std::lower_bound(std::begin(small_sizes), std::end(small_sizes), quantised);
  }
  const std::int64_t less = parts - std::int64_t{24} * 2048;
  const int n = floor_log2(less / 2048) - 5;
  const std::int64_t rounded = (less + (std::int64_t{1} << (n + 10))) >> (n + 11);  // ties upwards
  const std::int64_t quantised = std::max(std::int64_t{3840}, rounded << n), bits = quantised + 24;
  std::int64_t blocks = 1;
  if (4 * mcs.rate_x1024 <= 1024)
    blocks = divided_up(bits, 3816);
  else if (quantised > 8424)
    blocks = divided_up(bits, 8424);
  const std::int64_t size = 8 * blocks * divided_up(bits, 8 * blocks) - 24;
  if (size > nr_most_transport_bits)
    throw argument_error(
        "resource_elements", std::to_string(resource_elements),
        "few enough for a transport block of up to " + std::to_string(nr_most_transport_bits) + " bits");
  return static_cast<int>(size);
}

int nr_lbrm_transport_bits(const nr_lbrm& c) {
  check_range("resource_blocks", c.resource_blocks, 1, 275);
  check_range("layers", c.layers, 1, 4);
  if (c.modulation_order != 6 && c.modulation_order != 8 && c.modulation_order != 10)
    throw argument_error("modulation_order", std::to_string(c.modulation_order), "6, 8 or 10");
  int blocks = 273;
  for (const int upper : {217, 162, 135, 107, 66, 32})
    if (c.resource_blocks <= upper) blocks = upper;
  return nr_transport_block_size(156 * blocks, {c.modulation_order, 948}, c.layers);
}

int nr_base_graph(int transport_bits, double code_rate) {
  check_range("transport_bits", transport_bits, 1, nr_most_transport_bits);
  if (!(code_rate > 0) || code_rate > 1)
    throw argument_error("code_rate", as_message(setting_value(code_rate)), "above 0, up to 1");
  const bool second =
      transport_bits <= 292 || (transport_bits <= 3824 && code_rate <= 0.67) || code_rate <= 0.25;
  return second ? 2 : 1;
}

}  // namespace wb
