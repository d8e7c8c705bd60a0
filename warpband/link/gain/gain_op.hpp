#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/link/gain/gain_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// An item is a row; a thread has it alone, so that sums have one order.
struct gain_op {
  gain_args a;
  static constexpr bool by_block = false;
  int threads() const { return 1; }
  std::size_t scratch(int) const { return 0; }
  double flops() const { return 30.0 * static_cast<double>(a.sent.elements) + 40; }
  double bytes() const { return 32.0 * static_cast<double>(a.sent.elements); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const std::size_t n = a.sent.elements;
    cx<T> product{T(0.f), T(0.f)};
    T sent = T(0.f), received = T(0.f);
    for (std::size_t i = 0; i < n; i++) {
      const cx<T> s = sent_at(i, item), y = load_cx(a.received, i, item);
      product = conj_fma(s, y, product);
      sent = norm_fma(s, sent);
      received = norm_fma(y, received);
    }
    const auto fine = (received <= T(1e24f)) & (sent >= T(1e-24f)) & (sent <= T(1e24f));
    const T each = T(1.f) / select(fine, sent, T(1.f));
    const cx<T> g{select(fine, product.re * each, T(0.f)), select(fine, product.im * each, T(0.f))};
    if (a.factor.data == nullptr) {
      for (std::size_t i = 0; i < n; i++) store(a.noise_var, i, item, select(g.re > T(0.f), g.re, T(0.f)));
      return;
    }
    const T power = g.re * g.re + g.im * g.im;
    const auto good = fine & (power > T(0.f)) & (power * sent >= T(1e-12f) * received);
    const T over = T(1.f) / select(good, power, T(1.f));
    const cx<T> inverse{select(good, g.re * over, T(0.f)), select(good, T(0.f) - g.im * over, T(0.f))};
    T error = T(0.f);  // of f s
    for (std::size_t i = 0; i < n; i++) {
      const cx<T> z = inverse * or_zero(good, load_cx(a.received, i, item));
      error = norm_fma(z - sent_at(i, item), error);
      const T f = load(a.factor, i, item);
      const auto there = good & (f > T(0.f));
      const T by = select(there, T(1.f) / select(there, f, T(1.f)), T(0.f));
      store_cx(a.out, i, item, by * z);
    }
    const T mean = error * T(1.f / static_cast<float>(n));
    for (std::size_t i = 0; i < n; i++) {
      const T f = load(a.factor, i, item), square = f * f;
      const auto there = good & (f > T(0.f)) & (square >= T(1e-24f));
      const T noise = mean / select(there, square, T(1.f)),
              least = select(noise >= T(1e-12f), noise, T(1e-12f)),
              most = select(least <= T(1e12f), least, T(1e12f));
      store(a.noise_var, i, item, select(there, most, T(1e12f)));
    }
  }

 private:
  /// What was sent, as strongly as it arrives.
  template <class T>
  WB_HD cx<T> sent_at(std::size_t i, item<T> item) const {
    const cx<T> s = load_cx(a.sent, i, item);
    return a.factor.data == nullptr ? s : load(a.factor, i, item) * s;
  }
};

}  // namespace WB_ISA
}  // namespace wb
