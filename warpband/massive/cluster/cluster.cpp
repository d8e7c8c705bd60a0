#include <warpband/massive/cluster/cluster.hpp>

#include <algorithm>
#include <string>

#include <warpband/massive/cluster/cluster_calls.hpp>
#include <warpband/massive/cluster/cluster_settings.hpp>
#include <warpband/massive/massive_arguments.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

using namespace cluster_calls;

namespace {

void check_clusters(int clusters, cluster_method method, int antennas, int users, massive_mode mode) {
  check_range("clusters", clusters, 1, most_clusters);
  const auto refuse = [&](const std::string& allowed) {
    throw argument_error("clusters", std::to_string(clusters), allowed);
  };
  if (antennas % clusters != 0) refuse("a divisor of antennas = " + std::to_string(antennas));
  if (method != cluster_method::exact && method != cluster_method::local_mmse && method != cluster_method::cg)
    throw argument_error("cluster_method", std::to_string(static_cast<int>(method)),
                         "exact, local_mmse or cg");
  if (method == cluster_method::local_mmse && mode != massive_mode::cholesky)
    throw argument_error("solver", name_of(mode), "cholesky with cluster_method local-mmse");
  if (method == cluster_method::cg && mode != massive_mode::cg)
    throw argument_error("solver", name_of(mode), "cg with cluster_method cg");
  if (method == cluster_method::local_mmse && antennas / clusters < users)
    refuse("at most antennas / users = " + std::to_string(antennas / users) +
           " with cluster_method local-mmse");
}

/// All stages on one executor, which has all clusters.
void queue_cg(executor& exec, cg_steps& steps) {
  run_cg_stages(steps.iterations(), [&](cluster_cg_stage s) { steps.queue(exec, s); }, [](auto) {});
}

/// The settings of one cluster with local_mmse. With other methods: as many antennas as one detector or
/// precoder takes, since only the other settings are checked by it.
template <class Config>
Config local(Config c, int clusters, cluster_method method) {
  if (method == cluster_method::local_mmse)
    c.antennas /= clusters;
  else
    c.antennas = std::min(c.antennas, most_massive_antennas);
  return c;
}

}  // namespace

const char* name_of(cluster_method method) noexcept {
  switch (method) {
    case cluster_method::exact:
      return "exact";
    case cluster_method::local_mmse:
      return "local-mmse";
    case cluster_method::cg:
      return "cg";
  }
  return "other";
}

const std::vector<setting_of<clustered_uplink_config>>& clustered_uplink_settings() {
  using c = clustered_uplink_config;
  static const auto all = [] {
    auto of_detector = uplink_settings();
    for (auto& s : of_detector)
      if (s.name == "antennas")
        s = integer("antennas", &uplink_config::antennas, 1, most_massive_antennas * most_clusters,
                    "B, of the base station.", "an integer from the users to 512 for each cluster");
    auto list = within<c>([](c& x) -> auto& { return x.detector; }, of_detector);
    list.push_back(clusters_setting<c>());
    list.push_back(cluster_method_setting(&c::method));
    return list;
  }();
  return all;
}
const std::vector<setting_of<clustered_downlink_config>>& clustered_downlink_settings() {
  using c = clustered_downlink_config;
  static const auto all = [] {
    auto list = within<c>([](c& x) -> auto& { return x.precoder; }, downlink_settings());
    list.push_back(clusters_setting<c>());
    list.push_back(cluster_method_setting(&c::method));
    return list;
  }();
  return all;
}

void check(const clustered_uplink_config& config) {
  const uplink_config& d = config.detector;
  check_range("clusters", config.clusters, 1, most_clusters);
  check(local(d, config.clusters, cluster_method::exact));
  check_range("antennas", d.antennas, d.users, most_massive_antennas * config.clusters);
  check_clusters(config.clusters, config.method, d.antennas, d.users, d.mode);
  if (config.method != cluster_method::local_mmse && d.sums != massive_sums::float32)
    throw argument_error("sums", name_of(d.sums),
                         std::string("float32 with cluster_method ") + name_of(config.method));
}
void check(const clustered_downlink_config& config) {
  const downlink_config& p = config.precoder;
  check(p);
  check_clusters(config.clusters, config.method, p.antennas, p.users, p.mode);
}

// ---- uplink

clustered_uplink_detector::clustered_uplink_detector(const clustered_uplink_config& config)
    : config_((check(config), config)), local_(local(config.detector, config.clusters, config.method)) {}

std::size_t clustered_uplink_detector::bits_per_vector() const noexcept {
  return size(config_.detector.users * bits_per_symbol(config_.detector.qam));
}

template <class Input>
void clustered_uplink_detector::run_as(executor& exec, const Input& in, const uplink_output& out) const {
  const std::size_t vectors = in.received.items;
  const massive_args of = uplink_arguments(config_.detector, in, out, config_.detector.antennas, vectors);
  if (vectors == 0) return;
  const cluster_call call{of, config_.clusters, true};
  const bool is_local = config_.method == cluster_method::local_mmse,
             is_cg = config_.method == cluster_method::cg;
  float* sums = nullptr;
  estimates e;
  cg_steps steps;
  take_memory(workspace_, exec, [&](pieces& memory) {
    if (!is_local) sums = call.take_sums(memory);
    if (is_local || is_cg) e = estimates(memory, size(of.users), vectors, is_local ? config_.clusters : 1);
    if (is_cg) steps = cg_steps(memory, {to_estimates(of, e), call.clusters, true}, sums);
  });
  if (is_local) {
    queue_local(exec, local_, in, e);
  } else {
    queue_sums(exec, call, sums);
    if (!is_cg) return queue_detector(exec, of, call.terms(sums));
    queue_cg(exec, steps);
  }
  queue_fusion(exec, of, e);
}

void clustered_uplink_detector::run(executor& exec, const uplink_input& in, const uplink_output& out) const {
  run_as(exec, in, out);
}
void clustered_uplink_detector::run(executor& exec, const uplink_half_input& in,
                                    const uplink_output& out) const {
  run_as(exec, in, out);
}

// ---- downlink

clustered_downlink_precoder::clustered_downlink_precoder(const clustered_downlink_config& config)
    : config_((check(config), config)),
      local_(local(config.precoder, config.clusters, config.method)),
      sender_(sender_of(config.precoder, config.precoder.antennas)) {}

template <class Input>
void clustered_downlink_precoder::run_as(executor& exec, const Input& in, view<std::complex<float>> precoded,
                                         view<std::uint8_t> status) const {
  const downlink_config& p = config_.precoder;
  cluster_call call{downlink_arguments(p, in, precoded, status, p.antennas), config_.clusters, false};
  const std::size_t vectors = precoded.items, users = size(p.users);
  if (vectors == 0) return;
  if (p.mode == massive_mode::mf) return sender_.run(exec, in, precoded, status);
  call.of.out = {}, call.of.status = {};
  const bool is_local = config_.method == cluster_method::local_mmse,
             is_cg = config_.method == cluster_method::cg;
  view<std::uint8_t> states;
  float* sums = nullptr;
  cg_steps steps;
  take_memory(workspace_, exec, [&](pieces& memory) {
    if (is_local) {
      states = make_view(memory.take<std::uint8_t>(size(call.clusters) * vectors), vectors);
      return;
    }
    call.of.out = make_view(memory.take<cx_pair>(users * vectors), users, vectors);
    sums = call.take_sums(memory);
    if (is_cg) steps = cg_steps(memory, call, sums);
  });
  if (is_local) {
    queue_local(exec, local_, in, call.clusters, precoded, states);
    return queue_local_join(exec, call.clusters, states, precoded, status);
  }
  queue_sums(exec, call, sums);
  if (is_cg)
    queue_cg(exec, steps);
  else
    queue_weights(exec, call.of, call.terms(sums));
  Input of_z = in;
  of_z.sent = as_complex(call.of.out);
  sender_.run(exec, of_z, precoded, status);
}

void clustered_downlink_precoder::run(executor& exec, const downlink_input& in,
                                      view<std::complex<float>> precoded, view<std::uint8_t> status) const {
  run_as(exec, in, precoded, status);
}
void clustered_downlink_precoder::run(executor& exec, const downlink_half_input& in,
                                      view<std::complex<float>> precoded, view<std::uint8_t> status) const {
  run_as(exec, in, precoded, status);
}

}  // namespace wb
