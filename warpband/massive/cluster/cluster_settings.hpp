#pragma once
// Settings of clusters, of detector, precoder and links.
#include <warpband/core/setting.hpp>
#include <warpband/massive/cluster/cluster.hpp>

namespace wb {

template <class C>
setting_of<C> clusters_setting() {
  return integer(
      "clusters", &C::clusters, 1, 64,
      "C: how many clusters the antennas are divided into, each of equally many neighbouring antennas.",
      "an integer from 1 to 64 that divides the antennas");
}
template <class C>
setting_of<C> cluster_method_setting(massive_cluster_method C::*member) {
  return words("cluster_method", member,
               {{"exact", massive_cluster_method::exact},
                {"local-mmse", massive_cluster_method::local_mmse},
                {"cg", massive_cluster_method::cg}},
               "What the clusters exchange. exact: sums over their antennas, for one central detector or "
               "precoder. local-mmse: only their estimates, as each has a detector or precoder of its own "
               "(solver cholesky). cg: U values in each iteration of conjugate gradients (solver cg).");
}

}  // namespace wb
