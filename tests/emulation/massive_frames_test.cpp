// The CUDA kernels of frames of 8, 16, 24, 32 and 64 users in emulated blocks: they give the bits of a scalar
// CPU in any order in which warps and copies may run, wait for nothing for ever, and read nothing that nobody
// wrote. With sums on tensor cores they give what is near to it, and the same bits in any order.
#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include <tests/massive.hpp>
#include <warpband/massive/massive_arguments.hpp>

// massive_frames_of_threads_test.cpp has other ones.
#if !defined(WB_EMULATED_ENGINE)
#define WB_EMULATED_ENGINE true
#define WB_ISA emulated
#define WB_FRAMES emulated_frames
#endif
#define WB_WIDTH 1
// clang-format off
#include <tests/emulation/cuda_words.hpp>
#include <warpband/massive/downlink/downlink_frames.hpp>
#include <warpband/massive/frame_stream.hpp>
#include <warpband/massive/uplink/uplink_frames.hpp>
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

/// A copy that begins on a multiple of 16 bytes.
template <class T>
struct aligned_copy {
  std::vector<float4> memory;
  T* data;
  template <class From>
  explicit aligned_copy(const std::vector<From>& values)
      : memory((values.size() * sizeof(From) + 15) / 16), data(reinterpret_cast<T*>(memory.data())) {
    std::memcpy(memory.data(), values.data(), values.size() * sizeof(From));
  }
};
template <class T>
view<T> rows(T* data, std::size_t items, std::size_t elements) {
  return {data, elements, items, 1, elements};
}

template <class Config>
massive_args arguments(const massive_batch& b, const Config& c) {
  massive_args a;
  a.antennas = static_cast<int>(b.antennas), a.users = static_cast<int>(b.users);
  a.symbols = static_cast<int>(b.symbols);
  a.solver = c.solver, a.iterations = c.iterations.value_or(0);
  a.residual_squared = squared_residual(c.residual);
  return a;
}
/// By the kernels of 64 users.
template <class P, template <class> class Steps, class Op>
void run_streamed_blocks(const Op& op, std::size_t frames, unsigned blocks, unsigned seed,
                         std::size_t shared_bytes) {
  const stream_plan p = stream_plan::of<P>(op.a, shared_bytes);
  emulation::run(blocks, P::threads, seed, shared, [&] { run_streamed<P, Steps>(op, p, 0, frames); });
}
void run_uplink(const massive_args& a, std::size_t frames, unsigned blocks, unsigned seed,
                std::size_t shared_bytes) {
  if (a.users == 64)
    return with_policy<uplink_64, uplink_64_shared>(a, [&]<class P>() {
      run_streamed_blocks<P, streamed_sums>(uplink_op<fixed<64>>(a), frames, blocks, seed, shared_bytes);
    });
  with_uplink_policy(a, [&]<class P>() {
    const frame_plan p = frame_plan::of<P>(a, shared_bytes);
    ASSERT_GT(p.buffers, 0);
    emulation::run(blocks, static_cast<unsigned>(p.threads<P>()), seed, shared,
                   [&] { detect_frames<P>(a, p, 0, frames); });
  });
}
/// Nothing where a device with `shared_bytes` has no room for it.
std::optional<massive_result> detect_emulated(const uplink_config& c, const massive_batch& b, bool half,
                                              unsigned blocks, unsigned seed,
                                              std::size_t shared_bytes = emulation::shared_bytes) {
  massive_args a = arguments(b, c);
  a.pam_bits = c.qam == 4 ? 1 : c.qam == 16 ? 2 : c.qam == 64 ? 3 : 4;
  a.exact_sinr = c.sinr == massive_sinr::exact;
  a.split_f16 = c.sums == massive_sums::split_f16;
  a.clip = 3e38f;
  const std::size_t bits = 2 * static_cast<std::size_t>(a.pam_bits) * b.users, entries = b.antennas * b.users;
  const aligned_copy<const cx_pair> h(b.h), y(b.y);
  const aligned_copy<const half_complex> h16(wb::testing::halves_of(b.h)), y16(wb::testing::halves_of(b.y));
  const aligned_copy<const float> n0(b.n0);
  massive_result r{.llr = std::vector<float>(bits * b.vectors()),
                   .sinr = std::vector<float>(b.users * b.vectors()),
                   .x = wb::testing::samples(b.users * b.vectors()),
                   .status = std::vector<std::uint8_t>(b.vectors(), 99)};
  aligned_copy<float> llr(r.llr);
  if (half) {
    a.half_channel = rows(h16.data, b.frames, entries);
    a.half_in = rows(y16.data, b.vectors(), b.antennas);
  } else {
    a.channel = rows(h.data, b.frames, entries);
    a.in = rows(y.data, b.vectors(), b.antennas);
  }
  a.noise_var = rows(n0.data, b.frames, 1);
  a.llr = rows(llr.data, b.vectors(), bits);
  a.sinr = rows(r.sinr.data(), b.vectors(), b.users);
  a.out = rows(reinterpret_cast<cx_pair*>(r.x.data()), b.vectors(), b.users);
  a.status = rows(r.status.data(), b.vectors(), 1);
  if (a.users == 64 ? !takes_streamed(a, shared_bytes) : frame_plan::of_call(a, shared_bytes).buffers <= 0)
    return {};
  run_uplink(a, b.frames, blocks, seed, shared_bytes);
  std::memcpy(r.llr.data(), llr.data, r.llr.size() * sizeof(float));
  return r;
}

struct uplink_shape {
  std::size_t antennas, users, symbols, frames;
  unsigned blocks;
};
const std::vector<uplink_shape> uplink_shapes{
    {128, 16, 1, 23, 1}, {16, 16, 1, 40, 2},   {18, 16, 3, 11, 1}, {128, 16, 14, 13, 1},
    {200, 16, 29, 9, 1}, {128, 16, 14, 9, 9},  // blocks with one frame, but for one
    {18, 16, 3, 9, 9},   {200, 16, 29, 10, 9}, {64, 32, 1, 19, 1}, {256, 32, 1, 11, 2},
    {36, 32, 1, 9, 1},  // the last runs have fewer antennas or none
    {36, 32, 10, 5, 1},  {18, 16, 10, 5, 1},   {34, 32, 15, 9, 1}, {256, 32, 14, 9, 1},
    {128, 8, 1, 43, 1},  {18, 8, 1, 40, 3},    {16, 8, 3, 21, 1},  {128, 8, 14, 19, 1},
    {200, 8, 29, 9, 9},  {128, 24, 1, 13, 1},  {36, 24, 1, 9, 2},  {26, 24, 3, 7, 1},
    {128, 24, 14, 9, 1}, {36, 24, 29, 7, 1},   {512, 64, 1, 5, 1}, {66, 64, 1, 9, 2},
    {130, 64, 3, 3, 1},  // runs with fewer antennas, and a part that is not full
    {300, 64, 14, 3, 1}, {64, 64, 33, 3, 1}};

TEST(WB_FRAMES, uplinks_have_the_bits_of_a_cpu) {
  const auto scalar = wb::testing::open_scalar();
  unsigned seed = 1;
  for (const uplink_shape& s : uplink_shapes) {
    const massive_batch b = wb::testing::ugly_frames(s.antennas, s.users, s.symbols, s.frames);
    for (const massive_solver solver : {massive_solver::cholesky, massive_solver::cg,
                                        massive_solver::jacobi_cg, massive_solver::zf, massive_solver::mf})
      for (const bool half : {false, true}) {
        if (half && (solver != massive_solver::cholesky || s.antennas % 4 != 0 || s.users == 64)) continue;
        if (!emulation::engine && solver != massive_solver::cholesky) continue;  // only copies are others
        SCOPED_TRACE(std::to_string(s.antennas) + "x" + std::to_string(s.users) + ", symbols " +
                     std::to_string(s.symbols) + " " + name_of(solver) + (half ? ", halves" : ""));
        uplink_config c;
        c.antennas = static_cast<int>(s.antennas), c.users = static_cast<int>(s.users);
        c.qam = solver == massive_solver::cg ? 64 : 16;
        c.solver = solver;
        if (is_iterative(solver)) c.iterations = 3, c.sinr = massive_sinr::approximate;
        if (solver == massive_solver::jacobi_cg) c.residual = 0.2f;  // vectors stop one by one
        const massive_result want = wb::testing::detect(*scalar, c, half ? wb::testing::in_halves(b) : b,
                                                        layout::row_major, {.half = half, .llr8 = false});
        EXPECT_TRUE(detect_emulated(c, b, half, s.blocks, seed++) == want);
      }
  }
}

// A slot holds one group after the other.
TEST(WB_FRAMES, groups_hold_every_vector_once_and_are_balanced_for_conjugate_gradients) {
  for (const int sides : {8, 14})
    for (int symbols = 1; symbols <= 300; symbols++)
      for (const bool in_pairs : {false, true}) {
        SCOPED_TRACE(std::to_string(symbols) + " in groups of " + std::to_string(sides));
        const auto groups = vector_groups::of(symbols, sides, in_pairs);
        ASSERT_EQ(groups.count, (symbols + sides - 1) / sides);
        ASSERT_EQ(group_begin(groups, 0), 0);
        ASSERT_GE(group_begin(groups, groups.count), symbols);
        int least_pairs = sides, most_pairs = 0, pairs = 0;
        for (int g = 0; g < groups.count; g++) {
          const int count = std::min(group_begin(groups, g + 1), symbols) - group_begin(groups, g);
          ASSERT_GE(count, 1);
          ASSERT_LE(count, sides);
          if (!in_pairs && g + 1 < groups.count) {
            ASSERT_EQ(count, sides);
          }
          least_pairs = std::min(least_pairs, (count + 1) / 2);
          most_pairs = std::max(most_pairs, (count + 1) / 2);
          pairs += (count + 1) / 2;
        }
        if (in_pairs) {
          ASSERT_LE(most_pairs - least_pairs, 1);
          ASSERT_EQ(pairs, (symbols + 1) / 2);
        }
      }
}

// Groups of all sizes, with blocks of one frame and of more.
TEST(WB_FRAMES, conjugate_gradients_have_the_bits_of_a_cpu_for_any_number_of_vectors) {
  const auto scalar = wb::testing::open_scalar();
  unsigned seed = 300;
  const auto expect_bits = [&](std::size_t antennas, std::size_t users, std::size_t symbols, bool half) {
    const std::size_t frames = 2 * 32 / users + 1;
    const massive_batch full = wb::testing::ugly_frames(antennas, users, symbols, frames),
                        b = half ? wb::testing::in_halves(full) : full;
    SCOPED_TRACE(std::to_string(antennas) + "x" + std::to_string(users) + ", symbols " +
                 std::to_string(symbols) + (half ? ", halves" : ""));
    uplink_config c;
    c.antennas = static_cast<int>(antennas), c.users = static_cast<int>(users);
    c.solver = symbols % 2 == 0 ? massive_solver::cg : massive_solver::jacobi_cg;
    c.iterations = 3, c.residual = 0.2f;
    c.sinr = massive_sinr::approximate;
    const massive_result want = wb::testing::detect(*scalar, c, b, layout::row_major, {.half = half});
    for (const unsigned blocks : {1u, static_cast<unsigned>(frames)})
      EXPECT_TRUE(detect_emulated(c, b, half, blocks, seed++) == want) << blocks << " blocks";
  };
  for (std::size_t symbols = 1; symbols <= 40; symbols++) expect_bits(18, 16, symbols, false);
  for (const std::size_t users : {8, 16, 24, 32})
    for (const std::size_t symbols : {2, 9, 15, 17, 31, 128}) {
      if (!emulation::engine && symbols == 128) continue;
      expect_bits(users + 4, users, symbols, false);
      if (users == 16 || symbols == 17) expect_bits(users + 4, users, symbols, true);
    }
}

// What is left of a frame in entries that no row uses grows from frame to frame if pivots are small. It must
// not reach others.
TEST(WB_FRAMES, channels_may_be_small) {
  const auto scalar = wb::testing::open_scalar();
  for (const std::size_t users : {8, 16, 24, 32, 64}) {
    const std::size_t antennas = users == 64 ? 64 : 36;
    massive_batch b = wb::testing::random_frames(antennas, users, 1, users == 64 ? 9 : 70, 0.1f);
    for (auto& h : b.h) h *= 1e-3f;
    for (auto& y : b.y) y *= 1e-3f;
    for (float& n0 : b.n0) n0 *= 1e-6f;
    uplink_config c;
    c.antennas = static_cast<int>(antennas), c.users = static_cast<int>(users), c.qam = 16;
    const massive_result want =
        wb::testing::detect(*scalar, c, b, layout::row_major, {.half = false, .llr8 = false});
    EXPECT_TRUE(detect_emulated(c, b, false, 1, 5) == want) << users;
  }
}

TEST(WB_FRAMES, uplinks_on_tensor_cores_are_near_a_cpu) {
  const auto scalar = wb::testing::open_scalar();
  unsigned seed = 1;
  for (const uplink_shape& s : uplink_shapes)
    for (const bool half : {false, true}) {
      if ((half && s.antennas % 4 != 0) || (s.users != 16 && s.users != 32)) continue;
      SCOPED_TRACE(std::to_string(s.antennas) + "x" + std::to_string(s.users) + ", symbols " +
                   std::to_string(s.symbols) + (half ? ", halves" : ""));
      const massive_batch b = wb::testing::ugly_frames(s.antennas, s.users, s.symbols, s.frames);
      uplink_config c;
      c.antennas = static_cast<int>(s.antennas), c.users = static_cast<int>(s.users), c.qam = 16;
      c.solver = massive_solver::mf;  // no matrix is decomposed, however near to singular it is
      c.sums = massive_sums::split_f16;
      const massive_result want = wb::testing::detect(*scalar, c, half ? wb::testing::in_halves(b) : b,
                                                      layout::row_major, {.half = half, .llr8 = false});
      const massive_result got = detect_emulated(c, b, half, s.blocks, seed++).value();
      EXPECT_EQ(got.status, want.status);
      double worst = 0;
      for (std::size_t i = 0; i < want.sinr.size(); i++)
        worst = std::max(worst, std::fabs(got.sinr[i] - want.sinr[i]) / (1e-30 + std::fabs(want.sinr[i])));
      EXPECT_LT(worst, 1e-4);
      worst = 0;
      for (std::size_t i = 0; i < want.x.size(); i++)
        worst =
            std::max(worst, static_cast<double>(std::abs(got.x[i] - want.x[i]) / (1 + std::abs(want.x[i]))));
      EXPECT_LT(worst, 1e-4);
      c.solver = massive_solver::cholesky;
      const massive_result one = detect_emulated(c, b, half, s.blocks, seed++).value();
      EXPECT_TRUE(detect_emulated(c, b, half, s.blocks, seed++).value() == one);
    }
}

// However late a solver is: two teams hand their frames to three solvers in turn.
TEST(WB_FRAMES, teams_share_slots_in_turn) {
  const massive_batch b = wb::testing::random_frames(18, 32, 2, 60, 0.1f);
  uplink_config c;
  c.antennas = 18, c.users = 32, c.qam = 16;
  c.sums = massive_sums::split_f16;
  massive_args a = arguments(b, c);
  a.split_f16 = true;
  std::size_t bytes = emulation::shared_bytes;
  while (frame_plan::of_call(a, bytes).solvers > 3) bytes -= 512;
  const frame_plan p = frame_plan::of_call(a, bytes);
  ASSERT_EQ(p.teams, 2);
  ASSERT_EQ(p.slots, 3);
  const massive_result want = detect_emulated(c, b, false, 60, 0).value();
  for (unsigned seed = 1; seed <= 12; seed++)
    EXPECT_TRUE(detect_emulated(c, b, false, 1, seed, bytes).value() == want) << seed;

  // Groups of 14 vectors, after each of which a slot is handed over, are of one team's frames.
  const massive_batch many = wb::testing::random_frames(18, 32, 29, 30, 0.1f);
  const massive_result of_many = detect_emulated(c, many, false, 30, 0).value();
  a.symbols = 29;
  const frame_plan grouped = frame_plan::of_call(a, bytes);
  EXPECT_EQ(grouped.slots % grouped.teams, 0);
  for (unsigned seed = 1; seed <= 6; seed++)
    EXPECT_TRUE(detect_emulated(c, many, false, 1, seed, bytes).value() == of_many) << seed;
}

#if !defined(WB_FRAMES_OF_THREADS)
TEST(WB_FRAMES, uplinks_of_devices_with_less_memory_have_the_bits_of_a_cpu) {
  const auto scalar = wb::testing::open_scalar();
  uplink_config c;
  c.qam = 16;
  unsigned seed = 1;
  int taken = 0;
  for (const auto& [antennas, users, symbols, frames, blocks] : {std::tuple{128, 16, 1, 9, 1},
                                                                 {128, 16, 20, 5, 1},
                                                                 {128, 16, 20, 9, 9},
                                                                 {260, 16, 14, 9, 9},
                                                                 {260, 16, 14, 3, 1},
                                                                 {260, 16, 15, 3, 1},
                                                                 {500, 16, 15, 3, 1},
                                                                 {64, 32, 1, 5, 1},
                                                                 {64, 32, 16, 5, 1},
                                                                 {260, 32, 14, 5, 1},
                                                                 {128, 8, 20, 9, 1},
                                                                 {260, 8, 1, 17, 1},
                                                                 {260, 24, 1, 5, 1},
                                                                 {260, 24, 15, 5, 1},
                                                                 {260, 64, 1, 3, 1},
                                                                 {128, 64, 20, 3, 1},
                                                                 {512, 32, 14, 3, 1}}) {  // one slot
    c.antennas = antennas, c.users = users;
    const massive_batch b =
        wb::testing::ugly_frames(static_cast<std::size_t>(antennas), static_cast<std::size_t>(users),
                                 static_cast<std::size_t>(symbols), static_cast<std::size_t>(frames));
    for (const bool half : {false, true}) {
      const massive_result want = wb::testing::detect(*scalar, c, half ? wb::testing::in_halves(b) : b,
                                                      layout::row_major, {.half = half, .llr8 = false});
      for (const std::size_t bytes : {101376UL, 166912UL, emulation::shared_bytes}) {
        SCOPED_TRACE(std::to_string(antennas) + "x" + std::to_string(users) + ", symbols " +
                     std::to_string(symbols) + (half ? ", halves, " : ", ") + std::to_string(bytes));
        const auto got = detect_emulated(c, b, half, static_cast<unsigned>(blocks), seed++, bytes);
        if (got) {
          EXPECT_TRUE(*got == want);
        }
        taken += got.has_value();
        // Runs without antennas leave memory to the solvers.
        if (antennas == 260 && users == 32 && bytes == emulation::shared_bytes && !half) {
          massive_args a;
          a.antennas = antennas, a.users = users, a.symbols = symbols;
          EXPECT_EQ(frame_plan::of_call(a, bytes).solvers, 4);
        }
        // One team would wait for a solver that waits for the team's next frame.
        if (antennas == 500) {
          EXPECT_FALSE(got.has_value());
        }
      }
    }
  }
  EXPECT_GE(taken, 29);
}

void run_downlink(const massive_args& a, std::size_t frames, unsigned blocks, unsigned seed,
                  std::size_t shared_bytes) {
  if (a.users == 64)
    return with_policy<downlink_64, downlink_64_shared>(a, [&]<class P>() {
      run_streamed_blocks<P, streamed_sends>(downlink_op<fixed<64>>(a), frames, blocks, seed, shared_bytes);
    });
  with_downlink_policy(a, [&]<class P>() {
    const send_plan p = send_plan::of<P>(a, shared_bytes);
    ASSERT_GT(p.buffers, 0);
    emulation::run(blocks, static_cast<unsigned>(p.threads<P>()), seed, shared,
                   [&] { precode_frames<P>(a, p, 0, frames); });
  });
}
/// Nothing where a device with `shared_bytes` has no room for it.
std::optional<massive_result> precode_emulated(const downlink_config& c, const massive_batch& b,
                                               unsigned blocks, unsigned seed,
                                               std::size_t shared_bytes = emulation::shared_bytes) {
  massive_args a = arguments(b, c);
  a.sent_norm = sent_norm_of(c);
  a.symbol_energy = symbol_energy_of(c);
  const aligned_copy<const cx_pair> h(b.h), s(b.s);
  const aligned_copy<const float> n0(b.n0);
  massive_result r{.llr = {},
                   .sinr = {},
                   .x = wb::testing::samples(b.antennas * b.vectors()),
                   .status = std::vector<std::uint8_t>(b.vectors(), 99)};
  a.channel = rows(h.data, b.frames, b.antennas * b.users);
  a.in = rows(s.data, b.vectors(), b.users);
  a.noise_var = rows(n0.data, b.frames, 1);
  aligned_copy<cx_pair> sent(r.x);
  a.out = rows(sent.data, b.vectors(), b.antennas);
  a.status = rows(r.status.data(), b.vectors(), 1);
  if (a.users == 64 ? !takes_streamed_sends(a, shared_bytes) : !takes_sent_frames(a, shared_bytes)) return {};
  run_downlink(a, b.frames, blocks, seed, shared_bytes);
  std::memcpy(static_cast<void*>(r.x.data()), sent.data, r.x.size() * sizeof(r.x[0]));
  return r;
}

TEST(WB_FRAMES, downlinks_have_the_bits_of_a_cpu) {
  const auto scalar = wb::testing::open_scalar();
  const std::vector<uplink_shape> shapes{
      {128, 16, 1, 23, 1}, {18, 16, 1, 40, 3},  {18, 16, 2, 9, 2},   {128, 16, 14, 13, 1}, {36, 16, 33, 9, 1},
      {18, 16, 15, 9, 9},  // blocks with one frame
      {128, 16, 64, 2, 2}, {18, 16, 5, 3, 3},   {256, 32, 1, 11, 1}, {36, 32, 1, 9, 2},    {36, 32, 10, 5, 1},
      {256, 32, 14, 5, 1}, {34, 32, 33, 2, 2},  {128, 8, 1, 41, 1},  {18, 8, 1, 9, 9},     {18, 8, 3, 21, 2},
      {36, 8, 14, 13, 1},  {18, 8, 33, 9, 9},   {128, 24, 1, 13, 1}, {26, 24, 1, 9, 2},    {36, 24, 10, 7, 1},
      {128, 24, 14, 5, 1}, {26, 24, 33, 2, 2},  {512, 64, 1, 3, 1},  {66, 64, 1, 5, 2},    {64, 64, 2, 3, 1},
      {130, 64, 3, 3, 1},  {300, 64, 14, 2, 1}, {64, 64, 33, 3, 1},  {512, 64, 17, 1, 1}};
  unsigned seed = 1;
  for (const uplink_shape& s : shapes) {
    const massive_batch b = wb::testing::ugly_frames(s.antennas, s.users, s.symbols, s.frames);
    for (const massive_solver solver : {massive_solver::cholesky, massive_solver::cg,
                                        massive_solver::jacobi_cg, massive_solver::zf, massive_solver::mf}) {
      SCOPED_TRACE(std::to_string(s.antennas) + "x" + std::to_string(s.users) + ", symbols " +
                   std::to_string(s.symbols) + " " + name_of(solver));
      downlink_config c;
      c.antennas = static_cast<int>(s.antennas), c.users = static_cast<int>(s.users);
      c.solver = solver;
      if (is_iterative(solver)) c.iterations = 3;
      if (solver == massive_solver::jacobi_cg) c.residual = 0.2f;
      const massive_result want = wb::testing::precode(*scalar, c, b);
      EXPECT_TRUE(precode_emulated(c, b, s.blocks, seed++).value() == want);
    }
  }
}

// However late a solver is, and with as few teams and buffers as a device may have room for.
TEST(WB_FRAMES, downlinks_of_devices_with_less_memory_have_the_bits_of_a_cpu) {
  const auto scalar = wb::testing::open_scalar();
  unsigned seed = 1;
  int taken = 0;
  for (const auto& [antennas, users, symbols] : {std::tuple{128, 16, 1},
                                                 {128, 16, 20},
                                                 {260, 16, 14},
                                                 {64, 32, 1},
                                                 {128, 32, 16},
                                                 {512, 32, 14},
                                                 {260, 8, 1},
                                                 {128, 8, 20},
                                                 {128, 24, 1},
                                                 {128, 24, 20},
                                                 {260, 64, 1},
                                                 {128, 64, 20}})
    for (const std::size_t bytes : {49152UL, 101376UL, 166912UL, emulation::shared_bytes}) {
      SCOPED_TRACE(std::to_string(antennas) + "x" + std::to_string(users) + ", symbols " +
                   std::to_string(symbols) + ", " + std::to_string(bytes));
      downlink_config c;
      c.antennas = antennas, c.users = users;
      const massive_batch b =
          wb::testing::ugly_frames(static_cast<std::size_t>(antennas), static_cast<std::size_t>(users),
                                   static_cast<std::size_t>(symbols), 11);
      const auto got = precode_emulated(c, b, 1, seed++, bytes);
      taken += got.has_value();
      if (got) {
        EXPECT_TRUE(*got == wb::testing::precode(*scalar, c, b));
      }
      if (antennas == 512) {
        EXPECT_FALSE(got.has_value());
      }
    }
  EXPECT_GE(taken, 12);
}

// Other calls of 64 users keep the generic kernel.
TEST(WB_FRAMES, downlinks_of_64_users_take_what_fits) {
  alignas(16) static const cx_pair data[4] = {};
  alignas(16) static cx_pair out[4] = {};
  const auto takes = [](int antennas, int symbols, auto change, std::size_t bytes = emulation::shared_bytes) {
    massive_args a;
    a.antennas = antennas, a.users = 64, a.symbols = symbols;
    const std::size_t b = static_cast<std::size_t>(antennas);
    a.channel = {data, 64 * b, 100, 1, 64 * b};
    a.out = {out, b, 100, 1, b};
    change(a);
    return takes_streamed_sends(a, bytes);
  };
  const auto as_it_is = [](massive_args&) {};
  for (const int antennas : {64, 130, 512})
    for (const int symbols : {1, 14, 33}) EXPECT_TRUE(takes(antennas, symbols, as_it_is)) << antennas;
  EXPECT_FALSE(takes(129, 1, as_it_is));
  EXPECT_FALSE(takes(512, 14, as_it_is, 101376));
  EXPECT_FALSE(takes(128, 1, [](massive_args& a) { a.users = 32; }));
  EXPECT_FALSE(takes(128, 1, [](massive_args& a) { a.channel.element_stride = 100; }));
  EXPECT_FALSE(takes(128, 1, [](massive_args& a) { a.channel.data++; }));
  EXPECT_FALSE(takes(128, 1, [](massive_args& a) { a.out.element_stride = 100; }));
  EXPECT_FALSE(takes(128, 1, [](massive_args& a) { a.out.item_stride++; }));
}
#endif

}  // namespace
