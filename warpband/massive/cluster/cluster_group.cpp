// The clusters of an uplink detector on the members of a group.
#include <string>

#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/cluster/cluster_calls.hpp>
#include <warpband/massive/cluster/cluster_members.hpp>
#include <warpband/massive/massive_arguments.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {

using namespace cluster_calls;

namespace {

/// What a member does in a call: its clusters' part for all frames, and the rest for its share of them.
struct member_work {
  executor* exec = nullptr;
  cluster_call call;                  // of all frames and its own antennas; outputs are empty
  massive_args share;                 // of its share of the frames: N0 and outputs
  std::size_t first = 0, frames = 0;  // its share
  uplink_input in;
};

member_work checked_member(const clustered_uplink_config& c, const executor_group& group, int i,
                           const uplink_input& in, const uplink_output& out) {
  const uplink_config& d = c.detector;
  member_work w;
  w.exec = &group.member(i), w.in = in;
  const std::size_t frames = in.channel.items;
  w.first = group.share_begin(frames, group.first() + i), w.frames = group.share(frames, group.first() + i);
  w.share = uplink_arguments(d, in, out, d.antennas / group.size(), w.frames * size(in.symbols));
  w.call = {w.share, c.clusters / group.size(), true};
  massive_args& of = w.call.of;
  of.llr = {}, of.llr8 = {}, of.sinr = {}, of.out = {}, of.status = {};
  w.share.channel = {}, w.share.in = {};
  w.share.noise_var = of_items(in.noise_var, w.first, w.frames);
  return w;
}

using group_work = std::vector<member_work>;

/// Memory of each member; `take` is called twice, the first time to count bytes.
template <class Take>
void take_memory(const kept_workspace& workspace, const group_work& all, Take take) {
  for (std::size_t i = 0; i < all.size(); i++) {
    pieces counted(nullptr);
    take(i, counted);
    pieces memory(workspace.on(*all[i].exec, counted.bytes() + 64));
    take(i, memory);
  }
}

void run_exact(executor_group& group, const group_work& all, const kept_workspace& workspace) {
  std::vector<float*> sums(all.size()), parts(all.size());
  take_memory(workspace, all, [&](std::size_t i, pieces& memory) {
    const cluster_call& call = all[i].call;
    sums[i] = memory.take<float>(size(call.clusters) * call.all_values());
    parts[i] = memory.take<float>(size(group.size()) * all[i].frames * call.values());
  });
  group.each([&](executor& e, std::size_t i) {
    const cluster_call& call = all[i].call;
    queue_sums(e, call, sums[i]);
    if (call.clusters > 1)
      sum_of_members(e, sums[i], call.clusters, call.all_values(), call.all_values(), sums[i]);
  });
  group.all_to_all({sums.begin(), sums.end()}, {parts.begin(), parts.end()}, all[0].call.frames(),
                   all[0].call.values() * sizeof(float));
  group.each([&](executor& e, std::size_t i) {
    const std::size_t values = all[i].call.values();
    queue_detector(e, all[i].share,
                   {make_view(static_cast<const float*>(parts[i]), values, all[i].frames), group.size(),
                    all[i].frames * values},
                   all[i].frames);
  });
}

void run_local(executor_group& group, const group_work& all, const kept_workspace& workspace,
               const uplink_detector& local) {
  const std::size_t users = size(all[0].call.of.users), symbols = size(all[0].call.of.symbols),
                    frames = all[0].call.frames();
  std::vector<estimates> own, fused, parts;
  take_memory(workspace, all, [&](std::size_t i, pieces& memory) {
    const estimates o(memory, users, frames * symbols, all[i].call.clusters),
        f(memory, users, frames * symbols, 1), p(memory, users, all[i].frames * symbols, group.size());
    if (memory.counts()) return;
    own.push_back(o), fused.push_back(f), parts.push_back(p);
  });
  group.each([&](executor& e, std::size_t i) {
    queue_local(e, local, all[i].in, own[i]);
    massive_args to = all[i].call.of;
    to.out = fused[i].x, to.sinr = fused[i].sinr, to.status = fused[i].status;
    queue_fusion(e, to, own[i]);
  });
  const auto exchange = [&](auto member, std::size_t bytes) {
    std::vector<const void*> from;
    std::vector<void*> to;
    for (std::size_t i = 0; i < all.size(); i++) {
      from.push_back((fused[i].*member).data);
      to.push_back((parts[i].*member).data);
    }
    group.all_to_all(from, to, frames, bytes);
  };
  exchange(&estimates::x, symbols * users * sizeof(cx_pair));
  exchange(&estimates::sinr, symbols * users * sizeof(float));
  exchange(&estimates::status, symbols);
  group.each([&](executor& e, std::size_t i) { queue_fusion(e, all[i].share, parts[i]); });
}

void run_cg(executor_group& group, const group_work& all, const kept_workspace& workspace) {
  const massive_args& of = all[0].call.of;
  const std::size_t vectors = all[0].call.frames() * size(of.symbols);
  std::vector<cg_steps> steps;
  std::vector<estimates> results;
  std::vector<float*> sums(all.size());
  take_memory(workspace, all, [&](std::size_t i, pieces& memory) {
    cluster_call call = all[i].call;
    sums[i] = memory.take<float>(size(call.clusters) * call.all_values());
    const estimates e(memory, size(of.users), vectors, 1);
    call.of.out = e.x, call.of.sinr = e.sinr, call.of.status = e.status;
    const cluster_terms<const float> terms{
        make_view(static_cast<const float*>(sums[i]), call.values(), call.frames()), call.clusters,
        call.all_values()};
    const cg_steps of_member(memory, call, terms);
    if (memory.counts()) return;
    results.push_back(e), steps.push_back(of_member);
  });
  group.each([&](executor& e, std::size_t i) { queue_sums(e, all[i].call, sums[i]); });
  run_cg_steps(group, steps, of.iterations);
  group.each([&](executor& e, std::size_t i) {
    const std::size_t s = size(of.symbols), first = all[i].first * s, count = all[i].frames * s;
    estimates own = results[i];
    own.x = of_items(own.x, first, count);
    own.sinr = of_items(own.sinr, first, count);
    own.status = of_items(own.status, first, count);
    queue_fusion(e, all[i].share, own);
  });
}

}  // namespace

void clustered_uplink_detector::run(executor_group& group, const std::vector<uplink_input>& in,
                                    const std::vector<uplink_output>& out) const {
  check_members(group, config_.clusters, {{"in", in.size()}, {"out", out.size()}});
  if (group.size() == 1) return run(group.member(0), in[0], out[0]);
  group_work all;
  for (int i = 0; i < group.local(); i++) {
    all.push_back(checked_member(config_, group, i, in[size(i)], out[size(i)]));
    check_same_frames(all.back().call, all[0].call);
  }
  if (all[0].call.frames() == 0) return;
  if (config_.method == cluster_method::exact)
    run_exact(group, all, workspace_);
  else if (config_.method == cluster_method::local_mmse)
    run_local(group, all, workspace_, local_);
  else
    run_cg(group, all, workspace_);
}

double clustered_uplink_detector::bytes_sent(int members, std::size_t frames, int symbols) const {
  check_range("members", members, 1, most_clusters);
  check_range("symbols", symbols, 1, 1 << 20);
  const double u = config_.detector.users, s = symbols, others = (members - 1.0) / members;
  const double values = config_.method == cluster_method::exact ? u * u + 2 * u * s
                        : config_.method == cluster_method::local_mmse
                            ? 3 * u * s + s / 4
                            : 2 * (u + 2 * u * s * (1 + config_.detector.iterations));
  return 4 * values * others * static_cast<double>(frames);
}

}  // namespace wb
