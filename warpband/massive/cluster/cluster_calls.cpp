#include <warpband/massive/cluster/cluster_calls.hpp>

namespace wb {

WB_DECLARE_KERNEL(cluster_sums)
WB_DECLARE_KERNEL(cluster_cg)

namespace cluster_calls {

void queue_sums(executor& exec, const cluster_call& call, float* sums) {
  cluster_sums_args args;
  args.massive = call.massive, args.filter = call.filter;
  args.massive.antennas /= call.clusters;
  for (int c = 0; c < call.clusters; c++) {
    args.massive.channel = of_cluster(call.massive.channel, c, call.clusters);
    args.massive.half_channel = of_cluster(call.massive.half_channel, c, call.clusters);
    args.massive.in = call.filter ? of_cluster(call.massive.in, c, call.clusters) : args.massive.channel;
    args.massive.half_in =
        call.filter ? of_cluster(call.massive.half_in, c, call.clusters) : args.massive.half_channel;
    args.sums = make_view(sums + as_size(c) * call.all_values(), call.frames(), call.values());
    exec.run(cluster_sums_kernels(), &args, call.frames());
  }
}

void queue_solver(executor& exec, const kernel_set& solver, const massive_args& massive,
                  const cluster_terms<const float>& sums) {
  cluster_solve_args args{massive, sums};
  args.massive.half_channel = {}, args.massive.half_in = {};  // it reads neither H nor y
  exec.run(solver, &args, sums.first.items);
}
cg_steps::cg_steps(pieces& memory, const cluster_call& call, const float* sums) {
  const std::size_t frames = call.frames(), u = as_size(call.massive.users),
                    sides = as_size(call.massive.symbols), entries = 2 * u * sides;
  const auto take = [&](std::size_t values) {
    return make_view(memory.take<float>(frames * values), frames, values);
  };
  args_.massive = call.massive, args_.sums = call.terms(sums);
  if (call.filter) args_.massive.in = {};
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

}  // namespace cluster_calls
}  // namespace wb
