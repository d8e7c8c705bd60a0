#pragma once
// How a call of the generic kernels is laid out in scratch memory. How many threads it takes on a CUDA device
// and how many operations it needs.
#include <warpband/core/size.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/linalg/gram/gram_body.hpp>
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

/// What the ops of the engine have in common: the arguments of a call, and its layout in scratch memory.
struct massive_call {
  massive_args a;
  massive_plan p;
  int at_once;
  static constexpr bool by_block = true;
  static constexpr int most_threads = massive_most_threads, resident = massive_resident;
  massive_call(const massive_args& args, bool downlink)
      : a(args), p(massive_plan::of(args, width_of<lane>, downlink)), at_once(p.at_once) {}
  std::size_t scratch_bytes(int) const {
    return static_cast<std::size_t>(p.values) * sizeof(lane) +
           static_cast<std::size_t>(p.floats) * sizeof(float);
  }
};

/// Threads of a block. The tiles take two rounds of at most 128 threads, or more: with fewer threads to a
/// frame more frames are in flight, whose decompositions hide each other's latency. Where shared memory holds
/// few frames, of 256.
inline int massive_threads(const massive_args& a, const massive_plan& p, bool filter) {
  const int down = (a.users + 3) / 4;
  const int tiles = down * (down + 1) / 2 + (filter ? down * (p.sides == 1 ? 1 : (p.sides + 3) / 4) : 0);
  const int max_threads = p.values + p.floats > 14000 ? massive_most_threads : 128;
  int rounds = (tiles * antenna_runs + max_threads - 1) / max_threads;
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
  if (a.solver == massive_solver::cholesky || a.solver == massive_solver::zf) {
    double updates = 0, factors = 0;
    for (double k = n - 1; k > 0; k--) {
      updates += k * (k + 1) / 2 + (n - 1 - k) * k;
      factors += n - 1;
    }
    f += n * (division_flops + 1) + 4 * updates + 3 * factors + n * (n - 1);
    f += sides * (n * 2 + 4 * n * (n - 1));
    if (filter && a.exact_sinr) f += 4 * n * (n - 1) / 2 + n * (3 + 2 * division_flops);
  } else if (is_iterative(a.solver)) {
    const double scaled = a.solver != massive_solver::cg;
    f += scaled * (n * (square_root_flops + division_flops) + 3 * n * (n + 1) / 2 + sides * 4 * n);
    if (a.solver == massive_solver::chebyshev)
      f += n * (n - 1) * (4 + square_root_flops) + 3 * n + square_root_flops + 2 * division_flops +
           (a.iterations - 1) * (division_flops + 3) + sides * (2 * n + (a.iterations - 1) * 4 * n);
    if (a.solver == massive_solver::neumann || a.solver == massive_solver::chebyshev)
      f += sides * (a.iterations - 1) * (4 * n * n + 8 * n);
    else if (a.solver == massive_solver::gauss_seidel)
      f += sides * a.iterations * n * (4 * (n - 1) + 2);
    else
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

}  // namespace WB_ISA
}  // namespace wb
