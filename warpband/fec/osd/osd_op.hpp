#pragma once
// Ordered-statistics decoding as an op: a word for each call, in lanes rows of H. A block of a CUDA device
// has a word. Words that belief propagation has decoded, and erased ones, cost a load.
#include <warpband/core/lane.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/osd/osd_body.hpp>

namespace wb {
inline namespace WB_ISA {

struct osd_op : parts_op<osd_args> {
  int threads() const { return a.checks < 256 ? a.checks : 256; }
  double flops() const { return 0; }
  /// Of a word that belief propagation has decoded.
  double bytes() const { return 1; }

  /// What `divide` takes, with vectors and each of its parts rounded up.
  std::size_t scratch_bytes(int group) const {
    const std::size_t n = static_cast<std::size_t>(a.n), checks = static_cast<std::size_t>(a.checks),
                      words = static_cast<std::size_t>(a.words), threads = static_cast<std::size_t>(group),
                      keys = static_cast<std::size_t>(a.padded), order = static_cast<std::size_t>(a.order);
    const std::size_t transform = words * (checks + static_cast<std::size_t>(width_of<lane> - 1));
    const std::size_t bytes =
        8 * (n + checks + threads) + 16 * parts +
        4 * (transform + 4 * keys + words * (3 + threads + order) + checks + n + threads + 256);
    return (bytes + 15) / 16 * 16;  // blocks follow each other in device memory
  }

  template <class G>
  WB_HD void operator()(std::size_t item, int, G g, void* scratch) const {
    if (a.status.data[item * a.status.item_stride] != 0) return;
    osd_memory m{};
    const int stride = (a.checks + width_of<lane> - 1) / width_of<lane> * width_of<lane>;
    divide(m, static_cast<char*>(scratch), g.size, stride);
    const osd_word<G> word{a, m, g, a.words, stride};
    load(item, g, m, word);
    osd_sort(g, m, a.n, a.padded);
    const bool found = word.eliminate();
    if (found) {
      word.write(item, a.order > 0 ? word.search() : 0);
    } else {
      for (int c = g.rank; c < a.n; c += g.size)
        a.bits.data[item * a.bits.item_stride + static_cast<std::size_t>(c) * a.bits.element_stride] = 0;
    }
    if (g.rank == 0)
      a.status.data[item * a.status.item_stride] =
          found ? status_osd : static_cast<std::uint8_t>(status_erased | status_inconsistent);
  }

 private:
  static constexpr std::size_t parts = 17;

  WB_HD void divide(osd_memory& m, char* p, int group, int stride) const {
    const std::size_t n = static_cast<std::size_t>(a.n), checks = static_cast<std::size_t>(a.checks),
                      w = static_cast<std::size_t>(a.words), threads = static_cast<std::size_t>(group),
                      keys = static_cast<std::size_t>(a.padded), order = static_cast<std::size_t>(a.order);
    const auto take = [&](auto*& part, std::size_t count) WB_INLINE_LAMBDA {
      part = reinterpret_cast<std::remove_reference_t<decltype(part)>>(p);
      p += (count * sizeof(*part) + 15) / 16 * 16;
    };
    take(m.transform, w * static_cast<std::size_t>(stride));
    take(m.cost, n);
    take(m.row_cost, checks);
    take(m.least, threads);
    take(m.keys, keys);
    take(m.other_keys, keys);
    take(m.order, keys);
    take(m.other_order, keys);
    take(m.column, w);
    take(m.used, w);
    take(m.sums, w);
    take(m.trial, w * threads);
    take(m.first_columns, w * order);
    take(m.pivots, checks);
    take(m.free, n);
    take(m.chosen, threads);
    take(m.counts, 256);
  }

  template <class G>
  WB_HD void load(std::size_t item, G g, const osd_memory& m, const osd_word<G>& word) const {
    const float* const posterior = a.posterior.data + item * a.posterior.item_stride;
    const float* const llr = a.llr.data + item * a.llr.item_stride;
    for (int c = g.rank; c < a.n; c += g.size) {
      const std::size_t e = static_cast<std::size_t>(c);
      const float prior = llr[e * a.llr.element_stride], x = posterior[e * a.posterior.element_stride];
      const bool one = a.word_form && prior < 0.f;
      m.cost[c] = osd_cost_of(one ? 0.f - prior : prior, a.ratio_cost);
      m.keys[c] = osd_key(one ? 0.f - x : x);
      m.order[c] = c;
    }
    for (int c = a.n + g.rank; c < a.padded; c += g.size) {  // behind all columns
      m.keys[c] = 0xffffffffu;
      m.order[c] = c;
    }
    for (int w = g.rank; w < word.words; w += g.size) {
      std::uint32_t sums = 0;
      for (int r = 32 * w; r < a.checks && r < 32 * w + 32; r++) sums |= sum(item, word, r) << r % 32;
      m.sums[w] = sums;
      m.used[w] = 0;
    }
    for (int w = 0; w < word.words; w++)
      for (int r = g.rank; r < word.stride; r += g.size)
        word.row_at(w)[r] = r / 32 == w ? static_cast<std::int32_t>(1u << r % 32) : 0;
    g.sync();
  }
  /// What check r is to sum to, of the difference from the channel's decisions.
  template <class G>
  WB_HD std::uint32_t sum(std::size_t item, const osd_word<G>& word, int r) const {
    std::uint32_t x = 0;
    if (a.syndrome.data != nullptr)
      x = a.syndrome
              .data[item * a.syndrome.item_stride + static_cast<std::size_t>(r) * a.syndrome.element_stride] &
          1u;
    if (a.word_form)
      for (int i = a.row_firsts[r]; i < a.row_firsts[r + 1]; i++)
        x ^= word.decided(item, a.row_columns[i]) ? 1u : 0u;
    return x;
  }
};

}  // namespace WB_ISA
}  // namespace wb
