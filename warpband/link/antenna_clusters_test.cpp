// Links whose base station has its antennas in clusters: keys, results, counts beside those of the central
// detector and precoder, and the same counts on every backend.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include <tests/on_backends.hpp>
#include <tests/scenario.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/result.hpp>

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

TEST_P(antenna_clusters_on, counts_are_those_of_a_scalar_cpu_in_any_batch) {
  const auto reference = testing::open_reference();
  for (const std::string& method : {cholesky, cholesky + local, cg + by_cg})
    for (const std::string& direction : {std::string(), down}) {
      const link_config link = only_curve(link_text(method + direction + in_clusters(4))).link;
      link_chain there(link, *reference), here(link, exec()), one(link, exec(), 1);
      const std::vector<std::int32_t> expected = there.run(50, 5, 2).bit_errors;
      EXPECT_EQ(here.run(50, 5, 2).bit_errors, expected) << method << direction;
      EXPECT_EQ(one.run(52, 1, 2).bit_errors[0], expected[2]) << method << direction;
    }
}

TEST(antenna_clusters, keys_become_settings_and_stand_in_results_only_where_they_are_set) {
  const auto config_of = [](const std::string& text) {
    const curve_config c = only_curve(link_text(text));
    return c.link.antennas.get<massive_link_config>();
  };
  EXPECT_EQ(config_of(cholesky).clusters, 1);
  EXPECT_EQ(config_of(cholesky + in_clusters(4) + local).clusters, 4);
  EXPECT_EQ(config_of(cholesky + in_clusters(4) + local).clustering, cluster_method::local_mmse);
  EXPECT_EQ(config_of(cholesky + "massive.cluster_method = \"Local_MMSE\"\n").clustering,
            cluster_method::local_mmse);
  const auto result_of = [](const std::string& text) {
    const auto exec = testing::open_scalar();
    run_result r;
    r.source = parse_scenario(link_text(text), "s.toml");
    for (curve_config& c : r.source.curves) {
      c.stop.max_frames = 1;
      r.curves.push_back(run_curve(c, *exec));
    }
    return nlohmann::json::parse(result_json(r))["curves"][0]["config"]["massive"];
  };
  const nlohmann::json plain = result_of(cholesky), set = result_of(cg + in_clusters(2) + by_cg);
  EXPECT_FALSE(plain.contains("clusters") || plain.contains("cluster_method"));
  EXPECT_EQ(set["clusters"], 2);
  EXPECT_EQ(set["cluster_method"], "cg");
}

TEST(antenna_clusters, what_does_not_go_is_refused) {
  EXPECT_REFUSED(link_text(cholesky + in_clusters(3)),
                 "massive.clusters = 3 is not allowed: expected a divisor of antennas = 32");
  EXPECT_REFUSED(link_text(cholesky + in_clusters(0)), "massive.clusters = 0 is not allowed");
  EXPECT_REFUSED(link_text(cholesky + in_clusters(16) + local),
                 "massive.clusters = 16 is not allowed: expected at most antennas / users = 8");
  EXPECT_REFUSED(link_text(cg + in_clusters(2) + local),
                 "massive.solver = cg is not allowed: expected cholesky with cluster_method local-mmse");
  EXPECT_REFUSED(link_text(cholesky + by_cg),
                 "massive.solver = cholesky is not allowed: expected cg with cluster_method cg");
  EXPECT_REFUSED(
      link_text(cholesky + "massive.cluster_method = \"lu\"\n"),
      "massive.cluster_method = \"lu\" is not allowed: expected \"exact\", \"local-mmse\" or \"cg\"");
  EXPECT_REFUSED("sweep.snr_db = 1\nmassive.clusters = 2\n",
                 "massive.clusters has no meaning without massive.solver");
}

}  // namespace antenna_clusters_test
}  // namespace wb
