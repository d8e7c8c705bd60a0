// Iterations and status of decoders.
#include <gtest/gtest.h>

#include <tests/on_backends.hpp>
#include <warpband/code/passes/passes.hpp>

namespace passes_test {

using wb::testing::blamed;
using wb::testing::on_device;

class passes : public wb::testing::on_backend {};
WB_ON_ALL_BACKENDS(passes);

TEST_P(passes, sums_up_code_blocks) {
  const std::vector<std::int32_t> block_iterations{1, 2, 3, 4, 5, 6, 0, 0, 7};  // [3, 3]
  const std::vector<std::uint8_t> ok{1, 0, 0}, status{0, 0, 5};
  const auto e = on_device(exec(), block_iterations, 3, 3);
  const auto o = on_device(exec(), ok, 3, 1), s = on_device(exec(), status, 3, 1);
  auto iterations = exec().make<std::int32_t>(3, 1);
  auto stopped = exec().make<std::uint8_t>(3, 1);
  wb::sum_up_blocks(exec(), e, o, s, iterations, stopped);
  EXPECT_EQ(exec().to_host(iterations), (std::vector<std::int32_t>{6, 15, 7}));
  EXPECT_EQ(exec().to_host(stopped), (std::vector<std::uint8_t>{2, 0, 5}));
  EXPECT_EQ(blamed([&] { wb::sum_up_blocks(exec(), {}, o, s, iterations, {}); }),
            "block_iterations.elements");
}

TEST_P(passes, counts_one_for_what_is_not_erased) {
  for (const std::size_t frames : {1, 5, 33}) {
    std::vector<std::uint8_t> status(frames);
    std::vector<std::int32_t> expected(frames);
    for (std::size_t i = 0; i < frames; i++) {
      status[i] = static_cast<std::uint8_t>(3 * i + 2);
      expected[i] = status[i] % 2 == 0;
    }
    const auto s = on_device(exec(), status, frames, 1);
    auto iterations = on_device(exec(), std::vector<std::int32_t>(frames, -1), frames, 1);
    wb::count_pass(exec(), s, iterations);
    EXPECT_EQ(exec().to_host(iterations), expected);
  }
  const auto s = on_device(exec(), std::vector<std::uint8_t>(4), 2, 2);
  auto iterations = exec().make<std::int32_t>(2, 1);
  EXPECT_EQ(blamed([&] { wb::count_pass(exec(), s, iterations); }), "status");
}

}  // namespace passes_test
