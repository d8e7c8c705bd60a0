#pragma once
// What the members of a group do in the same way for detector and precoder.
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/check.hpp>
#include <warpband/exec/group/group.hpp>
#include <warpband/massive/cluster/cluster_calls.hpp>

namespace wb::cluster_calls {

/// Throws argument_error unless there is one of each for every member of this process, and the clusters can
/// be shared.
inline void check_members(const executor_group& group, int clusters,
                          const std::vector<std::pair<const char*, std::size_t>>& counts) {
  for (const auto& [name, count] : counts)
    if (count != static_cast<std::size_t>(group.local()))
      throw argument_error(
          name, std::to_string(count) + " of members",
          "one for each of the " + std::to_string(group.local()) + " members of this process");
  if (clusters % group.size() != 0)
    throw argument_error("clusters", std::to_string(clusters),
                         "a multiple of the " + std::to_string(group.size()) + " members");
}
/// Throws shape_error unless both calls have as many frames and symbols.
inline void check_same_frames(const cluster_call& call, const cluster_call& first) {
  if (call.frames() != first.frames() || call.of.symbols != first.of.symbols)
    throw shape_error("channel", shape_text(call.frames(), call.of.channel.elements),
                      "as many frames and symbols as of the first member");
}

/// A member's part of a call: its clusters for all frames, then the rest for its share of the frames.
struct cluster_member {
  executor* exec;
  std::size_t first, frames;                // its share
  cluster_call call = {};                   // of all frames and its own antennas; outputs are empty
  float *sums = nullptr, *parts = nullptr;  // of its own clusters; of all members, for its share
  cg_steps steps = {};

  cluster_member(const executor_group& group, int i, std::size_t all_frames)
      : exec(&group.member(i)),
        first(group.share_begin(all_frames, group.first() + i)),
        frames(group.share(all_frames, group.first() + i)) {}
  float* take_parts(pieces& memory, int members) const {
    return memory.take<float>(size(members) * frames * call.values());
  }
  /// The sums in `parts`.
  cluster_terms<const float> of_members(int members) const {
    return {make_view(static_cast<const float*>(parts), call.values(), frames), members,
            frames * call.values()};
  }
};

/// Adds up the sums of a member's own clusters.
inline void join_clusters(executor& e, const cluster_member& m) {
  const std::size_t values = m.call.all_values();
  if (m.call.clusters > 1) sum_of_members(e, m.sums, m.call.clusters, values, values, m.sums);
}
/// Adds up each member's clusters in `sums`, then gives it its share of all members' sums in `parts`.
template <class Member>
void exchange_sums(executor_group& group, const std::vector<Member>& all) {
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const Member& m : all) from.push_back(m.sums), to.push_back(m.parts);
  group.each([&](executor& e, std::size_t i) {
    queue_sums(e, all[i].call, all[i].sums);
    join_clusters(e, all[i]);
  });
  group.all_to_all(from, to, all[0].call.frames(), all[0].call.values() * sizeof(float));
}

/// Queues the sums of each member's clusters, then all stages on all members.
template <class Member>
void run_cg(executor_group& group, std::vector<Member>& all) {
  group.each([&](executor& e, std::size_t i) { queue_sums(e, all[i].call, all[i].sums); });
  run_cg_stages(
      all[0].steps.iterations(),
      [&](cluster_cg_stage s) { group.each([&](executor& e, std::size_t i) { all[i].steps.queue(e, s); }); },
      [&](view<float> (cg_steps::*which)() const) {
        std::vector<float*> data;
        for (const Member& m : all) data.push_back((m.steps.*which)().data);
        const view<float> v = (all[0].steps.*which)();
        group.all_reduce(data, v.elements * v.items);
      });
}

}  // namespace wb::cluster_calls
