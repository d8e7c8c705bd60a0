#pragma once
#include <warpband/core/erased.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/link/gain/gain_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// A thread has a vector alone, so that sums have one order.
struct vector_power_op : thread_op<vector_power_args> {
  double flops() const { return 4.0 * static_cast<double>(a.sent.elements); }
  double bytes() const { return 24.0 * static_cast<double>(a.sent.elements); }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G, T*) const {
    const view<const cx_pair> from = {a.sent.data, a.sent.elements, a.sent.items, a.sent.element_stride,
                                      a.sent.item_stride};
    const std::size_t antennas = a.sent.elements / static_cast<std::size_t>(a.parts);
    T sum = T(0.f);
    for (std::size_t first = 0; first < a.sent.elements; first += antennas) {
      T energy = T(0.f);
      for (std::size_t b = first; b < first + antennas; b++)
        energy = norm_fma(load_cx(from, b, item), energy);
      const auto some = energy > T(1e-30f);
      const T factor = select(some, T(a.scale) / sqrt(select(some, energy, T(1.f))), T(0.f));
      for (std::size_t b = first; b < first + antennas; b++)
        store_cx(a.sent, b, item, factor * load_cx(from, b, item));
      sum = sum + factor;
    }
    store(a.factor, 0, item, sum * T(1.f / static_cast<float>(a.parts)));
  }
};

/// Threads share the users.
struct effective_gain_op : block_op<effective_gain_args> {
  int threads() const { return a.users <= 32 ? 32 : 64; }
  double flops() const { return 16.0 * a.users * a.users; }
  double bytes() const { return 16.0 * a.users * a.users + 12.0 * a.users; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const std::size_t users = static_cast<std::size_t>(a.users);
    const T weight = T(1.f / static_cast<float>(a.users));
    for (int rank = g.rank; rank < a.users; rank += g.size) {
      const std::size_t u = static_cast<std::size_t>(rank);
      cx<T> product{T(0.f), T(0.f)};
      for (std::size_t t = 0; t < users; t++)
        product = conj_fma(load_cx(a.reference, t * users + u, item), heard(t, u, item), product);
      const cx<T> gain = weight * product, minus{T(0.f) - gain.re, T(0.f) - gain.im};
      T left = T(0.f);
      for (std::size_t t = 0; t < users; t++)
        left = norm_fma(fma(minus, load_cx(a.reference, t * users + u, item), heard(t, u, item)), left);
      store_cx(a.gain, u, item, gain);
      store(a.interference, u, item, weight * left);
    }
  }

 private:
  /// Vector t at user u, as if it had not been normalised.
  template <class T>
  WB_HD cx<T> heard(std::size_t t, std::size_t u, item<T> item) const {
    const cx<T> y = load_cx(a.received, t * static_cast<std::size_t>(a.users) + u, item);
    if (a.factor.data == nullptr) return y;
    const T factor = load(a.factor, t, item);
    const auto some = factor > T(0.f);
    return select(some, T(1.f) / select(some, factor, T(1.f)), T(0.f)) * y;
  }
};

/// Threads share the symbols of all users in all vectors of an item.
struct gain_division_op : block_op<gain_division_args> {
  int threads() const { return a.vectors * a.users < 128 ? a.vectors * a.users : 128; }
  double flops() const { return 20.0 * a.vectors * a.users; }
  double bytes() const { return 20.0 * a.vectors * a.users + 12.0 * a.users + 4.0 * a.vectors; }

  template <class T, class G>
  WB_HD void operator()(item<T> item, G g, T*) const {
    const T n0 = load(a.noise_var, 0, item);
    for (int i = g.rank; i < a.vectors * a.users; i += g.size) {
      const int vector = i / a.users;
      const std::size_t index = static_cast<std::size_t>(i),
                        u = static_cast<std::size_t>(i - vector * a.users);
      const cx<T> gain = load_cx(a.gain, u, item);
      const T f = load(a.factor, static_cast<std::size_t>(vector), item),
              power = fma(gain.im, gain.im, gain.re * gain.re);
      const auto good = (f >= T(1e-12f)) & (f <= T(1e12f)) & (power >= T(1e-24f)) & (power <= T(1e24f));
      const T over = T(1.f) / select(good, f * power, T(1.f)), safe = select(good, f, T(1.f)),
              noise = fma(n0, T(1.f) / (safe * safe), load(a.interference, u, item)) /
                      select(good, power, T(1.f)),
              least = select(noise >= T(1e-12f), noise, T(1e-12f)),
              variance = select(least <= T(1e12f), least, T(1e12f));
      const cx<T> inverse{gain.re * over, T(0.f) - gain.im * over};
      store_cx(a.out, index, item, or_zero(good, inverse * load_cx(a.received, index, item)));
      store(a.out_noise_var, index, item, select(good, variance, T(1e12f)));
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
