#pragma once
// A sum in a fixed order, whoever adds up its parts: members of a group, clusters of antennas.
#include <warpband/core/lane.hpp>

namespace wb {
inline namespace WB_ISA {

/// x(0) + .. + x(count - 1) in pairs: ((0 + 1) + (2 + 3)) + (4 + 5); at most 127 of them. The pairs of a
/// power of two of neighbours are summed among themselves, whoever does it.
template <class S, class X>
WB_HD S sum_in_pairs(int count, X x) {
  if (count == 1) return x(0);
  S kept[7] = {};  // of 1, 2, 4, .. neighbours, where bit i of those that are done is set
  WB_ROLL for (int i = 0; i < count; i++) {
    S sum = x(i);
    int level = 0;
    for (; (i >> level & 1) != 0; level++) sum = kept[level] + sum;
    kept[level] = sum;
  }
  int level = 0;
  while ((count >> level & 1) == 0) level++;
  S sum = kept[level];
  for (level++; count >> level != 0; level++)
    if ((count >> level & 1) != 0) sum = kept[level] + sum;
  return sum;
}

}  // namespace WB_ISA
}  // namespace wb
