#pragma once
// How a call of the detector maps to a CUDA device: which kernel it takes, how many producer and solver warps
// a block has, and the layout of its shared memory. Host code, without CUDA.
//
// A kernel is built for each policy: a number of users, a new H for each vector or an H that several vectors
// share, and the arithmetic of the sums. Rates are coded Gb/s of 16-QAM on an H100 80GB HBM3 in November
// 2026, data in place, beside the bound of `warpband bench`. docs/notes/2026-11-uplink-frames.md has the
// alternatives.
//
// Frames of 8, 16, 24 and 32 users have kernels of their own (uplink_frames.hpp) if `takes_frames` says so:
// the table `frame_rules` lists them, and their data are laid out as these kernels need. H and y are
// contiguous, at multiples of 16 bytes. The solver is Cholesky, conjugate gradients, ZF or MF. The number of
// antennas is even, for halves a multiple of four. The LLRs of a vector are contiguous. All other calls take
// the generic kernel. With float32 sums both give the same bits.
//
// Shared memory of a block, in floats (`frame_plan`):
//
//   [0]           buffers x buffer   ring of H, `parts` buffers a frame
//   [vectors_at]  areas x vectors    y: one area for each frame of the ring, or one for each team
//   [unpacked_at] teams x sums       if H and y come as halves: H and y as floats
//   [slots_at]    slots x `frame_shape::floats`    ring of sums, from producers to solvers
//   [scratch]     teams x `scratch` of the policy  memory of the producers
//   [barriers]    2 buffers + teams + 2 slots mbarriers, two floats each
#include <warpband/massive/frame_layout.hpp>

namespace wb {
inline namespace WB_ISA {

/// How the warps of a block are divided: teams of producer warps, and solver warps.
struct warp_split {
  int teams, solvers;
  /// Whether conjugate gradients may use it. They need more solvers than a decomposition.
  bool iterative = true;
};

/// Memory of a team that sums on tensor cores (tensor_sums.hpp), offsets in floats: energies of users;
/// inverse scale of users and of vectors; partial energies and partial H^H y of `subsets` of the antennas.
template <int U, bool Many>
struct tensor_scratch {
  /// A subset is that of a warp. Where teams may share a frame the number is fixed, so that one team and
  /// several add in the same order.
  static constexpr bool fixed = U == 16 && Many;
  static constexpr int subsets = fixed     ? 16
                                 : U == 32 ? 4
                                           : 1,
                       energy = 0, inverse = U, vector_inverse = 2 * U, energies = vector_inverse + 16,
                       filters = energies + subsets * U, floats = filters + (Many ? 0 : 2 * subsets * U);
  static_assert(vector_inverse + frame_sides <= energies);
};

/// What most policies have in common. `Many`: several vectors share H.
template <int Users, bool Many>
struct uplink_policy {
  using shape = frame_shape<Users, Many>;
  using sums = detector_sums<Users, Many>;
  static constexpr int users = Users;
  static constexpr bool many = Many;
  /// Sums on tensor cores.
  static constexpr bool tensor = false;
  /// Producer warps of a team; buffers of each team at most, in frames.
  static constexpr int team = 1, most_buffers = 3;
  /// Buffers that H of a frame takes: two, if each has half of the antennas.
  static constexpr int parts = 1;
  /// Whether the number of buffers need not be a multiple of teams * parts. A buffer then serves both teams
  /// in turn.
  static constexpr bool buffers_change = false;
  /// If not 0, so many warps of a team start its bulk copies, and only they wait until a buffer has been
  /// read.
  static constexpr int copiers = 0;
  /// Whether H^H y is summed before H^H H. The next vectors are then copied during the sums of H^H H, at the
  /// cost of one more named barrier.
  static constexpr bool filters_first = false;
  /// Vectors that a warp solves at once by conjugate gradients.
  static constexpr int solved_at_once = Many ? 2 : 1;
  /// Whether all warps of a block share its only frame.
  static constexpr bool shares = false;
  /// Floats of scratch memory of a team.
  static constexpr int scratch = 0;
  /// Most warps of a block. A thread then has up to 255 (8 warps), 168 (12) or 128 (16) registers.
  static constexpr int warps = 8;
};

// Each policy lists its `splits` in the order of their rates. The first that fits in shared memory is taken.

/// 9.5 for 128x8 (87 %). A frame needs less work than a copy takes, so the teams have one warp and there are
/// many.
struct uplink_8 : uplink_policy<8, false> {
  static constexpr int warps = 12;
  static constexpr warp_split splits[] = {{8, 4}, {6, 3}, {4, 2}, {2, 2}, {1, 1}};
};
/// 42 for 128x8 (72 %).
struct uplink_8_shared : uplink_policy<8, true> {
  static constexpr int warps = 16;
  static constexpr warp_split splits[] = {{8, 8}, {4, 4}, {2, 2}, {1, 1}};
};

/// 9.5 for 128x16 (82 % of the bound).
struct uplink_16 : uplink_policy<16, false> {
  static constexpr warp_split splits[] = {{4, 4}, {3, 3}, {2, 4}, {2, 3, false}, {2, 2}, {1, 2}};
};
/// 45 for 128x16 and 14 vectors (54 %).
struct uplink_16_shared : uplink_policy<16, true> {
  static constexpr bool shares = true;
  static constexpr int solved_at_once = 4;
  static constexpr warp_split splits[] = {{4, 4}, {3, 3}, {2, 4}, {2, 3, false}, {2, 2}, {1, 2}};
};
/// 10.4 for 128x16 (90 %).
struct uplink_16_split : uplink_policy<16, false> {
  static constexpr bool tensor = true;
  static constexpr int warps = 16, scratch = tensor_scratch<16, false>::floats;
  static constexpr warp_split splits[] = {{8, 8}, {6, 6}, {4, 8}, {4, 4}, {2, 4}, {1, 2}};
};
/// 56 for 128x16 and 14 vectors (67 %).
struct uplink_16_split_shared : uplink_16_shared {
  static constexpr bool tensor = true;
  static constexpr int warps = 12, team = 2, scratch = tensor_scratch<16, true>::floats;
  static constexpr int solved_at_once = 2;  // a thread has 168 registers
};

/// 3.4 for 128x24 (29 %). The warp of the rectangle sums least, and starts the copies.
struct uplink_24 : uplink_policy<24, false> {
  static constexpr int team = 3, scratch = team * run_scratch, copiers = 1;
  static constexpr warp_split splits[] = {{2, 2}, {1, 4}, {1, 3}, {1, 2}, {1, 1}};
};
/// 21 for 128x24 (21 %).
struct uplink_24_shared : uplink_policy<24, true> {
  static constexpr int team = 3, scratch = team * run_scratch, copiers = 1;
  static constexpr bool filters_first = true;
  static constexpr warp_split splits[] = {{2, 2}, {1, 4}, {1, 3}, {1, 2}, {1, 1}};
};

/// 2.9 for 256x32 (48 %).
struct uplink_32 : uplink_policy<32, false> {
  static constexpr int team = 4, scratch = team * run_scratch, copiers = 2;
  static constexpr warp_split splits[] = {{1, 4}, {1, 3}, {1, 2}, {1, 1}};
};
/// 23 for 256x32 and 14 vectors (48 %).
struct uplink_32_shared : uplink_policy<32, true> {
  static constexpr int team = 4, scratch = team * run_scratch;
  static constexpr bool filters_first = true;
  static constexpr warp_split splits[] = {{1, 4}, {1, 3}, {1, 2}, {1, 1}};
};
/// 4.0 for 256x32 (68 %). Shared memory has five half frames of 256x32, where only two whole frames fit.
struct uplink_32_split : uplink_policy<32, false> {
  static constexpr bool tensor = true, buffers_change = true;
  static constexpr int warps = 16, team = 4, parts = 2, scratch = parts * tensor_scratch<32, false>::floats;
  static constexpr warp_split splits[] = {{2, 8}, {2, 3, false}, {1, 4}, {1, 3}, {1, 2}, {1, 1}};
};
/// 29 for 256x32 and 14 vectors.
struct uplink_32_split_shared : uplink_policy<32, true> {
  static constexpr bool tensor = true, buffers_change = true;
  static constexpr int warps = 12, team = 4, scratch = tensor_scratch<32, true>::floats;
  static constexpr warp_split splits[] = {{2, 4}, {2, 3, false}, {1, 4}, {1, 3}, {1, 2}, {1, 1}};
};

/// f.operator()<Policy>() with the policy of a call of 8, 16, 24 or 32 users; for other numbers of users
/// a value-initialised result.
template <class F>
auto with_uplink_policy(const massive_args& a, F f) {
  if (a.users == 8) return with_policy<uplink_8, uplink_8_shared>(a, f);
  if (a.users == 24) return with_policy<uplink_24, uplink_24_shared>(a, f);
  if (a.users == 16)
    return a.split_f16 ? with_policy<uplink_16_split, uplink_16_split_shared>(a, f)
                       : with_policy<uplink_16, uplink_16_shared>(a, f);
  if (a.users == 32)
    return a.split_f16 ? with_policy<uplink_32_split, uplink_32_split_shared>(a, f)
                       : with_policy<uplink_32, uplink_32_shared>(a, f);
  return decltype(f.template operator()<uplink_8>())();
}

/// Slots of a block.
template <class P>
constexpr int slots_of(const warp_split& s) {
  return s.solvers * P::shape::frames;
}
/// Whether the splits of a policy are valid: at least one slot for each team, each filled by one team or by
/// two in turn (exec/ring.hpp), and at most `warps` warps.
template <class P>
constexpr bool splits_hold() {
  for (const warp_split& s : P::splits) {
    const int slots = slots_of<P>(s);
    if (slots < s.teams || (slots % s.teams != 0 && s.teams > 2) || P::team * s.teams + s.solvers > P::warps)
      return false;
  }
  return true;
}
/// Whether a slot may be filled by one team and then by another.
template <class P>
constexpr bool slots_change_teams() {
  for (const warp_split& s : P::splits)
    if (slots_of<P>(s) % s.teams != 0) return true;
  return false;
}

/// How the vectors of a frame are divided into groups of at most `sides`, from `group_begin` on
/// (frame_block.hpp). A slot holds one group after the other.
///
/// A decomposition takes all but the last group full. Conjugate gradients take groups that differ by at most
/// one pair, as a warp solves two vectors at once. There is then no short last group, and a solver is never
/// busy for long before the producers may write the next group. The number of groups, and the number of
/// pairs, are the least possible.
struct vector_groups {
  int count = 1;
  int size = 1, smaller = 1;  // vectors of the first `smaller` groups; the others have two more

  static vector_groups of(int symbols, int sides, bool in_pairs) {
    vector_groups v;
    v.count = (symbols + sides - 1) / sides;
    const int pairs = (symbols + 1) / 2;
    v.size = in_pairs ? pairs / v.count * 2 : sides;
    v.smaller = in_pairs ? v.count - pairs % v.count : v.count;
    return v;
  }
};

/// Layout of the block's shared memory; offsets and sizes in floats, as the first comment of this file shows.
struct frame_plan : frame_samples {
  vector_groups groups;
  int teams, solvers, slots, buffers;
  int buffer, vectors, areas;  // size of a buffer and of a vector area; number of vector areas
  int vectors_at, unpacked_at, slots_at, scratch, barriers, floats;  // offsets; size of all

  /// The plan of a call; `buffers` is 0 where nothing fits into `shared_bytes`.
  template <class P>
  static frame_plan of(const massive_args& a, std::size_t shared_bytes) {
    using Shape = typename P::shape;
    static_assert(splits_hold<P>());
    frame_plan p{};
    static_cast<frame_samples&>(p) =
        of_samples(a.antennas, a.users, Shape::sides, P::tensor, P::sums::turned);
    const bool halves = a.half_channel.data != nullptr;
    const int channel = halves ? a.antennas * a.users : p.y;
    p.groups = vector_groups::of(a.symbols, Shape::sides, is_iterative(a.solver));
    p.buffer = P::parts == 1 ? channel : (halves ? 4 : 8) * p.octets * a.users;
    p.vectors = halves ? a.antennas * Shape::sides : p.sums - p.y;
    const int max_floats = static_cast<int>(shared_bytes / sizeof(float));
    for (const warp_split& split : P::splits) {
      p.teams = split.teams, p.solvers = split.solvers, p.slots = slots_of<P>(split);
      // More than 14 vectors: a slot is filled once for each group of a frame. The frames of a solver warp go
      // from group to group together, so they need different teams. And only one team may fill a slot, since
      // a team counts the phases of its own frames only.
      if (a.symbols > Shape::sides && (p.teams < Shape::frames || p.slots % p.teams != 0)) continue;
      if (is_iterative(a.solver) && !split.iterative) continue;
      const int least = p.teams * P::parts, fewer = P::buffers_change && p.teams <= 2 ? 1 : least;
      for (p.buffers = P::most_buffers * least; p.buffers >= least; p.buffers -= fewer) {
        p.areas = P::many ? p.teams : (p.buffers + P::parts - 1) / P::parts;
        p.vectors_at = p.buffers * p.buffer;
        p.unpacked_at = p.vectors_at + p.areas * p.vectors;
        p.slots_at = p.unpacked_at + (halves ? p.teams * p.sums : 0);
        p.scratch = p.slots_at + p.slots * Shape::floats;
        p.barriers = p.scratch + p.teams * P::scratch;
        p.floats = p.barriers + 2 * (2 * p.buffers + p.teams + 2 * p.slots);
        if (p.floats <= max_floats) return p;
      }
    }
    p.buffers = 0;
    return p;
  }
  /// The plan of a call with the policy for it.
  static frame_plan of_call(const massive_args& a, std::size_t shared_bytes) {
    return with_uplink_policy(a, [&]<class P>() { return of<P>(a, shared_bytes); });
  }
  template <class P>
  int threads() const {
    return 32 * (P::team * teams + solvers);
  }
};

/// From how many antennas on the kernels of uplink_frames.hpp are taken, for any number of vectors that share
/// an H. Conjugate gradients may need more antennas.
struct frame_rule {
  int users, least_antennas, least_antennas_iterative;
};
/// Where they are faster than the generic kernel on an H100. For 24 users the generic kernel was not
/// measured.
inline constexpr frame_rule frame_rules[] = {{8, 16, 16}, {16, 16, 16}, {24, 24, 24}, {32, 16, 128}};

/// Whether a call takes the kernels of uplink_frames.hpp on a device whose blocks have `shared_bytes`.
inline bool takes_frames(const massive_args& a, std::size_t shared_bytes) {
  const bool iterative = is_iterative(a.solver);
  for (const frame_rule& r : frame_rules)
    if (a.users == r.users && a.antennas >= (iterative ? r.least_antennas_iterative : r.least_antennas))
      return detects_in_pieces(a) && frame_plan::of_call(a, shared_bytes).buffers > 0;
  return false;
}

}  // namespace WB_ISA
}  // namespace wb
