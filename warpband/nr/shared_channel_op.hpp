#pragma once
// Resource elements to and from grids. Values are moved one by one: lanes would gather them.
#include <warpband/core/cx.hpp>
#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/op.hpp>
#include <warpband/nr/shared_channel_args.hpp>

namespace wb {
inline namespace WB_ISA {

struct nr_map_op : thread_op<nr_map_args> {
  double flops() const { return a.precoded ? 8.0 * a.ports * a.layers : 0; }
  double bytes() const { return 8.0 * (a.ports + a.layers) + 4; }

  template <class T, class G>
  WB_HD void operator()(item<T> uses, G, T*) const {
    for (int i = 0; i < uses.valid; i++) element(uses.first + static_cast<std::size_t>(i));
  }

 private:
  WB_HD void element(std::size_t use) const {
    const std::size_t elements = static_cast<std::size_t>(a.elements), slot = use / elements,
                      k = use - slot * elements;
    const int number = a.number[k];
    for (int p = 0; p < a.ports; p++) {
      cx_pair z = a.dmrs[static_cast<std::size_t>(p) * elements + k];
      if (number >= 0) z = a.precoded ? precoded(slot, number, p) : symbol(slot, number, p);
      a.grid.data[static_cast<std::size_t>(p) * a.grid.element_stride + use * a.grid.item_stride] = z;
    }
  }
  WB_HD cx_pair precoded(std::size_t slot, int number, int port) const {
    cx<float> sum{0.f, 0.f};
    for (int l = 0; l < a.layers; l++) {
      const cx_pair w = a.precoder[port * a.layers + l], x = symbol(slot, number, l);
      sum = fma(cx<float>{w.re, w.im}, cx<float>{x.re, x.im}, sum);
    }
    return {sum.re + 0.f, sum.im + 0.f};
  }
  WB_HD cx_pair symbol(std::size_t slot, int number, int layer) const {
    const bool second = layer >= a.first_layers;
    const int first = second ? a.first_layers : 0, layers = second ? a.layers - first : a.first_layers;
    const view<const cx_pair>& d = a.codeword[second ? 1 : 0];
    return d.data[static_cast<std::size_t>(number * layers + layer - first) * d.element_stride +
                  slot * d.item_stride];
  }
};

struct nr_extract_op : thread_op<nr_extract_args> {
  double flops() const { return 0; }
  double bytes() const { return 16.0 * static_cast<double>(a.in.elements) + 4; }

  template <class T, class G>
  WB_HD void operator()(item<T> places, G, T*) const {
    const std::size_t rows = static_cast<std::size_t>(a.rows),
                      elements = static_cast<std::size_t>(a.elements);
    for (int i = 0; i < places.valid; i++) {
      const std::size_t row = places.first + static_cast<std::size_t>(i), slot = row / rows;
      const std::size_t from = slot * elements + static_cast<std::size_t>(a.place[row - slot * rows]);
      for (std::size_t e = 0; e < a.in.elements; e++)
        a.out.data[e * a.out.element_stride + row * a.out.item_stride] =
            a.in.data[e * a.in.element_stride + from * a.in.item_stride];
    }
  }
};

struct nr_turn_op : thread_op<nr_turn_args> {
  double flops() const { return 8; }
  double bytes() const { return 28; }

  template <class T, class G>
  WB_HD void operator()(item<T> symbols, G, T*) const {
    for (int i = 0; i < symbols.valid; i++) symbol(symbols.first + static_cast<std::size_t>(i));
  }

 private:
  WB_HD void symbol(std::size_t number) const {
    const std::size_t count = static_cast<std::size_t>(a.count), slot = number / count,
                      n = number - slot * count;
    const cx_pair x = a.in.data[n * a.in.element_stride + slot * a.in.item_stride], w = a.turn[n % 2];
    cx<float> z = cx<float>{x.re, x.im} * cx<float>{w.re, w.im};
    if (a.rest != nullptr) {
      const float rest = a.rest[number / static_cast<std::size_t>(a.subcarriers)], rho = 1.f - rest;
      z = {z.re / rho, z.im / rho};
      if (a.channel.data != nullptr) a.channel.data[number * a.channel.item_stride] = {1.f, 0.f};
      if (a.noise_var.data != nullptr) a.noise_var.data[number * a.noise_var.item_stride] = rest / rho;
    }
    a.out.data[n * a.out.element_stride + slot * a.out.item_stride] = {z.re + 0.f, z.im + 0.f};
  }
};

struct nr_equalise_op : thread_op<nr_equalise_args> {
  double flops() const { return 12.0 * static_cast<double>(a.received.elements) + 5; }
  double bytes() const { return 16.0 * static_cast<double>(a.received.elements) + 16; }

  template <class T, class G>
  WB_HD void operator()(item<T> uses, G, T*) const {
    cx<T> sum{T(0.f), T(0.f)};
    T power(0.f);
    for (std::size_t r = 0; r < a.received.elements; r++) {
      const cx<T> h = load_cx(a.channel, r, uses), y = load_cx(a.received, r, uses);
      sum = conj_fma(h, y, sum);
      power = norm_fma(h, power);
    }
    const T given = load(a.noise_var, 0, uses);
    const T n0 = select(given < T(0.f), sqrt(given), given);  // NaN if negative
    const T whole = power + n0;
    store_cx(view<cx_pair>{a.out, 1, uses.first + static_cast<std::size_t>(uses.valid), 0, 1}, 0, uses,
             cx<T>{sum.re / whole, sum.im / whole});
    store(view<float>{a.rest, 1, uses.first + static_cast<std::size_t>(uses.valid), 0, 1}, 0, uses,
          n0 / whole);
  }
};

/// Sums of every 32nd value, then of those sums, in this order on every backend.
struct nr_rest_op : block_op<nr_rest_args> {
  static constexpr int sums = 32;
  int threads() const { return sums; }
  std::size_t scratch(int) const { return sums; }
  double flops() const { return a.subcarriers; }
  double bytes() const { return 4.0 * a.subcarriers; }

  template <class T, class G>
  WB_HD void operator()(item<T> symbols, G g, T* s) const {
    const std::size_t count = static_cast<std::size_t>(a.subcarriers);
    const view<const float> in{a.in, count, symbols.first + static_cast<std::size_t>(symbols.valid), 1,
                               count};
    for (int j = g.rank; j < sums; j += g.size) {
      T sum(0.f);
      for (std::size_t k = static_cast<std::size_t>(j); k < count; k += sums)
        sum = sum + load(in, k, symbols);
      s[j] = sum;
    }
    g.sync();
    if (g.rank != 0) return;
    T sum(0.f);
    for (int j = 0; j < sums; j++) sum = sum + s[j];
    store(view<float>{a.out, 1, in.items, 0, 1}, 0, symbols, sum / T(static_cast<float>(a.subcarriers)));
  }
};

}  // namespace WB_ISA
}  // namespace wb
