#pragma once
// The steps of a call, which one executor does for all clusters, or each member of a group for its own.
#include <complex>
#include <cstddef>

#include <warpband/exec/executor.hpp>
#include <warpband/massive/cluster/cluster_args.hpp>
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
  bool counts() const noexcept { return memory_ == nullptr; }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

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
};

/// Queues the sums of all clusters of a call, one cluster's after the other.
cluster_terms<const float> queue_sums(executor& exec, const cluster_call& call, float* sums);
/// Queues the detector, or for the precoder A z = s, from such sums.
void queue_detector(executor& exec, const massive_args& of, const cluster_terms<const float>& sums,
                    std::size_t frames);
void queue_weights(executor& exec, const massive_args& of, const cluster_terms<const float>& sums,
                   std::size_t frames);

/// Decentralised conjugate gradients; the results go to of.out, of.sinr and of.status. Between stages `start`
/// and `product` become sums over all members.
class cg_steps {
 public:
  cg_steps(pieces& memory, const cluster_call& call, const cluster_terms<const float>& sums);
  void queue(executor& exec, cluster_cg_stage stage);
  view<float> start() const { return args_.start; }
  view<float> product() const { return args_.product; }

 private:
  cluster_cg_args args_;
};

/// Estimates of `count` detectors, and their weighted sum.
struct estimates {
  view<cx_pair> x;
  view<float> sinr;
  view<std::uint8_t> status;
  int count;
  estimates(pieces& memory, std::size_t users, std::size_t vectors, int count);
  /// Those of one of them.
  estimates of(int i) const;
};
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

void queue_energy(executor& exec, const cluster_energy_args& args);
/// Scales what is sent, and erases vectors of which a cluster erased its part.
void queue_join(executor& exec, const cluster_join_args& args, view<cx_pair> sent);

}  // namespace wb::cluster_calls
