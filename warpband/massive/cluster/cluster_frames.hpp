#pragma once
// The exact method for 16 and 32 users on a CUDA device, made of the detector's kernels (massive/uplink).
// With float32 sums they have the bits of cluster_sums_op.hpp and cluster_solve_op.hpp.
//
//   sum_frames    H^H H and H^H y of a cluster's antennas. A block is that of uplink_frames.hpp: the same
//                 producer warps, ring buffers and barriers. In the place of solver warps it has warps that
//                 store the sums in device memory (`store_frames`).
//   solve_sums    Symbols and LLRs from the sums of all clusters. Each warp adds up and solves 32 / U frames
//                 by itself, in slots of its own (frame_estimates.hpp). Warps do not meet.
#include <warpband/massive/cluster/cluster_body.hpp>
#include <warpband/massive/cluster/cluster_takes.hpp>
#include <warpband/massive/uplink/uplink_frames.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
inline constexpr int solve_warps = 4;
template <class P>
inline constexpr int solve_floats = solve_warps * P::shape::frames * P::shape::floats;
static_assert(4 * solve_floats<uplink_16_shared> <= 49152 && 4 * solve_floats<uplink_32_shared> <= 49152);

/// Calls f(value, offset) for the values of a frame's Gram matrix in device memory, `gram_values` of them,
/// and their offsets in its slot. By U lanes.
template <class P, class F>
WB_HD void for_gram(F f) {
  constexpr int U = P::users, values = U * U;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x) % U; i < values; i += U) {
    const int r = static_cast<int>(sqrt(static_cast<float>(i))), in_row = i - r * r;  // exact up to 2^24
    f(i, in_row == 2 * r ? P::shape::diagonal + r : lower_triangle<U>::place(r, in_row / 2) + in_row % 2);
  }
}
/// The same of `count` matched filters, 2 U values each.
template <class P, class F>
WB_HD void for_filters(int count, F f) {
  using Shape = typename P::shape;
  constexpr int U = P::users;
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x) % U; i < 2 * U * count; i += U)
    f(i, Shape::right + i / (2 * U) * Shape::side_floats + i % (2 * U));
}

/// Storing warp number `solver`: the sums of all its frames. It waits for its slots and releases them, as
/// `solve_frames` does.
template <class P>
WB_HD void store_frames(const frame_block<P>& block, int solver, const view<float>& sums) {
  using Shape = typename P::shape;
  constexpr int U = P::users, frames = Shape::frames;
  const int sub = static_cast<int>(threadIdx.x) % 32 / U, first_slot = solver * frames,
            slot = first_slot + sub;
  const ring slots = block.slots();
  int phase = 0;
  WB_ROLL for (int n = first_slot; n < block.count; n += block.p.slots, phase += block.groups) {
    const bool exists = n + sub < block.count;
    WB_ROLL for (int g = 0; g < block.groups; g++) {
      WB_UNROLL for (int i = 0; i < frames; i++) {
        if (n + i < block.count) slots.wait({first_slot + i, phase + g});
      }
      if (exists) {
        const float* from = slots[slot];
        float* to = sums.data + block.frame(n + sub) * sums.item_stride;
        if (g == 0) for_gram<P>([&](int value, int offset) { to[value] = from[offset]; });
        to += U * U + 2 * U * block.begin_of(g);
        for_filters<P>(block.count_of(g), [&](int value, int offset) { to[value] = from[offset]; });
        // No producer waits for the last frame of a slot to be stored.
        if (g + 1 < block.groups || n + sub + block.p.slots < block.count) slots.release({slot, phase + g});
      }
      __syncwarp();
    }
  }
}

/// Frames `first` to `last` - 1 of a call for which `takes_cluster_sums` holds. Threads as of
/// `detect_frames`.
template <class P>
__global__ void __launch_bounds__(32 * P::warps, 1)
    sum_frames(const __grid_constant__ massive_args a, const __grid_constant__ frame_plan p,
               const __grid_constant__ view<float> sums, std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  const frame_block<P> block(a, p, shared, first, last);
  block.begin();
  const int warp = warp_of_block();
  if (warp < P::team * p.teams)
    frame_team<P>(block).work();
  else
    store_frames(block, warp - P::team * p.teams, sums);
}

/// Value `index` of frame `frame`, summed over clusters as `load_sum` does.
WB_HD float sum_over_clusters(const cluster_terms<const float>& terms, std::size_t frame, int index) {
  const float* x = terms.first.data + frame * terms.first.item_stride + index;
  if (terms.count == 1) return x[0];
  if (terms.count == 2) return x[0] + x[terms.distance];
  if (terms.count == 4) return (x[0] + x[terms.distance]) + (x[2 * terms.distance] + x[3 * terms.distance]);
  return sum_in_pairs<float>(
      terms.count, [&](int i) WB_INLINE_LAMBDA { return x[static_cast<std::size_t>(i) * terms.distance]; });
}

/// Frames `first` to `last` - 1 of a call for which `takes_cluster_solve` holds, by blocks of `solve_warps`
/// warps. Shared memory: `solve_floats`.
template <class P>
__global__ void __launch_bounds__(32 * solve_warps, 3)
    solve_sums(const __grid_constant__ massive_args a,
               const __grid_constant__ cluster_terms<const float> sums, std::size_t first, std::size_t last) {
  extern __shared__ __align__(128) float shared[];
  using Shape = typename P::shape;
  constexpr int U = P::users, frames = Shape::frames;
  const int warp = warp_of_block();
  const std::size_t sub = threadIdx.x % 32 / U, step = std::size_t{gridDim.x} * solve_warps * frames;
  float* const slot = shared + (warp * frames + static_cast<int>(sub)) * Shape::floats;
  WB_ROLL for (std::size_t n =
                   first + (std::size_t{blockIdx.x} * solve_warps + static_cast<std::size_t>(warp)) * frames;
               n < last; n += step) {
    // Half a warp without a frame solves the other half's and stores nothing.
    const bool exists = n + sub < last;
    const std::size_t frame = exists ? n + sub : n;
    frame_estimates<U, P::many> work(a, slot, exists);
    WB_ROLL for (int symbol = 0; symbol < a.symbols; symbol += Shape::sides) {
      const int left = a.symbols - symbol, count = left < Shape::sides ? left : Shape::sides;
      const auto load = [&](int from, int value, int to) {
        slot[to] = sum_over_clusters(sums, frame, from + value);
      };
      if (symbol == 0) for_gram<P>([&](int value, int offset) { load(0, value, offset); });
      for_filters<P>(count, [&](int value, int offset) { load(U * U + 2 * U * symbol, value, offset); });
      __syncwarp();
      if (symbol == 0) work.prepare(a.noise_var.data[frame * a.noise_var.item_stride]);
      work.solve(frame * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(symbol), count,
                 {0, 1});
      __syncwarp();
    }
  }
}
#endif

}  // namespace WB_ISA
}  // namespace wb
