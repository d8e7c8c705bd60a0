#include <warpband/massive/cluster/cluster.hpp>

#include <algorithm>
#include <string>

#include <warpband/massive/cluster/cluster_calls.hpp>
#include <warpband/massive/cluster/cluster_settings.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

using namespace cluster_calls;

namespace {

void check_clusters(int clusters, massive_cluster_method method, int antennas, int users,
                    massive_solver solver) {
  check_range("clusters", clusters, 1, most_clusters);
  const auto refuse = [&](const std::string& allowed) {
    throw argument_error("clusters", std::to_string(clusters), allowed);
  };
  if (antennas % clusters != 0) refuse("a divisor of antennas = " + std::to_string(antennas));
  if (method != massive_cluster_method::exact && method != massive_cluster_method::local_mmse &&
      method != massive_cluster_method::cg)
    throw argument_error("cluster_method", std::to_string(static_cast<int>(method)),
                         "exact, local_mmse or cg");
  if (method == massive_cluster_method::local_mmse && solver != massive_solver::cholesky)
    throw argument_error("solver", name_of(solver), "cholesky with cluster_method local-mmse");
  if (method == massive_cluster_method::cg && solver != massive_solver::cg)
    throw argument_error("solver", name_of(solver), "cg with cluster_method cg");
  if (method == massive_cluster_method::local_mmse && antennas / clusters < users)
    refuse("at most antennas / users = " + std::to_string(antennas / users) +
           " with cluster_method local-mmse");
}

/// The settings of one cluster with local_mmse. With other methods: as many antennas as one detector or
/// precoder takes, since only the other settings are checked by it.
template <class Config>
Config local(Config c, int clusters, massive_cluster_method method) {
  if (method == massive_cluster_method::local_mmse)
    c.antennas /= clusters;
  else
    c.antennas = std::min(c.antennas, most_massive_antennas);
  return c;
}

}  // namespace

const char* name_of(massive_cluster_method method) noexcept {
  switch (method) {
    case massive_cluster_method::exact:
      return "exact";
    case massive_cluster_method::local_mmse:
      return "local-mmse";
    case massive_cluster_method::cg:
      return "cg";
  }
  return "other";
}

const std::vector<setting_of<clustered_uplink_config>>& clustered_uplink_settings() {
  using c = clustered_uplink_config;
  static const auto settings = [] {
    auto of_detector = uplink_settings();
    for (auto& s : of_detector)
      if (s.name == "antennas")
        s = integer("antennas", &uplink_config::antennas, 1, most_massive_antennas * most_clusters,
                    "B, of the base station.", "an integer from the users to 512 for each cluster");
    auto list = within<c>([](c& x) -> auto& { return x.detector; }, of_detector);
    list.push_back(clusters_setting<c>());
    list.push_back(cluster_method_setting(&c::cluster_method));
    return list;
  }();
  return settings;
}
const std::vector<setting_of<clustered_downlink_config>>& clustered_downlink_settings() {
  using c = clustered_downlink_config;
  static const auto settings = [] {
    auto list = within<c>([](c& x) -> auto& { return x.precoder; }, downlink_settings());
    list.push_back(clusters_setting<c>());
    list.push_back(cluster_method_setting(&c::cluster_method));
    return list;
  }();
  return settings;
}

void check(const clustered_uplink_config& config) {
  const uplink_config& d = config.detector;
  check_range("clusters", config.clusters, 1, most_clusters);
  check(local(d, config.clusters, massive_cluster_method::exact));
  check_range("antennas", d.antennas, d.users, most_massive_antennas * config.clusters);
  check_clusters(config.clusters, config.cluster_method, d.antennas, d.users, d.solver);
  if (config.cluster_method != massive_cluster_method::local_mmse && d.sums != massive_sums::float32)
    throw argument_error("sums", name_of(d.sums),
                         std::string("float32 with cluster_method ") + name_of(config.cluster_method));
}
void check(const clustered_downlink_config& config) {
  const downlink_config& p = config.precoder;
  check(p);
  check_clusters(config.clusters, config.cluster_method, p.antennas, p.users, p.solver);
}

clustered_uplink_detector::clustered_uplink_detector(const clustered_uplink_config& config)
    : config_((check(config), config)),
      local_(local(config.detector, config.clusters, config.cluster_method)) {}

std::size_t clustered_uplink_detector::bits_per_vector() const noexcept {
  return as_size(config_.detector.users * bits_per_symbol(config_.detector.qam));
}

clustered_downlink_precoder::clustered_downlink_precoder(const clustered_downlink_config& config)
    : config_((check(config), config)),
      local_(local(config.precoder, config.clusters, config.cluster_method)),
      sender_(sender_of(config.precoder, config.precoder.antennas)) {}

}  // namespace wb
