// The clusters of a downlink precoder on the members of a group.
#include <cmath>
#include <string>

#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/cluster/cluster_calls.hpp>
#include <warpband/massive/cluster/cluster_members.hpp>
#include <warpband/massive/massive_arguments.hpp>

namespace wb {

using namespace cluster_calls;

namespace {

/// A member's part of a call, and its arrays.
struct sending_member {
  executor* exec = nullptr;
  downlink_input in;
  view<std::complex<float>> precoded;
  view<std::uint8_t> status;
  cluster_call call;                 // of all frames and its own antennas
  std::size_t first = 0, share = 0;  // of the frames
  float *sums = nullptr, *parts = nullptr;
  view<cx_pair> z;
  view<float> own, all;
  view<std::uint8_t> states;
};

sending_member checked_member(const clustered_downlink_config& c, const executor_group& group, int i,
                              const downlink_input& in, view<std::complex<float>> precoded,
                              view<std::uint8_t> status) {
  const downlink_config& p = c.precoder;
  sending_member m;
  m.exec = &group.member(i), m.in = in, m.precoded = precoded, m.status = status;
  const std::size_t frames = in.channel.items;
  m.first = group.share_begin(frames, group.first() + i), m.share = group.share(frames, group.first() + i);
  m.call = {downlink_arguments(p, in, precoded, status, p.antennas / group.size()), c.clusters / group.size(),
            false};
  m.call.of.out = {}, m.call.of.status = {};
  return m;
}

using members = std::vector<sending_member>;

/// Gram matrices of the own clusters, in `sums`; exact: of all, in `parts`, for the own share of frames.
void queue_grams(executor_group& group, members& all, bool exact) {
  group.each([&](executor& e, std::size_t i) {
    const sending_member& m = all[i];
    queue_sums(e, m.call, m.sums);
    if (exact && m.call.clusters > 1)
      sum_of_members(e, m.sums, m.call.clusters, m.call.all_values(), m.call.all_values(), m.sums);
  });
  if (!exact) return;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const sending_member& m : all) from.push_back(m.sums), to.push_back(m.parts);
  group.all_to_all(from, to, all[0].call.frames(), all[0].call.values() * sizeof(float));
}

/// z of all frames on all members, each of which solves its share.
void solve_exact(executor_group& group, members& all) {
  queue_grams(group, all, true);
  std::vector<void*> gathered;
  group.each([&](executor& e, std::size_t i) {
    const sending_member& m = all[i];
    massive_args of = m.call.of;
    const std::size_t s = size(of.symbols);
    of.noise_var = of_items(of.noise_var, m.first, m.share);
    of.in = of_items(of.in, m.first * s, m.share * s);
    of.out = of_items(m.z, m.first * s, m.share * s);
    queue_weights(e, of,
                  {make_view(static_cast<const float*>(m.parts), m.call.values(), m.share), group.size(),
                   m.share * m.call.values()},
                  m.share);
    gathered.push_back(m.z.data);
  });
  group.all_gather(gathered, all[0].call.frames(),
                   all[0].z.elements * size(all[0].in.symbols) * sizeof(cx_pair));
}

void solve_cg(executor_group& group, members& all, std::vector<cg_steps>& steps) {
  queue_grams(group, all, false);
  run_cg_steps(group, steps, all[0].call.of.iterations);
  group.each([&](executor& e, std::size_t i) {  // of which the norms are made
    const sending_member& m = all[i];
    if (m.call.clusters > 1)
      sum_of_members(e, m.sums, m.call.clusters, m.call.all_values(), m.call.all_values(), m.sums);
  });
}

/// H z of each member, with the norm of all together.
void send(executor_group& group, members& all, const downlink_config& p) {
  const downlink_precoder sender({.antennas = p.antennas / group.size(),
                                  .users = p.users,
                                  .mode = massive_mode::mf,
                                  .symbol_energy = p.symbol_energy,
                                  .normalization = p.normalization});
  std::vector<float*> energies;
  group.each([&](executor& e, std::size_t i) {
    const sending_member& m = all[i];
    queue_energy(e, {.users = p.users,
                     .symbols = m.in.symbols,
                     .gram = make_view(static_cast<const float*>(m.sums), m.call.values(), m.call.frames()),
                     .z = m.z,
                     .own = m.own,
                     .all = m.all});
    energies.push_back(m.all.data);
  });
  group.all_reduce(energies, all[0].all.items);
  group.each([&](executor& e, std::size_t i) {
    const sending_member& m = all[i];
    downlink_input of_z = m.in;
    of_z.sent = as_complex(m.z);
    sender.run(e, of_z, m.precoded, m.states);
    queue_join(e, {.own = m.own, .all = m.all, .states = {m.states, 1, m.states.items}, .status = m.status},
               as_pairs(m.precoded));
  });
}

void send_local(executor_group& group, members& all, const clustered_downlink_config& c,
                const downlink_precoder& local) {
  std::vector<void*> states;
  const std::size_t vectors = all[0].precoded.items;
  group.each([&](executor& e, std::size_t i) {
    const sending_member& m = all[i];
    for (int k = 0; k < m.call.clusters; k++) {
      downlink_input in = m.in;
      in.channel = of_cluster(in.channel, k, m.call.clusters);
      const std::size_t number = size((group.first() + static_cast<int>(i)) * m.call.clusters + k);
      local.run(e, in, of_cluster(m.precoded, k, m.call.clusters),
                make_view(m.states.data + number * vectors, vectors));
    }
    states.push_back(m.states.data);
  });
  group.all_gather(states, size(group.size()), size(all[0].call.clusters) * vectors);
  group.each([&](executor& e, std::size_t i) {
    const sending_member& m = all[i];
    queue_join(e,
               {.factor = 1 / std::sqrt(static_cast<float>(c.clusters)),
                .states = {make_view(m.states.data, vectors), c.clusters, vectors},
                .status = m.status},
               as_pairs(m.precoded));
  });
}

}  // namespace

void clustered_downlink_precoder::run(executor_group& group, const std::vector<downlink_input>& in,
                                      const std::vector<view<std::complex<float>>>& precoded,
                                      const std::vector<view<std::uint8_t>>& status) const {
  const downlink_config& p = config_.precoder;
  check_members(group, config_.clusters, {{"in", in.size()}, {"precoded", precoded.size()}});
  if (!status.empty()) check_members(group, config_.clusters, {{"status", status.size()}});
  if (group.size() == 1)
    return run(group.member(0), in[0], precoded[0], status.empty() ? view<std::uint8_t>{} : status[0]);
  if (p.antennas / group.size() < p.users)
    throw argument_error("members", std::to_string(group.size()),
                         "at most antennas / users = " + std::to_string(p.antennas / p.users));
  members all;
  for (int i = 0; i < group.local(); i++) {
    all.push_back(checked_member(config_, group, i, in[size(i)], precoded[size(i)],
                                 status.empty() ? view<std::uint8_t>{} : status[size(i)]));
    check_same_frames(all.back().call, all[0].call);
  }
  const std::size_t frames = all[0].call.frames(), vectors = all[0].precoded.items, users = size(p.users);
  if (vectors == 0) return;
  const bool is_local = config_.method == cluster_method::local_mmse && p.mode != massive_mode::mf;
  std::vector<cg_steps> steps;
  for (sending_member& m : all) {
    const auto take = [&](pieces memory) {
      m.states =
          make_view(memory.take<std::uint8_t>(vectors * (is_local ? size(config_.clusters) : 1)), vectors);
      if (is_local) return memory.bytes();
      m.sums = memory.take<float>(size(m.call.clusters) * m.call.all_values());
      m.parts = memory.take<float>(size(group.size()) * m.share * m.call.values());
      m.z = make_view(memory.take<cx_pair>(users * vectors), users, vectors);
      m.own = make_view(memory.take<float>(vectors), vectors);
      m.all = make_view(memory.take<float>(vectors), vectors);
      m.call.of.out = m.z;
      if (config_.method != cluster_method::cg) return memory.bytes();
      const cg_steps of_member(memory, m.call,
                               {make_view(static_cast<const float*>(m.sums), m.call.values(), frames),
                                m.call.clusters, m.call.all_values()});
      if (!memory.counts()) steps.push_back(of_member);
      return memory.bytes();
    };
    take(pieces(workspace_.on(*m.exec, take(pieces(nullptr)))));
  }
  if (is_local) return send_local(group, all, config_, local_);
  if (config_.method == cluster_method::cg)
    solve_cg(group, all, steps);
  else
    solve_exact(group, all);
  send(group, all, p);
}

}  // namespace wb
