#pragma once
// The automatic scale as an op. An item is a codeword: the lanes of a CPU's vector, or the threads of a warp,
// share its LLRs.
#include <warpband/core/group.hpp>
#include <warpband/core/known_llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/fec/quantise/quantise_args.hpp>
#include <warpband/fec/usable.hpp>

namespace wb {
inline namespace WB_ISA {

struct llr_scale_op {
  llr_scale_args a;
  static constexpr bool by_block = true, always_in_shared = true;
  static constexpr int at_once = 1, most_samples = 32;
  static constexpr float most_target = 96.f;  // three quarters of what 8 bits hold

  int threads() const { return 32; }
  std::size_t scratch_bytes(int) const { return sizeof(std::int32_t) * most_samples; }
  double flops() const { return 0; }
  double bytes() const {
    const double n = static_cast<double>(a.llr.elements);
    return sizeof(float) * (1 + (n < most_samples ? n : most_samples));
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void* scratch) const {
    std::int32_t* const sample = static_cast<std::int32_t*>(scratch);
    const int count = samples(), n = static_cast<int>(a.llr.elements);
    std::int32_t usable = 0, known = 0;
    for (int i = g.rank; i < most_samples; i += g.size) {
      const float x = i < count ? llr(first, place(i, count, n)) : 0.f;
      sample[i] = magnitude(x);
      usable += sample[i] != unusable ? 1 : 0;
      known += is_known(x) ? 1 : 0;
    }
    usable = g.sum_all(usable);
    known = g.sum_all(known);
    g.sync();
    const std::int32_t chosen = usable > 0 ? ranked(sample, (usable - 1) * 3 / 4, g) : largest(first, n, g);
    if (g.rank != 0) return;
    // Information bits that are not known over LLRs that are usable, of the samples' share.
    const float share = static_cast<float>(count) / static_cast<float>(n > 0 ? n : 1),
                bits = max(a.information * share - static_cast<float>(known), 0.f),
                llrs = static_cast<float>(usable);
    // fineness / (1 - R), at most most_target, which R >= 1 has too.
    const float target =
        (llrs - bits) * most_target > a.fineness * llrs ? a.fineness * llrs / (llrs - bits) : most_target;
    a.quanta.data[first * a.quanta.item_stride] = chosen == 0 ? 1.f : min(target / as_float(chosen), 1e30f);
  }

 private:
  static constexpr std::int32_t unusable = 0x7fffffff;

  WB_HD int samples() const {
    return a.llr.elements < most_samples ? static_cast<int>(a.llr.elements) : most_samples;
  }
  /// The LLR of sample i: one of each of `count` equal parts, at a place that has no period.
  WB_HD static int place(int i, int count, int n) {
    if (count < most_samples) return i;
    const auto start = [=](int part) {
      return static_cast<int>(static_cast<std::int64_t>(part) * n / most_samples);
    };
    const auto length = static_cast<std::uint64_t>(start(i + 1) - start(i));
    const std::uint64_t random = static_cast<unsigned>(i) * 2654435761u >> 16;  // of 16 bits
    return start(i) + static_cast<int>(random * length >> 16);
  }
  WB_HD float llr(std::size_t item, int element) const {
    return a.llr.data[static_cast<std::size_t>(element) * a.llr.element_stride + item * a.llr.item_stride];
  }
  WB_HD static bool is_known(float x) { return is_finite(x) && abs(x) >= known_llr; }
  /// |L| as an integer of the same order; `unusable` for zeros, known bits and what is not finite.
  WB_HD static std::int32_t magnitude(float x) {
    const std::int32_t bits = as_int(x) & unusable;
    return bits == 0 || bits >= as_int(known_llr) ? unusable : bits;
  }
  /// The sample that comes after `rank` others: the largest that no more are below.
  template <class G>
  WB_HD static std::int32_t ranked(const std::int32_t* sample, std::int32_t rank, G g) {
    std::int32_t result = 0;
#if WB_WIDTH > 1
    using I = rebind<lane>::i32;
    I best(0);
    for (int i = 0; i < most_samples; i += WB_WIDTH) {
      I s, below(0);
      __builtin_memcpy(&s, sample + i, sizeof s);
      for (int j = 0; j < most_samples; j++) below = below + select(I(sample[j]) < s, I(1), I(0));
      s = select(I(rank) < below, I(0), s);
      best = select(best < s, s, best);
    }
    for (int i = 0; i < WB_WIDTH; i++) result = best.x[i] > result ? best.x[i] : result;
#else
    for (int i = g.rank; i < most_samples; i += g.size) {
      std::int32_t below = 0;
      for (int j = 0; j < most_samples; j++) below += sample[j] < sample[i] ? 1 : 0;
      result = below <= rank && sample[i] > result ? sample[i] : result;
    }
#endif
    return as_int(g.max_all(as_float(result)));
  }
  /// The largest usable magnitude of all LLRs, where no sample is usable; 0 if there is none.
  template <class G>
  WB_HD std::int32_t largest(std::size_t item, int n, G g) const {
    std::int32_t result = 0;
    for (int i = g.rank; i < n; i += g.size) {
      const std::int32_t x = magnitude(llr(item, i));
      result = x != unusable && x > result ? x : result;
    }
    return as_int(g.max_all(as_float(result)));
  }
};

}  // namespace WB_ISA
}  // namespace wb
