#pragma once
// Calls of the 16-bit decoders of convolutional codes for tests of threads that share one, and what one
// thread alone finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <tests/conv.hpp>
#include <tests/emulation/emulated_tiles.hpp>

namespace wb {
inline namespace WB_ISA {

/// Arguments of random LLRs of eleven codewords, the fourth of zeros.
template <class Args>
struct conv_tile_call {
  static constexpr std::size_t items = 11;
  conv_frame frame;
  Args a;
  std::vector<std::int8_t> llr;

  conv_tile_call(const conv_code& code, int k, int windows, int overlap) : frame(code, k) {
    a.code = frame.on_host();
    a.code.older &= (1 << a.code.outputs) - 1;
    a.code.newer &= (1 << a.code.outputs) - 1;
    a.punctured =
        frame.n() != static_cast<std::size_t>(a.code.steps) * static_cast<std::size_t>(a.code.outputs);
    a.windows = windows;
    a.length = (a.code.steps + windows - 1) / windows;
    a.overlap = overlap;
    std::mt19937_64 rng(1);
    llr.resize(frame.n() * items);
    for (auto& x : llr) x = static_cast<std::int8_t>(static_cast<int>(rng() % 60) - 30);
    std::fill_n(llr.begin() + static_cast<std::ptrdiff_t>(3 * frame.n()), frame.n(), std::int8_t{0});
    a.llr8 = make_view<const std::int8_t>(llr.data(), items, frame.n());
  }
  bool paired() const { return a.code.older == a.code.newer; }

  /// SharedOp by a warp gives what Op alone does: `output` and statuses.
  template <class Op, class SharedOp, class Output>
  void expect_same(Output output, const std::string& name) {
    using X = std::remove_pointer_t<decltype((a.*output).data)>;
    const auto n = static_cast<std::size_t>(a.code.k);
    const auto give = [&](std::vector<X>& values, std::vector<std::uint8_t>& status) {
      values.assign(n * items, X(9));
      status.assign(items, 9);
      a.*output = make_view(values.data(), items, n);
      a.status = make_view(status.data(), items, std::size_t{1});
    };
    std::vector<std::uint8_t> status, got_status;
    std::vector<X> values, got;
    give(values, status);
    const Op alone(a);
    std::vector<float> scratch(alone.scratch_bytes(1) / sizeof(float) + 16);
    for (std::size_t i = 0; i < items; i += static_cast<std::size_t>(alone.at_once))
      alone(i, std::min(static_cast<int>(items - i), alone.at_once), solo{}, scratch.data());
    EXPECT_EQ(status[3], status_erased | status_insufficient);
    EXPECT_EQ(status[4], 0);

    a.by_warp = true;
    std::vector<float> memory(emulation::shared_bytes / sizeof(float));
    for (unsigned seed = 0; seed < 2; seed++) {
      give(got, got_status);
      const SharedOp shared(a);
      ASSERT_LE(shared.scratch_bytes(32), emulation::shared_bytes);
      const auto step = static_cast<std::size_t>(shared.at_once);
      emulation::run(1, 32, seed, memory.data(), [&] {
        for (std::size_t i = 0; i < items; i += step) {
          const emulated_warp g;
          shared(i, static_cast<int>(std::min(items - i, step)), g, memory.data());
          g.sync();
        }
      });
      EXPECT_EQ(got, values) << name;
      EXPECT_EQ(got_status, status) << name;
    }
  }
};

}  // namespace WB_ISA
}  // namespace wb
