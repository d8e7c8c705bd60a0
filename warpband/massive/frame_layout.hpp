#pragma once
// How frames of 8, 16, 24, 32 and 64 users lie in the shared memory of a CUDA device: H and y, and the slot
// in which the sums of a frame become its solutions; and how the arrays of a call must lie. Host code,
// without CUDA. All sizes and offsets are in floats.
//
// The detector (uplink/mapping.hpp) and the precoder (downlink/mapping.hpp) build the layout of a block on
// it.
#include <cstdint>

#include <warpband/massive/massive_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// If a frame has several vectors: how many are in one group, and for how many a warp sums H^H y at once.
inline constexpr int frame_sides = 14, sides_of_warp = 7;
/// Runs of antennas (linalg/gram).
inline constexpr int frame_runs = 8;
/// Floats of shared memory in which a warp adds the sums of its runs, for 32 users.
inline constexpr int run_scratch = 4 * frame_runs * 32;

/// How `frame_sums` works for the precoder: only H^H H.
struct gram_sums {
  /// Whether `triangle` also sums H^H y of a single vector.
  static constexpr bool joined = false;
  /// Whether the lanes of a part shift by eight from run to run, which avoids nearly all bank conflicts
  /// without gaps between runs. H then takes fewer bulk copies.
  static constexpr bool turned = false;
  /// Whether runs are added through `run_scratch` floats of each warp, with half the instructions.
  static constexpr bool in_scratch = false;
};
/// The same for the detector.
template <int U, bool Many>
struct detector_sums {
  static constexpr bool joined = !Many, turned = U <= 16, in_scratch = U == 24 || U == 32;
};

/// Users that the layout of a matrix has room for: that of 24 users is the one of 32.
template <int U>
inline constexpr int padded_users = U == 24 ? 32 : U;

/// Offsets in a slot: the part below the diagonal of the matrix, as a `lower_triangle` (frame_matrix.hpp;
/// frame_sums.hpp asserts its size). Then its diagonal, the right sides, 1 / D, and the solver's memory.
/// `Many`: frames have several vectors.
template <int U, bool Many>
struct frame_shape {
  static_assert(U == 8 || U == 16 || U == 24 || U == 32);
  /// Frames that a warp solves side by side, and its lanes for each. If these are more than users, the last
  /// ones repeat what the first ones do.
  static constexpr int frames = 32 / U, lanes = 32 / frames;
  /// Vectors in a group: the solver judges one of them a lane.
  static constexpr int sides = !Many ? 1 : U == 8 ? 8 : frame_sides, side_floats = 2 * U + (Many ? 4 : 0);
  static constexpr int diagonal = padded_users<U> * padded_users<U>, right = diagonal + U,
                       inverse = right + sides * side_floats, work = inverse + U;
  /// Memory of the solver: two rows of the matrix, or a value of each user for each vector that conjugate
  /// gradients solve at once. The slots of the frames that one warp solves start 4 banks apart.
  static constexpr int work_floats = (Many ? 8 : 4) * U, floats = (work + work_floats + 31) / 32 * 32 + 4;
};

/// Of 64 users: what the generic solver (massive_op.hpp) takes, the matrix with its diagonal and then up to
/// 16 right sides.
template <bool Many>
struct frame_shape<64, Many> {
  static constexpr int sides = Many ? 16 : 1, side_floats = 2 * 64, right = 2 * 64 * 65, diagonal = right;
};

/// How H and y lie. For float32 sums H is stored in 8 runs of 2^run_log2 antennas (linalg/gram), with `pad`
/// floats after every 2^pad_log2-th run. For tensor cores it is stored without gaps.
struct frame_samples {
  int run_log2, pad, pad_log2;
  int h_run, y_run, y_side;  // size of a run of H; stride of a vector's runs; stride of vectors
  int octets;                // groups of 8 antennas, for tensor cores; even
  int y, sums;               // H and y as floats: offset of y; size of both
  int never = -1;            // a count that no loop reaches, unknown to the compiler (frame_sums.hpp)

  /// H and `sides` vectors as floats. `turned`: see `gram_sums`.
  static frame_samples of_samples(int antennas, int users, int sides, bool tensor, bool turned) {
    frame_samples p{};
    while (frame_runs << p.run_log2 < antennas) p.run_log2++;
    p.h_run = 2 * users << p.run_log2;
    if (tensor) {
      // As in device memory, without gaps.
      p.octets = (antennas + 15) / 16 * 2;
      p.y_run = 2 << p.run_log2;
      p.y_side = 16 * p.octets + (sides > 1 ? 4 : 0);
      p.y = 16 * p.octets * users;
      p.sums = p.y + sides * p.y_side;
      return p;
    }
    // 16 bytes between runs: the 16 bytes that each of eight lanes reads are then in different banks. A
    // single vector needs no gaps, since it is read far less often; it then takes one bulk copy.
    p.pad_log2 = turned ? 2 : 0;
    p.pad = users == 8 ? 16 : 4;
    p.y_run = (2 << p.run_log2) + (sides > 1 ? 4 : 0);
    // Trailing runs may have no antennas and take no memory.
    const int last = (antennas - 1) >> p.run_log2, left = antennas - (last << p.run_log2);
    p.y_side = last * p.y_run + 2 * left;
    p.y = last * p.h_run + p.pad * ((last + 1) >> p.pad_log2) + 2 * users * left;
    p.sums = p.y + sides * p.y_side;
    return p;
  }
};

/// f.operator()<Policy>() with the policy of a call: `Shared` where several vectors share H.
template <class One, class Shared, class F>
auto with_policy(const massive_args& a, F f) {
  return a.symbols > 1 ? f.template operator()<Shared>() : f.template operator()<One>();
}
/// Whether rows are copied and stored in pieces of 16 bytes, which have `piece` elements.
template <class S>
bool lies_in_pieces(const view<S>& x, std::size_t piece) {
  return x.element_stride == 1 && x.item_stride % piece == 0 &&
         reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
}

/// Whether the kernels for frames have the solver of a call. The other iterations take the generic kernel.
inline bool has_frame_solver(const massive_args& a) {
  return !is_iterative(a.solver) || has_residual(a.solver);
}
/// Whether LLRs of a call, if it has any, are stored in pieces of 8 bytes.
inline bool llrs_in_pieces(const massive_args& a) {
  return a.llr.data == nullptr || (a.llr.element_stride == 1 && a.llr.item_stride % 2 == 0 &&
                                   reinterpret_cast<std::uintptr_t>(a.llr.data) % 8 == 0);
}
/// Whether a call has such a solver, and H, y and LLRs that are copied and stored in pieces of 16 and 8
/// bytes.
inline bool detects_in_pieces(const massive_args& a) {
  const bool halves = a.half_channel.data != nullptr;
  if (a.antennas % (halves ? 4 : 2) != 0 || !has_frame_solver(a)) return false;
  return llrs_in_pieces(a) && (halves ? lies_in_pieces(a.half_channel, 4) && lies_in_pieces(a.half_in, 4)
                                      : lies_in_pieces(a.channel, 2) && lies_in_pieces(a.in, 2));
}
/// The same of the precoder: H is copied and results are stored in pieces of 16 bytes.
inline bool sends_in_pieces(const massive_args& a) {
  return a.antennas % 2 == 0 && has_frame_solver(a) && a.half_channel.data == nullptr &&
         lies_in_pieces(a.channel, 2) && lies_in_pieces(a.out, 2);
}

}  // namespace WB_ISA
}  // namespace wb
