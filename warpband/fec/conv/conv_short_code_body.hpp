#pragma once
// The coded bits of a stage's branches: of any code they are looked up; of a code that is known when a kernel
// is compiled they choose among weights in registers.
#include <warpband/core/short_words.hpp>
#include <warpband/fec/conv/conv_body.hpp>
#include <warpband/fec/conv/conv_short_args.hpp>

namespace wb {
inline namespace WB_ISA {

struct conv_any_code {
  static constexpr bool known = false;
};

/// A code without feedback, all of whose generators have the newest and the oldest bit of the register.
template <int... Generators>
struct conv_known_code {
  static constexpr bool known = true;
  static constexpr int outputs = sizeof...(Generators), patterns = 1 << outputs;
  static_assert(((Generators & 1) && ...));
  /// Coded bits of the branch from state 2 j with a new bit 0. Linear: those of j ^ i are the exclusive-or.
  WB_HD static constexpr int coded(int j) {
    int code = 0, i = 0;
    ((code |= parity_of(2 * j & Generators) << i++), ...);
    return code;
  }
};

/// What the branches of a stage's steps weigh: of each combination of coded bits the weight, and behind it
/// that of the branch from the other state of the butterfly. Offsets count short_element.
struct conv_short_table {
  const short_element* first;
  int step;   // values from one step to the next
  int newer;  // what the newest bit flips of an offset
};

/// The weights of a butterfly's branches: from its states 0 and 1 to its state 0, and to its state 1.
template <bool Paired, class V>
WB_HD void conv_short_branch_weights(const conv_short_table& table, int step, int code, V (&w)[4]) {
  constexpr int L = i16x::lanes;
  const short_element* row = table.first + step * table.step * L;
  w[0] = load_short(row + code);
  w[1] = load_short(row + code + L);
  if constexpr (Paired) {
    w[2] = w[1];
    w[3] = w[0];
  } else {
    w[2] = load_short(row + (code ^ table.newer));
    w[3] = load_short(row + (code ^ table.newer) + L);
  }
}

/// Weights of one part's butterflies in a stage. `codes` has what Parts::find_codes found.
template <class Parts, bool Paired, class Code, class V>
struct conv_stage_weights {
  static constexpr bool with_raise = false;
  const conv_short_table& table;
  const int* codes;

  WB_HD conv_stage_weights(const conv_short_table& t, const int* c) : table(t), codes(c) {}
  /// Of butterfly q in step i.
  WB_HD void find(int i, int q, V (&w)[4]) const {
    conv_short_branch_weights<Paired>(table, i, codes[i * Parts::half + q], w);
  }
};
template <class Parts, class Code, class V>
  requires(Code::known)
struct conv_stage_weights<Parts, true, Code, V> {
  static constexpr bool with_raise = true;
  V weight[Parts::steps][Code::patterns];  // of coded bits that differ from those of butterfly 0 like this

  WB_HD conv_stage_weights(const conv_short_table& t, const int* codes) {
    WB_UNROLL for (int i = 0; i < Parts::steps; i++) WB_UNROLL for (int c = 0; c < Code::patterns; c++)
        weight[i][c] = load_short(t.first + (i * Code::patterns + (c ^ codes[i])) * i16x::lanes);
  }
  /// Adds to all paths that begin here.
  WB_HD void raise(V by) {
    WB_UNROLL for (int c = 0; c < Code::patterns; c++) weight[0][c] = weight[0][c] + by;
  }
  WB_HD void find(int i, int q, V (&w)[4]) const {
    const int c = Code::coded(Parts::butterfly(i, q, 0));
    w[0] = w[3] = weight[i][c];
    w[1] = w[2] = weight[i][Code::patterns - 1 - c];
  }
};

/// Weights of butterfly j of all in the first step that a table has.
template <bool Paired, class Code, class V>
WB_HD void conv_step_weights(const conv_short_table& table, const conv_trellis& c, int j, V (&w)[4]) {
  if constexpr (Code::known) {
    const int code = Code::coded(j);
    w[0] = w[3] = load_short(table.first + code * i16x::lanes);
    w[1] = w[2] = load_short(table.first + (Code::patterns - 1 - code) * i16x::lanes);
  } else {
    conv_short_branch_weights<Paired>(table, 0, (c.codes[j] & ((1 << c.outputs) - 1)) * 2 * i16x::lanes, w);
  }
}

}  // namespace WB_ISA
}  // namespace wb
