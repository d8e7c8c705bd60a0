#pragma once
// The steps of a call. One executor does them for all clusters, or each member of a group for its own. Also
// what the members do in the same way for detector and precoder.
#include <complex>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/exec/group/group.hpp>
#include <warpband/massive/cluster/cluster_args.hpp>
#include <warpband/massive/downlink/downlink.hpp>

namespace wb::cluster_calls {

/// Arrays in a workspace, one after the other; without memory only their bytes are counted.
class pieces {
 public:
  explicit pieces(std::byte* memory) : memory_(memory) {}
  template <class T>
  T* take(std::size_t count) {
    T* const piece = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + bytes_);
    bytes_ += (count * sizeof(T) + 63) / 64 * 64;
    return piece;
  }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;
};
/// Arrays of a call. `take(pieces)` sets them; it is called twice, the first time to count bytes.
template <class Take>
void take_memory(const kept_workspace& workspace, executor& exec, Take take) {
  pieces counted(nullptr);
  take(counted);
  pieces memory(workspace.on(exec, counted.bytes()));
  take(memory);
}

/// Elements of cluster c of C: views of items that have those of all clusters, in order.
template <class T>
view<T> of_cluster(view<T> array, int c, int clusters) {
  array.elements /= static_cast<std::size_t>(clusters);
  array.data += static_cast<std::size_t>(c) * array.elements * array.element_stride;
  return array;
}
/// Items from `first` on, `count` of them; of an array with stride 0 the one that all share.
template <class T>
view<T> of_items(view<T> array, std::size_t first, std::size_t count) {
  if (array.data == nullptr) return array;
  array.data += first * array.item_stride;
  array.items = count;
  return array;
}
inline view<std::complex<float>> as_complex(view<cx_pair> v) {
  return {reinterpret_cast<std::complex<float>*>(v.data), v.elements, v.items, v.element_stride,
          v.item_stride};
}

/// H and y, or s, of a call, as pairs of floats or of halves; `massive.in` are vectors of antennas with
/// `filter`.
struct cluster_call {
  massive_args massive;
  int clusters = 1;
  bool filter = true;
  std::size_t frames() const { return massive.noise_var.items; }
  std::size_t values() const {
    return filter ? sums_values(massive.users, massive.symbols) : gram_values(massive.users);
  }
  std::size_t all_values() const { return frames() * values(); }
  /// Sums of all clusters, one cluster's after the other, with memory for them.
  float* take_sums(pieces& memory) const { return memory.take<float>(as_size(clusters) * all_values()); }
  cluster_terms<const float> terms(const float* sums) const {
    return {make_view(sums, frames(), values()), clusters, all_values()};
  }
};

/// Queues the sums of all clusters of a call.
void queue_sums(executor& exec, const cluster_call& call, float* sums);
/// Queues what solves such sums: the detector, or for the precoder A z = s.
void queue_solver(executor& exec, const kernel_set& solver, const massive_args& massive,
                  const cluster_terms<const float>& sums);

/// Decentralised conjugate gradients; the results go to massive.out, massive.sinr and massive.status. Between
/// stages `start` and `product` become sums over all members.
class cg_steps {
 public:
  cg_steps() = default;
  cg_steps(pieces& memory, const cluster_call& call, const float* sums);
  void queue(executor& exec, cluster_cg_stage stage);
  int iterations() const { return args_.massive.iterations; }
  view<float> start() const { return args_.start; }
  view<float> product() const { return args_.product; }

 private:
  cluster_cg_args args_;
};
/// All stages. `queue(stage)` queues one, `reduce(array)` adds up `start` or `product` over members.
template <class Queue, class Reduce>
void run_cg_stages(int iterations, Queue queue, Reduce reduce) {
  queue(cluster_cg_stage::begin);
  reduce(&cg_steps::start);
  queue(cluster_cg_stage::first);
  for (int i = 1; i < iterations; i++) {
    reduce(&cg_steps::product);
    queue(cluster_cg_stage::step);
  }
  reduce(&cg_steps::product);
  queue(cluster_cg_stage::last);
}

/// Queues all stages on one executor, which has all clusters.
inline void queue_cg(executor& exec, cg_steps& steps) {
  run_cg_stages(steps.iterations(), [&](cluster_cg_stage s) { steps.queue(exec, s); }, [](auto) {});
}

/// What sends H z of `antennas` antennas, normalised.
inline downlink_config sender_of(downlink_config c, int antennas) {
  c.antennas = antennas;
  c.solver = massive_solver::mf, c.iterations.reset(), c.residual = least_massive_residual;
  return c;
}
// ---- groups

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
  if (call.frames() != first.frames() || call.massive.symbols != first.massive.symbols)
    throw shape_error("channel", shape_text(call.frames(), call.massive.channel.elements),
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
    return memory.take<float>(as_size(members) * frames * call.values());
  }
  /// The sums in `parts`.
  cluster_terms<const float> of_members(int members) const {
    return {make_view(static_cast<const float*>(parts), frames, call.values()), members,
            frames * call.values()};
  }
};

/// An array of each member.
template <class T, class Member, class F>
std::vector<T*> of_each(const std::vector<Member>& members, F array_of) {
  std::vector<T*> arrays;
  for (const Member& m : members) arrays.push_back(array_of(m));
  return arrays;
}
/// Adds up the sums of a member's own clusters.
inline void join_clusters(executor& e, const cluster_member& m) {
  const std::size_t values = m.call.all_values();
  if (m.call.clusters > 1) sum_of_members(e, m.sums, m.call.clusters, values, values, m.sums);
}
/// Adds up each member's clusters in `sums`, then gives it its share of all members' sums in `parts`.
template <class Member>
void exchange_sums(executor_group& group, const std::vector<Member>& members) {
  group.each([&](executor& e, std::size_t i) {
    queue_sums(e, members[i].call, members[i].sums);
    join_clusters(e, members[i]);
  });
  group.all_to_all(of_each<const void>(members, [](const Member& m) { return m.sums; }),
                   of_each<void>(members, [](const Member& m) { return m.parts; }), members[0].call.frames(),
                   members[0].call.values() * sizeof(float));
}

/// Queues the sums of each member's clusters, then all stages on all members.
template <class Member>
void run_cg(executor_group& group, std::vector<Member>& members) {
  group.each([&](executor& e, std::size_t i) { queue_sums(e, members[i].call, members[i].sums); });
  run_cg_stages(
      members[0].steps.iterations(),
      [&](cluster_cg_stage s) {
        group.each([&](executor& e, std::size_t i) { members[i].steps.queue(e, s); });
      },
      [&](view<float> (cg_steps::*which)() const) {
        const view<float> v = (members[0].steps.*which)();
        group.all_reduce(of_each<float>(members, [&](const Member& m) { return (m.steps.*which)().data; }),
                         v.elements * v.items);
      });
}

}  // namespace wb::cluster_calls
