#include <warpband/massive/cluster/cluster.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/core/count.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/massive/cluster/cluster_calls.hpp>
#include <warpband/massive/cluster/cluster_settings.hpp>
#include <warpband/massive/uplink/uplink_arguments.hpp>
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

namespace {

void set_channel(massive_args& to, view<const std::complex<float>> h) { to.channel = as_pairs(h); }
void set_channel(massive_args& to, view<const half_complex> h) { to.half_channel = h; }
void set_received(massive_args& to, view<const std::complex<float>> y) { to.in = as_pairs(y); }
void set_received(massive_args& to, view<const half_complex> y) { to.half_in = y; }

template <class Input>
massive_args checked(const uplink_config& config, const Input& in, const uplink_output& out) {
  massive_args args = uplink_arguments(config, in.symbols);
  const std::size_t frames = in.channel.items, vectors = frames * size(in.symbols),
                    bits = size(config.users * bits_per_symbol(config.qam));
  check_shape("channel", in.channel, size(config.antennas) * size(config.users), frames);
  check_shape("received", in.received, size(config.antennas), vectors);
  check_shape("noise_var", in.noise_var, 1, frames);
  check_optional_shape("llr", out.llr, bits, vectors);
  check_optional_shape("llr_int8", out.llr_int8, bits, vectors);
  check_optional_shape("equalized", out.equalized, size(config.users), vectors);
  check_optional_shape("sinr", out.sinr, size(config.users), vectors);
  check_optional_shape("status", out.status, 1, vectors);
  check_apart({{"llr", out.llr},
               {"llr_int8", out.llr_int8},
               {"equalized", out.equalized},
               {"sinr", out.sinr},
               {"status", out.status}});
  set_channel(args, in.channel);
  set_received(args, in.received);
  args.noise_var = in.noise_var;
  args.llr = out.llr;
  args.llr8 = out.llr_int8;
  args.sinr = out.sinr;
  if (out.equalized.data != nullptr) args.out = as_pairs(out.equalized);
  args.status = out.status;
  return args;
}

}  // namespace

template <class Input>
void clustered_uplink_detector::run_as(executor& exec, const Input& in, const uplink_output& out) const {
  const massive_args of = checked(config_.detector, in, out);
  const cluster_call call{of, config_.clusters, true};
  const std::size_t users = size(of.users), vectors = in.received.items;
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
  check_range("symbols", in.symbols, 1, 1 << 20);
  const std::size_t frames = in.channel.items, vectors = frames * size(in.symbols), users = size(p.users);
  check_shape("channel", in.channel, size(p.antennas) * users, frames);
  check_shape("sent", in.sent, users, vectors);
  check_shape("noise_var", in.noise_var, 1, frames);
  check_shape("precoded", precoded, size(p.antennas), vectors);
  check_optional_shape("status", status, 1, vectors);
  check_apart({{"precoded", precoded}, {"status", status}});
  if (vectors == 0) return;
  if (p.mode == massive_mode::mf) return sender_.run(exec, in, precoded, status);
  cluster_call call{{}, config_.clusters, false};
  call.of.antennas = p.antennas, call.of.users = p.users, call.of.symbols = in.symbols;
  call.of.mode = p.mode, call.of.iterations = p.iterations;
  call.of.symbol_energy = p.symbol_energy;
  set_channel(call.of, in.channel);
  call.of.in = as_pairs(in.sent);
  call.of.noise_var = in.noise_var;
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
