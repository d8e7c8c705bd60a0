#pragma once
#include <warpband/massive/cluster/cluster_body.hpp>
#include <warpband/massive/uplink/uplink_op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Gram matrix and matched filters of a cluster's antennas, in the order of sums of linalg/gram.
template <class Users>
struct cluster_sums_op : massive_call {
  bool filter;
  view<float> sums;
  explicit cluster_sums_op(const cluster_sums_args& args)
      : massive_call(args.massive, false), filter(args.filter), sums(args.sums) {}

  int threads() const { return massive_threads(a, p, filter); }
  double flops() const {
    massive_args only = a;
    only.solver = massive_solver::mf, only.exact_sinr = true;
    if (!filter) only.symbols = 0;
    return massive_flops(only, filter) - (filter ? 4.0 * a.users * (a.users - 1) : 0);
  }
  double bytes() const {
    const double n = a.users, sides = filter ? a.symbols : 0, of_sample = a.half_channel.data ? 4 : 8;
    return of_sample * a.antennas * (n + sides) + 4 * (n * n + 2 * n * sides);
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int frames, G g, void* scratch) const {
    run(first, frames, g, static_cast<lane*>(scratch));
  }
  /// `sums_of`: as of `uplink_op::run`, where there are vectors.
  template <class T, class G, class Sums = sums_over_antennas>
  WB_HD void run(std::size_t first, int frames, G g, T* scratch, const Sums& sums_of = Sums()) const {
    massive_engine<Users, T, G> e(a, p, g, first, frames, scratch);
    const int symbols = filter ? a.symbols : 1;
    for (int symbol = 0; symbol < symbols; symbol += p.sides) {
      const int rest = symbols - symbol, count = !filter ? 0 : rest < p.sides ? rest : p.sides;
      if (filter)
        sums_of(e, symbol, count);
      else
        e.template products<false>(0, 0, true);
      if (symbol == 0) {
        const over_matrix<G> layout(g);
        for (int r = layout.y; r < e.n; r += layout.down)
          for (int i = layout.x; i < 2 * r + 1; i += layout.across)
            store(sums, gram_place(r, 0) + static_cast<std::size_t>(i), e.frames(),
                  e.m.data[2 * r * p.ld + i]);
      }
      const std::size_t begin = static_cast<std::size_t>(e.n * e.n + 2 * e.n * symbol);
      for (int i = g.rank; i < 2 * count * e.n; i += g.size)
        store(sums, begin + static_cast<std::size_t>(i), e.frames(), e.b.data[i]);
      g.sync();
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
