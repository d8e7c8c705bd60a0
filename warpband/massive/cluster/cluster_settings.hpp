#pragma once
// Settings of clusters, of detector, precoder and links.
#include <warpband/core/setting.hpp>
#include <warpband/massive/cluster/cluster.hpp>

namespace wb {

template <class C>
setting_of<C> clusters_setting() {
  return integer("clusters", &C::clusters, 1, 64,
                 "C, in which the antennas lie: neighbours together, as many in each.",
                 "an integer from 1 to 64 that divides the antennas");
}
template <class C>
setting_of<C> cluster_method_setting(cluster_method C::*member) {
  return words("cluster_method", member,
               {{"exact", cluster_method::exact},
                {"local-mmse", cluster_method::local_mmse},
                {"cg", cluster_method::cg}},
               "What the clusters exchange: sums over their antennas, for the central detector or precoder; "
               "nothing but their estimates, each of a detector or precoder of its own (solver cholesky); or "
               "U values for every iteration of conjugate gradients (solver cg).");
}

}  // namespace wb
