#pragma once
#include <cstdint>

#include <warpband/channel/rician_args.hpp>
#include <warpband/core/view.hpp>

namespace wb {
struct rayleigh_args {
  view<const cx_pair> in;
  view<cx_pair> out;   // may be the input
  view<cx_pair> gain;  // h of every symbol
  int block = 1;       // symbols that share one h
  std::uint64_t seed = 0, first = 0;
  std::uint32_t point = 0;
  rician_amplitudes rice = {};
};
}  // namespace wb
