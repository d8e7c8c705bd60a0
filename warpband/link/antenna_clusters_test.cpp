// Links whose base station has its antennas in clusters: counts beside those of the central detector and
// precoder.
#include <gtest/gtest.h>

#include <numeric>

#include <tests/on_backends.hpp>
#include <tests/scenario.hpp>
#include <warpband/link/chain.hpp>

namespace wb {
namespace antenna_clusters_test {

using testing::only_curve;

std::string link_text(const std::string& more) {
  return "code.type = \"none\"\nmodem.modulation = \"16qam\"\nchannel.type = \"rayleigh\"\n"
         "massive.antennas = 32\nmassive.users = 4\nmassive.subcarriers = 24\nmassive.symbols = "
         "2\nsweep.snr_db = 2\n"
         "stop = { max_frames = 30 }\n" +
         more;
}
const std::string cholesky = "massive.solver = \"cholesky\"\n",
                  cg = "massive.solver = \"cg\"\nmassive.iterations = 3\n",
                  local = "massive.cluster_method = \"local-mmse\"\n",
                  by_cg = "massive.cluster_method = \"cg\"\n", down = "massive.direction = \"downlink\"\n";
std::string in_clusters(int clusters) { return "massive.clusters = " + std::to_string(clusters) + "\n"; }

std::int64_t bit_errors(executor& exec, const std::string& text) {
  link_chain chain(only_curve(link_text(text)).link, exec);
  const frame_counts& counts = chain.run(0, 30, 2);
  EXPECT_EQ(std::accumulate(counts.erased_uses.begin(), counts.erased_uses.end(), 0), 0);
  return std::accumulate(counts.bit_errors.begin(), counts.bit_errors.end(), std::int64_t{0});
}

class antenna_clusters_on : public testing::on_backend {};
WB_ON_ALL_BACKENDS(antenna_clusters_on);

TEST_P(antenna_clusters_on, exact_sums_and_cg_count_what_the_central_ones_do) {
  for (const std::string& direction : {std::string(), down})
    for (const int clusters : {1, 2, 8}) {
      SCOPED_TRACE(direction + std::to_string(clusters));
      const auto central = static_cast<double>(bit_errors(exec(), cholesky + direction)),
                 central_cg = static_cast<double>(bit_errors(exec(), cg + direction));
      EXPECT_GT(central, 100);
      // A bit on the border may go the other way.
      EXPECT_NEAR(static_cast<double>(bit_errors(exec(), cholesky + direction + in_clusters(clusters))),
                  central, 2);
      EXPECT_NEAR(static_cast<double>(bit_errors(exec(), cg + direction + in_clusters(clusters))), central_cg,
                  2);
      EXPECT_NEAR(static_cast<double>(bit_errors(exec(), cg + direction + in_clusters(clusters) + by_cg)),
                  central_cg, 2);
    }
}

TEST_P(antenna_clusters_on, local_detectors_and_precoders_lose_the_more_the_more_there_are) {
  for (const std::string& direction : {std::string(), down}) {
    std::int64_t before = bit_errors(exec(), cholesky + direction);
    EXPECT_EQ(bit_errors(exec(), cholesky + direction + local), before);
    for (const int clusters : {2, 4, 8}) {
      const std::int64_t errors = bit_errors(exec(), cholesky + direction + in_clusters(clusters) + local);
      EXPECT_GT(errors, before) << direction << clusters;
      before = errors;
    }
  }
}

}  // namespace antenna_clusters_test
}  // namespace wb
