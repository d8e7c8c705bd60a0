#pragma once
// The steps of a call, which one executor does for all clusters, or each member of a group for its own.
#include <complex>
#include <cstddef>

#include <warpband/core/count.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/massive/cluster/cluster_args.hpp>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/uplink/uplink.hpp>

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
view<T> of_cluster(view<T> all, int c, int clusters) {
  all.elements /= static_cast<std::size_t>(clusters);
  all.data += static_cast<std::size_t>(c) * all.elements * all.element_stride;
  return all;
}
/// Items from `first` on, `count` of them; of an array with stride 0 the one that all share.
template <class T>
view<T> of_items(view<T> all, std::size_t first, std::size_t count) {
  if (all.data == nullptr) return all;
  all.data += first * all.item_stride;
  all.items = count;
  return all;
}
inline view<std::complex<float>> as_complex(view<cx_pair> v) {
  return {reinterpret_cast<std::complex<float>*>(v.data), v.elements, v.items, v.element_stride,
          v.item_stride};
}

/// H and y, or s, of a call, as pairs of floats or of halves; `of.in` are vectors of antennas with `filter`.
struct cluster_call {
  massive_args of;
  int clusters = 1;
  bool filter = true;
  std::size_t frames() const { return of.noise_var.items; }
  std::size_t values() const { return filter ? sums_values(of.users, of.symbols) : gram_values(of.users); }
  std::size_t all_values() const { return frames() * values(); }
  /// Sums of all clusters, one cluster's after the other, with memory for them.
  float* take_sums(pieces& memory) const { return memory.take<float>(size(clusters) * all_values()); }
  cluster_terms<const float> terms(const float* sums) const {
    return {make_view(sums, values(), frames()), clusters, all_values()};
  }
};

/// Queues the sums of all clusters of a call.
void queue_sums(executor& exec, const cluster_call& call, float* sums);
/// Queues the detector, or for the precoder A z = s, from such sums.
void queue_detector(executor& exec, const massive_args& of, const cluster_terms<const float>& sums);
void queue_weights(executor& exec, const massive_args& of, const cluster_terms<const float>& sums);

/// Decentralised conjugate gradients; the results go to of.out, of.sinr and of.status. Between stages `start`
/// and `product` become sums over all members.
class cg_steps {
 public:
  cg_steps() = default;
  cg_steps(pieces& memory, const cluster_call& call, const float* sums);
  void queue(executor& exec, cluster_cg_stage stage);
  int iterations() const { return args_.of.iterations; }
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

/// Estimates of `count` detectors, and their weighted sum.
struct estimates {
  view<cx_pair> x;
  view<float> sinr;
  view<std::uint8_t> status;
  int count = 1;
  estimates() = default;
  estimates(pieces& memory, std::size_t users, std::size_t vectors, int count);
  /// Those of one of them.
  estimates of(int i) const;
};
/// A call whose outputs these estimates are.
massive_args to_estimates(massive_args of, const estimates& e);
/// Those of e.count clusters, which detect by themselves.
template <class Input>
void queue_local(executor& exec, const uplink_detector& local, const Input& in, const estimates& e) {
  for (int c = 0; c < e.count; c++) {
    const estimates own = e.of(c);
    Input part = in;
    part.channel = of_cluster(in.channel, c, e.count), part.received = of_cluster(in.received, c, e.count);
    local.run(exec, part, {.equalized = as_complex(own.x), .sinr = own.sinr, .status = own.status});
  }
}
void queue_fusion(executor& exec, const massive_args& of, const estimates& e);

/// What sends H z of `antennas` antennas, normalised.
inline downlink_config sender_of(downlink_config c, int antennas) {
  c.antennas = antennas;
  c.mode = massive_mode::mf, c.iterations = 0;
  return c;
}
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
void queue_energy(executor& exec, const cluster_energy_args& args);
/// Scales what is sent, and erases vectors of which a cluster erased its part.
void queue_join(executor& exec, const cluster_join_args& args);
/// Joins what `queue_local` of all C clusters of a call made: each sends 1 / C of the power.
void queue_local_join(executor& exec, int clusters, view<std::uint8_t> states,
                      view<std::complex<float>> precoded, view<std::uint8_t> status);

}  // namespace wb::cluster_calls
