#pragma once
// From H^H H and H^H y of 32 / U frames to symbols, SINRs, LLRs and status, by one warp on a CUDA device: the
// detector's part of a `frame_solver`, whose contract holds here too.
//
// Who calls: one whole warp, once `prepare` and then `solve` for each group of vectors.
#include <warpband/core/llr.hpp>
#include <warpband/core/llr_steps.hpp>
#include <warpband/massive/frame_solver.hpp>
#include <warpband/massive/uplink/mapping.hpp>

namespace wb {
inline namespace WB_ISA {

#if defined(__CUDACC__)
/// Part `number` of `count` equal parts of a frame's vectors.
struct vector_share {
  int number, count;
};
template <int U, bool Many, int AtOnce = Many ? 2 : 1>
struct frame_estimates : frame_solver<U, Many, AtOnce> {
  using solver = frame_solver<U, Many, AtOnce>;
  using solver::a, solver::n0, solver::diagonal, solver::inverse, solver::good, solver::row, solver::results;
  using solver::entry;
  using typename solver::Shape;
  bool writes;  // whether the lane's frame exists, and no other lane has its user
  estimate_weight<float> weight = {1.f, 0.f};

  WB_HD frame_estimates(const massive_args& args, float* slot, bool exists)
      : solver(args, slot), writes(exists && stores_row<U>()) {}

  WB_HD void prepare(float noise_var) {
    solver::prepare(noise_var, least_massive_n0);
    this->most_energy = most_matched_energy(this->trace);
    weigh();
  }

  /// `uplink_op::weigh` for the lane's user: gain and SINR.
  WB_HD void weigh() {
    const auto interference = [&](float gain) {
      float others = n0;
      WB_UNROLL for (int j = 0; j < U; j++) {
        const float2 z = j < row ? entry(row, j) : entry(j, row);
        const cx<float> hj = {z.x, z.y};
        if (j != row) others = dot_fma(gain * hj, hj, others);
      }
      return others;
    };
    const auto inverse_diagonal = [&] {
      float sum = inverse;
      WB_UNROLL for (int k = 0; k < U; k += 4) {
        float weights[4];
        load4(results + Shape::inverse + k, weights);
        WB_UNROLL for (int i = 0; i < 4; i += 2) {
          float z[4];
          load4(results + lower_triangle<U>::place(row, k + i), z);
          WB_UNROLL for (int e = 0; e < 2; e++) {
            const cx<float> v = {z[2 * e], z[2 * e + 1]};
            const float more = dot_fma(weights[i + e] * v, v, sum);
            if (k + i + e < row) sum = more;
          }
        }
      }
      return sum;
    };
    weight = a.exact_sinr ? exact_weight(a.solver, diagonal, n0, interference, inverse_diagonal)
                          : approximate_weight(a.solver, diagonal, n0);
  }

  // ----------------------------------------------------------------------------------------------- outputs

  /// Stores the outputs of the lane's user for `vector`, whose solution is z.
  template <int B>
  WB_HD void finish(std::size_t vector, cx<float> z, bool kept) const {
    const std::size_t n = static_cast<std::size_t>(row);
    const item<float> vector_item{vector, 1};
    z = weight.gain * z;
    if (a.out.data)
      store_cx(a.out, n, vector_item, cx<float>{select(kept, z.re, 0.f), select(kept, z.im, 0.f)});
    if (a.sinr.data) store(a.sinr, n, vector_item, select(kept, weight.sinr, 0.f));
    if (!a.llr.data && !a.llr8.data) return;
    float llr[2 * B];
    estimate_llrs<B>(z, weight.sinr, kept, a.clip, llr);
    if (a.llr.data) store_row(a.llr, 2 * B * n, vector_item, llr);
    if (a.llr8.data) store_steps_row(a.llr8, 2 * B * n, vector_item, llr, a.steps);
  }
  /// Solves and stores a share of the `count` vectors from number `vector` on. By a whole warp. Its halves
  /// may have different shares, each with all vectors in its own slot. Vectors beyond the share may be solved
  /// but are not stored.
  WB_HD void solve(std::size_t vector, int count, vector_share share) const {
    const unsigned fine = this->judge(0, count);
    __syncwarp();
    const int share_size = (count + share.count - 1) / share.count, begin = share.number * share_size,
              end = begin + share_size < count ? begin + share_size : count;
    this->solve_sides(begin, share_size, count);
    if (!writes) return;
    with_pam_bits(a.pam_bits, [&]<int B>() {
      WB_ROLL for (int k = begin; k < end; k++) {
        const float* z = this->right(k) + 2 * row;
        finish<B>(vector + static_cast<std::size_t>(k), {z[0], z[1]}, good & ((fine >> k & 1) != 0));
      }
    });
    if (a.status.data && row >= begin && row < end)
      a.status.data[(vector + static_cast<std::size_t>(row)) * a.status.item_stride] =
          good & ((fine >> row & 1) != 0) ? std::uint8_t{0} : status_erased;
  }
};
#endif

}  // namespace WB_ISA
}  // namespace wb
