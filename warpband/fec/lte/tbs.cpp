#include <warpband/fec/lte/tbs.hpp>

#include <algorithm>
#include <iterator>
#include <string>

#include <warpband/core/check.hpp>

namespace wb {
namespace {

constexpr int resource_blocks_listed[] = {6, 15, 25, 50, 75, 100};

/// Rows: I_TBS. Columns: resource_blocks_listed.
constexpr int sizes[27][6] = {
    {152, 392, 680, 1384, 2088, 2792},        {208, 520, 904, 1800, 2728, 3624},
    {256, 648, 1096, 2216, 3368, 4584},       {328, 872, 1416, 2856, 4392, 5736},
    {408, 1064, 1800, 3624, 5352, 7224},      {504, 1320, 2216, 4392, 6712, 8760},
    {600, 1544, 2600, 5160, 7736, 10296},     {712, 1800, 3112, 6200, 9144, 12216},
    {808, 2088, 3496, 6968, 10680, 14112},    {936, 2344, 4008, 7992, 11832, 15840},
    {1032, 2664, 4392, 8760, 12960, 17568},   {1192, 2984, 4968, 9912, 15264, 19848},
    {1352, 3368, 5736, 11448, 16992, 22920},  {1544, 3880, 6456, 12960, 19080, 25456},
    {1736, 4264, 7224, 14112, 21384, 28336},  {1800, 4584, 7736, 15264, 22920, 30576},
    {1928, 4968, 7992, 16416, 24496, 32856},  {2152, 5352, 9144, 18336, 27376, 36696},
    {2344, 5992, 9912, 19848, 29296, 39232},  {2600, 6456, 10680, 21384, 32856, 43816},
    {2792, 6968, 11448, 22920, 35160, 46888}, {2984, 7480, 12576, 25456, 37888, 51024},
    {3240, 7992, 13536, 27376, 40576, 55056}, {3496, 8504, 14112, 28336, 43816, 57336},
    {3624, 9144, 15264, 30576, 45352, 61664}, {3752, 9528, 15840, 31704, 46888, 63776},
    {4392, 11064, 18336, 36696, 55056, 75376}};

}  // namespace

lte_mcs lte_mcs_of(bool uplink, int index) {
  check_range("index", index, 0, 31);
  // The last index of QPSK and of 16-QAM. The next index has the same I_TBS with the larger modulation.
  const int qpsk = uplink ? 10 : 9, qam16 = uplink ? 20 : 16;
  if (index > 28) return {0, 0};
  if (index <= qpsk) return {2, index};
  return index <= qam16 ? lte_mcs{4, index - 1} : lte_mcs{6, index - 2};
}

std::span<const int> lte_resource_blocks() { return resource_blocks_listed; }

int lte_transport_block_size(int tbs_index, int resource_blocks) {
  check_range("tbs_index", tbs_index, 0, static_cast<int>(std::size(sizes)) - 1);
  const auto* const column =
      std::find(std::begin(resource_blocks_listed), std::end(resource_blocks_listed), resource_blocks);
  if (column == std::end(resource_blocks_listed))
    throw argument_error("resource_blocks", std::to_string(resource_blocks), "6, 15, 25, 50, 75 or 100");
  return sizes[tbs_index][column - std::begin(resource_blocks_listed)];
}

}  // namespace wb
