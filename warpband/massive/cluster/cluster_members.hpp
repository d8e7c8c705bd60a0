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

/// All stages on all members of a group.
inline void run_cg_steps(executor_group& group, std::vector<cg_steps>& steps, int iterations) {
  const auto stage = [&](cluster_cg_stage s) {
    group.each([&](executor& e, std::size_t i) { steps[i].queue(e, s); });
  };
  const auto reduce = [&](view<float> (cg_steps::*which)() const) {
    std::vector<float*> data;
    for (const cg_steps& s : steps) data.push_back((s.*which)().data);
    const view<float> v = (steps[0].*which)();
    group.all_reduce(data, v.elements * v.items);
  };
  stage(cluster_cg_stage::begin);
  reduce(&cg_steps::start);
  stage(cluster_cg_stage::first);
  for (int i = 1; i < iterations; i++) {
    reduce(&cg_steps::product);
    stage(cluster_cg_stage::step);
  }
  reduce(&cg_steps::product);
  stage(cluster_cg_stage::last);
}

}  // namespace wb::cluster_calls
