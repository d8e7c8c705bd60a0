#pragma once
#include <warpband/core/word_format.hpp>
#include <warpband/detect/search_args.hpp>

namespace wb {

struct nway_args : search_args {
  int ways = 0;
};

/// Of a call in fixed point.
struct nway_word_args : nway_args {
  word_format words;
};

/// Of a call with a spread or sorted by noise amplification.
struct nway_spread_args : nway_args {
  int spread[8] = {};  // points kept at each level, those of the lowest stream first; 0: no spread
};

}  // namespace wb
