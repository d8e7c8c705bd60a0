// The CUDA kernels of exact sums over clusters, for 16, 32 and 64 users, in emulated blocks: they give the
// bits of a scalar CPU in any order in which warps and copies may run.
#include <gtest/gtest.h>

#include <tests/massive.hpp>
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/massive_arguments.hpp>

#define WB_EMULATED_ENGINE true
#define WB_ISA emulated_clusters
#define WB_WIDTH 1
// clang-format off
#include <tests/emulation/cuda_words.hpp>
#include <warpband/massive/cluster/cluster_frames.hpp>
#include <warpband/massive/cluster/cluster_solve_op.hpp>
#include <warpband/massive/cluster/cluster_sums_op.hpp>
#include <warpband/massive/frame_stream.hpp>
// clang-format on

namespace wb {
inline namespace WB_ISA {
alignas(128) float shared[emulation::shared_bytes / sizeof(float)];
}
}  // namespace wb

namespace {

using namespace wb;
using wb::testing::massive_batch;
using wb::testing::massive_result;

struct cluster_shape {
  std::size_t antennas, users, symbols, frames;
  unsigned blocks;
  int clusters;
};

/// A copy that begins on a multiple of 16 bytes.
template <class T>
std::vector<float4> aligned(const std::vector<T>& values) {
  std::vector<float4> memory((values.size() * sizeof values[0] + 15) / 16);
  std::memcpy(memory.data(), values.data(), values.size() * sizeof values[0]);
  return memory;
}
/// Elements of cluster c of rows of `elements`.
template <class T = cx_pair>
view<const T> part_of(const std::vector<float4>& storage, std::size_t items, std::size_t elements, int c,
                      int clusters) {
  const std::size_t part = elements / static_cast<std::size_t>(clusters);
  return {reinterpret_cast<const T*>(storage.data()) + static_cast<std::size_t>(c) * part, part, items, 1,
          elements};
}
template <class T>
view<T> rows(T* data, std::size_t items, std::size_t elements) {
  return {data, elements, items, 1, elements};
}

/// H and y as pairs of halves with `half`.
template <class P>
massive_result detect_emulated(const uplink_config& config, const massive_batch& b, const cluster_shape& s,
                               unsigned seed, bool half = false) {
  constexpr int U = P::users;
  massive_args a;
  a.antennas = config.antennas / s.clusters, a.users = U, a.symbols = static_cast<int>(b.symbols);
  a.solver = config.solver, a.iterations = config.iterations.value_or(0);
  a.residual_squared = squared_residual(config.residual);
  a.pam_bits = config.qam == 16 ? 2 : 3;
  a.exact_sinr = config.sinr == massive_sinr::exact;
  a.clip = 3e38f;
  const std::vector<float4> h = half ? aligned(wb::testing::halves_of(b.h)) : aligned(b.h),
                            y = half ? aligned(wb::testing::halves_of(b.y)) : aligned(b.y);
  const std::size_t values = sums_values(U, a.symbols), total = values * b.frames,
                    bits = 2 * static_cast<std::size_t>(a.pam_bits) * U;
  std::vector<float> sums(total * static_cast<std::size_t>(s.clusters), NAN);
  for (int c = 0; c < s.clusters; c++) {
    if (half) {
      a.half_channel = part_of<half_complex>(h, b.frames, b.antennas * U, c, s.clusters);
      a.half_in = part_of<half_complex>(y, b.vectors(), b.antennas, c, s.clusters);
    } else {
      a.channel = part_of(h, b.frames, b.antennas * U, c, s.clusters);
      a.in = part_of(y, b.vectors(), b.antennas, c, s.clusters);
    }
    const cluster_sums_args args{a, true,
                                 rows(sums.data() + static_cast<std::size_t>(c) * total, b.frames, values)};
    const unsigned own_seed = seed + static_cast<unsigned>(c);
    if constexpr (U == 64) {
      EXPECT_TRUE(takes_streamed_sums(args, emulation::shared_bytes));
      const stream_plan p = stream_plan::of<P>(a, emulation::shared_bytes);
      const cluster_sums_op<fixed<64>> op(args);
      emulation::run(s.blocks, P::threads, own_seed, shared,
                     [&] { run_streamed<P, streamed_sums>(op, p, 0, b.frames); });
    } else {
      EXPECT_TRUE(takes_cluster_sums(args, emulation::shared_bytes));
      const frame_plan p = frame_plan::of<P>(sums_only(a), emulation::shared_bytes);
      emulation::run(s.blocks, static_cast<unsigned>(p.threads<P>()), own_seed, shared,
                     [&] { sum_frames<P>(sums_only(a), p, args.sums, 0, b.frames); });
    }
  }
  massive_result r{.llr = std::vector<float>(bits * b.vectors()),
                   .sinr = std::vector<float>(U * b.vectors()),
                   .x = wb::testing::samples(U * b.vectors()),
                   .status = std::vector<std::uint8_t>(b.vectors(), 99)};
  std::vector<float4> llr((r.llr.size() + 3) / 4);
  a.noise_var = rows(b.n0.data(), b.frames, 1);
  a.llr = rows(reinterpret_cast<float*>(llr.data()), b.vectors(), bits);
  a.sinr = rows(r.sinr.data(), b.vectors(), U);
  a.out = rows(reinterpret_cast<cx_pair*>(r.x.data()), b.vectors(), U);
  a.status = rows(r.status.data(), b.vectors(), 1);
  const cluster_terms<const float> terms{rows(static_cast<const float*>(sums.data()), b.frames, values),
                                         s.clusters, total};
  if constexpr (U == 64) {
    const cluster_detect_op<fixed<64>> op({a, terms});
    emulation::run(s.blocks, factor_block::size, seed, shared, [&] { solve_64(op, 0, b.frames); });
  } else {
    EXPECT_TRUE(takes_cluster_solve(a));
    emulation::run(s.blocks, 32 * solve_warps, seed, shared, [&] { solve_sums<P>(a, terms, 0, b.frames); });
  }
  std::memcpy(r.llr.data(), llr.data(), r.llr.size() * sizeof(float));
  return r;
}

TEST(emulated_clusters, exact_sums_have_the_bits_of_a_cpu) {
  const auto scalar = wb::testing::open_scalar();
  unsigned seed = 1;
  // Clusters with runs of antennas that are full, shorter, or empty; blocks with one frame; groups of 14
  // vectors.
  for (const cluster_shape& s : {cluster_shape{64, 16, 1, 23, 1, 4},
                                 {72, 16, 3, 11, 2, 2},
                                 {54, 16, 29, 9, 9, 3},
                                 {256, 16, 14, 9, 1, 2},
                                 {320, 16, 1, 5, 3, 5},
                                 {128, 32, 1, 19, 1, 2},
                                 {72, 32, 15, 5, 1, 2},
                                 {256, 32, 14, 5, 2, 2},
                                 {512, 32, 1, 7, 1, 4},
                                 {132, 64, 1, 5, 1, 2},
                                 {256, 64, 17, 2, 1, 2}}) {
    const massive_batch b = wb::testing::ugly_frames(s.antennas, s.users, s.symbols, s.frames);
    for (const massive_solver solver : {massive_solver::cholesky, massive_solver::cg,
                                        massive_solver::jacobi_cg, massive_solver::zf, massive_solver::mf}) {
      SCOPED_TRACE(std::to_string(s.antennas) + "x" + std::to_string(s.users) + ", symbols " +
                   std::to_string(s.symbols) + ", clusters " + std::to_string(s.clusters) + " " +
                   name_of(solver));
      clustered_uplink_config c;
      c.detector.antennas = static_cast<int>(s.antennas), c.detector.users = static_cast<int>(s.users);
      c.detector.qam = solver == massive_solver::cg ? 64 : 16;
      c.detector.solver = solver;
      if (is_iterative(solver)) c.detector.iterations = 3, c.detector.sinr = massive_sinr::approximate;
      if (solver == massive_solver::jacobi_cg) c.detector.residual = 0.2f;  // vectors stop one by one
      c.clusters = s.clusters;
      const std::size_t bits = clustered_uplink_detector(c).bits_per_vector();
      massive_result want{.llr = std::vector<float>(bits * b.vectors()),
                          .sinr = std::vector<float>(s.users * b.vectors()),
                          .x = wb::testing::samples(s.users * b.vectors()),
                          .status = std::vector<std::uint8_t>(b.vectors())};
      clustered_uplink_detector(c).run(*scalar,
                                       {.channel = rows(b.h.data(), b.frames, b.antennas * b.users),
                                        .received = rows(b.y.data(), b.vectors(), b.antennas),
                                        .noise_var = rows(b.n0.data(), b.frames, 1),
                                        .symbols = static_cast<int>(b.symbols)},
                                       {.llr = rows(want.llr.data(), b.vectors(), bits),
                                        .equalized = rows(want.x.data(), b.vectors(), s.users),
                                        .sinr = rows(want.sinr.data(), b.vectors(), s.users),
                                        .status = rows(want.status.data(), b.vectors(), 1)});
      const auto run =
          s.users == 16   ? (s.symbols > 1 ? detect_emulated<uplink_16_shared> : detect_emulated<uplink_16>)
          : s.users == 32 ? (s.symbols > 1 ? detect_emulated<uplink_32_shared> : detect_emulated<uplink_32>)
                          : (s.symbols > 1 ? detect_emulated<uplink_64_shared> : detect_emulated<uplink_64>);
      EXPECT_TRUE(run(c.detector, b, s, seed, false) == want);
      seed += 100;
    }
  }
}

TEST(emulated_clusters, halves_have_the_bits_of_complex64_that_holds_the_same) {
  unsigned seed = 5000;
  for (const cluster_shape& s : {cluster_shape{64, 16, 1, 23, 1, 4},
                                 {72, 16, 3, 11, 2, 2},
                                 {128, 32, 1, 19, 1, 2},
                                 {72, 32, 15, 5, 1, 2}}) {
    SCOPED_TRACE(std::to_string(s.antennas) + "x" + std::to_string(s.users));
    const massive_batch b =
        wb::testing::in_halves(wb::testing::ugly_frames(s.antennas, s.users, s.symbols, s.frames));
    const uplink_config c{.antennas = static_cast<int>(s.antennas), .users = static_cast<int>(s.users)};
    const auto run = s.users == 16
                         ? (s.symbols > 1 ? detect_emulated<uplink_16_shared> : detect_emulated<uplink_16>)
                         : (s.symbols > 1 ? detect_emulated<uplink_32_shared> : detect_emulated<uplink_32>);
    EXPECT_TRUE(run(c, b, s, seed, true) == run(c, b, s, seed, false));
    seed += 100;
  }
}

TEST(emulated_clusters, other_calls_keep_the_general_kernels) {
  massive_args a;
  a.antennas = 128, a.users = 32, a.symbols = 1, a.solver = massive_solver::cholesky;
  const std::vector<float4> memory(8);
  a.channel = part_of(memory, 1, 128 * 32, 0, 1), a.in = part_of(memory, 1, 128, 0, 1);
  const auto sums_of = [](const massive_args& args, bool filter) {
    return takes_cluster_sums({args, filter, {}}, emulation::shared_bytes);
  };
  EXPECT_TRUE(sums_of(a, true));
  EXPECT_FALSE(sums_of(a, false));  // the precoder's
  EXPECT_TRUE(takes_cluster_solve(a));
  massive_args other = a;
  other.users = 31;
  EXPECT_FALSE(sums_of(other, true));
  EXPECT_FALSE(takes_cluster_solve(other));
  other = a, other.channel.element_stride = 2;
  EXPECT_FALSE(sums_of(other, true));
  other = a, other.half_channel = part_of<half_complex>(memory, 1, 128 * 32, 0, 1);
  other.half_in = part_of<half_complex>(memory, 1, 128, 0, 1);
  EXPECT_TRUE(sums_of(other, true));
  other.antennas = 126;
  EXPECT_FALSE(sums_of(other, true));
  float llr[2] = {};
  other = a, other.llr = view<float>{llr + 1, 128, 1, 1, 128};
  EXPECT_EQ(takes_cluster_solve(other), reinterpret_cast<std::uintptr_t>(llr + 1) % 8 == 0);
  other.llr.element_stride = 2;
  EXPECT_FALSE(takes_cluster_solve(other));
}

}  // namespace
