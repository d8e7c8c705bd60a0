// The steps of a cell search as threads of a CUDA block share them, on the host: the same bits as a CPU, in
// any order in which threads run.
#define WB_ISA emulated_search
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include <tests/emulation/block_group.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/forwarding.hpp>
#include <warpband/nr/sync/cell_search.hpp>
#include <warpband/nr/sync/cell_search_op.hpp>

namespace wb {
inline namespace WB_ISA {

namespace {

/// Calls `watch` with the number of the kernel, its arguments and items, after it ran.
class watched_search final : public forwarding_executor {
 public:
  using watcher = std::function<void(int, const void*, std::size_t)>;
  watched_search(executor& cpu, watcher watch) : forwarding_executor(cpu), watch_(std::move(watch)) {}
  void run(const kernel_set& op, const void* args, std::size_t items) override {
    forwarding_executor::run(op, args, items);
    watch_(calls_++, args, items);
  }

 private:
  watcher watch_;
  int calls_ = 0;
};

class search_blocks {
 public:
  search_blocks(int threads, unsigned seed) : threads_(threads), seed_(seed) {}
  /// Runs one item after the other, each with NaN in the shared memory.
  template <class Call>
  void run(std::size_t items, const Call& call) {
    std::vector<float> memory(emulation::shared_bytes / sizeof(float));
    for (std::size_t i = 0; i < items; i++)
      emulation::run(1, static_cast<unsigned>(threads_), seed_, memory.data(),
                     [&] { call(i, emulation::block_group{threads_, &word_}); });
  }
  void filter(const search_filter_args& a, std::size_t items) {
    const std::size_t values = items * search_tile;
    std::vector<float> re(values), im(values);
    std::vector<std::int32_t> erased(items);
    search_filter_op op{{a}};
    op.a.re = re.data(), op.a.im = im.data(), op.a.erased = erased.data();
    run(items, [&](std::size_t i, const auto& g) { op(i, 1, g, emulation::shared); });
    EXPECT_EQ(re, std::vector<float>(a.re, a.re + values));
    EXPECT_EQ(im, std::vector<float>(a.im, a.im + values));
    EXPECT_EQ(erased, std::vector<std::int32_t>(a.erased, a.erased + items));
  }
  /// Of an op whose results are rows of `elements`.
  template <class Op, class Args>
  void same(const Args& a, view<float> Args::*result, std::size_t elements, std::size_t items) {
    std::vector<float> found(items * elements);
    Op op{{a}};
    op.a.*result = make_view(found.data(), items, elements);
    run(items, [&](std::size_t i, const auto& g) { op(item<float>{i, 1}, g, emulation::shared); });
    const float* const of_cpu = (a.*result).data;
    EXPECT_EQ(found, std::vector<float>(of_cpu, of_cpu + found.size()));
  }

 private:
  int threads_;
  unsigned seed_;
  std::int32_t word_ = 0;
};

TEST(emulated_cell_search_block, gives_what_a_cpu_gives) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  std::vector<std::complex<float>> samples(1100);
  for (auto& x : samples) x = {normal(random), normal(random)};
  samples[77] = {INFINITY, 0};
  for (const auto& [threads, seed] : {std::pair(64, 0u), {128, 1u}}) {
    cpu base({.threads = 1, .instructions = isa::scalar});
    search_blocks blocks(threads, seed);
    int judged = 0;
    watched_search exec(base, [&](int call, const void* args, std::size_t items) {
      if (call == 0) blocks.filter(*static_cast<const search_filter_args*>(args), items);
      if (call == 1)
        blocks.same<search_correlate_op>(*static_cast<const search_correlate_args*>(args),
                                         &search_correlate_args::peaks, search_peak_values, items);
      if (call >= 2)
        blocks.same<search_identify_op>(*static_cast<const search_identify_args*>(args),
                                        &search_identify_args::out, search_result, items);
      judged++;
    });
    const auto found =
        cell_search({.sample_rate_hz = 3.84e6, .candidates = 2})
            .run(exec, make_view<const std::complex<float>>(samples.data(), 1, samples.size()));
    EXPECT_EQ(found.erased, std::vector<std::int64_t>{1});
    EXPECT_EQ(judged, 5);  // three PSS are identified
  }
}

}  // namespace

}  // namespace WB_ISA
}  // namespace wb
