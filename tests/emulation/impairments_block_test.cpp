// Front-end impairments as threads of a CUDA block share a tile of samples, on the host: the same bits as a
// CPU, in any order in which threads run.
#define WB_ISA emulated_impairments
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include <tests/emulation/block_group.hpp>
#include <warpband/channel/impairments/impairments.hpp>
#include <warpband/channel/impairments/impairments_op.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/forwarding.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

/// Runs the three steps with threads as well, each with what the step before it made on the CPU.
class emulated_impairments final : public forwarding_executor {
 public:
  emulated_impairments(executor& cpu, int threads) : forwarding_executor(cpu), threads_(threads) {}
  void run(const kernel_set& kernels, const void* args, std::size_t items) override {
    const auto& a = *static_cast<const impair_args*>(args);
    const std::size_t tiles = a.in.items * a.tiles;
    const std::vector<std::int32_t> before =
        a.walked != nullptr ? std::vector(a.walked, a.walked + tiles) : std::vector<std::int32_t>(tiles);
    forwarding_executor::run(kernels, args, items);
    sync();
    if (a.walked == nullptr || calls_ == 2)
      expect_same(impair_op{{a}}, a.out, items);
    else if (calls_ == 0)
      expect_same(impair_sums_op{{a}}, before, items);
    else
      expect_same(impair_totals_op{{a}}, before, items);
    calls_++;
  }
  int calls() const { return calls_; }

 private:
  template <class Op>
  void run_threads(const Op& op, std::size_t items, unsigned seed) {
    ASSERT_LE(op.scratch_bytes(threads_), emulation::shared_bytes);
    std::int32_t word = 0;
    emulation::run(1, static_cast<unsigned>(threads_), seed, memory_.data(), [&] {
      const emulation::block_group g{threads_, &word};
      for (std::size_t i = 0; i < items; i++) {
        op(i, 1, g, emulation::shared);
        g.sync();
      }
    });
  }
  /// The sums of tiles or of captures.
  template <class Op>
  void expect_same(const Op& of_cpu, const std::vector<std::int32_t>& before, std::size_t items) {
    const impair_args& cpu = of_cpu.a;
    const std::size_t tiles = before.size(), captures = cpu.in.items;
    for (unsigned seed = 0; seed < 2; seed++) {  // orders in which threads run
      Op op = of_cpu;
      std::vector<std::int32_t> walked = before, erased(cpu.erased, cpu.erased + tiles), sums(captures);
      op.a.walked = walked.data(), op.a.erased = erased.data();
      op.a.erased_sum = make_view(sums.data(), captures, 1);
      if (items == tiles) std::fill(erased.begin(), erased.end(), -1);
      run_threads(op, items, seed);
      EXPECT_TRUE(std::equal(walked.begin(), walked.end(), cpu.walked)) << threads_ << " " << seed;
      EXPECT_TRUE(std::equal(erased.begin(), erased.end(), cpu.erased)) << threads_ << " " << seed;
      for (std::size_t i = 0; i < captures && items == captures; i++)
        EXPECT_EQ(sums[i], cpu.erased_sum.data[i * cpu.erased_sum.item_stride]) << threads_ << " " << seed;
    }
  }
  void expect_same(const impair_op& of_cpu, const view<cx_pair>& samples, std::size_t items) {
    for (unsigned seed = 0; seed < 2; seed++) {
      impair_op op = of_cpu;
      std::vector<cx_pair> out(samples.items * samples.elements);
      op.a.out = make_view(out.data(), samples.items, samples.elements);
      run_threads(op, items, seed);
      for (std::size_t c = 0; c < samples.items; c++)
        for (std::size_t n = 0; n < samples.elements; n++)
          ASSERT_EQ(std::memcmp(&out[c * samples.elements + n],
                                samples.data + c * samples.item_stride + n * samples.element_stride,
                                sizeof(cx_pair)),
                    0)
              << threads_ << " threads, order " << seed << ", capture " << c << ", sample " << n;
    }
  }

  int threads_, calls_ = 0;
  std::vector<float> memory_ = std::vector<float>(emulation::shared_bytes / sizeof(float));
};

void expect_same_impairments(const impairments_config& config, std::size_t n, bool counts,
                             std::initializer_list<int> team_sizes) {
  constexpr std::size_t captures = 2;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<std::complex<float>> samples(captures * n), out(captures * n);
  for (auto& x : samples) x = {normal(random), normal(random)};
  samples[n / 2] = {1e20f, 0}, samples[captures * n - 1] = {0, -1e16f};
  std::vector<std::int32_t> erased(captures);
  const impairments front_end(config);
  for (const int threads : team_sizes) {
    cpu base({.threads = 1, .instructions = isa::scalar});
    emulated_impairments exec(base, threads);
    front_end.run(exec, make_view<const std::complex<float>>(samples.data(), captures, n),
                  make_view(out.data(), captures, n), {.seed = 3},
                  counts ? make_view(erased.data(), captures, 1) : view<std::int32_t>());
    EXPECT_EQ(exec.calls(), counts ? 3 : 1);
  }
  EXPECT_EQ(erased, (std::vector<std::int32_t>(captures, counts ? 1 : 0)));
}

TEST(emulated_impairments_block, gives_what_a_cpu_gives) {
  // The last tile is not whole. Of 40 tiles a thread of 32 sums two, and the last threads none.
  expect_same_impairments({.sample_rate_hz = 1e6,
                           .cfo_hz = 1234,
                           .delay_samples = 0.21,
                           .clock_offset_ppm = 900,
                           .linewidth_hz = 100,
                           .noise_var = 0.01,
                           .iq_gain_db = -0.5,
                           .iq_phase_deg = 2,
                           .dc_i = 0.01,
                           .converter_bits = 12,
                           .full_scale = 4},
                          700, true, {32, 96, 256});
  expect_same_impairments({.sample_rate_hz = 1e6, .linewidth_hz = 1e6}, 40 * 256 - 5, true, {32});
  expect_same_impairments({.cfo_hz = 1e5, .delay_samples = -3.5}, 257, false, {96, 256});
}

}  // namespace

}  // namespace WB_ISA
}  // namespace wb
