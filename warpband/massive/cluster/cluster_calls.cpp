#include <warpband/massive/cluster/cluster_calls.hpp>

#include <cmath>

#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(cluster_sums)
WB_DECLARE_KERNEL(cluster_detect)
WB_DECLARE_KERNEL(cluster_weights)
WB_DECLARE_KERNEL(cluster_cg)
WB_DECLARE_KERNEL(cluster_fuse)
WB_DECLARE_KERNEL(cluster_energy)
WB_DECLARE_KERNEL(cluster_join)

namespace cluster_calls {

void queue_sums(executor& exec, const cluster_call& call, float* sums) {
  cluster_sums_args args;
  args.of = call.of, args.filter = call.filter;
  args.of.antennas /= call.clusters;
  for (int c = 0; c < call.clusters; c++) {
    args.of.channel = of_cluster(call.of.channel, c, call.clusters);
    args.of.half_channel = of_cluster(call.of.half_channel, c, call.clusters);
    args.of.in = call.filter ? of_cluster(call.of.in, c, call.clusters) : args.of.channel;
    args.of.half_in = call.filter ? of_cluster(call.of.half_in, c, call.clusters) : args.of.half_channel;
    args.sums = make_view(sums + size(c) * call.all_values(), call.values(), call.frames());
    exec.run(cluster_sums_kernels(), &args, call.frames());
  }
}

static void queue_solver(executor& exec, const kernel_set& solver, const massive_args& of,
                         const cluster_terms<const float>& sums) {
  cluster_solve_args args{of, sums};
  args.of.half_channel = {}, args.of.half_in = {};  // it reads neither H nor y
  exec.run(solver, &args, sums.first.items);
}
void queue_detector(executor& exec, const massive_args& of, const cluster_terms<const float>& sums) {
  queue_solver(exec, cluster_detect_kernels(), of, sums);
}
void queue_weights(executor& exec, const massive_args& of, const cluster_terms<const float>& sums) {
  queue_solver(exec, cluster_weights_kernels(), of, sums);
}

cg_steps::cg_steps(pieces& memory, const cluster_call& call, const float* sums) {
  const std::size_t frames = call.frames(), u = size(call.of.users), sides = size(call.of.symbols),
                    entries = 2 * u * sides;
  const auto take = [&](std::size_t values) {
    return make_view(memory.take<float>(frames * values), values, frames);
  };
  args_.of = call.of, args_.sums = call.terms(sums);
  if (call.filter) args_.of.in = {};
  args_.start = take(u + (call.filter ? entries : 0));
  args_.product = take(entries);
  args_.x = take(entries), args_.r = take(entries), args_.t = take(entries);
  args_.energy = take(sides), args_.least = take(sides);
  args_.starts = {args_.start, 1, 0};
  args_.products = {args_.product, 1, 0};
}
void cg_steps::queue(executor& exec, cluster_cg_stage stage) {
  args_.stage = stage;
  exec.run(cluster_cg_kernels(), &args_, args_.start.items);
}

estimates::estimates(pieces& memory, std::size_t users, std::size_t vectors, int n)
    : x(make_view(memory.take<cx_pair>(size(n) * users * vectors), users, vectors)),
      sinr(make_view(memory.take<float>(size(n) * users * vectors), users, vectors)),
      status(make_view(memory.take<std::uint8_t>(size(n) * vectors), vectors)),
      count(n) {}
estimates estimates::of(int i) const {
  estimates one = *this;
  one.count = 1;
  one.x.data += size(i) * x.elements * x.items;
  one.sinr.data += size(i) * x.elements * x.items;
  one.status.data += size(i) * x.items;
  return one;
}

massive_args to_estimates(massive_args of, const estimates& e) {
  of.out = e.x, of.sinr = e.sinr, of.status = e.status;
  return of;
}
void queue_fusion(executor& exec, const massive_args& of, const estimates& e) {
  const std::size_t values = e.x.elements * e.x.items;
  const cluster_fuse_args args{.users = of.users,
                               .pam_bits = of.pam_bits,
                               .clip = of.clip,
                               .steps = of.steps,
                               .estimates = {e.x, e.count, values},
                               .sinrs = {e.sinr, e.count, values},
                               .states = {e.status, e.count, e.status.items},
                               .llr = of.llr,
                               .sinr = of.sinr,
                               .llr8 = of.llr8,
                               .out = of.out,
                               .status = of.status};
  exec.run(cluster_fuse_kernels(), &args, e.x.items);
}

void queue_energy(executor& exec, const cluster_energy_args& args) {
  exec.run(cluster_energy_kernels(), &args, args.gram.items);
}

void queue_join(executor& exec, const cluster_join_args& args) {
  exec.run(cluster_join_kernels(), &args, args.sent.items);
}
void queue_local_join(executor& exec, int clusters, view<std::uint8_t> states,
                      view<std::complex<float>> precoded, view<std::uint8_t> status) {
  queue_join(exec, {.factor = 1 / std::sqrt(static_cast<float>(clusters)),
                    .states = {states, clusters, states.items},
                    .sent = as_pairs(precoded),
                    .status = status});
}

}  // namespace cluster_calls
}  // namespace wb
