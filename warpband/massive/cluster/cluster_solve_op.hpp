#pragma once
#include <warpband/massive/cluster/cluster_body.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Gram matrix and matched filters from the sums of clusters.
struct sums_over_clusters {
  cluster_terms<const float> sums;

  template <class Engine>
  WB_HD void gram(const Engine& e) const {
    const over_matrix layout(e.g);
    for (int r = layout.y; r < e.n; r += layout.down)
      for (int i = layout.x; i < 2 * r + 2; i += layout.across) {
        auto& to = e.m.data[2 * r * e.p.ld + i];
        to = i < 2 * r + 1 ? load_sum(sums, gram_place(r, 0) + static_cast<std::size_t>(i), e.frames())
                           : decltype(e.trace)(0.f);
      }
  }
  template <class Engine>
  WB_HD void operator()(const Engine& e, int symbol, int count) const {
    if (symbol == 0) gram(e);
    const std::size_t begin = static_cast<std::size_t>(e.n * e.n + 2 * e.n * symbol);
    for (int i = e.g.rank; i < 2 * count * e.n; i += e.g.size)
      e.b.data[i] = load_sum(sums, begin + static_cast<std::size_t>(i), e.frames());
    e.g.sync();
  }
};

/// Arguments of the engine where no antennas are summed.
inline massive_args without_antennas(massive_args a) {
  a.antennas = 1;
  return a;
}

/// The uplink detector from sums.
template <class Users>
struct cluster_detect_op : uplink_op<Users> {
  using detector = uplink_op<Users>;
  using detector::a;
  sums_over_clusters sums;
  explicit cluster_detect_op(const cluster_solve_args& args)
      : detector(without_antennas(args.massive)), sums{args.sums} {}

  double flops() const {
    const double n = a.users, values = n * n + 2 * n * a.symbols;
    return detector::flops() + values * (sums.sums.count - 1);
  }
  double bytes() const {
    const double n = a.users, sides = a.symbols;
    return detector::bytes() - 8 * (n + sides) + 4 * (n * n + 2 * n * sides) * sums.sums.count;
  }
  template <class G>
  WB_HD void operator()(std::size_t first, int frames, G g, void* scratch) const {
    this->run(first, frames, g, static_cast<lane*>(scratch), sums);
  }
};

/// z of A z = s, for the precoder. Vectors that are erased become NaN, which what sends them erases.
template <class Users>
struct cluster_weights_op : massive_call {
  sums_over_clusters sums;
  explicit cluster_weights_op(const cluster_solve_args& args)
      : massive_call(without_antennas(args.massive), false), sums{args.sums} {}

  int threads() const { return massive_threads(a, p, true); }
  double flops() const {
    const double n = a.users;
    return massive_flops(a, false) + n * n * (sums.sums.count - 1);
  }
  double bytes() const {
    const double n = a.users;
    return 4 + 4 * n * n * sums.sums.count + 16 * n * a.symbols;
  }
  template <class G>
  WB_HD void operator()(std::size_t first, int frames, G g, void* scratch) const {
    run(first, frames, g, static_cast<lane*>(scratch));
  }
  template <class T, class G>
  WB_HD void run(std::size_t first, int frames, G g, T* scratch) const {
    massive_engine<Users, T, G> e(a, p, g, first, frames, scratch);
    sums.gram(e);
    g.sync();
    e.prepare(true, 0.f);
    g.sync();
    const T erased = as_float(typename rebind<T>::i32(0x7fc00000));
    for (int symbol = 0; symbol < a.symbols; symbol += p.sides) {
      const int count = a.symbols - symbol < p.sides ? a.symbols - symbol : p.sides;
      for (int i = g.rank; i < count * e.n; i += g.size)
        e.b.put(i,
                load_cx(e.of_symbol(a.in, symbol + i / e.n), static_cast<std::size_t>(i % e.n), e.frames()));
      g.sync();
      const packed_vector<T> z = e.solve(count);
      for (int i = g.rank; i < count * e.n; i += g.size) {
        const auto good = e.good & (e.numbers[i / e.n] > T(0.f));
        const cx<T> x = z.get(i);
        store_cx(e.of_symbol(a.out, symbol + i / e.n), static_cast<std::size_t>(i % e.n), e.frames(),
                 {select(good, x.re, erased), select(good, x.im, erased)});
      }
      g.sync();
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
