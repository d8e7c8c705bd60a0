#pragma once
// The engine of the detector and the precoder: Gram matrix and matched filters of a frame, regularisation,
// and the solver. An item is a frame.
//
// On a CPU a call takes as many frames as a vector has lanes. Gram matrix and matched filters are made frame
// by frame, lanes being columns; then the small matrices are transposed, so that for all that follows lanes
// are frames. On a CUDA device a call is one frame and a thread block: H is read once, coalesced, into shared
// memory; eight neighbouring threads share a 4 x 4 tile of the Gram matrix, an eighth of the antennas each.
#include <warpband/core/group.hpp>
#include <warpband/core/half_lane.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/size.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/linalg/cg/cg_body.hpp>
#include <warpband/linalg/gram/gram_body.hpp>
#include <warpband/linalg/ldl/ldl_body.hpp>
#include <warpband/massive/massive_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Vectors of a frame that are worked on at once.
inline constexpr int massive_group = 16;
#if defined(__CUDACC__)
inline constexpr bool massive_on_device = true;
#else
inline constexpr bool massive_on_device = false;
#endif

/// On a CPU: floats of an H over which each tile of its Gram matrix passes as a whole.
inline constexpr int most_floats_near = 8192;
/// On a CUDA device: two blocks of as many threads leave 128 registers for each.
inline constexpr int massive_most_threads = 256, massive_resident = 2;

/// Where things lie in scratch memory. For lanes of `width`, of which a value has 4 bytes.
struct massive_plan {
  int at_once, run_log2;
  int sides, ld;             // vectors at once; of the matrix
  int h_row, h_pad;          // floats of an antenna of the staged H, and between runs
  int y_row, y_pad;          // of received vectors, on a CUDA device; on a CPU of those that came as halves
  int frame_row;             // floats of a row of sums of one frame, on a CPU
  int values, floats;        // of lanes, and after those of one frame
  int frame_sums, staged_y;  // offsets among the floats; staged H at 0
  int kept;                  // of the sums of some runs, three planes, on a CPU
  // Of the precoder on a CPU: H by columns, what is sent, solutions of a frame; their rows.
  int turned, turned_row, turned_size, turned_frames, sent, sent_row, solved, solved_row;

  /// For the host.
  static massive_plan of(const massive_args& a, int width, bool downlink) {
    const auto up = [](int n, int to) { return (n + to - 1) / to * to; };
    massive_plan p{};
    p.at_once = width;
    while (antenna_runs << p.run_log2 < a.antennas) p.run_log2++;
    p.sides = a.symbols < massive_group ? a.symbols : massive_group;
    p.ld = a.users | 1;
    const int per_row = width > 1 ? width / 2 : massive_on_device ? 4 : 1;
    p.h_row = 2 * up(a.users, per_row);
    if (massive_on_device && downlink) p.h_row += 4;  // threads read neighbouring rows
    p.h_pad = massive_on_device ? 4 : 0;
    const int rows = antenna_runs << p.run_log2;
    // Matrix, 1 / D, diagonal, gain, SINR; energies; right sides, solutions and two more of CG; LLRs to
    // transpose.
    p.values = up(2 * a.users * p.ld + 4 * a.users + 4 * p.sides + 8 * p.sides * a.users +
                      (width > 1 && !downlink ? a.users * 2 * a.pam_bits : 0),
                  4);
    p.floats = up(rows * p.h_row + antenna_runs * p.h_pad, 16);
    if (massive_on_device && !downlink) {
      p.y_row = p.sides == 1 ? 2 : up(2 * p.sides, 8);
      p.y_pad = p.sides == 1 ? 2 : 4;
      p.staged_y = p.floats;
      p.floats += up(rows * p.y_row + antenna_runs * p.y_pad, 16);
    }
    if (!massive_on_device && !downlink && a.half_in.data != nullptr) {
      p.y_row = 2 * a.antennas;
      p.staged_y = p.floats;
      p.floats += up(p.sides * p.y_row, 16);
    }
    if (downlink && width > 1) {
      const int runs = antenna_runs << p.run_log2, padded = up(a.antennas, per_row);
      p.turned_row = 2 * padded;
      p.turned = p.floats = up(p.floats, 16);
      p.turned_size = up(a.users, per_row) * p.turned_row;
      // Kept for all groups of vectors where it is not too much for a cache.
      p.turned_frames = a.symbols > p.sides && p.turned_size <= most_floats_near ? width : 1;
      p.floats += p.turned_frames * p.turned_size;
      p.sent_row = 2 * (runs > padded ? runs : padded);
      p.sent = p.floats = up(p.floats, 16);
      p.floats += 2 * p.sent_row;
      p.solved_row = up(2 * a.users * p.sides, width);
      p.solved = p.floats = up(p.floats, 16);
      p.floats += width * p.solved_row;
    } else if (downlink) {  // the precoded vectors of a group
      p.y_row = 2 * up(p.sides, per_row);
      p.staged_y = p.floats;
      p.floats += (a.antennas + a.users) * p.y_row;
    }
    if (width > 1) {
      p.frame_row = up(2 * a.users, width);
      p.frame_sums = up(p.floats, 16);
      p.kept = up(p.frame_sums + width * (a.users + p.sides) * p.frame_row + width * width, 16);
      p.floats = p.kept + 3 * (a.users + p.sides) * p.frame_row;
    }
    return p;
  }
};

/// Threads of a block. The tiles take two rounds of at most 128 threads, or more: with fewer threads to a
/// frame more frames are in flight, whose decompositions hide each other's latency. Where shared memory holds
/// few frames, of 256.
inline int massive_threads(const massive_args& a, const massive_plan& p, bool filter) {
  const int down = (a.users + 3) / 4;
  const int tiles = down * (down + 1) / 2 + (filter ? down * (p.sides == 1 ? 1 : (p.sides + 3) / 4) : 0);
  const int most = p.values + p.floats > 14000 ? massive_most_threads : 128;
  int rounds = (tiles * antenna_runs + most - 1) / most;
  if (rounds < 2) rounds = 2;
  return (tiles + rounds - 1) / rounds * antenna_runs;
}

/// Operations of a frame: the products and the solver.
inline double massive_flops(const massive_args& a, bool filter) {
  const double n = a.users, b = a.antennas, sides = a.symbols;
  const double down = a.users / 4, rest = a.users % 4;  // rows of tiles of 4 x 4, and single ones
  const double entries = 8 * down * (down + 1) + rest * (4 * down) + rest * (rest + 1) / 2;
  const double summed = 4 * b + 2 * antenna_runs + 2 * (antenna_runs - 1);
  double f = summed * (entries + (filter ? sides * n : 0)) + n * 2 + 2 * sides * n;
  if (a.mode == massive_mode::cholesky || a.mode == massive_mode::zf) {
    double updates = 0, factors = 0;
    for (double k = n - 1; k > 0; k--) {
      updates += k * (k + 1) / 2 + (n - 1 - k) * k;
      factors += n - 1;
    }
    f += n * (division_flops + 1) + 4 * updates + 3 * factors + n * (n - 1);
    f += sides * (n * 2 + 4 * n * (n - 1));
    if (filter && a.exact_sinr) f += 4 * n * (n - 1) / 2 + n * (3 + 2 * division_flops);
  } else if (is_iterative(a.mode)) {
    const double jacobi = a.mode == massive_mode::jacobi_cg;
    f += jacobi * (n * (square_root_flops + division_flops) + 3 * n * (n + 1) / 2 + sides * 4 * n);
    f += sides * (2 * n + 1 + a.iterations * (4 * n * n + 2 * n + 4 * n + division_flops) +
                  (a.iterations - 1) * (2 * n + division_flops + 2 * n));
  } else if (filter && a.exact_sinr) {
    f += n * (n - 1) * 4;
  }
  if (filter && !a.exact_sinr) f += n * (2 * division_flops + 4);
  return f;
}

/// The sizes that serve a call. Known ones spare a CUDA device divisions; on a CPU they gain nothing.
template <class F>
auto with_massive_users(int users, F f) {
  switch (massive_on_device ? users : 0) {
#if defined(__CUDACC__)
    case 8:
      return f.template operator()<fixed<8>>();
    case 16:
      return f.template operator()<fixed<16>>();
    case 32:
      return f.template operator()<fixed<32>>();
#endif
    default:
      return f.template operator()<upto<most_massive_users>>();
  }
}

/// Scratch of a call in lanes T, and the steps of both uses of the engine.
template <class Users, class T, class G>
struct massive_engine {
  using E = plain<T>;
  using M = typename rebind<T>::mask;
  static constexpr int width = width_of<T>;

  const massive_args& a;
  const massive_plan& p;
  G g;
  std::size_t first;
  int valid, n;
  packed_matrix<T> m;
  T *inverse, *diagonal, *gain, *sinr, *numbers;
  packed_vector<T> b, v, t, s;
  T* llr;
  E* memory;
  T n0;
  T trace;        // of H^H H, after `prepare`
  T most_energy;  // of a vector that is not erased
  M good;         // of the frame

  WB_HD massive_engine(const massive_args& args, const massive_plan& plan, G group, std::size_t frame,
                       int frames, T* scratch)
      : a(args),
        p(plan),
        g(group),
        first(frame),
        valid(frames),
        n0(T(1.f)),
        trace(T(0.f)),
        most_energy(T(1e24f)),
        good(mask_from<M>(false)) {
    if constexpr (Users::known)
      n = Users::most;
    else
      n = args.users;
    const int vectors = 2 * p.sides * n;
    m = {scratch, p.ld};
    b = {scratch + 2 * n * p.ld};
    v = {b.data + vectors};
    t = {v.data + vectors};
    s = {t.data + vectors};
    inverse = s.data + vectors;
    diagonal = inverse + n;
    gain = diagonal + n;
    sinr = gain + n;
    numbers = sinr + n;
    llr = numbers + 4 * p.sides;
    memory = reinterpret_cast<E*>(scratch + p.values);
  }

  /// Of frame f, what lies in the view of vectors at symbol `symbol`, for lanes of frames.
  template <class S>
  WB_HD view<S> of_symbol(const view<S>& x, int symbol) const {
    return {x.data + static_cast<std::size_t>(symbol) * x.item_stride, x.elements, x.items, x.element_stride,
            x.item_stride * static_cast<std::size_t>(a.symbols)};
  }
  WB_HD item<T> frames() const { return {first, valid}; }
  WB_HD bool iterative() const { return a.mode == massive_mode::cg || a.mode == massive_mode::jacobi_cg; }

  /// With `gram` the Gram matrix and, for the detector, the matched filters of `count` vectors from `symbol`
  /// on. Ends with all threads having met.
  template <bool Filter>
  WB_HD void products(int symbol, int count, bool gram) const {
    if constexpr (massive_on_device)
      device_products<Filter>(symbol, count, gram);
    else
      host_products<Filter>(symbol, count, gram);
  }

  /// The rows of H again, of frame f of the call.
  WB_HD antenna_rows<E> rows_for_sending(int f) const {
    if constexpr (massive_on_device)
      return {memory, p.h_row, p.h_pad, 2};
    else
      return rows_of(first + static_cast<std::size_t>(f));
  }

  /// Regularises A and makes it ready for the solver; `good` and n0 are set, which is no less than
  /// `least_n0`. Without a Gram matrix only N0 is looked at.
  WB_HD void prepare(bool gram, float least_n0) {
    const bool decomposed = a.mode == massive_mode::cholesky || a.mode == massive_mode::zf;
    n0 = load(a.noise_var, 0, frames());
    good = (n0 >= T(least_n0)) & (n0 <= T(1e12f));
    if (!gram) return;
    for (int u = 0; u < n; u++) trace = trace + m.diagonal(u);
    good = good & (trace >= T(1e-12f)) & (trace <= T(1e12f));
    n0 = select(good, n0, T(1.f));
    const T added =
        a.mode == massive_mode::zf || a.mode == massive_mode::mf ? T(0.f) : n0 * T(1.f / a.symbol_energy);
    for (int u = g.rank; u < n; u += g.size) diagonal[u] = m.diagonal(u);
    g.sync();
    // Matrices that are no numbers become the unit matrix.
    const over_matrix<G> at(g);
    for (int r = at.y; r < n; r += at.down)
      for (int c = at.x; c <= r; c += at.across) {
        cx<T> z = m.get(r, c);
        z = {select(good, z.re, T(c == r ? 1.f : 0.f)), select(good, z.im, T(0.f))};
        if (c == r) z.re = z.re + select(good, added, T(0.f));
        m.put(r, c, z);
      }
    g.sync();
    if (decomposed) {
      // `gain` has the diagonal of A until the weights are made.
      for (int u = g.rank; u < n; u += g.size) gain[u] = m.diagonal(u);
      g.sync();
      good = good & invert_factor(n, m, gain, inverse, g);
    } else if (iterative()) {
      if (a.mode == massive_mode::jacobi_cg) scale();
      mirror(n, m, g);
    }
  }

  /// b of `count` vectors to z = A^-1 b, in v; b for the matched filter. `fine[k]` is 1 where b of vector k
  /// is a number and at most `most_energy` in energy.
  WB_HD packed_vector<T> solve(int count) const {
    T* fine = numbers;
    for (int k = g.rank; k < count; k += g.size)
      fine[k] = select(energy_of(b, k * n, n) <= most_energy, T(1.f), T(0.f));
    g.sync();
    const bool jacobi = a.mode == massive_mode::jacobi_cg;
    for (int i = g.rank; i < count * n; i += g.size) {
      const auto is_fine = fine[i / n] > T(0.f);
      cx<T> z = b.get(i);
      z = {select(is_fine, z.re, T(0.f)), select(is_fine, z.im, T(0.f))};
      if (jacobi) z = inverse[i % n] * z;
      b.put(i, z);
    }
    g.sync();
    if (a.mode == massive_mode::mf) return b;
    if (iterative()) {
      for (int k = 0, done = count; k < count; k += done) {
        const int at = 2 * k * n;
        T* of_side = numbers + p.sides + k;
        const cg_memory<T> memory_of{{v.data + at}, {b.data + at},     {t.data + at},        {s.data + at},
                                     of_side,       of_side + p.sides, of_side + 2 * p.sides};
        if constexpr (width > 1) {
          // Few sides at a time: their vectors stay in the nearest cache.
          done = count - k >= 4 ? 4 : count - k >= 2 ? 2 : 1;
          if (done == 4)
            lane_conjugate_gradients<4>(n, m, a.iterations, memory_of);
          else if (done == 2)
            lane_conjugate_gradients<2>(n, m, a.iterations, memory_of);
          else
            lane_conjugate_gradients<1>(n, m, a.iterations, memory_of);
        } else {
          conjugate_gradients(n, count, m, a.iterations, memory_of, g);
        }
      }
      if (jacobi) {
        for (int i = g.rank; i < count * n; i += g.size) v.put(i, inverse[i % n] * v.get(i));
        g.sync();
      }
      return v;
    }
    if constexpr (width > 1) {
      int k = 0;
      for (; k + 4 <= count; k += 4) substitute_lanes<4>(k);
      if (k + 2 <= count) substitute_lanes<2>(k), k += 2;
      if (k < count) substitute_lanes<1>(k);
    } else {
      for (int i = g.rank; i < count * n; i += g.size) {
        const int side = i / n * n;
        forward<1, 1>(n, m, inverse, {b.data + 2 * side}, n, i - side, {t.data + 2 * side});
      }
      g.sync();
      for (int i = g.rank; i < count * n; i += g.size) {
        const int side = i / n * n;
        backward<1, 1>(m, {t.data + 2 * side}, n, i - side, {v.data + 2 * side});
      }
      g.sync();
    }
    return v;
  }

 private:
  /// Solutions of sides k .. k + P - 1: tiles of entries and sides that fit registers, 32 of them or 16.
  template <int P>
  WB_HD void substitute_lanes(int k) const {
    constexpr int R = width == 16 ? (P == 4 ? 2 : 4) : P == 4 ? 1 : 2;
    const packed_vector<T> right{b.data + 2 * k * n}, between{t.data + 2 * k * n}, left{v.data + 2 * k * n};
    int u = 0;
    for (; u + R <= n; u += R) forward<R, P>(n, m, inverse, right, n, u, between);
    for (; u < n; u++) forward<1, P>(n, m, inverse, right, n, u, between);
    for (u = 0; u + R <= n; u += R) backward<R, P>(m, between, n, u, left);
    for (; u < n; u++) backward<1, P>(m, between, n, u, left);
  }

  /// A scaled to a diagonal of ones; `inverse` gets the factors.
  WB_HD void scale() const {
    for (int u = g.rank; u < n; u += g.size) {
      const T d = m.diagonal(u);
      inverse[u] = T(1.f) / sqrt(select(d > T(0.f), d, T(1.f)));
    }
    g.sync();
    const over_matrix<G> at(g);
    for (int r = at.y; r < n; r += at.down)
      for (int c = at.x; c <= r; c += at.across) m.put(r, c, (inverse[r] * inverse[c]) * m.get(r, c));
    g.sync();
  }

  WB_HD bool half_channel() const { return a.half_channel.data != nullptr; }
  WB_HD bool half_in() const { return a.half_in.data != nullptr; }
  template <class S>
  WB_HD static S* row_of(const view<S>& x, std::size_t item) {
    return x.data + item * x.item_stride;
  }
  WB_HD std::size_t vector_number(std::size_t frame, int symbol) const {
    return frame * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(symbol);
  }
  WB_HD const cx_pair* channel_of(std::size_t frame) const { return row_of(a.channel, frame); }
  WB_HD const cx_pair* vector_of(std::size_t frame, int symbol) const {
    return row_of(a.in, vector_number(frame, symbol));
  }

  // ------------------------------------------------------------------------------------------- CPU

  /// Tiles of R rows and all columns up to `last`.
  template <int R, class X>
  WB_HD void tiles(const antenna_rows<X>& x, const antenna_rows<E>& h, int last, E* out, int row,
                   read_ahead& ahead) const {
    constexpr int wide = columns<T>::count;
    int c = 0;
    if constexpr (WB_WIDTH == 16 || (R == 1 && width > 1))
      for (; c + wide < last; c += 2 * wide)
        tile_sums<R, 2, T>(x, {h.data + 2 * c, h.antenna, h.pad, h.entry}, a.antennas, p.run_log2,
                           out + 2 * c, row, ahead);
    for (; c < last; c += wide)
      tile_sums<R, 1, T>(x, {h.data + 2 * c, h.antenna, h.pad, h.entry}, a.antennas, p.run_log2, out + 2 * c,
                         row, ahead);
  }
  /// The same of the i-th run alone, for an H that is larger than the nearest cache: all tiles pass over a
  /// run before the next one is read. Loads are what holds them up, so they are as wide as there are columns.
  template <int R>
  WB_HD_CALL void strip(const antenna_rows<float>& x, const antenna_rows<float>& h, int last, int i,
                        float* out, float* kept) const {
    constexpr int wide = columns<T>::count;
    const int row = p.frame_row, plane = (n + p.sides) * row;
    const auto from = [&](int c) { return antenna_rows<float>{h.data + 2 * c, h.antenna, h.pad, h.entry}; };
    int c = 0;
    if constexpr (WB_WIDTH == 16) {
      constexpr int rows = R > 2 ? R / 2 : R;
      for (; c + 2 * wide < last; c += 4 * wide) {
        WB_ROLL for (int r = 0; r < R; r += rows) {
          const antenna_rows<float> part{x.data + r * x.entry, x.antenna, x.pad, x.entry};
          const int at = r * row + 2 * c;
          if (c + 3 * wide < last)
            fold_run<rows, 4, T>(part, from(c), a.antennas, p.run_log2, i, out + at, row, kept + at, plane);
          else
            fold_run<rows, 3, T>(part, from(c), a.antennas, p.run_log2, i, out + at, row, kept + at, plane);
        }
      }
      for (; c + wide < last; c += 2 * wide)
        fold_run<R, 2, T>(x, from(c), a.antennas, p.run_log2, i, out + 2 * c, row, kept + 2 * c, plane);
    }
    for (; c < last; c += wide)
      fold_run<R, 1, T>(x, from(c), a.antennas, p.run_log2, i, out + 2 * c, row, kept + 2 * c, plane);
  }

  /// The rows of H in memory, or a copy of them where lanes cannot read them as they lie.
  WB_HD antenna_rows<E> rows_of(std::size_t frame) const {
    if (half_channel()) {
      const half_complex* h = row_of(a.half_channel, frame);
      const std::size_t stride = a.half_channel.element_stride;
      if (stride == 1 && p.h_row == 2 * n) {
        floats_of(h, stride, memory, a.antennas * n);
      } else {
        for (int k = 0; k < a.antennas; k++) {
          E* row = memory + k * p.h_row;
          floats_of(h + static_cast<std::size_t>(k * n) * stride, stride, row, n);
          for (int i = 2 * n; i < p.h_row; i++) row[i] = E(0.f);
        }
      }
      return {memory, p.h_row, 0, 2};
    }
    const cx_pair* h = channel_of(frame);
    if constexpr (width > 1)
      if (a.channel.element_stride == 1 && n % columns<T>::count == 0)
        return {reinterpret_cast<const float*>(h), 2 * n, 0, 2};
    for (int k = 0; k < a.antennas; k++) {
      E* row = memory + k * p.h_row;
      const cx_pair* from = h + static_cast<std::size_t>(k * n) * a.channel.element_stride;
      for (int u = 0; u < n; u++) {
        row[2 * u] = from[static_cast<std::size_t>(u) * a.channel.element_stride].re;
        row[2 * u + 1] = from[static_cast<std::size_t>(u) * a.channel.element_stride].im;
      }
      for (int i = 2 * n; i < p.h_row; i++) row[i] = E(0.f);
    }
    return {memory, p.h_row, 0, 2};
  }

  /// Complex values in memory, `stride` apart, as floats side by side.
  template <class X>
  WB_HD static void floats_of(const half_complex* from, std::size_t stride, X* to, int count) {
#if !defined(__CUDACC__)
    if constexpr (std::is_same_v<X, float>)
      if (stride == 1) return halves_to_floats(from, to, count);
#endif
    for (int i = 0; i < count; i++) {
      const float_pair z = to_floats(from[static_cast<std::size_t>(i) * stride]);
      to[2 * i] = z.re;
      to[2 * i + 1] = z.im;
    }
  }

  WB_HD bool small_channel() const { return a.antennas * p.h_row <= most_floats_near; }
  /// What the next frame will read, where it lies in one piece.
  WB_HD read_ahead next_channel(std::size_t frame, int symbol) const {
    return half_channel() ? next_channel(a.half_channel, frame, symbol)
                          : next_channel(a.channel, frame, symbol);
  }
  template <class S>
  WB_HD read_ahead next_channel(const view<const S>& h, std::size_t frame, int symbol) const {
    if (h.element_stride != 1 || frame + 1 >= h.items || symbol != 0) return {nullptr, nullptr, 0, false};
    const int bytes = static_cast<int>(sizeof(S)) * a.antennas * n, tiles_down = (n + 3) / 4;
    return ahead_of(row_of(h, frame + 1), bytes, tiles_down);
  }
  WB_HD read_ahead next_vectors(std::size_t frame, int symbol, int count) const {
    return half_in() ? next_vectors(a.half_in, frame, symbol, count)
                     : next_vectors(a.in, frame, symbol, count);
  }
  template <class S>
  WB_HD read_ahead next_vectors(const view<const S>& y, std::size_t frame, int symbol, int count) const {
    if (y.element_stride != 1 || y.item_stride != static_cast<std::size_t>(a.antennas) ||
        vector_number(frame + 1, 0) >= y.items)
      return {nullptr, nullptr, 0, false};
    const int bytes = static_cast<int>(sizeof(S)) * a.antennas * count,
              tiles_down = count / 4 + count % 4 / 2 + count % 2;
    return ahead_of(row_of(y, vector_number(frame + 1, symbol)), bytes, tiles_down);
  }
  WB_HD read_ahead ahead_of(const void* from, int bytes, int tiles_down) const {
    const char* at = static_cast<const char*>(from);
    return {at, at + bytes, bytes / (64 * antenna_runs * tiles_down) + 1, small_channel()};
  }

  template <bool Filter>
  WB_HD void host_products(int symbol, int count, bool gram) const {
    for (int f = 0; f < valid; f++) {
      const std::size_t frame = first + static_cast<std::size_t>(f);
      const antenna_rows<E> h = rows_of(frame);
      read_ahead ahead = next_channel(frame, symbol);
      auto antenna = static_cast<antenna_stride>(2 * a.in.element_stride),
           vector = static_cast<antenna_stride>(2 * a.in.item_stride);
      const float* vectors = nullptr;
      if constexpr (Filter) {
        if (half_in()) {
          antenna = 2, vector = p.y_row;
          vectors = floats_of_vectors(frame, symbol, count);
        } else {
          vectors = reinterpret_cast<const float*>(vector_of(frame, symbol));
        }
      }
      const auto rows_at = [&](int r) { return antenna_rows<E>{h.data + 2 * r, h.antenna, 0, 2}; };
      const auto sides_at = [&](int k) {
        return antenna_rows<float>{vectors + k * vector, antenna, 0, vector};
      };
      // Sums of lanes of columns go to a place of the frame's own first.
      E *square, *filtered;
      int row = 2 * p.ld, side = 2 * n;
      if constexpr (width == 1) {
        square = m.data;
        filtered = b.data;
      } else {
        square = memory + p.frame_sums + f * (n + p.sides) * p.frame_row;
        filtered = square + n * p.frame_row;
        row = side = p.frame_row;
      }
      if constexpr (width > 1) {
        if (!small_channel()) {
          float* kept = memory + p.kept;
          read_ahead vectors_ahead{nullptr, nullptr, 0, false};
          if constexpr (Filter) vectors_ahead = next_vectors(frame, symbol, count);
          for (int i = 0; i < antenna_runs; i++) {
            int r = 0, k = 0;
            if (gram) {
              for (; r + 4 <= n; r += 4) {
                ahead.step();
                strip<4>(rows_at(r), h, r + 4, i, square + r * row, kept + r * row);
              }
              for (; r < n; r++) strip<1>(rows_at(r), h, r + 1, i, square + r * row, kept + r * row);
            }
            if constexpr (Filter) {
              for (; k + 4 <= count; k += 4) {
                vectors_ahead.step();
                strip<4>(sides_at(k), h, n, i, filtered + k * row, kept + (n + k) * row);
              }
              for (; k + 2 <= count; k += 2) {
                vectors_ahead.step();
                strip<2>(sides_at(k), h, n, i, filtered + k * row, kept + (n + k) * row);
              }
              if (k < count) {
                vectors_ahead.step();
                strip<1>(sides_at(k), h, n, i, filtered + k * row, kept + (n + k) * row);
              }
            }
          }
          continue;
        }
      }
      if (gram) {
        int r = 0;
        for (; r + 4 <= n; r += 4) tiles<4, E>(rows_at(r), h, r + 4, square + r * row, row, ahead);
        for (; r < n; r++) tiles<1, E>(rows_at(r), h, r + 1, square + r * row, row, ahead);
      }
      if constexpr (Filter) {
        ahead = next_vectors(frame, symbol, count);
        int k = 0;
        for (; k + 4 <= count; k += 4) tiles<4, float>(sides_at(k), h, n, filtered + k * side, side, ahead);
        for (; k + 2 <= count; k += 2) tiles<2, float>(sides_at(k), h, n, filtered + k * side, side, ahead);
        if (k < count) tiles<1, float>(sides_at(k), h, n, filtered + k * side, side, ahead);
      }
    }
    if constexpr (width > 1) {
      if (gram)
        for (int r = 0; r < n; r++) turn(r, r + 1, m.data + 2 * r * p.ld);
      if constexpr (Filter)
        for (int k = 0; k < count; k++) turn(n + k, n, b.data + 2 * k * n);
    }
  }
  /// Vectors that came as halves, in scratch memory.
  WB_HD const float* floats_of_vectors(std::size_t frame, int symbol, int count) const {
    auto* y = reinterpret_cast<float*>(memory + p.staged_y);
    for (int k = 0; k < count; k++)
      floats_of(row_of(a.half_in, vector_number(frame, symbol + k)), a.half_in.element_stride,
                y + k * p.y_row, a.antennas);
    return y;
  }
  /// Row `row` of the sums of all frames, `entries` of it, to lanes of frames.
  WB_HD void turn(int row, int entries, T* to) const {
    if constexpr (width > 1) {
      const std::size_t stride = static_cast<std::size_t>((n + p.sides) * p.frame_row);
      const view<const float> sums{memory + p.frame_sums + row * p.frame_row, stride,
                                   static_cast<std::size_t>(valid), 1, stride};
      for (int i = 0; i < 2 * entries; i += width) {
        T x[width];
        load_square(sums, static_cast<std::size_t>(i), item<T>{0, valid}, x);
        for (int j = 0; j < width && i + j < 2 * entries; j++) to[i + j] = x[j];
      }
    }
  }

  // ------------------------------------------------------------------------------------------- CUDA

  template <bool Filter>
  WB_HD void device_products(int symbol, int count, bool gram) const {
#if defined(__CUDACC__)
    float *h = memory, *y = memory + p.staged_y;
    if (symbol == 0) stage_channel(h);
    if constexpr (Filter) stage_vectors(y, symbol, count);
    g.sync();
    const antenna_rows<float> columns_of_h{h, p.h_row, p.h_pad, 2};
    const int tiles_down = (n + 3) / 4, grams = gram ? tiles_down * (tiles_down + 1) / 2 : 0;
    const int single = count == 1, filters = Filter ? tiles_down * (single ? 1 : (count + 3) / 4) : 0;
    for (int i = g.rank / antenna_runs; i < grams + filters; i += g.size / antenna_runs) {
      if (i < grams) {
        int down = 0;
        while ((down + 1) * (down + 2) / 2 <= i) down++;
        const int r0 = 4 * down, c0 = 4 * (i - down * (down + 1) / 2);
        shared_tile_sums<4>({h + 2 * r0, p.h_row, p.h_pad, 2}, {h + 2 * c0, p.h_row, p.h_pad, 2}, a.antennas,
                            p.run_log2, [&](int r, int c, int part, float x) {
                              if (r0 + r < n && c0 + c <= r0 + r)
                                m.data[2 * ((r0 + r) * p.ld + c0 + c) + part] = x;
                            });
      } else {
        const int down = (i - grams) / tiles_down, c0 = 4 * (i - grams - down * tiles_down), k0 = 4 * down;
        const auto put = [&](int k, int c, int part, float x) {
          if (k0 + k < count && c0 + c < n) b.data[2 * ((k0 + k) * n + c0 + c) + part] = x;
        };
        const antenna_rows<float> right{h + 2 * c0, p.h_row, p.h_pad, 2},
            left{y + 2 * k0, p.y_row, p.y_pad, 2};
        if (single)
          shared_tile_sums<1>(left, right, a.antennas, p.run_log2, put);
        else
          shared_tile_sums<4>(left, right, a.antennas, p.run_log2, put);
      }
    }
    g.sync();
#endif
  }
#if defined(__CUDACC__)
  WB_HD float* staged(float* h, int antenna) const {
    return h + antenna * p.h_row + (antenna >> p.run_log2) * p.h_pad;
  }
  WB_HD void stage_half_channel(float* h) const {
    const half_complex* from = row_of(a.half_channel, first);
    const std::size_t stride = a.half_channel.element_stride;
    if (n % 4 == 0 && stride == 1 && reinterpret_cast<std::uintptr_t>(from) % sizeof(uint4) == 0) {
      const auto* fours = reinterpret_cast<const uint4*>(from);
      const int quarter = n / 4, all = a.antennas * quarter;
      for (int i = g.rank; i < all; i += 4 * g.size) {  // four on their way at once
        uint4 x[4];
        WB_UNROLL for (int j = 0; j < 4; j++) if (i + j * g.size < all) x[j] = fours[i + j * g.size];
        WB_UNROLL for (int j = 0; j < 4; j++) {
          const int at = i + j * g.size, k = at / quarter;
          if (at >= all) continue;
          auto* to = reinterpret_cast<float4*>(staged(h, k) + 8 * (at - k * quarter));
          const float2 z[4] = {to_floats(x[j].x), to_floats(x[j].y), to_floats(x[j].z), to_floats(x[j].w)};
          to[0] = {z[0].x, z[0].y, z[1].x, z[1].y};
          to[1] = {z[2].x, z[2].y, z[3].x, z[3].y};
        }
      }
    } else {
      for (int i = g.rank; i < a.antennas * n; i += g.size) {
        const int k = i / n;
        const float_pair z = to_floats(from[static_cast<std::size_t>(i) * stride]);
        float* to = staged(h, k) + 2 * (i - k * n);
        to[0] = z.re;
        to[1] = z.im;
      }
    }
  }
  WB_HD void stage_channel(float* h) const {
    if (half_channel()) return stage_half_channel(h);
    const cx_pair* from = channel_of(first);
    if (n % 2 == 0 && a.channel.element_stride == 1 &&
        reinterpret_cast<std::uintptr_t>(from) % sizeof(float4) == 0) {
      const auto* pairs = reinterpret_cast<const float4*>(from);
      const int half = n / 2, all = a.antennas * half;
      for (int i = g.rank; i < all; i += 8 * g.size) {  // eight on their way at once
        float4 x[8];
        WB_UNROLL for (int j = 0; j < 8; j++) if (i + j * g.size < all) x[j] = pairs[i + j * g.size];
        WB_UNROLL for (int j = 0; j < 8; j++) {
          const int at = i + j * g.size, k = at / half;
          if (at < all) *reinterpret_cast<float4*>(staged(h, k) + 4 * (at - k * half)) = x[j];
        }
      }
    } else {
      for (int i = g.rank; i < a.antennas * n; i += g.size) {
        const int k = i / n;
        const cx_pair z = from[static_cast<std::size_t>(i) * a.channel.element_stride];
        float* to = staged(h, k) + 2 * (i - k * n);
        to[0] = z.re;
        to[1] = z.im;
      }
    }
  }
  WB_HD void stage_vectors(float* y, int symbol, int count) const {
    for (int i = g.rank; i < count * a.antennas; i += g.size) {
      const int side = i / a.antennas, k = i - side * a.antennas;
      const std::size_t vector = vector_number(first, symbol + side), antenna = static_cast<std::size_t>(k);
      float_pair z;
      if (half_in()) {
        z = to_floats(row_of(a.half_in, vector)[antenna * a.half_in.element_stride]);
      } else {
        const cx_pair from = row_of(a.in, vector)[antenna * a.in.element_stride];
        z = {from.re, from.im};
      }
      float* to = y + k * p.y_row + (k >> p.run_log2) * p.y_pad + 2 * side;
      to[0] = z.re;
      to[1] = z.im;
    }
  }
#endif
};

}  // namespace WB_ISA
}  // namespace wb
