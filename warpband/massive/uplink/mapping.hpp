#pragma once
// How a call of the detector maps to a CUDA device. Frames of 16 and 32 users have kernels of their own
// (uplink_frames.hpp) where the table below says so and their data lie as those need it: H and y item by
// item, from multiples of 16 bytes, an even number of antennas, one of halves a multiple of four, LLRs side
// by side. All else takes the generic kernel. Either way float32 sums have the same bits.
#include <cstddef>
#include <cstdint>

#include <warpband/massive/massive_args.hpp>

namespace wb {
inline namespace WB_ISA {

/// Vectors that are worked on at once where frames have several, and those whose filters a warp sums.
inline constexpr int frame_sides = 14, sides_of_warp = 7;
/// Runs of antennas (linalg/gram).
inline constexpr int frame_runs = 8;

/// `Many`: frames of several vectors; `Tensor`: sums on tensor cores (tensor_sums.hpp).
template <int U, bool Many, bool Tensor>
struct frame_shape {
  static_assert(U == 16 || U == 32);
  static constexpr int blocks = U / 16, halves = 32 / U;
  static constexpr bool tensor = Tensor;
  /// Of 32 users and one vector, its filter is made with the triangles; elsewhere registers do not suffice.
  static constexpr bool joined = !Many && (U == 32 || Tensor);
  // What warps take in turn: of the Gram matrix its rectangles of 8 x 16 and triangles of 16 x 16; filters.
  static constexpr int sides_at_once = Many ? sides_of_warp : 1;
  static constexpr int rectangles = blocks == 2 ? 2 : 0, triangles = blocks,
                       filters = joined ? 0 : blocks * (Many ? frame_sides : 1) / sides_at_once;
  static constexpr int warps = U == 32 ? 4 : Many ? 2 : 1, threads = 32 * warps;
  static constexpr int sides = Many ? frame_sides : 1;
  /// Blocks a multiprocessor has registers for: 168 of a thread with 16 users, 255 with 32.
  static constexpr int resident = U == 16 ? (Many ? 6 : 10) : 2;
  /// Frames that a block takes, one after the other; 0: as many as there are for it. Ten warps are not as
  /// many for each scheduler: blocks that end sooner make room for the next.
  static constexpr int frames_of_block = U == 16 && !Many ? 4 : 0;
  // Floats of the results, the matrix first.
  static constexpr int side_floats = 2 * U + (Many ? 4 : 0);
  static constexpr int diagonal = 2 * U * U, right = diagonal + U, inverse = right + sides * side_floats,
                       gain = inverse + U, sinr = gain + U, flags = sinr + U,
                       work = (flags + 2 + sides + 3) / 4 * 4;
  /// Floats at `work` that a warp needs for one vector.
  static constexpr int work_of_warp = U == 16 ? 8 * U : 6 * U;
};

/// Floats between runs of H and of a vector, and of all that is staged; H and vectors that come as halves are
/// staged as they are at `raw`, H first.
struct frame_plan {
  int run_log2, h_run, y_run, y_side, y, results, raw, floats;
  template <class Shape>
  static frame_plan of(const massive_args& a) {
    frame_plan p{};
    while (frame_runs << p.run_log2 < a.antennas) p.run_log2++;
    // 16 bytes more between runs: what eight lanes read lies in all banks.
    p.h_run = (2 * a.users << p.run_log2) + 4;
    p.y_run = (2 << p.run_log2) + 4;
    // Lanes of tensor_sums.hpp have different vectors.
    p.y_side = frame_runs * p.y_run + (Shape::tensor ? 4 : 0);
    p.y = frame_runs * p.h_run;
    p.results = p.y + Shape::sides * p.y_side;
    const int workers = Shape::sides == 1 ? 1 : a.mode == massive_mode::cg ? Shape::warps : 0;
    p.raw = p.results + Shape::work + workers * Shape::work_of_warp;
    p.floats = p.raw + (a.half_channel.data != nullptr ? a.antennas * (a.users + Shape::sides) : 0);
    return p;
  }
  /// That of a call with 16 or 32 users.
  static frame_plan of_call(const massive_args& a) {
    return a.split_tf32 ? of_call_with<true>(a) : of_call_with<false>(a);
  }
  template <bool Tensor>
  static frame_plan of_call_with(const massive_args& a) {
    if (a.users == 16)
      return a.symbols > 1 ? of<frame_shape<16, true, Tensor>>(a) : of<frame_shape<16, false, Tensor>>(a);
    return a.symbols > 1 ? of<frame_shape<32, true, Tensor>>(a) : of<frame_shape<32, false, Tensor>>(a);
  }
};

/// A line of the table: where the kernels of their own are taken. From how many antennas on, and how many
/// vectors the last group of 14 has at least, where frames have several.
struct frame_rule {
  int users;
  massive_mode mode;
  int least_antennas, least_of_last_group;
};
/// As measured on an H100. Conjugate gradients of 32 users gain by H that the generic kernel holds less of.
inline constexpr frame_rule frame_rules[] = {
    {16, massive_mode::cholesky, 16, 1}, {16, massive_mode::zf, 16, 1},       {16, massive_mode::mf, 16, 1},
    {16, massive_mode::cg, 16, 6},       {32, massive_mode::cholesky, 16, 1}, {32, massive_mode::zf, 16, 1},
    {32, massive_mode::mf, 16, 1},       {32, massive_mode::cg, 256, 6},
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
  return static_cast<std::size_t>(frame_plan::of_call(a).floats) * sizeof(float) <= shared_bytes;
}

}  // namespace WB_ISA
}  // namespace wb
