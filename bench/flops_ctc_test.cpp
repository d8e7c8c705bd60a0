// Holds what the decoder of duo-binary turbo codes states as flops() against the arithmetic of its body,
// counted by counted.hpp.
#define WB_ISA counting
#define WB_WIDTH 1
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <warpband/core/group.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/exec/kernel.hpp>
#include <warpband/fec/ctc/ctc_op.hpp>
#include <warpband/fec/trellis/max_star_table.hpp>

#include "counted.hpp"

namespace wb {
namespace flops_ctc_test {

TEST(flops, of_the_decoder_of_couples) {
  for (const auto algorithm :
       {map_algorithm::max_log_map, map_algorithm::log_map, map_algorithm::log_map_table})
    for (const int couples : {24, 240})
      for (const int windows : {1, 3})
        for (const int overlap : {0, 7})
          for (const int iterations : {1, 3}) {
            const auto n = static_cast<std::size_t>(6 * couples);
            const std::vector<float> llr(n, 1.f);
            std::vector<std::uint8_t> bits(n / 3);
            std::vector<float> soft(n / 3), coded(n);
            std::vector<std::int32_t> received(n);
            for (std::size_t i = 0; i < n; i++) received[i] = static_cast<std::int32_t>(i);
            ctc_decode_args a;
            a.couples = couples, a.windows = windows, a.overlap = overlap, a.iterations = iterations;
            a.algorithm = algorithm;
            a.llr = make_view(llr.data(), 1, n);
            a.bits = make_view(bits.data(), 1, bits.size());
            a.coded = make_view(coded.data(), 1, n);
            a.received = received.data();
            a.interleaved = received.data();
            for (const bool with_soft : {false, true}) {
              if (with_soft) a.soft = make_view(soft.data(), 1, soft.size());
              const auto expect = [&](const auto& op) {
                const double did = operations_of(op, op.scratch(1));
                EXPECT_NEAR(op.flops(), did, 0.02 * did + 300)
                    << "algorithm " << static_cast<int>(algorithm) << ", couples " << couples << ", windows "
                    << windows << ", overlap " << overlap << ", iterations " << iterations << with_soft;
              };
              const auto expect_both = [&]<class M>(M) {
                expect(ctc_decode_op<M>{a});
                expect(ctc_decode_op<M, true>{a});
              };
              if (algorithm == map_algorithm::log_map)
                expect_both(wb::counting::log_map{});
              else if (algorithm == map_algorithm::max_log_map)
                expect_both(max_log{});
              else
                expect_both(max_star_table{});
            }
          }
}

}  // namespace flops_ctc_test
}  // namespace wb
