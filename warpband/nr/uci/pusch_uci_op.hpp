#pragma once
// Bits and LLRs between a codeword and its parts. Values are moved one by one: lanes would gather them.
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/short_block/short_block_args.hpp>
#include <warpband/nr/uci/pusch_uci_args.hpp>

namespace wb {
inline namespace WB_ISA {

struct pusch_uci_multiplex_op : thread_op<pusch_uci_multiplex_args> {
  double flops() const { return 0; }
  double bytes() const { return 7; }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G, T*) const {
    const std::size_t bits = static_cast<std::size_t>(a.bits);
    for (int i = 0; i < b.valid; i++) {
      const std::size_t number = b.first + static_cast<std::size_t>(i), word = number / bits,
                        n = number - word * bits;
      const int value = coded(word, n);
      const int bit = value == short_block_x            ? 1
                      : value == short_block_y && n > 0 ? (coded(word, n - 1) ^ a.scramble[n - 1]) & 1
                                                        : (value ^ a.scramble[n]) & 1;
      a.out.data[word * a.out.item_stride + n * a.out.element_stride] = static_cast<std::uint8_t>(bit);
    }
  }

 private:
  WB_HD int coded(std::size_t word, std::size_t n) const {
    const std::int32_t source = a.source[n];
    const view<const std::uint8_t>& from = a.in[source >> 28];
    const std::size_t e = static_cast<std::size_t>(source & ((1 << 28) - 1));
    return from.data[word * from.item_stride + e * from.element_stride];
  }
};

struct pusch_uci_demultiplex_op : thread_op<pusch_uci_demultiplex_args> {
  double flops() const { return 1; }
  double bytes() const { return 16; }

  template <class T, class G>
  WB_HD void operator()(item<T> b, G, T*) const {
    const std::size_t bits = static_cast<std::size_t>(a.bits);
    for (int i = 0; i < b.valid; i++) {
      const std::size_t number = b.first + static_cast<std::size_t>(i), word = number / bits,
                        n = number - word * bits;
      int part = 0;
      WB_UNROLL for (int p = 1; p < pusch_uci_parts; p++) if (static_cast<int>(n) >= a.first[p]) part = p;
      const view<float>& to = a.out[part];
      if (to.data == nullptr) continue;
      const std::int32_t place = a.place[n];
      float llr = 0;
      if (place >= 0)
        llr = a.sign[n] *
              a.in.data[word * a.in.item_stride + static_cast<std::size_t>(place) * a.in.element_stride];
      to.data[word * to.item_stride + (n - static_cast<std::size_t>(a.first[part])) * to.element_stride] =
          llr + 0.f;
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
