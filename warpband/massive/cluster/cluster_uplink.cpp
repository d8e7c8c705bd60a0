// The calls of a clustered uplink detector, by one executor and by the members of a group.
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/cluster/cluster_calls.hpp>
#include <warpband/massive/massive_arguments.hpp>

namespace wb {

WB_DECLARE_KERNEL(cluster_detect)
WB_DECLARE_KERNEL(cluster_fuse)

using namespace cluster_calls;

namespace {

/// Estimates of `count` detectors.
struct estimates {
  view<cx_pair> x;
  view<float> sinr;
  view<std::uint8_t> status;
  int count = 1;
  estimates() = default;
  estimates(pieces& memory, std::size_t users, std::size_t vectors, int n)
      : x(make_view(memory.take<cx_pair>(as_size(n) * users * vectors), vectors, users)),
        sinr(make_view(memory.take<float>(as_size(n) * users * vectors), vectors, users)),
        status(make_view(memory.take<std::uint8_t>(as_size(n) * vectors), vectors)),
        count(n) {}
  /// Those of one of them.
  estimates of(int i) const {
    estimates one = *this;
    one.count = 1;
    one.x.data += as_size(i) * x.elements * x.items;
    one.sinr.data += as_size(i) * x.elements * x.items;
    one.status.data += as_size(i) * x.items;
    return one;
  }
};
/// A call whose outputs these estimates are.
massive_args to_estimates(massive_args massive, const estimates& e) {
  massive.out = e.x, massive.sinr = e.sinr, massive.status = e.status;
  return massive;
}
/// Queues their weighted sum, and its LLRs.
void queue_fusion(executor& exec, const massive_args& massive, const estimates& e) {
  const std::size_t values = e.x.elements * e.x.items;
  const cluster_fuse_args args{.users = massive.users,
                               .pam_bits = massive.pam_bits,
                               .clip = massive.clip,
                               .steps = massive.steps,
                               .estimates = {e.x, e.count, values},
                               .sinrs = {e.sinr, e.count, values},
                               .states = {e.status, e.count, e.status.items},
                               .llr = massive.llr,
                               .sinr = massive.sinr,
                               .llr8 = massive.llr8,
                               .out = massive.out,
                               .status = massive.status};
  exec.run(cluster_fuse_kernels(), &args, e.x.items);
}
/// Each of e.count clusters detects by itself.
template <class Input>
void queue_local(executor& exec, const uplink_detector& local, const Input& in, const estimates& e) {
  for (int c = 0; c < e.count; c++) {
    const estimates cluster_estimates = e.of(c);
    Input part = in;
    part.channel = of_cluster(in.channel, c, e.count), part.received = of_cluster(in.received, c, e.count);
    local.run(exec, part,
              {.equalized = as_complex(cluster_estimates.x),
               .sinr = cluster_estimates.sinr,
               .status = cluster_estimates.status});
  }
}

struct detecting_member : cluster_member {
  uplink_input in;
  massive_args share;                // of its share of the frames: N0 and outputs
  estimates local, fused, of_share;  // of its clusters; of all of them; of all members, for its share

  detecting_member(const clustered_uplink_config& c, const executor_group& group, int i,
                   const uplink_input& of_member, const uplink_output& out)
      : cluster_member(group, i, of_member.channel.items),
        in(of_member),
        share(uplink_arguments(c.detector, in, out, c.detector.antennas / group.size(),
                               frames * as_size(in.symbols))) {
    call = {share, c.clusters / group.size(), true};
    massive_args& massive = call.massive;
    massive.llr = {}, massive.llr8 = {}, massive.sinr = {}, massive.out = {}, massive.status = {};
    share.channel = {}, share.in = {};
    share.noise_var = of_items(in.noise_var, first, frames);
  }
};
using detecting_members = std::vector<detecting_member>;

void run_exact(executor_group& group, const detecting_members& members) {
  exchange_sums(group, members);
  group.each([&](executor& e, std::size_t i) {
    queue_solver(e, cluster_detect_kernels(), members[i].share, members[i].of_members(group.size()));
  });
}

void run_local(executor_group& group, const detecting_members& members, const uplink_detector& local) {
  group.each([&](executor& e, std::size_t i) {
    queue_local(e, local, members[i].in, members[i].local);
    queue_fusion(e, to_estimates(members[i].call.massive, members[i].fused), members[i].local);
  });
  const auto exchange = [&](auto array, std::size_t bytes) {
    group.all_to_all(
        of_each<const void>(members, [&](const detecting_member& m) { return (m.fused.*array).data; }),
        of_each<void>(members, [&](const detecting_member& m) { return (m.of_share.*array).data; }),
        members[0].call.frames(), bytes);
  };
  const std::size_t users = as_size(members[0].call.massive.users),
                    symbols = as_size(members[0].call.massive.symbols);
  exchange(&estimates::x, symbols * users * sizeof(cx_pair));
  exchange(&estimates::sinr, symbols * users * sizeof(float));
  exchange(&estimates::status, symbols);
  group.each([&](executor& e, std::size_t i) { queue_fusion(e, members[i].share, members[i].of_share); });
}

void run_cg_and_share(executor_group& group, detecting_members& members) {
  run_cg(group, members);
  group.each([&](executor& e, std::size_t i) {
    const std::size_t symbols = as_size(members[i].share.symbols), first = members[i].first * symbols,
                      count = members[i].frames * symbols;
    estimates part = members[i].fused;
    part.x = of_items(part.x, first, count);
    part.sinr = of_items(part.sinr, first, count);
    part.status = of_items(part.status, first, count);
    queue_fusion(e, members[i].share, part);
  });
}

}  // namespace

template <class Input>
void clustered_uplink_detector::run_as(executor& exec, const Input& in, const uplink_output& out) const {
  const std::size_t vectors = in.received.items;
  const massive_args massive =
      uplink_arguments(config_.detector, in, out, config_.detector.antennas, vectors);
  if (vectors == 0) return;
  const cluster_call call{massive, config_.clusters, true};
  const bool is_local = config_.cluster_method == massive_cluster_method::local_mmse,
             is_cg = config_.cluster_method == massive_cluster_method::cg;
  float* sums = nullptr;
  estimates e;
  cg_steps steps;
  take_memory(workspace_, exec, [&](pieces& memory) {
    if (!is_local) sums = call.take_sums(memory);
    if (is_local || is_cg)
      e = estimates(memory, as_size(massive.users), vectors, is_local ? config_.clusters : 1);
    if (is_cg) steps = cg_steps(memory, {to_estimates(massive, e), call.clusters, true}, sums);
  });
  if (is_local) {
    queue_local(exec, local_, in, e);
  } else {
    queue_sums(exec, call, sums);
    if (!is_cg) return queue_solver(exec, cluster_detect_kernels(), massive, call.terms(sums));
    queue_cg(exec, steps);
  }
  queue_fusion(exec, massive, e);
}

void clustered_uplink_detector::run(executor& exec, const uplink_input& in, const uplink_output& out) const {
  run_as(exec, in, out);
}
void clustered_uplink_detector::run(executor& exec, const uplink_half_input& in,
                                    const uplink_output& out) const {
  run_as(exec, in, out);
}

void clustered_uplink_detector::run(executor_group& group, const std::vector<uplink_input>& in,
                                    const std::vector<uplink_output>& out) const {
  check_members(group, config_.clusters, {{"in", in.size()}, {"out", out.size()}});
  if (group.size() == 1) return run(group.member(0), in[0], out[0]);
  detecting_members members;
  for (int i = 0; i < group.local(); i++) {
    members.emplace_back(config_, group, i, in[as_size(i)], out[as_size(i)]);
    check_same_frames(members.back().call, members[0].call);
  }
  const std::size_t frames = members[0].call.frames();
  if (frames == 0) return;
  const massive_cluster_method method = config_.cluster_method;
  for (detecting_member& m : members)
    take_memory(workspace_, *m.exec, [&](pieces& memory) {
      const std::size_t users = as_size(config_.detector.users), symbols = as_size(m.in.symbols);
      if (method != massive_cluster_method::local_mmse) m.sums = m.call.take_sums(memory);
      if (method == massive_cluster_method::exact) {
        m.parts = m.take_parts(memory, group.size());
        return;
      }
      m.fused = estimates(memory, users, frames * symbols, 1);
      if (method == massive_cluster_method::cg) {
        m.steps = cg_steps(memory, {to_estimates(m.call.massive, m.fused), m.call.clusters, true}, m.sums);
        return;
      }
      m.local = estimates(memory, users, frames * symbols, m.call.clusters);
      m.of_share = estimates(memory, users, m.frames * symbols, group.size());
    });
  if (method == massive_cluster_method::exact)
    run_exact(group, members);
  else if (method == massive_cluster_method::local_mmse)
    run_local(group, members, local_);
  else
    run_cg_and_share(group, members);
}

double clustered_uplink_detector::bytes_sent(int members, std::size_t frames, int symbols) const {
  check_range("members", members, 1, most_clusters);
  check_range("symbols", symbols, 1, 1 << 20);
  const double u = config_.detector.users, s = symbols, others = (members - 1.0) / members;
  const double values = config_.cluster_method == massive_cluster_method::exact ? u * u + 2 * u * s
                        : config_.cluster_method == massive_cluster_method::local_mmse
                            ? 3 * u * s + s / 4
                            : 2 * (u + 2 * u * s * (1 + config_.detector.iterations.value_or(0)));
  return 4 * values * others * static_cast<double>(frames);
}

}  // namespace wb
