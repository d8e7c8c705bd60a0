#pragma once
// The codewords of one thread as the op takes them.
#include <warpband/fec/ldpc/cpu/vector_values.hpp>

namespace wb {
inline namespace WB_ISA {

/// The codewords that a thread decodes side by side, a block row of each in turn: what one has just written
/// takes its time to where other rotations can read it.
template <class T>
struct vector_codewords {
  static constexpr int codewords = std::is_same_v<T, i8x> && message_memory<T>::rows > 1 ? 2 : 1;
  static constexpr bool keeps_messages = true;  // ldpc_kept.hpp
  static constexpr bool knows_crc = true;
  const ldpc_decode_args& a;
  char* scratch;

  WB_HD vector_codewords(const ldpc_decode_args& args, void* memory)
      : a(args), scratch(static_cast<char*>(memory)) {}
  static std::size_t of_one(const ldpc_decode_args& a) { return (vector_values<T>::bytes(a) + 63) / 64 * 64; }
  static std::size_t bytes(const ldpc_decode_args& a) { return codewords * of_one(a); }
  WB_HD vector_values<T> codeword(int w) const {
    return {a, scratch + static_cast<std::size_t>(w) * of_one(a)};
  }
  /// f(codeword, its number) of those whose bit is set.
  template <class F>
  WB_HD void each(unsigned which, F f) const {
    for (int w = 0; w < codewords; w++)
      if ((which >> w & 1u) != 0) f(codeword(w), w);
  }
  WB_HD ldpc_row row(int m) const { return a.row_table[m]; }

  /// Returns a byte for each codeword: 0, or the status of an erased one.
  template <class G>
  WB_HD unsigned load_channel(std::size_t item, int items, G) const {
    unsigned erased = 0;
    each((1u << items) - 1u, [&](const auto& c, int w) {
      erased |= c.load_channel(item + static_cast<std::size_t>(w)) << 8 * w;
      c.clear_messages();
    });
    return erased;
  }
  template <class G>
  WB_HD void clear_messages(G) const {}
  /// Of the only codeword.
  template <class G>
  WB_HD std::int32_t large(float limit, float overflow, G) const {
    return codeword(0).large(limit, overflow);
  }
  template <class Rule, class Degree, class G>
  WB_HD void layer(const Rule& rule, Degree degree, ldpc_row row, int odd, unsigned active, G) const {
    each(active, [&](const auto& c, int) WB_INLINE_LAMBDA { c.layer(rule, degree, row, odd); });
  }
  template <class G>
  WB_HD void begin_flooding(unsigned active, G) const {
    each(active, [](const auto& c, int) { c.begin_flooding(); });
  }
  template <class Rule, class Degree, class G>
  WB_HD void flooding_layer(const Rule& rule, Degree degree, ldpc_row row, unsigned active, G) const {
    each(active, [&](const auto& c, int) { c.flooding_layer(rule, degree, row); });
  }
  template <class G>
  WB_HD void end_flooding(unsigned active, G) const {
    each(active, [](const auto& c, int) { c.end_flooding(); });
  }
  template <class G>
  WB_HD unsigned violated(int odd, unsigned active, G) const {
    unsigned violated = 0;
    each(active, [&](const auto& c, int w) {
      if (c.violated(odd)) violated |= 1u << w;
    });
    return violated;
  }
  template <class G>
  WB_HD unsigned crc_holds(int odd, unsigned asked, G) const {
    unsigned holds = 0;
    each(asked, [&](const auto& c, int w) {
      if (c.crc_holds(odd)) holds |= 1u << w;
    });
    return holds;
  }
  template <class G>
  WB_HD void store(std::size_t item, unsigned leaving, unsigned erased, unsigned stopped, int iterations,
                   int odd, G) const {
    each(leaving, [&](const auto& c, int w) {
      c.store(item + static_cast<std::size_t>(w), erased >> 8 * w & 0xffu, (stopped >> w & 1u) != 0,
              iterations, odd);
    });
  }
};

}  // namespace WB_ISA
}  // namespace wb
