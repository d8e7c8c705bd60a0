#pragma once
// The precoder's generic kernel: H^H H and solver of a `massive_engine`, then m = H x and its power. A CPU
// sends by lane_sender.hpp. On a CUDA device the calls of mapping.hpp take downlink_frames.hpp instead, which
// repeats this, or frame_stream.hpp.
#include <warpband/massive/downlink/lane_sender.hpp>

namespace wb {
inline namespace WB_ISA {

/// What reads H: the Gram matrix, and the vectors m = H x.
struct staged_channel {
  template <class Engine>
  WB_HD void gram(const Engine& e, bool wanted) const {
    e.template products<false>(0, 0, wanted);
  }
  template <class Op, class Engine, class T>
  WB_HD void send(const Op& op, const Engine& e, packed_vector<T> z, int symbol, int count) const {
    op.send(e, z, symbol, count);
  }
};

template <class Users>
struct downlink_op : massive_call {
  explicit downlink_op(const massive_args& args) : massive_call(args, true) {}

  int threads() const {
    const int tiles = massive_threads(a, p, false),
              antennas = a.antennas < massive_most_threads ? a.antennas : massive_most_threads;
    return tiles > antennas ? tiles : antennas;
  }
  double flops() const {
    const double n = a.users, b = a.antennas, sides = a.symbols;
    return (a.solver == massive_solver::mf ? 0 : massive_flops(a, false)) +
           sides * (b * (4 * n + 2) + 2 * b + 2 * (antenna_runs - 1) + 1 + square_root_flops +
                    division_flops + 2 * b + 2 * b);
  }
  double bytes() const {
    const double n = a.users, b = a.antennas;
    return (a.half_channel.data ? 4 : 8) * b * n + 4 + a.symbols * (8 * (n + b) + (a.status.data ? 1 : 0));
  }

  template <class G>
  WB_HD void operator()(std::size_t first, int frames, G g, void* scratch) const {
    run(first, frames, g, static_cast<lane*>(scratch));
  }
  /// `channel.gram(engine, wanted)` makes the Gram matrix, unless it is not wanted, and ends with all threads
  /// having met. `channel.send(op, engine, z, symbol, count)` sends the vectors of the solutions z.
  template <class T, class G, class Channel = staged_channel>
  WB_HD void run(std::size_t first, int frames, G g, T* scratch, const Channel& channel = Channel()) const {
    massive_engine<Users, T, G> e(a, p, g, first, frames, scratch);
    const bool gram = a.solver != massive_solver::mf;
    channel.gram(e, gram);
    e.prepare(gram, 0.f);
#if WB_WIDTH > 1
    const lane_sender<massive_engine<Users, T, G>, T> lanes(e);
    lanes.clear();
#endif
    g.sync();
    for (int symbol = 0; symbol < a.symbols; symbol += p.sides) {
      const int count = a.symbols - symbol < p.sides ? a.symbols - symbol : p.sides;
      load_sides(e, symbol, count);
      g.sync();
      const packed_vector<T> z = e.solve(count);
      for (int k = g.rank; k < count; k += g.size)
        e.numbers[k] = select(e.good & (e.numbers[k] > T(0.f)), T(1.f), T(0.f));
      g.sync();
#if WB_WIDTH > 1
      lanes.solutions_by_frames(z, count);
      for (int f = 0; f < frames; f++) lanes.send(f, symbol, count);
#else
      channel.send(*this, e, z, symbol, count);
#endif
    }
  }

  /// The vectors themselves, their energies, and what is sent.
  template <class E, class G>
  WB_HD void send(const massive_engine<Users, E, G>& e, packed_vector<E> z, int symbol, int count) const {
    const G g = e.g;
    const int n = e.n;
    E *out = e.memory + p.staged_y, *sides = out + a.antennas * p.y_row;
    E* energy = sides;  // of each vector; in the place of the symbols, which are read no more by then
    for (int i = g.rank; i < count * n; i += g.size) {
      const int side = i / n, u = i - side * n;
      const cx<E> x = z.get(i);
      sides[u * p.y_row + 2 * side] = x.re;
      sides[u * p.y_row + 2 * side + 1] = x.im;
    }
    for (int i = g.rank; i < n * (p.y_row - 2 * count); i += g.size) {
      const int u = i / (p.y_row - 2 * count);
      sides[u * p.y_row + 2 * count + i - u * (p.y_row - 2 * count)] = E(0.f);
    }
    g.sync();
    const antenna_rows<E> h = e.rows_for_sending(0);
    const auto row_of = [&](int b) { return h.data + b * h.antenna + (b >> p.run_log2) * h.pad; };
    constexpr int wide = massive_on_device ? 2 : 1;
    const int blocks = (count + wide - 1) / wide;
    for (int i = g.rank; i < blocks * a.antennas; i += g.size) {
      const int block = i / a.antennas, b = i - block * a.antennas, offset = 2 * wide * block;
      // Sums over users of H[b][u] z[u][k], for `wide` vectors k.
      columns<E> sum[1][wide];
      run_sums<1, wide, false, E, false>(antenna_rows<E>{row_of(b), 2, 0, 2},
                                         antenna_rows<E>{sides + offset, p.y_row, 0, 2}, 0, 0, n, sum);
      WB_UNROLL for (int c = 0; c < wide; c++)
          store_columns<E>(out + b * p.y_row + offset + 2 * c, sum[0][c]);
    }
    g.sync();
    energies(g, out, energy, count);
    g.sync();
    for (int side = 0; side < count; side++) {
      const std::size_t vector =
          e.first * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(symbol + side);
      const E power = energy[side], factor = factor_of_sent(a, power);
      const bool good = e.numbers[side] > E(0.f) && power <= E(most_sent_energy);
      cx_pair* to = a.out.data + vector * a.out.item_stride;
      for (int b = g.rank; b < a.antennas; b += g.size) {
        const E *x = out + b * p.y_row + 2 * side, re = select(good, factor * x[0], E(0.f)) + E(0.f),
                im = select(good, factor * x[1], E(0.f)) + E(0.f);
        store_parts(to + static_cast<std::size_t>(b) * a.out.element_stride, re, im);
      }
      if (a.status.data && g.rank == 0)
        a.status.data[vector * a.status.item_stride] = good ? std::uint8_t{0} : status_erased;
    }
    g.sync();
  }

 private:
  /// Right sides are the symbols.
  template <class T, class G>
  WB_HD void load_sides(const massive_engine<Users, T, G>& e, int symbol, int count) const {
    if constexpr (width_of<T> > 1) {
      if (a.in.element_stride == 1) {
        for (int side = 0; side < count; side++) {
          const view<const cx_pair> from = e.of_symbol(a.in, symbol + side);
          const view<const float> flat{reinterpret_cast<const float*>(from.data), 2 * from.elements,
                                       from.items, 1, 2 * from.item_stride};
          T* to = e.b.data + 2 * side * e.n;
          int i = 0;
          for (; i + width_of<T> <= 2 * e.n; i += width_of<T>)
            load_square(flat, static_cast<std::size_t>(i), e.frames(), to + i);
          for (; i < 2 * e.n; i++) to[i] = load(flat, static_cast<std::size_t>(i), e.frames());
        }
        return;
      }
    }
    for (int i = e.g.rank; i < count * e.n; i += e.g.size) {
      const int side = i / e.n;
      e.b.put(
          i, load_cx(e.of_symbol(a.in, symbol + side), static_cast<std::size_t>(i - side * e.n), e.frames()));
    }
  }

  /// Squares of both parts over the antennas of a run.
  template <class T>
  WB_HD columns<T> run_energy(const T* x, int run) const {
    const int first = run << p.run_log2, end = first + (1 << p.run_log2),
              last = end < a.antennas ? end : a.antennas;
    columns<T> sum = {{T(0.f), T(0.f)}};
    for (int b = first; b < last; b++) {
      WB_UNROLL for (int i = 0; i < 2; i++) sum.v[i] = fma(x[b * p.y_row + i], x[b * p.y_row + i], sum.v[i]);
    }
    return sum;
  }

  template <class E>
  WB_HD static void store_parts(cx_pair* to, E re, E im) {
    if constexpr (std::is_same_v<E, float>)
      *to = {re, im};
    else
      *to = {re.x, im.x};  // an E that counts operations
  }

  /// |m|^2 of each vector: the runs are added as those of the Gram matrix.
  template <class E, class G>
  WB_HD void energies([[maybe_unused]] G g, const E* out, E* energy, int count) const {
#if defined(__CUDACC__)
    const tile<antenna_runs> runs;
    for (int k = g.rank / antenna_runs; k < count; k += g.size / antenna_runs) {
      const columns<float> sum = run_energy(out + 2 * k, runs.rank);
      float parts[2] = {sum.v[0], sum.v[1]};
      WB_UNROLL for (int step = antenna_runs / 2; step > 0; step /= 2) {
        parts[0] = parts[0] + runs.exchange(parts[0], step);
        parts[1] = parts[1] + runs.exchange(parts[1], step);
      }
      if (runs.rank == 0) energy[k] = parts[0] + parts[1];
    }
#else
    for (int k = 0; k < count; k++) {
      columns<E> of_run[antenna_runs];
      for (int run = 0; run < antenna_runs; run++) of_run[run] = run_energy(out + 2 * k, run);
      const auto sum = ((of_run[0] + of_run[4]) + (of_run[2] + of_run[6])) +
                       ((of_run[1] + of_run[5]) + (of_run[3] + of_run[7]));
      energy[k] = sum.v[0] + sum.v[1];
    }
#endif
  }
};

}  // namespace WB_ISA
}  // namespace wb
