#pragma once
// How a call of the detector maps to a CUDA device. Frames of 16 and 32 users have kernels of their own
// (uplink_frames.hpp) where the table below says so and their data lie as those need it: H and y item by
// item, from multiples of 16 bytes, an even number of antennas, one of halves a multiple of four, LLRs side
// by side. All else takes the generic kernel. Either way float32 sums have the same bits.
#include <array>
#include <cstddef>
#include <cstdint>

#include <warpband/massive/massive_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Vectors that are worked on at once where frames have several, and those whose filters a warp sums.
inline constexpr int frame_sides = 14, sides_of_warp = 7;
/// Runs of antennas (linalg/gram).
inline constexpr int frame_runs = 8;
/// Floats of shared memory in which a warp's sums over runs of 32 users meet.
inline constexpr int run_scratch = 4 * frame_runs * 32;

/// What warps hand to each other of a frame: floats of its sums and results, the matrix first, of which the
/// detector keeps what is below the diagonal (frame_matrix.hpp). `Many`: frames of several vectors.
template <int U, bool Many, int Matrix = U * U>
struct frame_shape {
  static_assert(U == 16 || U == 32);
  static constexpr int sides = Many ? frame_sides : 1, side_floats = 2 * U + (Many ? 4 : 0);
  static constexpr int diagonal = Matrix, right = diagonal + U, inverse = right + sides * side_floats,
                       work = inverse + U;
  /// Memory of the solver, two lines of a matrix or two values for each user of each vector that conjugate
  /// gradients take at once; frames that a warp solves side by side do not meet in a bank.
  static constexpr int work_floats = (Many ? 8 : 4) * U, floats = (work + work_floats + 31) / 32 * 32 + 4;
};

/// Memory of a team whose sums are on tensor cores (tensor_sums.hpp), floats from: energies of users, the
/// inverses of what they and vectors are scaled by, and energies and filters of parts of the antennas.
template <int U, bool Many>
struct tensor_scratch {
  /// Parts: those of a warp, or as many for one team as for several that share a frame.
  static constexpr bool fixed = U == 16 && Many;
  static constexpr int strands = fixed     ? 16
                                 : U == 32 ? 4
                                           : 1,
                       energy = 0, inverse = U, vector_inverse = 2 * U, energies = vector_inverse + 16,
                       filters = energies + strands * U, floats = filters + (Many ? 0 : 2 * strands * U);
  static_assert(vector_inverse + frame_sides <= energies);
};

/// What the warps of a block do, one of which a multiprocessor has: teams sum over antennas, solvers do the
/// rest; for a block's only frame see uplink_frames.hpp.
struct frame_trades {
  int teams, solvers;
};
/// `Tensor`: sums on tensor cores (tensor_sums.hpp).
template <int U, bool Many, bool Tensor>
struct frame_roles {
  using shape = frame_shape<U, Many>;
  static constexpr bool tensor = Tensor, turned = U == 16;
  static constexpr int team = U == 32          ? 4
                              : Tensor && Many ? 2
                                               : 1,
                       frames_of_solver = 32 / U, most_buffers = 3;
  /// Buffers that H of a frame takes; two teams may take turns in any number of them.
  static constexpr int parts = Tensor && U == 32 && !Many ? 2 : 1;
  static constexpr bool buffers_change = Tensor && U == 32;
  /// Floats of a team's own.
  static constexpr int scratch = Tensor    ? parts * tensor_scratch<U, Many>::floats
                                 : U == 32 ? team * run_scratch
                                           : 0;
  /// At most; threads of 8 warps have 255 registers, of 12 warps 168 and of 16 warps 128.
  static constexpr int warps = !Tensor ? 8 : (U == 16 || Tensor) && !Many ? 16 : 12, threads = 32 * warps;
  /// The first that fits is taken, as measured on an H100.
  static constexpr auto trades() {
    using list = std::array<frame_trades, 6>;
    if constexpr (U == 16)
      return Tensor && !Many ? list{{{8, 8}, {6, 6}, {4, 8}, {4, 4}, {2, 4}, {1, 2}}}
                             : list{{{4, 4}, {3, 3}, {2, 4}, {2, 3}, {2, 2}, {1, 2}}};
    else
      return Tensor ? list{{{2, Many ? 4 : 8}, {2, 3}, {1, 4}, {1, 3}, {1, 2}, {1, 1}}}
                    : list{{{1, 4}, {1, 3}, {1, 2}, {1, 1}}};
  }
};

/// Whether a list keeps to what the kernels need: a slot for each team, no more warps than a block has.
template <class Roles>
constexpr bool trades_hold() {
  for (const frame_trades& t : Roles::trades()) {
    if (t.teams == 0) break;
    const int slots = t.solvers * Roles::frames_of_solver;
    if (slots < t.teams || Roles::team * t.teams + t.solvers > Roles::warps) return false;
  }
  return true;
}

/// Whether a slot may have frames of several teams, one after the other.
template <class Roles>
constexpr bool slots_change_teams() {
  for (const frame_trades& t : Roles::trades())
    if (t.teams != 0 && t.solvers * Roles::frames_of_solver % t.teams != 0) return true;
  return false;
}

/// Where things lie in shared memory, in floats. H and the vectors of a frame come into one of a team's
/// buffers; those that come as halves become floats in memory of the team that sums them.
struct frame_plan {
  int run_log2, pad,
      pad_log2;  // antennas of a run; floats between runs of H, and how many runs have none between
  int h_run, y_run, y_side;  // floats of a run of H; from run to run of a vector, from vector to vector
  int octets;                // of antennas, on tensor cores
  int y, sums;               // of H and vectors as floats: the vectors; all
  int teams, solvers, slots, buffers;
  int buffer, vectors, places;  // floats of one, and of vectors, of a team or in turn of frames
  int vectors_at, own, slots_at, scratch, barriers, floats;  // scratch: of the teams
  int never = -1;  // a count that no loop reaches, which compilers do not know (frame_sums.hpp)

  /// `turned`: see frame_sums.hpp.
  static frame_plan of_samples(int antennas, int users, int sides, bool tensor, bool turned) {
    frame_plan p{};
    while (frame_runs << p.run_log2 < antennas) p.run_log2++;
    if (tensor) {
      // As in memory, without gaps; runs are only what is copied.
      p.octets = (antennas + 15) / 16 * 2;
      p.h_run = 2 * users << p.run_log2;
      p.y_run = 2 << p.run_log2;
      p.y_side = 16 * p.octets + (sides > 1 ? 4 : 0);
      p.y = 16 * p.octets * users;
      p.sums = p.y + sides * p.y_side;
      return p;
    }
    // With 16 bytes between runs what eight lanes read lies in all banks. Of a single vector, which the
    // device's engine copies in one piece, two floats are read for all that are of H.
    p.pad_log2 = turned ? 2 : 0;
    p.pad = 4;
    p.h_run = 2 * users << p.run_log2;
    p.y_run = (2 << p.run_log2) + (sides > 1 ? 4 : 0);
    // The last runs, which may have no antennas, take no memory.
    const int last = (antennas - 1) >> p.run_log2, left = antennas - (last << p.run_log2);
    p.y_side = last * p.y_run + 2 * left;
    p.y = last * p.h_run + p.pad * ((last + 1) >> p.pad_log2) + 2 * users * left;
    p.sums = p.y + sides * p.y_side;
    return p;
  }
  template <class Roles>
  static frame_plan of(const massive_args& a, std::size_t shared_bytes) {
    using Shape = typename Roles::shape;
    static_assert(trades_hold<Roles>());
    frame_plan p = of_samples(a.antennas, a.users, Shape::sides, Roles::tensor, Roles::turned);
    const bool halves = a.half_channel.data != nullptr, many = Shape::sides > 1;
    const int channel = halves ? a.antennas * a.users : p.y,
              vectors = halves ? a.antennas * Shape::sides : p.sums - p.y;
    p.buffer = Roles::parts == 1 ? channel : (halves ? 4 : 8) * p.octets * a.users;
    p.vectors = vectors;
    const int most = static_cast<int>(shared_bytes / sizeof(float));
    for (const frame_trades& t : Roles::trades()) {
      if (t.teams == 0) break;
      // A solver's frames go on from 14 vectors to the next ones together: they need teams of their own. And
      // a slot is then handed over several times a frame, which only one team keeps count of.
      if (a.symbols > Shape::sides &&
          (t.teams < Roles::frames_of_solver || t.solvers * Roles::frames_of_solver % t.teams != 0))
        continue;
      // Conjugate gradients are more of the solvers' work.
      if (a.mode == massive_mode::cg && t.teams == 2 && t.solvers == 3) continue;
      p.teams = t.teams, p.solvers = t.solvers;
      p.slots = p.solvers * Roles::frames_of_solver;
      const int least = p.teams * Roles::parts, fewer = Roles::buffers_change && p.teams <= 2 ? 1 : least;
      for (p.buffers = Roles::most_buffers * least; p.buffers >= least; p.buffers -= fewer) {
        p.places = many ? p.teams : (p.buffers + Roles::parts - 1) / Roles::parts;
        p.vectors_at = p.buffers * p.buffer;
        p.own = p.vectors_at + p.places * p.vectors;
        p.slots_at = p.own + (halves ? p.teams * p.sums : 0);
        p.scratch = p.slots_at + p.slots * Shape::floats;
        p.barriers = p.scratch + p.teams * Roles::scratch;
        p.floats = p.barriers + 2 * (2 * p.buffers + p.teams + 2 * p.slots);
        if (p.floats <= most) return p;
      }
    }
    p.buffers = 0;
    return p;
  }
  /// That of a call with 16 or 32 users.
  static frame_plan of_call(const massive_args& a, std::size_t shared_bytes) {
    return a.split_f16 ? of_call_with<true>(a, shared_bytes) : of_call_with<false>(a, shared_bytes);
  }
  template <bool Tensor>
  static frame_plan of_call_with(const massive_args& a, std::size_t shared_bytes) {
    const bool many = a.symbols > 1;
    if (a.users == 16)
      return many ? of<frame_roles<16, true, Tensor>>(a, shared_bytes)
                  : of<frame_roles<16, false, Tensor>>(a, shared_bytes);
    return many ? of<frame_roles<32, true, Tensor>>(a, shared_bytes)
                : of<frame_roles<32, false, Tensor>>(a, shared_bytes);
  }
};

/// A line of the table: where the kernels of their own are taken. From how many antennas on, and how many
/// vectors the last group of 14 has at least, where frames have several.
struct frame_rule {
  int users;
  massive_mode mode;
  int least_antennas, least_of_last_group;
};
/// As measured on an H100.
inline constexpr frame_rule frame_rules[] = {
    {16, massive_mode::cholesky, 16, 1}, {16, massive_mode::zf, 16, 1},       {16, massive_mode::mf, 16, 1},
    {16, massive_mode::cg, 16, 6},       {32, massive_mode::cholesky, 16, 1}, {32, massive_mode::zf, 16, 1},
    {32, massive_mode::mf, 16, 1},       {32, massive_mode::cg, 128, 6},
};

/// Whether a call takes the kernels of uplink_frames.hpp on a device whose blocks have `shared_bytes`.
inline bool takes_frames(const massive_args& a, std::size_t shared_bytes) {
  bool listed = false;
  const int last = (a.symbols - 1) % frame_sides + 1;
  for (const frame_rule& r : frame_rules)
    listed |= a.users == r.users && a.mode == r.mode && a.antennas >= r.least_antennas &&
              (a.symbols == 1 || last >= r.least_of_last_group);
  if (!listed || a.antennas % 2 != 0) return false;
  const auto aligned = [](const void* p, std::size_t to) {
    return reinterpret_cast<std::uintptr_t>(p) % to == 0;
  };
  const auto fits = [&](const auto& x, std::size_t multiple) {
    return x.element_stride == 1 && x.item_stride % multiple == 0 && aligned(x.data, 16);
  };
  if (a.half_channel.data != nullptr) {
    if (a.antennas % 4 != 0 || !fits(a.half_channel, 4) || !fits(a.half_in, 4)) return false;
  } else if (!fits(a.channel, 2) || !fits(a.in, 2)) {
    return false;
  }
  if (a.llr.data != nullptr &&
      (a.llr.element_stride != 1 || a.llr.item_stride % 2 != 0 || !aligned(a.llr.data, 8)))
    return false;
  return frame_plan::of_call(a, shared_bytes).buffers > 0;
}

}  // namespace WB_ISA
}  // namespace wb
