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

}  // namespace WB_ISA
}  // namespace wb
