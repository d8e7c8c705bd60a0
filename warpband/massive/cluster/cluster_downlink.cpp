// The calls of a clustered downlink precoder, by one executor and by the members of a group.
#include <cmath>
#include <string>

#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/cluster/cluster_calls.hpp>
#include <warpband/massive/massive_arguments.hpp>

namespace wb {

WB_DECLARE_KERNEL(cluster_weights)
WB_DECLARE_KERNEL(cluster_energy)
WB_DECLARE_KERNEL(cluster_join)

using namespace cluster_calls;

namespace {

/// Each of `clusters` clusters precodes by itself. `states` are those of the first one; the others' follow.
template <class Input>
void queue_local(executor& exec, const downlink_precoder& local, const Input& in, int clusters,
                 view<std::complex<float>> precoded, view<std::uint8_t> states) {
  for (int c = 0; c < clusters; c++, states.data += states.items) {
    Input part = in;
    part.channel = of_cluster(in.channel, c, clusters);
    local.run(exec, part, of_cluster(precoded, c, clusters), states);
  }
}
/// Scales what is sent, and erases vectors of which a cluster erased its part.
void queue_join(executor& exec, const cluster_join_args& args) {
  exec.run(cluster_join_kernels(), &args, args.sent.items);
}
/// Joins what `queue_local` of all C clusters of a call made: each sends 1 / C of the power, or its m.
void queue_local_join(executor& exec, const downlink_config& p, int clusters, view<std::uint8_t> states,
                      view<std::complex<float>> precoded, view<std::uint8_t> status) {
  const bool scaled = p.normalization != massive_normalization::unscaled;
  queue_join(exec, {.factor = scaled ? 1 / std::sqrt(static_cast<float>(clusters)) : 1.f,
                    .states = {states, clusters, states.items},
                    .sent = as_pairs(precoded),
                    .status = status});
}

struct sending_member : cluster_member {
  downlink_input in;
  view<std::complex<float>> precoded;
  view<std::uint8_t> status, states;
  view<cx_pair> z;
  view<float> member_energy, total_energy;

  sending_member(const clustered_downlink_config& c, const executor_group& group, int i,
                 const downlink_input& of_member, view<std::complex<float>> to, view<std::uint8_t> to_status)
      : cluster_member(group, i, of_member.channel.items), in(of_member), precoded(to), status(to_status) {
    call = {downlink_arguments(c.precoder, in, precoded, status, c.precoder.antennas / group.size()),
            c.clusters / group.size(), false};
    call.massive.out = {}, call.massive.status = {};
  }
};
using sending_members = std::vector<sending_member>;

/// z of all frames on all members, each of which solves its share.
void solve_exact(executor_group& group, const sending_members& members) {
  exchange_sums(group, members);
  group.each([&](executor& e, std::size_t i) {
    const sending_member& m = members[i];
    massive_args share = m.call.massive;
    const std::size_t s = as_size(share.symbols);
    share.noise_var = of_items(share.noise_var, m.first, m.frames);
    share.in = of_items(share.in, m.first * s, m.frames * s);
    share.out = of_items(m.z, m.first * s, m.frames * s);
    queue_solver(e, cluster_weights_kernels(), share, m.of_members(group.size()));
  });
  group.all_gather(of_each<void>(members, [](const sending_member& m) { return m.z.data; }),
                   members[0].call.frames(),
                   members[0].z.elements * as_size(members[0].in.symbols) * sizeof(cx_pair));
}

/// H z of each member, with the norm of all together if it is normalised.
void send(executor_group& group, const sending_members& members, const downlink_config& p) {
  const downlink_precoder sender(sender_of(p, p.antennas / group.size()));
  const auto send_part = [&](executor& e, const sending_member& m, view<const float> member_energy,
                             view<const float> energy) {
    downlink_input of_z = m.in;
    of_z.sent = as_complex(m.z);
    sender.run(e, of_z, m.precoded, m.states);
    queue_join(e, {.member_energy = member_energy,
                   .total_energy = energy,
                   .states = {m.states, 1, m.states.items},
                   .sent = as_pairs(m.precoded),
                   .status = m.status});
  };
  if (p.normalization == massive_normalization::unscaled)
    return group.each([&](executor& e, std::size_t i) { send_part(e, members[i], {}, {}); });
  group.each([&](executor& e, std::size_t i) {
    const sending_member& m = members[i];
    const cluster_energy_args args{
        .users = p.users,
        .symbols = m.in.symbols,
        .gram = make_view(static_cast<const float*>(m.sums), m.call.frames(), m.call.values()),
        .z = m.z,
        .member_energy = m.member_energy,
        .total_energy = m.total_energy};
    e.run(cluster_energy_kernels(), &args, m.call.frames());
  });
  group.all_reduce(of_each<float>(members, [](const sending_member& m) { return m.total_energy.data; }),
                   members[0].total_energy.items);
  group.each([&](executor& e, std::size_t i) {
    send_part(e, members[i], members[i].member_energy, members[i].total_energy);
  });
}

void send_local(executor_group& group, const sending_members& members, const downlink_config& p, int clusters,
                const downlink_precoder& local) {
  const std::size_t vectors = members[0].precoded.items;
  group.each([&](executor& e, std::size_t i) {
    const sending_member& m = members[i];
    view<std::uint8_t> member_states = m.states;
    member_states.data += as_size((group.first() + static_cast<int>(i)) * m.call.clusters) * vectors;
    queue_local(e, local, m.in, m.call.clusters, m.precoded, member_states);
  });
  group.all_gather(of_each<void>(members, [](const sending_member& m) { return m.states.data; }),
                   as_size(group.size()), as_size(members[0].call.clusters) * vectors);
  group.each([&](executor& e, std::size_t i) {
    queue_local_join(e, p, clusters, members[i].states, members[i].precoded, members[i].status);
  });
}

}  // namespace

template <class Input>
void clustered_downlink_precoder::run_as(executor& exec, const Input& in, view<std::complex<float>> precoded,
                                         view<std::uint8_t> status) const {
  const downlink_config& p = config_.precoder;
  cluster_call call{downlink_arguments(p, in, precoded, status, p.antennas), config_.clusters, false};
  const std::size_t vectors = precoded.items, users = as_size(p.users);
  if (vectors == 0) return;
  if (p.solver == massive_solver::mf) return sender_.run(exec, in, precoded, status);
  call.massive.out = {}, call.massive.status = {};
  const bool is_local = config_.cluster_method == massive_cluster_method::local_mmse,
             is_cg = config_.cluster_method == massive_cluster_method::cg;
  view<std::uint8_t> states;
  float* sums = nullptr;
  cg_steps steps;
  take_memory(workspace_, exec, [&](pieces& memory) {
    if (is_local) {
      states = make_view(memory.take<std::uint8_t>(as_size(call.clusters) * vectors), vectors);
      return;
    }
    call.massive.out = make_view(memory.take<cx_pair>(users * vectors), vectors, users);
    sums = call.take_sums(memory);
    if (is_cg) steps = cg_steps(memory, call, sums);
  });
  if (is_local) {
    queue_local(exec, local_, in, call.clusters, precoded, states);
    return queue_local_join(exec, p, call.clusters, states, precoded, status);
  }
  queue_sums(exec, call, sums);
  if (is_cg)
    queue_cg(exec, steps);
  else
    queue_solver(exec, cluster_weights_kernels(), call.massive, call.terms(sums));
  Input of_z = in;
  of_z.sent = as_complex(call.massive.out);
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
  sending_members members;
  for (int i = 0; i < group.local(); i++) {
    members.emplace_back(config_, group, i, in[as_size(i)], precoded[as_size(i)],
                         status.empty() ? view<std::uint8_t>{} : status[as_size(i)]);
    check_same_frames(members.back().call, members[0].call);
  }
  const std::size_t vectors = members[0].precoded.items, users = as_size(p.users);
  if (vectors == 0) return;
  const bool is_local = config_.cluster_method == massive_cluster_method::local_mmse,
             is_cg = config_.cluster_method == massive_cluster_method::cg;
  for (sending_member& m : members)
    take_memory(workspace_, *m.exec, [&](pieces& memory) {
      m.states =
          make_view(memory.take<std::uint8_t>(vectors * (is_local ? as_size(config_.clusters) : 1)), vectors);
      if (is_local) return;
      m.z = make_view(memory.take<cx_pair>(users * vectors), vectors, users);
      m.member_energy = make_view(memory.take<float>(vectors), vectors);
      m.total_energy = make_view(memory.take<float>(vectors), vectors);
      m.call.massive.out = m.z;
      m.sums = m.call.take_sums(memory);
      if (is_cg)
        m.steps = cg_steps(memory, m.call, m.sums);
      else
        m.parts = m.take_parts(memory, group.size());
    });
  if (is_local) return send_local(group, members, p, config_.clusters, local_);
  if (is_cg) {
    run_cg(group, members);
    group.each([&](executor& e, std::size_t i) { join_clusters(e, members[i]); });  // for the norms
  } else {
    solve_exact(group, members);
  }
  send(group, members, p);
}

}  // namespace wb
