// Results of links in slots of 5G NR read back as they were written.
#include <gtest/gtest.h>

#include <tests/codes.hpp>
#include <tests/on_backends.hpp>
#include <tests/scratch.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/result.hpp>

namespace wb {
namespace nr_result_test {

class nr_result : public ::testing::Test, protected testing::scratch_folder {};

/// A result of all curves of a scenario, after a few blocks.
run_result measured(const std::string& text) {
  run_result r;
  r.source = parse_scenario(text, "given/name.toml");
  const auto exec = testing::open_reference();
  r.origin.machine = describe_machine(*exec);
  for (const curve_config& c : r.source.curves) {
    link_chain chain(c.link, *exec);
    r.curves.push_back({c.label, c, {}, {}, false});
    for (const double db : c.sweep_db) r.curves.back().points.push_back(run_point(chain, db, c.stop));
  }
  r.complete = true;
  return r;
}

/// Base graph 2 has smaller code blocks than LTE's: more iterations than those of LTE's number of blocks.
TEST_F(nr_result, of_many_small_code_blocks_reads_back) {
  const run_result r = measured(R"(
nr = { channel = "pusch", resource_blocks = 160, mcs_table = 3, mcs = 5, csi = "perfect" }
channel.type = "tdl"
decoder = { iterations = 3, early_stop = "none" }
code.transmissions = 1
sweep.snr_db = [-10.0]
stop = { frame_errors = 0, max_frames = 1 }
)");
  const link_config& link = r.curves[0].config.link;
  ASSERT_GT(harq_of(link.code).code_blocks, segment_transport_block(testing::k_in(link.code)).blocks);
  EXPECT_EQ(r.curves[0].points[0].counts.iterations,
            3u * static_cast<unsigned>(harq_of(link.code).code_blocks));
  write("r.json", result_json(r));
  EXPECT_EQ(load_result(path("r.json")).curves[0].points[0].counts, r.curves[0].points[0].counts);
}

}  // namespace nr_result_test
}  // namespace wb
