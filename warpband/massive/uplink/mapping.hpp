#pragma once
// How a call of the detector maps to a CUDA device: which kernel it takes, how many producer and solver warps
// a block has, and the layout of its shared memory. Host code, without CUDA.
//
// Frames of 16 and 32 users have kernels of their own (uplink_frames.hpp) if `takes_frames` says so: the
// table `frame_rules` lists them, and their data are laid out as these kernels need. H and y are contiguous,
// at multiples of 16 bytes. The number of antennas is even, for halves a multiple of four. The LLRs of a
// vector are contiguous. All other calls take the generic kernel. With float32 sums both give the same bits.
//
// Shared memory of a block, in floats (`frame_plan`):
//
//   [0]           buffers x buffer   ring of H, `parts` buffers a frame
//   [vectors_at]  places x vectors   y: one area for each frame of the ring, or one for each team
//   [own]         teams x sums       if H and y come as halves: H and y as floats
//   [slots_at]    slots x `frame_shape::floats`    ring of sums, from producers to solvers
//   [scratch]     teams x `frame_roles::scratch`   memory of the producers
//   [barriers]    2 buffers + teams + 2 slots mbarriers, two floats each
#include <array>
#include <cstddef>
#include <cstdint>

#include <warpband/massive/frame_layout.hpp>
#include <warpband/massive/massive_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Memory of a team that sums on tensor cores (tensor_sums.hpp), offsets in floats: energies of users;
/// inverse scale of users and of vectors; partial energies and partial H^H y of `strands` subsets of the
/// antennas.
template <int U, bool Many>
struct tensor_scratch {
  /// A subset is that of a warp. Where teams may share a frame the number is fixed, so that one team and
  /// several add in the same order.
  static constexpr bool fixed = U == 16 && Many;
  static constexpr int strands = fixed     ? 16
                                 : U == 32 ? 4
                                           : 1,
                       energy = 0, inverse = U, vector_inverse = 2 * U, energies = vector_inverse + 16,
                       filters = energies + strands * U, floats = filters + (Many ? 0 : 2 * strands * U);
  static_assert(vector_inverse + frame_sides <= energies);
};

/// Teams of producer warps and number of solver warps of a block.
struct frame_trades {
  int teams, solvers;
};
/// Warp counts and tile sizes of a kernel. `Many`: frames have several vectors. `Tensor`: sums on tensor
/// cores.
template <int U, bool Many, bool Tensor>
struct frame_roles {
  using shape = frame_shape<U, Many>;
  /// `turned`: see `frame_sums`. `team`: producer warps of a team. `most_buffers`: of each team, in frames.
  static constexpr bool tensor = Tensor, turned = U == 16;
  static constexpr int team = U == 32          ? 4
                              : Tensor && Many ? 2
                                               : 1,
                       frames_of_solver = 32 / U, most_buffers = 3;
  /// Buffers that H of a frame takes. With two, shared memory has 5 half frames of 256x32, where only two
  /// whole frames fit.
  static constexpr int parts = Tensor && U == 32 && !Many ? 2 : 1;
  /// Whether the number of buffers need not be a multiple of teams * parts. A buffer then serves both teams
  /// in turn.
  static constexpr bool buffers_change = Tensor && U == 32;
  /// Floats of scratch memory of a team.
  static constexpr int scratch = Tensor    ? parts * tensor_scratch<U, Many>::floats
                                 : U == 32 ? team * run_scratch
                                           : 0;
  /// Most warps of a block. A thread then has up to 255 (8 warps), 168 (12) or 128 (16) registers.
  static constexpr int warps = !Tensor ? 8 : (U == 16 || Tensor) && !Many ? 16 : 12, threads = 32 * warps;
  /// The first that fits in shared memory is taken. The order is that of the rates measured on an H100.
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

/// Whether a list is valid: at least one slot for each team, and at most `warps` warps.
template <class Roles>
constexpr bool trades_hold() {
  for (const frame_trades& t : Roles::trades()) {
    if (t.teams == 0) break;
    const int slots = t.solvers * Roles::frames_of_solver;
    if (slots < t.teams || Roles::team * t.teams + t.solvers > Roles::warps) return false;
  }
  return true;
}

/// Whether a slot may be filled by one team and then by another.
template <class Roles>
constexpr bool slots_change_teams() {
  for (const frame_trades& t : Roles::trades())
    if (t.teams != 0 && t.solvers * Roles::frames_of_solver % t.teams != 0) return true;
  return false;
}

/// Layout of the block's shared memory; offsets and sizes in floats, as the first comment of this file shows.
struct frame_plan : frame_samples {
  int teams, solvers, slots, buffers;
  int buffer, vectors, places;  // size of a buffer and of a vector area; number of vector areas
  int vectors_at, own, slots_at, scratch, barriers, floats;  // offsets; size of all

  /// The plan of a call; `buffers` is 0 where nothing fits into `shared_bytes`.
  template <class Roles>
  static frame_plan of(const massive_args& a, std::size_t shared_bytes) {
    using Shape = typename Roles::shape;
    static_assert(trades_hold<Roles>());
    frame_plan p{};
    static_cast<frame_samples&>(p) =
        of_samples(a.antennas, a.users, Shape::sides, Roles::tensor, Roles::turned);
    const bool halves = a.half_channel.data != nullptr, many = Shape::sides > 1;
    const int channel = halves ? a.antennas * a.users : p.y,
              vectors = halves ? a.antennas * Shape::sides : p.sums - p.y;
    p.buffer = Roles::parts == 1 ? channel : (halves ? 4 : 8) * p.octets * a.users;
    p.vectors = vectors;
    const int most = static_cast<int>(shared_bytes / sizeof(float));
    for (const frame_trades& t : Roles::trades()) {
      if (t.teams == 0) break;
      // More than 14 vectors: a slot is filled once for each group of a frame. The frames of a solver warp go
      // from group to group together, so they need different teams. And only one team may fill a slot, since
      // a team counts the phases of its own frames only.
      if (a.symbols > Shape::sides &&
          (t.teams < Roles::frames_of_solver || t.solvers * Roles::frames_of_solver % t.teams != 0))
        continue;
      // Conjugate gradients need more solvers.
      if (is_iterative(a.mode) && t.teams == 2 && t.solvers == 3) continue;
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
  /// The plan of a call with 16 or 32 users.
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

/// A rule of the table: from how many antennas on the kernels of uplink_frames.hpp are taken and, where
/// frames have several vectors, how many the last group of 14 must have.
struct frame_rule {
  int users;
  massive_mode mode;
  int least_antennas, least_of_last_group;
};
/// Where they are faster than the generic kernel, measured on an H100.
inline constexpr frame_rule frame_rules[] = {
    {16, massive_mode::cholesky, 16, 1},  {16, massive_mode::zf, 16, 1},
    {16, massive_mode::mf, 16, 1},        {16, massive_mode::cg, 16, 6},
    {16, massive_mode::jacobi_cg, 16, 6}, {32, massive_mode::cholesky, 16, 1},
    {32, massive_mode::zf, 16, 1},        {32, massive_mode::mf, 16, 1},
    {32, massive_mode::cg, 128, 6},       {32, massive_mode::jacobi_cg, 128, 6},
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
