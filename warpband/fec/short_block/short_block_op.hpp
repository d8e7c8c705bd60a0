#pragma once
// Encoder and decoder of short block codes, a thread for each message.
#include <warpband/core/erased.hpp>
#include <warpband/core/llr.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/fec/short_block/short_block_args.hpp>

namespace wb {
inline namespace WB_ISA {

struct short_block_encode_op : block_op<short_block_encode_args> {
  int threads() const { return a.coded_bits < 128 ? a.coded_bits : 128; }
  double flops() const { return 0; }
  double bytes() const { return a.k + a.coded_bits; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    using I = typename rebind<T>::i32;
    I message(0);
    for (int i = 0; i < a.k; i++)
      message = message | ((load_int<T>(a.bits, static_cast<std::size_t>(i), item) & I(1)) << i);
    for (int e = g.rank; e < static_cast<int>(a.coded.elements); e += g.size) {
      const std::int32_t row = e < a.coded_bits ? a.rows[e % a.period] : 0;
      I coded(-row);
      if (row >= 0) {
        coded = message & I(row);
        for (int half = 8; half >= 1; half /= 2) coded = coded ^ (coded >> half);
        coded = coded & I(1);
      }
      store_int<T>(a.coded, static_cast<std::size_t>(e), item, coded);
    }
  }
};

/// The sums of the received LLRs of a message, and what else counts.
template <class T>
struct short_block_sums {
  T sum[32];
  T magnitude = T(0.f);  // of all LLRs
  typename rebind<T>::mask finite = mask_from<typename rebind<T>::mask>(true);
};

/// The likeliest words so far, by their correlations.
template <class T>
struct short_block_best {
  using I = typename rebind<T>::i32;
  T best = T(-3e38f), second = T(-3e38f);
  I message = I(0);

  WB_HD void offer(T correlation, I candidate) {
    second = max(second, min(best, correlation));
    message = select(correlation > best, candidate, message);
    best = max(best, correlation);
  }
};

struct short_block_decode_op : thread_op<short_block_decode_args> {
  double flops() const { return 4.0 * a.coded_bits + a.transforms * (5 * 32 + 3.0 * a.transformed) + 7; }
  double bytes() const { return 4.0 * a.coded_bits + a.k; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    using I = typename rebind<T>::i32;
    short_block_sums<T> in = add_up<T>(item);
    short_block_best<T> found;
    std::int32_t outer = 0;  // message bits 6 to 10, in the order of a Gray code
    for (int i = 0; i < a.transforms; i++) {
      if (i > 0) {
        const std::int32_t changed = i & -i;
        outer ^= changed;
        WB_UNROLL for (int p = 0; p < 32; p++) {
          if ((a.places[3 * p + 2] & changed) != 0) in.sum[p] = -in.sum[p];
        }
      }
      search(in, outer, found);
    }
    const T margin = T(0.5f) * (found.best - found.second);
    const auto told = margin > T(0.f);
    const auto good = in.finite & told;
    if (a.bits.data != nullptr)
      for (int i = 0; i < a.k; i++)
        store_int<T>(a.bits, static_cast<std::size_t>(i), item,
                     select(good, (found.message >> i) & I(1), I(0)));
    if (a.status.data != nullptr)
      store_int<T>(
          a.status, 0, item,
          select(good, I(0), select(in.finite, I(status_erased | status_insufficient), I(status_erased))));
    if (a.margin.data != nullptr) store(a.margin, 0, item, or_zero(good, margin));
    if (a.agreement.data != nullptr)
      store(a.agreement, 0, item, or_zero(good, found.best / select(good, in.magnitude, T(1.f))));
  }

 private:
  template <class T>
  WB_HD short_block_sums<T> add_up(item<T> item) const {
    short_block_sums<T> in;
    WB_UNROLL for (int p = 0; p < 32; p++) {
      in.sum[p] = T(0.f);
      for (int j = 0; j < 2; j++) {
        const std::int32_t first = a.places[3 * p + j];
        if (first >= 0)
          for (int e = first; e < a.coded_bits; e += a.period) {
            const T llr = load(a.llr, static_cast<std::size_t>(e), item);
            in.finite = in.finite & is_finite(llr);
            const T limited = saturate(llr, 1e30f);
            in.sum[p] = in.sum[p] + limited;
            in.magnitude = in.magnitude + abs(limited);
          }
      }
    }
    return in;
  }
  /// Words with these message bits 6 to 10.
  template <class T>
  WB_HD void search(const short_block_sums<T>& in, std::int32_t outer, short_block_best<T>& found) const {
    using I = typename rebind<T>::i32;
    T w[32];
    WB_UNROLL for (int p = 0; p < 32; p++) w[p] = in.sum[p];
    WB_UNROLL for (int half = 1; half < 32; half *= 2) {
      WB_UNROLL for (int i = 0; i < 16; i++) {
        const int p = 2 * i - (i & (half - 1));
        const T x = w[p], y = w[p + half];
        w[p] = x + y;
        w[p + half] = x - y;
      }
    }
    WB_UNROLL for (int u = 0; u < 32; u++) {
      if (u >= a.transformed) break;
      if (a.by_sign)
        found.offer(abs(w[u]), select(w[u] < T(0.f), I(1), I(0)) | I(u << 1 | outer << 6));
      else
        found.offer(w[u], I(u));
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
