#pragma once
#include <cstddef>

#include <warpband/core/view.hpp>

namespace wb {

/// Neighbouring values of a symbol: `count` from `from` to `to`, counted from where its symbols begin, or
/// zeros.
struct ofdm_run {
  std::ptrdiff_t from = 0, to = 0;
  int count = 0;
  bool zero = false;
};

/// Where values of symbols lie: of symbol s of slot i they begin at data[i * slot + s * symbol].
template <class T>
struct ofdm_place {
  T* data = nullptr;
  std::size_t stride = 1, symbol = 0, slot = 0;
};

/// An item is a symbol.
struct ofdm_copy_args {
  static constexpr int most_runs = 4;
  static constexpr int most_phases = 128;  // of two slots of 64 symbols
  int symbols = 1;                         // of a slot
  int threads = 32;                        // that share a symbol on a CUDA device
  float scale = 1;                         // of what is not zero
  ofdm_run first[most_runs] = {};          // of the first symbol of a slot
  ofdm_run others[most_runs] = {};         // of the others
  ofdm_place<const cx_pair> in;
  ofdm_place<cx_pair> out;
  // Symbol s of slot i is multiplied by phase[(first_phase + s) % phases], and with phases_go_on by
  // phase[(first_phase + i * symbols + s) % phases]. 0 phases: by none.
  int phases = 0, first_phase = 0;
  bool phases_go_on = false;
  cx_pair phase[most_phases] = {};
};

}  // namespace wb
