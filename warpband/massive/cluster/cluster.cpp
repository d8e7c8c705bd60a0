#include <warpband/massive/cluster/cluster.hpp>

#include <algorithm>
#include <cmath>
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
void queue_cg(executor& exec, cg_steps& steps, int iterations) {
  steps.queue(exec, cluster_cg_stage::begin);
  steps.queue(exec, cluster_cg_stage::first);
  for (int i = 1; i < iterations; i++) steps.queue(exec, cluster_cg_stage::step);
  steps.queue(exec, cluster_cg_stage::last);
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
  const cluster_call call{of, config_.clusters, true};
  const std::size_t users = size(of.users);
  if (vectors == 0) return;
  const auto work = [&](pieces memory) {
    const bool queue = !memory.counts();
    if (config_.method == cluster_method::local_mmse) {
      const estimates e(memory, users, vectors, call.clusters);
      if (queue) queue_local(exec, local_, in, e), queue_fusion(exec, of, e);
      return memory.bytes();
    }
    auto* const values = memory.take<float>(size(call.clusters) * call.all_values());
    const auto sums = queue ? queue_sums(exec, call, values) : cluster_terms<const float>{};
    if (config_.method == cluster_method::exact) {
      if (queue) queue_detector(exec, of, sums, call.frames());
      return memory.bytes();
    }
    const estimates e(memory, users, vectors, 1);
    cluster_call of_cg = call;
    of_cg.of.out = e.x, of_cg.of.sinr = e.sinr, of_cg.of.status = e.status;
    cg_steps steps(memory, of_cg, sums);
    if (queue) queue_cg(exec, steps, of.iterations), queue_fusion(exec, of, e);
    return memory.bytes();
  };
  work(pieces(workspace_.on(exec, work(pieces(nullptr)))));
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
      sender_({.antennas = config.precoder.antennas,
               .users = config.precoder.users,
               .mode = massive_mode::mf,
               .symbol_energy = config.precoder.symbol_energy,
               .normalization = config.precoder.normalization}) {}

template <class Input>
void clustered_downlink_precoder::run_as(executor& exec, const Input& in, view<std::complex<float>> precoded,
                                         view<std::uint8_t> status) const {
  const downlink_config& p = config_.precoder;
  cluster_call call{downlink_arguments(p, in, precoded, status, p.antennas), config_.clusters, false};
  const std::size_t frames = in.channel.items, vectors = precoded.items, users = size(p.users);
  if (vectors == 0) return;
  if (p.mode == massive_mode::mf) return sender_.run(exec, in, precoded, status);
  call.of.out = {}, call.of.status = {};
  const auto work = [&](pieces memory) {
    const bool queue = !memory.counts();
    if (config_.method == cluster_method::local_mmse) {
      const auto states = make_view(memory.take<std::uint8_t>(size(call.clusters) * vectors), vectors);
      for (int c = 0; queue && c < call.clusters; c++) {
        Input of_c = in;
        of_c.channel = of_cluster(in.channel, c, call.clusters);
        local_.run(exec, of_c, of_cluster(precoded, c, call.clusters),
                   make_view(states.data + size(c) * vectors, vectors));
      }
      if (queue)
        queue_join(exec,
                   {.factor = 1 / std::sqrt(static_cast<float>(call.clusters)),
                    .states = {states, call.clusters, vectors},
                    .status = status},
                   as_pairs(precoded));
      return memory.bytes();
    }
    const auto z = make_view(memory.take<cx_pair>(users * vectors), users, vectors);
    auto* const values = memory.take<float>(size(call.clusters) * call.all_values());
    const auto sums = queue ? queue_sums(exec, call, values) : cluster_terms<const float>{};
    call.of.out = z;
    if (config_.method == cluster_method::cg) {
      cg_steps steps(memory, call, sums);
      if (queue) queue_cg(exec, steps, p.iterations);
    } else if (queue) {
      queue_weights(exec, call.of, sums, frames);
    }
    Input of_z = in;
    of_z.sent = as_complex(z);
    if (queue) sender_.run(exec, of_z, precoded, status);
    return memory.bytes();
  };
  work(pieces(workspace_.on(exec, work(pieces(nullptr)))));
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
