#pragma once
// Sphere detection: depth first through the tree of symbols, from the last antenna of the order to the first.
// With the QR decomposition H = Q R the distance of a candidate is a sum over the levels,
//
//   |y - H s|^2 = sum_k |z_k - sum_(j >= k) R_kj s_j|^2 + const,   z = Q^H y
//
// so that a path is not continued once it is outside the sphere.
//
// Soft output is that of a single tree search (C. Studer, A. Burg, H. Boelcskei, "Soft-output sphere
// decoding: algorithms and VLSI implementation", IEEE JSAC 26(2), 2008, section III; with a-priori LLRs C.
// Studer, H. Boelcskei, "Soft-input soft-output single tree-search sphere decoding", IEEE Trans. Inf. Theory
// 56(10), 2010). The search keeps the best candidate, and for each of its bits the best one that has the
// other value. It enters a node only if something below could change one of them. LLRs equal those of
// exhaustive search.
//
// What ends the search earlier:
//
//   llr_clip    in the search: nothing farther than the best candidate and llr_clip * N0 counts. LLRs equal
//               those of exhaustive search with the same clip.
//   hard_output only the best candidate, the maximum-likelihood decision. Each LLR is +-llr_clip.
//   radius      the sphere of the beginning, |Q^H y - R s|^2 <= radius * N0, with priors |.|^2 and N0 times
//               the a-priori LLRs of bits that contradict them. If it is empty the search starts again
//               without, so that decisions are the same. A bit without a candidate of its other value inside
//               gets llr_clip.
//   node_limit  after so many nodes the candidates found so far stand. The first path is always completed.
//
// A node is a path down to some stream. All points of the last stream are one node: its dimensions separate.
//
// The order of the streams decides how many nodes a search visits. With sort = sqrd it is about half as many.
//
// When to use. If error rates of exhaustive search are wanted. Its time depends on the channel and the noise
// (docs/performance.md), and without limits can be that of exhaustive search. kbest and nway take the same
// time for each use.
#include <optional>

#include <warpband/detect/detector_kind.hpp>
#include <warpband/detect/search_order.hpp>

namespace wb {

struct sphere_settings {
  bool hard_output = false;          // only the maximum-likelihood decision
  std::optional<float> radius = {};  // squared, in units of N0; above 0. Nothing: no sphere to begin with
  int node_limit = 0;                // nodes of a use; 0 for no limit
  search_order search = {};
  bool operator==(const sphere_settings&) const = default;
};

/// "sphere". Takes a prior. A hypothesis can be missing with hard_output, radius or node_limit.
detector_kind sphere_kind();

}  // namespace wb
